"""The steps that are shown are those on all columns, however they were found."""

from dataclasses import replace

import numpy as np
import pytest

from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.types import Array, Mask
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.fit import shown
from robustsparse.regression.fit.options import Options, make_options
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian


def problem(seed: int, noise: float = 0.3, n: int = 150, d: int = 300) -> tuple[Standardized, Mask]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, [4, 70, 200]].sum(axis=1) + noise * rng.normal(size=n)
    used = rng.random(n) < 0.9
    X[~used] *= 1e3
    one = standardized(X, y, Squared(), family=Gaussian(), how="mad")
    return replace(one, weights=rng.uniform(0.5, 1.0, n)), used


def model_of(one: Standardized, used: Mask, columns: list[int]) -> RHTFit:
    """Weighted least squares on some columns and the intercept."""
    part, every = one.rows(used), [*columns, len(one.XT) - 1]
    assert part.weights is not None
    root = np.sqrt(part.weights)
    coef = np.zeros(len(one.XT))
    A = root[:, None] * part.columns(np.array(every))
    coef[every] = np.linalg.lstsq(A, root * part.y, rcond=None)[0]
    return RHTFit(coef, np.array(columns, dtype=int), 0.0, True, "settled", 0.0, ())


def of_all_columns(
    one: Standardized, used: Mask, model: RHTFit, options: Options, monkeypatch: pytest.MonkeyPatch
) -> RHTFit:
    with monkeypatch.context() as patch:
        patch.setattr(shown, "_on_its_columns", lambda *_: None)
        return shown.shown_run(one, used, model, options)


def assert_same(run: RHTFit, other: RHTFit) -> None:
    assert run.history == other.history
    assert (run.reason, run.converged, run.loss) == (other.reason, other.converged, other.loss)
    np.testing.assert_array_equal(run.coef, other.coef)


@pytest.fixture
def options() -> Options:
    return make_options(Arguments())


def test_a_clear_model_is_proved_on_its_own_columns(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(5):
        one, used = problem(seed)
        model = model_of(one, used, [4, 70, 200])
        settings = replace(options.settings, max_iter=3)
        own = shown._on_its_columns(one.seeing(used), model, options.estimator.lighter(), settings)
        assert own is not None
        run = shown.shown_run(one, used, model, options)
        assert_same(run, of_all_columns(one, used, model, options, monkeypatch))


@pytest.mark.parametrize("columns", [[4, 70], [4, 70, 200, 250], [9]])
def test_what_cannot_be_proved_is_run_on_all_columns(
    columns: list[int], options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, used = problem(1)
    before: Array = one.XT.copy()
    model = model_of(one, used, columns)
    estimator = options.estimator.lighter()
    assert shown._on_its_columns(one.seeing(used), model, estimator, options.settings) is None
    run = shown.shown_run(one, used, model, options)
    assert_same(run, of_all_columns(one, used, model, options, monkeypatch))
    np.testing.assert_array_equal(one.XT, before)


def test_a_model_without_terms_has_no_looks(options: Options) -> None:
    one, used = problem(2)
    run = shown.shown_run(one, used, model_of(one, used, []), options)
    assert not len(run.support)
