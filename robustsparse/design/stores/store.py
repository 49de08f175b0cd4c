"""A store of columns: a design (n, d) that is read in blocks of columns, never as a whole.

A `Source` knows how to read some of its columns. `Blocks` is the store that is made of a source and an engine: whatever
has a `map`, as the threads here, a pool of processes or a cluster. What is done with a block is a pure function of it,
so that a task which is lost, or a read that fails, is simply repeated.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.threads import one_blas_thread
from robustsparse.base.types import Indices

# Columns as they are stored, transposed: (columns, n), C-contiguous.
Block = NDArray[Any]
# Reads that fail are repeated so often: a network drive may have lost its connection for a moment.
RETRIES = 2
# Entries of a block, at most.
_MOST_ENTRIES = 1 << 22
# Bytes that a pass takes for each entry of a block at most: the block as it is stored, in double precision, and copies.
_BYTES_AN_ENTRY = 96


class Engine(Protocol):
    """Whatever runs a function for each of some items and passes the outcomes on in their order."""

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterable[Any]:
        """Outcomes of the function, one for each item."""


class ColumnStore(Protocol):
    """A design (n, d) that is read in blocks of columns.

    Attributes
    ----------
    shape : pair of int
        Rows and columns.
    dtype : dtype
        Type of the values as they are read.
    names : sequence of str or None
        Names of the columns, if the data have them.
    blocks : sequence of pairs of int
        First column of each block, and the one after its last.
    passes : int
        How often all blocks were read.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: Sequence[str] | None
    blocks: Sequence[tuple[int, int]]
    passes: int

    def map(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        """Outcomes of `function(block, own, *shared)` in the order of the blocks; `each` has the `own` of every one."""

    def take(self, columns: Indices) -> Block:
        """Some columns (c, n), in the order that is asked for."""


class Source(ABC):
    """Where columns come from. It is sent to other processes, so it holds a path rather than an open file.

    Attributes
    ----------
    shape, dtype, names
        As those of a store.
    together : int
        So many columns are stored together: reading one of them costs as much as reading all.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: Sequence[str] | None = None
    together: int = 1

    @abstractmethod
    def read(self, first: int, last: int) -> Block:
        """Columns from the first to the one before the last."""

    def pick(self, columns: Indices) -> Block:
        """Some columns, ascending; runs of them are read at once."""
        runs = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
        return np.concatenate([self.read(int(run[0]), int(run[-1]) + 1) for run in runs])


class Threads:
    """Threads of this process as an engine; no more outcomes are held at once than there are threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Outcomes in the order of the items."""
        if self.threads == 1:
            yield from map(function, items)
            return
        waiting: deque[Future[Any]] = deque()
        with one_blas_thread(), ThreadPoolExecutor(self.threads) as pool:
            for item in items:
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(function, item))
            while waiting:
                yield waiting.popleft().result()


def _again(read: Callable[[], Block]) -> Block:
    """What a read gives, repeated if it fails."""
    for _ in range(RETRIES):
        try:
            return read()
        except OSError:
            continue
    return read()


def on_block(
    source: Source, function: Callable[..., Any], shared: tuple[Any, ...], item: Any
) -> Any:
    """A task: read a block and apply a function to it."""
    first, last, own = item
    return function(_again(partial(source.read, first, last)), own, *shared)


class Blocks:
    """The store of a source, worked on by an engine.

    Parameters
    ----------
    source : Source
        Where the columns come from.
    engine : Engine
        What runs the tasks of a pass.
    width : int
        Columns of a block.

    Examples
    --------
    >>> from robustsparse.design.stores.arrays import ArrayColumns
    >>> store = Blocks(ArrayColumns(np.arange(12.0).reshape(3, 4)), Threads(1), width=3)
    >>> store.shape, store.blocks
    ((3, 4), [(0, 3), (3, 4)])
    >>> [total.tolist() for total in store.map(lambda block, own: block.sum(axis=1))]
    [[12.0, 15.0, 18.0], [21.0]]
    >>> store.take(np.array([3, 0]))[:, 0].tolist()
    [3.0, 0.0]
    """

    def __init__(self, source: Source, engine: Engine, width: int) -> None:
        self.source, self.engine = source, engine
        self.shape, self.dtype, self.names = source.shape, source.dtype, source.names
        d = self.shape[1]
        self.blocks: Sequence[tuple[int, int]] = [
            (first, min(first + width, d)) for first in range(0, d, width)
        ]
        self.passes = 0

    def map(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        """Outcomes in the order of the blocks."""
        self.passes += 1
        own = [None] * len(self.blocks) if each is None else each
        items = [(*block, mine) for block, mine in zip(self.blocks, own, strict=True)]
        yield from self.engine.map(partial(on_block, self.source, function, shared), items)

    def take(self, columns: Indices) -> Block:
        """Some columns, in the order that is asked for."""
        order, places = np.unique(columns, return_inverse=True)
        if not len(order):
            return np.empty((0, self.shape[0]), dtype=self.dtype)
        return _again(partial(self.source.pick, order))[places]


def block_width(source: Source, memory: int, threads: int) -> int:
    """Columns of a block, so that the blocks that are worked on at once take at most a part of the memory.

    Examples
    --------
    >>> from robustsparse.design.stores.arrays import ArrayColumns
    >>> block_width(ArrayColumns(np.zeros((1000, 5))), 10**9, 2)
    1302
    """
    entries = min(_MOST_ENTRIES, memory // (4 * threads * _BYTES_AN_ENTRY))
    width = max(1, entries // source.shape[0])
    together = source.together
    return width if together > width else width // together * together
