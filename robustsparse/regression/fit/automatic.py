"""The automatic fit: rows judged from several views, one model for each k on those that are trusted, robust refits.

Algorithm 1 with a trimmed gradient keeps bad rows from doing harm, at a price: what it trims it loses. Once it has
shown which rows are bad they can be left out; a model of every size is found on the rest, k is the minimum of a
criterion, a robust regression on the few chosen columns judges all rows anew, and so on until the rows stay. That is
done from several `views` of the rows, nobody suspected among them, and the end that explains all rows best is taken.
Rows that repeat each other count like one while they are judged, and in full once they fit.

Which rows are trusted depends neither on the values of k that are asked for nor on how k is chosen: a model of a given
size is the member of that size of the automatic path.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from robustsparse.algorithm.exchanges import DEPENDENT
from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.progress import progress
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.best_subsets import BestSubsets
from robustsparse.regression.fit.criteria import (
    PRICES,
    criteria,
    gic_price,
    payable_terms,
)
from robustsparse.regression.fit.ends import End, Ends
from robustsparse.regression.fit.finders import Finder, Found, Hints, Thresholding, automatic_grid
from robustsparse.regression.fit.k_paths import Choice, choice_of, choose_by_cv
from robustsparse.regression.fit.known_rows import KnownRows
from robustsparse.regression.fit.label_subsets import LabelSubsets
from robustsparse.regression.fit.levels import RareLevels
from robustsparse.regression.fit.models import Fitted, Model, Models
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import (
    TRUSTED,
    Leverage,
    active,
    clusters_of,
    contradicting,
    judge,
    leverage,
    refit,
    rejected,
    trust_in_rows,
)
from robustsparse.regression.fit.shown import shown_run
from robustsparse.regression.fit.standardized import Standardized, by_labels, by_least_squares
from robustsparse.regression.fit.views import View, views
from robustsparse.regression.gaussian import residual_unit
from robustsparse.robust.mm import Refit
from robustsparse.robust.row_clusters import cluster_shares

# How often rows are rejected and k is chosen anew, at most.
_ROUNDS = 3
# Labels that cannot pay for so many terms cannot tell which of them matter.
_PAYABLE = 4.0
# The criterion by which k is chosen while rows are judged.
_JUDGE = "ric"


def automatic_fit(problem: Standardized, options: Options, ks: Sequence[int]) -> Fitted:
    """Fit with rejection of bad rows and a robust refit.

    Parameters
    ----------
    problem : Standardized
        The standardized problem.
    options : Options
        Their gradient estimator is that of the starts.
    ks : sequence of int
        Numbers of predictors to choose from; none leaves it to the data how many are tried.
    """
    far = leverage(problem)
    trust = trust_in_rows(problem, far, options.estimator)
    clusters = clusters_of(problem)
    search = _Search.of(problem, trust, clusters, options, ks)
    ends = search.ends(views(search.counted, far, clusters, options), options)
    shares = _final_shares(search, clusters, ends.best)
    fitted = _chosen(problem, search, ends.best, options, _Rows(far, trust, shares))
    fitted = replace(fitted, known=KnownRows(far, trust, clusters, ends.as_views()))
    if ks:
        return fitted
    undecided = by_labels(problem) and payable_terms(problem) < _PAYABLE
    return replace(fitted, doubt=_doubt(problem, fitted, ends, options), undecided=undecided)


def fit_known(
    problem: Standardized, options: Options, ks: Sequence[int], known: KnownRows
) -> Model:
    """The model of an automatic fit to rows of which much is known, as they are part of those of another fit.

    How far out they are and where views of them end is taken over; columns are selected and rows are judged anew.
    """
    search = _Search.of(problem, known.trust, known.clusters, options, ks)
    end = search.ends(known.views, options).best
    shares = _final_shares(search, known.clusters, end)
    k, model = _selected(search, end, options, shares)
    columns, everything = active(problem, model), k == problem.free
    if everything or model is not end.found.best or not np.array_equal(shares, search.shares):
        rows = _Rows(known.far, known.trust, shares)
        return Models(problem, rows.trust, rows.shares, {k: model})[k]
    # This is the regression by which the rows were judged.
    return Model.refitted(
        columns, search.counted.chosen(columns), end.refit, known.trust, k, problem.family
    )


def _final_shares(search: "_Search", clusters: Indices, end: End) -> Array:
    """How much the rows of clusters count in the end: a cluster of rows that fit counts in full."""
    return cluster_shares(clusters, contradicting(search.judged, clusters, end.refit))


def _doubt(problem: Standardized, fitted: Fitted, ends: Ends, options: Options) -> str:
    """Why the automatic choice of k may be wrong, in words; nothing if it is as good as it looks."""
    k, rows = fitted.model.size, int(ends.best.used.sum())
    doubt = (
        ends.doubt(k, estimated=options.estimated)
        if by_least_squares(problem) or by_labels(problem)
        else ""
    )
    if doubt or not 0 < k == max(fitted.path) < problem.free or _complete(problem, fitted.model):
        return doubt
    return (
        f"the best of all models tried has {k} term{'' if k == 1 else 's'}, as many as {rows} rows can tell from "
        "noise; there may be more. Take more rows or fewer columns, or give k."
    )


def _complete(problem: Standardized, model: Model) -> bool:
    """Whether all other columns are sums of those of a model, so that none could join it."""
    if problem.whole is not None:
        return False
    # Few columns beside many others cannot hold them all: one that they do not explain is enough.
    chosen = np.linalg.qr(problem.XT[model.active].T.astype(np.float64))[0]
    return not any(_apart(column, chosen) for column in problem.XT)


def _apart(column: Array, chosen: Array) -> bool:
    """Whether orthonormal columns leave something of another one."""
    rest = column - chosen @ (chosen.T @ column)
    return bool(rest @ rest > DEPENDENT * (column @ column))


@dataclass(frozen=True)
class _Rows:
    """How rows count: how far out they are, how far they are trusted for that, and how much those of a cluster do."""

    far: Leverage
    trust: Array
    shares: Array


def _finder(problem: Standardized, options: Options) -> Finder:
    """Best subsets where least squares is a guide, else Algorithm 1."""
    if by_least_squares(problem):
        return BestSubsets()
    if by_labels(problem):
        return LabelSubsets()
    # Where a generous start could explain every row none is rejected yet, and the gradient stays as robust.
    generous = problem.family.generous
    estimator = options.estimator.lighter() if generous else options.estimator
    return Thresholding(options, estimator, automatic_grid(problem))


@dataclass(frozen=True)
class _Search:
    """What the search from every view shares.

    Attributes
    ----------
    judged : Standardized
        All rows, far ones weighted down.
    shares : array (n,)
        How much rows count while they are judged: a cluster counts like one row.
    counted : Standardized
        The rows as they count then.
    near : bool array (n,)
        Rows that are not too far out to have a say.
    levels : RareLevels
        Columns of rare levels.
    finder : Finder
        Finds a model of every size.
    wanted : tuple of int
        Sizes that are asked for.
    refits : dict from bytes to Refit
        Robust regressions of all rows, by the support; they have no covariance.
    parts : dict from bytes to Standardized
        Some of the rows, by which of them, where such a copy is cheap: most views end with the same ones.
    """

    judged: Standardized
    shares: Array
    counted: Standardized
    near: Mask
    levels: RareLevels
    finder: Finder
    wanted: tuple[int, ...]
    refits: dict[bytes, Refit] = field(default_factory=dict)
    parts: dict[bytes, Standardized] = field(default_factory=dict)

    @contextmanager
    def only(self, rows: Standardized, used: Mask) -> Iterator[Standardized]:
        """Some of the rows for a while; the same object for the same of the judged rows if a copy is cheap."""
        # Best subsets of single columns take what they need from where it is.
        where_it_is = not rows.small and by_least_squares(rows) and rows.terms is None
        cheap = self.judged.small or (where_it_is and self.judged.wide)
        if cheap and rows is self.judged:
            key = used.tobytes()
            if key not in self.parts:
                self.parts[key] = rows.seeing(used) if where_it_is else rows.rows(used)
            yield self.parts[key]
        elif where_it_is:
            yield rows.seeing(used)
        else:
            with rows.only(used) as part:
                yield part

    @classmethod
    def of(
        cls,
        problem: Standardized,
        trust: Array,
        clusters: Indices,
        options: Options,
        ks: Sequence[int],
    ) -> "_Search":
        """The search in a problem whose rows are trusted so far and form clusters."""
        judged, shares = problem.weighted_by(trust), cluster_shares(clusters)
        return cls(
            judged, shares, judged.weighted_by(shares), trust >= TRUSTED, RareLevels.of(judged),
            _finder(problem, options), tuple(ks),
        )  # fmt: skip

    def ends(self, opinions: Sequence[View], options: Options) -> Ends:
        """Where the search ends from several views."""
        reached = [(view, self.settled(view, options)) for view in opinions]
        return Ends(self.judged, self.shares, reached)

    def settled(self, view: View, options: Options) -> End:
        """Choose k on the good rows, refit, judge the rows anew, until they stay the same."""
        good, hints = view.good, view.hints
        for _ in progress(range(_ROUNDS), _ROUNDS, "path", options.verbose):
            used = good & self.near
            # Rows are not rejected for their labels, so that those of a cluster count like one from the beginning.
            rows = self.counted if by_labels(self.judged) else self.judged
            with self.only(rows, used) as part:
                found = self.finder.find_best(part, hints, PRICES[_JUDGE], self.wanted)
            end = End(used, found, self._refitted(found.best, options))
            unit = residual_unit(self.judged.y, end.refit.scale)
            fitting = ~rejected(self.judged, end.refit)
            fitting, missed = self.levels.mended(fitting, end.refit.resid / unit)
            if np.array_equal(fitting, good):
                break
            good = fitting
            sets = (*found.sets, np.union1d(found.best.support, missed))
            hints = replace(hints, sets=sets)
        return end

    def _refitted(self, model: RHTFit, options: Options) -> Refit:
        """Robust regression of all rows on the columns of a model, to which views come again and again."""
        key = np.sort(model.support).tobytes()
        if key not in self.refits:
            self.refits[key] = judge(self.counted, model, options.rng)
        return self.refits[key]

    def counted_in_the_end(self, shares: Array) -> Standardized:
        """The rows as they count once they are judged, where wrong labels may be left among them as clusters."""
        return self.judged.weighted_by(shares) if by_labels(self.judged) else self.judged

    def priced(self, part: Standardized, end: End, options: Options) -> Found:
        """The models of the trusted rows, as far as the criterion that was asked for wants to see them."""
        if options.select == _JUDGE:
            return self.finder.completed(part, end.found)
        hints = Hints(end.found.best.coef, end.found.sets)
        price = PRICES.get(options.select, gic_price)
        return self.finder.find(part, hints, price, self.wanted)


def _chosen(
    problem: Standardized,
    search: _Search,
    end: End,
    options: Options,
    rows: _Rows,
) -> Fitted:
    """The model that was asked for, among those of the rows that are trusted in the end."""
    counted = search.counted_in_the_end(rows.shares)
    with search.only(counted, end.used) as part:
        found = search.priced(part, end, options)
        sizes = search.wanted or tuple(found.values)
        choice = _choice(part, search.finder, found, options, sizes)
    run = shown_run(counted, end.used, found.models[choice.k], options)
    # They are as long as the data, and nobody comes to them any more.
    search.refits.clear()
    models = Models(problem, rows.trust, rows.shares, dict(found.models))
    path = {size: fit.coef for size, fit in found.models.items()}
    return Fitted(models[choice.k], run, choice, path, rows.far, models)


def _selected(search: _Search, end: End, options: Options, shares: Array) -> tuple[int, RHTFit]:
    """The number of terms that was asked for or is chosen, and their model, with no more of the path than need be."""
    values = end.found.values
    if options.select == _JUDGE and values.keys() >= set(search.wanted):
        k = choice_of({size: values[size] for size in search.wanted or values}).k
        if k in end.found.models:
            return k, end.found.models[k]
    with search.only(search.counted_in_the_end(shares), end.used) as part:
        found = search.priced(part, end, options)
        sizes = search.wanted or tuple(found.values)
        k = _choice(part, search.finder, found, options, sizes).k
    return k, found.models[k]


def _choice(
    part: Standardized, finder: Finder, found: Found, options: Options, sizes: Sequence[int]
) -> Choice:
    """The choice of k on trusted rows."""
    if options.select == "cv":
        # Wrong labels stay among the rows that are trusted, where residuals cannot tell them.
        trim = 0.0 if by_least_squares(part) else options.epsilon

        def models(rows: Standardized, rng: np.random.Generator) -> dict[int, RHTFit]:
            return dict(finder.find(rows, Hints(), gic_price, sizes).models)

        return choose_by_cv(
            part, models, sizes, trim=trim, rng=options.rng.spawn(1)[0],
            n_jobs=options.threads, verbose=options.verbose,
        )  # fmt: skip
    if found.values.keys() >= set(sizes):
        return choice_of({k: found.values[k] for k in sizes})
    return choice_of(
        criteria(part, {k: found.models[k] for k in sizes}, PRICES[options.select], trusted=True)
    )


def refit_all_rows(problem: Standardized, solution: RHTFit, rng: np.random.Generator) -> Fitted:
    """A run of Algorithm 1 with a robust refit on its support, all rows judged once."""
    columns = active(problem, solution)
    rows = problem.chosen(columns)
    final = refit(problem, solution, rng)
    size = problem.count(solution.support)
    model = Model.refitted(columns, rows, final, np.ones(problem.n), size, problem.family)
    return Fitted(model, solution, None, {size: solution.coef}, leverage(problem), {size: model})
