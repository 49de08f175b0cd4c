"""The sparse filter against a slow one, what it finds that trimming misses, and what it must not depend on."""

from itertools import combinations
from math import ceil, e, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

import robustsparse as rs
from robustsparse.algorithm.sparse_filter import BoundFilter, _power
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array, Mask

RELATIVE = 1e-9


def slow_filter(P: Array, epsilon: float) -> tuple[Mask, Array]:
    """The definition on all coordinates together, one row and one coordinate at a time; the rows kept, and the mean."""
    n, d = P.shape
    Z = np.zeros((n, d))
    for j in range(d):
        away = P[:, j] - np.median(P[:, j])
        scale = stats.median_abs_deviation(P[:, j], scale="normal") or np.mean(np.abs(away)) * sqrt(
            np.pi / 2
        )
        Z[:, j] = [max(-6.0, min(6.0, value / scale)) for value in away]
    kept = list(range(n))
    room = ceil(2 * epsilon * n - 1e-9)
    for _ in range(20):
        covariance = np.cov(Z[kept].T, bias=True).reshape(d, d)
        usual = np.median(np.diag(covariance))
        direction = np.linalg.svd(covariance)[0][:, 0]
        along = Z @ direction
        center = np.median(along[kept])
        scale = max(stats.median_abs_deviation(along[kept], scale="normal"), 1.0)
        size = np.abs(along - center) / (scale * sqrt(usual))
        width = np.var(along[kept]) / scale**2 / usual
        left = room - (n - len(kept))
        if left <= 0 or width <= 1.25 * (1 + sqrt(2 * d * log(e) / len(kept))) ** 2:
            break
        far = sorted((i for i in kept if size[i] > 3.0), key=lambda i: -size[i])[:left]
        if not far:
            break
        kept = [i for i in kept if i not in far]
    share = max(2 * epsilon - (n - len(kept)) / n, epsilon)
    each = ceil(share * n - 1e-9)
    means = [np.sort(P[kept, j])[each : len(kept) - each].mean() for j in range(d)]
    mask = np.zeros(n, dtype=bool)
    mask[kept] = True
    return mask, np.array(means)


def shifted(
    seed: int, n: int = 200, d: int = 12, bad: int = 20, by: float = 2.0, common: float = 0.0
) -> Array:
    """Rows, correlated by a common part, the first of which are shifted in every column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + common * rng.normal(size=(n, 1))
    X[:bad] += by
    return X


class TestAgainstASlowFilter:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("by", [0.0, 2.0, 3.0, 100.0])
    @pytest.mark.parametrize("common", [0.0, 0.5])
    def test_rows_and_means_are_the_same(self, seed: int, by: float, common: float) -> None:
        X = shifted(seed, by=by, common=common)
        score = np.random.default_rng(seed).normal(1.0, 0.3, len(X))
        kept, expected = slow_filter(X * score[:, None], 0.1)
        estimator = rs.SparseFilter(0.1)
        assert np.array_equal(estimator.kept(X, score), kept)
        np.testing.assert_allclose(estimator(X, score), expected, rtol=RELATIVE, atol=RELATIVE)

    def test_sparse_directions_come_close_to_the_best_of_all(self) -> None:
        """Of all triples of fourteen columns, against power iterations from the column that varies most."""
        shares = []
        for seed in range(6):
            A = shifted(seed, n=60, d=14, bad=8).T
            A = A - A.mean(axis=1)[:, None]
            covariance = A @ A.T
            best = max(
                np.linalg.eigvalsh(covariance[np.ix_(some, some)])[-1]
                for some in combinations(range(14), 3)
            )
            direction = _power(A, covariance[np.argmax(np.diag(covariance))], 3)
            assert np.count_nonzero(direction) == 3
            shares.append(direction @ covariance @ direction / best)
        assert min(shares) > 0.8
        assert np.mean(shares) > 0.9


class TestJointShifts:
    def test_rows_that_no_column_shows_are_found(self) -> None:
        """Two standard deviations in every column, over seeds; a trimmed mean keeps most of the shift."""
        found, lost, ours, trimmed = [], [], [], []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(200, 300))
            X[:20] += 2.0
            kept = rs.SparseFilter(0.1).kept(X, np.ones(200))
            found.append(1 - kept[:20].mean())
            lost.append(1 - kept[20:].mean())
            ours.append(np.abs(rs.SparseFilter(0.1)(X, np.ones(200)).mean()))
            trimmed.append(np.abs(rs.Trimmed(0.2)(X, np.ones(200)).mean()))
        assert np.mean(found) > 0.9
        assert np.mean(lost) < 0.02
        assert np.mean(ours) < 0.2 * np.mean(trimmed)

    def test_shifts_of_a_few_columns_among_many_are_found(self) -> None:
        found = []
        for seed in range(10):
            X = np.random.default_rng(seed).normal(size=(200, 400))
            X[:20, 100:120] += 2.5
            found.append(1 - rs.SparseFilter(0.1).kept(X, np.ones(200))[:20].mean())
        assert np.mean(found) > 0.8

    @pytest.mark.parametrize(
        "draw",
        [
            lambda rng: rng.normal(size=(200, 100)),
            lambda rng: rng.normal(size=(200, 100)) + rng.normal(size=(200, 1)),
            lambda rng: rng.standard_t(3, (200, 100)),
            lambda rng: np.exp(rng.normal(size=(200, 100))),
            lambda rng: (rng.random((200, 100)) < 0.15).astype(float),
        ],
        ids=["normal", "one factor", "t3", "log-normal", "dummies"],
    )
    def test_clean_rows_stay_whatever_their_law(self, draw: Any) -> None:
        lost = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = draw(rng)
            lost.append(1 - rs.SparseFilter(0.1).kept(X, rng.normal(size=200)).mean())
        assert np.mean(lost) < 0.02

    def test_without_anything_to_drop_it_is_a_trimmed_mean(self) -> None:
        rng = np.random.default_rng(0)
        X, score = rng.normal(size=(150, 40)), rng.normal(1.0, 0.1, 150)
        assert rs.SparseFilter(0.1).kept(X, score).all()
        assert np.array_equal(rs.SparseFilter(0.1)(X, score), rs.Trimmed(0.2)(X, score))

    def test_never_more_rows_go_than_allowed(self) -> None:
        X = shifted(0, bad=80, by=20.0)
        kept = rs.SparseFilter(0.1).kept(X, np.ones(200))
        assert (~kept).sum() <= 40
        assert rs.SparseFilter(0.0).kept(X, np.ones(200)).all()

    def test_cells_far_out_are_left_to_the_trimmed_mean(self) -> None:
        X = np.random.default_rng(1).normal(size=(200, 60))
        wild = X.copy()
        wild[np.arange(15), np.arange(15)] = 1e9
        change = rs.SparseFilter(0.1)(wild, np.ones(200)) - rs.SparseFilter(0.1)(X, np.ones(200))
        assert np.abs(change).max() < 0.1


class TestSymmetries:
    def test_order_of_rows_and_columns(self) -> None:
        X = shifted(3, d=50)
        rng = np.random.default_rng(3)
        score, rows, columns = rng.normal(1, 0.2, 200), rng.permutation(200), rng.permutation(50)
        estimator = rs.SparseFilter(0.1)
        kept, plain = estimator.kept(X, score), estimator(X, score)
        assert 0 < (~kept).sum() < 40
        assert np.array_equal(estimator.kept(X[rows], score[rows]), kept[rows])
        np.testing.assert_allclose(estimator(X[rows], score[rows]), plain, atol=RELATIVE)
        np.testing.assert_allclose(estimator(X[:, columns], score), plain[columns], atol=RELATIVE)

    def test_units_of_columns_do_not_matter(self) -> None:
        X, units = shifted(4, d=50), 10.0 ** np.random.default_rng(4).uniform(-6, 6, 50)
        estimator = rs.SparseFilter(0.1)
        assert np.array_equal(
            estimator.kept(X * units, np.ones(200)), estimator.kept(X, np.ones(200))
        )

    def test_constant_columns_and_few_rows_are_no_harm(self) -> None:
        X = np.zeros((6, 30))
        assert rs.SparseFilter(0.2)(X, np.ones(6)).tolist() == [0.0] * 30
        X[:, 4] = 1.0
        assert rs.SparseFilter(0.2)(X, np.ones(6))[4] == 1.0
        assert rs.SparseFilter(0.2)(np.ones((1, 2)), np.ones(1)).tolist() == [1.0, 1.0]


class TestBound:
    def test_the_gradient_is_that_of_the_callable(self) -> None:
        X = shifted(5, d=40)
        score = np.random.default_rng(5).normal(1, 0.2, 200)
        bound = rs.SparseFilter(0.1).bind(np.ascontiguousarray(X.T))
        assert isinstance(bound, BoundFilter)
        bound.begin(score)
        assert np.array_equal(bound.at(np.arange(40)), rs.SparseFilter(0.1)(X, score))

    def test_a_small_design_is_averaged_over_the_rows_that_passed(self) -> None:
        X = shifted(6, d=40)
        bound = rs.SparseFilter(0.1).bind(np.ascontiguousarray(X.T))
        bound.begin(np.ones(200))
        kept = rs.SparseFilter(0.1).kept(X, np.ones(200))
        assert not kept.all()
        small = np.ascontiguousarray(X[:, :2].T)
        expected = rs.SparseFilter(0.1).trimmed(small, np.ones(200), kept)
        assert np.array_equal(bound.dense(small, np.ones(200)), expected)

    def test_judgments_that_go_in_a_circle_rest_until_scores_move(self) -> None:
        X = shifted(7, d=40)
        bound = rs.SparseFilter(0.1).bind(np.ascontiguousarray(X.T))
        # Scores that hide the shifted rows, and scores that do not.
        shown, hidden = np.ones(200), np.where(np.arange(200) < 20, 0.0, 1.0)
        kept = []
        for _ in range(3):
            for score in (shown, hidden):
                bound.begin(score)
                # The mean of the numbers of the rows tells which are left.
                kept.append(bound.average(np.arange(200.0)))
        assert kept[0] == kept[2] == kept[4] != kept[1] == kept[3]
        # Shown for the third time, the rows stay while scores are alike; others than those are judged anew.
        bound.begin(0.95 * shown)
        assert bound.average(np.arange(200.0)) == kept[4]
        assert kept[5] == kept[3]


@pytest.mark.parametrize("bad", [0, 2.5, "9", None])
def test_bad_sparsity(bad: Any) -> None:
    with pytest.raises(ParameterError, match="sparsity="):
        rs.SparseFilter(sparsity=bad)


def test_missing_cells_are_named() -> None:
    X = np.ones((9, 3))
    X[5, 2] = np.nan
    with pytest.raises(DataError, match=r"nan in row 5, column 2; .*na_action"):
        rs.SparseFilter()(X, np.ones(9))
