"""All estimators pass the checks of scikit-learn."""

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustsparse.sklearn import RHTClassifier, RHTRegressor, RobustGraph, TrustedRows

# Rows are counted where they are judged, and where folds are dealt, so that two equal rows are not one of weight two.
REPEATED = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "robust scales and folds count rows",
)
ESTIMATORS = [
    RHTRegressor(),
    RHTRegressor(goal="select"),
    RHTRegressor(na_action="impute"),
    RHTClassifier(),
    TrustedRows(Ridge()),
    TrustedRows(LogisticRegression()),
    RobustGraph(),
]


# The checks fit noise, constant columns and a handful of rows, of which the package warns.
@pytest.mark.filterwarnings("ignore::robustsparse.base.errors.RobustSparseWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: REPEATED)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)
