"""The final error of Algorithm 1 against n, k, d, ε, σ and the size of β*, and with the rows split.

`python vignettes/experiments/theory_rates.py` makes results/theory_rates.csv (some four minutes on one core).
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.theory_common import (
    KEPT_PER_TRUE,
    REST,
    SEED,
    blocks,
    heavy,
    largest_eigenvalue,
    printed,
    push,
    signs,
    top,
    trimming,
)  # fmt: skip
from vignettes_common import command

import robustsparse as rs
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve
from robustsparse.simulate.simulation import Simulation

TRIALS = 50
CLEAN, OUTLIERS, PUSHED, HEAVY = "clean, mean", "paper's outliers, trim", "pushed, trim", "t₅, MOM"
CASES = (CLEAN, OUTLIERS, PUSHED, HEAVY)
BASE = {"n": 1000, "d": 500, "k": 5, "sigma": 0.5, "size": 1.0}
# Values of what varies, what else differs from BASE, and the share of outliers of each case.
CURVES = {
    "n": ((250, 500, 1000, 2000, 4000), {}, {CLEAN: 0, OUTLIERS: 0.05, PUSHED: 0.05, HEAVY: 0}),
    "k": ((1, 3, 9, 27), {"n": 2000}, {CLEAN: 0, OUTLIERS: 0.05, PUSHED: 0.02, HEAVY: 0}),
    "d": ((50, 200, 800, 3200), {}, {CLEAN: 0, OUTLIERS: 0.05, HEAVY: 0}),
    "epsilon": ((0.005, 0.01, 0.02, 0.05, 0.1, 0.2), {"n": 4000, "d": 100}, (OUTLIERS, PUSHED)),
    "sigma": ((0.01, 0.1, 1.0), {}, {CLEAN: 0, OUTLIERS: 0.1, PUSHED: 0.05, HEAVY: 0}),
    "size": ((1.0, 100.0, 1e4), {}, {CLEAN: 0, OUTLIERS: 0.1, PUSHED: 0.05, HEAVY: 0}),
}
# Parts of the rows, one for each iteration; 0 uses all rows in all iterations.
PARTS = (0, 10, 20, 40)
SPLIT_ROWS = (1000, 2000, 4000, 8000)
ITERATIONS = 300


def data(
    case: str, epsilon: float, seed: int, n: int, d: int, k: int, **truth: float
) -> Simulation:
    """One data set; β* has k entries ± `size`, and with t₅ tails nothing is corrupted."""
    rng = np.random.default_rng(SEED + seed)
    beta = signs(d, k, rng, truth["size"])
    if case == HEAVY:
        return heavy(n, d, beta, truth["sigma"], rng)
    attack = {CLEAN: None, OUTLIERS: "paper", PUSHED: push}[case]
    return rs.simulate.linear(
        n, d, k, sigma=truth["sigma"], epsilon=epsilon, attack=attack, beta=beta, rng=rng
    )


def trial(
    curve: str, value: float, case: str, epsilon: float, seed: int, **setting: float
) -> list[dict[str, object]]:
    """One fit as printed with k' = 2k."""
    setting = BASE | setting | ({} if curve == "epsilon" else {curve: value})
    sim = data(case, epsilon, seed, **setting)
    k = int(setting["k"])
    estimator = blocks(SEED + seed) if case == HEAVY else trimming(epsilon)
    fit = printed(sim.X, sim.y, KEPT_PER_TRUE * k, estimator, iterations=ITERATIONS)
    return [_row(curve, value, case, 0, seed, fit.coef, sim.beta, fit.n_iter)]


def split_trial(n: int, parts: int, seed: int, d: int = 500, k: int = 5) -> list[dict[str, object]]:
    """One fit with the rows split over the iterations, as in the theory, or not (`parts` = 0)."""
    sim = data(OUTLIERS, 0.1, seed, n, d, k, size=1.0, sigma=0.5)
    rows = np.random.default_rng(SEED + seed).permutation(len(sim.y)) % max(parts, 1)
    problems = [
        Problem(
            trimming(0.1).bind(np.ascontiguousarray(sim.X[rows == t].T)),
            sim.y[rows == t],
            rs.Squared(),
        )
        for t in range(max(parts, 1))
    ]
    how = Settings(step=1 / largest_eigenvalue(), max_iter=ITERATIONS, tol=REST)
    fit = solve(problems, KEPT_PER_TRUE * k, settings=how, warn=False)
    return [_row("split", n, OUTLIERS, parts, seed, fit.coef, sim.beta, fit.n_iter)]


def _row(
    curve: str, value: float, case: str, parts: int, seed: int, coef: np.ndarray, beta: np.ndarray,
    iterations: int,
) -> dict[str, object]:  # fmt: skip
    true = set(np.flatnonzero(beta))
    return {
        "curve": curve, "value": value, "case": case, "parts": parts, "seed": seed,
        "error": float(np.linalg.norm(coef - beta)), "right": top(coef, len(true)) == true,
        "iterations": iterations,
    }  # fmt: skip


def any_trial(kind: str, *setting: object) -> list[dict[str, object]]:
    """One trial of a curve or of the splits."""
    if kind == "split":
        return split_trial(*setting)
    *plain, more = setting
    return trial(kind, *plain, **more)


def settings() -> list[tuple[object, ...]]:
    """All trials, in the order of the table."""
    curves = [
        (curve, value, case, value if curve == "epsilon" else cases[case], seed, more)
        for curve, (values, more, cases) in CURVES.items()
        for case in cases for value in values for seed in range(TRIALS)
    ]  # fmt: skip
    splits = [
        ("split", n, parts, seed)
        for parts in PARTS for n in SPLIT_ROWS for seed in range(TRIALS)
    ]  # fmt: skip
    return curves + splits


def small() -> list[tuple[object, ...]]:
    """A few small trials of every curve, for the tests."""
    size = {"n": 120, "d": 30, "k": 2}
    curves = [
        (curve, value, case, value if curve == "epsilon" else cases[case], 0, size)
        for curve, (values, _, cases) in CURVES.items()
        for case in cases for value in values[:2]
    ]  # fmt: skip
    return curves + [("split", n, parts, 0, 30, 2) for parts in (0, 5) for n in (100, 200)]


if __name__ == "__main__":
    command("theory_rates", any_trial, settings())
