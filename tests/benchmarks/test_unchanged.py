"""Whole fits of two versions are told apart."""

import warnings

import numpy as np

from benchmarks.unchanged import BAR, difference
from benchmarks.whole_fits import PROBLEMS, numbers, problem


def test_a_fit_equals_itself_and_differs_from_another() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, again, other = numbers(2), numbers(2), numbers(5)
    assert difference(one, again) == 0.0
    assert difference(one, other) > BAR


def test_numbers_that_are_lost_count() -> None:
    assert difference(np.array([1.0, np.nan]), np.array([1.0, 2.0])) == np.inf
    assert difference(np.array([1.0]), np.array([1.0, 2.0])) == np.inf
    assert difference(np.array([200.0, np.nan]), np.array([201.0, np.nan])) == 1 / 201


def test_problems_are_of_all_kinds() -> None:
    kinds = [problem(seed)[2] for seed in range(PROBLEMS)]
    for name in ("weights", "offset", "groups", "goal", "select", "estimator", "loss", "keep"):
        assert sum(name in asked for asked in kinds) >= 10, name
    assert sum(asked["family"] == "binomial" for asked in kinds) >= 50
