"""Inputs that once ended in an error of someone else, or in a fit that was no number."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs

N = 40
RNG = np.random.default_rng(3)
X = RNG.standard_normal((N, 4))
Y = 3 * X[:, 0] + RNG.standard_normal(N)
LABELS = np.where(Y > 0, "u", "v")
DATA = pd.DataFrame(X, columns=list("abcd")).assign(y=Y, label=LABELS)
PLAIN = DATA.drop(columns="label")


def largest(values: np.ndarray) -> np.ndarray:
    """The same values, with the largest just below the end of the range of numbers."""
    return values / np.abs(values).max() * 1.7e308


def one_cell(column: str, value: Any) -> pd.DataFrame:
    frame = PLAIN.astype({column: object})
    frame.loc[3, column] = value
    return frame


REFUSED: dict[str, Any] = {
    "keep by number": lambda: rs.rht("y ~ .", PLAIN, keep=[0]),
    "keep is a number": lambda: rs.rht("y ~ .", PLAIN, keep=0),
    "keep of lists": lambda: rs.rht("y ~ .", PLAIN, keep=[["a"]]),
    "huge cell": lambda: rs.rht("y ~ .", one_cell("a", 10**400)),
    "huge response": lambda: rs.rht("y ~ .", one_cell("y", 10**400)),
    "huge new cell": lambda: rs.rht("y ~ a", PLAIN).predict(one_cell("a", 10**400)),
    "huge weight": lambda: rs.rht("y ~ .", PLAIN, weights=[10**400] + [1] * (N - 1)),
    "huge offset": lambda: rs.rht("y ~ .", PLAIN, offset=[10**400] + [1] * (N - 1)),
    "huge k": lambda: rs.rht("y ~ .", PLAIN, k=10**400),
    "endless k": lambda: rs.rht("y ~ .", PLAIN, k=10**9999),
    "huge entry": lambda: rs.rht_fit(np.full((N, 2), 10**400, dtype=object), Y),
    "weights": lambda: rs.rht("y ~ .", PLAIN, weights=np.full(N, 1e308)),
    "weights of arrays": lambda: rs.rht_fit(X, Y, weights=np.full(N, 1e308)),
    "signs": lambda: rs.rht("y ~ {" + "-" * 5000 + "a}", PLAIN),
    "stars": lambda: rs.rht("y ~ a " + "*" * 5000 + " b", PLAIN),
    "largest classes": lambda: rs.rht_fit(largest(X), LABELS, family="binomial"),
    "largest": lambda: rs.rht_fit(largest(X), Y),
    "largest response": lambda: rs.rht_fit(X, largest(Y)),
    "largest response of a frame": lambda: rs.rht("y ~ .", PLAIN.assign(y=largest(Y))),
    "largest offset": lambda: rs.rht_fit(X, Y, offset=largest(Y)),
    "largest column": lambda: rs.rht("y ~ .", PLAIN.assign(a=largest(X[:, 0]))),
    "one largest cell": lambda: rs.rht("y ~ .", PLAIN.assign(a=[1.7e308, *X[1:, 0]])),
    "denormal": lambda: rs.rht_fit(X * 1e-310, Y),
    "denormal column": lambda: rs.rht_fit(np.c_[X[:, 0] * 5e-324, X[:, 1:]], Y),
    "denormal frame": lambda: rs.rht("y ~ .", PLAIN.assign(a=X[:, 0] * 1e-320)),
    "denormal, as printed": lambda: rs.rht_fit(X * 1e-310, Y, k=1, refit=False),
    "denormal, blocks": lambda: rs.rht_fit(X * 1e-310, Y, estimator="mom"),
    "small beside large": lambda: rs.rht_fit(X * 1e-200, Y * 1e200),
    "fitted values too large": lambda: rs.rht_fit(
        np.r_[[[1e160]], X[1:, :1]], Y * 1e150, keep=[0], intercept=False
    ),
    "text for a graph": lambda: GRAPH.roc(np.full((4, 4), "a")),
    "text for a mean": lambda: rs.mean_roc("abc"),
    "number for a mean": lambda: rs.mean_roc(3),
    "text to draw": lambda: rs.plot_roc("abc"),
    "texts to draw": lambda: rs.plot_roc({"a": "abc"}),
}
GRAPH = rs.robust_ns(X, k=1)


@pytest.mark.filterwarnings("ignore:the model may be wrong")
@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_our_words(case: str) -> None:
    with pytest.raises(rs.RobustSparseError) as caught:
        REFUSED[case]()
    assert max(map(len, str(caught.value).splitlines())) < 600


FITTED: dict[str, Any] = {
    "signs between terms": lambda: rs.rht("y ~ a " + "-" * 5000 + " b", PLAIN),
    "another order of bytes": lambda: rs.rht("y ~ .", PLAIN.astype(">f8"), weights=ZERO_FIRST),
    "whole numbers likewise": lambda: rs.rht(
        "y ~ .", (100 * PLAIN).astype(">i4"), weights=ZERO_FIRST
    ),
    "large": lambda: rs.rht_fit(X * 1e300, Y),
    "large response": lambda: rs.rht_fit(X, Y * 1e300),
    "small": lambda: rs.rht_fit(X * 1e-290, Y),
    "small response": lambda: rs.rht_fit(X, Y * 1e-320),
    "both small": lambda: rs.rht_fit(X * 1e-300, Y * 1e-300),
    "large classes": lambda: rs.rht_fit(X * 1e300, LABELS, family="binomial"),
    "start far out": lambda: rs.rht_fit(X, np.r_[Y[1:], 1e300], estimator="mean"),
    "large weights": lambda: rs.rht_fit(X, Y, weights=np.full(N, 1e300)),
    "small weights": lambda: rs.rht_fit(X, Y, weights=np.full(N, 1e-320)),
}
ZERO_FIRST = np.r_[0.0, np.ones(N - 1)]


@pytest.mark.filterwarnings("ignore:the model may be wrong")
@pytest.mark.parametrize("case", FITTED)
def test_what_can_be_fitted_is_all_numbers(case: str) -> None:
    fit = FITTED[case]()
    for values in (fit.params, fit.fittedvalues, fit.resid, fit.row_weights):
        assert np.isfinite(values).all()
    assert np.isfinite(fit.scale)


def test_the_order_of_bytes_does_not_matter() -> None:
    one = rs.rht("y ~ .", PLAIN, weights=ZERO_FIRST)
    two = rs.rht("y ~ .", PLAIN.astype(">f8"), weights=ZERO_FIRST)
    pd.testing.assert_series_equal(one.params, two.params, check_exact=True)
