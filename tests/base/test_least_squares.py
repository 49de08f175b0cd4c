"""Least squares: numpy's answer, faster."""

import numpy as np

from robustsparse.base.least_squares import least_squares


def test_it_is_numpys_answer() -> None:
    rng = np.random.default_rng(0)
    for n, p in ((30, 4), (5, 5), (4, 9), (20, 0), (50, 1)):
        A, target = rng.normal(size=(n, p)), rng.normal(size=n)
        expected = np.linalg.lstsq(A, target, rcond=None)[0]
        np.testing.assert_allclose(least_squares(A, target), expected, atol=1e-10)


def test_dependent_columns_share_the_shortest_answer() -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(40, 3))
    A = np.column_stack([A, A[:, 0] - A[:, 2], np.zeros(40)])
    target = rng.normal(size=40)
    expected = np.linalg.lstsq(A, target, rcond=None)[0]
    np.testing.assert_allclose(least_squares(A, target), expected, atol=1e-10)


def test_nothing_is_changed() -> None:
    A, target = np.asfortranarray(np.random.default_rng(2).normal(size=(9, 2))), np.arange(9.0)
    before = A.copy(), target.copy()
    least_squares(A, target)
    np.testing.assert_array_equal(A, before[0])
    np.testing.assert_array_equal(target, before[1])
