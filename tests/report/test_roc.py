"""Confusion counts and ROC curves, against counts done by hand and against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.metrics import roc_auc_score, roc_curve

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.report.roc import (
    ROC,
    Confusion,
    edge_confusion,
    mean_roc,
    roc_from_graphs,
    roc_from_scores,
    roc_from_sets,
    support_confusion,
)

ROUNDING = 1e-12
GRID = 2e-3  # a mean curve lives on a grid of step 0.001

# Nodes 0..3; the truth is the chain 0-1-2-3: 3 edges, 3 pairs without.
CHAIN = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]], dtype=bool)
# 0-1 and 2-3 are right, 0-3 is wrong, 1-2 is missed.
GUESS = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0]], dtype=bool)


def test_confusion_rates_by_hand() -> None:
    found = Confusion(tp=2, fp=1, fn=2, tn=5)
    assert (found.tpr, found.fpr) == (0.5, pytest.approx(1 / 6))
    assert found.precision == pytest.approx(2 / 3)
    assert found.f1 == pytest.approx(4 / 7)


def test_confusion_of_nothing() -> None:
    nothing = Confusion(tp=0, fp=0, fn=0, tn=5)
    assert nothing.f1 == 1.0
    assert np.isnan(nothing.tpr)
    assert np.isnan(nothing.precision)
    assert np.isnan(Confusion(tp=3, fp=0, fn=0, tn=0).fpr)
    assert Confusion(tp=0, fp=2, fn=1, tn=5).f1 == 0.0


def test_support_confusion_by_hand() -> None:
    names = [f"x{j}" for j in range(1, 11)]
    found = support_confusion(["x1", "x2", "x9"], ["x2", "x3", "x1", "x4"], names)
    assert found == Confusion(tp=2, fp=1, fn=2, tn=5)
    assert support_confusion([0, 1, 8], {1, 2, 0, 3}, 10) == found
    assert support_confusion(np.array([0, 1, 8]), range(4), np.int64(10)) == found


def test_support_confusion_counts_repeated_names_once() -> None:
    assert support_confusion(["a", "a"], ["a"], "abc") == Confusion(1, 0, 0, 2)


@pytest.mark.parametrize("argument", [(["z"], ["a"]), (["a"], ["z"])])
def test_support_confusion_names_the_stranger(argument: tuple[list[str], list[str]]) -> None:
    with pytest.raises(DataError, match="'z'"):
        support_confusion(*argument, universe="abc")


@pytest.mark.parametrize("estimated", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("true", [np.asarray, sparse.coo_array])
def test_edge_confusion_by_hand(estimated, true) -> None:
    assert edge_confusion(estimated(GUESS), true(CHAIN)) == Confusion(tp=2, fp=1, fn=1, tn=2)


def test_edge_confusion_takes_weights_frames_and_loops() -> None:
    weights = -0.3 * GUESS + 5 * np.eye(4)
    assert edge_confusion(weights, CHAIN) == edge_confusion(GUESS, CHAIN)
    assert edge_confusion(pd.DataFrame(weights), CHAIN) == edge_confusion(GUESS, CHAIN)
    assert edge_confusion(np.zeros((4, 4)), CHAIN) == Confusion(0, 0, 3, 3)


def test_edge_confusion_ignores_stored_zeros() -> None:
    stored = sparse.csr_array(GUESS.astype(float))
    stored.data[:] = 0.0
    assert edge_confusion(stored, CHAIN) == Confusion(0, 0, 3, 3)


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        (np.triu(CHAIN), "not symmetric"),
        (np.ones((4, 3)), r"square.*\(4, 3\)"),
        (np.ones((3, 3)), "3 and 4 nodes"),
        (np.ones(4), "square"),
    ],
)
def test_edge_confusion_names_what_is_wrong(adjacency: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        edge_confusion(adjacency, CHAIN)


def test_scores_by_hand() -> None:
    # Ranked: T, F, (T, F tied), F. Two true items, three false ones.
    curve = roc_from_scores([5, 4, 3, 3, 1], [True, False, True, False, False])
    np.testing.assert_allclose(curve.fpr, [0, 0, 1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(curve.tpr, [0, 0.5, 0.5, 1, 1])
    np.testing.assert_array_equal(curve.thresholds, [np.inf, 5, 4, 3, 1])
    # Trapezoids: 1/3 * 0.5 + 1/3 * 0.75 + 1/3 * 1.
    assert curve.auc == pytest.approx(0.75)


rankings = st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=2, max_size=40).filter(
    lambda pairs: 0 < sum(t for _, t in pairs) < len(pairs)
)


@given(rankings)
def test_scores_agree_with_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    scores, truth = zip(*pairs, strict=True)
    curve = roc_from_scores(scores, truth)
    fpr, tpr, thresholds = roc_curve(truth, scores, drop_intermediate=False)
    np.testing.assert_allclose(curve.fpr, fpr, atol=ROUNDING)
    np.testing.assert_allclose(curve.tpr, tpr, atol=ROUNDING)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    assert curve.auc == pytest.approx(roc_auc_score(truth, scores), abs=ROUNDING)


@given(rankings, st.floats(0.01, 1.0))
def test_partial_area_agrees_with_a_fine_sum(pairs: list[tuple[int, bool]], cut: float) -> None:
    curve = roc_from_scores(*zip(*pairs, strict=True))
    middle = (np.arange(4000) + 0.5) / 4000 * cut
    # The midpoint rule on a curve with at most nine kinks errs by less than one cell for each.
    expected = np.interp(middle, curve.fpr, curve.tpr).mean()
    assert curve.partial_auc(cut) == pytest.approx(expected, abs=9 / 4000)
    assert curve.partial_auc(cut, normalized=False) == pytest.approx(curve.partial_auc(cut) * cut)


def test_partial_area_by_hand() -> None:
    # Up to 0.5 at fpr 0, flat to 0.5, then up to 1.
    curve = ROC(np.array([0, 0, 0.5, 1.0]), np.array([0, 0.5, 0.5, 1.0]), np.full(4, np.nan))
    assert curve.partial_auc(0.2) == pytest.approx(0.5)
    assert curve.partial_auc(0.2, normalized=False) == pytest.approx(0.1)
    # 0.5 * 0.5 plus the trapezoid from 0.5 to 0.75, heights 0.5 and 0.75.
    assert curve.partial_auc(0.75, normalized=False) == pytest.approx(0.25 + 0.25 * 0.625)
    assert curve.partial_auc(1.0) == pytest.approx(curve.auc)


def test_partial_area_stops_before_a_jump_at_the_cut() -> None:
    curve = ROC(np.array([0, 0.1, 0.1, 1.0]), np.array([0, 0, 1.0, 1.0]), np.full(4, np.nan))
    assert curve.partial_auc(0.1) == 0.0


def test_partial_area_of_guessing_is_half_the_cut() -> None:
    curve = roc_from_scores(np.zeros(10), np.arange(10) < 4)
    assert curve.partial_auc(0.1) == pytest.approx(0.05)
    assert curve.auc == pytest.approx(0.5)


@pytest.mark.parametrize("cut", [0.0, -0.1, 1.1, float("nan")])
def test_partial_area_rejects_a_cut_outside(cut: float) -> None:
    with pytest.raises(ParameterError, match="max_fpr"):
        roc_from_scores([1, 2], [False, True]).partial_auc(cut)


def test_sets_by_hand() -> None:
    # Truth {0, 1} in 6 items; steps out of order and not nested.
    steps = [{0, 1, 4}, {0}, {2, 3}]
    curve = roc_from_sets(steps, {0, 1}, 6)
    np.testing.assert_allclose(curve.fpr, [0, 0, 0.25, 0.5])
    np.testing.assert_allclose(curve.tpr, [0, 0.5, 1, 0])
    np.testing.assert_array_equal(curve.thresholds, [0, 1, 3, 2])
    # 0.25 * 0.75 + 0.25 * 0.5 + 0.5 * 0.5: the fall counts, the end is a straight line.
    assert curve.auc == pytest.approx(0.5625)


def test_sets_with_labels_and_an_empty_start() -> None:
    curve = roc_from_sets([{0}, {0, 2}], {0, 1}, 4, labels=[0.9, 0.1])
    np.testing.assert_array_equal(curve.thresholds, [np.nan, 0.9, 0.1])
    curve = roc_from_sets([[], [0]], {0, 1}, 4, labels=[2.0, 1.0])
    np.testing.assert_array_equal(curve.thresholds, [2.0, 1.0])
    np.testing.assert_array_equal(curve.fpr, [0, 0])
    np.testing.assert_array_equal(curve.tpr, [0, 0.5])


def test_nested_sets_are_the_ranking_they_come_from() -> None:
    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=30), rng.random(30) < 0.4
    order = np.argsort(-scores)
    path = [order[:k] for k in range(1, 31)]
    curve = roc_from_sets(path, np.flatnonzero(truth), 30)
    expected = roc_from_scores(scores, truth)
    np.testing.assert_allclose(curve.fpr, expected.fpr)
    np.testing.assert_allclose(curve.tpr, expected.tpr)


def test_path_of_graphs_by_hand() -> None:
    curve = roc_from_graphs([GUESS, sparse.csr_array(CHAIN)], CHAIN)
    np.testing.assert_allclose(curve.fpr, [0, 0, 1 / 3])
    np.testing.assert_allclose(curve.tpr, [0, 1, 2 / 3])
    np.testing.assert_array_equal(curve.thresholds, [0, 3, 3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: roc_from_scores([1, 2], [True, True]), "2 and 0"),
        (lambda: roc_from_scores([1, np.nan], [True, False]), "NaN"),
        (lambda: roc_from_scores([1, 2, 3], [True, False]), r"\(3,\)"),
        (lambda: roc_from_scores([], []), "0 and 0"),
        (lambda: roc_from_sets([{0}], set(), 4), "0 and 4"),
        (lambda: roc_from_sets([], {0}, 4), "empty"),
        (lambda: roc_from_sets([{0}], {0}, 4, labels=[1, 2]), "2 labels for 1"),
        (lambda: mean_roc([]), "at least one"),
        (lambda: ROC(np.array([0, 1, 0.5]), np.zeros(3), np.zeros(3)), "ascend"),
        (lambda: ROC(np.zeros(3), np.zeros(2), np.zeros(3)), "same length"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()


def test_mean_curve_by_hand() -> None:
    # One curve jumps to 1 at once, the other is the diagonal.
    perfect = roc_from_scores([2, 1], [True, False])
    guessing = roc_from_scores([1, 1], [True, False])
    curve = mean_roc([perfect, guessing])
    assert (curve.fpr[0], curve.tpr[0]) == (0.0, 0.0)
    assert (curve.fpr[1], curve.tpr[1]) == (0.0, 0.5)
    assert np.interp(0.4, curve.fpr, curve.tpr) == pytest.approx(0.7)
    assert (curve.fpr[-1], curve.tpr[-1]) == (1.0, 1.0)


def test_area_of_the_mean_is_the_mean_of_the_areas() -> None:
    rng = np.random.default_rng(1)
    curves = [roc_from_scores(rng.normal(size=60), rng.random(60) < 0.3) for _ in range(8)]
    curves.append(roc_from_sets([{0}, {0, 1, 5}], {0, 1, 2}, 20))
    mean = mean_roc(iter(curves))
    assert mean.auc == pytest.approx(np.mean([c.auc for c in curves]), abs=GRID)
    expected = np.mean([c.partial_auc(0.1) for c in curves])
    assert mean.partial_auc(0.1) == pytest.approx(expected, abs=GRID / 0.1)


def test_frame_and_repr() -> None:
    curve = roc_from_sets([{0}], {0}, 4)
    assert list(curve.to_frame().columns) == ["fpr", "tpr", "threshold"]
    assert curve.to_frame()["threshold"].tolist() == [0.0, 1.0]
    assert repr(curve) == "ROC(points=2, auc=1.000)"


def test_plot_draws_the_curve_on_the_given_axes() -> None:
    axes = Figure().subplots()
    curve = roc_from_sets([{0}, {0, 3}], {0, 1}, 4)
    assert curve.plot(ax=axes, label="mine") is axes
    drawn = [np.asarray(line.get_xydata()) for line in axes.lines]
    assert any({(0.0, 0.5), (0.5, 0.5)} <= set(map(tuple, points)) for points in drawn)
    assert curve.plot(ax=Figure().subplots()).lines
