"""Columns on a Dask cluster; the only module that knows Dask.

Every pass is one pure task a chunk, so that a worker which is lost costs the tasks it had: the scheduler makes its
chunks again, and tasks that failed are sent again.
"""

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Any

import dask
import numpy as np
from distributed import Client, Future, default_client
from distributed.protocol import pickle

from robustsparse.base.allocation import memory_stays
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Indices
from robustsparse.design.stores.store import RETRIES, Block, Source, block_width

# Tasks of a core that wait for it: enough to keep it busy, few enough for the memory.
_AHEAD = 2
# More wait if their outcomes take no more bytes than this: the chunks of a worker are neighbors, and while it has all
# the tasks that may wait the others have none.
_WAITING = 1 << 28
# Chunks are kept by the workers if all of them take less than this part of their memory.
_KEPT = 0.4
# A chunk with more entries is cut into blocks; chunks that have no more together are one block.
_MOST_ENTRIES, _ENOUGH_ENTRIES = 1 << 23, 1 << 21


def current_client() -> Any:
    """The client of this process, or None."""
    try:
        return default_client()
    except ValueError:
        return None


def _call(function: Callable[..., Any], *arguments: Any) -> bytes:
    """An outcome as bytes: what an object of ours takes, Dask does not know."""
    with memory_stays():
        outcome: bytes = pickle.dumps(function(*arguments))
        return outcome


# A task, and what it was given.
_Sent = tuple[Future, tuple[Any, ...]]


class Tasks:
    """Tasks on a cluster, some at a time, outcomes in their order."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def run(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """Outcomes of a function, which is sent once to every worker, for many arguments."""
        sent, left = self._send(function), iter(arguments)
        most = least = _AHEAD * max(1, sum(self.client.nthreads().values()))
        largest = 1
        waiting: deque[_Sent] = deque()
        while True:
            for given in islice(left, most - len(waiting)):
                waiting.append((self._submit(sent, given), given))
            if not waiting:
                return
            for outcome in self._outcomes(function, _ended(waiting)):
                largest = max(largest, len(outcome))
                yield pickle.loads(outcome)
            most = max(least, _WAITING // largest)

    def _send(self, function: Callable[..., Any]) -> Future:
        # As a task, which the scheduler can repeat; data that are scattered to workers are lost with them.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self.client.submit(pickle.loads, pickle.dumps(function), pure=False)

    def _submit(self, sent: Future, given: tuple[Any, ...]) -> Future:
        if any(dask.is_dask_collection(item) for item in given):
            task = dask.delayed(_call, pure=False)(sent, *given)
            return self.client.compute(task, retries=RETRIES)
        return self.client.submit(_call, sent, *given, pure=False, retries=RETRIES)

    def _outcomes(self, function: Callable[..., Any], ended: Sequence[_Sent]) -> Iterator[bytes]:
        """What tasks return that have ended, fetched at once."""
        fetched = self.client.gather(
            {place: future for place, (future, _) in enumerate(ended)}, errors="skip"
        )
        for place, task in enumerate(ended):
            outcome = fetched.pop(place)
            yield self._repeated(function, *task) if outcome is None else outcome

    def _repeated(
        self, function: Callable[..., Any], future: Future, given: tuple[Any, ...]
    ) -> bytes:
        """What a task returns that failed; if it was lost with its worker it is sent again, with all that it needs."""
        for _ in range(RETRIES):
            # Asked first: a task that raised what we raise must not be repeated.
            error = future.exception()
            if isinstance(error, DataError | ParameterError):
                raise error
            if error is None:
                break
            future = self._submit(self._send(function), given)
        outcome: bytes = future.result()
        return outcome

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """As an engine for files that all workers can read."""
        return self.run(function, ((item,) for item in items))


def _ended(waiting: "deque[_Sent]") -> list[_Sent]:
    """The first task as soon as it has ended, and those behind it that have ended as well."""
    waiting[0][0].exception()
    ended = [waiting.popleft()]
    while waiting and waiting[0][0].done():
        ended.append(waiting.popleft())
    return ended


def _columns(dtype: np.dtype[Any], *chunks: Any) -> Block:
    """Columns of some chunks, one after the other."""
    parts = [np.asarray(c.toarray() if hasattr(c, "toarray") else c).T for c in chunks]
    out = np.empty((sum(map(len, parts)), parts[0].shape[1]), dtype=dtype)
    return np.concatenate(parts, out=out)


def _on_block(
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    dtype: np.dtype[Any],
    own: Any,
    *chunks: Any,
) -> Any:
    return function(_columns(dtype, *chunks), own, *shared)


def _taken(dtype: np.dtype[Any], chunk: Any, places: Indices) -> Block:
    return _columns(dtype, chunk[:, places])


def _neighbors(widths: Sequence[int], most: int) -> list[slice]:
    """Neighboring chunks with at most so many columns together, or single ones that have more.

    Examples
    --------
    >>> _neighbors([3, 3, 3, 9, 2], 6)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None), slice(4, 5, None)]
    """
    first, total, out = 0, 0, []
    for place, width in enumerate(widths):
        if place > first and total + width > most:
            out.append(slice(first, place))
            first, total = place, 0
        total += width
    return [*out, slice(first, len(widths))]


def _in_columns(X: Any, memory: int) -> Any:
    """An array with all rows of some columns in each chunk."""
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        raise DataError(
            "X is a Dask array of unknown chunk sizes; X.compute_chunk_sizes() finds them, or take "
            "frame.to_dask_array(lengths=True)."
        )
    n, d = X.shape
    if X.ndim != 2 or not n or not d:
        raise DataError(f"X has shape {X.shape}; it needs rows and columns.")
    widest = max(X.chunks[1])
    if X.numblocks[0] == 1 and n * widest <= _MOST_ENTRIES:
        return X
    width = max(1, min(_MOST_ENTRIES // n, memory // (100 * n), d))
    return X.rechunk({0: -1, 1: min(width, widest) if X.numblocks[0] == 1 else width})


def _precision(X: Any) -> np.dtype[Any]:
    if X.dtype.kind not in "biuf":
        raise DataError(f"X has type {X.dtype}; convert it to numbers first, with X.astype(float).")
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


class DaskColumns:
    """The store of a Dask array (n, d), whose chunks stay on the workers of a client.

    Parameters
    ----------
    X : dask array
        Design; brought into chunks of columns if it is not.
    client : distributed Client
        The cluster.
    memory : int
        Bytes that the workers may hold for a block.
    names : sequence of str, optional
        Names of the columns.
    """

    def __init__(
        self, X: Any, client: Client, memory: int, names: Sequence[str] | None = None
    ) -> None:
        X = _in_columns(X, memory)
        self.shape, self.dtype, self.names = X.shape, _precision(X), names
        self.passes = 0
        self._tasks = Tasks(client)
        chunks = X.to_delayed().ravel().tolist()
        told = client.scheduler_info(n_workers=-1)["workers"].values()
        room = sum(worker["memory_limit"] for worker in told)
        # What does not fit is made anew in every pass, as it was made the first time.
        self._chunks = client.compute(chunks) if X.nbytes <= _KEPT * room else chunks
        self._edges = np.concatenate([[0], np.cumsum(X.chunks[1])]).astype(int).tolist()
        # The same whatever the number of workers, and with it all sums over blocks.
        most = min(_ENOUGH_ENTRIES, memory // 100) // X.shape[0]
        self._groups = _neighbors(X.chunks[1], most)
        self.blocks: Sequence[tuple[int, int]] = [
            (self._edges[group.start], self._edges[group.stop]) for group in self._groups
        ]

    def map(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        """Outcomes in the order of the blocks."""
        self.passes += 1
        own = [None] * len(self.blocks) if each is None else each
        task = partial(_on_block, function, shared, self.dtype)
        given = (
            (mine, *self._chunks[group]) for mine, group in zip(own, self._groups, strict=True)
        )
        yield from self._tasks.run(task, given)

    def take(self, columns: Indices) -> Block:
        """Some columns, in the order that is asked for."""
        order, places = np.unique(columns, return_inverse=True)
        needed = [
            (chunk, order[(order >= first) & (order < last)] - first)
            for chunk, (first, last) in zip(self._chunks, pairwise(self._edges), strict=True)
        ]
        some = [(chunk, own) for chunk, own in needed if len(own)]
        parts = list(self._tasks.run(partial(_taken, self.dtype), some))
        empty = np.empty((0, self.shape[0]), dtype=self.dtype)
        return np.concatenate([empty, *parts])[places]


class LazyColumns(Source):
    """Columns of a Dask array, without a cluster: made in this process when they are read."""

    def __init__(self, X: Any, memory: int, names: Sequence[str] | None = None) -> None:
        self._X = _in_columns(X, memory)
        self.shape, self.dtype, self.names = self._X.shape, _precision(X), names
        self.together = int(max(self._X.chunks[1]))

    def read(self, first: int, last: int) -> Block:
        """Columns, in the thread that asks for them."""
        return _columns(self.dtype, self._X[:, first:last].compute(scheduler="synchronous"))

    def pick(self, columns: Indices) -> Block:
        """Some columns; each chunk is made once."""
        return _columns(self.dtype, self._X[:, columns].compute(scheduler="synchronous"))


def frame_array(frame: Any, columns: Sequence[str]) -> Any:
    """Columns of a Dask frame as an array; the lengths of its parts are counted."""
    for name in columns:
        if frame.dtypes[name].kind not in "biuf":
            raise DataError(
                f"column {name!r} of the Dask frame is no number ({frame.dtypes[name]}); code it first, or leave it "
                "out."
            )
    return frame[list(columns)].to_dask_array(lengths=True)


def lazy_width(source: LazyColumns, memory: int, threads: int) -> int:
    """Columns of a block of a Dask array without a cluster: at least a chunk."""
    return max(block_width(source, memory, threads), source.together)
