"""Plots: what is drawn, what is labelled, and that nothing overlaps, is cut off or warns."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import same_color

from robustsparse.base.errors import ParameterError
from robustsparse.report import plots
from robustsparse.report.plots.artists import EndLabels, PointLabels
from robustsparse.report.plots.labels import place, spread
from robustsparse.report.plots.style import GREY, squeezed_ticks

mpl.use("Agg")

COLUMN, PAGE = (3.5, 2.8), (7.0, 4.5)
# Boxes of text may touch: rounding of pixels.
PIXEL = 1.0
FLAGS = ["", "response", "leverage", "both"]


@pytest.fixture(autouse=True)
def _clean_matplotlib() -> Iterator[None]:
    """Every plot leaves the settings as they were; figures are closed after each test."""
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


def path(n_terms: int = 6, n_k: int = 5, *, long: bool = False) -> pd.DataFrame:
    """A path in which term i enters at k = i + 1, with nearly equal coefficients at the end."""
    size = 1.0 - 0.01 * np.arange(n_terms)
    values = np.where(np.arange(n_terms)[:, None] < np.arange(1, n_k + 1), size[:, None], 0.0)
    name = "AFFX-HUMISGF3A/M97935_{}_at_expression_measured_at_the_first_visit" if long else "x{}"
    index = [name.format(i) for i in range(n_terms)]
    return pd.DataFrame(values, index=index, columns=range(1, n_k + 1))


def history(change: list[float], entered: list[int] | None = None) -> pd.DataFrame:
    n = len(change)
    table = {"iteration": range(1, n + 1), "change": change, "step": 0.5, "size": 3}
    return pd.DataFrame(table | {"entered": entered or [0] * n, "left": 0, "loss": 1.0})


def criterion(n: int = 8, *, errors: bool = True) -> pd.DataFrame:
    k = np.arange(1, n + 1)
    return pd.DataFrame(
        {"value": 1 + (k - 5.0) ** 2 / 10, "se": 0.15 if errors else np.nan}, index=k
    )


def rows(n: int, *, extreme: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """Rows with one of each flag; the last is as extreme as asked."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "fitted": rng.normal(10, 2, n),
            "std_resid": rng.standard_normal(n),
            "distance": np.sqrt(rng.chisquare(4, n)),
            "distance_cutoff": 4.0,
            "flag": "",
        },
        index=[f"patient-{i:04d}-Utrecht" for i in range(n)],
    )
    frame.iloc[-1, :3] = 10 + extreme, -8 * extreme, 6 * extreme
    frame.iloc[-2, 1] = 9.0
    frame.iloc[-3, 2] = 7.0
    frame.iloc[-3:, 4] = ["leverage", "response", "both"]
    return frame.assign(
        resid=0.5 * frame["std_resid"], weight=np.clip(1 - (frame["std_resid"] / 5) ** 2, 0, 1)
    )


def curve(auc: float = 0.9) -> SimpleNamespace:
    return SimpleNamespace(fpr=np.array([0, 0.1, 1]), tpr=np.array([0, 0.8, 1]), auc=auc)


def coefficients(n: int = 5) -> pd.DataFrame:
    estimate = np.linspace(-2, 1, n)
    return pd.DataFrame(
        {"estimate": estimate, "low": estimate - 0.5, "high": estimate + 0.5},
        index=[f"term_{i}" for i in range(n)],
    )


def one_panel() -> dict[str, Callable[[Any], Axes]]:
    long = pd.Series(np.linspace(1, 0.01, 500), index=path(500, 1, long=True).index)
    methods = {f"a method with quite a long name, {i}": curve(i / 10) for i in range(9)}
    return {
        "path": lambda ax: plots.plot_path(path(), 3, ax),
        "path of long names": lambda ax: plots.plot_path(path(40, 30, long=True), 9, ax),
        "path at one k": lambda ax: plots.plot_path(path(3, 1), 1, ax),
        "empty path": lambda ax: plots.plot_path(path() * 0, ax=ax),
        "convergence": lambda ax: plots.plot_convergence(history([1, 0.1, 0], [3, 1, 0]), ax, 1e-8),
        "one iteration": lambda ax: plots.plot_convergence(history([0.0]), ax),
        "500 iterations": lambda ax: plots.plot_convergence(
            history(list(10.0 ** -np.linspace(0, 300, 500))), ax
        ),
        "no iteration": lambda ax: plots.plot_convergence(history([]), ax),
        "selection": lambda ax: plots.plot_selection(criterion(), 4, ax=ax),
        "selection without errors": lambda ax: plots.plot_selection(
            criterion(60, errors=False), 5, ax=ax
        ),
        "roc": lambda ax: plots.plot_roc(curve(), ax),
        "many roc": lambda ax: plots.plot_roc(methods, ax),
        "coefficients": lambda ax: plots.plot_coefficients(coefficients(), ax),
        "500 coefficients": lambda ax: plots.plot_coefficients(coefficients(500), ax),
        "no coefficients": lambda ax: plots.plot_coefficients(coefficients(0), ax),
        "stability": lambda ax: plots.plot_stability(long, 0.6, ax),
    }


# For all of them


def test_importing_the_plots_does_not_import_matplotlib() -> None:
    code = "import sys, robustsparse.report.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _inside_figure(ax: Axes) -> bool:
    """Whether all that is drawn, labels included, is within the figure."""
    labels = [
        text for kind in (EndLabels, PointLabels) for a in ax.findobj(kind) for text in a.texts
    ]
    boxes = [text.get_window_extent() for text in labels if text.get_visible()]
    figure = ax.figure.bbox.padded(PIXEL)
    return all(
        figure.contains(box.x0, box.y0) and figure.contains(box.x1, box.y1)
        for box in [*boxes, ax.get_tightbbox()]
    )


@pytest.mark.parametrize("name", one_panel())
@pytest.mark.parametrize("size", [COLUMN, PAGE])
def test_plots_draw_on_the_axes_given_within_the_figure(
    name: str, size: tuple[float, float]
) -> None:
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    assert one_panel()[name](ax) is ax
    figure.savefig(BytesIO(), format="png")
    assert _inside_figure(ax)
    assert plt.get_fignums() == [1]


@pytest.mark.parametrize("name", one_panel())
def test_plots_make_their_own_figure(name: str) -> None:
    ax = one_panel()[name](None)
    ax.figure.draw_without_rendering()
    assert _inside_figure(ax)


@pytest.mark.parametrize("form", ["pdf", "svg"])
def test_plots_are_saved_as_vector_graphics(form: str) -> None:
    file = BytesIO()
    plots.plot_path(path(40, 30, long=True), 9).figure.savefig(file, format=form)
    plots.plot_diagnostics(rows(50), 0.5)[0, 0].figure.savefig(file, format=form)
    assert file.tell() > 10_000


@pytest.mark.parametrize("n", [5, 500])
@pytest.mark.parametrize("extreme", [1.0, 1e6])
@pytest.mark.parametrize("size", [COLUMN, PAGE])
def test_diagnostics_draw_within_the_figure(
    n: int, extreme: float, size: tuple[float, float]
) -> None:
    figure, axes = plt.subplots(2, 2, figsize=(size[0], size[0]), layout="constrained")
    assert plots.plot_diagnostics(rows(n, extreme=extreme), 0.5, axes).flat[0] is axes[0, 0]
    figure.savefig(BytesIO())
    assert all(_inside_figure(ax) for ax in axes.flat)


def test_names_with_dollar_signs_are_no_formulas() -> None:
    table = coefficients(2).set_axis([r"$\nonsense{$", "$x_$"])
    plots.plot_coefficients(table).figure.savefig(BytesIO())
    wild = path(2).set_axis([r"$\nonsense{$", "$x_$"])
    plots.plot_path(wild).figure.savefig(BytesIO())


# Labels


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=30).map(sorted),
    st.floats(0.1, 5),
    st.floats(-200, 0),
    st.floats(150, 300),
)
def test_spread_labels_keep_their_order_distance_and_limits(
    wanted: list[float], gap: float, low: float, high: float
) -> None:
    at = spread(wanted, gap, low, high)
    tolerance = 1e-9 * (high - low)
    assert np.all(np.diff(at) >= gap - tolerance)
    assert at[0] >= low - tolerance
    assert at[-1] <= high + tolerance


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8).map(sorted), st.floats(0.1, 5))
def test_spread_moves_labels_as_little_as_possible(wanted: list[float], gap: float) -> None:
    at = spread(wanted, gap, -1e3, 1e3)
    total = np.sum((at - wanted) ** 2)
    # No feasible neighbor is better: shift each tail by a little.
    for i in range(len(at)):
        for step in (-1e-3, 1e-3):
            other = at.copy()
            other[i:] += step
            if np.all(np.diff(other) >= gap - 1e-12):
                assert np.sum((other - wanted) ** 2) >= total - 1e-9


def test_spread_shrinks_the_gap_where_there_is_no_room() -> None:
    np.testing.assert_allclose(spread([0.0, 0.0, 0.0], 5.0, -1.0, 1.0), [-1.0, 0.0, 1.0])


@given(st.integers(0, 1000), st.integers(1, 15))
@settings(deadline=None)
def test_placed_labels_overlap_nothing(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    anchors = rng.uniform(0, 100, (m, 2))
    sizes = rng.uniform(5, 30, (m, 2))
    fixed = np.array([[0.0, 90.0, 40.0, 100.0]])
    corners = place(anchors, sizes, anchors, fixed, (0, 0, 100, 100), gap=2.0)
    shown = np.isfinite(corners).all(1)
    boxes = [*fixed, *np.hstack([corners, corners + sizes])[shown]]
    assert all((b[:2] >= -1e-9).all() and (b[2:] <= 100 + 1e-9).all() for b in boxes)
    for a, b in combinations(boxes, 2):
        assert not ((a[:2] < b[2:] - 1e-9).all() and (b[:2] < a[2:] - 1e-9).all())


def test_a_label_moves_off_the_points_beside_its_own() -> None:
    points = np.array([[50.0, 50.0], [56.0, 50.0], [44.0, 50.0]])
    corner = place(points[:1], np.array([[10.0, 4.0]]), points, np.empty((0, 4)), (0, 0, 99, 99), 2)
    np.testing.assert_allclose(corner, [[45.0, 52.0]])


def _boxes(ax: Axes, kind: type) -> list[Any]:
    (labels,) = ax.findobj(kind)
    return [text.get_window_extent() for text in labels.texts if text.get_visible()]


def _overlap(boxes: list[Any]) -> bool:
    return any(
        a.x0 < b.x1 - PIXEL and b.x0 < a.x1 - PIXEL and a.y0 < b.y1 - PIXEL and b.y0 < a.y1 - PIXEL
        for a, b in combinations(boxes, 2)
    )


@pytest.mark.parametrize(
    ("size", "dpi"), [((2.5, 1.2), 100), (COLUMN, 50), (COLUMN, 200), (PAGE, 100), ((3.5, 8), 100)]
)
@pytest.mark.parametrize("long", [False, True])
def test_path_labels_never_overlap(size: tuple[float, float], dpi: int, long: bool) -> None:
    figure, ax = plt.subplots(figsize=size, layout="constrained", dpi=dpi)
    plots.plot_path(path(20, 20, long=long), 20, ax)
    figure.draw_without_rendering()
    boxes = _boxes(ax, EndLabels)
    assert len(boxes) == 12 or size[1] < 2
    assert not _overlap(boxes)
    area = ax.get_window_extent()
    assert all(box.y0 >= area.y0 - PIXEL and box.y1 <= area.y1 + PIXEL for box in boxes)


def test_path_labels_follow_when_the_figure_is_resized() -> None:
    figure, ax = plt.subplots(figsize=(6, 1.0), layout="constrained")
    plots.plot_path(path(20, 20), 20, ax)
    figure.draw_without_rendering()
    before = len(_boxes(ax, EndLabels))
    figure.set_size_inches(6, 6)
    figure.draw_without_rendering()
    assert before < len(_boxes(ax, EndLabels)) == 12


# Path


def test_path_frame_puts_the_selected_terms_first() -> None:
    table = pd.DataFrame(
        {1: [0.0, 3.0, 0, 0, 0], 2: [1.0, 2.0, 0, 0, 0], 3: [0.0, 2.0, 5.0, 1.0, 0]},
        index=list("abcde"),
    )
    frame = plots.path_frame(table, 2)
    assert frame.index.tolist() == ["b", "a", "c", "d"]
    assert frame["selected"].tolist() == [True, True, False, False]
    assert plots.path_frame(table).index.tolist() == ["c", "b", "d", "a"]


def test_path_colors_what_is_selected_and_marks_k() -> None:
    ax = plots.plot_path(path(6, 5), 3)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 5]
    assert len(lines) == 5
    assert sum(same_color(line.get_color(), GREY) for line in lines) == 2
    assert [text.get_text() for text in ax.texts] == ["k = 3"]
    assert sorted(t.get_text() for t in ax.findobj(EndLabels)[0].texts) == [
        f"x{i}" for i in range(5)
    ]


def test_path_lines_start_at_zero_just_before_their_term_enters() -> None:
    ax = plots.plot_path(path(3, 5))
    drawn = sorted(
        tuple(np.nan_to_num(line.get_ydata(), nan=-9))
        for line in ax.lines
        if len(line.get_xdata()) == 5
    )
    assert drawn[0] == (-9, 0, 0.98, 0.98, 0.98)
    assert drawn[2] == (1, 1, 1, 1, 1)


def test_path_with_equal_names_and_missing_values() -> None:
    table = path(3, 3).set_axis(["x", "x", "y"])
    table.iloc[0, 1] = np.nan
    assert len(plots.path_frame(table, 3)) == 3
    plots.plot_path(table, 3).figure.savefig(BytesIO())


@pytest.mark.parametrize(
    ("table", "k", "message"),
    [(path(3, 3), 9, "k=9 is not"), (path().iloc[:, :0], None, "columns")],
)
def test_path_refuses_what_it_cannot_draw(table: pd.DataFrame, k: int | None, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plots.plot_path(table, k)


# Convergence


def test_convergence_shows_a_change_of_zero_below_the_others() -> None:
    frame = plots.convergence_frame(history([1.0, 0.5, 0.0, np.inf], [2, 0, 0, 0]))
    assert frame["change"].tolist()[:3] == [1.0, 0.5, 0.05]
    assert np.isnan(frame["change"].iloc[3])
    assert frame["still"].tolist() == [False, False, True, False]
    assert frame["moved"].tolist() == [True, False, False, False]


def test_convergence_marks_the_iterations_that_changed_the_support() -> None:
    ax = plots.plot_convergence(history([1.0, 0.5, 0.1, 0.0], [2, 1, 0, 0]), tol=0.2)
    marked = {line.get_label(): len(line.get_xdata()) for line in ax.lines[1:]}
    assert marked == {
        "support unchanged": 1,
        "support changed": 2,
        "change exactly 0": 1,
        "tolerance": 2,
    }
    assert ax.get_yscale() == "log"
    assert ax.get_ylim()[0] > 0


# Selection


def test_selection_frame_applies_the_one_standard_error_rule() -> None:
    frame = plots.selection_frame(criterion().iloc[::-1])
    assert frame.index[frame["best"]].tolist() == [5]
    assert frame.index[frame["within"]].tolist() == [4, 5, 6]
    np.testing.assert_allclose(frame["high"] - frame["low"], 0.3)


def test_selection_draws_error_bars_and_their_bound_only_where_known() -> None:
    ax = plots.plot_selection(criterion(), 4, "prediction error")
    assert len(ax.collections[0].get_segments()) == 8
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["± 1 SE", "best + 1 SE"]
    bound = next(line for line in ax.lines if line.get_label() == "best + 1 SE")
    assert bound.get_ydata()[0] == pytest.approx(1.15)
    bare = plots.plot_selection(criterion(errors=False).drop(columns="se"))
    assert not bare.collections
    assert bare.get_legend() is None


def test_selection_marks_the_chosen_k() -> None:
    ax = plots.plot_selection(criterion(), 4)
    assert ax.texts[0].get_text() == "k = 4"
    assert any(list(np.atleast_1d(line.get_xdata())) == [4] for line in ax.lines)
    # The label stands above all points.
    ax.figure.draw_without_rendering()
    top = ax.transData.transform((0, plots.selection_frame(criterion())["high"].max()))[1]
    assert ax.texts[0].get_window_extent().y0 >= top - PIXEL


def test_selection_of_errors_over_orders_of_magnitude_is_logarithmic() -> None:
    table = criterion()
    table.loc[1, ["value", "se"]] = 1e5, 2e5
    ax = plots.plot_selection(table, 5)
    ax.figure.savefig(BytesIO())
    assert ax.get_yscale() == "log"
    assert plots.plot_selection(table.assign(se=np.nan)).get_yscale() == "linear"


# Quantiles


def test_qq_frame_is_sorted_and_labelled() -> None:
    resid = pd.Series([3.0, -1.0, np.nan, 0.5, np.inf], index=list("abcde"))
    frame = plots.qq_frame(resid)
    assert frame.index.tolist() == ["b", "d", "a"]
    assert frame["sample"].tolist() == [-1.0, 0.5, 3.0]
    np.testing.assert_allclose(frame["theoretical"], -frame["theoretical"][::-1].to_numpy())


@pytest.mark.parametrize("n", [20, 200, 5000])
def test_the_envelope_covers_normal_samples_as_promised(n: int) -> None:
    inside = [
        np.mean((frame["sample"] >= frame["low"]) & (frame["sample"] <= frame["high"]))
        for seed in range(40)
        for frame in [plots.qq_frame(pd.Series(np.random.default_rng(seed).normal(3, 2, n)))]
    ]
    # Points of a sample go in and out together; the mean over 40 samples has an error of about 1%.
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_outliers_neither_tilt_the_line_nor_widen_the_envelope() -> None:
    clean = pd.Series(np.random.default_rng(1).standard_normal(200))
    bad = clean.copy()
    bad.iloc[:20] = 1e6
    frame = plots.qq_frame(bad)
    # A tenth of the rows moves the quartiles by less than half a standard deviation.
    assert np.abs(frame["line"] - frame["theoretical"]).max() < 1.5
    assert frame["high"].max() < 10
    assert (frame["sample"] > frame["high"]).sum() >= 20


def test_the_envelope_depends_on_the_seed_alone() -> None:
    resid = pd.Series(np.random.default_rng(1).standard_normal(50))
    pd.testing.assert_frame_equal(plots.qq_frame(resid), plots.qq_frame(resid))
    assert not plots.qq_frame(resid, rng=1).equals(plots.qq_frame(resid, rng=2))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_qq_frame_of_hardly_any_rows(n: int) -> None:
    assert len(plots.qq_frame(pd.Series([1.0, 2.0][:n], dtype=float))) == n


def test_qq_frame_refuses_an_impossible_level() -> None:
    with pytest.raises(ParameterError, match="level=95"):
        plots.qq_frame(pd.Series([1.0]), level=95)


# Diagnostics


def test_outlier_map_frame_names_the_quadrants() -> None:
    frame = plots.outlier_map_frame(rows(20))
    assert frame["place"].iloc[-3:].tolist() == [
        "good leverage",
        "vertical outlier",
        "bad leverage",
    ]
    assert (frame["place"].iloc[:-3] == "regular").mean() > 0.8


def test_diagnostics_draw_every_row_in_the_look_of_its_flag() -> None:
    axes = plots.plot_diagnostics(rows(40), 0.5)
    for ax in axes.flat:
        groups = {c.get_label(): len(c.get_offsets()) for c in ax.collections}
        shown = {name: groups[name or "regular"] for name in FLAGS}
        assert shown == {"": 37, "response": 1, "leverage": 1, "both": 1}
    assert [ax.get_title(loc="left") for ax in axes.flat] == [
        "Residuals",
        "Normal QQ",
        "Outlier map",
        "Weights",
    ]


def test_the_most_extreme_rows_are_labelled() -> None:
    frame = rows(40).rename_axis("id").reset_index(drop=True)
    axes = plots.plot_diagnostics(frame, 0.5, label=1)
    labels = [[t.get_text() for t in ax.findobj(PointLabels)[0].texts] for ax in axes.flat]
    # The largest residual, that residual, it and the farthest row, the smallest weight.
    assert labels == [["38"], ["38"], ["38", "37"], ["38"]]


def test_labels_of_rows_overlap_neither_each_other_nor_the_names_of_the_quadrants() -> None:
    for size in (3.5, 7):
        figure, axes = plt.subplots(2, 2, figsize=(size, size), layout="constrained")
        plots.plot_diagnostics(rows(300), 0.5, axes, label=6)
        figure.draw_without_rendering()
        for ax in axes.flat:
            names = [text.get_window_extent() for text in ax.texts]
            assert not _overlap([*_boxes(ax, PointLabels), *names])


def test_axes_with_far_rows_stay_readable() -> None:
    frame = rows(100, extreme=1e6)
    axes = plots.plot_diagnostics(frame, 0.5)
    axes[0, 0].figure.draw_without_rendering()
    first, second, third, _ = axes.flat
    assert [ax.get_yscale() for ax in (first, second, third)] == ["symlog"] * 3
    assert third.get_xscale() == "symlog"
    # The other rows fill a good part of each panel.
    for ax, x, y in ((first, "fitted", "resid"), (third, "distance", "std_resid")):
        rest = ax.transData.transform(frame[[x, y]].iloc[:-3])
        area = ax.get_window_extent()
        assert np.ptp(rest[:, 0]) > 0.15 * area.width
        assert np.ptp(rest[:, 1]) > 0.15 * area.height
    assert "off the axis" in first.get_xlabel()


def test_ordinary_rows_are_drawn_on_linear_axes() -> None:
    axes = plots.plot_diagnostics(rows(100), 0.5)
    assert {ax.get_yscale() for ax in axes.flat} == {"linear"}
    assert axes[1, 0].get_xscale() == "linear"
    assert axes[1, 0].get_xlim()[0] == 0


def test_lines_are_at_the_cutoffs_and_within_the_limits() -> None:
    frame = rows(30).iloc[:-3]
    axes = plots.plot_diagnostics(frame, 0.5, cutoff=2.5)
    first, _, third, _ = axes.flat
    assert {float(line.get_ydata()[0]) for line in first.lines} >= {-1.25, 0.0, 1.25}
    low, high = third.get_ylim()
    assert low < -2.5 < 2.5 < high
    assert third.get_xlim()[1] > 4


@pytest.mark.parametrize("column", ["distance", "distance_cutoff", "std_resid", "fitted", "weight"])
def test_diagnostics_survive_a_missing_column_of_values(column: str) -> None:
    axes = plots.plot_diagnostics(rows(30).assign(**{column: np.nan}), 0.5)
    axes[0, 0].figure.savefig(BytesIO())
    said = [text.get_text() for text in axes[1, 0].texts]
    assert ("no robust distances" in said) == (column not in ("fitted", "weight"))


def test_diagnostics_of_an_exact_fit() -> None:
    frame = rows(20).assign(resid=0.0, std_resid=0.0, weight=1.0)
    frame.iloc[3, frame.columns.get_indexer(["resid", "std_resid"])] = 1.0, np.inf
    axes = plots.plot_diagnostics(frame, 0.0, kind="deviance residual")
    axes[0, 0].figure.savefig(BytesIO())
    assert axes[0, 0].get_ylabel() == "deviance residual"


def test_diagnostics_do_not_change_the_frame() -> None:
    frame = rows(20)
    plots.plot_diagnostics(frame, 0.5)
    pd.testing.assert_frame_equal(frame, rows(20))


def test_diagnostics_need_four_axes() -> None:
    with pytest.raises(ParameterError, match="four"):
        plots.plot_diagnostics(rows(5), 0.5, plt.subplots(1, 3)[1])


def test_many_rows_become_pixels_in_vector_graphics() -> None:
    few, many = (plots.plot_diagnostics(rows(n), 0.5)[1, 1].collections[0] for n in (100, 4000))
    assert not few.get_rasterized()
    assert many.get_rasterized()


@pytest.mark.parametrize("bound", [0.01, 3.0, 7.0, 2e4])
@pytest.mark.parametrize("ratio", [8.1, 100.0, 1e12])
def test_ticks_of_squeezed_axes_are_few_round_and_apart(bound: float, ratio: float) -> None:
    ticks = squeezed_ticks(bound, bound * ratio, 3)
    outer = [tick for tick in ticks if tick > 0]
    assert 1 <= len(outer) <= 4
    assert min(outer) > 1.4 * bound
    assert max(outer) <= 1.2 * bound * ratio
    assert ticks == sorted(ticks)


# Terms and curves


def test_coefficients_are_drawn_largest_first_with_grey_for_intervals_over_zero() -> None:
    ax = plots.plot_coefficients(coefficients(4))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["term_0", "term_1", "term_3", "term_2"]
    dots = ax.collections[1]
    np.testing.assert_allclose(dots.get_offsets()[:, 0], [-2, -1, 1, 0])
    assert [same_color(c, GREY) for c in dots.get_facecolors()] == [False, False, False, True]
    assert ax.yaxis_inverted()


def test_coefficients_need_no_intervals() -> None:
    ax = plots.plot_coefficients(coefficients()[["estimate"]])
    ax.figure.savefig(BytesIO())
    assert len(ax.collections[1].get_offsets()) == 5


def test_terms_that_do_not_fit_are_counted() -> None:
    _, ax = plt.subplots(figsize=(3.5, 1.5), layout="constrained")
    plots.plot_coefficients(coefficients(100), ax)
    shown = len(ax.get_yticks())
    assert 3 <= shown < 15
    assert f"({100 - shown} more not shown)" in ax.get_xlabel()
    assert len(plots.plot_coefficients(coefficients(100)).get_yticks()) == 40


def test_one_huge_coefficient_leaves_the_others_readable() -> None:
    table = coefficients(20)
    table.iloc[0] = 3e6
    ax = plots.plot_coefficients(table)
    assert ax.get_xscale() == "symlog"
    assert plots.plot_coefficients(coefficients(20)).get_xscale() == "linear"


def test_stability_sorts_drops_zeros_and_colors_by_the_threshold() -> None:
    ax = plots.plot_stability(pd.Series({"a": 0.2, "b": 0.9, "c": 0.0, "d": 0.6}), threshold=0.6)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["b", "d", "a"]
    grey = [same_color(c, GREY) for c in ax.collections[1].get_facecolors()]
    assert grey == [False, False, True]
    assert any(line.get_xdata()[0] == 0.6 for line in ax.lines)


def test_roc_labels_each_curve_with_its_area() -> None:
    ax = plots.plot_roc({"robust": curve(0.95), "lasso": curve(0.5), "none": curve(np.nan)})
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["0.950  robust", "0.500  lasso", "–  none"]
    assert ax.get_aspect() == 1
    assert len(ax.lines) == 4
    assert ax.get_xlim() == ax.get_ylim() == (0, 1)


def test_one_roc_needs_no_name() -> None:
    ax = plots.plot_roc(curve(0.75))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["AUC 0.750"]


def test_more_curves_than_colors_differ_in_their_dashes() -> None:
    ax = plots.plot_roc({str(i): curve() for i in range(14)})
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines[1:]}
    assert len(looks) == 14


def test_there_must_be_a_curve_to_draw() -> None:
    with pytest.raises(ParameterError, match="no curves to draw"):
        plots.plot_roc({})
