"""Copies of the data of a fit, no larger than need be."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

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
        # A formula can also name columns that it leaves out, as in ". - id".
        used = spec.inputs() | named | {name for name in frame.columns if str(name) in spec.formula}
        copies["data"] = frame[[name for name in frame.columns if name in used]].copy()
    return copies


def _copy(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    # Frames of polars have a word of their own for it.
    own = getattr(value, "copy", None) or getattr(value, "clone", None)
    return np.array(value) if own is None else own()
