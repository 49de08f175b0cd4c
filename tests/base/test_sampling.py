"""Some of very many rows: always the same, from everywhere."""

import numpy as np

from robustsparse.base.sampling import some_rows


def test_few_rows_are_all_taken() -> None:
    assert some_rows(10, 10) is None


def test_rows_are_distinct_ascending_and_always_the_same() -> None:
    rows = some_rows(1000, 200)
    assert rows is not None
    assert len(rows) == 200
    assert np.all(np.diff(rows) > 0)
    np.testing.assert_array_equal(rows, some_rows(1000, 200))


def test_rows_that_come_in_turns_are_met_alike() -> None:
    rows = some_rows(10_000, 2000)
    assert rows is not None
    for period in (2, 5, 10):
        shares = np.bincount(rows % period) / len(rows)
        # Four standard deviations of a share.
        assert np.abs(shares - 1 / period).max() < 4 * np.sqrt(1 / period / len(rows))
