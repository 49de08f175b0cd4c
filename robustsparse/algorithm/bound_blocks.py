"""Median-of-means gradients of those predictors only that could enter the support."""

from collections.abc import Callable

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bound import (
    LARGEST_DESIGN,
    LARGEST_SCORE,
    SLOTS,
    Interpreted,
    References,
    double_rows,
    gather,
)
from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Indices, Mask


class ScreenedBlocks(Interpreted):
    """Median-of-means gradient of one design; screened while the blocks stay the same.

    Parameters
    ----------
    XT : array (d, n), C-contiguous
        The transposed design.
    blocks : int
        Number of blocks.
    rng : numpy Generator
        Draws the blocks.
    redraw : bool
        Draw new blocks for each new vector of scores.
    threads : int
        Threads for large designs.
    """

    def __init__(
        self, XT: Array, blocks: int, rng: np.random.Generator, redraw: bool, threads: int = 1
    ) -> None:
        d, n = XT.shape
        self.XT, self.blocks, self._redraw, self._threads = XT, blocks, redraw, threads
        self.settles = not redraw
        self._rng = rng
        self._order = rng.permutation(n)
        self._references = References(n, d)
        self._moved = np.zeros((SLOTS, blocks), dtype=np.float32)
        self._roundings = np.zeros(SLOTS)
        self._score32 = np.zeros(1, dtype=np.float32)
        # Fresh blocks make what was known of a column worthless, so nothing is kept for them.
        kept = 0 if redraw else d
        self._XT32 = np.empty((kept, n), dtype=np.float32)
        self._norms = np.empty((kept, blocks), dtype=np.float32)
        self._means = np.zeros((kept, blocks), dtype=np.float32)
        self._exact_only = True
        if not redraw:
            self._measure()

    def _over_columns(self, task: Callable[[int, int], None]) -> None:
        over_columns(task, self.XT.shape[0], self.XT.size, self._threads)

    def _measure(self) -> None:
        self._over_columns(
            lambda first, last: kernels.block_setup(
                self.XT, self._order, self.blocks, first, last, self._XT32, self._norms
            )
        )
        self._exact_only = not float(self._norms.max(initial=0.0)) < LARGEST_DESIGN

    def begin(self, score: Array) -> None:
        """Take `score` as the current scores, and draw blocks if they are to be redrawn."""
        if self._redraw:
            self._order = self._rng.permutation(len(score))
        self._score = np.ascontiguousarray(score[self._order], dtype=np.float64)
        self._certify = False
        self._slot = 0
        if self._exact_only:
            return
        known = self._references
        unit, self._slot = kernels.claim_reference(self._score, known.slots, known.counts)
        known.scores[self._slot], known.units[self._slot] = self._score, unit
        scaled = self._score / unit
        self._certify = bool(np.abs(scaled).max() < LARGEST_SCORE)
        if not self._certify:
            return
        self._score32 = scaled.astype(np.float32)
        self._roundings[self._slot] = self._rounding(scaled)
        self._moved[self._slot] = self._roundings[self._slot]
        for slot in np.flatnonzero(known.counts):
            change = (self._score - known.scores[slot]) / known.units[slot]
            self._moved[slot] = self._block_norms(change) + self._roundings[slot]

    def _block_norms(self, values: Array) -> Array:
        starts = np.arange(len(values)) % self.blocks
        squares = np.bincount(starts, weights=values**2, minlength=self.blocks)
        return np.asarray(np.sqrt(squares) * (1.0 + 1e-6))

    def _rounding(self, scaled: Array) -> float:
        """What float32 can add to a block mean, over the norm of the block's column."""
        longest = len(scaled) // self.blocks + 5
        return float(1.01 * longest * 2.0**-24 * self._block_norms(scaled).max() + 1e-30)

    def at(self, columns: Indices, rows: Array | None = None) -> Array:
        """Gradient at the current scores on these columns."""
        out = np.empty(len(columns))
        rows = double_rows(self.XT, columns) if rows is None else rows
        kernels.block_median_rows(rows, self._order, self._score, self.blocks, out)
        return out

    def survivors(self, active: Mask, k: int, bar: float) -> tuple[Indices, Array]:
        """Columns outside `active` that may be among the k largest, with their gradients."""

        def search(first: int, last: int, found: Indices, values: Array) -> int:
            count: int = kernels.block_survivors(
                self.XT, self._XT32, self._order, self._score, self._score32, self.blocks,
                first, last, active, k, bar, self._certify, self._norms, self._means,
                self._references.slots, self._slot, self._moved, self._references.units,
                found, values,
            )  # fmt: skip
            return count

        return gather(search, self.XT, self._threads)

    def dense(self, XT: Array, score: Array) -> Array:
        """Medians of means of a small design, with the current blocks."""
        out = np.empty(len(XT))
        ordered = np.ascontiguousarray(score[self._order], dtype=np.float64)
        kernels.block_median_rows(XT, self._order, ordered, self.blocks, out)
        return out
