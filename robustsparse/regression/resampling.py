"""Repeating a fit on parts or resamples of the rows.

The formula is evaluated once, on all rows: every repetition has the same columns, and a factor level that a resample
happens to miss is a constant column, which is never selected.
"""

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy import sparse

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.errors import DataError, ParameterError, warn_user
from robustsparse.base.jobs import outcomes
from robustsparse.base.text import did_you_mean
from robustsparse.base.types import Array, Mask, Places
from robustsparse.design.arrays import array_design
from robustsparse.design.bases import Bases
from robustsparse.design.design import Design
from robustsparse.design.groups import Groups, named
from robustsparse.design.response import Coding, Response
from robustsparse.design.stores.opening import kind_of
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.family import as_family
from robustsparse.regression.fit.mending import without_gaps
from robustsparse.regression.result import RHTResult
from robustsparse.regression.spine import fit_arrays, trusted_rows
from robustsparse.regression.standard_errors import refuse_dependent_rows

T = TypeVar("T")
Check = Callable[[Design], None]

_DESIGN_OPTIONS = (
    "weights",
    "offset",
    "cluster",
    "keep",
    "groups",
    "group_terms",
    "na_action",
    "context",
)
_ARRAY_OPTIONS = ("names", "keep", "groups", "weights", "offset", "cluster", "na_action")


@dataclass(frozen=True, eq=False)
class Study:
    """A design with its response, and how to fit parts of its rows.

    Attributes
    ----------
    X : array or sparse matrix (n, d)
        The design on all rows.
    response : Response
        The coded response.
    names : tuple of str
        The d columns.
    kept : list of str
        Columns that are never thresholded.
    groups : dict
        Places of the columns that enter and leave together, by the name of their term.
    coded : bool array (d,) or None
        Columns of terms that became several columns.
    bases : Bases or None
        Variables of splines and polynomials.
    weights, offset : array (n,) or None
        Multipliers of the rows; known part of the linear predictor.
    options : dict
        Arguments of `rht_fit` that do not depend on the rows.
    """

    X: Any
    response: Response
    names: tuple[str, ...]
    kept: list[str]
    groups: Groups
    coded: Mask | None
    bases: Bases | None
    weights: Array | None
    offset: Array | None
    options: dict[str, Any]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.response.values)

    @property
    def candidates(self) -> int:
        """Number of terms to select from."""
        more = sum(len(columns) - 1 for columns in self.groups.values())
        return len(self.names) - len(self.kept) - more

    def named_groups(self) -> dict[str, tuple[str, ...]]:
        """Columns that enter and leave together, by the name of their term."""
        return named(self.groups, self.names)

    def fit(self, rows: Places, seed: int, n_jobs: int | None = 1) -> RHTResult:
        """The whole fit on some rows, which may repeat."""
        return self._fit(
            self._rows(rows), rows, seed, self.names, self.kept, n_jobs, self.options,
            groups=self.groups, coded=self.coded, bases=self.bases,
        )  # fmt: skip

    def link(self, fit: RHTResult, rows: Places) -> Array:
        """Linear predictors (rows,) that a fit to other rows has for these."""
        offset = None if self.offset is None else self.offset[rows]
        predicted = fit.predict(self._rows(rows), type="link", offset=offset)
        return np.asarray(predicted, dtype=np.float64)

    def _rows(self, rows: Places) -> Any:
        # A transposed take keeps the columns contiguous, as the fit wants them.
        return self.X[rows] if sparse.issparse(self.X) else np.take(self.X.T, rows, axis=1).T

    def fit_terms(self, rows: Places, terms: Sequence[str], seed: int) -> RHTResult:
        """The robust regression of some rows on given terms, none of them thresholded."""
        rows = self._trusted(rows)
        given = {**self.options, "k": 0, "goal": "select"}
        if not terms:
            return self._fit(self._rows(rows), rows, seed, self.names, (), 1, given)
        places = pd.Index(self.names).get_indexer(pd.Index(terms))
        X = self.X[rows][:, places] if sparse.issparse(self.X) else self.X[np.ix_(rows, places)]
        coded = None if self.coded is None else self.coded[places]
        bases = None if self.bases is None else self.bases.of_columns(places)
        return self._fit(X, rows, seed, terms, terms, 1, given, coded=coded, bases=bases)

    def _trusted(self, rows: Places) -> Places:
        """The rows without those, where that counts, that are far out in columns which a model may not have."""
        if not as_family(self.options.get("family", "gaussian")).far_rows_out:
            return rows
        options = {k: v for k, v in self.options.items() if k not in ("intercept", "rng")}
        asked = Arguments(**{**options, "n_jobs": 1})
        bases = None if self.bases is None else self.bases.rows(rows)
        trust = trusted_rows(self._rows(rows), self.response.values[rows], asked, bases)
        return rows[trust > 0]

    def _fit(
        self, X: Any, rows: Places, seed: int, names: Sequence[str], kept: Sequence[str],
        n_jobs: int | None, options: dict[str, Any], bases: Bases | None = None, **of_columns: Any,
    ) -> RHTResult:  # fmt: skip
        if not X.shape[1]:
            raise ParameterError(
                "a model of the intercept alone selects nothing, so there is nothing to repeat its fit for; "
                "conf_int() as it is holds for it."
            )
        rng = np.random.default_rng(seed)
        # Resamples that draw from one generator would depend on which of them comes first.
        own = {name: value for name, value in options.items() if name != "intercept"}
        estimator = own.get("estimator", "trim")
        if isinstance(estimator, Estimator):
            own["estimator"] = estimator.with_rng(rng)
        return fit_arrays(
            X, self.response.values[rows], Arguments(**{**own, "rng": rng, "n_jobs": n_jobs}),
            names=names, keep=kept or None, intercept=options.get("intercept", True),
            weights=None if self.weights is None else self.weights[rows],
            offset=None if self.offset is None else self.offset[rows],
            bases=None if bases is None else bases.rows(rows), **of_columns,
        )  # fmt: skip

    def classes(self) -> Places:
        """Number of the class of each row; one class for a scaled response."""
        binary = self.response.classes is not None
        return (self.response.values * binary).astype(np.intp)


def make_study(
    formula: str,
    data: Any,
    options: dict[str, Any],
    by: Callable[..., Any],
    check: Check | None = None,
) -> Study:
    """Evaluate the formula; `options` are those of `rht`, and `by` is the function that was given them.

    `check` raises if the design is not to be used.
    """
    # Imported where it is used: fits to arrays need not wait for formulaic.
    from robustsparse.design.build import build_design

    _require_known(options, _DESIGN_OPTIONS, by)
    coded = {name: options[name] for name in _DESIGN_OPTIONS if name in options}
    rest = {name: value for name, value in options.items() if name not in coded}
    design = build_design(formula, data, family=_coding(rest), **coded)
    if rest.get("intercept") is None:
        rest["intercept"] = design.intercept
    return _study(design, rest, check)


def array_study(
    X: Any, y: Any, options: dict[str, Any], by: Callable[..., Any], check: Check | None = None
) -> Study:
    """Check the arrays; `options` are those of `rht_fit`, and the rest is as in `make_study`."""
    if kind_of(X) not in ("array", "map", "other"):
        raise DataError(
            f"{by.__name__} repeats the fit on parts of the rows, and needs the columns in memory; pass an array, "
            "data=(X, y) from a fit, with fewer columns if need be: those of fit.path.index, say."
        )
    _require_known(options, _ARRAY_OPTIONS, by)
    rest = {name: value for name, value in options.items() if name not in _ARRAY_OPTIONS}
    of_rows = {name: options[name] for name in _ARRAY_OPTIONS if name in options}
    design = array_design(X, y, coding=_coding(rest), **of_rows)
    return _study(design, rest, check)


def _coding(options: dict[str, Any]) -> Coding:
    return as_family(options.get("family", "gaussian")).coding


def _study(design: Design, options: dict[str, Any], check: Check | None) -> Study:
    if check is not None:
        check(design)
    kept = [design.names[j] for j in np.flatnonzero(design.keep)]
    X = design.X.tocsr() if sparse.issparse(design.X) else without_gaps(design.X, design.gaps)
    return Study(
        X, design.response, design.names, kept, design.groups, design.coded, design.bases, design.weights,
        design.offset, options,
    )  # fmt: skip


def _require_known(options: dict[str, Any], of_data: Sequence[str], by: Callable[..., Any]) -> None:
    """Refuse what is no argument of a fit, or says that rows depend on each other."""
    if by not in (RHTResult.cross_validate, RHTResult.update):
        refuse_dependent_rows(options.get("cov"), options.get("cluster"), f"{by.__name__}()")
    known = {*of_data, "intercept", *(field.name for field in fields(Arguments))}
    for name in options:
        if name not in known:
            own = inspect.signature(by).parameters
            hint = did_you_mean(name, sorted({*known, *own} - {"options"}))
            raise ParameterError(f"{name!r} is no argument of the fit or of {by.__name__}(){hint}")


def selecting(options: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a fit whose terms count: where it is left open, the goal is to select."""
    return {**options, "goal": "select"} if options.get("goal", "auto") == "auto" else options


def strata_of(study: Study, full: RHTResult) -> Places:
    """Number of each row's stratum: its class, and what a fit to all rows flags it as."""
    flags = pd.factorize(full.diagnostics["flag"], sort=True)[0]
    return np.asarray(study.classes() * (flags.max() + 1) + flags, dtype=np.intp)


def seeds_from(rng: np.random.Generator, count: int) -> list[int]:
    """A seed for each repetition, so that none depends on the order they are run in."""
    return [int(seed) for seed in rng.integers(2**63, size=count)]


def repeat(
    job: Callable[[int], T],
    seeds: Sequence[int],
    n_jobs: int | None,
    verbose: bool = False,
) -> list[T]:
    """Run a job for every seed; what its fits warn of is said once."""
    # Threads share one list of warnings, whichever of them the warning comes from.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jobs = [partial(job, seed) for seed in seeds]
        results = list(outcomes(jobs, n_jobs, "repetitions", verbose))
    for category in dict.fromkeys(entry.category for entry in caught):
        texts = [str(entry.message) for entry in caught if entry.category is category]
        warn_user(
            f"{len(texts)} warning(s) in {len(seeds)} repetitions of the fit, the first: {texts[0]}",
            category,
        )
    return results


def two_parts(strata: Places, share: float, rng: np.random.Generator) -> tuple[Places, Places]:
    """Two disjoint random parts of the rows, each with its share of every stratum."""
    order = np.lexsort([rng.random(len(strata)), strata])
    # Every row moves a hand on by `share` of a turn: systematic sampling, even across small strata.
    hand = (share * np.arange(len(order)) + rng.random()) % 1.0
    first, second = hand < share, (hand >= share) & (hand < 2.0 * share)
    return np.sort(order[first]), np.sort(order[second])


def fits_to_parts(
    study: Study,
    share: float,
    pairs: int,
    take: Callable[[RHTResult], T],
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: bool,
) -> tuple[RHTResult, list[T]]:
    """The fit to all rows, and what `take` returns of the fits to pairs of disjoint parts.

    What the fit to all rows flags is dealt out evenly, so that no part has more than its share of suspicious rows.
    """
    full = study.fit(np.arange(study.n), seeds_from(rng, 1)[0], n_jobs)
    strata = strata_of(study, full)

    def both(seed: int) -> list[T]:
        draws = np.random.default_rng(seed)
        parts = two_parts(strata, share, draws)
        return [take(study.fit(part, seeds_from(draws, 1)[0])) for part in parts]

    results = repeat(both, seeds_from(rng, pairs), n_jobs, verbose)
    return full, [one for pair in results for one in pair]
