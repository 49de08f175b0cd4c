"""Fits of other kinds: two classes, groups of columns, wrong and missing cells; and a fit in products with X."""

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.problems import LARGE, SMALL, Array, Case
from benchmarks.rows import TimeRow
from benchmarks.small import simulated
from benchmarks.timing import Candidate, interleave, ratio, seconds
from robustsparse import rht_fit

SECTION = "Other fits"
LOGISTIC, ABESS = "scikit-learn LogisticRegressionCV, l1", "abess, the same groups"
COMPLETE, PRODUCT = "rht_fit, all cells as they were", "one product X'r"
# Largest ratios that the project allows itself.
LOGISTIC_BAR, GROUPS_BAR, CELLS_BAR, PRODUCTS_BAR = 3.0, 10.0, 4.0, 120.0
# Rows, columns, terms and correlation of neighboring columns, for two classes.
CLASSES = (
    (150, 100, 5, 0.5),
    (300, 200, 5, 0.5),
    (900, 90, 20, 0.95),
    (300, 1000, 5, 0.5),
)
LARGE_CLASSES = (1000, 5000, 5, 0.5)
# Columns of a group; share of cells that are wrong or missing, and by how many standard deviations they are wrong.
_WIDTH, _CELLS, _WRONG = 4, 0.02, 20.0
_LARGE = 1_000_000


def labels(eta: Array) -> Array:
    """Two classes whose log-odds have a standard deviation of 2.5."""
    noise = np.random.default_rng(1).logistic(size=len(eta))
    return (2.5 * (eta - np.median(eta)) / eta.std() + noise > 0).astype(np.float64)


def _logistic(X: Array, y: Array) -> Callable[[object], object]:
    """The lasso for two classes with ten penalties and five folds, on standardized columns."""
    from sklearn.linear_model import LogisticRegressionCV

    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return lambda _: LogisticRegressionCV(
        Cs=10, cv=5, penalty="l1", solver="liblinear", scoring="neg_log_loss"
    ).fit(Z, y)


def _row(
    problem: str,
    ours: str,
    fit: Callable[[object], object],
    other: str,
    than: Callable[[object], object],
    bar: float,
    rounds: int,
) -> TimeRow:
    """Two fits in turn."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of what is wrong with the data, and of arguments that grow old
        samples = interleave({ours: Candidate(fit), other: Candidate(than)}, rounds)
    compared = ratio(samples[ours], samples[other], "cpu")
    spent = seconds(samples[ours], "cpu")
    return TimeRow(SECTION, problem, ours, other, 1, "cpu", compared, spent, bar)


def _absent(problem: str, ours: str, other: str, bar: float) -> TimeRow:
    return TimeRow(SECTION, problem, ours, other, 1, "cpu", None, 0.0, bar, "not installed")


def _class_data(full: bool) -> Iterator[tuple[str, Array, Array]]:
    from sklearn.datasets import load_breast_cancer

    real = load_breast_cancer()
    yield "two classes, breast cancer, 569 × 30", real.data, real.target.astype(np.float64)
    for n, d, k, rho in (*CLASSES, LARGE_CLASSES) if full else CLASSES:
        X, eta = simulated(n, d, k, rho)
        yield f"two classes, {n} × {d:,}, k = {k}, ρ = {rho:g}", X, labels(eta)


def classes(full: bool) -> Iterator[TimeRow]:
    """Two classes beside the lasso, to select and to predict."""
    if find_spec("sklearn") is None:
        yield _absent("two classes", "rht_fit", LOGISTIC, LOGISTIC_BAR)
        return
    for name, X, y in _class_data(full):
        # The lasso takes long on a large problem.
        rounds = 1 if X.size > _LARGE else 5 if full else 3
        lasso = _logistic(X, y)
        for goal in ("auto", "predict"):
            ours = "rht_fit" if goal == "auto" else f"rht_fit, to {goal}"

            def fit(_: object, X: Array = X, y: Array = y, goal: str = goal) -> object:
                return rht_fit(X, y, family="binomial", goal=goal, n_jobs=1)  # type: ignore[arg-type]

            yield _row(name, ours, fit, LOGISTIC, lasso, LOGISTIC_BAR, rounds)


def groups(full: bool) -> TimeRow:
    """Groups of columns beside best subsets of the same groups."""
    data = Case(*SMALL).draw()
    d = data.X.shape[1]
    problem, ours = f"groups of {_WIDTH} columns, {Case(*SMALL).size}", "rht_fit"
    if find_spec("abess") is None:
        return _absent(problem, ours, ABESS, GROUPS_BAR)
    from abess import LinearRegression

    named = {f"g{j}": list(range(j, j + _WIDTH)) for j in range(0, d, _WIDTH)}
    of = np.arange(d) // _WIDTH
    return _row(
        problem,
        ours,
        lambda _: rht_fit(data.X, data.y, groups=named, n_jobs=1),
        ABESS,
        lambda _: LinearRegression(group=of).fit(data.X, data.y),
        GROUPS_BAR,
        10 if full else 3,
    )


def cells(full: bool) -> Iterator[TimeRow]:
    """Wrong and missing cells beside the same data without."""
    data = Case(*SMALL).draw()
    rng = np.random.default_rng(1)
    hit = rng.random(data.X.shape) < _CELLS
    wrong, missing = data.X.copy(), data.X.copy()
    wrong[hit] += _WRONG * rng.choice([-1.0, 1.0], int(hit.sum()))
    missing[hit] = np.nan
    kinds: tuple[tuple[str, Callable[[object], object]], ...] = (
        ("wrong", lambda _: rht_fit(wrong, data.y, n_jobs=1)),
        ("missing", lambda _: rht_fit(missing, data.y, na_action="impute", n_jobs=1)),
    )
    for what, fit in kinds:
        yield _row(
            f"{_CELLS:.0%} of the cells {what}, {Case(*SMALL).size}",
            "rht_fit",
            fit,
            COMPLETE,
            lambda _: rht_fit(data.X, data.y, n_jobs=1),
            CELLS_BAR,
            10 if full else 3,
        )


def products(full: bool) -> TimeRow:
    """A whole fit of a large problem in the time of one look at all predictors."""
    case = Case(*LARGE)
    data = case.draw()
    X = np.asfortranarray(data.X)
    resid = data.y.copy()
    return _row(
        f"numbers, {case.size}",
        "rht_fit",
        lambda _: rht_fit(X, data.y, n_jobs=1),
        PRODUCT,
        lambda _: X.T @ resid,
        PRODUCTS_BAR,
        7 if full else 3,
    )


def rows(full: bool) -> Iterator[TimeRow]:
    """All rows of this section."""
    yield from classes(full)
    yield groups(full)
    yield from cells(full)
    yield products(full)
