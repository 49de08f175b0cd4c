"""Arguments of `robust_ns`, checked and completed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robustsparse.algorithm.estimator import Estimator, as_given
from robustsparse.algorithm.gradients import EstimatorLike, as_estimator
from robustsparse.algorithm.problem import Settings
from robustsparse.algorithm.sparsity import k_grid
from robustsparse.base.checkpoint import fingerprint
from robustsparse.base.checks import (
    as_rng,
    check_choice,
    check_count,
    check_number,
    refuse_word,
)
from robustsparse.base.errors import ParameterError
from robustsparse.base.threads import threads_for
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.graph.nodes import CHUNK
from robustsparse.graph.ranking import SUBSAMPLES
from robustsparse.robust.standardize import SCALES

# Largest k along the path of an automatic fit. The ranking, which an automatic graph is cut from, has no such bound.
_LARGEST_K = 10
# What counts along the path is which neighbors are selected, not the last digits of their coefficients.
_TOL, _MAX_ITER, _MAX_ITER_FIXED = 1e-3, 30, 200


@dataclass(frozen=True)
class Request:
    """Arguments of `robust_ns` as they were given; its docstring says what each of them means."""

    k: int | Sequence[int] | Literal["auto"]
    estimator: EstimatorLike
    rule: Literal["or", "and"]
    max_edges: int | None
    select: Literal["ebic", "stars"]
    factors: int
    screen: bool
    epsilon: float
    standardize: bool | Literal["scores", "mad", "blocks", "winsor", "sd"]
    step: float | Literal["auto"]
    max_iter: int | None
    tol: float | None
    rng: int | np.random.Generator | None
    n_jobs: int | None
    verbose: bool | None


@dataclass(frozen=True)
class Plan:
    """A request, checked and completed.

    Attributes
    ----------
    ks : tuple of int
        Neighbors along the path, ascending.
    k : int or None
        The one that was asked for, if it is one.
    along_path : bool
        Whether the graph is to be the best of several k.
    estimator : Estimator
        Robust mean of the gradient.
    rule, max_edges, select, factors, screen
        As asked for.
    how : str
        Scale of the variables in the fits: "scores" or a name that `standardize` knows.
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
    estimator: Estimator
    rule: str
    max_edges: int | None
    select: str
    factors: int
    screen: bool
    how: str
    settings: Settings
    seeds: Indices
    draws: tuple[int, ...]
    threads: int
    verbose: bool

    def digest(self, X: Array, missing: Mask | None = None) -> str:
        """Fingerprint of the data, of which cells are missing, and of all that the parts of a run depend on."""
        estimator = as_given(self.estimator)
        if not (isinstance(estimator, Estimator) and hasattr(estimator, "__dataclass_fields__")):
            raise ParameterError(
                f"checkpoint= cannot tell {estimator!r} from another callable; use an estimator of this "
                "package, or no checkpoint."
            )
        own = {name: value for name, value in vars(estimator).items() if name != "rng"}
        # A generator has already drawn the seeds, which are part of the fingerprint. Its text holds its place in
        # memory, which differs from run to run.
        random = getattr(self.estimator, "rng", None)
        own["rng"] = None if isinstance(random, np.random.Generator) else random
        return fingerprint(
            {"X": X, "seeds": self.seeds, **({} if missing is None else {"missing": missing})},
            {
                "ks": self.ks,
                "estimator": [type(self.estimator).__name__, *sorted(own.items())],
                "screen": self.screen,
                "how": self.how,
                "settings": self.settings,
                "draws": self.draws,
                "chunk": CHUNK,
                # Checkpoints from before there were factors hold parts of rows that were judged otherwise.
                "factors": self.factors,
            },
        )


def make_plan(asked: Request, n: int, d: int) -> Plan:
    """Check what was asked for on n rows of d variables, and fill in what it leaves open."""
    _check(asked)
    generator = as_rng(asked.rng)
    seeds = generator.integers(2**62, size=d)
    draws = tuple(int(seed) for seed in generator.integers(2**62, size=SUBSAMPLES))
    ks, several = _ks(asked.k, n, d), np.ndim(asked.k) > 0
    return Plan(
        ks=ks,
        k=None if isinstance(asked.k, str) or several else ks[0],
        along_path=several,
        estimator=_estimator(asked, generator),
        rule=asked.rule,
        max_edges=_max_edges(asked.max_edges, d),
        select=asked.select,
        factors=check_count("factors", asked.factors, 0, max(d - 2, 0)),
        screen=asked.screen,
        how=_how(asked.standardize, asked.screen),
        settings=_settings(asked.step, asked.max_iter, asked.tol),
        seeds=seeds,
        draws=draws,
        threads=threads_for(asked.n_jobs),
        verbose=bool(asked.verbose),
    )


def _check(asked: Request) -> None:
    """Check what does not depend on the data."""
    check_choice("rule", asked.rule, ("or", "and"))
    check_choice("select", asked.select, ("ebic", "stars"))
    check_number("epsilon", asked.epsilon, 0.0, 0.49)
    check_choice("screen", asked.screen, (True, False))
    if asked.select == "stars" and not (asked.screen and isinstance(asked.k, str)):
        raise ParameterError(
            'select="stars" chooses among graphs of the subsamples; it needs screen=True and k="auto".'
        )


def _estimator(asked: Request, rng: np.random.Generator) -> Estimator:
    """Gradient estimator; one asked for by name is made to fit the many small fits of a graph.

    Once bad rows are out it need not survive many. The iterates of a node settle only if the blocks of a median of
    means stay as they were drawn; every node draws its own, so that no bias is common to all nodes.
    """
    found = as_estimator(asked.estimator, asked.epsilon, rng)
    if not isinstance(asked.estimator, str):
        return found
    return (found.lighter() if asked.screen else found).settled()


def _max_edges(max_edges: int | None, d: int) -> int | None:
    return None if max_edges is None else check_count("max_edges", max_edges, 0, d * (d - 1) // 2)


def _settings(step: float | Literal["auto"], max_iter: int | None, tol: float | None) -> Settings:
    fixed = not (isinstance(step, str) and step == "auto")
    if fixed:
        step = check_number("step", step, 0.0, open_low=True)
    default = _MAX_ITER_FIXED if fixed else _MAX_ITER
    iterations = default if max_iter is None else check_count("max_iter", max_iter, 1)
    tolerance = _TOL if tol is None else check_number("tol", tol, 0, 1)
    return Settings(step, None, iterations, tolerance, fused=True)


def _how(how: bool | str, screen: bool) -> str:
    if how is True:
        return "scores" if screen else "mad"
    if how is False:
        return "none"
    check_choice("standardize", how, (True, False, "scores", *SCALES))
    return str(how)


def _ks(k: int | Sequence[int] | Literal["auto"], n: int, d: int) -> tuple[int, ...]:
    """Values of k along the path, ascending."""
    if isinstance(k, str):
        refuse_word("k", k, "a whole number, several of them")
        return tuple(value for value in k_grid(n, d - 1) if value <= _LARGEST_K)
    values = sorted({check_count("k", value, 1, d - 1) for value in np.atleast_1d(k).tolist()})
    if not values:
        raise ParameterError('k is empty; give a number, several, or "auto".')
    return tuple(values)
