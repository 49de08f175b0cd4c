"""Parts of the rows: together they are all of them, once."""

import numpy as np
import pytest

from robustsparse.base import row_slices as module
from robustsparse.base.row_slices import is_tall, row_slices


@pytest.mark.parametrize(("n", "p"), [(0, 3), (1, 1), (7, 0), (1000, 3)])
def test_few_rows_stay_together(n: int, p: int) -> None:
    assert not is_tall(n, p)
    assert sum(part.stop - part.start for part in row_slices(n, p)) == n
    assert len(row_slices(n, p)) <= 1


def test_very_many_are_split_and_none_is_lost() -> None:
    n, p = module._TOGETHER // 3 + 17, 4
    parts = row_slices(n, p)
    assert is_tall(n, p)
    assert len(parts) > 1
    assert np.array_equal(np.concatenate([np.arange(n)[part] for part in parts]), np.arange(n))
    assert max(part.stop - part.start for part in parts) * p <= module._AT_A_TIME
