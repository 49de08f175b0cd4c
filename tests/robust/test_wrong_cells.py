"""Errors of single cells: found where they lie apart, not in tails, in bad rows or where columns move together."""

import numpy as np
import pytest

from robustsparse.base.types import Array, Mask
from robustsparse.robust.standardize import standardize
from robustsparse.robust.wrong_cells import apart, single_errors, wrong_cells

SEEDS = range(5)
# Errors of a column with few of them may show no gap; the largest good value may lie nearer to the errors.
RECALL, FALSE = 0.95, 1e-3


def chain(seed: int, n: int = 400, d: int = 60) -> tuple[Array, Mask]:
    """Rows of columns that are each correlated 0.5 with the next, and 5% of the cells."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    return X, rng.random((n, d)) < 0.05


def found(X: Array) -> Mask:
    return single_errors(standardize(X)[0]).T


@pytest.mark.parametrize("kind", ["shifted", "999", "other units"])
def test_errors_are_found_and_little_else(kind: str) -> None:
    for seed in SEEDS:
        X, bad = chain(seed)
        # Values of some units times 100 are no errors where they are next to zero.
        X += 30.0 * (kind == "other units")
        wrong = {"shifted": X + 12, "999": np.full(X.shape, 999.0), "other units": 100 * X}[kind]
        errors = found(np.where(bad, wrong, X))
        assert errors[bad].mean() > RECALL
        assert errors[~bad].mean() < FALSE


def test_errors_are_found_in_single_precision_and_however_large() -> None:
    for seed in SEEDS:
        X, bad = chain(seed)
        XT = standardize(np.where(bad, X + 12, X))[0]
        assert np.array_equal(single_errors(XT.astype(np.float32)), single_errors(XT))
        X[bad] = np.geomspace(1e3, 1e300, bad.sum())
        errors = found(X)
        assert errors[bad].mean() > RECALL
        assert errors[~bad].mean() < FALSE


def good_columns(kind: str, rng: np.random.Generator) -> Array:
    size = 400, 60
    return {
        "normal": rng.normal(size=size),
        "t2": rng.standard_t(2, size),
        "pareto": rng.pareto(1.5, size),
        "log-normal": rng.lognormal(size=size),
        "counts": 1.0 * rng.poisson(0.5, size),
        "more counts": 1.0 * rng.poisson(4.0, size),
        "rare ones": 1.0 * (rng.random(size) < 0.03),
        "ones": 1.0 * (rng.random(size) < 0.3),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    ["normal", "t2", "pareto", "log-normal", "counts", "more counts", "rare ones", "ones"],
)
def test_good_columns_have_no_errors(kind: str) -> None:
    for seed in SEEDS:
        assert not found(good_columns(kind, np.random.default_rng(seed))).any()


@pytest.mark.parametrize("size", [10.0, 100.0])
def test_rows_that_are_bad_as_a_whole_keep_their_values(size: float) -> None:
    for seed in SEEDS:
        X, bad = chain(seed)
        bad[:40] = False
        Y = np.where(bad, X + 12, X)
        Y[:40] *= size
        errors = found(Y)
        assert errors[:40].mean() < FALSE
        assert errors[bad].mean() > RECALL
        assert errors[40:][~bad[40:]].mean() < FALSE


def test_rows_with_many_errors_keep_their_values() -> None:
    for seed in SEEDS:
        X, bad = chain(seed, d=300)
        rng = np.random.default_rng(seed)
        bad[:40] = False
        Y = np.where(bad, X + 12, X)
        Y[:40][rng.random((40, X.shape[1])) < 0.2] = 999.0
        errors = found(Y)
        assert errors[bad].mean() > RECALL
        assert errors[40:][~bad[40:]].mean() < FALSE
        # A row that happens to have few of them is like those with errors.
        assert errors[:40].any(axis=1).mean() < 0.05


def test_columns_that_move_together_keep_their_values() -> None:
    for seed in SEEDS:
        X, _ = chain(seed, n=300)
        X[:30, :5] += 8.0
        assert not found(X).any()
        assert not wrong_cells(standardize(X)[0], suspected=True)[:5].any()


def test_columns_that_move_together_are_told_from_errors_elsewhere() -> None:
    for seed in SEEDS:
        X, bad = chain(seed)
        bad[:, :5] = False
        Y = np.where(bad, X + 12, X)
        Y[:40, :5] += 12.0
        errors = found(Y)
        assert not errors[:, :5].any()
        assert errors[bad].mean() > RECALL


def test_few_errors_are_looked_for_if_somebody_knows_of_them() -> None:
    for seed in SEEDS:
        X = np.random.default_rng(seed).standard_t(5, size=(400, 60))
        X[:5, 0] = 1e3
        XT = standardize(X)[0]
        assert not single_errors(XT).any()
        assert single_errors(XT, suspected=True)[0, :5].all()


def test_a_single_column_has_errors_too() -> None:
    for seed in SEEDS:
        X = np.random.default_rng(seed).normal(size=(200, 1))
        X[:10] = 50.0
        assert found(X)[:10].all()


@pytest.mark.parametrize("shape", [(3, 1), (3, 2), (1, 5), (0, 5)])
def test_tables_of_next_to_nothing_have_no_errors(shape: tuple[int, int]) -> None:
    XT = np.full(shape, 100.0)
    for suspected in (False, True):
        assert not wrong_cells(XT, suspected=suspected).any()
        assert not single_errors(XT, suspected=suspected).any()


def test_errors_do_not_depend_on_the_order_of_rows_and_columns() -> None:
    for seed in SEEDS:
        X, bad = chain(seed)
        XT = standardize(np.where(bad, X + 12, X))[0]
        rng = np.random.default_rng(seed)
        columns, rows = rng.permutation(XT.shape[0]), rng.permutation(XT.shape[1])
        mixed = XT[columns][:, rows]
        assert np.array_equal(single_errors(mixed), single_errors(XT)[columns][:, rows])
        assert np.array_equal(apart(-XT), apart(XT))
