"""How fits fare with missing and wrong cells: `python docs/cells.py` writes docs/cells.md (ten minutes on two cores).

`--seeds 2` looks at fewer data sets and prints the page only. LassoCV needs scikit-learn.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).parents[1]))
import robustsparse as rs
from docs.attacks import markdown
from robustsparse.robust.imputation import Imputer
from robustsparse.robust.standardize import standardize
from robustsparse.robust.wrong_cells import single_errors
from vignettes.vignettes_common import run_trials

PAGE = Path(__file__).parent / "cells.md"
SEEDS, FIRST = 10, 2000
K, RHO, SIGMA = 5, 0.5, 0.5
KINDS = ("shift by 10", "units", "999", "shift by 4", "permuted", "zeros")
# Error ratio and F1 that were set as a goal, by share of wrong cells; for the first three kinds.
BARS, BARRED = {0.02: (1.6, 0.9), 0.05: (2.2, 0.85)}, KINDS[:3]
METHODS = {"default": "auto", "cells=True": True, "cells=False": False}

HEAD = """# Missing values and wrong cells

`python docs/cells.py` makes this page. Predictors are Gaussian with correlations 0.5^|i - j|, five of them matter, with
coefficients of ±1, and the noise has standard deviation 0.5, unless said otherwise; every figure is of {seeds} data
sets that nothing was chosen on. *ratio* is the root mean squared error of the coefficients over that of least squares
on the true columns, with all cells as they were, and without bad rows; *F1* is that of the selected columns.
"""
MISSING = """
## Missing cells

150 rows, 300 columns, cells missing completely at random; `rht(..., na_action="impute")`. *to complete* is the error
over that of the same call on the complete data; `na_action="drop"` would leave out the *rows with one*. Bar: F1 at
least 0.95, at most 1.3 times the error of the complete data, no row lost. Here there are four times as many data sets.
"""
WRONG = """
## Wrong cells

300 rows; cells are wrong independently of each other, so that most rows have one: shifted by ±10 or ±4 standard
deviations, multiplied by 100 (*units*), set to 999 or to 0, or exchanged within their column (*permuted*). The default
call has `cells="auto"`; beside it `cells=True`, `cells=False` and scikit-learn's LassoCV on columns that are clipped
at five MADs. *found* is the share of wrong cells that the default call replaces. Bars: at 2% a ratio of at most 1.6 and
F1 of at least 0.9, at 5% 2.2 and 0.85, for shifts by 10, units and 999. The other kinds hide among the values of
their column; what they cost is told here, and most of them are not found.
"""
ROWS = """
## Wrong cells, and bad rows on top

The same with 30 of the 300 rows bad in addition: their response is shifted by eight of its standard deviations
(*vertical*), or their predictors are multiplied by ten and the response has the wrong sign (*leverage*). The bars are
the same.
"""
CLASSES = """
## Two classes

300 rows, 200 columns, log-odds of standard deviation 2.5, 5% of the cells wrong. *ratio* is to the default call on the
cells as they were.
"""
SOUND = """
## No wrong cells

What the default call loses where every cell is right: the error with `cells="auto"` over that with `cells=False`, and
the number of cells that it replaces in a data set. Bar: within 2%.
"""
SPEED = """
## Time

CPU time of finding and filling 5% wrong cells, in units of standardizing the columns (one thread). Bar: ten at
1,000 x 20,000.
"""


# ------------------------------------------------------------------------------------------- data


def predictors(rng: np.random.Generator, n: int, d: int, kind: str = "gaussian") -> np.ndarray:
    """Columns of a kind."""
    Z = rng.standard_normal((n, d))
    X = Z.copy()
    for j in range(1, d):
        X[:, j] = RHO * X[:, j - 1] + np.sqrt(1 - RHO**2) * Z[:, j]
    made: dict[str, Callable[[], np.ndarray]] = {
        "gaussian": lambda: X,
        "t with 2 degrees of freedom": lambda: rng.standard_t(2, (n, d)),
        "Pareto, 1.5": lambda: rng.pareto(1.5, (n, d)),
        "log-normal": lambda: np.exp(X),
        "log-normal, sigma 2": lambda: np.exp(2 * X),
        "counts": lambda: rng.poisson(rng.uniform(0.3, 3, d), (n, d)).astype(float),
        "0/1": lambda: (rng.random((n, d)) < rng.uniform(0.05, 0.5, d)).astype(float),
        "one cell in twenty is six times as large": lambda: (
            X * np.where(rng.random((n, d)) < 0.05, 6, 1)
        ),
    }
    return made[kind]()


def linear(seed: int, n: int, d: int, kind: str = "gaussian") -> tuple[Any, ...]:
    """A generator for what is done to the data, the data, the coefficients and the columns that matter."""
    rng = np.random.default_rng(seed)
    X = predictors(rng, n, d, kind)
    support = np.sort(rng.choice(d, K, replace=False))
    beta = np.zeros(d)
    scale = 1.0 if kind == "gaussian" else np.maximum(X[:, support].std(0), 1e-3)
    beta[support] = rng.choice([-1.0, 1.0], K) / scale
    return rng, X, X @ beta + SIGMA * rng.standard_normal(n), beta, support


def spoiled(
    rng: np.random.Generator, X: np.ndarray, share: float, kind: str
) -> tuple[np.ndarray, np.ndarray]:
    """The table with wrong cells, and which they are."""
    wrong = rng.random(X.shape) < share
    Y, m = X.copy(), int(wrong.sum())
    if kind.startswith("shift"):
        Y[wrong] += float(kind.split()[-1]) * rng.choice([-1.0, 1.0], m)
    elif kind == "units":
        Y[wrong] *= 100
    elif kind == "permuted":
        for j in range(X.shape[1]):
            rows = np.flatnonzero(wrong[:, j])
            Y[rows, j] = X[rng.choice(len(X), len(rows)), j]
    else:
        Y[wrong] = {"999": 999.0, "zeros": 0.0}[kind]
    return Y, wrong


def attacked(
    rng: np.random.Generator, X: np.ndarray, y: np.ndarray, beta: np.ndarray, attack: str
) -> tuple[Any, ...]:
    """The data with a tenth of the rows bad, and which they are."""
    bad = np.zeros(len(y), dtype=bool)
    bad[rng.choice(len(y), len(y) // 10, replace=False)] = True
    X, y, spread = X.copy(), y.copy(), y.std()
    if attack == "vertical":
        y[bad] += 8 * spread * rng.choice([1, 1, 1, -1], bad.sum())
    else:
        X[bad] *= 10
        y[bad] = -X[bad] @ beta
    return X, y, bad


# --------------------------------------------------------------------------------------- measures


def fitted(X: np.ndarray, y: np.ndarray, **options: Any) -> rs.RHTResult:
    """A fit without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        return rs.rht_fit(X, y, n_jobs=1, **options)


def clipped_lasso(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coefficients of LassoCV on columns that are clipped at five MADs."""
    from sklearn.linear_model import LassoCV

    center = np.median(X, axis=0)
    spread = 1.4826 * np.median(np.abs(X - center), axis=0)
    Z = np.clip(X, center - 5 * spread, center + 5 * spread)
    sd = Z.std(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(LassoCV(cv=5).fit((Z - Z.mean(0)) / sd, y).coef_ / sd)


def measures(
    coef: np.ndarray, beta: np.ndarray, scale: np.ndarray | float = 1.0
) -> dict[str, float]:
    """Error, and F1 of the support."""
    found, true = set(np.flatnonzero(coef)), set(np.flatnonzero(beta))
    f1 = 2 * len(found & true) / max(1, len(found) + len(true))
    return {"error": float(np.linalg.norm((coef - beta) * scale)), "f1": f1}


def oracle(X: np.ndarray, y: np.ndarray, beta: np.ndarray) -> float:
    """Error of least squares on the true columns."""
    support = np.flatnonzero(beta)
    A = np.column_stack([np.ones(len(y)), X[:, support]])
    return float(np.linalg.norm(np.linalg.lstsq(A, y, rcond=None)[0][1:] - beta[support]))


def rms(values: "pd.Series[float]") -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


# ----------------------------------------------------------------------------------------- trials


def missing_trial(share: float, seed: int) -> list[dict[str, object]]:
    """The fit to a table with holes, and to the complete one."""
    rng, X, y, beta, _ = linear(seed, 150, 300)
    holed = np.where(rng.random(X.shape) < share, np.nan, X)
    fit, whole = fitted(holed, y, na_action="impute"), fitted(X, y)
    got = measures(fit.params.to_numpy()[1:], beta)
    rows = {"rows": fit.nobs, "dropped": int(np.isnan(holed).any(axis=1).sum())}
    complete = measures(whole.params.to_numpy()[1:], beta)["error"]
    return [{"share": share, **got, **rows, "complete": complete, "oracle": oracle(X, y, beta)}]


def wrong_trial(d: int, kind: str, share: float, attack: str, seed: int) -> list[dict[str, object]]:
    """All methods on a table with wrong cells."""
    rng, X, y, beta, _ = linear(seed, 300, d)
    bad = np.zeros(len(y), dtype=bool)
    good = X, y
    if attack:
        X, y, bad = attacked(rng, X, y, beta, attack)
    reference = oracle(good[0][~bad], good[1][~bad], beta)
    Y, wrong = spoiled(rng, X, share, kind)
    setting = {"d": d, "kind": kind, "share": share, "attack": attack, "oracle": reference}
    out: list[dict[str, object]] = []
    for method, cells in METHODS.items():
        fit = fitted(Y, y, cells=cells)
        coef = fit.params.to_numpy()[1:]
        found = len(fit.cells()) / max(1, int(wrong[~bad].sum()))
        out.append({**setting, "method": method, **measures(coef, beta), "found": min(found, 1.0)})
    lasso = measures(clipped_lasso(Y, y), beta)
    return [*out, {**setting, "method": "LassoCV, clipped", **lasso}]


def class_trial(kind: str, seed: int) -> list[dict[str, object]]:
    """Two classes with wrong cells, and without."""
    rng, X, _, beta, _ = linear(seed, 300, 200)
    beta = beta * 2.5 / (X @ beta).std()
    y = (rng.random(300) < expit(X @ beta)).astype(float)
    Y, _ = spoiled(rng, X, 0.05, kind)
    fits = {
        "as they were": fitted(X, y, family="binomial"),
        "default": fitted(Y, y, family="binomial"),
        "cells=False": fitted(Y, y, family="binomial", cells=False),
    }
    return [
        {"kind": kind, "method": name, **measures(fit.params.to_numpy()[1:], beta)}
        for name, fit in fits.items()
    ]


def sound_trial(kind: str, seed: int) -> list[dict[str, object]]:
    """Both ways to treat cells on data that have no wrong ones."""
    _, X, y, beta, _ = linear(seed, 300, 200, kind)
    auto, off = fitted(X, y), fitted(X, y, cells=False)
    scale = np.maximum(X.std(0), 1e-3)
    return [
        {
            "kind": kind,
            "auto": measures(auto.params.to_numpy()[1:], beta, scale)["error"],
            "off": measures(off.params.to_numpy()[1:], beta, scale)["error"],
            "cells": len(auto.cells()),
        }
    ]


def mending_time(n: int, d: int) -> dict[str, object]:
    """CPU time of finding and filling cells over that of standardizing, the least of three."""
    rng = np.random.default_rng(FIRST)
    X, _ = spoiled(rng, predictors(rng, n, d), 0.05, "shift by 10")
    times = []
    for _ in range(3):
        start = time.process_time()
        XT, _ = standardize(X)
        middle = time.process_time()
        wrong = single_errors(XT)
        Imputer.of(XT, wrong, np.flatnonzero(wrong.any(axis=1))).fill(XT, wrong)
        times.append((middle - start, time.process_time() - middle))
    first, second = np.min(times, axis=0)
    return {"rows x columns": f"{n:,} x {d:,}", "times standardizing": f"{second / first:.1f}"}


# ------------------------------------------------------------------------------------------- page


def missing_table(runs: pd.DataFrame) -> list[dict[str, object]]:
    """A row a share of missing cells."""
    rows: list[dict[str, object]] = []
    for share, part in runs.groupby("share"):
        to_complete = rms(part.error) / rms(part.complete)
        met = part.f1.mean() >= 0.95 and to_complete <= 1.3 and (part.rows == 150).all()
        rows.append(
            {
                "missing": f"{share:.1%}", "rows with one": f"{part.dropped.mean():.0f}",
                "rows used": f"{part.rows.mean():.0f}",
                "F1": f"{part.f1.mean():.2f}", "to complete": f"{to_complete:.2f}",
                "ratio": f"{rms(part.error) / rms(part.oracle):.2f}", "bar": "met" if met else "**missed**",
            }
        )  # fmt: skip
    return rows


def wrong_table(runs: pd.DataFrame) -> list[dict[str, object]]:
    """A row a setting, ratio and F1 of each method."""
    rows: list[dict[str, object]] = []
    for (attack, d, share, kind), part in runs.groupby(
        ["attack", "d", "share", "kind"], sort=False
    ):
        row: dict[str, object] = {"bad rows": attack} if attack else {}
        row |= {"d": d, "wrong": f"{share:.0%}", "kind": kind}
        for method, some in part.groupby("method", sort=False):
            row[str(method)] = f"{rms(some.error) / rms(some.oracle):.2f} / {some.f1.mean():.2f}"
        own = part[part.method == "default"]
        row["found"] = f"{own.found.mean():.2f}"
        ratio, f1 = BARS[share]
        met = rms(own.error) / rms(own.oracle) <= ratio and own.f1.mean() >= f1
        row["bar"] = ("met" if met else "**missed**") if kind in BARRED else ""
        rows.append(row)
    return rows


def class_table(runs: pd.DataFrame) -> list[dict[str, object]]:
    """A row a kind of wrong cells."""
    rows: list[dict[str, object]] = []
    for kind, part in runs.groupby("kind", sort=False):
        least = rms(part[part.method == "as they were"].error)
        row: dict[str, object] = {"kind": kind}
        for method, some in part.groupby("method", sort=False):
            row[f"{method}: ratio / F1"] = f"{rms(some.error) / least:.2f} / {some.f1.mean():.2f}"
        rows.append(row)
    return rows


def sound_table(runs: pd.DataFrame) -> list[dict[str, object]]:
    """A row a kind of predictors."""
    rows: list[dict[str, object]] = []
    for kind, part in runs.groupby("kind", sort=False):
        ratio = rms(part.auto) / rms(part.off)
        rows.append(
            {
                "predictors": kind, "auto / off": f"{ratio:.3f}", "cells replaced": f"{part.cells.mean():.1f}",
                "bar": "met" if ratio <= 1.02 else "**missed**",
            }
        )  # fmt: skip
    return rows


def page(seeds: int, jobs: int) -> str:
    """The whole page."""
    runs = range(FIRST, FIRST + seeds)
    kinds = list(dict.fromkeys(["gaussian", *_sound_kinds()]))
    many = range(FIRST, FIRST + 4 * seeds)
    missing = [(share, seed) for share in (0.005, 0.02, 0.05) for seed in many]
    wrong = [
        (d, kind, share, "", s)
        for d in (200, 1000)
        for share in BARS
        for kind in KINDS
        for s in runs
    ]
    rows = [
        (200, kind, share, attack, s)
        for attack in ("vertical", "leverage")
        for share in BARS
        for kind in KINDS
        for s in runs
    ]
    classes = [(kind, seed) for kind in BARRED for seed in runs]
    sound = [(kind, seed) for kind in kinds for seed in runs]
    parts = [
        HEAD.format(seeds=seeds), MISSING, markdown(missing_table(run_trials(missing_trial, missing, "missing", jobs))),
        WRONG, markdown(wrong_table(run_trials(wrong_trial, wrong, "wrong", jobs))),
        ROWS, markdown(wrong_table(run_trials(wrong_trial, rows, "rows", jobs))),
        CLASSES, markdown(class_table(run_trials(class_trial, classes, "classes", jobs))),
        SOUND, markdown(sound_table(run_trials(sound_trial, sound, "sound", jobs))),
        SPEED, markdown([mending_time(300, 1000), mending_time(1000, 20_000)]),
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _sound_kinds() -> tuple[str, ...]:
    return (
        "t with 2 degrees of freedom", "Pareto, 1.5", "log-normal", "log-normal, sigma 2", "counts", "0/1",
        "one cell in twenty is six times as large",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    text = page(options.seeds, options.jobs)
    if options.seeds < SEEDS:
        print(text)
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
