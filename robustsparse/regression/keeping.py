"""Copies of the data of a fit, no larger than need be."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from robustsparse.design.frames import as_frame
from robustsparse.regression.call import ROWWISE

if TYPE_CHECKING:
    from robustsparse.design.spec import DesignSpec


def copied(arguments: Mapping[str, Any], spec: "DesignSpec | None") -> dict[str, Any]:
    """Copies of the arguments that hold data: of a frame, the columns that are used."""
    given = {name: arguments[name] for name in ROWWISE if name in arguments}
    named = {value for value in given.values() if isinstance(value, str)}
    copies = {name: _copy(value) for name, value in given.items() if name != "data"}
    if spec is not None:
        frame = as_frame(given["data"])
        used = spec.inputs() | named
        copies["data"] = frame[[name for name in frame.columns if name in used]].copy()
    return copies


def _copy(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if sparse.issparse(value) or isinstance(value, pd.Series | pd.DataFrame):
        return value.copy()
    return np.array(value)
