"""Columns that cannot be predictors."""

import pandas as pd
import pytest

from robustsparse.base.errors import DataError
from robustsparse.design.predictors import check_predictor


def test_row_labels_are_refused_only_under_dot() -> None:
    few = pd.Series([f"r{i % 8}" for i in range(10)], name="a b")
    check_predictor(few, "factor", by_dot=True)
    labels = pd.Series([f"r{i}" for i in range(10)], name="a b")
    check_predictor(labels, "factor", by_dot=False)
    with pytest.raises(DataError, match="leave it out with `- `a b``"):
        check_predictor(labels, "factor", by_dot=True)
