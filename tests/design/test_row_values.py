"""Weights and offsets."""

import numpy as np
import pandas as pd

from robustsparse.design.blocks import numeric_column
from robustsparse.design.row_values import row_values


def test_row_values_are_copies() -> None:
    frame = pd.DataFrame({"w": [1.0, 2.0]})
    given = np.array([1.0, 2.0])
    for value in ("w", given):
        read = row_values(frame, "weights", value)
        assert read is not None
        read[:] = 0
    assert given.tolist() == [1.0, 2.0]
    assert frame["w"].tolist() == [1.0, 2.0]
    assert np.isnan(numeric_column(pd.DataFrame({"w": pd.array([1, None], dtype="Int64")}), "w")[1])
