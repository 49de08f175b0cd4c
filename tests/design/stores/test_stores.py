"""All stores keep one contract: every column once a pass, in order, as the array that they stand for."""

import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import bed_reader
import dask.array
import numpy as np
import pytest
import zarr
from scipy import sparse

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.design.stores import dask_columns
from robustsparse.design.stores.arrays import ArrayColumns, FileColumns, map_columns
from robustsparse.design.stores.bed import open_bed
from robustsparse.design.stores.dask_columns import DaskColumns, LazyColumns, Tasks
from robustsparse.design.stores.opening import open_store
from robustsparse.design.stores.sizes import bytes_of
from robustsparse.design.stores.store import Blocks, ColumnStore, Threads

N, D = 12, 37
COUNTS = np.random.default_rng(0).binomial(2, 0.4, size=(N, D)).astype(np.float32)


def first_and_sums(block: np.ndarray[Any, Any], own: int, factor: float) -> tuple[int, Any]:
    assert block.flags.c_contiguous
    return own, factor * block.sum(axis=1)


def in_memory(folder: Path) -> ColumnStore:
    return Blocks(ArrayColumns(COUNTS), Threads(2), 5)


def sparse_matrix(folder: Path) -> ColumnStore:
    return Blocks(ArrayColumns(sparse.csr_array(COUNTS)), Threads(2), 5)


def by_column(folder: Path) -> ColumnStore:
    np.save(folder / "f.npy", np.asfortranarray(COUNTS))
    return Blocks(map_columns(np.load(folder / "f.npy", mmap_mode="r")), Threads(2), 5)


def by_row(folder: Path) -> ColumnStore:
    np.save(folder / "c.npy", COUNTS)
    return Blocks(map_columns(np.load(folder / "c.npy", mmap_mode="r")), Threads(2), 5)


def part_of_a_file(folder: Path) -> ColumnStore:
    around = np.full((D + 3, N + 2), 9.0, dtype=np.float32)
    around[2 : D + 2, :N] = COUNTS.T
    np.save(folder / "p.npy", around)
    part = np.load(folder / "p.npy", mmap_mode="r")[2 : D + 2, :N].T
    source = map_columns(part)
    assert isinstance(source, FileColumns)
    return Blocks(source, Threads(2), 5)


def zarr_array(folder: Path) -> ColumnStore:
    z = zarr.create_array(folder / "x.zarr", shape=COUNTS.shape, chunks=(7, 5), dtype="f4")
    z[:] = COUNTS
    store = open_store(z, None, None, 2, blocks=True)[1]
    assert store is not None
    return store


def bed_file(folder: Path) -> ColumnStore:
    bed_reader.to_bed(folder / "g.bed", COUNTS)
    return Blocks(open_bed(folder / "g.bed"), Threads(2), 5)


def dask_without_a_cluster(folder: Path) -> ColumnStore:
    X = dask.array.from_array(COUNTS, chunks=(5, 6))
    return Blocks(LazyColumns(X, 10**8), Threads(2), 6)


STORES = [
    in_memory, sparse_matrix, by_column, by_row, part_of_a_file, zarr_array, bed_file,
    dask_without_a_cluster,
]  # fmt: skip


@pytest.fixture(params=STORES, ids=lambda make: make.__name__)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ColumnStore:
    make: Callable[[Path], ColumnStore] = request.param
    return make(tmp_path)


def check_contract(store: ColumnStore) -> None:
    assert store.shape == (N, D)
    assert store.dtype == np.float32
    edges = [edge for block in store.blocks for edge in block]
    assert edges[0] == 0
    assert edges[-1] == D
    assert edges[1:-1:2] == edges[2::2]
    firsts = [first for first, _ in store.blocks]
    out = list(store.map(first_and_sums, 2.0, each=firsts))
    assert [own for own, _ in out] == firsts
    assert np.array_equal(np.concatenate([sums for _, sums in out]), 2.0 * COUNTS.sum(axis=0))
    assert store.passes == 1
    some = np.array([30, 2, 2, 3, 36])
    assert np.array_equal(store.take(some), COUNTS.T[some])
    assert store.take(some[:0]).shape == (0, N)


def test_contract(store: ColumnStore) -> None:
    check_contract(store)


@pytest.mark.parametrize(("entries", "blocks"), [(1, 7), (2 * 6 * N, 4), (10**6, 1)])
def test_contract_on_a_cluster(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, entries: int, blocks: int
) -> None:
    """With blocks of one chunk, of two neighbors and of all."""
    monkeypatch.setattr(dask_columns, "_ENOUGH_ENTRIES", entries)
    X = dask.array.from_array(COUNTS, chunks=(N, 6))
    store = DaskColumns(X, cluster, 10**8)
    assert len(store.blocks) == blocks
    check_contract(store)


def test_a_cluster_rearranges_chunks_of_some_rows(cluster: Any) -> None:
    check_contract(DaskColumns(dask.array.from_array(COUNTS, chunks=(5, 6)), cluster, 10**8))


def large_outcome(item: int) -> Any:
    return np.full(1 << 17, float(item))


def test_few_tasks_wait_on_a_cluster_while_outcomes_are_large(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_columns, "_WAITING", 1 << 22)
    tasks, given = Tasks(cluster), []

    def items() -> Iterator[int]:
        for item in range(12):
            given.append(item)
            yield item

    at_once = []
    for place, outcome in enumerate(tasks.map(large_outcome, items())):
        assert outcome[0] == place
        at_once.append(len(given) - place)
    # Of a megabyte each, of which four may wait.
    assert max(at_once) == 4
    # Small outcomes of as many tasks wait together.
    given.clear()
    outcomes = tasks.map(abs, items())
    assert [next(outcomes) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert len(given) == 12


def test_sources_travel(store: ColumnStore) -> None:
    assert isinstance(store, Blocks)
    again = pickle.loads(pickle.dumps(store.source))
    assert np.array_equal(again.read(3, 9), COUNTS.T[3:9])


class Unreliable(ArrayColumns):
    """Fails at every first read of a block."""

    def __init__(self, X: Any) -> None:
        super().__init__(X)
        self.reads: Counter[int] = Counter()

    def read(self, first: int, last: int) -> Any:
        self.reads[first] += 1
        if self.reads[first] == 1:
            raise OSError("connection lost")
        return super().read(first, last)


def test_a_read_that_fails_is_repeated_and_no_other() -> None:
    source = Unreliable(COUNTS)
    store = Blocks(source, Threads(2), 5)
    list(store.map(first_and_sums, 1.0, each=[0] * len(store.blocks)))
    assert set(source.reads.values()) == {2}
    list(store.map(first_and_sums, 1.0, each=[0] * len(store.blocks)))
    assert set(source.reads.values()) == {3}


def test_anything_with_a_map_is_an_engine() -> None:
    with ThreadPoolExecutor(2) as pool:
        _, store = open_store(COUNTS, None, pool, 1)
        assert store is not None
        check_contract(store)


def test_what_fits_is_held(tmp_path: Path) -> None:
    bed_reader.to_bed(tmp_path / "g.bed", COUNTS)
    held, store = open_store(open_bed(tmp_path / "g.bed"), None, None, 1)
    assert store is None
    assert np.array_equal(held, COUNTS)


def test_a_map_that_was_written_to_in_memory_alone_is_not_read_from_its_file(
    tmp_path: Path,
) -> None:
    np.save(tmp_path / "c.npy", COUNTS)
    mapped = np.load(tmp_path / "c.npy", mmap_mode="c")
    mapped[:, 3] = 7.0
    assert (map_columns(mapped).read(3, 4) == 7.0).all()


@pytest.mark.parametrize("memory", ["many", -1, True, "1MB", "4 XB", "1e999GB"])
def test_amounts_of_memory_are_checked(memory: Any) -> None:
    with pytest.raises(ParameterError, match="memory="):
        bytes_of(memory)


def test_a_file_that_was_cut_off(tmp_path: Path) -> None:
    source = by_column(tmp_path)
    (tmp_path / "f.npy").write_bytes((tmp_path / "f.npy").read_bytes()[:-40])
    with pytest.raises(OSError, match="cut off"):
        list(source.map(first_and_sums, 1.0, each=[0] * len(source.blocks)))


def test_missing_genotypes_need_a_stand_in(tmp_path: Path) -> None:
    counts = COUNTS.copy()
    counts[3, 20] = counts[5, 20] = np.nan
    sid = ["a"] * 2 + [f"rs{j}" for j in range(2, D)]
    bed_reader.to_bed(tmp_path / "g.bed", counts, properties={"sid": sid})
    bed = open_bed(tmp_path / "g.bed")
    assert bed.names[:3] == ("a", "a#2", "rs2")
    with pytest.raises(DataError, match=r"'rs20'.*2 missing.*impute="):
        bed.read(18, 25)
    known = np.delete(counts[:, 20], [3, 5])
    filled = open_bed(tmp_path / "g.bed", impute="mean").read(20, 21)[0]
    assert np.allclose(filled[[3, 5]], known.mean())
    filled = open_bed(tmp_path / "g.bed", impute="mode").pick(np.array([20]))[0]
    assert filled[3] == np.bincount(known.astype(int)).argmax()


def test_no_bed_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not there"):
        open_bed(tmp_path / "nowhere.bed")


def test_unknown_chunk_sizes_are_refused() -> None:
    X = dask.array.from_array(COUNTS, chunks=(5, 6))
    with pytest.raises(DataError, match="compute_chunk_sizes"):
        open_store(X[X[:, 0] > 0], None, None, 1)
