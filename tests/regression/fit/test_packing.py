"""Columns moved together in an array's own memory, and back."""

import numpy as np
import pytest

from robustsparse.regression.fit import packing
from robustsparse.regression.fit.packing import packed


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("block", [1, 50, 1 << 18])
def test_the_kept_columns_come_together_and_all_go_back(
    dtype: type, share: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "_BLOCK", block)
    rng = np.random.default_rng(0)
    for d, n in [(1, 7), (13, 20), (40, 3)]:
        XT = rng.normal(size=(d, n)).astype(dtype)
        before, kept = XT.copy(), rng.random(n) < share
        with packed(XT, kept) as part:
            np.testing.assert_array_equal(part, before[:, kept])
            assert part.flags.c_contiguous
            assert part.dtype == dtype
            assert part.size == 0 or np.shares_memory(part, XT)
        np.testing.assert_array_equal(XT, before)


def test_they_go_back_after_an_error() -> None:
    XT = np.arange(12.0).reshape(3, 4)
    with (
        pytest.raises(ZeroDivisionError),
        packed(XT, np.array([True, False, False, True])),
    ):
        raise ZeroDivisionError
    np.testing.assert_array_equal(XT, np.arange(12.0).reshape(3, 4))
