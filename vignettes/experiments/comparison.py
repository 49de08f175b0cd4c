"""Sparse regression by this package and by what a user would pick instead: error, right terms, seconds.

`python vignettes/experiments/comparison.py` makes results/comparison.csv (some 3 minutes on one core). Packages that
are not installed are left out, with a line that says so.
"""

import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from vignettes_common import command

import robustsparse as rs
from robustsparse.robust.scales import HUBER_EFFICIENCY, ROUNDED_MAD_TO_SD

SEEDS = range(10)
# n authentic rows, d columns, k true terms; a tenth of all rows are bad unless the attack is None.
SIZE = {"n": 300, "d": 1000, "k": 5, "sigma": 0.5}
DATA: dict[str, dict[str, Any]] = {
    "clean": {"attack": None},
    "paper's outliers": {"attack": "paper"},
    "leverage": {"attack": "leverage"},
    "leverage on false columns": {"attack": "leverage_false"},
    "paper's outliers, y in other units": {"attack": "paper", "unit": 100.0},
}
Arrays = tuple[np.ndarray, np.ndarray]
FOLDS = 5


def _rht(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return rs.rht_fit(X, y, n_jobs=1).params.iloc[1:].to_numpy()


def _lasso_cv(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return import_module("sklearn.linear_model").LassoCV(cv=FOLDS).fit(X, y).coef_


def _huber_ridge(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    model = import_module("sklearn.linear_model").HuberRegressor(alpha=1.0, max_iter=200)
    return model.fit(X, y).coef_


def _skglm_huber(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Huber's loss with the l1 penalty: delta from the response, the penalty by cross-validation."""
    folds = import_module("sklearn.model_selection").KFold(FOLDS, shuffle=True, random_state=0)
    delta = HUBER_EFFICIENCY * ROUNDED_MAD_TO_SD * float(np.median(np.abs(y - np.median(y))))
    top = float(np.abs(X.T @ np.clip(y - np.median(y), -delta, delta)).max() / len(y))
    alphas = top * np.geomspace(1, 0.02, 10)
    # The median of the errors, since the mean of their squares is ruled by the bad rows.
    losses = [
        [
            np.median(np.abs(_huber_l1(X[a], y[a], delta, alpha).predict(X[b]) - y[b]))
            for a, b in folds.split(X)
        ]
        for alpha in alphas
    ]
    return np.ravel(_huber_l1(X, y, delta, alphas[np.argmin(np.mean(losses, axis=1))]).coef_)


def _huber_l1(X: np.ndarray, y: np.ndarray, delta: float, alpha: float) -> Any:
    datafit = import_module("skglm.datafits").Huber(delta)
    penalty = import_module("skglm.penalties").L1(alpha)
    solver = import_module("skglm.solvers").AndersonCD(fit_intercept=True)
    return import_module("skglm").GeneralizedLinearEstimator(datafit, penalty, solver).fit(X, y)


def _abess(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return np.ravel(import_module("abess").LinearRegression().fit(X, y).coef_)


def _abess_known(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return np.ravel(import_module("abess").LinearRegression(support_size=k).fit(X, y).coef_)


def _skscope(gamma: float) -> Callable[[np.ndarray, np.ndarray, int], np.ndarray]:
    def fit(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
        model = import_module("skscope.skmodel").RobustRegression(sparsity=k, gamma=gamma)
        return np.ravel(model.fit(X, y).coef_)

    return fit


OWN = "robustsparse rht"
ORACLE = "oracle: least squares, true terms, good rows"
METHODS: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]]] = {
    OWN: ("robustsparse", _rht),
    "scikit-learn LassoCV": ("sklearn", _lasso_cv),
    "scikit-learn HuberRegressor": ("sklearn", _huber_ridge),
    "skglm Huber + l1, CV": ("skglm", _skglm_huber),
    "abess": ("abess", _abess),
    "abess, true k given": ("abess", _abess_known),
    "skscope RobustRegression, true k given": ("skscope", _skscope(1.0)),
    "skscope, true k and gamma = 10 given": ("skscope", _skscope(10.0)),
}


def available() -> list[str]:
    """Methods whose package is installed; a line for each package that is not."""
    for module in sorted({module for module, _ in METHODS.values()}):
        if find_spec(module) is None:
            print(f"{module} is not installed and is left out")
    return [name for name, (module, _) in METHODS.items() if find_spec(module) is not None]


def _oracle(sim: rs.simulate.Simulation, y: np.ndarray) -> np.ndarray:
    coef, true, good = np.zeros_like(sim.beta), np.flatnonzero(sim.beta), ~sim.outlier
    design = np.column_stack([np.ones(good.sum()), sim.X[np.ix_(good, true)]])
    coef[true] = np.linalg.lstsq(design, y[good], rcond=None)[0][1:]
    return coef


def trial(
    data: str, seed: int, methods: list[str], size: dict[str, Any] | None = None
) -> list[dict[str, object]]:
    """All methods on one data set; the error is on the scale of the first unit of y."""
    choices = dict(DATA[data])
    unit = choices.pop("unit", 1.0)
    sim = rs.simulate.linear(**(size or SIZE), **choices, rng=50_000 + seed)
    y = unit * sim.y
    k = int(np.count_nonzero(sim.beta))
    rows = [_row(data, seed, ORACLE, _oracle(sim, y) / unit, sim, 0.0)]
    for name in methods:
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            coef = METHODS[name][1](sim.X, y, k)
        seconds = time.process_time() - begun
        rows.append(_row(data, seed, name, coef / unit, sim, seconds))
    return rows


def _row(
    data: str, seed: int, method: str, coef: np.ndarray, sim: rs.simulate.Simulation, seconds: float
) -> dict[str, object]:
    chosen, true = np.flatnonzero(coef), np.flatnonzero(sim.beta)
    hits = np.isin(chosen, true).sum()
    return {
        "data": data,
        "seed": seed,
        "method": method,
        "error": float(np.linalg.norm(coef - sim.beta)),
        "f1": float(2 * hits / (len(chosen) + len(true))),
        "terms": len(chosen),
        "seconds": seconds,
    }


if __name__ == "__main__":
    names = available()
    command("comparison", trial, [(data, seed, names) for data in DATA for seed in SEEDS])
