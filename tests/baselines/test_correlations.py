"""Correlation matrices of ranks and of trimmed products, and the nonparanormal transformation."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from robustsparse.base.errors import ParameterError
from robustsparse.baselines import nonparanormal
from robustsparse.baselines.correlations import (
    covariance_of,
    kendall_correlation,
    mad_scales,
    pearson,
    positive_definite,
    spearman_correlation,
    trimmed_covariance,
    with_variance,
)

Array = NDArray[np.float64]

REFERENCE = Path(__file__).parents[1] / "reference"
# The reference is written with twelve digits.
DIGITS = 1e-10
ROUNDING = 1e-12


def reference_data() -> pd.DataFrame:
    return pd.read_csv(REFERENCE / "graph_baselines_data.csv")


def reference_matrix(method: str) -> Array:
    table = pd.read_csv(REFERENCE / "graph_baselines.csv")
    table = table[table["method"] == method]
    return table.pivot(index="i", columns="j", values="value").to_numpy()


def test_spearman_equals_huge() -> None:
    ours = spearman_correlation(reference_data().to_numpy())
    np.testing.assert_allclose(ours, reference_matrix("skeptic_spearman"), atol=DIGITS)


def test_kendall_equals_r_with_ties() -> None:
    data = reference_data()
    assert data["x7"].nunique() < len(data)
    ours = kendall_correlation(data.to_numpy())
    np.testing.assert_allclose(ours, reference_matrix("skeptic_kendall"), atol=DIGITS)


@pytest.mark.parametrize("method", ["shrinkage", "truncation"])
def test_nonparanormal_equals_huge(method: str) -> None:
    data = reference_data()
    ours = nonparanormal(data, method=method)
    theirs = pd.DataFrame(reference_matrix(f"npn_{method}"), columns=data.columns)
    # huge scales all columns by the first, which is not the scale of a column with ties.
    np.testing.assert_allclose(ours, theirs / theirs.std(), atol=DIGITS)
    untied = data.columns[data.nunique() == len(data)]
    assert len(untied) >= 10
    np.testing.assert_allclose(ours[untied], theirs[untied], atol=DIGITS)


def test_nonparanormal_keeps_labels_and_knows_its_methods() -> None:
    data = reference_data().set_axis([f"row{i}" for i in range(60)])
    data.loc["row3", "x5"] = np.nan
    made = nonparanormal(data)
    assert "row3" not in made.index
    assert made.index.equals(data.index.drop("row3"))
    assert list(made.columns) == list(data.columns)
    with pytest.raises(ParameterError, match="method='rank'"):
        nonparanormal(data, method="rank")


@pytest.mark.parametrize("measure", [spearman_correlation, kendall_correlation])
def test_ranks_estimate_the_correlation_of_a_copula(measure) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.6], [0.6, 1.0]], size=1500)
    bent = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3])
    # Standard errors are about 0.02.
    assert measure(bent)[0, 1] == pytest.approx(0.6, abs=0.06)
    np.testing.assert_allclose(measure(bent), measure(X), atol=ROUNDING)


@pytest.mark.parametrize("measure", [pearson, spearman_correlation, kendall_correlation])
def test_constant_columns_are_uncorrelated(measure) -> None:  # type: ignore[no-untyped-def]
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 1] = 0.1
    S = measure(X)
    np.testing.assert_array_equal(S[1], [0.0, 1.0, 0.0])
    assert abs(S[0, 2]) > 0


def test_pearson_of_huge_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    np.testing.assert_allclose(pearson(X * 1e300), np.corrcoef(X.T), atol=ROUNDING)


def test_trimmed_products_by_hand() -> None:
    X = np.random.default_rng(1).normal(size=(20, 4))
    products = sorted(X[:, 1] * X[:, 3], key=abs)
    # A tenth of twenty rows: the two largest products are left out.
    assert trimmed_covariance(X, 0.1)[1, 3] == pytest.approx(np.mean(products[:18]))
    np.testing.assert_allclose(trimmed_covariance(X, 0.0), X.T @ X / 20, atol=ROUNDING)


def test_trimmed_products_bound_what_bad_rows_do() -> None:
    X = np.random.default_rng(1).normal(size=(200, 3))
    bad = X.copy()
    bad[:10] = 1e6
    assert np.abs(trimmed_covariance(bad, 0.05) - trimmed_covariance(X, 0.0)).max() < 0.2


def test_mad_scales_ignore_bad_rows_and_estimate_the_standard_deviation() -> None:
    X = np.random.default_rng(2).normal(scale=[1.0, 5.0], size=(2000, 2))
    X[:100] = 1e9
    np.testing.assert_allclose(mad_scales(X), [1.0, 5.0], rtol=0.15)
    assert mad_scales(np.zeros((5, 1)))[0] == 1.0


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_covariances_of_scales_whose_squares_are_no_numbers(unit: float) -> None:
    correlation = np.array([[1.0, 0.5], [0.5, 1.0]])
    found = covariance_of(correlation, unit * np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, [[0.25, 0.25], [0.25, 1.0]])


def test_the_scale_of_a_column_with_one_enormous_value() -> None:
    X = np.zeros((5, 1))
    X[4] = 5e300
    assert mad_scales(X)[0] == pytest.approx(2e300)


def test_repair_leaves_good_matrices_alone_and_keeps_variances() -> None:
    X = np.random.default_rng(3).normal(size=(4, 8))
    singular = np.cov(X.T)
    assert positive_definite(singular)[1] is False
    indefinite = np.array([[4.0, 3.8, -3.8], [3.8, 4.0, 3.8], [-3.8, 3.8, 4.0]])
    repaired, changed = positive_definite(indefinite)
    assert changed
    np.testing.assert_array_equal(np.diag(repaired), 4.0)
    assert np.linalg.eigvalsh(repaired)[0] > 0


def test_repair_of_a_nearly_good_matrix_hardly_changes_it() -> None:
    X = np.random.default_rng(3).normal(size=(12, 30))
    S = spearman_correlation(X)
    low = np.linalg.eigvalsh(S)[0]
    assert low < 0
    repaired, _ = positive_definite(S)
    assert np.abs(repaired - S).max() < 3 * abs(low)


def test_variables_without_variance() -> None:
    S = np.array([[4.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
    np.testing.assert_array_equal(
        with_variance(S), [[4.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 2.0]]
    )
