"""What a user gives as a design, as a store of columns, if it is not to be held in memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from robustsparse.base.errors import DataError, MissingDependencyError, ParameterError
from robustsparse.base.text import shown
from robustsparse.design.stores.arrays import ArrayColumns, ZarrColumns, map_columns
from robustsparse.design.stores.sizes import available, bytes_of
from robustsparse.design.stores.store import (
    Blocks,
    ColumnStore,
    Engine,
    Source,
    Threads,
    block_width,
)

# Bytes that a fit in memory takes for each entry of a design of single and of double precision: a standardized copy,
# one in single precision, and what screening remembers.
_SINGLE, _DOUBLE = 6, 16
# Part of the memory that is left which is used unless the user says how much.
_SHARE = 0.5


def kind_of(X: Any) -> str:
    """What a design is: "dask array", "dask frame", "zarr", "source", "store", "map", "array" or "other"."""
    module = type(X).__module__
    if module.startswith(("dask.dataframe", "dask_expr")):
        return "dask frame"
    if module.startswith("dask."):
        return "dask array"
    if module.startswith("zarr.") and hasattr(X, "chunks"):
        return "zarr"
    if isinstance(X, Source):
        return "source"
    if all(hasattr(X, name) for name in ("blocks", "map", "take", "shape", "dtype")):
        return "store"
    if isinstance(X, np.memmap):
        return "map"
    return "array" if isinstance(X, np.ndarray) or sparse.issparse(X) else "other"


def budget(memory: Any) -> int:
    """Bytes that a fit may hold."""
    return int(_SHARE * available()) if memory is None else bytes_of(memory)


def fits(shape: Sequence[int], dtype: Any, memory: int) -> bool:
    """Whether a fit in memory would take no more than that.

    Examples
    --------
    >>> fits((1000, 10_000), np.float64, 10**9), fits((1000, 100_000), np.float64, 10**9)
    (True, False)
    """
    entry = _SINGLE if np.dtype(dtype) == np.float32 else _DOUBLE
    return int(shape[0]) * int(shape[1]) * entry <= memory


def open_store(
    X: Any, memory: Any, client: Any, threads: int, *, blocks: bool = False
) -> tuple[Any, ColumnStore | None]:
    """The design in memory and None, or None and the store of its columns.

    Parameters
    ----------
    X : array or what stands for one
        The design.
    memory : str, int or None
        Bytes that may be held.
    client : object or None
        What runs the tasks: a Dask client, or whatever has a `map`.
    threads : int
        Threads of this process, if there is no client.
    blocks : bool
        Whether it is to be read in blocks even if there is memory enough.
    """
    kind, limit = kind_of(X), budget(memory)
    if client is not None and not hasattr(client, "map"):
        raise ParameterError(
            f"client={shown(client)} must be a Dask client, or have a method map(function, items)."
        )
    if kind == "store":
        return None, X
    if kind in ("dask array", "dask frame"):
        return None, _dask_store(X, kind, limit, client, threads)
    stays = memory is None and client is None and not blocks
    if kind == "other" or (kind == "array" and stays):
        return X, None
    source = _source(X, kind)
    if fits(source.shape, source.dtype, limit) and client is None and not blocks:
        return (source.read(0, source.shape[1]).T if kind in ("source", "zarr") else X), None
    return None, Blocks(source, _engine(client, threads), block_width(source, limit, threads))


def _source(X: Any, kind: str) -> Source:
    if kind == "source":
        return X  # type: ignore[no-any-return]
    if len(X.shape) != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        raise DataError(
            f"X has shape {X.shape} and type {X.dtype}; it must have two dimensions, rows by columns of numbers."
        )
    if kind == "zarr":
        return ZarrColumns(X)
    return map_columns(X) if kind == "map" else ArrayColumns(X)


def _engine(client: Any, threads: int) -> Engine:
    if client is None:
        return Threads(threads)
    if not type(client).__module__.startswith("distributed"):
        engine: Engine = client
        return engine
    from robustsparse.design.stores.dask_columns import Tasks

    return Tasks(client)


def _dask_store(X: Any, kind: str, memory: int, client: Any, threads: int) -> ColumnStore:
    try:
        from robustsparse.design.stores.dask_columns import (
            DaskColumns,
            LazyColumns,
            current_client,
            frame_array,
            lazy_width,
        )
    except ImportError:
        raise MissingDependencyError(
            "Dask arrays need the packages dask and distributed; install robustsparse[dask]."
        ) from None
    names = None
    if kind == "dask frame":
        names = [str(name) for name in X.columns]
        X = frame_array(X, list(X.columns))
    elif type(X).__module__.split(".")[1] != "array":
        raise DataError(f"X is a {type(X).__name__} of Dask; it must be an array or a frame.")
    client = current_client() if client is None else client
    if client is not None and type(client).__module__.startswith("distributed"):
        return DaskColumns(X, client, memory, names)
    lazy = LazyColumns(X, memory, names)
    return Blocks(lazy, _engine(client, threads), lazy_width(lazy, memory, threads))
