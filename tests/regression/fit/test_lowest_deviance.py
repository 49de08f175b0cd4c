"""Runs of Algorithm 1 on two classes, which trimming lets run away, end at the lowest robust deviance of their path."""

from pathlib import Path

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.algorithm.gradients import Trimmed
from robustsparse.algorithm.losses import Logistic
from robustsparse.algorithm.solver import solve
from robustsparse.base.types import Array
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.binomial import Binomial
from robustsparse.regression.fit.as_printed import thresholded_fit
from robustsparse.regression.fit.lowest_deviance import LowestDeviance
from robustsparse.regression.fit.options import make_options
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.result import RHTResult

SEEDS = range(700, 706)
# Standard deviation of the linear predictor of the simulated data, and its l2 norm.
SIGNAL = 2.5
# Deviances of points that are one part in a hundred apart.
CLOSE = 0.1


def classes(seed: int, attack: str | None = None) -> tuple[Array, Array, Array]:
    """300 rows, 100 columns, 5 of which tell the classes apart; 30 rows wrong if they are to be."""
    rng = np.random.default_rng(seed)
    X, beta = rng.normal(size=(300, 100)), np.zeros(100)
    size = rng.choice([-1.0, 1.0], 5) * rng.uniform(0.5, 1.5, 5)
    beta[rng.choice(100, 5, replace=False)] = SIGNAL * size / np.linalg.norm(size)
    y = (rng.random(300) < 1.0 / (1.0 + np.exp(-X @ beta))).astype(float)
    if attack == "flips":
        y[:30] = 1.0 - y[:30]
    if attack == "leverage":
        X[:30] *= 10.0
        y[:30] = X[:30] @ beta < 0
    return X, y, beta


def fitted(seed: int, attack: str | None = None, **arguments: object) -> tuple[RHTResult, float]:
    """A fit without refit, and its error."""
    X, y, beta = classes(seed, attack)
    fit = rs.rht_fit(X, y, family="binomial", k=5, refit=False, n_jobs=1, **arguments)  # type: ignore[arg-type]
    return fit, float(np.linalg.norm(fit.params.iloc[1:] - beta))


def prepared(seed: int) -> Standardized:
    X, y, _ = classes(seed)
    return standardized(X, y, Logistic(), family=Binomial(), how="winsor")


@pytest.mark.parametrize(("attack", "worst"), [(None, 1.1), ("flips", 1.6), ("leverage", 1.6)])
def test_the_estimate_is_better_than_none(attack: str | None, worst: float) -> None:
    """Zero has an error of 2.5; without the stop the means are 6.8, 2.2 and 1.9."""
    errors = [fitted(seed, attack)[1] for seed in SEEDS]
    assert np.mean(errors) < worst


def test_clean_coefficients_have_the_right_size() -> None:
    sizes = [np.linalg.norm(fitted(seed)[0].params.iloc[1:]) for seed in SEEDS]
    assert 0.8 * SIGNAL < np.mean(sizes) < 1.25 * SIGNAL


def test_the_result_says_so() -> None:
    fit, _ = fitted(700)
    assert fit.reason == "taken back"
    start, end = fit.made.taken_back
    assert start > 2.0 * end
    assert dict(fit.summary().head)["Iterations"] == f"{fit.n_iter}, taken back"
    assert any(f"norm {end:.3g}" in note for note in fit.summary().notes)


def test_a_stored_fit_says_it_too(tmp_path: Path) -> None:
    fit, _ = fitted(700)
    fit.save(tmp_path / "fit")
    back = rs.load(tmp_path / "fit")
    assert (back.reason, back.made.taken_back) == (fit.reason, fit.made.taken_back)


@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_a_step_of_the_users_own_runs_as_printed() -> None:
    problem = prepared(701)
    asked = Arguments(
        family="binomial", estimator=Trimmed(0.1), k=5, step=2.0, refit=False, n_jobs=1
    )
    options = make_options(asked)
    printed = thresholded_fit(problem, options, [5], chosen=False).solution
    bound = problem.problem(options.estimator)
    plain = solve(bound, 5, keep=problem.keep, settings=options.settings, warn=False)
    np.testing.assert_array_equal(printed.coef, plain.coef)
    assert printed.ran_to is None


def test_a_gradient_that_trims_nothing_is_left_where_it_ends() -> None:
    reasons = [fitted(seed, estimator="mean")[0].reason for seed in SEEDS]
    assert reasons == ["settled"] * len(SEEDS)


def test_no_point_on_the_way_has_a_lower_deviance() -> None:
    problem = prepared(702)
    bound, options = problem.problem(Trimmed(0.1)), make_options(Arguments(family="binomial"))
    seen: list[Array] = []
    lowest = LowestDeviance(problem)

    def look(coef: Array) -> None:
        seen.append(coef)
        lowest(coef)

    settings = options.settings
    fit = solve(bound, 5, keep=problem.keep, settings=settings, callback=look, warn=False)

    def deviance(coef: Array) -> float:
        return float(problem.family.robust_deviance(problem.y, problem.predictor(coef)).sum())

    end = lowest.end(bound, fit)
    on_the_way = [deviance(part * coef) for coef in seen for part in np.linspace(0.02, 1.0, 50)]
    assert deviance(end.coef) < min(on_the_way) + CLOSE
    assert deviance(fit.coef) > deviance(end.coef) + 10.0
    np.testing.assert_array_equal(np.sort(end.support), np.flatnonzero(end.coef[:-1]))


def test_all_models_of_a_path_are_taken_back() -> None:
    X, y, _ = classes(703)
    fit = rs.rht_fit(X, y, family="binomial", k=[3, 5, 8], refit=False, n_jobs=1)
    assert (np.linalg.norm(fit.path, axis=0) < 2.0 * SIGNAL).all()


def test_weights_and_offset_count() -> None:
    """Rows of next to no weight, all with the wrong label, change nothing."""
    X, y, beta = classes(704)
    wrong = np.concatenate([y, 1.0 - y[:100]])
    weights = np.concatenate([np.ones(300), np.full(100, 1e-9)])
    fit = rs.rht_fit(
        np.vstack([X, X[:100]]), wrong, family="binomial", k=5, refit=False,
        weights=weights, offset=np.zeros(400), estimator=Trimmed(0.05), n_jobs=1,
    )  # fmt: skip
    assert np.linalg.norm(fit.params.iloc[1:] - beta) < 1.5
