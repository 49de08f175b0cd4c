"""What can be asked of a model that was made to predict."""

from pathlib import Path

import numpy as np
import pytest

import robustsparse as rs


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=100, d=15, k=4, sigma=1.0, epsilon=0.1, rng=3)


@pytest.fixture(scope="module")
def fit(sim: rs.simulate.Simulation) -> rs.RHTResult:
    return rs.rht("y ~ .", sim.data, select="ebic", goal="predict", n_jobs=1)


def test_the_summary_says_how_it_was_shrunken(fit: rs.RHTResult) -> None:
    head = dict(fit.summary().head)
    assert head["Estimates"] == "shrunken for prediction"
    assert head["Selected (k)"] == f"{fit.k}, robust CV"
    text = " ".join(str(fit.summary()).split())
    assert (
        "an elastic net or a ridge on the rows that are trusted, chosen with its penalty by" in text
    )
    assert "There are no standard errors" in text
    assert list(fit.summary().table.columns) == ["Estimate"]


def test_there_are_no_standard_errors(fit: rs.RHTResult) -> None:
    assert fit.cov is None
    with pytest.raises(rs.ParameterError, match="goal='select'"):
        fit.conf_int()


def test_path_and_errors_are_by_the_number_of_terms(fit: rs.RHTResult) -> None:
    assert fit.cv is not None
    assert list(fit.cv.index) == list(fit.path.columns)
    assert fit.cv["value"].idxmin() == fit.k == len(fit.support())
    assert ((fit.path != 0).sum() == fit.path.columns).all()
    assert (fit.cv["se"] > 0).all()
    fit.plot_path()
    fit.plot_cv()


def test_it_is_stored(fit: rs.RHTResult, sim: rs.simulate.Simulation, tmp_path: Path) -> None:
    fit.save(tmp_path / "model.rs")
    again = rs.load(tmp_path / "model.rs")
    assert str(again.summary()) == str(fit.summary())
    np.testing.assert_array_equal(again.predict(sim.data), fit.predict(sim.data))


def test_copies_are_stored(sim: rs.simulate.Simulation, tmp_path: Path) -> None:
    data = sim.data.assign(twin=sim.data[sim.support()[0]])
    fit = rs.rht("y ~ .", data, select="ebic", k=4, n_jobs=1)
    assert "twin" in str(fit.copies)
    fit.save(tmp_path / "model.rs")
    assert rs.load(tmp_path / "model.rs").copies == fit.copies


def test_it_is_repeated_with_its_goal(fit: rs.RHTResult, sim: rs.simulate.Simulation) -> None:
    table = fit.conf_int(method="bootstrap", data=sim.data, resamples=6, rng=1, n_jobs=1)
    true = table.loc[sim.support()]
    assert (true["frequency"] > 0.8).all()
    # Intervals of split halves are those of a robust regression on the terms that the other half found.
    halves = fit.conf_int(method="split", data=sim.data, rng=1, n_jobs=1)
    assert (halves["high"] > halves["low"]).any()


def test_the_answer_does_not_depend_on_threads(sim: rs.simulate.Simulation) -> None:
    one, two = (
        rs.rht("y ~ .", sim.data, select="ebic", goal="predict", n_jobs=jobs) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.params, two.params)


def with_far_rows(n: int, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose last tenth is far out: cases of another kind, told by columns of their own, or errors."""
    rng = np.random.default_rng(seed)
    directions = np.random.default_rng(0).normal(size=(4, 60))
    factors = rng.normal(size=(n, 4))
    factors[:, 3] = 0.0
    far = slice(n - n // 10, n)
    if kind == "another kind":
        factors[far, 3] = 8.0 + rng.normal(size=n // 10)
    X = factors @ directions + 0.2 * rng.normal(size=(n, 60))
    y = factors @ [2.0, -1.0, 1.0, 2.0] + 0.5 * rng.normal(size=n)
    if kind == "errors":
        X[far] *= 12.0
        y[far] *= -12.0
    return X, y


@pytest.mark.parametrize(("kind", "let_in"), [("another kind", True), ("errors", False)])
def test_far_rows_are_let_in_if_nobody_is_predicted_worse(kind: str, let_in: bool) -> None:
    counts = []
    for seed in range(4):
        X, y = with_far_rows(100, kind, seed)
        fit = rs.rht_fit(X, y, goal="predict", n_jobs=1)
        assert set(range(90, 100)) <= set(fit.outliers("leverage"))
        counts.append(float(fit.row_weights.iloc[90:].mean()))
        new, truth = with_far_rows(100, kind, 100 + seed)
        near = np.abs(truth - fit.predict(new))[:90]
        assert np.median(near) < 0.8
    assert (np.median(counts) > 0.5) == let_in
