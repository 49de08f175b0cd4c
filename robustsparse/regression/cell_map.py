"""What the cell map of a fit shows."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.regression.residuals import drawn
from robustsparse.report.plots import CellMap, cell_map

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult


def cell_map_of(
    fit: "RHTResult", k: int | None = None, rows: Sequence[Hashable] | None = None
) -> CellMap:
    """Mended cells of the selected columns with the residuals and flags of their rows, as `plot_cells` draws them.

    Examples
    --------
    >>> import numpy as np
    >>> import robustsparse as rs
    >>> data = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.0, rng=4).data
    >>> name = rs.rht("y ~ .", data).support()[0]
    >>> data.loc[5, name] = np.nan
    >>> fit = rs.rht("y ~ .", data, na_action="impute")
    >>> bool(np.isnan(cell_map_of(fit).cells.loc[5, name]))
    True
    """
    frame, _, cutoff = residual_view(fit)
    found = cell_map(fit.cells(), frame, fit.support(k), rows, cutoff=cutoff)
    if len(found.cells) == 0:
        raise ParameterError(
            "There is nothing to draw: no row is flagged, and no cell of a selected column was missing or wrong."
            if rows is None
            else "rows=[] has no row to draw; give labels of rows, or None."
        )
    return found


def residual_view(fit: "RHTResult") -> tuple[pd.DataFrame, str, float]:
    """The rows with the residuals that are drawn, what these are called, and from where on they are far."""
    family = fit.made.kind
    if family.has_scale:
        return fit.diagnostics, "standardized residual", family.reject
    frame, view = drawn(fit, family.residual_kind)
    return frame, view.name, family.limit(family.residual_kind)
