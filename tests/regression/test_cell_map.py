"""`plot_cells` of a fit draws what `cells` and `diagnostics` hold."""

from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.base.errors import ParameterError
from robustsparse.regression.cell_map import cell_map_of

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def spoiled(seed: int = 1) -> pd.DataFrame:
    """Five percent of the cells wrong, three missing, a tenth of the responses far off."""
    data = rs.simulate.linear(n=200, d=30, k=4, epsilon=0.0, attack=None, rng=seed).data
    rng = np.random.default_rng(seed)
    names = [name for name in data.columns if name != "y"]
    X = data[names].to_numpy(copy=True)
    draw = rng.random(X.shape)
    X[draw < 0.05] += 10.0
    X[draw > 0.97] = np.nan
    data[names] = X
    data.loc[rng.choice(len(data), 20, replace=False), "y"] += 30.0
    return data


@pytest.fixture(scope="module")
def fit() -> rs.RHTResult:
    return rs.rht("y ~ .", spoiled(), na_action="impute")


def test_what_is_drawn_is_what_the_fit_says(fit: rs.RHTResult) -> None:
    shown = list(fit.diagnostics.index)
    drawn = cell_map_of(fit, rows=shown)
    assert drawn.cells.columns.tolist() == fit.support()
    expected = pd.DataFrame(0.0, shown, fit.support())
    for label, cell in fit.cells().iterrows():
        if cell["column"] in expected:
            # The old value of a missing cell is not a number.
            expected.loc[label, cell["column"]] = (cell["old"] - cell["new"]) / cell["error"]
    pd.testing.assert_frame_equal(drawn.cells, expected)
    pd.testing.assert_frame_equal(
        drawn.rows[["std_resid", "flag"]], fit.diagnostics[["std_resid", "flag"]]
    )


def test_forty_rows_in_the_order_of_the_data(fit: rs.RHTResult) -> None:
    drawn = cell_map_of(fit)
    at = fit.diagnostics.index.get_indexer(drawn.cells.index)
    assert len(at) == 40
    assert (np.diff(at) > 0).all()
    ax = fit.plot_cells()
    assert [t.get_text() for t in ax.get_yticklabels()] == [str(i) for i in drawn.cells.index]
    assert [t.get_text() for t in ax.get_xticklabels()][:-1] == fit.support()


def test_another_size_says_whose_residuals_are_drawn(fit: rs.RHTResult) -> None:
    given = plt.subplots()[1]
    ax = fit.plot_cells(k=2, ax=given)
    assert ax is given
    names = [t.get_text() for t in ax.get_xticklabels()]
    assert names == [*fit.support(2), f"standardized residual (k = {fit.k})"]


def test_a_stored_fit_draws_the_same(fit: rs.RHTResult, tmp_path: Path) -> None:
    fit.save(tmp_path / "fit.rht")
    loaded = rs.load(tmp_path / "fit.rht")
    for one, two in zip(cell_map_of(fit)[:2], cell_map_of(loaded)[:2], strict=True):
        pd.testing.assert_frame_equal(one, two)
    loaded.plot_cells().figure.canvas.draw()


def test_rows_that_share_labels() -> None:
    data = spoiled()
    data.index = pd.Index([f"visit {i % 100}" for i in range(len(data))])
    fit = rs.rht("y ~ .", data, na_action="impute")
    drawn = cell_map_of(fit)
    assert drawn.cells.index.is_unique
    assert (drawn.rows["count"] == 2).all()
    fit.plot_cells(rows=["visit 3"])


def test_two_classes_have_residuals_of_the_deviance() -> None:
    data = rs.simulate.logistic(n=200, d=20, k=2, epsilon=0.0, rng=1).data
    fit = rs.rht("y ~ .", data, family="binomial")
    ax = fit.plot_cells(rows=list(data.index[:3]))
    assert ax.get_xticklabels()[-1].get_text() == "deviance residual"


def test_nothing_to_draw() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (60, 4)), columns=list("abcd"))
    fit = rs.rht("y ~ .", X.assign(y=X["a"] + rng.uniform(-0.1, 0.1, 60)))
    assert fit.outliers() == []
    with pytest.raises(ParameterError, match="nothing to draw"):
        fit.plot_cells()
    with pytest.raises(ParameterError, match="labels of rows"):
        fit.plot_cells(rows=[])
    fit.plot_cells(rows=[1])
