"""Arguments of `robust_ns`, checked and completed."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustsparse.algorithm.gradients import (
    GradientEstimator,
    Mean,
    MedianOfMeans,
    Trimmed,
    as_estimator,
)
from robustsparse.algorithm.iteration import Settings
from robustsparse.algorithm.sparsity import k_grid
from robustsparse.base.checks import as_rng, check_choice, check_count, check_number
from robustsparse.base.errors import ParameterError
from robustsparse.base.threads import threads_for
from robustsparse.base.types import Array, Indices
from robustsparse.graph.checkpoint import fingerprint
from robustsparse.graph.nodes import CHUNK
from robustsparse.graph.ranking import SUBSAMPLES
from robustsparse.robust.scales import LIGHT_TRIM
from robustsparse.robust.standardize import SCALES

# Neighbors along the path of an automatic fit; nodes with more show in the ranking.
_LARGEST_K = 10
# Neighbors are compared along the path, not reported to many digits.
_TOL, _MAX_ITER, _MAX_ITER_FIXED = 1e-3, 30, 200


@dataclass(frozen=True)
class Plan:
    """What to do.

    Attributes
    ----------
    ks : tuple of int
        Neighbors along the path, ascending.
    k : int or None
        The one that was asked for, if it is one.
    along_path : bool
        Whether the graph is to be the best of several k.
    estimator : GradientEstimator
        Robust mean of the gradient.
    rule, max_edges, select, screen
        As asked for.
    how : str
        Scale of the variables in the fits: "scores" or a name that `scaling` knows.
    settings : Settings
        How to run Algorithm 1.
    seeds, draws : array (d,), tuple of int
        Random numbers for each node and each subsample.
    threads, verbose
        How to run it.
    """

    ks: tuple[int, ...]
    k: int | None
    along_path: bool
    estimator: GradientEstimator
    rule: str
    max_edges: int | None
    select: str
    screen: bool
    how: str
    settings: Settings
    seeds: Indices
    draws: tuple[int, ...]
    threads: int
    verbose: bool

    def digest(self, X: Array) -> str:
        """Fingerprint of the data and of all that the parts of a run depend on."""
        if not isinstance(self.estimator, Trimmed | MedianOfMeans | Mean):
            raise ParameterError(
                f"checkpoint= cannot tell {self.estimator!r} from another callable; use an estimator of this "
                "package, or no checkpoint."
            )
        own = {name: value for name, value in vars(self.estimator).items() if name != "rng"}
        # A generator is in the seeds, and its text is an address.
        random = getattr(self.estimator, "rng", None)
        own["rng"] = None if isinstance(random, np.random.Generator) else random
        return fingerprint(
            {"X": X, "seeds": self.seeds},
            {
                "ks": self.ks,
                "estimator": [type(self.estimator).__name__, *sorted(own.items())],
                "screen": self.screen,
                "how": self.how,
                "settings": self.settings,
                "draws": self.draws,
                "chunk": CHUNK,
            },
        )


def make_plan(
    n: int,
    d: int,
    *,
    k: Any,
    estimator: Any,
    rule: str,
    max_edges: Any,
    select: str,
    screen: bool,
    epsilon: Any,
    standardize: Any,
    step: Any,
    max_iter: Any,
    tol: Any,
    rng: Any,
    n_jobs: Any,
    verbose: bool,
) -> Plan:
    """Check the arguments of `robust_ns` for n rows of d variables and fill in what they leave open."""
    check_choice("rule", rule, ("or", "and"))
    check_choice("select", select, ("ebic", "stars"))
    check_number("epsilon", epsilon, 0.0, 0.49)
    check_choice("screen", screen, (True, False))
    if select == "stars" and not (screen and isinstance(k, str)):
        raise ParameterError(
            'select="stars" chooses among graphs of the subsamples; it needs screen=True and k="auto".'
        )
    generator = as_rng(rng)
    seeds = generator.integers(2**62, size=d)
    draws = tuple(int(seed) for seed in generator.integers(2**62, size=SUBSAMPLES))
    return Plan(
        ks=_ks(k, n, d),
        k=None if isinstance(k, str) or np.ndim(k) else int(k),
        along_path=not isinstance(k, str) and np.ndim(k) > 0,
        estimator=_estimator(estimator, epsilon, screen, generator),
        rule=rule,
        max_edges=_max_edges(max_edges, d),
        select=select,
        screen=screen,
        how=_how(standardize, screen),
        settings=_settings(step, max_iter, tol),
        seeds=seeds,
        draws=draws,
        threads=threads_for(n_jobs),
        verbose=bool(verbose),
    )


def _estimator(
    estimator: Any, epsilon: float, screen: bool, rng: np.random.Generator
) -> GradientEstimator:
    """Gradient estimator; one asked for by name is made to fit the many small fits of a graph."""
    found = as_estimator(estimator, epsilon, rng)
    if not isinstance(estimator, str):
        return found
    if isinstance(found, Trimmed) and screen:
        return Trimmed(min(found.alpha, LIGHT_TRIM))
    # Blocks that stay let every node come to rest; each has its own, so no bias is common to all.
    return replace(found, redraw=False) if isinstance(found, MedianOfMeans) else found


def _max_edges(max_edges: Any, d: int) -> int | None:
    return None if max_edges is None else check_count("max_edges", max_edges, 0, d * (d - 1) // 2)


def _settings(step: Any, max_iter: Any, tol: Any) -> Settings:
    fixed = not (isinstance(step, str) and step == "auto")
    if fixed:
        step = check_number("step", step, 0.0, open_low=True)
    default = _MAX_ITER_FIXED if fixed else _MAX_ITER
    iterations = default if max_iter is None else check_count("max_iter", max_iter, 1)
    tolerance = _TOL if tol is None else check_number("tol", tol, 0, 1)
    return Settings(step, None, iterations, tolerance, fused=True)


def _how(how: Any, screen: bool) -> str:
    if how is True:
        return "scores" if screen else "mad"
    if how is False:
        return "none"
    check_choice("standardize", how, (True, False, "scores", *SCALES))
    return str(how)


def _ks(k: Any, n: int, d: int) -> tuple[int, ...]:
    """Values of k along the path, ascending."""
    if isinstance(k, str):
        check_choice("k", k, ("auto",))
        return tuple(value for value in k_grid(n, d - 1) if value <= _LARGEST_K)
    values = sorted({check_count("k", value, 1, d - 1) for value in np.atleast_1d(k).tolist()})
    if not values:
        raise ParameterError('k is empty; give a number, several, or "auto".')
    return tuple(values)
