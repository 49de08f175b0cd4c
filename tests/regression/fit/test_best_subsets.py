"""The default fit: models of any size, on rows that nobody named, by several criteria."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.algorithm.losses import Squared
from robustsparse.regression.fit.best_subsets import BestSubsets
from robustsparse.regression.fit.criteria import ebic_price
from robustsparse.regression.fit.finders import Hints
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian


def drawn(
    seed: int, n: int = 120, d: int = 60, k: int = 3, bad: float = 0.1, **arguments: Any
) -> Any:
    """Unit coefficients, noise 0.5, and a share of responses far off."""
    rng = np.random.default_rng(seed)
    X = arguments.pop("X", None)
    X = rng.normal(size=(n, d)) if X is None else X(rng, n, d)
    support = np.sort(rng.choice(d, k, replace=False))
    y = X[:, support] @ (rng.choice([-1.0, 1.0], k) / X[:, support].std(axis=0))
    y += 0.5 * rng.normal(size=n)
    rows = rng.choice(n, int(bad * n), replace=False)
    y[rows] += 8 * y.std()
    return X, y, {f"x{j + 1}" for j in support}, set(rows.tolist())


def f1(found: list[str], true: set[str]) -> float:
    return 2 * len(set(found) & true) / max(len(found) + len(true), 1)


@pytest.mark.parametrize(("n", "k"), [(120, 3), (300, 9), (300, 22), (100, 13)])
@pytest.mark.parametrize("bad", [0.0, 0.1])
def test_models_of_any_size_are_found(n: int, k: int, bad: float) -> None:
    score, flagged = [], []
    for seed in range(4):
        X, y, true, rows = drawn(seed, n=n, d=100, k=k, bad=bad)
        fit = rs.rht_fit(X, y, n_jobs=1)
        score.append(f1(fit.support(), true))
        flagged.append(rows <= set(fit.outliers()))
    assert np.mean(score) >= 0.97
    assert all(flagged)


def test_weak_terms_beside_strong_ones_are_found() -> None:
    score = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 100))
        beta = np.r_[2.0, 2.0, 2.0, np.full(6, 0.3), np.zeros(91)]
        y = X @ beta + 0.5 * rng.normal(size=300)
        y[:30] += 30.0
        fit = rs.rht_fit(X, y, n_jobs=1)
        score.append(f1(fit.support(), {f"x{j + 1}" for j in range(9)}))
    assert np.mean(score) >= 0.97


@pytest.mark.filterwarnings("ignore:the model may be wrong")
def test_terms_of_a_weak_signal_are_found_more_often_than_by_the_extended_bic() -> None:
    score: dict[str, list[float]] = {"ric": [], "ebic": []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 150))
        y = X[:, :6] @ rng.choice([-1.0, 1.0], 6) + 3.2 * rng.normal(size=200)
        for select, found in score.items():
            fit = rs.rht_fit(X, y, select=select, n_jobs=1)  # type: ignore[arg-type]
            found.append(f1(fit.support(), {f"x{j + 1}" for j in range(6)}))
    assert np.mean(score["ric"]) >= np.mean(score["ebic"]) + 0.05


@pytest.mark.parametrize("bad", [0.0, 0.1])
def test_rows_of_rare_levels_are_no_outliers(bad: float) -> None:
    def rare(rng: np.random.Generator, n: int, d: int) -> Any:
        return (rng.random((n, d)) < 0.05).astype(float)

    score, false = [], []
    for seed in range(6):
        X, y, true, rows = drawn(seed, n=300, d=80, k=5, bad=bad, X=rare)
        fit = rs.rht_fit(X, y, n_jobs=1)
        score.append(f1(fit.support(), true))
        false.append(len(set(fit.outliers("response")) - rows) / 300)
    assert np.mean(score) >= 0.98
    assert np.mean(false) <= 0.02


@pytest.mark.parametrize("select", ["ric", "ebic", "gic", "cv"])
@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_a_model_of_a_given_size_is_the_member_of_the_automatic_path(
    select: Any, family: Any
) -> None:
    X, y, _, _ = drawn(1, n=150, d=40, k=3)
    y = y if family == "gaussian" else (y > np.median(y)).astype(float)
    automatic = rs.rht_fit(X, y, family=family, select=select)
    for k in [j for j in automatic.members if j % 4 == 1 or j == automatic.k]:
        given = rs.rht_fit(X, y, family=family, select=select, k=k)
        assert given.k == k
        pd.testing.assert_series_equal(given.params, automatic.coef(zeros=True, k=k))
        pd.testing.assert_series_equal(given.coef(), automatic.coef(k=k))
        assert given.outliers() == sorted(automatic.members[k].flags.index)
        pd.testing.assert_series_equal(given.predict(X), automatic.predict(X, k=k))


@pytest.mark.filterwarnings("ignore:the model may be wrong")
def test_the_model_of_all_terms_is_a_member_too() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_cauchy((40, 7))
    y = X[:, 0] + rng.normal(size=40)
    automatic = rs.rht_fit(X, y, keep=[0, 2, 3])
    given = rs.rht_fit(X, y, keep=[0, 2, 3], k=4)
    pd.testing.assert_series_equal(given.path[4], automatic.path[4])


def test_terms_that_the_trusted_rows_lack_are_counted() -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((58, 12)) < 0.06).astype(float)
    y = 1.0 + rng.normal(size=58)
    assert rs.rht_fit(X, y, k=2).k == 2


def test_a_list_of_sizes_is_chosen_from() -> None:
    X, y, true, _ = drawn(2, n=150, d=60, k=5)
    fit = rs.rht_fit(X, y, k=[2, 5, 8])
    assert fit.k == 5
    assert fit.cv is not None
    assert list(fit.cv.index) == [2, 5, 8]
    assert set(fit.support()) == true
    assert "5, robust criterion" in str(fit.summary())
    assert "5, extended BIC" in str(rs.rht_fit(X, y, k=[2, 5, 8], select="ebic").summary())


def test_gic_takes_no_fewer_terms() -> None:
    for seed in range(4):
        X, y, _, _ = drawn(seed, n=120, d=60, k=3)
        sizes = [rs.rht_fit(X, y, select=name).k for name in ("ebic", "gic")]  # type: ignore[arg-type]
        assert sizes[0] <= sizes[1]


@pytest.mark.filterwarnings("ignore:the model may be wrong")
def test_noise_has_no_terms() -> None:
    rng = np.random.default_rng(0)
    found = [rs.rht_fit(rng.normal(size=(100, 200)), rng.normal(size=100)).k for _ in range(8)]
    assert np.mean(np.array(found) == 0) >= 0.7
    assert np.mean(found) <= 0.6


def test_a_choice_at_the_end_of_the_path_is_told() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 200))
    # Every term explains most of what the larger ones leave.
    y = X[:, :25] @ np.geomspace(1e4, 1e-2, 25) + 1e-4 * rng.normal(size=80)
    with pytest.warns(rs.SelectionWarning, match="there may be more"):
        fit = rs.rht_fit(X, y)
    assert 10 <= fit.k < 25


@pytest.mark.parametrize("others", [0, 1])
def test_columns_that_are_sums_of_the_chosen_could_not_have_joined(
    others: int, recwarn: pytest.WarningsRecorder
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2 + others))
    y = 2.0 * X[:, 0] - X[:, 1] + rng.normal(size=120)
    fit = rs.rht_fit(np.column_stack([X, X[:, 0] + X[:, 1] + 5.0]), y)
    assert fit.k == 2
    assert not recwarn.list


def test_kept_terms_weights_and_an_offset_are_heeded() -> None:
    X, y, true, _ = drawn(3, n=150, d=40, k=3, bad=0.0)
    shift = np.linspace(-5, 5, 150)
    weights = np.r_[np.zeros(20), np.ones(130)]
    y[:20] = 1e3
    fit = rs.rht_fit(X, y + shift, offset=shift, weights=weights, keep=["x40"])
    assert set(fit.support()) == true - {"x40"}
    assert fit.params["x40"] != 0
    assert fit.nobs == 130


def test_terms_that_repeat_others_are_counted() -> None:
    X, y, _, _ = drawn(4, n=80, d=3, k=3)
    fit = rs.rht_fit(np.hstack([X] * 3), y, k=6)
    assert len(fit.support()) == 3
    assert "3 of 6" in str(fit.summary())
    assert np.isfinite(fit.conf_int().to_numpy()).all()


@pytest.mark.parametrize("factored", [0, 1 << 20])
def test_models_of_all_sizes_are_least_squares_on_the_trusted_rows(
    factored: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robustsparse.regression.fit.best_subsets._FACTORED", factored)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12)) @ (np.eye(12) + 0.3)
    data = standardized(X, X[:, :3].sum(axis=1), Squared(), family=Gaussian(), how="mad")
    finder = BestSubsets()
    found = finder.find(data, Hints(), ebic_price)
    assert max(found.models) > 5
    for size, model in found.models.items():
        columns = np.append(model.support, data.keep)
        direct = np.linalg.lstsq(data.columns(columns), data.y, rcond=None)[0]
        assert len(model.support) == size
        np.testing.assert_allclose(model.coef[columns], direct, rtol=1e-9, atol=1e-12)
