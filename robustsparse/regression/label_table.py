"""Which labels a fit of two classes would bet against."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult


def label_table(result: "RHTResult", least: float) -> pd.DataFrame:
    """Rows whose label is wrong with a probability of at least so much, the surest first."""
    rows = result.diagnostics
    if "wrong" not in rows or result.classes is None:
        raise ParameterError(
            "labels() needs family='binomial' with a robust refit (refit=True, goal='select'): without it there is no "
            "likelihood that knows of wrong labels."
        )
    if not 0.0 <= least <= 1.0:
        raise ParameterError(f"least={least:g} is no probability; it must be between 0 and 1.")
    event = rows["fitted"] + rows["resid"] > 0.5
    against, one = result.classes
    table = pd.DataFrame(
        {
            "label": pd.Series(np.where(event, one, against), index=rows.index, dtype=object),
            "probability": np.where(event, rows["fitted"], 1.0 - rows["fitted"]),
            "wrong": rows["wrong"],
        }
    )
    return table[table["wrong"] >= least].sort_values("wrong", ascending=False, kind="stable")
