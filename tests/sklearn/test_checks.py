"""All estimators pass the checks of scikit-learn."""

from typing import Any

import pytest
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from robustsparse.sklearn import RHTClassifier, RHTRegressor, RobustGraph, TrustedRows

ESTIMATORS = [
    RHTRegressor(),
    RHTRegressor(goal="select"),
    RHTRegressor(na_action="impute"),
    RHTClassifier(),
    TrustedRows(Ridge()),
    TrustedRows(LogisticRegression()),
    # Takes no weights.
    TrustedRows(KNeighborsRegressor(n_neighbors=2)),
    RobustGraph(),
]
# Others whose own fit is the same for a row of weight two and for the same row twice.
MORE = [
    RHTClassifier(goal="select"),
    RHTRegressor(estimator="mom"),
    TrustedRows(LinearRegression()),
    TrustedRows(Lasso(alpha=0.01)),
    TrustedRows(DecisionTreeRegressor(random_state=0)),
    TrustedRows(RidgeClassifier()),
    TrustedRows(KNeighborsClassifier(n_neighbors=2)),
]


# The checks fit noise, constant columns and a handful of rows, of which the package warns.
@pytest.mark.filterwarnings("ignore::robustsparse.base.errors.RobustSparseWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::robustsparse.base.errors.RobustSparseWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.parametrize("estimator", MORE, ids=str)
@pytest.mark.parametrize(
    "check",
    [
        check_sample_weight_equivalence_on_dense_data,
        check_sample_weight_equivalence_on_sparse_data,
    ],
)
def test_a_row_of_weight_two_is_the_row_twice(estimator: Any, check: Any) -> None:
    check(type(estimator).__name__, estimator)
