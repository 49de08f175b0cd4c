"""Median-of-means gradients of those predictors only that could enter the support.

What `bound` says of screening, for medians of block means. What is remembered of a predictor are the means of all its
blocks. Each can have moved by at most the norm of the block's values times the distance that the scores of its rows
have moved; unless half of the blocks can reach the bar, the median cannot. With blocks that are drawn anew for each
vector of scores nothing can be remembered, and every predictor is evaluated.
"""

from collections.abc import Callable

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bound import Interpreted, double_rows, gather, no_references
from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Indices, Mask

# Bounds are kept in single precision, and are first made larger by more than that can round them down.
_ABOVE32 = 1.0 + 1e-6
# The bound of the rounding errors of a block mean itself is made larger by this factor, and counts so many roundings
# besides those of the sum.
_ROUNDING_SLACK, _OTHER_ROUNDINGS = 1.01, 5


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
        self.XT, self._redraw, self._threads = XT, redraw, threads
        self.settles = not redraw
        self._rng = rng
        # Fresh blocks make what was known of a column worthless, so nothing is kept for them.
        kept = 0 if redraw else d
        self._design = kernels.BlockDesign(
            XT=XT,
            XT32=np.empty((kept, n), dtype=np.float32),
            order=rng.permutation(n),
            blocks=blocks,
            norms=np.empty((kept, blocks), dtype=np.float32),
        )
        known = no_references(n, d)
        slots = len(known["counts"])
        self._memory = kernels.BlockMemory(
            **known,
            moved=np.zeros((slots, blocks), dtype=np.float32),
            means=np.zeros((kept, blocks), dtype=np.float32),
        )
        self._roundings = np.zeros(slots)
        self._exact_only = True
        if not redraw:
            self._measure()

    def _over_columns(self, task: Callable[[int, int], None]) -> None:
        over_columns(task, self.XT.shape[0], self.XT.size, self._threads)

    def _measure(self) -> None:
        self._over_columns(lambda first, last: kernels.block_setup(self._design, first, last))
        largest = float(self._design.norms.max(initial=0.0))
        self._exact_only = not largest < kernels.LARGEST_DESIGN

    def begin(self, score: Array) -> None:
        """Take `score` as the current scores, and draw blocks if they are to be redrawn."""
        if self._redraw:
            self._design = self._design._replace(order=self._rng.permutation(len(score)))
        score = self._ordered(score)
        # Room that is not read unless single precision is trusted.
        score32 = np.zeros(1, dtype=np.float32)
        self._scores = kernels.BlockScores(score, score32, slot=0, certify=False)
        if not self._exact_only:
            self._refer(score)

    def _refer(self, score: Array) -> None:
        """Make a reference of the scores, and find how far they have moved since the others."""
        known, moved = self._memory, self._memory.moved
        unit, slot = kernels.claim_reference(score, known.slots, known.counts)
        known.references[slot], known.units[slot] = score, unit
        scaled = score / unit
        if not np.abs(scaled).max() < kernels.LARGEST_SCORE:
            self._scores = self._scores._replace(slot=slot)
            return
        self._scores = kernels.BlockScores(score, scaled.astype(np.float32), slot, certify=True)
        self._roundings[slot] = self._rounding(scaled)
        moved[slot] = self._roundings[slot]
        for other in np.flatnonzero(known.counts):
            change = (score - known.references[other]) / known.units[other]
            moved[other] = self._block_norms(change) + self._roundings[other]

    def _ordered(self, score: Array) -> Array:
        return np.ascontiguousarray(score[self._design.order], dtype=np.float64)

    def _block_norms(self, values: Array) -> Array:
        blocks = self._design.blocks
        starts = np.arange(len(values)) % blocks
        squares = np.bincount(starts, weights=values**2, minlength=blocks)
        return np.asarray(np.sqrt(squares) * _ABOVE32)

    def _rounding(self, scaled: Array) -> float:
        """What float32 can add to a block mean, over the norm of the block's column."""
        longest = len(scaled) // self._design.blocks + _OTHER_ROUNDINGS
        largest = self._block_norms(scaled).max()
        return float(_ROUNDING_SLACK * longest * kernels.ROUND32 * largest + kernels.TINY)

    def at(self, columns: Indices, rows: Array | None = None) -> Array:
        """Gradient at the current scores on these columns."""
        return self._medians(
            double_rows(self.XT, columns) if rows is None else rows, self._scores.score
        )

    def survivors(self, active: Mask, k: int, bar: float) -> tuple[Indices, Array]:
        """Columns outside `active` that may be among the k largest, with their gradients."""

        def search(first: int, last: int, found: Indices, values: Array) -> int:
            return kernels.block_survivors(
                self._design, self._memory, self._scores, first, last, active, k, bar, found, values
            )

        return gather(search, self.XT, self._threads)

    def dense(self, XT: Array, score: Array) -> Array:
        """Medians of means of a small design, with the current blocks."""
        return self._medians(XT, self._ordered(score))

    def _medians(self, XT: Array, ordered: Array) -> Array:
        """Medians of means of all rows of a transposed design, for scores in the order of the blocks."""
        out = np.empty(len(XT))
        kernels.block_median_rows(XT, self._design.order, ordered, self._design.blocks, out)
        return out
