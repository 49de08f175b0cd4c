"""Calibration in bins, Wilson's intervals, and the quantiles of a model."""

from io import BytesIO
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array
from robustsparse.report.plots import calibration_frame, model_qq_frame, plot_calibration

mpl.use("Agg")


def predicted(seed: int, n: int) -> tuple["pd.Series[float]", "pd.Series[float]"]:
    """Probabilities, and events that come as often as they say."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.0, 2.0, n)
    return pd.Series(p), pd.Series((rng.random(n) < p).astype(float))


def test_bins_have_equal_counts_and_ascend() -> None:
    p, y = predicted(0, 203)
    table = calibration_frame(p, y)
    assert len(table) == 10
    assert np.ptp(table["n"]) <= 1
    assert table["n"].sum() == 203
    assert table["predicted"].is_monotonic_increasing
    np.testing.assert_allclose((table["n"] * table["observed"]).sum(), y.sum())


def test_small_samples_have_fewer_bins() -> None:
    assert [len(calibration_frame(*predicted(1, n))) for n in (5, 38, 79, 500)] == [1, 3, 7, 10]


def test_equal_predictions_are_not_parted() -> None:
    p = pd.Series(np.repeat([0.1, 0.5, 0.9], [50, 10, 40]))
    y = pd.Series(np.tile([0.0, 1.0], 50))
    table = calibration_frame(p, y, bins=10)
    np.testing.assert_allclose(table["predicted"], [0.1, 0.5, 0.9])
    assert table["n"].tolist() == [50, 10, 40]


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_are_those_of_wilson(level: float) -> None:
    p, y = predicted(2, 150)
    table = calibration_frame(p, y, 5, level)
    events = (table["n"] * table["observed"]).round()
    pairs = zip(events.astype(int), table["n"].astype(int), strict=True)
    ends = [binomtest(k, n).proportion_ci(level, "wilson") for k, n in pairs]
    low, high = [end.low for end in ends], [end.high for end in ends]
    np.testing.assert_allclose(table["low"], low, atol=1e-12)
    np.testing.assert_allclose(table["high"], high, atol=1e-12)


def test_intervals_hold_the_mean_probability_of_a_right_model() -> None:
    """1,000 bins of 20 rows, at a level of 0.95."""
    inside = []
    for seed in range(100, 200):
        table = calibration_frame(*predicted(seed, 200))
        inside.append(table["predicted"].between(table["low"], table["high"]).mean())
    assert 0.93 < np.mean(inside) < 0.985


@pytest.mark.parametrize("given", [{"bins": 0}, {"bins": 999}, {"level": 1.0}, {"level": 0.1}])
def test_wrong_arguments_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(given))):
        calibration_frame(*predicted(3, 50), **given)


def test_nothing_and_unequal_lengths_are_refused() -> None:
    p, y = predicted(4, 20)
    for some in (p[:0], p[:10]):
        with pytest.raises(DataError, match="as many"):
            calibration_frame(some, y)


@pytest.mark.parametrize("size", [2.2, 3.6, 6.0])
def test_everything_is_drawn_within_the_figure(size: float) -> None:
    figure, ax = plt.subplots(figsize=(size, size), layout="constrained")
    p, y = predicted(5, 300)
    long = "acute myeloid leukemia at the first visit, as judged by two"
    assert plot_calibration(p, y, ax, event=long, source="10-fold cross-validation") is ax
    figure.savefig(BytesIO())
    box = ax.get_tightbbox()
    assert box is not None
    assert box.x0 >= -1
    assert box.x1 <= figure.bbox.width + 1
    marks = [len(lines.get_segments()) for lines in ax.collections if lines.get_label()[0] == "_"]
    assert sum(marks) >= len(p)
    plt.close(figure)


def test_a_model_that_is_right_stays_in_its_envelope() -> None:
    """Pointwise at a level of 0.95; residuals have two values here, so that most of an envelope is a point."""

    def residuals(rng: np.random.Generator) -> Array:
        return np.where(rng.random(100) < 0.3, 1.5, -0.6) + rng.normal(0, 0.1, 100)

    inside = []
    for seed in range(20):
        frame = model_qq_frame(pd.Series(residuals(np.random.default_rng(900 + seed))), residuals)
        inside.append(frame["sample"].between(frame["low"], frame["high"]).mean())
    assert 0.9 < np.mean(inside) < 0.99


def test_a_model_that_is_wrong_leaves_it() -> None:
    sample = pd.Series(np.random.default_rng(0).standard_t(1.5, 300))
    frame = model_qq_frame(sample, lambda rng: rng.normal(size=300))
    assert (frame["sample"] > frame["high"]).sum() > 5
    assert (frame["sample"] < frame["low"]).sum() > 5


def test_quantiles_of_a_model_keep_the_labels_and_leave_out_what_is_missing() -> None:
    sample = pd.Series([2.0, np.nan, -1.0, np.inf], index=list("abcd"))
    frame = model_qq_frame(sample, lambda rng: rng.normal(size=4))
    assert frame.index.tolist() == ["c", "a"]
    assert model_qq_frame(sample[:0], lambda rng: rng.normal(size=0)).empty


def test_quantiles_of_many_rows_are_interpolated() -> None:
    n = 20_000
    sample = pd.Series(np.random.default_rng(1).normal(size=n))
    frame = model_qq_frame(sample, lambda rng: rng.normal(size=n))
    inner = slice(200, -200)
    np.testing.assert_allclose(frame["theoretical"][inner], frame["sample"][inner], atol=0.1)
