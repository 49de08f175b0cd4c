"""Clusters of rows that depend on each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.errors import DataError
from robustsparse.base.text import did_you_mean, listed
from robustsparse.base.types import Indices, Mask


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which rows belong together.

    Attributes
    ----------
    of : array of int (n,)
        Number of each row's cluster, from 0 on.
    name : str
        The column, or "cluster" if labels were given as an array.
    """

    of: Indices
    name: str

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(np.unique(self.of))

    def rows(self, kept: Mask) -> "Clusters":
        """Those of some of the rows, numbered anew.

        Examples
        --------
        >>> clusters = as_clusters(["a", "b", "c", "a"], 4)
        >>> clusters.rows(np.array([False, True, True, True])).of.tolist()
        [1, 2, 0]
        """
        return Clusters(np.unique(self.of[kept], return_inverse=True)[1], self.name)


def cluster_column(frame: pd.DataFrame, value: Any) -> Clusters | None:
    """Clusters given as a column of a frame, or as an array with a label for each of its rows."""
    if value is None:
        return None
    if not isinstance(value, str):
        return as_clusters(value, len(frame), frame.index)
    if value not in frame.columns:
        raise DataError(
            f"cluster={value!r} is no column of the data{did_you_mean(value, frame.columns)}"
        )
    return as_clusters(frame[value], len(frame), frame.index, value)


def as_clusters(
    labels: Any, n: int, rows: "pd.Index[Any] | None" = None, name: str = "cluster"
) -> Clusters:
    """Clusters by a label for each of n rows, which may be called something.

    Examples
    --------
    >>> as_clusters(["b", "a", "b"], 3).of.tolist()
    [0, 1, 0]
    """
    if isinstance(labels, str):
        raise DataError(
            f"cluster={labels!r} is a name, and there is no frame to look it up in; pass the labels themselves, such "
            f"as cluster=data[{labels!r}]."
        )
    if isinstance(labels, pd.Series) and rows is not None and not labels.index.equals(rows):
        raise DataError(
            "the index of cluster differs from that of the rows; reindex it, or pass its values to go by position."
        )
    given = (
        pd.Series(np.asarray(labels, dtype=object)) if not isinstance(labels, pd.Series) else labels
    )
    if given.shape != (n,):
        raise DataError(
            f"cluster has shape {given.shape}; it needs a label for each of the {n} rows."
        )
    missing = given.isna().to_numpy()
    if missing.any():
        where = (pd.RangeIndex(n) if rows is None else rows)[missing].tolist()
        raise DataError(
            f"{name} is missing in {len(where)} row(s), {listed(where)}: a row without a label belongs to no cluster; "
            "give it one of its own, or drop it."
        )
    return Clusters(pd.factorize(given)[0], name)
