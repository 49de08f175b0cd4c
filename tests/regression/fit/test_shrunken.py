"""Models for prediction: shrinkage on the rows that are trusted."""

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.base.types import Array

SEEDS = range(4)


def collinear(seed: int, n: int = 120, d: int = 60) -> tuple[Array, Array, Array, Array]:
    """Five factors behind all columns and the response; half of the rows are for testing."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2 * n, 5))
    X = factors @ rng.normal(size=(5, d)) + 1.5 * rng.normal(size=(2 * n, d))
    y = 10.0 + factors @ np.array([1.0, -1.0, 1.0, 0.5, 0.5]) + 0.5 * rng.normal(size=2 * n)
    return X[:n], y[:n], X[n:], y[n:]


def error(fit: rs.RHTResult, X: Array, y: Array) -> float:
    return float(np.sqrt(np.mean((fit.predict(X) - y) ** 2)))


# Which of the alike columns were selected is chance, and said to be.
@pytest.mark.filterwarnings("ignore:the model may be wrong")
def test_it_predicts_collinear_data_better_than_a_selected_model() -> None:
    ratios = []
    for seed in SEEDS:
        X, y, new, truth = collinear(seed)
        select, predict = (rs.rht_fit(X, y, goal=goal, n_jobs=1) for goal in ("select", "predict"))
        assert predict.k > select.k
        ratios.append(error(predict, new, truth) / error(select, new, truth))
    assert np.mean(ratios) < 0.9


@pytest.mark.parametrize("kind", ["decimal", "far"])
def test_bad_rows_change_little(kind: str) -> None:
    ratios = []
    for seed in SEEDS:
        X, y, new, truth = collinear(seed)
        clean = rs.rht_fit(X, y, goal="predict", n_jobs=1)
        bad, worse = X.copy(), y.copy()
        worse[:12] *= 10.0
        if kind == "far":
            bad[:12] += 20.0
        fit = rs.rht_fit(bad, worse, goal="predict", n_jobs=1)
        assert (fit.row_weights[:12] == 0).all()
        ratios.append(error(fit, new, truth) / error(clean, new, truth))
    assert np.mean(ratios) < 1.25


def test_flipped_labels_change_little() -> None:
    right = []
    for seed in SEEDS:
        X, y, new, truth = collinear(seed)
        labels, flipped = y > 10, y > 10
        flipped[:12] = ~flipped[:12]
        fit = rs.rht_fit(X, flipped, family="binomial", goal="predict", n_jobs=1)
        clean = rs.rht_fit(X, labels, family="binomial", goal="predict", n_jobs=1)
        right.append([f.score(new, truth > 10) for f in (fit, clean)])
    dirty, clean_score = np.mean(right, axis=0)
    assert clean_score > 0.85
    assert dirty > clean_score - 0.06


def test_more_columns_than_rows_and_two_classes() -> None:
    data = rs.datasets.golub()
    fit = rs.rht("subtype ~ .", data, "binomial", goal="predict", n_jobs=1)
    assert fit.k > 10
    assert fit.class_roc().auc == 1.0


def test_kept_terms_are_not_shrunken() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(150, 10))
    y = 0.15 * X[:, 3] + 2.0 * X[:, 0] + rng.normal(size=150)
    fit = rs.rht_fit(X, y, goal="predict", keep=[3], k=0, n_jobs=1)
    A = np.column_stack([np.ones(150), X[:, 3]])[fit.row_weights > 0]
    plain = np.linalg.lstsq(A, y[fit.row_weights > 0], rcond=None)[0]
    assert fit.support() == []
    np.testing.assert_allclose(fit.coef()[["Intercept", "x4"]], plain, atol=1e-6)


def test_offset_weights_and_most_terms() -> None:
    X, y, _, _ = collinear(1)
    shift = np.linspace(0.0, 50.0, len(y))
    moved = rs.rht_fit(X, y + shift, offset=shift, goal="predict", n_jobs=1)
    plain = rs.rht_fit(X, y, goal="predict", n_jobs=1)
    np.testing.assert_allclose(moved.params, plain.params, atol=1e-6)
    weights = np.ones(len(y))
    weights[:10] = 0.0
    wrong = y.copy()
    wrong[:10] = 1e3
    dropped = rs.rht_fit(X, wrong, weights=weights, goal="predict", n_jobs=1)
    rest = rs.rht_fit(X[10:], y[10:], goal="predict", n_jobs=1)
    np.testing.assert_allclose(dropped.params, rest.params, atol=1e-8)
    few = rs.rht_fit(X, y, k=4, goal="predict", n_jobs=1)
    assert 0 < few.k <= 4
    np.testing.assert_array_equal(few.row_weights, plain.row_weights)


def test_a_response_without_noise_is_still_predicted() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 10))
    fit = rs.rht_fit(X, 3.0 * X[:, 0] + 1.0, goal="predict", n_jobs=1)
    assert fit.score(X, 3.0 * X[:, 0] + 1.0) > 0.999


@pytest.mark.parametrize("wrong", [{"refit": False}, {"split": 3, "k": 2}])
def test_what_it_is_not_for_is_refused(wrong: dict[str, object]) -> None:
    X, y, _, _ = collinear(0)
    with pytest.raises(rs.ParameterError, match="goal='predict'"):
        rs.rht_fit(X, y, goal="predict", **wrong)


def test_an_unknown_goal_is_refused() -> None:
    X, y, _, _ = collinear(0)
    with pytest.raises(rs.ParameterError, match="goal='both'"):
        rs.rht_fit(X, y, goal="both")
