"""Formulas on tables that are not in memory: Dask frames, and parquet files that do not fit."""

import os
from collections.abc import Mapping
from typing import Any

from robustsparse.base.errors import ParameterError
from robustsparse.base.threads import threads_for
from robustsparse.design.stores.opening import budget, fits, kind_of, open_store
from robustsparse.design.stores.parquet import ParquetColumns, ParquetTable
from robustsparse.design.stores.plain_formulas import PlainFormula
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.large.fit import Limits, fit_store
from robustsparse.regression.result import RHTResult

# Arguments of `rht` that may name a column with a value for each row.
_COLUMNS = ("weights", "offset", "cluster")


def held_table(data: Any, memory: Any, stays: bool) -> Any:
    """A table in memory as it is; a parquet file that fits, read; else None, and `fit_table` is to be called.

    `stays` says that it is not to be read as a whole even if it fits.
    """
    if kind_of(data) == "dask frame":
        return None
    if not isinstance(data, str | os.PathLike):
        return data
    table = ParquetTable(data)
    if stays or not fits((table.rows, len(table.names)), float, budget(memory)):
        return None
    import pandas as pd

    return pd.read_parquet(table.path)


def fit_table(
    formula: str,
    data: Any,
    asked: Arguments,
    of_rows: Mapping[str, Any],
    memory: Any,
    client: Any,
    checkpoint: str | os.PathLike[str] | None,
) -> RHTResult:
    """Fit a formula that names columns to a table that is read in blocks of them."""
    table = _DaskTable(data) if kind_of(data) == "dask frame" else ParquetTable(data)
    named = {name: of_rows[name] for name in _COLUMNS if isinstance(of_rows[name], str)}
    plain = PlainFormula.of(formula, table.names, tuple(named.values()))
    if of_rows["context"] is not None:
        raise ParameterError(
            "context= is for formulas that compute; these need the table in memory."
        )
    source = (
        table.array(plain.predictors)
        if isinstance(table, _DaskTable)
        else ParquetColumns(table, plain.predictors)
    )
    _, store = open_store(source, memory, client, threads_for(asked.n_jobs), blocks=True)
    assert store is not None
    rows = {
        name: table.column(of_rows[name]) if name in named else of_rows[name] for name in _COLUMNS
    }
    intercept = plain.intercept if of_rows["intercept"] is None else of_rows["intercept"]
    return fit_store(
        store, table.column(plain.response), asked, Limits(budget(memory), checkpoint),
        names=plain.predictors, intercept=intercept, keep=of_rows["keep"],
        groups=of_rows["groups"], na_action=of_rows["na_action"], **rows,
    )  # fmt: skip


class _DaskTable:
    """A Dask frame."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, tuple(map(str, frame.columns))

    def column(self, name: str) -> Any:
        """One column, as a series."""
        return self.frame[name].compute().reset_index(drop=True)

    def array(self, names: tuple[str, ...]) -> Any:
        """Some columns, as a frame."""
        return self.frame[list(names)]
