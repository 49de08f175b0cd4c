"""`Simulation`: simulated data together with the truth they were made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from robustsparse.base.types import Array, Mask


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Simulated data, the truth behind them and which rows are corrupted.

    Attributes
    ----------
    X : ndarray of shape (n_total, d)
        Predictors (or the variables of a graph), stored by columns.
    y : ndarray of shape (n_total,) or None
        Response; None for a graph.
    outlier : ndarray of bool, shape (n_total,)
        True for the rows that the adversary wrote; all others are authentic.
    outlier_cells : ndarray of bool, shape (n_total, d), or None
        Single cells that were overwritten (graphs with ``cellwise > 0``).
    beta : ndarray of shape (d,) or None
        True coefficients on the scale of `X`.
    intercept : float
        True intercept; zero unless columns were shifted.
    column_scale : ndarray of shape (d,) or None
        Factor that each column was multiplied by (ones unless ``scales="mixed"``), so that
        ``beta * column_scale`` are the coefficients in standard units.
    adjacency : ndarray of bool, shape (d, d), or None
        True edges of a graph; symmetric, no loops.
    precision : ndarray of shape (d, d) or None
        Inverse covariance of the authentic rows of a graph.

    Examples
    --------
    >>> from robustsparse import simulate
    >>> sim = simulate.linear(n=90, d=20, k=3, rng=1)
    >>> sim
    Simulation(n_total=100, d=20, k=3, outliers=10)
    >>> sim.data.shape
    (100, 21)
    """

    X: Array
    y: Array | None
    outlier: Mask
    beta: Array | None = None
    intercept: float = 0.0
    column_scale: Array | None = None
    adjacency: Mask | None = None
    precision: Array | None = None
    outlier_cells: Mask | None = None

    @property
    def names(self) -> list[str]:
        """Column names ``x1``, ``x2``, ... of the variables in `X`."""
        return [f"x{j + 1}" for j in range(self.X.shape[1])]

    @cached_property
    def data(self) -> pd.DataFrame:
        """The data as a frame, made at the first use: ``y`` (if any), then ``x1``, ``x2``, ..."""
        if self.y is None:
            return pd.DataFrame(self.X, columns=self.names, copy=True)
        # One block by columns: a frame of d single columns would be slow to make and to use.
        block = np.empty((self.X.shape[0], self.X.shape[1] + 1), order="F")
        block[:, 0], block[:, 1:] = self.y, self.X
        return pd.DataFrame(block, columns=["y", *self.names], copy=False)

    def support(self) -> list[str]:
        """Names of the true predictors, largest coefficient (in standard units) first.

        Returns
        -------
        list of str

        Examples
        --------
        >>> from robustsparse import simulate
        >>> simulate.linear(n=50, d=10, beta=[0, 1, 0, -2, 0, 0, 0, 0, 0, 0], rng=1).support()
        ['x4', 'x2']
        """
        if self.beta is None:
            return []
        scale = 1.0 if self.column_scale is None else self.column_scale
        order = np.argsort(-np.abs(self.beta * scale), kind="stable")
        return [f"x{j + 1}" for j in order if self.beta[j] != 0]

    def __repr__(self) -> str:
        n_total, d = self.X.shape
        truth = ""
        if self.beta is not None:
            truth = f", k={np.count_nonzero(self.beta)}"
        elif self.adjacency is not None:
            truth = f", edges={np.count_nonzero(self.adjacency) // 2}"
        return f"Simulation(n_total={n_total}, d={d}{truth}, outliers={self.outlier.sum()})"
