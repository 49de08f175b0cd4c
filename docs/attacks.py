"""How the automatic fit fares under every attack: `python docs/attacks.py` writes docs/attacks.md (a few minutes)."""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import robustsparse as rs

HERE = Path(__file__).parent
SEEDS = 60
SIZE = {"n": 300, "d": 1000, "k": 5, "sigma": 0.5}

HEAD = """# The automatic fit under attack

`python docs/attacks.py` makes this page. Each row: {seeds} simulated data sets with n = 300 good rows and
ε/(1-ε)·300 bad ones, d = 1000 predictors on mixed scales (Toeplitz correlation), 5 of them in the model, noise
0.5; the default call `rht_fit(X, y, epsilon=ε)`, in which k is chosen, bad rows are rejected and the support is
refitted.

- *error*: median of the l2 error of the coefficients, in units of the predictors' scales;
- *ratio*: that error over the one of least squares on the true support and the good rows (median of each);
- *F1*: mean F1 of the support; *flagged*: share of the bad rows whose response is flagged; *false*: share of good
  rows flagged;
- *gross*: whether the attack's rows are so far out that they leave no doubt. Rows that mimic good ones cannot all be
  found, and do little harm as long as the coefficients stay right.

A ratio above 1.25 or an F1 below 0.95 means that the attack got through in part or in full: it is set in bold.
"""

HEAVY = """
## Heavy tails

The same sizes, no bad rows, but tails that a mean does not survive: log-normal predictors and noise, or Student's t
with three degrees of freedom, standardized; `rht_fit(X, y, estimator=...)`. Here *ratio* can fall below one: least
squares is not the best that can be done. *flagged* are good rows beyond three scales, of which heavy tails have many.
"""

TAILS = {
    "log-normal": {"design": "lognormal", "noise": "lognormal"},
    "t3 noise": {"noise": "t3"},
    "t3 predictors and noise": {"design": "t3", "noise": "t3"},
}


def one(attack: str | None, epsilon: float, seed: int) -> dict[str, float]:
    sim = rs.simulate.linear(
        **SIZE, epsilon=epsilon if attack else 0.0, attack=attack, scales="mixed", rng=10_000 + seed
    )
    return measures(sim, epsilon=epsilon)


def heavy(law: str, estimator: str, seed: int) -> dict[str, float]:
    sim = rs.simulate.linear(**SIZE, **TAILS[law], attack=None, scales="mixed", rng=10_000 + seed)
    return measures(sim, estimator=estimator)


def measures(sim: rs.simulate.Simulation, **options: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        fit = rs.rht_fit(sim.X, sim.y, n_jobs=1, **options)
    coef = fit.params.iloc[1:].to_numpy()
    good, support = ~sim.outlier, np.flatnonzero(sim.beta)
    A = np.column_stack([np.ones(good.sum()), sim.X[good][:, support]])
    oracle = np.zeros(len(coef))
    oracle[support] = np.linalg.lstsq(A, sim.y[good], rcond=None)[0][1:]
    found = np.flatnonzero(coef)
    flagged = np.isin(np.arange(fit.nobs), fit.outliers("response"))
    return {
        "error": float(np.linalg.norm((coef - sim.beta) * sim.column_scale)),
        "oracle": float(np.linalg.norm((oracle - sim.beta) * sim.column_scale)),
        "F1": 2 * len(np.intersect1d(found, support)) / (len(found) + len(support)),
        "flagged": float(flagged[sim.outlier].mean()) if sim.outlier.any() else np.nan,
        "false": float(flagged[good].mean()),
        "k": fit.k,
    }


def row(attack: str | None, epsilon: float, seeds: int) -> dict[str, object]:
    runs = pd.DataFrame(one(attack, epsilon, seed) for seed in range(seeds))
    middle, mean = runs.median(), runs.mean()
    ratio = middle["error"] / middle["oracle"]
    through = ratio > 1.25 or mean["F1"] < 0.95
    name = attack or "clean"
    gross = name in rs.simulate.gross_attacks
    return {
        "attack": f"**{name}**" if through else name,
        "gross": "yes" if gross else "",
        "error": f"{middle['error']:.3f}",
        "ratio": f"{ratio:.2f}",
        "F1": f"{mean['F1']:.3f}",
        "flagged": "" if attack is None else f"{mean['flagged']:.3f}",
        "false": f"{mean['false']:.4f}",
        "mean k": f"{mean['k']:.1f}",
    }


def heavy_row(law: str, estimator: str, seeds: int) -> dict[str, object]:
    runs = pd.DataFrame(heavy(law, estimator, seed) for seed in range(seeds))
    middle, mean = runs.median(), runs.mean()
    return {
        "tails": law,
        "estimator": estimator,
        "error": f"{middle['error']:.3f}",
        "ratio": f"{middle['error'] / middle['oracle']:.2f}",
        "F1": f"{mean['F1']:.3f}",
        "flagged": f"{mean['false']:.3f}",
        "mean k": f"{mean['k']:.1f}",
    }


def markdown(rows: list[dict[str, object]]) -> str:
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(r[name]) for name in names) + " |" for r in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names = [None, *rs.simulate.attacks]
    text = HEAD.format(seeds=options.seeds)
    for epsilon in (0.1, 0.2):
        rows = Parallel(n_jobs=options.jobs)(
            delayed(row)(name, epsilon, options.seeds) for name in names
        )
        text += f"\n## ε = {epsilon}\n\n{markdown(rows)}\n"
    rows = Parallel(n_jobs=options.jobs)(
        delayed(heavy_row)(law, estimator, options.seeds)
        for law in TAILS
        for estimator in ("mom", "trim")
    )
    (HERE / "attacks.md").write_text(f"{text}{HEAVY}\n{markdown(rows)}\n")


if __name__ == "__main__":
    main()
