"""The cell map: which rows and cells it shows, and how."""

from collections.abc import Iterator
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh

from robustsparse.base.errors import ParameterError
from robustsparse.report.plots import CellMap, cell_map, plot_cells

mpl.use("Agg")
# Boxes of text may touch: rounding of pixels.
PIXEL = 1.0


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def mended(*cells: tuple[object, str, str, float]) -> pd.DataFrame:
    """Cells by row label, column, reason and deviation in standard errors of one half."""
    labels, columns, reasons, far = zip(*cells, strict=True)
    missing = np.array(reasons) == "missing"
    old = np.where(missing, np.nan, 1.0 + 0.5 * np.array(far))
    frame = {"column": columns, "reason": reasons, "old": old, "new": 1.0, "error": 0.5}
    return pd.DataFrame(frame, index=list(labels))


def rows_of(labels: list[object], flags: dict[int, str] | None = None) -> pd.DataFrame:
    frame = pd.DataFrame({"std_resid": np.zeros(len(labels)), "flag": ""}, index=labels)
    frame["flag"] = frame["flag"].astype(object)
    for i, flag in (flags or {}).items():
        frame.iloc[i, 1] = flag
        frame.iloc[i, 0] = 0.0 if flag == "leverage" else 9.0
    return frame


def large(n: int = 60, p: int = 50) -> CellMap:
    rng = np.random.default_rng(0)
    hit = rng.random((n, p)) < 0.2
    cells = [
        (f"patient {i}", f"a long name of gene {j}", "wrong" if rng.random() < 0.6 else "missing", 12 * rng.normal())
        for i, j in np.argwhere(hit)
    ]  # fmt: skip
    rows = rows_of([f"patient {i}" for i in range(n)], {3: "both", 5: "response", 7: "leverage"})
    return cell_map(mended(*cells), rows, [f"a long name of gene {j}" for j in range(p)])


def test_rows_are_flagged_or_mended_in_the_columns_and_keep_their_order() -> None:
    cells = mended(("e", "p", "wrong", 4.0), ("b", "q", "missing", 0.0), ("a", "z", "wrong", 9.0))
    found = cell_map(cells, rows_of(list("abcde"), {2: "leverage"}), ["q", "p"])
    assert found.cells.index.tolist() == ["b", "c", "e"]
    assert found.cells.columns.tolist() == ["q", "p"]
    np.testing.assert_array_equal(found.cells, [[np.nan, 0], [0, 0], [0, 4]])
    assert found.rows["flag"].tolist() == ["", "leverage", ""]


def test_the_most_affected_rows_are_kept() -> None:
    cells = mended(
        (0, "p", "wrong", 4.0),
        (1, "p", "wrong", -8.0),
        (2, "p", "missing", 0.0),
        (3, "p", "missing", 0.0),
        (3, "q", "missing", 0.0),
    )
    rows = rows_of([0, 1, 2, 3, 4], {0: "leverage"})
    for most, kept in ((4, [0, 1, 2, 3]), (3, [0, 1, 3]), (2, [0, 3])):
        found = cell_map(cells, rows, ["p", "q"], most=most)
        assert (found.cells.index.tolist(), found.rest_rows) == (kept, 4 - most)


def test_no_more_than_forty_rows_and_columns() -> None:
    found = large()
    assert found.cells.shape == (40, 40)
    assert (found.rest_rows, found.rest_columns) == (20, 10)
    assert plot_cells(found).get_xlabel() == "(20 more rows and 10 more terms not shown)"


def test_rows_that_are_asked_for_come_in_their_order() -> None:
    cells = mended(("b", "p", "wrong", 4.0))
    found = cell_map(cells, rows_of(list("abc")), ["p"], ["c", "b"])
    assert found.cells["p"].to_dict() == {"c": 0.0, "b": 4.0}
    with pytest.raises(ParameterError, match="no row labelled"):
        cell_map(cells, rows_of(list("abc")), ["p"], ["x"])
    with pytest.raises(ParameterError, match="list of row labels"):
        cell_map(cells, rows_of(list("abc")), ["p"], "a")


def test_rows_that_share_a_label_are_one_with_the_worst_of_each() -> None:
    cells = mended(("a", "p", "missing", 0.0), ("a", "p", "wrong", -7.0), ("a", "p", "wrong", 4.0))
    rows = rows_of(["a", "b", "a"], {0: "leverage", 2: "response"})
    found = cell_map(cells, rows, ["p"])
    assert found.cells["p"].tolist() == [-7.0]
    assert found.rows.to_dict("list") == {"std_resid": [9.0], "flag": ["both"], "count": [2]}
    assert [t.get_text() for t in plot_cells(found).get_yticklabels()] == ["a (×2)"]


def test_an_error_of_zero_is_a_full_color() -> None:
    cells = mended(("a", "p", "wrong", 4.0)).assign(error=0.0)
    found = cell_map(cells, rows_of(["a"]), ["p"])
    assert found.cells.loc["a", "p"] > 1e6
    plot_cells(found).figure.canvas.draw()


def test_colors_tell_sign_and_size() -> None:
    values = pd.DataFrame([[20.0, 4.0, 0.0, -4.0, -20.0]], columns=list("abcde"))
    rows = pd.DataFrame({"std_resid": [2.0], "flag": [""], "count": [1]})
    ax = plot_cells(CellMap(values, rows, 0, 0))
    cells, resid = (
        np.asarray(mesh.get_array()).reshape(-1, 4)
        for mesh in ax.collections
        if isinstance(mesh, QuadMesh)
    )
    red, blue = cells[:, 0] - cells[:, 2], cells[:, 2] - cells[:, 0]
    assert red[0] > red[1] > 0.1
    assert blue[4] > blue[3] > 0.1
    np.testing.assert_allclose(cells[2], resid[0])


def test_one_hatched_patch_for_each_missing_cell() -> None:
    found = large()
    assert len(plot_cells(found).patches) == int(found.cells.isna().to_numpy().sum())


def test_no_row_is_an_error() -> None:
    found = cell_map(mended(("a", "z", "wrong", 4.0)), rows_of(["a"]), ["p"])
    with pytest.raises(ParameterError, match="no row"):
        plot_cells(found)


def test_without_columns_only_residuals() -> None:
    found = cell_map(mended(("a", "z", "wrong", 4.0)), rows_of(["a"], {0: "response"}), [])
    assert [t.get_text() for t in plot_cells(found).get_xticklabels()] == ["standardized residual"]


@pytest.mark.parametrize("size", [None, (3.5, 2.8), (7.0, 4.5)])
def test_names_do_not_overlap(size: tuple[float, float] | None) -> None:
    given = None if size is None else plt.subplots(figsize=size)[1]
    ax = plot_cells(large(), given)
    assert given is None or ax is given
    ax.figure.canvas.draw()
    for labels, low, high in (
        (ax.get_xticklabels(), "x0", "x1"),
        (ax.get_yticklabels(), "y0", "y1"),
    ):
        boxes = sorted(
            (label.get_window_extent() for label in labels), key=lambda b: getattr(b, low)
        )
        for one, two in pairwise(boxes):
            assert getattr(one, high) <= getattr(two, low) + PIXEL
    assert ax.get_xticklabels()[-1].get_text() == "standardized residual"
    if size is None:
        page = ax.figure.bbox
        inside = ax.get_tightbbox()
        assert inside.x0 >= -PIXEL
        assert inside.x1 <= page.x1 + PIXEL
        assert len(ax.get_yticklabels()) == 40
