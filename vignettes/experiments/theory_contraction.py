"""How fast Algorithm 1 contracts, against the theory's 1 - 1 / (8ρ), and what the theory's k' does.

`python vignettes/experiments/theory_contraction.py` makes results/theory_contraction.csv (some two minutes on one
core).
"""

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.theory_common import (
    PAPER,
    REST,
    SEED,
    condition,
    printed,
    promised_factor,
    top,
    trimming,
)  # fmt: skip
from vignettes_common import command

import robustsparse as rs

TRIALS = 50
# A run of the theory's own size takes seconds.
FEW_TRIALS = 10
CORRELATIONS = (0.0, 0.1, 0.2, PAPER, 0.5, 0.6, 0.7)
KEPT = (5, 10, 20, 40, 80, 160, 438)
# Errors below this part of the first one are rounding, not contraction.
ROUNDING = 1e-10
# Without noise the iterates come to rest where rounding moves them.
REST_EXACT = 1e-14
# Runs that diverge are not waited for.
CAP = 300


def theory_rows(d: int = 1000, k: int = 5) -> int:
    """Rows that Corollary 4.1 asks for if its constant is 1: ρ⁴ k log d."""
    return math.ceil(condition() ** 4 * k * math.log(d))


def theory_share(n: int, d: int = 1000, k: int = 5) -> float:
    """Share of outliers that Corollary 4.1 allows if its constant is 1: 1 / (ρ² √k log(nd))."""
    return 1 / (condition() ** 2 * math.sqrt(k) * math.log(n * d))


def theory_kept(k: int = 5) -> int:
    """The theory's k' = 4ρ²k."""
    return int(4 * condition() ** 2 * k)


def _way(errors: np.ndarray) -> np.ndarray:
    """Factors of the iterations on the way down: until the last level, or rounding, is near."""
    floor = max(3 * errors[-1], ROUNDING * errors[0])
    last = int(np.argmax(errors <= floor)) if (errors <= floor).any() else len(errors) - 1
    return errors[1 : last + 1] / errors[:last]


def trial(
    part: str,
    n: int,
    correlation: float,
    kept: int,
    epsilon: float,
    sigma: float,
    seed: int,
    d: int = 1000,
    k: int = 5,
    iterations: int = 1500,
) -> list[dict[str, object]]:
    """One run from zero: the factors of its iterations and where it ends."""
    sim = rs.simulate.linear(
        n, d, k, sigma=sigma, epsilon=epsilon, correlation=correlation, rng=SEED + seed
    )
    errors = [float(np.linalg.norm(sim.beta))]
    fit = printed(
        sim.X, sim.y, kept, trimming(epsilon), correlation=correlation, iterations=iterations,
        rest=REST_EXACT if sigma == 0 else REST,
        callback=lambda coef: errors.append(float(np.linalg.norm(coef - sim.beta))),
    )  # fmt: skip
    factors = _way(np.array(errors))
    some = len(factors) > 1
    return [
        {
            "part": part, "n": n, "correlation": correlation, "kept": kept, "epsilon": epsilon,
            "sigma": sigma, "seed": seed, "error": errors[-1],
            "factor": float(np.exp(np.log(factors).mean())) if some else math.nan,
            "worst": float(factors.max()) if some else math.nan,
            "above": float((factors > promised_factor(correlation)).mean()) if some else math.nan,
            "right": top(fit.coef, k) == set(np.flatnonzero(sim.beta)),
            # As printed the step is never halved; a run that needs it has diverged.
            "diverged": fit.reason in ("step reduced", "diverged"),
            "iterations": fit.n_iter,
        }
    ]  # fmt: skip


def settings() -> list[tuple[object, ...]]:
    """All trials, in the order of the table."""
    rows = theory_rows()
    return [
        *(
            ("condition", 300, c, kept, 0.1, 0.0, seed)
            for c in CORRELATIONS for kept in (5, 10) for seed in range(TRIALS)
        ),
        *(
            ("kept", 300, PAPER, kept, 0.1, 0.5, seed, 1000, 5, CAP)
            for kept in KEPT for seed in range(TRIALS)
        ),
        *(
            ("theory", rows, PAPER, kept, theory_share(rows), 0.0, seed, 1000, 5, CAP)
            for kept in (10, theory_kept()) for seed in range(FEW_TRIALS)
        ),
    ]  # fmt: skip


def small() -> list[tuple[object, ...]]:
    """A few small trials of every part, for the tests."""
    size = (60, 2, 40)
    return [
        *(("condition", 90, c, kept, 0.1, 0.0, 0, *size) for c in (0.0, 0.3) for kept in (2, 4)),
        *(("kept", 90, PAPER, kept, 0.1, 0.5, 0, *size) for kept in (2, 10)),
        *(("theory", 200, PAPER, kept, 0.05, 0.0, 0, *size) for kept in (4, 20)),
    ]


if __name__ == "__main__":
    command("theory_contraction", trial, settings())
