"""Repeating a fit on parts or resamples of the rows.

The formula is evaluated once, on all rows: every repetition has the same columns, and a factor level that a resample
happens to miss is a constant column, which is never selected.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from robustsparse.design import Design, build_design
from robustsparse.regression import rht_fit
from robustsparse.results import RHTResult
from robustsparse.tuning import with_rng

Rows = NDArray[np.intp]
T = TypeVar("T")

_DESIGN_OPTIONS = ("family", "weights", "offset", "keep", "na_action", "context")


@dataclass(frozen=True, eq=False)
class Study:
    """A design, and how to fit parts of its rows.

    Attributes
    ----------
    design : Design
        The formula evaluated on all rows.
    options : dict
        Arguments of `rht_fit` that do not depend on the rows.
    """

    design: Design
    options: dict[str, Any]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.design.rows)

    @property
    def kept(self) -> list[str]:
        """Terms that are never thresholded."""
        return [self.design.names[j] for j in np.flatnonzero(self.design.keep)]

    def fit(self, rows: Rows, seed: int, n_jobs: int | None = 1) -> RHTResult:
        """The whole fit on some rows, which may repeat."""
        # A transposed take keeps the columns contiguous, as the fit wants them.
        X = np.take(self.design.X.T, rows, axis=1).T
        return self._fit(X, rows, seed, self.design.names, self.kept, n_jobs, self.options)

    def fit_terms(self, rows: Rows, terms: Sequence[str], seed: int) -> RHTResult:
        """The robust regression of some rows on given terms, none of them thresholded."""
        places = pd.Index(self.design.names).get_indexer(pd.Index(terms))
        X = self.design.X[np.ix_(rows, places)]
        return self._fit(X, rows, seed, terms, terms, 1, {**self.options, "k": 0})

    def _fit(
        self, X: Any, rows: Rows, seed: int, names: Sequence[str], kept: Sequence[str],
        n_jobs: int | None, options: dict[str, Any],
    ) -> RHTResult:  # fmt: skip
        design, rng = self.design, np.random.default_rng(seed)
        # Resamples that draw from one generator would depend on which of them comes first.
        estimator = with_rng(options.get("estimator", "trim"), rng)
        return rht_fit(
            X, design.response.values[rows], names=names, keep=kept or None,
            weights=None if design.weights is None else design.weights[rows],
            offset=None if design.offset is None else design.offset[rows],
            rng=rng, n_jobs=n_jobs, **{**options, "estimator": estimator},
        )  # fmt: skip

    def classes(self) -> Rows:
        """Number of the class of each row; one class for a scaled response."""
        binary = self.design.response.classes is not None
        return (self.design.response.values * binary).astype(np.intp)


def make_study(formula: str, data: Any, options: dict[str, Any]) -> Study:
    """Evaluate the formula; `options` are those of `rht`."""
    coded = {name: options[name] for name in _DESIGN_OPTIONS if name in options}
    design = build_design(formula, data, **coded)
    rest = {name: value for name, value in options.items() if name not in coded}
    rest["family"] = options.get("family", "gaussian")
    if rest.get("intercept") is None:
        rest["intercept"] = design.intercept
    return Study(design, rest)


def strata_of(study: Study, full: RHTResult) -> Rows:
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
    stacklevel: int = 3,
) -> list[T]:
    """Run a job for every seed; what its fits warn of is said once."""
    # Threads share one list of warnings, whichever of them the warning comes from.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = Parallel(n_jobs=n_jobs, prefer="threads", verbose=10 if verbose else 0)
        results: list[T] = run(delayed(job)(seed) for seed in seeds)
    for category in dict.fromkeys(entry.category for entry in caught):
        texts = [str(entry.message) for entry in caught if entry.category is category]
        warnings.warn(
            f"{len(texts)} warning(s) in {len(seeds)} repetitions of the fit, the first: {texts[0]}",
            category,
            stacklevel=stacklevel,
        )
    return results


def two_parts(strata: Rows, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
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

    results = repeat(both, seeds_from(rng, pairs), n_jobs, verbose, stacklevel=4)
    return full, [one for pair in results for one in pair]
