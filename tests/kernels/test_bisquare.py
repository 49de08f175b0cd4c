"""Compiled descent of robust regressions against the same in numpy."""

import numpy as np

from robustsparse import kernels
from robustsparse.base.types import Array

TUNING = 1.54764
ROUNDING = 1e-10


def data(seed: int, n: int = 80, p: int = 4) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, p))
    y = A @ rng.normal(size=p) + rng.standard_t(2, size=n)
    return A, y, rng.uniform(0.5, 2.0, size=n)


def rest_of(squares: Array, inverse: float) -> Array:
    return 1.0 - np.minimum(squares * inverse / TUNING**2, 1.0)


def test_a_step_is_reweighted_least_squares() -> None:
    for seed in range(5):
        A, y, prior = data(seed)
        # More rows than are worked on at a time.
        A, y, prior = np.tile(A, (4, 1)), np.tile(y, 4), np.tile(prior, 4)
        coefs, inverses, moved = np.zeros((1, 4)), np.full(1, 0.3), np.full(1, np.inf)
        kernels.descend_bisquare(
            np.ascontiguousarray(A.T), y, prior, prior / prior.sum(), TUNING, 0.0, 0.1, 0.0, 1,
            coefs, inverses, moved,
        )  # fmt: skip
        root = np.sqrt(prior) * rest_of(y**2, 0.3)
        expected = np.linalg.lstsq(root[:, None] * A, root * y, rcond=None)[0]
        np.testing.assert_allclose(coefs[0], expected, atol=ROUNDING)
        assert inverses[0] == 0.3


def test_an_end_is_where_the_slope_vanishes_and_the_loss_is_as_aimed() -> None:
    for seed in range(10):
        A, y, prior = data(seed)
        average = prior / prior.sum()
        coefs, inverses, moved = np.zeros((2, 4)), np.ones(2), np.full(2, np.inf)
        coefs[1] = 1.0
        steps = kernels.descend_bisquare(
            np.ascontiguousarray(A.T), y, prior, average, TUNING, 0.5, 0.1, 1e-9, 500,
            coefs, inverses, moved,
        )  # fmt: skip
        assert 0 < steps < 500
        for coef, inverse in zip(coefs, inverses, strict=True):
            resid = y - A @ coef
            rest = rest_of(resid**2, inverse)
            np.testing.assert_allclose(A.T @ (prior * rest**2 * resid), 0.0, atol=1e-5)
            np.testing.assert_allclose(average @ (1.0 - rest**3), 0.5, atol=1e-6)


def test_fits_do_not_depend_on_those_beside_them() -> None:
    A, y, prior = data(1)
    starts = np.random.default_rng(0).normal(size=(6, 4))

    def ends(some: Array) -> Array:
        coefs, inverses, moved = some.copy(), np.ones(len(some)), np.full(len(some), np.inf)
        kernels.descend_bisquare(
            np.ascontiguousarray(A.T), y, prior, prior / prior.sum(), TUNING, 0.5, 0.1, 1e-4, 100,
            coefs, inverses, moved,
        )  # fmt: skip
        return np.column_stack([coefs, inverses, moved])

    alone = np.concatenate([ends(start[None]) for start in starts])
    np.testing.assert_array_equal(ends(starts), alone)


def test_scales_solve_their_equation() -> None:
    rng = np.random.default_rng(0)
    squares, average = rng.standard_t(2, size=(4, 60)) ** 2, np.full(60, 1.0 / 60)
    inverses = np.array([1e-6, 1.0, 1e6, 3.0])
    kernels.inverse_scales(squares, average, TUNING, 0.5, 1e-12, 100, inverses)
    for square, inverse in zip(squares, inverses, strict=True):
        assert abs(average @ (1.0 - rest_of(square, inverse) ** 3) - 0.5) < ROUNDING


def test_squares_that_are_no_numbers_have_no_weight() -> None:
    squares = np.random.default_rng(1).normal(size=(1, 50)) ** 2
    squares[0, :5] = np.inf
    inverses = np.ones(1)
    kernels.inverse_scales(squares, np.full(50, 0.02), TUNING, 0.5, 1e-12, 100, inverses)
    assert np.isfinite(inverses[0])
    assert inverses[0] > 0
