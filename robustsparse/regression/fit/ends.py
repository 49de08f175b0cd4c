"""Where the judging of rows from several views ends: the best of the ends, and whether it is to be doubted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustsparse.base.types import Array, Mask
from robustsparse.regression.fit.criteria import columns_of, cost, ebic_price, log_variance
from robustsparse.regression.fit.finders import Found, Hints
from robustsparse.regression.fit.standardized import Standardized, by_labels
from robustsparse.regression.fit.views import View
from robustsparse.robust.mm import Refit
from robustsparse.robust.scales import tau_scale

# A model is to be doubted if it is better than none by less than so many times the price of a term, or better than a
# rival by less than that price which has less than this share of its terms in common with it and judges more than this
# share of the rows otherwise. With the same rows, other columns only tell the same by other names.
_EVIDENCE, _COMMON, _APART = 2.5, 0.8, 0.04
# Values that differ by no more than this part of them are equal.
_TIE = 1e-9
# The same of labels, of which each tells less.
_LABEL_EVIDENCE = 1.0
# Rows at the edge have residuals of so many scales; of normal ones this share has. A model is to be doubted if more
# than this share has, and more than by chance: so many standard deviations of the count.
_EDGE, _AT_EDGE, _CROWD, _CHANCE = (2.0, 3.0), 0.0428, 0.12, 4.0


@dataclass(frozen=True)
class End:
    """Where rejection of rows and choice of k agree.

    Attributes
    ----------
    used : bool array (n,)
        Rows that the models were found on.
    found : Found
        A model of each size.
    refit : Refit
        Robust regression of all rows on the best of them.
    """

    used: Mask
    found: Found
    refit: Refit

    @property
    def columns(self) -> set[int]:
        """Columns of the best model."""
        return set(self.found.best.support.tolist())


def _least(ends: Sequence[End], value: Callable[[End], float]) -> End:
    """The first of those with the least value: views that end at the same model differ by rounding alone."""
    values = [value(end) for end in ends]
    tie = min(values) + _TIE * max(1.0, abs(min(values)))
    return next(end for end, own in zip(ends, values, strict=True) if own <= tie)


@dataclass(frozen=True)
class Ends:
    """Ends of a search from several views.

    Attributes
    ----------
    judged : Standardized
        All rows, far ones weighted down.
    shares : array (n,)
        How much rows count; a cluster counts like one row.
    reached : sequence of (View, End)
        Each view with its end.
    """

    judged: Standardized
    shares: Array
    reached: Sequence[tuple[View, End]]

    @cached_property
    def best(self) -> End:
        """The end that explains all rows best; a second opinion with more terms must be better by the price of one."""
        first = _least([end for view, end in self.reached if not view.second], self.misfit)
        most, seconds = first.found.k, [end for view, end in self.reached if view.second]
        return _least(
            [first, *seconds],
            lambda end: self.misfit(end) + self._term * (end.found.k > most),
        )

    def as_views(self) -> tuple[View, ...]:
        """The ends as views of the rows, of those with the same columns the best or else the first one."""
        best = [(view, end) for view, end in self.reached if end is self.best]
        different: dict[frozenset[int], View] = {}
        for view, end in [*best, *self.reached]:
            own = View(end.used, Hints(end.found.best.coef, end.found.sets), view.second)
            different.setdefault(frozenset(end.columns), own)
        return tuple(different.values())

    @property
    def _term(self) -> float:
        """Price of a term."""
        return ebic_price(self.judged.n, self.judged.candidates, 1)

    def misfit(self, end: End) -> float:
        """The criterion of all rows, bad ones among them, by a τ-scale of the residuals."""
        judged, n, size = self.judged, float(self.shares.sum()), end.found.k
        square = n * tau_scale(end.refit.resid, prior_weights=self.shares) ** 2
        columns = columns_of(judged, end.found.best, size)
        misfit = log_variance(n, square, n - columns - len(judged.keep))
        return misfit + cost(judged, ebic_price, size, columns, 0.0)

    def doubt(self, k: int, *, estimated: bool = False) -> str:
        """Why a model of k terms may be wrong, in words: little speaks for it, as much for another, or rows crowd.

        With an `estimated` share of bad rows that estimate is no remedy.
        """
        return self._why_little(k, estimated) or self._rival() or self._crowded_edge(estimated)

    @property
    def _little_evidence(self) -> bool:
        """Whether the best model is hardly better than none."""
        values, best = self.best.found.values, self.best.found.k
        nothing_to_find = not self.judged.free or self.best.refit.scale == 0 or 0 not in values
        enough = _LABEL_EVIDENCE if by_labels(self.judged) else _EVIDENCE
        return not nothing_to_find and values[0] - values[best] < enough * self._term

    def _why_little(self, k: int, estimated: bool) -> str:
        if not self._little_evidence:
            return ""
        many = f"its {k} terms hardly stand"
        terms = "no term stands" if k == 0 else "its one term hardly stands" if k == 1 else many
        remedy = "take more rows" if estimated else "try epsilon='auto' or more rows"
        if by_labels(self.judged):
            return (
                f"the model may be wrong: {terms} out from noise. Either nothing in these columns tells the classes "
                "apart, or it takes many terms of which none can be named: goal='predict' names none, and its "
                "cross_validate() tells how well it predicts. More rows help as well."
            )
        return (
            f"the model may be wrong: {terms} out from noise. Either nothing in these columns explains the response, "
            f"or bad rows hide what does; look at the response against columns that should matter, and {remedy}."
        )

    def _crowded_edge(self, estimated: bool) -> str:
        """Bad rows that are too many to be rejected widen the scale until they just fit: they stand at its edge."""
        refit = self.best.refit
        if by_labels(self.judged) or refit.scale == 0:
            return ""
        size = np.abs(self.judged.judged(refit.resid)) / refit.scale
        count, n = int(((size > _EDGE[0]) & (size <= _EDGE[1])).sum()), self.judged.n
        chance = _CHANCE * float(np.sqrt(n * _AT_EDGE * (1.0 - _AT_EDGE)))
        if count <= max(_CROWD * n, n * _AT_EDGE + chance):
            return ""
        remedy = "" if estimated else ", and try epsilon='auto'"
        return (
            f"the model may be wrong: {count} of {n} rows are between two and three scales away from it, where "
            f"about {round(n * _AT_EDGE)} are to be expected. Bad rows may stand at the edge of the good ones and pull "
            f"at the model, or the noise has more than one scale; look at plot_diagnostics(){remedy}."
        )

    def _rival(self) -> str:
        own, level = self.best.columns, self.misfit(self.best)
        for _, end in self.reached:
            other, apart = end.columns, end.used != self.best.used
            common = len(own & other) / max(len(own | other), 1)
            # A term more or less is no other model, however few there are.
            differs = len(own ^ other) > 1 and common < _COMMON and apart.mean() > _APART
            if differs and self.misfit(end) - level < self._term:
                return (
                    f"the model may be wrong: another one, k = {end.found.k}, which shares {len(own & other)} columns "
                    f"with the chosen one, k = {self.best.found.k}, explains the rows nearly as well; of the rows they "
                    f"judge {int(apart.sum())} otherwise. See summary(k=...) for models of other sizes, and "
                    "rs.stability for terms that come back."
                )
        return ""
