"""Best subsets for labels: against all subsets, and what must not matter; clusters of rows with labels."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import robustsparse as rs
from robustsparse.algorithm.losses import Logistic
from robustsparse.base.types import Array, Indices
from robustsparse.regression.binomial import Binomial
from robustsparse.regression.fit.criteria import ric_price
from robustsparse.regression.fit.finders import Found, Hints
from robustsparse.regression.fit.label_subsets import LabelSubsets
from robustsparse.regression.fit.rows import contradicting
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.robust.mm import Refit
from robustsparse.robust.row_clusters import cluster_shares
from robustsparse.robust.wrong_labels import Labelled, pearson, share_fits

# Misfits of fits that were stopped early, and are compared with others that were.
CLOSE = 0.05


def problem(
    seed: int, n: int = 150, d: int = 8, k: int = 3, flips: float = 0.0, **arguments: Any
) -> Standardized:
    """Columns that go together; the first k tell the classes apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 1))
    offset = arguments.get("offset", np.zeros(n))
    y = (rng.random(n) < expit(1.2 * X[:, :k].sum(axis=1) + offset)).astype(float)
    wrong = int(flips * n)
    y[:wrong] = 1.0 - y[:wrong]
    return standardized(X, y, Logistic(), family=Binomial(), how="winsor", **arguments)


def found(data: Standardized, *wanted: int, sets: tuple[Any, ...] = ()) -> Found:
    return LabelSubsets().find(data, Hints(None, sets), ric_price, wanted)


def misfit(data: Standardized, columns: Any) -> float:
    rows = data.chosen(np.concatenate([np.sort(np.array(columns, dtype=int)), data.keep]))
    return share_fits(Labelled.of(rows.A, rows.y, rows.offset, rows.weights)).misfit


def assert_same(one: Found, other: Found, sizes: Any) -> None:
    for size in sizes:
        np.testing.assert_array_equal(one.models[size].coef, other.models[size].coef)
        np.testing.assert_array_equal(one.models[size].support, other.models[size].support)


@pytest.mark.parametrize("flips", [0.0, 0.1])
def test_sets_are_the_best_of_all_subsets(flips: float) -> None:
    best = []
    for seed in range(6):
        data = problem(seed, flips=flips)
        models = found(data).models
        for size in range(1, 4):
            truth = min(misfit(data, chosen) for chosen in combinations(range(8), size))
            best.append(misfit(data, models[size].support) < truth + CLOSE)
    # What labels say is looked at from some models only, but that is nearly always enough.
    assert np.mean(best) >= 0.9


@pytest.mark.parametrize("flips", [0.0, 0.1])
def test_the_right_terms_are_the_model_of_their_number(flips: float) -> None:
    right = []
    for seed in range(8):
        model = found(problem(seed, n=400, d=60, flips=flips)).models[3]
        right.append(set(model.support) == {0, 1, 2})
    assert np.mean(right) >= 0.85


def test_weights_offset_and_kept_columns_are_part_of_the_misfit() -> None:
    best = []
    for seed in range(4):
        rng = np.random.default_rng(100 + seed)
        data = problem(
            seed, keep=np.array([7]), weights=rng.uniform(0.2, 2.0, 150),
            offset=2.0 * rng.normal(size=150),
        )  # fmt: skip
        models = found(data).models
        for size in range(1, 4):
            assert 7 not in models[size].support
            assert models[size].coef[7] != 0
            truth = min(misfit(data, chosen) for chosen in combinations(range(7), size))
            best.append(misfit(data, models[size].support) < truth + CLOSE)
    assert np.mean(best) >= 0.9


def test_a_known_predictor_is_no_term() -> None:
    """What the offset tells no column has to; without it the columns that go with it are needed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    y = (rng.random(300) < expit(3.0 * X[:, 0] + 2.0 * X[:, 1])).astype(float)
    given: Any = {"family": Binomial(), "how": "winsor"}
    known = found(standardized(X, y, Logistic(), offset=3.0 * X[:, 0], **given))
    unknown = found(standardized(X, y, Logistic(), **given))
    assert set(known.best.support) == {1}
    assert set(unknown.best.support) == {0, 1}


def test_groups_enter_as_a_whole() -> None:
    groups = np.array([0, 0, 0, 1, 2, 2, 3, 4])
    for seed in range(4):
        models = found(problem(seed, groups=groups), 4).models
        assert {1, 2, 3, 4} <= models.keys()
        for size, model in models.items():
            chosen = np.unique(groups[model.support])
            assert len(chosen) == size
            assert set(model.support) == set(np.flatnonzero(np.isin(groups, chosen)))
        # The first group tells the classes apart.
        assert set(models[1].support) == {0, 1, 2}


@pytest.mark.parametrize("flips", [0.0, 0.1])
def test_models_do_not_depend_on_the_sizes_that_are_asked_for(flips: float) -> None:
    for seed in range(3):
        data = problem(seed, n=120, d=40, flips=flips)
        automatic = found(data)
        last = max(automatic.values)
        for wanted in ((2,), (last, 1), (last + 3,), (4, last + 1, last + 6)):
            asked = found(data, *wanted)
            assert asked.values == automatic.values
            assert_same(asked, automatic, automatic.models)
            assert set(wanted) <= asked.models.keys()
        assert_same(found(data, last + 3), found(data, last + 1, last + 6), range(last + 4))


def test_sizes_beyond_the_path_hold_as_many_terms() -> None:
    data = problem(0, n=120, d=40)
    models = found(data, 35).models
    assert list(models) == list(range(36))
    for size, model in models.items():
        assert len(np.unique(model.support)) == size
        assert np.isfinite(model.coef).all()


def test_terms_that_repeat_others_fill_up() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = (rng.random(100) < expit(2.0 * X[:, 0])).astype(float)
    twice = np.column_stack([X, X])
    data = standardized(twice, y, Logistic(), family=Binomial(), how="winsor")
    models = found(data, 6).models
    assert len(models[6].support) == 6
    np.testing.assert_array_equal(models[6].coef, models[3].coef)


def test_sets_of_others_are_looked_at() -> None:
    """No set is worse for them."""
    for seed in range(3):
        data = problem(seed, d=40)
        alone, helped = found(data), found(data, sets=(np.array([0, 1, 2]),))
        assert misfit(data, helped.models[3].support) < misfit(data, [0, 1, 2]) + CLOSE
        assert helped.values[3] < alone.values[3] + CLOSE


def test_without_an_intercept_the_smallest_model_is_empty() -> None:
    models = found(problem(0, intercept=False)).models
    assert not models[0].coef.any()
    assert set(models[3].support) == {0, 1, 2}


def clustered(labels: Array) -> tuple[Standardized, Indices, Refit]:
    """Rows of which the last are copies of one to which the model gives a probability of 0.9, with labels."""
    rng = np.random.default_rng(0)
    n, copies = 100, len(labels)
    X = rng.normal(size=(n, 3))
    X[-copies:] = [np.log(9.0), 0.0, 0.0]
    y = (rng.random(n) < expit(X[:, 0])).astype(float)
    y[-copies:] = labels
    data = standardized(X, y, Logistic(), family=Binomial(), how="winsor")
    clusters = np.where(np.arange(n) >= n - copies, 0, -1)
    ones = np.ones(n)
    refit = Refit(np.ones(1), 1.0, ones, np.eye(1), pearson(y, X[:, 0]), True, 1)
    return data, clusters, refit


@pytest.mark.parametrize(
    ("events", "whole"), [(0, False), (5, False), (15, True), (18, True), (20, True)]
)
def test_a_cluster_counts_in_full_if_its_labels_are_to_be_expected(
    events: int, whole: bool
) -> None:
    """Of 20 rows with a probability of 0.9, 18 are to be expected, give or take 4 in three standard deviations."""
    data, clusters, refit = clustered((np.arange(20) < events).astype(float))
    out = contradicting(data, clusters, refit)
    assert not out[:80].any()
    shares = cluster_shares(clusters, out)
    assert shares[80:].sum() == pytest.approx(20.0 if whole else 1.0)
    assert (shares[:80] == 1.0).all()


def test_residuals_beyond_all_bounds_are_no_accident() -> None:
    """Warnings are errors: the squares of the largest residuals have squares that are no numbers."""
    data, clusters, refit = clustered(np.zeros(20))
    refit.resid[-20:] = -np.exp(300.0)
    assert contradicting(data, clusters, refit)[-20:].all()
    refit.resid[-20:] = -np.exp(-300.0)
    assert not contradicting(data, clusters, refit).any()


def copied(seed: int, copies: int) -> tuple[Array, Array, Array]:
    """Rows with labels, the first of them near-copies of one of which the class is nearly sure."""
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(300, 20)), np.zeros(20)
    coef[:3] = 1.5
    X[0] = np.where(coef != 0, 0.6, 0.0)
    X[:copies] = X[0] + 0.01 * rng.normal(size=(copies, 20))
    return X, (rng.random(300) < expit(X @ coef)).astype(float), coef


def test_copies_with_the_wrong_label_count_like_one_row() -> None:
    """Beside the same rows without them."""
    for seed in range(4):
        X, y, coef = copied(seed, 40)
        y[:40] = 0.0
        fit = rs.rht_fit(X, y, family="binomial", k=3, n_jobs=1)
        rest = rs.rht_fit(X[39:], y[39:], family="binomial", k=3, n_jobs=1)
        assert set(np.flatnonzero(fit.params.iloc[1:])) == set(np.flatnonzero(coef))
        np.testing.assert_allclose(fit.params, rest.params, atol=0.02)


def test_copies_with_labels_to_be_expected_count_in_full() -> None:
    """The probability there is that of their labels, and not what the other rows say."""
    misses = []
    for seed in range(6):
        X, y, _ = copied(seed, 60)
        fits = [
            rs.rht_fit(X[first:], y[first:], family="binomial", k=3, n_jobs=1) for first in (0, 59)
        ]
        misses.append([abs(fit.predict(X[:60]).mean() - y[:60].mean()) for fit in fits])
    whole, once = np.mean(misses, axis=0)
    assert whole < 0.8 * once
