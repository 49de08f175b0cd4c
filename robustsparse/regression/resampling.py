"""Repeating a fit on parts or resamples of the rows.

The formula is evaluated once, on all rows: every repetition has the same columns, and a factor level that a resample
happens to miss is a constant column, which is never selected.
"""

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy import sparse

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.errors import DataError, ParameterError, warn_user
from robustsparse.base.jobs import outcomes
from robustsparse.base.text import did_you_mean
from robustsparse.base.types import Array, Places
from robustsparse.design.arrays import array_design
from robustsparse.design.bases import Bases
from robustsparse.design.design import Design
from robustsparse.design.groups import named
from robustsparse.design.response import Coding, Response
from robustsparse.design.stores.opening import kind_of
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.families import as_family
from robustsparse.regression.fit.mending import without_gaps
from robustsparse.regression.fit.options import make_options
from robustsparse.regression.part_fits import PartFit, PartFits
from robustsparse.regression.result import RHTResult
from robustsparse.regression.spine import design_outcome, fit_arrays, told, trusted_rows
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
    """A design with its response, and how to fit it and parts of its rows.

    Attributes
    ----------
    design : Design
        The design on all rows.
    options : dict
        Arguments of `rht_fit` that do not depend on the rows.
    """

    design: Design
    options: dict[str, Any]

    @cached_property
    def columns(self) -> Any:
        """The design (n, d), dense with its gaps filled or sparse by rows."""
        X = self.design.X
        return X.tocsr() if sparse.issparse(X) else without_gaps(X, self.design.gaps)

    @property
    def response(self) -> Response:
        """The coded response."""
        return self.design.response

    @property
    def names(self) -> tuple[str, ...]:
        """The d columns."""
        return self.design.names

    @cached_property
    def kept(self) -> list[str]:
        """Columns that are never thresholded."""
        return [self.names[j] for j in np.flatnonzero(self.design.keep)]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.response.values)

    @property
    def candidates(self) -> int:
        """Number of terms to select from."""
        more = sum(len(columns) - 1 for columns in self.design.groups.values())
        return len(self.names) - len(self.kept) - more

    def named_groups(self) -> dict[str, tuple[str, ...]]:
        """Columns that enter and leave together, by the name of their term."""
        return named(self.design.groups, self.names)

    def fit(self, rows: Places, seed: int, n_jobs: int | None = 1) -> RHTResult:
        """The whole fit on some rows, which may repeat."""
        design = self.design
        return self._fit(
            self._rows(rows), rows, seed, self.names, self.kept, n_jobs, self.options,
            groups=design.groups, coded=design.coded, bases=design.bases,
        )  # fmt: skip

    def whole(self, seed: int, n_jobs: int | None = 1) -> tuple[RHTResult, PartFits]:
        """The fit to all rows, and what makes fits to parts of them that share what it found out."""
        options = make_options(_arguments(self.options, len(self.names), seed, n_jobs))
        outcome = design_outcome(self.design, options, self.options.get("intercept", True))
        return told(outcome), PartFits.of(outcome, self.names, self.named_groups())

    def link(self, fit: RHTResult, rows: Places) -> Array:
        """Linear predictors (rows,) that a fit to other rows has for these."""
        offset = None if self.design.offset is None else self.design.offset[rows]
        predicted = fit.predict(self._rows(rows), type="link", offset=offset)
        return np.asarray(predicted, dtype=np.float64)

    def _rows(self, rows: Places) -> Any:
        # A transposed take keeps the columns contiguous, as the fit wants them.
        return (
            self.columns[rows]
            if sparse.issparse(self.columns)
            else np.take(self.columns.T, rows, axis=1).T
        )

    def fit_terms(self, rows: Places, terms: Sequence[str], seed: int) -> RHTResult:
        """The robust regression of some rows on given terms, none of them thresholded."""
        rows = self._trusted(rows)
        given = {**self.options, "k": 0, "goal": "select"}
        if not terms:
            return self._fit(self._rows(rows), rows, seed, self.names, (), 1, given)
        places = pd.Index(self.names).get_indexer(pd.Index(terms))
        X = (
            self.columns[rows][:, places]
            if sparse.issparse(self.columns)
            else self.columns[np.ix_(rows, places)]
        )
        design = self.design
        coded = None if design.coded is None else design.coded[places]
        bases = None if design.bases is None else design.bases.of_columns(places)
        return self._fit(X, rows, seed, terms, terms, 1, given, coded=coded, bases=bases)

    def _trusted(self, rows: Places) -> Places:
        """The rows without those, where that counts, that are far out in columns which a model may not have."""
        if not as_family(self.options.get("family", "gaussian")).far_rows_out:
            return rows
        options = {k: v for k, v in self.options.items() if k not in ("intercept", "rng")}
        asked = Arguments(**{**options, "n_jobs": 1})
        bases = None if self.design.bases is None else self.design.bases.rows(rows)
        trust = trusted_rows(self._rows(rows), self.response.values[rows], asked, bases)
        return rows[trust > 0]

    def _fit(
        self, X: Any, rows: Places, seed: int, names: Sequence[str], kept: Sequence[str],
        n_jobs: int | None, options: dict[str, Any], bases: Bases | None = None, **of_columns: Any,
    ) -> RHTResult:  # fmt: skip
        design = self.design
        return fit_arrays(
            X, self.response.values[rows], _arguments(options, X.shape[1], seed, n_jobs),
            names=names, keep=kept or None, intercept=options.get("intercept", True),
            weights=None if design.weights is None else design.weights[rows],
            offset=None if design.offset is None else design.offset[rows],
            bases=None if bases is None else bases.rows(rows), **of_columns,
        )  # fmt: skip

    def classes(self) -> Places:
        """Number of the class of each row; one class for a scaled response."""
        binary = self.response.classes is not None
        return (self.response.values * binary).astype(np.intp)


def _arguments(options: dict[str, Any], d: int, seed: int, n_jobs: int | None) -> Arguments:
    """Arguments of one fit, with random numbers of its own."""
    if not d:
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
    return Arguments(**{**own, "rng": rng, "n_jobs": n_jobs})


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
    return Study(design, options)


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
    take: Callable[[RHTResult | PartFit], T],
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: bool,
) -> tuple[RHTResult, list[T]]:
    """The fit to all rows, and what `take` returns of the fits to pairs of disjoint parts.

    What the fit to all rows flags is dealt out evenly, so that no part has more than its share of suspicious rows.
    """
    full, fits = study.whole(seeds_from(rng, 1)[0], n_jobs)
    strata = strata_of(study, full)

    def both(seed: int) -> list[T]:
        draws = np.random.default_rng(seed)
        parts = two_parts(strata, share, draws)
        return [take(fits.fit(part, seeds_from(draws, 1)[0])) for part in parts]

    results = repeat(both, seeds_from(rng, pairs), n_jobs, verbose)
    return full, [one for pair in results for one in pair]
