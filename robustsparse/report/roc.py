"""How well a support, a graph or a ranking recovers the truth: confusion counts and ROC curves."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from robustsparse.base.checks import check_number
from robustsparse.base.errors import DataError
from robustsparse.base.text import shown
from robustsparse.base.types import Array, Mask

Floats: TypeAlias = Array
AVERAGING_GRID = 1001  # steps of 0.001 in the false positive rate, finer than any plot


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


@dataclass(frozen=True)
class Confusion:
    """Counts of right and wrong decisions.

    Attributes
    ----------
    tp, fp, fn, tn : int
        True positives, false positives, false negatives, true negatives.

    Examples
    --------
    >>> found = Confusion(tp=3, fp=1, fn=2, tn=94)
    >>> found.precision, found.tpr, round(found.f1, 3)
    (0.75, 0.6, 0.667)
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def tpr(self) -> float:
        """True positive rate (recall), tp / (tp + fn); NaN if nothing is true."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def fpr(self) -> float:
        """False positive rate, fp / (fp + tn); NaN if everything is true."""
        return _ratio(self.fp, self.fp + self.tn)

    @property
    def precision(self) -> float:
        """Share of the chosen that is true, tp / (tp + fp); NaN if nothing is chosen."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def f1(self) -> float:
        """2 tp / (2 tp + fp + fn); 1 if nothing is true and nothing chosen."""
        wrong = self.fp + self.fn
        return 2 * self.tp / (2 * self.tp + wrong) if self.tp + wrong else 1.0


@dataclass(frozen=True, eq=False, repr=False)
class ROC:
    """A receiver operating characteristic curve.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (m,)
        False and true positive rates, in ascending order of `fpr` and, where that is equal, of
        `tpr`. The first point is (0, 0). A curve from a path may end before (1, 1), and its `tpr`
        may fall now and then: supports along a path need not be nested.
    thresholds : ndarray of shape (m,)
        What gave each point: the lowest score still called positive, or the size (or label) of
        the set. The start has infinity for scores and 0 (or NaN) for sets.

    Examples
    --------
    >>> curve = roc_from_scores([0.9, 0.8, 0.3, 0.1], [True, False, True, False])
    >>> curve
    ROC(points=5, auc=0.750)
    >>> curve.partial_auc(0.5)
    0.5
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats

    def __post_init__(self) -> None:
        if not self.fpr.shape == self.tpr.shape == self.thresholds.shape or self.fpr.ndim != 1:
            raise DataError("fpr, tpr and thresholds must be vectors of the same length.")
        if np.any(np.diff(self.fpr) < 0):
            raise DataError("fpr must ascend; sort the points of the curve first.")

    @property
    def auc(self) -> float:
        """Area under the curve, by trapezoids.

        A path that stops early is closed by a straight line from its last point to (1, 1), which
        is what choosing at random among the rest would give. Nothing is smoothed: where the
        curve falls, the area counts the fall.
        """
        return self._area(*self._closed())

    def partial_auc(self, max_fpr: float = 0.1, *, normalized: bool = True) -> float:
        """Area under the curve up to a false positive rate.

        Parameters
        ----------
        max_fpr : float
            Right end of the range, in (0, 1].
        normalized : bool
            Divide by `max_fpr`, which makes it the mean true positive rate over the range: 1 for
            a perfect curve, ``max_fpr / 2`` for guessing. False gives the area itself.

        Returns
        -------
        float

        Examples
        --------
        >>> curve = roc_from_scores([4, 3, 2, 1], [True, True, False, False])
        >>> curve.partial_auc(0.1), curve.partial_auc(0.1, normalized=False)
        (1.0, 0.1)
        """
        check_number("max_fpr", max_fpr, 0.0, 1.0, open_low=True)
        fpr, tpr = self._closed()
        inside = fpr < max_fpr
        # At the cut the curve is approached from the left: a jump right there lies outside.
        last = int(np.flatnonzero(inside)[-1])
        at_cut = np.interp(max_fpr, fpr[last : last + 2], tpr[last : last + 2])
        area = self._area(np.r_[fpr[inside], max_fpr], np.r_[tpr[inside], at_cut])
        return area / max_fpr if normalized else area

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a data frame with columns ``fpr``, ``tpr``, ``threshold``.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> roc_from_scores([2, 1], [True, False]).to_frame()
           fpr  tpr  threshold
        0  0.0  0.0        inf
        1  0.0  1.0        2.0
        2  1.0  1.0        1.0
        """
        return pd.DataFrame({"fpr": self.fpr, "tpr": self.tpr, "threshold": self.thresholds})

    def plot(self, ax: Any = None, label: str | None = None) -> Any:
        """Draw the curve on `ax` (new axes if None), `label` in the legend; returns the Axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.
        label : str, optional
            Name in the legend.

        Returns
        -------
        Axes

        Examples
        --------
        >>> ax = roc_from_scores([2, 1], [True, False]).plot(label="two rows")
        >>> ax.get_xlabel()
        'false positive rate'
        """
        from robustsparse.report.plots import (
            plot_roc,  # drawing is optional and stands below this module
        )

        return plot_roc(self if label is None else {label: self}, ax)

    @staticmethod
    def _area(x: Floats, y: Floats) -> float:
        return float(np.diff(x) @ (y[1:] + y[:-1])) / 2.0

    def _closed(self) -> tuple[Floats, Floats]:
        """Points with (1, 1) at the end; a straight line there if the path stopped early."""
        return np.r_[self.fpr, 1.0], np.r_[self.tpr, 1.0]

    def __repr__(self) -> str:
        return f"ROC(points={len(self.fpr)}, auc={self.auc:.3f})"


def roc_from_scores(scores: ArrayLike, truth: ArrayLike) -> ROC:
    """ROC curve of a ranking: the higher the score, the more likely true.

    Parameters
    ----------
    scores : array-like of shape (m,)
        Equal scores are one step of the curve: a sloped segment, whatever their order.
    truth : array-like of bool, shape (m,)
        Which items are true; some must be and some must not.

    Returns
    -------
    ROC

    Examples
    --------
    >>> roc_from_scores([0.9, 0.9, 0.2], [True, False, False]).auc
    0.75
    """
    values, positive = _ranking(scores, truth)
    order = np.argsort(-values, kind="stable")
    values, positive = values[order], positive[order]
    ends = np.r_[np.flatnonzero(np.diff(values)), len(values) - 1]
    hits = np.cumsum(positive)[ends]
    misses = ends + 1 - hits
    return ROC(
        fpr=np.r_[0.0, misses / (~positive).sum()],
        tpr=np.r_[0.0, hits / positive.sum()],
        thresholds=np.r_[np.inf, values[ends]],
    )


def roc_from_sets(
    sets: Iterable[Collection[Hashable]],
    truth: Collection[Hashable],
    universe: Collection[Hashable] | int,
    labels: Sequence[float] | None = None,
) -> ROC:
    """ROC curve of a path of supports, one point for each.

    Parameters
    ----------
    sets : iterable of collections
        The chosen items at each step of the path, in any order of the steps; they need not be
        nested.
    truth : collection
        The true items.
    universe : collection or int
        All items; a number d stands for 0, ..., d - 1.
    labels : sequence of float, optional
        What to call each step in `ROC.thresholds` (a penalty, say); the sizes of the sets if not
        given.

    Returns
    -------
    ROC

    Examples
    --------
    >>> roc_from_sets([{"a"}, {"a", "c"}], truth={"a", "b"}, universe="abcd").to_frame()
       fpr  tpr  threshold
    0  0.0  0.0        0.0
    1  0.0  0.5        1.0
    2  0.5  0.5        2.0
    """
    return _roc_from_counts([support_confusion(s, truth, universe) for s in sets], labels)


def roc_from_graphs(
    graphs: Iterable[Any], truth: Any, labels: Sequence[float] | None = None
) -> ROC:
    """ROC curve of a path of graphs, one point for each.

    Parameters
    ----------
    graphs, truth : iterable of adjacency matrices, adjacency matrix
        As in `edge_confusion`.
    labels : sequence of float, optional
        What to call each graph in `ROC.thresholds`; the numbers of edges if not given.

    Returns
    -------
    ROC

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> roc_from_graphs([chain, np.ones((3, 3))], truth=chain).auc
    1.0
    """
    return _roc_from_counts([edge_confusion(g, truth) for g in graphs], labels)


def support_confusion(
    estimated: Collection[Hashable],
    true: Collection[Hashable],
    universe: Collection[Hashable] | int,
) -> Confusion:
    """Count right and wrong members of a support.

    Parameters
    ----------
    estimated, true : collections
        Chosen and true items.
    universe : collection or int
        All items; a number d stands for 0, ..., d - 1.

    Returns
    -------
    Confusion

    Examples
    --------
    >>> support_confusion(["x1", "x3"], ["x1", "x2"], ["x1", "x2", "x3", "x4", "x5"])
    Confusion(tp=1, fp=1, fn=1, tn=2)
    """
    everything = set[Hashable](universe if isinstance(universe, Collection) else range(universe))
    chosen, target = _members(estimated, everything), _members(true, everything)
    tp = len(chosen & target)
    fp, fn = len(chosen) - tp, len(target) - tp
    return Confusion(tp, fp, fn, len(everything) - tp - fp - fn)


def edge_confusion(estimated: Any, true: Any) -> Confusion:
    """Count right and wrong edges of a graph, each pair of nodes once.

    Parameters
    ----------
    estimated, true : array-like or sparse matrix of shape (d, d)
        Symmetric adjacency matrices; an entry that is not zero is an edge. The diagonal does not
        count.

    Returns
    -------
    Confusion

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> star = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> edge_confusion(star, chain)
    Confusion(tp=1, fp=1, fn=1, tn=0)
    """
    chosen, target = _upper_edges(estimated), _upper_edges(true)
    if chosen.shape != target.shape:
        raise DataError(f"Graphs of {chosen.shape[0]} and {target.shape[0]} nodes do not compare.")
    d = target.shape[0]
    tp = int(chosen.multiply(target).nnz)
    fp, fn = int(chosen.nnz) - tp, int(target.nnz) - tp
    return Confusion(tp, fp, fn, d * (d - 1) // 2 - tp - fp - fn)


def mean_roc(rocs: Iterable[ROC]) -> ROC:
    """Average curves over repetitions: the mean true positive rate at each false positive rate.

    Parameters
    ----------
    rocs : iterable of ROC
        Curves of the repetitions; short ones are closed to (1, 1) as in `ROC.auc`.

    Returns
    -------
    ROC
        On a grid of 1001 false positive rates from 0 to 1; thresholds have no common meaning
        and are NaN.

    Examples
    --------
    >>> good = roc_from_scores([4, 3, 2, 1], [True, True, False, False])
    >>> bad = roc_from_scores([4, 3, 2, 1], [False, False, True, True])
    >>> round(mean_roc([good, bad]).auc, 3)
    0.5
    """
    given = list(rocs) if isinstance(rocs, Iterable) else [rocs]
    strange = [roc for roc in given if not isinstance(roc, ROC)]
    if strange:
        raise DataError(f"mean_roc takes ROC curves; {shown(strange[0])} is none.")
    curves = [roc._closed() for roc in given]
    if not curves:
        raise DataError("mean_roc needs at least one curve.")
    grid = np.linspace(0.0, 1.0, AVERAGING_GRID)
    # Where a curve jumps, np.interp takes its upper end, as vertical averaging should.
    tpr = np.mean([np.interp(grid, *curve) for curve in curves], axis=0)
    return ROC(np.r_[0.0, grid], np.r_[0.0, tpr], np.full(len(grid) + 1, np.nan))


def _ranking(scores: ArrayLike, truth: ArrayLike) -> tuple[Floats, Mask]:
    try:
        values, positive = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"scores must be numbers and truth be true or false ({error}).") from None
    if values.ndim != 1 or values.shape != positive.shape:
        raise DataError(f"scores {values.shape} and truth {positive.shape} must be equal vectors.")
    if np.isnan(values).any():
        raise DataError("scores contain NaN; give such items the lowest score or leave them out.")
    _check_both(positive.sum(), (~positive).sum())
    return values, positive


def _check_both(positives: int, negatives: int) -> None:
    if not positives or not negatives:
        counts = f"{positives} and {negatives}"
        raise DataError(f"A ROC curve needs true and false items; there are {counts}.")


def _members(items: Collection[Hashable], universe: set[Hashable]) -> set[Hashable]:
    found = set(items)
    if strangers := found - universe:
        raise DataError(f"{next(iter(strangers))!r} is not in the universe of items.")
    return found


def _upper_edges(adjacency: Any) -> Any:
    """Sparse upper triangle of a symmetric adjacency matrix."""
    matrix = adjacency if sparse.issparse(adjacency) else np.asarray(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"An adjacency matrix is square; this one has shape {matrix.shape}.")
    edges = sparse.csr_array(matrix != 0)
    if (edges != edges.T).nnz:
        raise DataError("The adjacency matrix is not symmetric; combine its two halves first.")
    return sparse.csr_array(sparse.triu(edges, k=1))


def _roc_from_counts(counts: Sequence[Confusion], labels: Sequence[float] | None) -> ROC:
    """Sort the points of a path and start it with the empty choice."""
    if not counts:
        raise DataError("The path is empty; a ROC curve needs at least one step.")
    _check_both(counts[0].tp + counts[0].fn, counts[0].fp + counts[0].tn)
    names = [c.tp + c.fp for c in counts] if labels is None else labels
    if len(names) != len(counts):
        raise DataError(f"There are {len(names)} labels for {len(counts)} steps of the path.")
    points = np.array([(c.fpr, c.tpr, name) for c, name in zip(counts, names, strict=True)])
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    if points[0, :2].any():
        points = np.vstack([(0.0, 0.0, 0.0 if labels is None else np.nan), points])
    return ROC(*points.T.copy())
