"""The audit of rows."""

import numpy as np
import pandas as pd

from robustsparse.design.blocks import NumericBlock
from robustsparse.design.row_audit import RowAudit, infinite


def test_audit_counts_a_row_once() -> None:
    audit = RowAudit.of(4)
    frame = pd.DataFrame({"a": [np.nan, np.inf, 1, 1], "b": [np.inf, 1, 1, np.nan], "c": 1.0})
    audit.scan(NumericBlock.of(frame, ["a", "b", "c"]))
    assert audit.bad.tolist() == [True, True, False, True]
    assert audit.missing.tolist() == [True, False, False, True]
    assert audit.columns == {"a": 2, "b": 2}
    audit.note("a", np.array([False, False, True, False]), np.zeros(4, dtype=bool))
    assert audit.describe() == "a (3), b (2)"


def test_infinite_ignores_what_is_no_float() -> None:
    assert infinite(np.array([1, 2])).tolist() == [False, False]
    assert infinite(pd.Series(["inf", None], dtype=object)).tolist() == [False, False]
    assert infinite(np.array([1.0, -np.inf])).tolist() == [False, True]
