"""Cells of a fit that were missing or wrong, and how those of new rows are imputed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.types import Array, Indices, Places
from robustsparse.design.design import Design
from robustsparse.regression.fit.mending import Mended
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.robust.imputation import Imputer

MISSING, WRONG = "missing", "wrong"


def cell_table(problem: Standardized, design: Design, mended: Mended | None) -> pd.DataFrame:
    """Cells that were filled, by row label and in the data's units, in the order of rows and columns."""
    if mended is None:
        return empty_cells(design.rows[:0])
    order = np.lexsort([mended.column, mended.row])
    row, column, missing = mended.row[order], mended.column[order], mended.missing[order]
    location, scale = problem.scaling.location[column], problem.scaling.scale[column]
    table = pd.DataFrame(
        {
            "column": np.array(design.names, dtype=object)[column],
            "reason": np.where(missing, MISSING, WRONG).astype(object),
            "old": np.where(missing, np.nan, _values(design.X, row, column)),
            "new": location + scale * mended.filled[order],
            "error": scale * mended.error[order],
        },
        index=design.rows[row],
    )
    return table if design.first is None else _once(table, row, design.first)


def _once(table: pd.DataFrame, row: Indices, first: Places) -> pd.DataFrame:
    """The cells of rows that are told of, in the order of these."""
    place = pd.Index(first).get_indexer(pd.Index(row))
    told = np.flatnonzero(place >= 0)
    return table.iloc[told[np.argsort(place[told], kind="stable")]]


def empty_cells(rows: "pd.Index[Any]") -> pd.DataFrame:
    """The table of no cells."""
    words, numbers = np.zeros(0, dtype=object), np.zeros(0)
    columns = {"column": words, "reason": words, "old": numbers, "new": numbers, "error": numbers}
    return pd.DataFrame(columns, index=rows)


def _values(X: Any, row: Indices, column: Indices) -> Array:
    return np.asarray(X[row, column], dtype=np.float64).ravel()


@dataclass(frozen=True, eq=False)
class Imputation:
    """How cells of new rows are imputed, in the data's units.

    Attributes
    ----------
    columns : array of int
        Columns of the design that are read, ascending.
    imputer : Imputer
        What fills them, numbered as they are in `columns`.
    """

    columns: Indices
    imputer: Imputer

    def fill(self, values: Array, needed: Indices) -> tuple[Array, Indices]:
        """Some columns of new rows without gaps, and how many cells of each row were imputed.

        Parameters
        ----------
        values : array (n, columns)
            What the new rows hold in `columns`; not a number where that is missing.
        needed : array of int
            Columns of the design that are needed.
        """
        filled = np.array(values.T, dtype=np.float64)
        doubtful = ~np.isfinite(filled)
        column, row, expected, _ = self.imputer.fill(filled, doubtful)
        filled[column, row] = expected
        places = np.searchsorted(self.columns, needed)
        return filled[places].T, doubtful[places].sum(axis=0)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        parts = {item.name: getattr(self.imputer, item.name).tolist() for item in fields(Imputer)}
        return {"read": self.columns.tolist(), **parts}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Imputation":
        """Undo `to_dict`."""
        whole = ("columns", "neighbors")
        parts: dict[str, Any] = {
            item.name: np.array(
                stored[item.name], dtype=np.int64 if item.name in whole else np.float64
            )
            for item in fields(Imputer)
        }
        t = len(parts["columns"])
        m = parts["neighbors"].size // max(t, 1)
        shapes = {"neighbors": (t, m), "cross": (t, m), "correlations": (t, m, m)}
        shaped = {name: part.reshape(shapes.get(name, part.shape)) for name, part in parts.items()}
        read = np.array(stored["read"], dtype=np.int64)
        _check(read, shaped)
        return cls(read, Imputer(**shaped))


def _check(read: Indices, parts: Mapping[str, Array]) -> None:
    """Raise unless numbers of columns are such."""
    d = len(read)
    known = all(len(parts[name]) == d for name in ("mean", "sd", "low", "high"))
    inside = all(
        ((parts[name] >= low) & (parts[name] < d)).all()
        for name, low in (("columns", 0), ("neighbors", -1))
    )
    if not known or not inside:
        raise ValueError("the imputation of new rows names columns that there are not")


def cell_counts(table: pd.DataFrame) -> Sequence[tuple[str, str, int]]:
    """Reason, column and number of cells, those with the most first."""
    counts = table.value_counts(["reason", "column"], sort=False).sort_values(ascending=False)
    places = counts.index.to_frame()
    return list(zip(places["reason"], places["column"], counts.astype(int), strict=True))
