"""How far robust gradients are from the population's, for squared and logistic loss, and the logistic final error.

`python vignettes/experiments/theory_gradient.py` makes results/theory_gradient.csv (some two minutes on one core).
With a centered Gaussian design the population gradient is known for both losses: Σ(β - β*) for the squared one, and
for the logistic one, by Stein's identity, Σ(m(β)β - m(β*)β*), where m(β) is the mean of p(1 - p) at x'β.
"""

import math
import sys
from pathlib import Path

import numpy as np
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.theory_common import (
    HEAVY_DF,
    KEPT_PER_TRUE,
    PAPER,
    SEED,
    blocks,
    largest_eigenvalue,
    printed,
    signs,
    top,
    trimming,
)  # fmt: skip
from vignettes_common import command

import robustsparse as rs
from robustsparse.simulate.draws import autoregression, outlier_count
from robustsparse.simulate.rdc import toeplitz_times

TRIALS = 50
SIGMA = 0.5
CLEAN, OUTLIERS, MOM = "clean, mean", "paper's outliers, trim", "clean, MOM"
CASES = {CLEAN: 0.0, OUTLIERS: 0.1, MOM: 0.0}
# Distances of a point from the truth, in units of the truth's length.
DISTANCES = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
ROWS = (300, 1000, 3000)
ERROR_ROWS = (500, 1000, 2000, 4000)
ERROR_CASES = {"clean, mean": 0.0, "paper's outliers, trim": 0.05, "t₅, MOM": 0.0}
# Directions of so many entries for each true one, as with k' = 2k.
SPARSITY_PER_TRUE = 3
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


def mean_slope(beta: np.ndarray) -> float:
    """Mean of p(1 - p) where x'β is normal with variance β'Σβ."""
    p = expit(math.sqrt(beta @ toeplitz_times(beta, PAPER)) * NODES)
    return float(WEIGHTS @ (p * (1 - p)) / WEIGHTS.sum())


def population(loss: str, beta: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The population gradient at `beta`."""
    if loss == "squared":
        return toeplitz_times(beta - truth, PAPER)
    return toeplitz_times(mean_slope(beta) * beta - mean_slope(truth) * truth, PAPER)


def two_classes(
    n: int, beta: np.ndarray, epsilon: float, rng: np.random.Generator, heavy: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The paper's logistic model, design Gaussian or t₅, covariance exp(-|i - j|), outliers ±3 with opposite odds."""
    total = n + outlier_count(n, epsilon)
    entries = (
        rng.standard_t(HEAVY_DF, (total, len(beta))) * math.sqrt((HEAVY_DF - 2) / HEAVY_DF)
        if heavy
        else rng.standard_normal((total, len(beta)))
    )
    X = autoregression(entries, PAPER)
    y = (rng.random(total) < expit(X @ beta)).astype(np.float64)
    if epsilon > 0:
        X, y, _ = rs.simulate.label_attacks["paper"](X, y, beta, total - n, rng)
    return np.asfortranarray(X), y


def _numbers(
    n: int, beta: np.ndarray, epsilon: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    attack = "paper" if epsilon > 0 else None
    k = np.count_nonzero(beta)
    sim = rs.simulate.linear(
        n, len(beta), k, sigma=SIGMA, epsilon=epsilon, attack=attack, beta=beta, rng=rng
    )
    return sim.X, sim.y


def _direction(beta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random unit vector on the true columns and twice as many others."""
    true, false = np.flatnonzero(beta), np.flatnonzero(beta == 0)
    more = rng.choice(false, (SPARSITY_PER_TRUE - 1) * len(true), replace=False)
    step = np.zeros_like(beta)
    step[np.r_[true, more]] = rng.standard_normal(SPARSITY_PER_TRUE * len(true))
    return step / np.linalg.norm(step)


def gradient_trial(
    loss: str, case: str, n: int, seed: int, d: int = 500, k: int = 5
) -> list[dict[str, object]]:
    """Errors of one data set's gradients at points ever farther from the truth."""
    rng = np.random.default_rng(SEED + seed)
    beta, epsilon = signs(d, k, rng), CASES[case]
    X, y = (_numbers if loss == "squared" else two_classes)(n, beta, epsilon, rng)
    estimator = blocks(SEED + seed) if case == MOM else trimming(epsilon)
    score = (rs.Squared() if loss == "squared" else rs.Logistic()).score
    away = _direction(beta, rng)
    rows = []
    for distance in DISTANCES:
        at = beta + distance * math.sqrt(k) * away
        gap = np.abs(estimator(X, score(y, X @ at)) - population(loss, at, beta))
        largest = np.sort(gap)[-SPARSITY_PER_TRUE * k :]
        rows.append(
            {
                "part": "gradient", "loss": loss, "case": case, "n": n, "seed": seed,
                "distance": distance * math.sqrt(k), "largest": float(largest[-1]),
                "sparse": float(np.linalg.norm(largest)),
            }
        )  # fmt: skip
    return rows


def error_trial(case: str, n: int, seed: int, d: int = 500, k: int = 5) -> list[dict[str, object]]:
    """Final error of the logistic loss as printed, in a ball of twice the truth's length."""
    rng = np.random.default_rng(SEED + seed)
    beta, epsilon = signs(d, k, rng), ERROR_CASES[case]
    heavy = case == "t₅, MOM"
    X, y = two_classes(n, beta, epsilon, rng, heavy)
    # The logistic loss has a quarter of the squared loss's curvature at most.
    fit = printed(
        X, y, KEPT_PER_TRUE * k, blocks(SEED + seed) if heavy else trimming(epsilon),
        loss=rs.Logistic(), step=4 / largest_eigenvalue(), radius=2 * math.sqrt(k), iterations=300,
    )  # fmt: skip
    right = top(fit.coef, k) == set(np.flatnonzero(beta))
    error = float(np.linalg.norm(fit.coef - beta))
    return [
        {
            "part": "error", "loss": "logistic", "case": case, "n": n, "seed": seed, "error": error,
            "length": float(np.linalg.norm(fit.coef)), "right": float(right),
        }
    ]  # fmt: skip


def any_trial(part: str, *setting: object) -> list[dict[str, object]]:
    """One trial of one of the parts."""
    return {"gradient": gradient_trial, "error": error_trial}[part](*setting)


def settings() -> list[tuple[object, ...]]:
    """All trials, in the order of the table."""
    seeds = range(TRIALS)
    return [
        *(
            ("gradient", loss, case, n, seed)
            for loss in ("squared", "logistic") for case in CASES for n in ROWS for seed in seeds
        ),
        *(("error", case, n, seed) for case in ERROR_CASES for n in ERROR_ROWS for seed in seeds),
    ]  # fmt: skip


def small() -> list[tuple[object, ...]]:
    """A few small trials of both parts, for the tests."""
    return [
        *(
            ("gradient", loss, case, n, 0, 30, 2)
            for loss in ("squared", "logistic") for case in CASES for n in (80, 160)
        ),
        *(("error", case, n, 0, 30, 2) for case in ERROR_CASES for n in (80, 160)),
    ]  # fmt: skip


if __name__ == "__main__":
    command("theory_gradient", any_trial, settings())
