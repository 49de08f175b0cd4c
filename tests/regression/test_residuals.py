"""Residuals by kind, and that diagnostics draw what they say."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import expit, xlogy

import robustsparse as rs
from docs.extending.poisson import Poisson
from robustsparse.base.types import Array
from robustsparse.regression.family import Family

mpl.use("Agg")

# The residuals of two programs at the same linear predictor.
SAME = 1e-8
# A label to which the model gives one chance in a hundred.
UNLIKELY = 0.01


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def classes(seed: int, n: int = 250) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 15))
    return X, (rng.random(n) < expit(1.5 * X[:, 2] - 1.5 * X[:, 7])).astype(float)


@pytest.fixture(scope="module")
def fit() -> Any:
    return rs.rht_fit(*classes(0), family="binomial", n_jobs=1)


class Uncoded(Poisson):
    """Counts of a family that says neither what its deviance is nor how to draw from it."""

    residual_kind = "pearson"
    unit_deviance = Family.unit_deviance
    draw = Family.draw


def test_two_classes_have_the_residuals_of_the_textbook(fit: Any) -> None:
    y = classes(0)[1]
    p = expit(fit.diagnostics["link"].to_numpy())
    deviance = -2.0 * (xlogy(y, p) + xlogy(1 - y, 1 - p))
    for kind, values in (
        ("response", y - p),
        ("pearson", (y - p) / np.sqrt(p * (1 - p))),
        ("deviance", np.sign(y - p) * np.sqrt(deviance)),
    ):
        np.testing.assert_allclose(fit.residuals(kind), values, rtol=SAME, atol=SAME)


def test_counts_of_a_family_from_outside_have_them_too() -> None:
    X = classes(1)[0]
    y = np.random.default_rng(1).poisson(np.exp(0.5 + 0.6 * X[:, 4])).astype(float)
    fit = rs.rht_fit(X, y, family=Poisson(), n_jobs=1)
    mean = np.exp(fit.diagnostics["link"].to_numpy())
    deviance = 2.0 * (xlogy(y, y / mean) - (y - mean))
    pearson = (y - mean) / np.sqrt(mean)
    np.testing.assert_allclose(fit.residuals("pearson"), pearson, rtol=SAME)
    signed = np.sign(y - mean) * np.sqrt(deviance)
    np.testing.assert_allclose(fit.residuals("deviance"), signed, atol=1e-6)


def test_residuals_of_numbers_are_one_kind() -> None:
    sim = rs.simulate.linear(n=80, d=10, k=2, epsilon=0.1, rng=1)
    fit = rs.rht("y ~ .", sim.data.set_axis([f"r{i}" for i in range(len(sim.y))]))
    for kind in ("response", "pearson", "deviance"):
        np.testing.assert_allclose(fit.residuals(kind), fit.resid, rtol=SAME, atol=SAME)
        assert fit.residuals(kind).index.equals(fit.resid.index)


def test_a_residual_is_no_view_of_the_result(fit: Any) -> None:
    before = fit.resid.copy()
    mine = fit.residuals()
    mine.iloc[:] = 7.0
    assert fit.resid.equals(before)


def test_unknown_kinds_are_refused(fit: Any) -> None:
    with pytest.raises(rs.ParameterError, match="working"):
        fit.residuals("working")
    with pytest.raises(rs.ParameterError, match="response"):
        fit.plot_diagnostics(residuals="response")


def test_a_family_without_a_deviance_says_so_and_draws_pearson() -> None:
    X = classes(2)[0]
    y = np.random.default_rng(2).poisson(np.exp(0.5 + 0.6 * X[:, 4]))
    fit = rs.rht_fit(X, y, family=Uncoded(), n_jobs=1)
    with pytest.raises(rs.ParameterError, match="unit_deviance"):
        fit.residuals("deviance")
    first, second, *_ = fit.plot_diagnostics().flat
    assert first.get_ylabel() == second.get_ylabel() == "Pearson residual"
    assert second.get_title(loc="left") == "Normal QQ"


def drawn(ax: Any, axis: int = 1) -> Array:
    """Heights of all points of a panel, ascending; or their places from left to right."""
    flags = ("regular", "leverage", "response", "both")
    points = [c.get_offsets() for c in ax.collections if c.get_label() in flags]
    return np.sort(np.concatenate(points)[:, axis])


def dashed(ax: Any) -> list[float]:
    """Heights of the dashed horizontal lines of a panel."""
    lines = [line.get_ydata() for line in ax.lines if line.get_linestyle() == "--"]
    return sorted(float(y[0]) for y in lines if y[0] == y[1])


@pytest.mark.parametrize(
    ("asked", "kind"), [(None, "deviance"), ("deviance", "deviance"), ("pearson", "pearson")]
)
def test_panels_draw_the_residuals_that_they_name(fit: Any, asked: str | None, kind: str) -> None:
    axes = fit.plot_diagnostics(residuals=asked)
    axes[0, 0].figure.savefig(BytesIO())
    name = {"deviance": "deviance residual", "pearson": "Pearson residual"}[kind]
    for ax in axes.flat[:3]:
        assert ax.get_ylabel() == name
        np.testing.assert_allclose(drawn(ax), np.sort(fit.residuals(kind)))
    assert axes[0, 0].get_xlabel() == "fitted probability"


def test_dashed_lines_are_where_a_label_is_too_unlikely(fit: Any) -> None:
    """A label of probability 0.01 has the residuals sqrt(99) and sqrt(2 log 100)."""
    pearson, deviance = ((1 / UNLIKELY - 1) ** 0.5, (-2 * np.log(UNLIKELY)) ** 0.5)
    for kind, edge in (("pearson", pearson), ("deviance", deviance)):
        axes = fit.plot_diagnostics(residuals=kind)
        for ax in (axes[0, 0], axes[1, 0]):
            np.testing.assert_allclose(dashed(ax), [-edge, edge], rtol=1e-3)


def test_rare_events_are_not_pushed_to_the_edge() -> None:
    """Probabilities near zero with a few large ones: the axis is that of probabilities."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 10))
    y = (rng.random(400) < expit(3.0 * X[:, 0] - 4.0)).astype(float)
    fit = rs.rht_fit(X, y, family="binomial", n_jobs=1)
    ax = fit.plot_diagnostics()[0, 0]
    np.testing.assert_allclose(drawn(ax, 0), np.sort(fit.fittedvalues))


def test_residuals_of_numbers_are_drawn_as_before() -> None:
    sim = rs.simulate.linear(n=80, d=10, k=2, epsilon=0.1, rng=1)
    axes = rs.rht_fit(sim.X, sim.y).plot_diagnostics()
    assert [ax.get_ylabel() for ax in axes.flat[:2]] == ["residual", "standardized residual"]
    assert axes[0, 1].get_title(loc="left") == "Normal QQ"
