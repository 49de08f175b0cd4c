"""Fits to columns that are read in blocks are those in memory."""

from pathlib import Path
from typing import Any

import bed_reader
import dask.array
import numpy as np
import pytest
import zarr

import robustsparse as rs
from robustsparse.design.stores import dask_columns
from robustsparse.regression.large import rounds
from robustsparse.regression.large.statistics import statistics
from robustsparse.robust import subspaces

# Distances of rows are sums over columns in another order; what they weigh differs by rounding.
CLOSE = 1e-10
N, D = 150, 4000


def problem(seed: int, k: int = 5, dtype: Any = np.float64) -> tuple[Any, Any]:
    """A tenth of the rows is bad, half of them far out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)).astype(dtype)
    beta = np.zeros(D)
    beta[rng.choice(D, k, replace=False)] = rng.choice([-1.5, 1.5], k)
    y = X @ beta + rng.normal(size=N)
    bad = rng.choice(N, N // 10, replace=False)
    y[bad] = 5 - 3 * y[bad]
    X[bad[: len(bad) // 2]] *= 5
    return X, y


@pytest.fixture(autouse=True)
def _few_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few columns are held at first that most runs have to be repeated with others."""
    monkeypatch.setattr(rounds, "_FIRST", 350)


def blocks(X: Any) -> Any:
    """A design that has to be read in blocks."""
    from robustsparse.design.stores.arrays import ArrayColumns
    from robustsparse.design.stores.store import Blocks, Threads

    return Blocks(ArrayColumns(X), Threads(2), 701)


def assert_alike(one: rs.RHTResult, other: rs.RHTResult, close: float) -> None:
    assert one.params.index.equals(other.params.index)
    assert np.abs(one.params - other.params).max() <= close
    assert one.support() == other.support()
    assert one.outliers() == other.outliers()
    assert one.copies == other.copies
    assert one.constant == other.constant
    assert list(one.path.index) == list(other.path.index)
    assert dict(one.summary().head) == dict(other.summary().head)


@pytest.mark.parametrize(
    "arguments",
    [
        {"k": 5, "refit": False},
        {"k": 5, "refit": False, "step": 0.5},
        {"k": 12, "refit": False},
        {"k": 5, "refit": False, "loss": "huber"},
        {"k": [2, 5, 8], "refit": False},
        {"k": 5, "refit": False, "intercept": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_trimmed_gradients_to_the_last_bit(arguments: Any, dtype: Any) -> None:
    X, y = problem(1, dtype=dtype)
    store = blocks(X)
    fit = rs.rht_fit(store, y, **arguments)
    assert_alike(fit, rs.rht_fit(X, y, **arguments), 0.0)
    assert store.passes > 1


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"k": 5}, {"epsilon": "auto"}, {"select": "cv"}, {"loss": "huber"},
        {"estimator": "mean"}, {"keep": [17, "x40"]}, {"standardize": "winsor"}, {"intercept": False},
    ],
    ids=str,
)  # fmt: skip
def test_automatic_fits(arguments: Any) -> None:
    X, y = problem(2)
    assert_alike(rs.rht_fit(blocks(X), y, **arguments), rs.rht_fit(X, y, **arguments), CLOSE)


@pytest.mark.parametrize("seed", range(3, 9))
def test_automatic_fits_of_other_data(seed: int) -> None:
    X, y = problem(seed, k=seed, dtype=np.float32)
    assert_alike(rs.rht_fit(blocks(X), y), rs.rht_fit(X, y), CLOSE)


@pytest.mark.filterwarnings("ignore::robustsparse.SelectionWarning")
@pytest.mark.parametrize("seed", range(3))
def test_two_classes(seed: int) -> None:
    X, y = problem(seed)
    label = np.where(y > np.median(y), "b", "a")
    arguments: dict[str, Any] = {"family": "binomial", "goal": "select"}
    store = blocks(X)
    assert_alike(rs.rht_fit(store, label, **arguments), rs.rht_fit(X, label, **arguments), CLOSE)
    assert store.passes > 1


def test_weights_offset_and_missing_responses() -> None:
    X, y = problem(4)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], N)
    y[7] = np.nan
    arguments: dict[str, Any] = {
        "weights": weights, "offset": np.linspace(-1, 1, N), "na_action": "drop",
    }  # fmt: skip
    fit = rs.rht_fit(blocks(X), y, **arguments)
    assert_alike(fit, rs.rht_fit(X, y, **arguments), CLOSE)


def test_rare_levels_constant_and_repeated_columns() -> None:
    rng = np.random.default_rng(1)
    X = (rng.random((N, D)) < rng.uniform(0.02, 0.3, D)).astype(float)
    X[:, 5] = 1.0
    X[:, 3000] = X[:, 100]
    y = 4.0 * X[:, 100] + 6.0 * X[:, 2000] + rng.normal(size=N)
    fit = rs.rht_fit(blocks(X), y)
    assert_alike(fit, rs.rht_fit(X, y), CLOSE)
    assert "x6" in fit.constant


def test_clusters_of_rows() -> None:
    X, y = problem(5)
    X[:12] = X[0] + 0.01 * X[:12]
    y[:12] = 30.0
    assert_alike(rs.rht_fit(blocks(X), y), rs.rht_fit(X, y), CLOSE)


@pytest.mark.parametrize("most", [10, 5000])
def test_many_rows(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    X, y = problem(6)
    monkeypatch.setattr(subspaces, "_LARGEST_MATRIX", 10)
    monkeypatch.setattr(f"{statistics.__module__}._MOST_INNER", most)
    store = blocks(X)
    assert_alike(rs.rht_fit(store, y), rs.rht_fit(X, y), CLOSE)
    # Inner products of the rows, where they are formed, spare six passes.
    assert (store.passes > 6) == (most == 10)


@pytest.mark.filterwarnings("ignore::robustsparse.SelectionWarning")
def test_few_columns() -> None:
    X, y = problem(6)
    assert_alike(rs.rht_fit(blocks(X[:, :9]), y), rs.rht_fit(X[:, :9], y), CLOSE)


@pytest.fixture
def data() -> tuple[Any, Any, rs.RHTResult]:
    X, y = problem(7, dtype=np.float32)
    return X, y, rs.rht_fit(X, y)


def test_a_memory_map(data: Any, tmp_path: Path) -> None:
    X, y, whole = data
    wide = np.concatenate([X] * 5, axis=1)
    np.save(tmp_path / "x.npy", wide)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")[:, :D]
    assert_alike(rs.rht_fit(mapped, y, checkpoint=tmp_path / "rounds"), whole, CLOSE)


def test_an_array_of_zarr(data: Any, tmp_path: Path) -> None:
    X, y, whole = data
    z = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, chunks=(N, 500), dtype="f4")
    z[:] = X
    assert_alike(rs.rht_fit(z, y, checkpoint=tmp_path / "rounds"), whole, CLOSE)


def test_genotypes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    counts = rng.binomial(2, rng.uniform(0.05, 0.5, D), size=(N, D)).astype(np.float32)
    y = 1.5 * counts[:, 10] - 1.5 * counts[:, 3500] + rng.normal(size=N)
    bed_reader.to_bed(
        tmp_path / "g.bed", counts, properties={"sid": [f"x{j + 1}" for j in range(D)]}
    )
    bed = rs.open_bed(tmp_path / "g.bed")
    assert_alike(rs.rht_fit(bed, y, checkpoint=tmp_path / "r"), rs.rht_fit(counts, y), CLOSE)


def test_an_array_of_dask_with_a_cluster_and_without(
    data: Any, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, whole = data
    # Several blocks, of one chunk each.
    monkeypatch.setattr(dask_columns, "_ENOUGH_ENTRIES", 1)
    lazy = dask.array.from_array(X, chunks=(100, 900))
    assert_alike(rs.rht_fit(lazy, y, client=cluster), whole, CLOSE)
    with cluster.as_current():
        assert_alike(rs.rht_fit(lazy, y), whole, CLOSE)


def test_an_array_of_dask_without_a_cluster(data: Any) -> None:
    X, y, whole = data
    assert_alike(rs.rht_fit(dask.array.from_array(X, chunks=(100, 900)), y), whole, CLOSE)
