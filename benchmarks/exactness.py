"""Whether screening changes anything: Algorithm 1 against a loop that sorts every coordinate of every gradient."""

from collections.abc import Iterator

import numpy as np

from benchmarks.problems import ALPHA, Array
from benchmarks.rows import ExactRow
from robustsparse import Huber, Logistic, Squared, Trimmed
from robustsparse.algorithm.losses import Loss
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve

PROBLEMS, ITERATIONS, BAR = 200, 20, 1e-12
LOSSES: tuple[Loss, ...] = (Squared(), Huber(1.0), Logistic())
DESIGNS = ("gaussian", "cauchy", "ties", "zero columns", "duplicate columns")


def _design(kind: str, d: int, n: int, rng: np.random.Generator) -> Array:
    """Transposed design (d, n), columns of median size 1."""
    if kind == "cauchy":
        return rng.standard_cauchy((d, n))
    if kind == "ties":
        return rng.integers(-2, 3, (d, n)).astype(np.float64)
    XT = rng.normal(size=(d, n))
    if kind == "zero columns":
        XT[rng.random(d) < 0.4] = 0.0
    if kind == "duplicate columns":
        XT = XT[rng.integers(0, d // 3, d)]
    return XT


def _response(XT: Array, k: int, loss: Loss, rng: np.random.Generator) -> Array:
    eta = rng.normal(size=k) @ XT[rng.choice(len(XT), k, replace=False)]
    if isinstance(loss, Logistic):
        return (eta + rng.logistic(size=len(eta)) > 0).astype(np.float64)
    y = eta + 0.5 * rng.normal(size=len(eta))
    y[: len(y) // 10] *= -10.0
    return np.asarray(y)


def sorting_loop(XT: Array, y: Array, k: int, loss: Loss, step: float, iterations: int) -> Array:
    """Algorithm 1 as one would write it down: sort, average the middle, step, keep the k largest."""
    d, n = XT.shape
    trimmed = Trimmed(ALPHA).count(n)
    coef = np.zeros(d)
    for _ in range(iterations):
        products = np.sort(XT * loss.score(y, coef @ XT), axis=1)
        coef = coef - step * products[:, trimmed : n - trimmed].mean(axis=1)
        # Equal sizes: the first column stays.
        coef[np.argsort(-np.abs(coef), kind="stable")[k:]] = 0.0
    return coef


def difference(seed: int) -> float:
    """Largest difference of two coefficients on one random problem, relative to the largest if that exceeds 1."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(30, 120)), int(rng.integers(20, 150)), int(rng.integers(1, 8))
    loss = LOSSES[seed % len(LOSSES)]
    XT = _design(DESIGNS[seed // len(LOSSES) % len(DESIGNS)], d, n, rng)
    y = _response(XT, k, loss, rng)
    # The plain loop does not shorten a step that is too long.
    for step in (0.4, 0.1, 0.02, 0.004):
        problem = Problem(Trimmed(ALPHA).bind(XT, 1), y, loss)
        settings = Settings(step=step, max_iter=ITERATIONS, tol=0.0)
        fit = solve(problem, k, settings=settings, warn=False)
        if fit.step == step:
            break
    plain = sorting_loop(XT, y, k, loss, step, ITERATIONS)
    return float(np.abs(fit.coef - plain).max() / max(1.0, np.abs(plain).max()))


def rows(problems: int = PROBLEMS) -> Iterator[ExactRow]:
    """The one row of this section."""
    yield ExactRow(problems, max(map(difference, range(problems))), BAR)
