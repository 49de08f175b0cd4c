"""`Design`: a formula with a data frame, or arrays, as what a fit takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustsparse.base.types import Array, Mask, Places
from robustsparse.design.bases import Bases
from robustsparse.design.clusters import Clusters
from robustsparse.design.gaps import Gaps
from robustsparse.design.groups import Groups
from robustsparse.design.response import Response
from robustsparse.design.row_audit import Dropped

if TYPE_CHECKING:
    from robustsparse.design.spec import DesignSpec


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """The n rows that can be used, as arrays.

    Attributes
    ----------
    X : (n, d) without the intercept; from a formula in Fortran order, float32 if all predictors are such columns, else
        float64; given as an array, whatever was given.
    response : the coded left-hand side.
    names : the d columns.
    intercept : whether the model has one.
    rows : (n,) index labels of the rows, in the order of the data.
    dropped : rows that were left out.
    weights, offset : (n,) float64, or None.
    keep : (d,) bool, the columns of the terms that must stay in the model.
    groups : places of the columns that enter and leave a model together, by the name of their term; the other columns
        stand alone.
    coded : (d,) bool, the columns of terms that became several columns which stay together; None if there are none.
    bases : the variables of splines and polynomials, which tell how far out a row is; None if there are none.
    references : the level of each factor that has no column of its own.
    gaps : rows and columns of the missing cells, in whose places X has stand-ins; None unless they are to be imputed.
    first : places of the rows to tell of, in the order in which they were given; None for all of them as they stand.
        Rows that were put into another order, and repeated, are told of once.
    by_name : whether the columns of a design that is no formula's have names of the user's, by which those of new rows
        are found.
    clusters : which rows depend on each other, or None.
    spec : what is needed to code new data alike; None for arrays, which are coded already.
    """

    X: Any
    response: Response
    names: tuple[str, ...]
    intercept: bool
    rows: pd.Index
    dropped: Dropped
    weights: Array | None
    offset: Array | None
    keep: Mask
    groups: Groups = field(default_factory=dict)
    coded: Mask | None = None
    bases: Bases | None = None
    references: dict[str, object] = field(default_factory=dict)
    gaps: Gaps | None = None
    clusters: Clusters | None = None
    spec: DesignSpec | None = None
    by_name: bool = False
    first: Places | None = None

    def __repr__(self) -> str:
        n, d = self.X.shape
        what = "arrays" if self.spec is None else repr(self.spec.formula)
        return f"Design({what}, {n} rows, {d} columns)"

    @property
    def n_given(self) -> int:
        """Number of rows that were given and can be used, however often they are repeated."""
        return len(self.rows) if self.first is None else len(self.first)

    @property
    def single_levels(self) -> dict[str, object]:
        """The level of each factor that has the same one in all rows, and thus no column."""
        return {} if self.spec is None else self.spec.single_levels

    def without_matrix(self) -> Design:
        """The same without X, which may be large."""
        return replace(self, X=np.empty((0, len(self.names))))
