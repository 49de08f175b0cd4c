"""A standardized problem: its rows, its columns, and the way from its solution back to the data's units."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustsparse.algorithm.bound import double_rows
from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.groups import Groups
from robustsparse.algorithm.losses import Logistic, Loss, Squared
from robustsparse.algorithm.problem import Problem
from robustsparse.algorithm.sparsity import largest_k
from robustsparse.base.types import Array, Indices, Mask, Places
from robustsparse.regression.family import Chosen, Family
from robustsparse.regression.fit.looks import Whole
from robustsparse.regression.fit.packing import packed
from robustsparse.robust.standardize import Scaling

# Entries of a design that is copied rather than worked on in place.
_SMALL = 1 << 20
# Rows, and columns, of which a few more take little memory beside the design.
_FEW = 500


@dataclass(frozen=True)
class Standardized:
    """A standardized regression.

    Attributes
    ----------
    XT : array (p, n)
        Transposed standardized design, of its own memory; the last row is ones if there is an intercept. Of single
        precision if the data are.
    y : array (n,)
        Response, centered and scaled if the loss allows.
    loss : Loss
        Loss.
    scaling : Scaling
        Location and scale of the d predictors.
    location, unit : float
        What was subtracted from the response, and what it was divided by.
    intercept : bool
        Whether there is an intercept.
    keep : array of int
        Rows of XT that are never thresholded, the intercept among them.
    weights, offset : array (n,) or None
        Multipliers of the rows; known part of the predictor, in units of `y`.
    family : Family
        Kind of response.
    groups : array of int (d,) or None
        Number of each predictor's group, whose members are selected together; -1 for those that are never selected.
        None if every predictor stands alone.
    certainty : array (n,) or None
        Share of the variance of a row's residual that is not due to cells which were filled; `weights` have it in them.
    by_mad : bool
        Whether the scale of the predictors is their MAD.
    spread : bool array (d,) or None
        Predictors that a spline or polynomial spreads its variable over; None if there are none.
    variables : array (m, n) or None
        These variables, standardized, by which rows are judged in their place.
    whole : Whole or None
        The design that XT holds some columns of; None if it holds all of them.
    seen : array of int (m,) or None
        The rows of XT that the problem is about; None if it is about all of them.
    """

    XT: Array
    y: Array
    loss: Loss
    scaling: Scaling
    location: float
    unit: float
    intercept: bool
    keep: Indices
    weights: Array | None
    offset: Array | None
    family: Family
    groups: Indices | None = None
    certainty: Array | None = None
    by_mad: bool = False
    spread: Mask | None = None
    variables: Array | None = None
    whole: Whole | None = None
    seen: Indices | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.XT.shape[1]) if self.seen is None else len(self.seen)

    @property
    def small(self) -> bool:
        """Whether copies of the design are cheap."""
        return bool(self.XT.size <= _SMALL)

    @property
    def wide(self) -> bool:
        """Whether what is as long as a column is little beside the design, and so is what is as long as a row."""
        return self.n > _FEW < len(self.XT)

    @property
    def d(self) -> int:
        """Number of predictors that are held, the intercept not counted."""
        return int(self.XT.shape[0]) - self.intercept

    @property
    def predictors(self) -> int:
        """Number of predictors to choose from, held or not."""
        return self.d if self.whole is None else self.whole.d

    @property
    def free(self) -> int:
        """Number of terms that the threshold may select: predictors, or groups of them."""
        if self.terms is not None:
            return self.terms.count
        forced = len(self.keep) - self.intercept
        constant = self.scaling.constant if self.whole is None else self.whole.constant
        return self.predictors - forced - int(constant.sum())

    @cached_property
    def terms(self) -> Groups | None:
        """The groups that the threshold selects from, by row of XT; None if every predictor stands alone."""
        if self.groups is None:
            return None
        labels = np.full(len(self.XT), -1, dtype=np.int64)
        labels[: self.d] = np.where(self.scaling.constant, -1, self.groups)
        labels[self.keep] = -1
        return Groups.numbered(labels, max(self.room, 1))

    @property
    def candidates(self) -> int:
        """Number of terms, whether or not they can be selected."""
        if self.groups is None:
            return self.predictors
        return len(np.unique(self.groups[self.groups >= 0]))

    def count(self, support: Indices) -> int:
        """Number of terms that the columns of a support are."""
        return len(support) if self.terms is None else len(self.terms.holding(support))

    def ranked(self, columns: Indices, coef: Array) -> Indices:
        """Columns by the size of their coefficients (p,), those of a group together."""
        if self.terms is not None:
            return self.terms.ranked(columns, coef)
        return columns[np.argsort(-np.abs(coef[columns]), kind="stable")]

    def not_in(self, taken: Indices, count: int) -> Indices:
        """The columns of so many terms that have no part in others."""
        if self.terms is not None:
            rest = np.setdiff1d(np.arange(self.terms.count), self.terms.holding(taken))
            return self.terms.columns(rest[:count])
        if self.whole is not None:
            return self.whole.first_free(np.r_[taken, self.keep[self.keep < self.d]], count)
        closed = np.concatenate([taken, self.keep, np.flatnonzero(self.scaling.constant)])
        return np.setdiff1d(np.arange(self.d), closed)[:count]

    @property
    def room(self) -> int:
        """Number of coefficients that a robust regression can have beside the kept ones: one for two rows."""
        return self.n // 2 - len(self.keep)

    def affordable(self, k: int) -> bool:
        """Whether there is room for k terms."""
        return (k if self.terms is None else self.terms.narrowest(k)) <= self.room

    @property
    def largest_k(self) -> int:
        """Largest number of terms worth trying."""
        if self.terms is None:
            return largest_k(self.n, self.free)
        return largest_k(int(self.n / self.terms.mean_size), self.free)

    def problem(
        self, estimator: Estimator, threads: int = 1, like: Problem | None = None
    ) -> Problem:
        """The problem that the solver takes, with the estimator bound to this design.

        What a problem `like` this one, with another estimator, has measured of the design is not measured again.
        """
        # An estimator of the user's may know nothing of others.
        shared = {} if like is None else {"like": like.gradient}
        gradient = estimator.bind(self.XT, threads, **shared)
        watch = None if self.whole is None else self.whole.watch(getattr(gradient, "trimmed", 0))
        return Problem(
            gradient, self.y, self.loss, self.offset, self.weights, groups=self.terms, watch=watch
        )

    def columns(self, chosen: Indices, rows: slice = slice(None)) -> Array:
        """Some columns of the standardized design (n, chosen), or of part of its rows, in double precision."""
        if self.seen is None:
            return double_rows(self.XT[:, rows], chosen).T
        places = self.seen[rows]
        out = np.empty((len(chosen), len(places)))
        # One by one, since a design in between would take as much memory again.
        for place, j in enumerate(chosen):
            out[place] = self.XT[j, places]
        return out.T

    def on_all_rows(self, values: Array) -> Array:
        """Values of the problem's rows as those of all rows of XT, 0 for the others."""
        if self.seen is None:
            return values
        out = np.zeros((self.XT.shape[1], *values.shape[1:]))
        out[self.seen] = values
        return out

    def rows(self, chosen: NDArray[Any]) -> "Standardized":
        """The same problem on some of the rows (a mask or indices), in the same units."""
        chosen = np.asarray(chosen)
        if chosen.dtype == bool and chosen.all():
            return self
        index = np.flatnonzero(chosen) if chosen.dtype == bool else chosen

        places = index if self.seen is None else self.seen[index]
        # Indexing would lay the columns out the other way round, and cost a second copy.
        return self._part(np.take(self.XT, places, axis=1), index)

    def seeing(self, kept: Mask) -> "Standardized":
        """The same problem on the kept rows, in the same memory, which stays as it is.

        For whom inner products and a few columns are enough: `columns` and `chosen` are of these rows, XT is not.
        """
        if kept.all():
            return self
        index = np.flatnonzero(kept)
        places = index if self.seen is None else self.seen[index]
        return replace(self._part(self.XT, index), seen=places)

    def part_of_rows(self, chosen: Places) -> "Standardized":
        """The same problem on some of the rows, without the columns that are constant there."""
        part = self.rows(chosen)
        constant = part.alike() if self.intercept else np.zeros(0, dtype=np.int64)
        if not len(constant):
            return part
        part.XT[constant] = 0.0
        all_constant = self.scaling.constant.copy()
        all_constant[constant] = True
        keep = self.keep[~np.isin(self.keep, constant)]
        return replace(part, keep=keep, scaling=replace(self.scaling, constant=all_constant))

    def alike(self) -> Places:
        """Predictors all of whose values are the same."""
        XT, places = self.XT[: self.d], np.arange(self.d)
        # The first few values tell most columns apart.
        for some in (XT[:, :8], XT):
            places = places[(some[places] == some[places, :1]).all(axis=1)]
        return places

    @contextmanager
    def only(self, kept: Mask) -> Iterator["Standardized"]:
        """The same problem on the kept rows, for a while, in the memory of this one, which must be left alone then."""
        # A small copy is made sooner than room for one that is found in place.
        if kept.all() or self.small:
            yield self.rows(kept)
            return
        with packed(self.XT, kept) as XT:
            yield self._part(XT, kept)

    def _part(self, XT: Array, index: NDArray[Any]) -> "Standardized":
        def part(values: Array | None) -> Array | None:
            return None if values is None else values[index]

        whole = self.whole
        return replace(
            self, XT=XT, y=self.y[index], weights=part(self.weights), offset=part(self.offset),
            certainty=part(self.certainty),
            variables=None if self.variables is None else self.variables[:, index],
            whole=None if whole is None else replace(whole, rows=whole.rows_of(index)), seen=None,
        )  # fmt: skip

    def without_rows(self) -> "Standardized":
        """The units of the problem and its response, without the design."""
        return replace(self, XT=np.empty((len(self.XT), 0), dtype=self.XT.dtype), variables=None)

    def chosen(self, columns: Indices) -> Chosen:
        """The rows on a few columns, for a regression on these alone."""
        return Chosen(self.columns(columns), self.y, self.offset, self.weights, self.certainty)

    def weighted_by(self, trust: Array) -> "Standardized":
        """The same problem with rows that count for less."""
        return replace(self, weights=trust if self.weights is None else trust * self.weights)

    def judged(self, resid: Array) -> Array:
        """Residuals (n,) as they would be without the variance of cells that were filled."""
        return resid if self.certainty is None else resid * np.sqrt(self.certainty)

    def predictor(self, coef: Array) -> Array:
        """Linear predictor (n,) in units of `y`, offset included."""
        used = np.flatnonzero(coef)
        eta = self.columns(used) @ coef[used]
        return eta if self.offset is None else eta + self.offset

    def to_data(self, coef: Array) -> tuple[Array, float]:
        """Coefficients (d,) and intercept on the data's own scale."""
        constant = float(coef[self.d]) if self.intercept else 0.0
        raw, shift = self.scaling.to_data(coef[: self.d], constant, self.unit)
        return raw, shift + self.location if self.intercept else 0.0


def by_least_squares(problem: Standardized) -> bool:
    """Whether least squares tells how good a set of columns is, on rows that are trusted."""
    return type(problem.loss) is Squared and problem.family.least_squares


def by_labels(problem: Standardized) -> bool:
    """Whether responses are labels, some perhaps wrong, whose likelihood tells how good a set of columns is."""
    return type(problem.loss) is Logistic and problem.family.labels
