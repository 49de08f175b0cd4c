"""A fit that depends neither on the order of the rows nor on whether rows are repeated or weighted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.checks import as_vector
from robustsparse.base.types import Array
from robustsparse.design.arrays import array_design
from robustsparse.design.design import Design
from robustsparse.design.fingerprint import Fingerprint
from robustsparse.design.response import Coding
from robustsparse.design.row_order import RowOrder
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.fit.options import make_options
from robustsparse.regression.result import RHTResult
from robustsparse.regression.rht import remember
from robustsparse.regression.spine import design_outcome, told


def rht_in_any_order(
    X: Any, y: Array, asked: Arguments, *, weights: Any = None, **of_rows: Any
) -> RHTResult:
    """What `rht_fit` makes of rows in an order that depends on what they hold alone.

    The result tells of the rows as they were given, each once.

    Parameters
    ----------
    X : array or sparse matrix of rows (n, d)
        Design.
    y : array (n,)
        Response.
    asked : Arguments
        Arguments of `rht_fit` that hold no data.
    weights : array (n,), optional
        Whole numbers repeat rows, others multiply what they add to the loss.
    **of_rows
        Other arguments of `rht_fit` that a design is built with.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=60, d=5, k=2, epsilon=0.1, rng=1)
    >>> turned = np.arange(len(sim.y))[::-1]
    >>> fit = rht_in_any_order(sim.X, sim.y, Arguments())
    >>> fit.params.equals(rht_in_any_order(sim.X[turned], sim.y[turned], Arguments()).params)
    True
    """
    options = make_options(asked)
    given = array_design(X, y, coding=options.family.coding, weights=weights, **of_rows)
    design = _in_order(X, y, given, weights, options.family.coding, of_rows)
    result = told(design_outcome(design, options, fingerprint=Fingerprint.of(given)))
    return remember(result, {"X": X, "y": y, "weights": weights, **vars(asked), **of_rows}, False)


def _in_order(
    X: Any, y: Array, given: Design, weights: Any, coding: Coding, of_rows: dict[str, Any]
) -> Design:
    """The design of rows that were put in order, which knows them by their places in what was given."""
    rows = RowOrder.of(X, y, None if weights is None else as_vector("weights", weights, len(y)))
    places = rows.places
    design = array_design(X[places], y[places], coding=coding, weights=rows.weights, **of_rows)
    # Those that cannot be used are not in the design.
    labels = places[design.rows]
    first = np.unique(labels, return_index=True)[1]
    return replace(design, rows=pd.Index(labels), dropped=given.dropped, first=first)
