"""The geometric median of means against a general minimizer, and what it must not depend on."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import robustsparse as rs
from robustsparse.algorithm.geometric_median import block_means, geometric_median
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array

# What the minimizer leaves of its gradient, over the size of the data.
MINIMIZED = 1e-6
RELATIVE = 1e-10


def sum_of_distances(at: Array, points: Array) -> float:
    return float(np.linalg.norm(points - at, axis=1).sum())


def minimized(points: Array) -> Array:
    """The center by a minimizer that knows nothing of block means, from several starts."""
    starts = [points.mean(axis=0), np.median(points, axis=0), *points[:3]]
    ends = [
        minimize(
            sum_of_distances, start, args=(points,), method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000},
        )
        for start in starts
    ]  # fmt: skip
    return np.asarray(min(ends, key=lambda end: end.fun).x)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_equals_a_general_minimizer(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.standard_t(2, (9, d))
    points[0] = 1e3
    np.testing.assert_allclose(geometric_median(points), minimized(points), atol=MINIMIZED * 1e3)


@pytest.mark.parametrize("d", [2, 5, 40])
def test_no_pull_is_left(d: int) -> None:
    """At the center the unit vectors to all points add up to zero."""
    points = np.random.default_rng(d).normal(size=(31, d))
    away = points - geometric_median(points)
    pull = (away / np.linalg.norm(away, axis=1)[:, None]).sum(axis=0)
    assert np.linalg.norm(pull) < 31 * RELATIVE


def test_a_point_that_holds_the_center_is_the_center() -> None:
    """Four points around a fifth, which is their median though it pulls at nothing."""
    points = np.array([[0.0, 0.0], [1.0, 0.1], [-1.0, 0.1], [0.1, 2.0], [0.1, -2.0]])
    assert sum_of_distances(points[0], points) < sum_of_distances(points.mean(axis=0), points)
    np.testing.assert_allclose(geometric_median(points), minimized(points), atol=1e-7)


def test_a_line_of_points_and_equal_points() -> None:
    assert geometric_median(np.array([[1.0], [2.0], [9.0]])).tolist() == [2.0]
    assert geometric_median(np.full((5, 3), 7.0)).tolist() == [7.0, 7.0, 7.0]


class TestEstimator:
    X = np.random.default_rng(1).normal(size=(103, 12))
    score = np.random.default_rng(2).normal(size=103)

    def test_is_the_median_of_the_means_of_its_blocks(self) -> None:
        order = np.random.default_rng(4).permutation(103)
        products = (self.X * self.score[:, None])[order]
        means = np.array([products[b::10].mean(axis=0) for b in range(10)])
        found = rs.GeometricMedianOfMeans(10, rng=4)(self.X, self.score)
        np.testing.assert_allclose(found, geometric_median(means), rtol=RELATIVE)

    def test_order_within_blocks_and_of_blocks_does_not_matter(self) -> None:
        order = np.random.default_rng(4).permutation(100)
        laps = order.reshape(10, 10)
        # A lap deals one row to each of ten blocks.
        orders = [order, laps[::-1].ravel(), laps[:, ::-1].ravel()]
        XT, score = np.ascontiguousarray(self.X[:100].T), self.score[:100]
        found = [geometric_median(block_means(XT, score, one, 10)) for one in orders]
        np.testing.assert_allclose(found[1], found[0], atol=RELATIVE)
        np.testing.assert_allclose(found[2], found[0], atol=RELATIVE)

    def test_rotation_turns_it(self) -> None:
        turn = np.linalg.qr(np.random.default_rng(3).normal(size=(12, 12)))[0]
        estimator = rs.GeometricMedianOfMeans(10, rng=4)
        turned = estimator(self.X @ turn, self.score)
        np.testing.assert_allclose(turned, estimator(self.X, self.score) @ turn, atol=1e-9)

    def test_blocks_stay_or_are_redrawn(self) -> None:
        XT, columns = np.ascontiguousarray(self.X.T), np.arange(12)
        for redraw in (False, True):
            bound = rs.GeometricMedianOfMeans(11, redraw=redraw, rng=0).bind(XT)
            bound.begin(self.score)
            first = bound.at(columns)
            bound.begin(self.score)
            assert np.array_equal(bound.at(columns), first) is not redraw
            assert bound.settles is not redraw

    def test_spoiled_blocks_hardly_count(self) -> None:
        X = self.X.copy()
        X[:3] = 1e12
        clean, spoiled = (
            rs.GeometricMedianOfMeans(31, rng=0)(data, np.ones(103)) for data in (self.X, X)
        )
        assert np.abs(spoiled - clean).max() < 0.3

    @pytest.mark.parametrize("bad", [0, 2.5, np.nan, "9", True])
    def test_bad_blocks(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="blocks="):
            rs.GeometricMedianOfMeans(bad)

    def test_missing_cells_are_named(self) -> None:
        X = self.X.copy()
        X[5, 3] = np.nan
        with pytest.raises(DataError, match=r"nan in row 5, column 3; .*na_action"):
            rs.GeometricMedianOfMeans()(X, self.score)

    def test_more_bad_rows_ask_for_more_blocks(self) -> None:
        text = rs.GeometricMedianOfMeans(9).overwhelmed(20, 200, 50)
        assert "GeometricMedianOfMeans(blocks=95) or estimator='trim'" in text
        assert rs.GeometricMedianOfMeans().enough_for(0.1, 400, 50) == (
            rs.GeometricMedianOfMeans(175)
        )
