"""The digest of a plan: what makes another run, and what does not."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array
from robustsparse.graph.options import Plan, Request, make_plan

X = np.random.default_rng(0).normal(size=(30, 4))


def plan(**asked: Any) -> Plan:
    request: dict[str, Any] = {
        "k": 1, "estimator": "trim", "rule": "or", "max_edges": None, "select": "ebic", "factors": 0,
        "screen": True, "epsilon": 0.1, "standardize": True, "step": "auto", "max_iter": None,
        "tol": None, "rng": 0, "n_jobs": 1, "verbose": False,
    }  # fmt: skip
    return make_plan(Request(**request | asked), *X.shape)


BASE = plan()
# Each value differs from that of the plan above, and nothing else does.
PARTS_DEPEND_ON: dict[str, Any] = {
    "ks": (1, 2),
    "estimator": rs.Trimmed(alpha=0.3),
    "factors": 1,
    "screen": False,
    "how": "mad",
    "settings": replace(BASE.settings, tol=2.0 * BASE.settings.tol),
    "seeds": BASE.seeds + 1,
    "draws": BASE.draws[::-1],
}
PARTS_DO_NOT_DEPEND_ON: dict[str, Any] = {
    "k": None,
    "along_path": True,
    "rule": "and",
    "max_edges": 3,
    "select": "stars",
    "threads": 2,
    "verbose": True,
}


@pytest.mark.parametrize("name", PARTS_DEPEND_ON)
def test_what_parts_depend_on_makes_another_run(name: str) -> None:
    assert replace(BASE, **{name: PARTS_DEPEND_ON[name]}).digest(X) != BASE.digest(X)


@pytest.mark.parametrize("name", PARTS_DO_NOT_DEPEND_ON)
def test_what_parts_do_not_depend_on_makes_no_other_run(name: str) -> None:
    assert replace(BASE, **{name: PARTS_DO_NOT_DEPEND_ON[name]}).digest(X) == BASE.digest(X)


def test_a_digest_knows_all_of_a_plan() -> None:
    assert {*PARTS_DEPEND_ON, *PARTS_DO_NOT_DEPEND_ON} == set(vars(BASE))


def test_other_data_make_another_run() -> None:
    changed = X.copy()
    changed[7, 2] = np.nextafter(changed[7, 2], 9.0)
    assert plan().digest(X.copy()) == BASE.digest(X)
    assert BASE.digest(changed) != BASE.digest(X)


@dataclass(frozen=True)
class Lookalike(Estimator):
    """An estimator with the fields of `Trimmed` and another gradient."""

    alpha: float = 0.2

    def __call__(self, X: Array, score: Array) -> Array:
        return np.median(X * score[:, None], axis=0)


def test_estimators_of_the_same_numbers_are_told_apart() -> None:
    ours, other = rs.Trimmed(alpha=0.2), Lookalike(alpha=0.2)
    assert vars(ours) == vars(other)
    assert plan(estimator=ours).digest(X) != plan(estimator=other).digest(X)


def test_seeds_of_an_estimator_are_told_apart() -> None:
    digests = [plan(estimator=rs.MedianOfMeans(5, rng=seed)).digest(X) for seed in (None, 1, 2)]
    assert len(set(digests)) == 3


def test_a_generator_of_an_estimator_is_not_known_by_its_place_in_memory() -> None:
    one, two = (plan(estimator=rs.MedianOfMeans(5, rng=np.random.default_rng(1))) for _ in "ab")
    assert one.digest(X) == two.digest(X)


def test_an_estimator_that_cannot_be_told_from_others_is_refused() -> None:
    class NoFields(Estimator):
        def __call__(self, X: Array, score: Array) -> Array:
            return np.median(X * score[:, None], axis=0)

    for estimator in (NoFields(), lambda X, score: X.T @ score):
        with pytest.raises(ParameterError, match="checkpoint= cannot tell"):
            plan(estimator=estimator).digest(X)
