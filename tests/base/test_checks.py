"""Every bad argument ends in an error of ours that names it; good ones pass unchanged."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from robustsparse.base.checks import (
    as_matrix,
    as_rng,
    as_vector,
    check_choice,
    check_count,
    check_finite_columns,
    check_number,
)
from robustsparse.base.errors import DataError, ParameterError


class TestRng:
    def test_none_is_the_same_stream_each_time(self) -> None:
        assert as_rng(None).random() == as_rng(None).random()

    def test_generator_is_passed_through(self) -> None:
        rng = np.random.default_rng(3)
        assert as_rng(rng) is rng

    @pytest.mark.parametrize("bad", ["seed", -1, 1.5, object()])
    def test_bad_seeds(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="rng="):
            as_rng(bad)


class TestChoice:
    def test_member_passes(self) -> None:
        check_choice("family", "gaussian", ("gaussian", "binomial"))

    @pytest.mark.parametrize("bad", ["poisson", None, 3, ["gaussian"], np.array(["gaussian"] * 2)])
    def test_others_are_named_with_the_choices(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match=r"family=.*'gaussian', 'binomial'"):
            check_choice("family", bad, ("gaussian", "binomial"))


class TestNumber:
    @pytest.mark.parametrize("good", [0.25, 1, np.float32(0.5), np.int64(1), Fraction(1, 4)])
    def test_every_real_type_passes(self, good: Any) -> None:
        assert check_number("epsilon", good, 0.0, 1.0) == float(good)

    def test_zero_dimensional_arrays_are_numbers(self) -> None:
        assert check_number("epsilon", np.array(0.5), 0.0, 1.0) == 0.5

    @pytest.mark.parametrize(
        "bad",
        [-0.1, 1.1, np.nan, np.inf, "0.5", None, True, np.True_, 0.5j, [0.5], np.array([0.5])],
    )
    def test_all_else_is_named(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match=r"epsilon=.*\[0, 1\]"):
            check_number("epsilon", bad, 0.0, 1.0)

    def test_open_interval_excludes_its_end(self) -> None:
        assert check_number("step", 1e-300, 0.0, open_low=True) == 1e-300
        with pytest.raises(ParameterError, match=r"step=0 .*\(0, inf\)"):
            check_number("step", 0, 0.0, open_low=True)

    def test_infinity_is_not_a_number_to_work_with(self) -> None:
        with pytest.raises(ParameterError, match="radius=inf"):
            check_number("radius", np.inf, 0.0)


class TestCount:
    @pytest.mark.parametrize("good", [3, 3.0, np.int8(3), np.float64(3)])
    def test_whole_numbers_of_any_type(self, good: Any) -> None:
        count = check_count("k", good, 0)
        assert count == 3
        assert type(count) is int

    @pytest.mark.parametrize(
        "bad", [-1, 2.5, 11, np.nan, np.inf, "3", None, True, np.True_, [3], np.array([3])]
    )
    def test_all_else_is_named(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match=r"k=.* whole number from 0 to 10"):
            check_count("k", bad, 0, 10)

    def test_message_without_an_upper_end(self) -> None:
        with pytest.raises(ParameterError, match="k=inf must be a whole number of at least 1"):
            check_count("k", np.inf, 1)


class TestMatrix:
    def test_arrays_are_not_copied(self) -> None:
        X = np.ones((3, 2))
        assert as_matrix(X) is X

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32])
    def test_every_real_type_passes(self, dtype: Any) -> None:
        assert as_matrix(np.ones((3, 2), dtype)).dtype == dtype

    @pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
    def test_sparse_stays_sparse_and_can_be_cut_by_columns(self, make: Any) -> None:
        X = as_matrix(make(np.eye(3)))
        assert sparse.issparse(X)
        assert X[:, 1:2].toarray().ravel().tolist() == [0.0, 1.0, 0.0]

    def test_frames_lists_and_objects_become_numbers(self) -> None:
        expected = [[1.0, 2.0], [3.0, 4.0]]
        for X in (expected, pd.DataFrame(expected), np.array(expected, dtype=object)):
            assert as_matrix(X).tolist() == expected

    def test_masked_values_do_not_pass_as_numbers(self) -> None:
        X = np.ma.MaskedArray([[1.0, -999.0]], mask=[[False, True]])
        assert np.isnan(as_matrix(X)[0, 1])

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (np.ones(3), "1 dimension"),
            (np.ones((2, 2, 2)), "3 dimension"),
            (3.0, "0 dimension"),
            (None, "0 dimension"),
            (np.ones((0, 3)), "at least one row"),
            (np.ones((3, 0)), "at least one row"),
            (np.array([["a", "b"]]), "has type <U1"),
            (np.array([[1, 2], [3, "a"]], dtype=object), "first 'a' in row 1, column 1"),
            (np.ones((2, 2), complex), "complex"),
            (np.ones((2, 2), "datetime64[s]"), "has type datetime64"),
            (np.ones((2, 2), "timedelta64[s]"), "has type timedelta64"),
            ([[1.0, 2.0], [3.0]], "differ in length"),
        ],
    )
    def test_what_is_no_design(self, bad: Any, message: str) -> None:
        with pytest.raises(DataError, match=message):
            as_matrix(bad)


class TestVector:
    def test_result_is_a_new_float_array(self) -> None:
        y = np.array([1.0, 2.0])
        vector = as_vector("y", y, 2)
        assert vector.dtype == np.float64
        assert not np.shares_memory(vector, y)

    @pytest.mark.parametrize(
        "good",
        [
            [1, 0],
            [True, False],
            pd.Series([1, 0]),
            np.array([[1], [0]]),
            np.array([[1, 0]]),
            np.array([1, 0], dtype=object),
        ],
    )
    def test_shapes_and_types_that_mean_a_vector(self, good: Any) -> None:
        assert as_vector("y", good, 2).tolist() == [1.0, 0.0]

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ([1.0], "needs one value for each of the 2 rows"),
            (np.ones((2, 2)), "needs one value"),
            (None, "needs one value"),
            (1.0, "needs one value"),
            ([1.0, np.nan], r"1 missing or infinite value\(s\), the first in row 1 \(nan\)"),
            ([-np.inf, np.nan], r"2 missing or infinite value\(s\), the first in row 0 \(-inf\)"),
            ([1.0, None], "missing"),
            (np.ma.MaskedArray([1.0, -999.0], mask=[False, True]), "missing"),
            (["1", "b"], "first 'b' in row 1;"),
            ([1j, 2.0], "complex"),
            (np.ones(2, "datetime64[s]"), "has type datetime64"),
            ([[1.0, 2.0], [3.0]], "differ in length"),
        ],
    )
    def test_what_is_no_response(self, bad: Any, message: str) -> None:
        with pytest.raises(DataError, match=message) as error:
            as_vector("weights", bad, 2)
        assert str(error.value).startswith("weights ")


class TestFiniteColumns:
    def test_finite_values_pass(self) -> None:
        check_finite_columns(np.array([[1.0, -2.0], [0.0, 1e100]]), 0, ["a", "b"])
        check_finite_columns(np.zeros((0, 3)), 0, [])

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_column_row_and_count_are_named(self, bad: float) -> None:
        block = np.zeros((3, 5))
        block[1, [2, 4]] = bad
        with pytest.raises(DataError, match=r"column 'd' .* 2 missing .* row 2 \((nan|-?inf)\)"):
            check_finite_columns(block, 2, ["a", "b", "c", "d", "e"])

    def test_opposite_infinities_are_found_without_a_numpy_warning(self) -> None:
        with pytest.raises(DataError, match="column 'a'"):
            check_finite_columns(np.array([[np.inf, -np.inf]]), 0, ["a"])


class TestRange:
    @pytest.mark.parametrize("bad", [1.7e308, -1.7e308])
    def test_numbers_too_large_to_compute_with_are_named(self, bad: float) -> None:
        with pytest.raises(DataError, match=r"y: -?1\.7e\+308 is too large"):
            as_vector("y", [0.0, bad, 1.0], 3)
        block = np.array([[0.0, 1.0, 2.0], [1.0, bad, -bad]])
        with pytest.raises(DataError, match=r"'b'.*2 value\(s\) too large.*row 7"):
            check_finite_columns(block, 0, ["a", "b"], np.array([5, 7, 8]))

    def test_large_numbers_pass(self) -> None:
        values = np.array([[1e302, -1e302, 5e-324]])
        check_finite_columns(values, 0, ["a"])
        assert as_vector("y", values[0], 3).tolist() == values[0].tolist()


HUGE = 10**400
ENDLESS = 10**9999


class TestNumbersThatAreNoFloats:
    def test_arguments(self) -> None:
        for value in (HUGE, -HUGE, ENDLESS):
            with pytest.raises(ParameterError, match="k="):
                check_count("k", value, 0)
            with pytest.raises(ParameterError, match="tol="):
                check_number("tol", value, 0.0)
            with pytest.raises(ParameterError, match="family="):
                check_choice("family", value, ("a", "b"))
        with pytest.raises(ParameterError, match="rng="):
            as_rng(-ENDLESS)

    def test_arrays(self) -> None:
        for value in (HUGE, ENDLESS):
            with pytest.raises(DataError, match="row 1"):
                as_vector("y", [1, value], 2)
            with pytest.raises(DataError, match="row 0, column 1"):
                as_matrix([[1, value], [2, 3]])


@pytest.mark.parametrize(("value", "meant"), [(95, "did you mean 0.95"), (250, r"\(0, 1\]\.$")])
def test_a_percentage_is_taken_for_one(value: float, meant: str) -> None:
    with pytest.raises(ParameterError, match=meant):
        check_number("level", value, 0.0, 1.0, open_low=True)
