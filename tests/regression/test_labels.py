"""Labels that a fit would bet against, how many look wrong, and fits that predict for want of labels."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import robustsparse as rs
from robustsparse.base.types import Array, Mask


def classes(seed: int, n: int = 800, d: int = 60, flips: float = 0.1) -> tuple[Array, Array, Mask]:
    """Rows, labels of which a share is wrong, and which these are."""
    rng = np.random.default_rng([20, seed])
    X = rng.normal(size=(n, d))
    odds = X[:, :4] @ np.array([2.5, -2.5, 2.5, -2.5])
    y = (rng.random(n) < expit(odds)).astype(float)
    wrong = rng.permutation(n) < round(flips * n)
    return X, np.where(wrong, 1 - y, y), wrong


def test_labels_that_the_model_bets_against_are_wrong_for_the_most_part() -> None:
    hits, flagged, wrongs = 0, 0, 0
    for seed in range(5):
        X, y, wrong = classes(seed)
        found = rs.rht_fit(X, y, family="binomial", n_jobs=1).labels()
        assert (found["wrong"] >= 0.5).all()
        assert found["wrong"].is_monotonic_decreasing
        hits, flagged, wrongs = (
            hits + wrong[found.index].sum(),
            flagged + len(found),
            wrongs + wrong.sum(),
        )
    assert hits > 0.7 * flagged
    assert hits > 0.4 * wrongs


def test_the_share_of_wrong_labels_is_about_right() -> None:
    for flips, low, high in ((0.0, 0.0, 0.02), (0.1, 0.05, 0.15)):
        shares = []
        for seed in range(5):
            X, y, _ = classes(seed, flips=flips)
            fit = rs.rht_fit(X, y, family="binomial", n_jobs=1)
            shares.append(fit.diagnostics["wrong"].mean())
        assert low <= np.median(shares) <= high


def test_labels_say_what_they_are() -> None:
    X, y, _ = classes(1)
    data = pd.DataFrame(
        X, columns=[f"x{j}" for j in range(60)], index=[f"r{i}" for i in range(800)]
    )
    data["y"] = np.where(y == 1, "sick", "well")
    fit = rs.rht("y ~ .", data, family="binomial", n_jobs=1)
    found = fit.labels()
    assert found["label"].tolist() == data.loc[found.index, "y"].tolist()
    event = fit.diagnostics.loc[found.index, "fitted"]
    own = np.where(found["label"] == fit.classes[1], event, 1 - event)  # type: ignore[index]
    np.testing.assert_allclose(found["probability"], own)
    assert (found["probability"] < 0.5).all()
    assert set(found.index) <= set(fit.outliers("response"))
    assert len(fit.labels(least=0.0)) == 800
    assert "about" in str(fit.summary())


def test_labels_of_a_stored_fit_are_the_same(tmp_path: Path) -> None:
    X, y, _ = classes(2)
    fit = rs.rht_fit(X, y, family="binomial", n_jobs=1)
    fit.save(tmp_path / "fit.zip")
    pd.testing.assert_frame_equal(rs.load(tmp_path / "fit.zip").labels(), fit.labels())


def test_where_there_are_no_labels_the_remedy_is_named() -> None:
    X, y, _ = classes(3)
    with pytest.raises(rs.ParameterError, match="family='binomial'"):
        rs.rht_fit(X, X[:, 0], n_jobs=1).labels()
    with pytest.raises(rs.ParameterError, match="least=2 is no probability"):
        rs.rht_fit(X, y, family="binomial", n_jobs=1).labels(least=2)


def test_too_few_labels_predict_and_enough_of_them_select() -> None:
    X, y, _ = classes(4, n=40, d=3000, flips=0.0)
    few = rs.rht_fit(X, y, family="binomial", n_jobs=1)
    assert few.goal == "predict"
    assert "So few labels" in str(few.summary())
    chosen = rs.rht_fit(X, y, family="binomial", goal="predict", n_jobs=1, rng=0)
    assert "So few labels" not in str(chosen.summary())
    assert rs.rht_fit(X, y, family="binomial", k=2, n_jobs=1).goal == "select"
    X, y, _ = classes(4, n=300, d=3000)
    assert rs.rht_fit(X, y, family="binomial", n_jobs=1).goal == "select"
    assert rs.rht_fit(X, X[:, 0], n_jobs=1).goal == "select"


def test_a_model_of_many_terms_is_shown_in_part() -> None:
    X, y, _ = classes(5, n=40, d=3000, flips=0.0)
    fit = rs.rht_fit(X, y, family="binomial", n_jobs=1)
    assert fit.k > 20
    text = str(fit.summary())
    assert f"The {fit.k - 20} smallest terms are not shown" in text
    assert sum(name in text.split() for name in fit.support()) == 20
