"""Fits of random problems of all kinds, stored as numbers; run in the tree of any version: `whole_fits.py FILE`.

It knows the package by its public names only, so that an earlier version can run it too.
"""

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import robustsparse as rs

Array = NDArray[np.float64]
PROBLEMS = 200
# Rows and columns: tall, about square, wide; a few are large enough for other ways through the code.
SIZES = ((60, 8), (150, 20), (80, 60), (100, 250), (400, 40), (250, 120))
LARGE_SIZES = ((150, 1500), (12_000, 6))
# One problem in so many is large.
_EVERY_LARGE = 20


def _design(n: int, d: int, rng: np.random.Generator) -> Array:
    """Neighbors are correlated; some columns have two values, some are near-copies, some cells are far out."""
    rho = rng.choice([0.0, 0.5, 0.9])
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    labels = slice(None, None, int(rng.integers(4, 9)))
    X[:, labels] = X[:, labels] > 0.3
    X[:, -1] = X[:, 1] + 1e-3 * rng.standard_normal(n)
    if rng.random() < 0.5:
        X[rng.choice(n, n // 12, replace=False)] *= 20.0
    return X * np.exp(rng.normal(size=d))


def _response(X: Array, family: str, rng: np.random.Generator) -> Array:
    terms = rng.choice(X.shape[1], int(rng.integers(1, 6)), replace=False)
    eta = (X[:, terms] / X[:, terms].std(axis=0)).sum(axis=1) + 1.0
    if family == "binomial":
        return (1.5 * eta + rng.logistic(size=len(eta)) > 1.5).astype(np.float64)
    y = eta + rng.choice([0.1, 0.5, 2.0]) * rng.standard_normal(len(eta))
    if rng.random() < 0.7:
        y[rng.choice(len(y), len(y) // 10, replace=False)] += 15.0
    return np.asarray(y)


def _arguments(n: int, d: int, family: str, rng: np.random.Generator) -> dict[str, Any]:
    """Some of what can be asked for."""
    asked: dict[str, Any] = {"family": family, "n_jobs": 1, "rng": 3}
    if rng.random() < 0.25:
        asked["weights"] = rng.uniform(0.2, 2.0, n)
    if rng.random() < 0.25:
        asked["offset"] = 0.3 * rng.standard_normal(n)
    if rng.random() < 0.25:
        asked["groups"] = {f"g{j}": [j, j + 1, j + 2] for j in range(0, d - 3, 4)}
    if rng.random() < 0.3:
        asked["goal"] = "predict"
    elif rng.random() < 0.15:
        asked["select"] = rng.choice(["gic", "ebic", "cv"])
    if rng.random() < 0.15:
        asked["estimator"] = rng.choice(["mom", "mean"])
    if rng.random() < 0.1:
        asked["intercept"] = False
    if rng.random() < 0.1:
        asked["keep"] = ["x4"]  # in no group
    if family == "gaussian" and rng.random() < 0.1:
        asked["loss"] = "huber"
    if "goal" not in asked and rng.random() < 0.1:
        asked["refit"] = False
    return asked


def problem(seed: int) -> tuple[Array, Array, dict[str, Any]]:
    """Design, response and arguments of a seed."""
    rng = np.random.default_rng(seed)
    large = LARGE_SIZES[seed // _EVERY_LARGE % len(LARGE_SIZES)]
    n, d = SIZES[rng.integers(len(SIZES))] if seed % _EVERY_LARGE else large
    family = "binomial" if rng.random() < 0.35 and n < 1000 else "gaussian"
    X = _design(n, d, rng)
    if rng.random() < 0.1:
        X = X.astype(np.float32)
    return X, _response(X, family, rng), _arguments(n, d, family, rng)


def numbers(seed: int) -> Array:
    """All that a fit says of a problem, in one row; no numbers but its kind where the package refuses."""
    X, y, asked = problem(seed)
    try:
        fit = rs.rht_fit(X, y, **asked)
    except rs.RobustSparseError as error:
        return np.frombuffer(type(error).__name__.encode(), dtype=np.uint8).astype(np.float64)
    parts = [fit.params, fit.fittedvalues, fit.resid, fit.row_weights, fit.path.to_numpy().ravel()]
    parts += [[fit.k, fit.scale, fit.n_iter], np.isin(np.arange(len(y)), fit.outliers())]
    if fit.goal == "select" and asked.get("refit", True):
        parts.append(fit.bse)
    if fit.cv is not None:
        parts.append(fit.cv.to_numpy().ravel())
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])


def main() -> None:
    """Fit all problems and store the numbers."""
    warnings.simplefilter("ignore")
    np.savez(sys.argv[1], *(numbers(seed) for seed in range(PROBLEMS)))


if __name__ == "__main__":
    main()
