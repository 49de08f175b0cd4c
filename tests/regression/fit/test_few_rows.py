"""Tall data: what is computed of a part of the rows at a time is what is computed of all of them together."""

from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.algorithm.losses import Squared
from robustsparse.base import row_slices
from robustsparse.regression.fit.few_rows import in_few_rows
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian
from robustsparse.robust.distances import robust_distances
from robustsparse.robust.mm import mm_regression

# Sums in another order, of some thousand rows.
ROUNDING = 1e-9


def split(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on a few thousand entries are many."""
    monkeypatch.setattr(row_slices, "_TOGETHER", 1 << 10)
    monkeypatch.setattr(row_slices, "_AT_A_TIME", 1 << 11)


def drawn(n: int = 3000, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two terms, a tenth of the responses far off and some rows far out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    y = 1.0 + X[:, 1] / X[:, 1].std() - X[:, 4] / X[:, 4].std() + 0.5 * rng.normal(size=n)
    y[: n // 10] += 12.0
    X[n // 20 : n // 8] *= 6.0
    return X, y


def problem(weighted: bool) -> Standardized:
    X, y = drawn()
    rng = np.random.default_rng(1)
    weights, offset = (rng.uniform(0.0, 2.0, len(y)), rng.normal(size=len(y)))
    given = {"weights": weights, "offset": offset} if weighted else {}
    return standardized(X, y, Squared(), family=Gaussian(), how="mad", **given)


def products(rows: Standardized) -> np.ndarray:
    """Inner products of all columns and the target, with the weights that rows have."""
    target = rows.y if rows.offset is None else rows.y - rows.offset
    block = np.column_stack([rows.columns(np.arange(len(rows.XT))), target])
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    return np.asarray((block * weights[:, None]).T @ block)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("part", [False, True])
def test_few_rows_have_the_same_inner_products(
    weighted: bool, part: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = problem(weighted)
    if part:
        rows = rows.seeing(np.arange(rows.n) % 3 > 0)
    assert in_few_rows(rows) is rows
    split(monkeypatch)
    few = in_few_rows(rows)
    assert few.n == len(rows.XT) + 1
    np.testing.assert_allclose(products(few), products(rows), rtol=0, atol=ROUNDING * rows.n)


def test_distances_of_few_rows_of_many_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = drawn()
    together = robust_distances(X)
    split(monkeypatch)
    np.testing.assert_array_equal(robust_distances(X), together)


def test_distances_of_tall_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = drawn(n=7000)
    together = robust_distances(X)
    split(monkeypatch)
    np.testing.assert_allclose(robust_distances(X), together, rtol=ROUNDING)


@pytest.mark.parametrize("prior", [None, np.linspace(0.0, 2.0, 3000)])
def test_regressions_of_tall_designs(
    prior: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = drawn()
    A = np.column_stack([X, np.ones(len(y))])
    together = mm_regression(A, y, prior_weights=prior, rng=0)
    split(monkeypatch)
    parts = mm_regression(A, y, prior_weights=prior, rng=0)
    for name in ("coef", "scale", "weights", "cov", "resid", "df"):
        np.testing.assert_allclose(getattr(parts, name), getattr(together, name), atol=ROUNDING)


@pytest.mark.parametrize(
    "asked", [{}, {"k": 3}, {"weights": True}, {"keep": ["x3"]}, {"intercept": False}]
)
def test_whole_fits_of_tall_designs(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = drawn()
    if "weights" in asked:
        asked = {"weights": np.random.default_rng(2).uniform(0.1, 2.0, len(y))}
    together = rs.rht_fit(X, y, n_jobs=1, **asked)
    split(monkeypatch)
    parts = rs.rht_fit(X, y, n_jobs=1, **asked)
    assert parts.support() == together.support()
    assert parts.outliers() == together.outliers()
    np.testing.assert_allclose(parts.params, together.params, atol=ROUNDING)
    np.testing.assert_allclose(parts.path, together.path, atol=ROUNDING)
    one, other = (fit.diagnostics["std_resid"] for fit in (parts, together))
    np.testing.assert_allclose(one, other, atol=1e3 * ROUNDING)
    # Models of other sizes and other standard errors come from the design once more.
    np.testing.assert_allclose(parts.coef(k=1), together.coef(k=1), atol=ROUNDING)
    for kind in ("sandwich", "hc3"):
        one, other = (fit.cov_params(cov=kind) for fit in (parts, together))
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_tables_of_rows_are_their_own() -> None:
    X, y = drawn(n=200)
    fit = rs.rht_fit(X, y, n_jobs=1)
    before = fit.coef(k=1)
    fit.diagnostics.loc[:, ["link", "fitted", "weight", "distance"]] = 0.0
    assert fit.coef(k=1).equals(before)
    assert (fit.diagnostics["resid"] != 0).any()
