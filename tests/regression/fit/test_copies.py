"""Near-copies of selected columns."""

import numpy as np
import pytest

import robustsparse as rs


def with_copies(seed: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Two columns in the model; the third repeats the first up to some noise, the fourth is its negative."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 12))
    X[:, 2] = X[:, 0] + noise * rng.normal(size=150)
    X[:, 3] = -X[:, 0] + noise * rng.normal(size=150)
    return X, 2.0 * X[:, 0] - 2.0 * X[:, 1] + rng.normal(size=150)


@pytest.mark.parametrize(("family", "select"), [("gaussian", "ebic"), ("binomial", "ric")])
def test_copies_are_named_for_the_term_that_they_could_replace(family: str, select: str) -> None:
    for seed in range(3):
        X, y = with_copies(seed, 0.01)
        given = y if family == "gaussian" else y > 0
        fit = rs.rht_fit(X, given, family=family, select=select, k=2, n_jobs=1)
        (term,) = fit.copies
        assert {term, *fit.copies[term]} == {"x1", "x3", "x4"}
        text = " ".join(str(fit.summary()).split())
        assert f"{term} could be {' or '.join(fit.copies[term])}" in text


def test_a_column_that_is_alike_but_explains_less_is_no_copy() -> None:
    for seed in range(3):
        # Correlated at 0.97, but the fit would be worse by many units of the deviance.
        X, y = with_copies(seed, 0.25)
        fit = rs.rht_fit(X, y + 3.0 * X[:, 0], select="ebic", k=2, n_jobs=1)
        assert fit.copies == {}
        assert "could be" not in str(fit.summary())


def test_bad_rows_do_not_hide_copies() -> None:
    X, y = with_copies(5, 0.01)
    X[:10, 2], y[:10] = 50.0, 40.0
    fit = rs.rht_fit(X, y, select="ebic", k=2, n_jobs=1)
    assert {"x1", "x3", "x4"} == {*fit.copies, *next(iter(fit.copies.values()))}


def test_a_model_to_predict_has_no_copies() -> None:
    X, y = with_copies(1, 0.01)
    assert rs.rht_fit(X, y, select="ebic", goal="predict", n_jobs=1).copies == {}


def test_values_whose_squares_are_no_numbers_do_no_harm() -> None:
    X, y = with_copies(5, 0.01)
    X[:4, 0] = 1e300
    fit = rs.rht_fit(X, y, k=2, n_jobs=1)
    assert {"x1", "x3", "x4"} >= {*fit.copies, *next(iter(fit.copies.values()))}
