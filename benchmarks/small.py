"""Small data, real and collinear: the default `rht_fit` beside a cross-validated lasso."""

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.problems import Array
from benchmarks.rows import TimeRow
from benchmarks.timing import Candidate, interleave, ratio, seconds
from robustsparse import rht_fit
from robustsparse.regression.arguments import Goal

SECTION = "Small data"
OURS, OTHER = "rht_fit", "scikit-learn LassoCV"
GOALS: tuple[Goal, ...] = ("select", "predict")
# Largest ratio that the project allows itself on data of fewer than 1,000 × 100.
BAR = 3.0
# Rows, columns, terms and correlation of neighboring columns.
SIMULATED = (
    (60, 90, 5, 0.5),
    (100, 20, 5, 0.5),
    (300, 90, 5, 0.5),
    (500, 50, 5, 0.5),
    (990, 20, 5, 0.5),
    (900, 90, 5, 0.5),
    (900, 90, 20, 0.5),
    (900, 90, 20, 0.95),
)
# Every tenth response of the data that are corrupted is this many standard deviations too large.
_SHIFT = 8.0


def simulated(n: int, d: int, k: int, rho: float) -> tuple[Array, Array]:
    """Columns of an autoregression, and a response that k of them explain."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    terms = rng.choice(d, k, replace=False)
    return X, X[:, terms].sum(axis=1) + 0.5 * rng.standard_normal(n)


def corrupted(X: Array, y: Array) -> tuple[Array, Array]:
    """The same with every tenth response shifted."""
    wrong = y.copy()
    wrong[::10] += _SHIFT * y.std()
    return X, wrong


def _real() -> Iterator[tuple[str, Array, Array]]:
    """Data sets of scikit-learn and of statsmodels, if that is installed."""
    from sklearn import datasets

    for name, load in (
        ("diabetes", datasets.load_diabetes),
        ("breast cancer", datasets.load_breast_cancer),
    ):
        found = load()
        yield name, found.data, found.target.astype(np.float64)
    wine = datasets.load_wine()
    yield "wine, alcohol", wine.data[:, 1:], wine.data[:, 0]
    if find_spec("statsmodels") is None:
        return
    import statsmodels.api as sm

    star = sm.datasets.star98.load_pandas().data
    share = star["NABOVE"] / (star["NABOVE"] + star["NBELOW"])
    yield "star98", star.drop(columns=["NABOVE", "NBELOW"]).to_numpy(), share.to_numpy()
    firms = sm.datasets.grunfeld.load_pandas().data
    dummies = (firms["firm"].to_numpy()[:, None] == np.unique(firms["firm"])[1:]).astype(float)
    X = np.column_stack([firms[["value", "capital"]], dummies])
    yield "grunfeld, 10 dummies", X, firms["invest"].to_numpy()


def problems() -> Iterator[tuple[str, Array, Array]]:
    """Name, design and response of everything that is timed."""
    for name, X, y in _real():
        yield f"{name}, {len(X)} × {X.shape[1]}", X, y
    for n, d, k, rho in SIMULATED:
        X, y = simulated(n, d, k, rho)
        words = f"{n} × {d}, k = {k}, ρ = {rho:g}"
        yield words, X, y
        yield f"{words}, 10% bad", *corrupted(X, y)


def _lasso(X: Array, y: Array) -> Callable[[object], object]:
    """A lasso on standardized columns, without which it is no fair comparison; the penalty by cross-validation."""
    from sklearn.linear_model import LassoCV

    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return lambda _: LassoCV().fit(Z, y)


def row(name: str, X: Array, y: Array, rounds: int, goal: Goal = "select") -> TimeRow:
    """Both fits in turn."""
    ours = OURS if goal == "select" else f"{OURS}, to {goal}"
    timed = {
        OURS: Candidate(lambda _: rht_fit(X, y, n_jobs=1, goal=goal)),
        OTHER: Candidate(_lasso(X, y)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both complain of collinear or corrupted data
        samples = interleave(timed, rounds)
    compared = ratio(samples[OURS], samples[OTHER], "cpu")
    return TimeRow(
        SECTION, name, ours, OTHER, 1, "cpu", compared, seconds(samples[OURS], "cpu"), BAR
    )


def rows(full: bool) -> Iterator[TimeRow]:
    """All rows of this section."""
    if find_spec("sklearn") is None:
        yield TimeRow(SECTION, "all", OURS, OTHER, 1, "cpu", None, 0.0, BAR, "not installed")
        return
    for name, X, y in problems():
        for goal in GOALS:
            yield row(name, X, y, 15 if full else 5, goal)
