"""Uncommon values are no outliers, unless they are far from the other uncommon ones."""

import numpy as np
import pytest

from robustsparse.robust.common_values import beyond_ordinary

N = 200


def test_columns_without_a_common_value_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    ZT = np.array([rng.normal(size=N), rng.integers(0, 4, N).astype(float)])
    assert beyond_ordinary(ZT) is ZT


@pytest.mark.parametrize("common", [0.0, -3.7])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.45])
def test_dummies_say_nothing_of_a_row(common: float, share: float) -> None:
    rare = np.arange(N) < share * N
    for values in (np.where(rare, common + 1.0, common), np.where(rare, common - 8.0, common)):
        assert not beyond_ordinary(values[None]).any()


def test_values_far_from_other_uncommon_ones_stay() -> None:
    rng = np.random.default_rng(0)
    ZT = np.where(rng.random((5, N)) < 0.2, np.exp(0.5 * rng.normal(size=(5, N))), 0.0)
    ZT[:, 3] = -999.0
    before = ZT.copy()
    out = beyond_ordinary(ZT)
    np.testing.assert_array_equal(ZT, before)
    assert (out[:, 3] < -500).all()
    assert (np.delete(out, 3, axis=1) == 0).mean() > 0.995


def test_single_precision_and_constant_columns() -> None:
    ZT = np.zeros((2, N), dtype=np.float32)
    ZT[1, 0] = 1e30
    out = beyond_ordinary(ZT)
    assert out.dtype == np.float32
    assert np.isfinite(out).all()
    assert not out[0].any()
