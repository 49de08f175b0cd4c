"""The fit by best subsets: rows judged from several views, one model for each k on those that are trusted.

Algorithm 1 finds bad rows and a first model. From there on least squares is the better guide: where bad rows are out,
the best set of columns of every size is looked for by exchanges (`subsets`), k is the minimum of a criterion, a robust
regression on all rows judges them anew, and so on until the rows stay. That is done from two views, the rows that a
robust start rejects and nobody rejected, and the end that explains all rows better is taken: on good data nobody is to
be suspected. Which rows are trusted never depends on the values of k that are asked for, so that a model of a given
size is the member of that size of the automatic path.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log

import numpy as np
import pandas as pd

from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.solver import RHTFit, solve
from robustsparse.algorithm.sparsity import identifiable_k
from robustsparse.base.errors import ParameterError, SelectionWarning, warn_user
from robustsparse.base.progress import progress
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.family import residual_unit
from robustsparse.regression.fit.automatic import refitted
from robustsparse.regression.fit.fitted import Fitted
from robustsparse.regression.fit.k_paths import Choice, penalty
from robustsparse.regression.fit.levels import RareLevels
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import (
    TRUSTED,
    Leverage,
    leverage,
    refit,
    rejected,
    trust_in_rows,
)
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.starts import best_start
from robustsparse.regression.fit.subsets import Subset, subset_path
from robustsparse.robust.mm import Refit
from robustsparse.robust.scales import tau_scale

# How often rows are rejected and k is chosen anew, at most.
_ROUNDS = 3
# A variance this small is an exact fit; its logarithm would drown every penalty.
_EXACT = 1e-20

Price = Callable[[int, int, int, int], float]


def gic_penalty(n: int, d: int, size: int, columns: int | None = None) -> float:
    """Price of `size` terms by the generalized information criterion, lower than `penalty`.

    Examples
    --------
    >>> round(gic_penalty(300, 1000, 2), 2), round(penalty(300, 1000, 2), 2)
    (24.05, 39.04)
    """
    more = 0 if columns is None else columns - size
    return size * log(max(d, 3)) * log(max(log(n), 1.0)) + more * log(n)


# Prices of coefficients by the name of the criterion.
PRICES: dict[str, Price] = {"ebic": penalty, "gic": gic_penalty}


def check_subsets(problem: Standardized, options: Options) -> None:
    """Refuse what best subsets are not for: they rest on least squares and on a refit."""
    if type(problem.loss) is Squared and problem.family.least_squares and options.refit:
        return
    raise ParameterError(
        f"select={options.select!r} needs family='gaussian', the squared loss and refit=True; use select='ric' or 'cv'."
    )


def subset_fit(problem: Standardized, options: Options, ks: Sequence[int]) -> Fitted:
    """Fit by best subsets.

    Parameters
    ----------
    problem : Standardized
        The standardized problem.
    options : Options
        Their gradient estimator is that of the start.
    ks : sequence of int
        Numbers of predictors to choose from; none leaves it to the data how many are tried.
    """
    far = leverage(problem)
    trust = trust_in_rows(problem, far, options.estimator)
    judged = problem.weighted_by(trust)
    price = PRICES[options.select]
    search = _Search(judged, trust >= TRUSTED, RareLevels.of(judged), price, max(ks, default=0))
    ends = [search.settled(view, options) for view in _views(judged, far, options)]
    end = min(ends, key=lambda end: _misfit(judged, end, price))
    if not ks and end.k == max(end.values) < problem.free:
        warn_user(
            f"the best of all models tried has {end.k} terms, as many as {int(end.used.sum())} rows can tell from "
            "noise; there may be more. Take more rows or fewer columns, or give k.",
            SelectionWarning,
        )
    return _chosen(judged, end, options, ks, trust, far)


@dataclass(frozen=True)
class _View:
    """Which rows are good, to begin with, and sets of columns to start from."""

    good: Mask
    seeds: tuple[Indices, ...]


def _views(judged: Standardized, far: Leverage, options: Options) -> list[_View]:
    """Rows that a robust start does not reject, and all rows."""
    most = judged.largest_k
    start = best_start(
        judged, options.estimator, most, options.settings, far.flags, options.threads
    )
    kept = ~rejected(judged, refit(judged, start, options.rng))
    views = [_View(kept, (start.support,))]
    return views if kept.all() else [*views, _View(np.ones(judged.n, dtype=bool), (start.support,))]


@dataclass(frozen=True)
class _End:
    """Where rejection of rows and choice of k agree.

    Attributes
    ----------
    used : bool array (n,)
        Rows that the sets were chosen on.
    sets : dict from k to Subset
        The best set of each size.
    values : dict from k to float
        The criterion of those that do not depend on what is asked for.
    refit : Refit
        Robust regression of all rows on the best of them.
    """

    used: Mask
    sets: dict[int, Subset]
    values: dict[int, float]
    refit: Refit

    @property
    def k(self) -> int:
        """Size with the smallest criterion."""
        return min(self.values, key=self.values.__getitem__)


@dataclass(frozen=True)
class _Search:
    """What the search from every view shares.

    Attributes
    ----------
    judged : Standardized
        All rows, far ones weighted down.
    near : bool array (n,)
        Rows that are not too far out to have a say.
    levels : RareLevels
        Columns of rare levels.
    price : callable
        Price of coefficients in the criterion.
    wanted : int
        A size that is asked for.
    """

    judged: Standardized
    near: Mask
    levels: RareLevels
    price: Price
    wanted: int

    def settled(self, view: _View, options: Options) -> _End:
        """Choose k on the good rows, refit, judge the rows anew, until they stay the same."""
        good, seeds = view.good, view.seeds
        for _ in progress(range(_ROUNDS), _ROUNDS, "path", options.verbose):
            used = good & self.near
            with self.judged.only(used) as part:
                sets, values = self._path(part, seeds)
                chosen = least_squares(part, sets[min(values, key=values.__getitem__)])
            end = _End(used, sets, values, refit(self.judged, chosen, options.rng))
            unit = residual_unit(self.judged.y, end.refit.scale)
            fitting = ~rejected(self.judged, end.refit)
            fitting, missed = self.levels.mended(fitting, end.refit.resid / unit)
            if np.array_equal(fitting, good):
                break
            good = fitting
            seeds = (*(one.columns for one in sets.values()), np.union1d(chosen.support, missed))
        return end

    def _path(
        self, part: Standardized, seeds: Sequence[Indices]
    ) -> tuple[dict[int, Subset], dict[int, float]]:
        """The best sets of every size on some rows, and the criterion of those that do not depend on `wanted`."""
        most = identifiable_k(part.n, part.free)
        criterion = partial(_criterion, part, self.price)
        sets = subset_path(part, seeds, most, criterion)
        values = {size: criterion(size, one.rss, one.freedom) for size, one in sets.items()}
        return sets.continued(self.wanted), values


def _criterion(part: Standardized, price: Price, size: int, rss: float, freedom: int) -> float:
    """N log σ² with an unbiased variance, plus the price of the coefficients."""
    variance = rss / max(part.n - freedom - len(part.keep), 1)
    cost = price(part.n, part.candidates, size, freedom)
    return part.n * float(np.log(max(variance, _EXACT))) + cost


def _misfit(judged: Standardized, end: _End, price: Price) -> float:
    """The same of all rows, bad ones among them, by a τ-scale of the residuals."""
    used = end.sets[end.k].freedom
    variance = (
        tau_scale(end.refit.resid) ** 2 * judged.n / max(judged.n - used - len(judged.keep), 1)
    )
    cost = price(judged.n, judged.candidates, end.k, used)
    return judged.n * float(np.log(max(variance, _EXACT))) + cost


def least_squares(part: Standardized, subset: Subset) -> RHTFit:
    """Least squares on a set of columns and the kept ones."""
    columns = np.concatenate([subset.columns, part.keep])
    rows = part.chosen(columns)
    root = np.ones(part.n) if rows.weights is None else np.sqrt(rows.weights)
    coef = np.zeros(len(part.XT))
    coef[columns] = np.linalg.lstsq(root[:, None] * rows.A, root * rows.target, rcond=None)[0]
    support = part.ranked(subset.columns, coef)
    return RHTFit(coef, support, 0.0, True, "settled", 0.5 * subset.rss / part.n, ())


def _chosen(
    judged: Standardized,
    end: _End,
    options: Options,
    ks: Sequence[int],
    trust: Array,
    far: Leverage,
) -> Fitted:
    """The model that was asked for, among those of the rows that are trusted in the end."""
    with judged.only(end.used) as part:
        models = {size: least_squares(part, one) for size, one in end.sets.items()}
        value = partial(_criterion, part, PRICES[options.select])
        asked = {k: value(k, *_told(end.sets, k)) for k in ks or end.values}
        k = min(asked, key=asked.__getitem__)
        model = models[k] if k in models else _padded(judged, models[max(models)], k)
        # Algorithm 1 once more, from the chosen model: its steps are the history.
        run = solve(
            part.problem(options.estimator.lighter(), options.threads), k, keep=judged.keep,
            settings=options.settings, start=model.coef, warn=False,
        )  # fmt: skip
    solution = replace(
        run, coef=model.coef, support=model.support, converged=True, reason="settled"
    )
    final = end.refit if k == end.k else refit(judged, solution, options.rng)
    index = pd.Index(list(asked), name="k")
    table = pd.DataFrame({"value": list(asked.values()), "se": np.nan}, index=index)
    path = {size: one.coef for size, one in models.items()} | {k: model.coef}
    return refitted(judged, solution, final, trust, Choice(k, table), path, far)


def _told(sets: dict[int, Subset], k: int) -> tuple[float, int]:
    """What the criterion asks of the set of a size: of one beyond the last, which adds nothing to it."""
    last = min(k, max(sets))
    return sets[last].rss, sets[last].freedom + k - last


def _padded(judged: Standardized, model: RHTFit, k: int) -> RHTFit:
    """A model with terms that add nothing, where all others repeat those in it."""
    rest = judged.not_in(model.support, k - judged.count(model.support))
    return replace(model, support=np.concatenate([model.support, rest]))
