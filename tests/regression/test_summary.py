"""The summary of a fit: what it says, and that it fits its page."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.base.text import describe


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=60, d=12, k=3, attack="leverage", rng=1)


@pytest.fixture(scope="module")
def data(sim: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = sim.data.assign(g=rng.choice(["low & slow", "high_<5>"], len(sim.y)), one=1.0)
    frame["label"] = np.where(sim.y > 0, "up", "down")
    long = (
        "expression of AFFX-HUMISGF3A/M97935_MA_at, measured at the first visit, in 100% of cases"
    )
    frame = frame.rename(columns={"x1": long})
    frame.iloc[0, 2], frame.iloc[1, 3] = np.nan, np.inf
    return frame


FITS: dict[str, dict[str, Any]] = {
    "automatic": {},
    "plain": {"refit": False, "k": 3},
    "kept": {"keep": ["g"], "k": [1, 2, 3], "select": "cv"},
    "many terms": {"k": 12},
    "blocks": {"estimator": rs.MedianOfMeans(blocks=20), "k": 3, "loss": "huber"},
    "mean": {"estimator": "mean", "k": 2},
    "lambda": {"estimator": lambda X, s: np.median(X * s[:, None], axis=0), "k": 2},
    "no intercept": {"intercept": False, "k": 2},
}


@pytest.mark.parametrize("case", FITS)
@pytest.mark.filterwarnings("ignore::robustsparse.base.errors.RobustSparseWarning")
def test_every_summary_fits_its_page(case: str, data: pd.DataFrame) -> None:
    fit = rs.rht("y ~ . - label", data, **FITS[case])
    summary = fit.summary()
    lines = str(summary).splitlines()
    assert max(map(len, lines)) <= 80
    assert "1 missing, 1 infinite" in str(summary)
    assert "0x" not in str(summary)
    html, latex = summary._repr_html_(), summary.to_latex()
    for name in fit.support():
        if name in ("x5", "x6"):
            assert name in html
            assert name in latex
    assert "_<5>" not in html
    assert "low & slow" not in latex


@pytest.mark.parametrize("refit", [True, False])
def test_the_summary_of_classes_names_the_event(data: pd.DataFrame, refit: bool) -> None:
    fit = rs.rht("label ~ . - y", data, family="binomial", k=2, refit=refit)
    text = str(fit.summary())
    assert "up (against down)" in text
    assert "Dev. explained: " in text
    assert max(map(len, text.splitlines())) <= 80


def head(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.filterwarnings("ignore::robustsparse.base.errors.ConvergenceWarning")
def test_the_head_says_how_the_fit_was_made(sim: Any) -> None:
    fit = rs.rht("y ~ .", sim.data)
    text = head(str(fit.summary()))
    for says in (
        "Model: y ~ .", "Family: gaussian", "Loss: squared", "Gradient: 20% trimmed mean",
        "Rows: 67", "Rows dropped: 0", "Candidates: 12", "Selected (k): 3, robust criterion",
        "Estimates: robust refit", "settled", "Robust scale:", "Robust R²:", f"Flagged rows: {len(fit.outliers())}",
    ):  # fmt: skip
        assert says in text
    plain = rs.rht_fit(sim.X, sim.y, k=3, refit=False, epsilon=0.15, loss="huber")
    text = head(str(plain.summary()))
    for says in (
        "Model: array of 12 columns", "Huber, adaptive", "30% trimmed mean", "3, given",
        "Estimates: as thresholded",
    ):  # fmt: skip
        assert says in text
    blocks = rs.rht_fit(sim.X, sim.y, k=[2, 3], select="cv", estimator=rs.MedianOfMeans(blocks=30))
    assert "median of 30 block means" in head(str(blocks.summary()))
    assert "robust CV" in head(str(blocks.summary()))


def test_small_samples_are_told_their_degrees_of_freedom(sim: Any, data: pd.DataFrame) -> None:
    fit = rs.rht_fit(sim.X, sim.y, k=3)
    summary = fit.summary()
    assert list(summary.table)[-2:] == ["t", "p"]
    assert any(f"t has {fit.df_resid:.1f} degrees" in note for note in summary.notes)
    classes = rs.rht("label ~ . - y", data, "binomial", k=2).summary()
    assert list(classes.table)[-2:] == ["z", "p"]
    assert not any("degrees" in note for note in classes.notes)


@pytest.mark.filterwarnings("ignore::robustsparse.base.errors.ConvergenceWarning")
def test_the_body_lists_nonzero_terms_largest_first(sim: Any) -> None:
    fit = rs.rht("y ~ .", sim.data)
    lines = str(fit.summary()).splitlines()
    listed = [line.split()[0] for line in lines if line.startswith(("Intercept", "x"))]
    assert listed == ["Intercept", *fit.support()]
    without = str(rs.rht("y ~ .", sim.data, k=3, refit=False).summary())
    assert "Std. Error" not in without
    assert "conditional on" not in without


def test_notes_say_what_to_check() -> None:
    sim = rs.simulate.linear(n=100, d=10, k=3, attack=None, rng=0)
    X, y = sim.X.copy(), sim.y.copy()
    y[0] += 50.0
    X[1] *= 6.0
    y[1] = X[1] @ sim.beta
    X[2:5] *= 30.0
    y[2:5] = -X[2:5] @ sim.beta + 50.0
    text = head(str(rs.rht_fit(X, y).summary()))
    assert "1 row has a response that the model cannot explain; check 0." in text
    assert "1 row is far out in the predictors, though the model explains its response" in text
    assert "3 rows are far out in the predictors and have a response" in text
    assert "check 2, 3, 4." in text


def test_far_rows_that_count_for_less_are_counted() -> None:
    sim = rs.simulate.linear(n=100, d=10, k=3, attack=None, rng=0)
    X, y = sim.X.copy(), sim.y.copy()
    X[:4] *= np.array([6.0, 7.0, 8.0, 9.0])[:, None]
    y[:4] = X[:4] @ sim.beta
    fit = rs.rht_fit(X, y)
    weight = fit.row_weights[fit.outliers("leverage")]
    less, out = int(((weight > 0) & (weight < 0.5)).sum()), int((weight == 0).sum())
    assert less > 0
    assert out == 0
    text = head(str(fit.summary()))
    assert f"though the model explains their response ({less} counted for less than half)" in text


def test_long_lists_of_rows_are_cut() -> None:
    sim = rs.simulate.linear(n=120, d=20, k=3, epsilon=0.1, attack="shift_y", rng=0)
    fit = rs.rht("y ~ .", sim.data)
    count = len(fit.outliers("response"))
    assert count > 10
    assert f"and {count - 10} more" in head(str(fit.summary()))


class Named:
    """A gradient estimator that describes itself at length."""

    def __repr__(self) -> str:
        return "Named(" + "x" * 100 + ")"


def test_descriptions_are_short() -> None:
    assert describe(rs.Squared()) == "squared"
    assert describe(rs.Logistic()) == "logistic"
    assert describe(rs.Huber()) == "Huber, adaptive"
    assert describe(rs.Huber(delta=2)) == "Huber, delta 2"
    assert len(describe(Named())) == 60
    for thing in (rs.Squared(), rs.Huber(), Named(), np.median, lambda X, score: score):
        assert describe(describe(thing)) == describe(thing)


def test_the_last_step_is_one_that_went_somewhere() -> None:
    sim = rs.simulate.linear(n=200, d=500, k=4, epsilon=0.1, attack="leverage", rng=7)
    fit = rs.rht("y ~ .", sim.data)
    moved = fit.history[fit.history["change"] > 1e-8]
    assert len(moved) < len(fit.history)
    assert dict(fit.summary().head)["Last step"] == f"{moved['step'].iloc[-1]:.3g}"
