"""What estimators that average over random blocks of the rows have in common."""

from dataclasses import dataclass, replace
from math import ceil, log
from typing import Self

import numpy as np

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.checks import Seed, as_rng, check_count

# Share of the blocks that bad rows must reach before a median over blocks is called broken.
_SPOILED_BLOCKS = 0.65
# Blocks that survive q bad rows: so many for each of them, and so many more.
_BLOCKS_PER_BAD_ROW, _MORE_BLOCKS = 4, 15


@dataclass(frozen=True)
class BlockMeans(Estimator):
    """An estimator made of the means of random blocks of the rows, against heavy tails.

    Parameters
    ----------
    blocks : int or None
        Number of blocks; None takes the paper's 4.5 ⌈log d⌉. At most half the number of rows is
        used.
    redraw : bool
        Draw new blocks at each iteration, so that the fit does not inherit the bias of one unlucky
        partition. The iterates then never come to rest entirely; the last ones are averaged.
    rng : int, Generator or None
        Draws the blocks; None is a fixed seed.
    """

    column_scale = "blocks"
    for_heavy_tails = True
    # There are enough blocks for a few bad rows anyway.
    least_epsilon = 0.0

    blocks: int | None = None
    redraw: bool = True
    rng: Seed = None

    def __post_init__(self) -> None:
        if self.blocks is not None:
            check_count("blocks", self.blocks, 1)
        as_rng(self.rng)

    def count(self, n: int, d: int) -> int:
        """Number of blocks for n rows and d columns."""
        wanted = self.blocks if self.blocks is not None else int(4.5 * ceil(log(max(d, 3))))
        return max(1, min(int(wanted), n // 2))

    def settled(self) -> Self:
        """Blocks that stay let iterates come to rest."""
        return replace(self, redraw=False)

    def with_rng(self, rng: np.random.Generator) -> Self:
        """Blocks drawn from another generator, unless a seed was given."""
        return replace(self, rng=rng) if isinstance(self.rng, np.random.Generator) else self

    def enough_for(self, epsilon: float, n: int, d: int) -> Self:
        """Blocks of which bad rows reach less than half, or the usual number if that is larger."""
        usual = replace(self, blocks=None)
        blocks = _blocks_for(ceil(epsilon * n))
        return replace(usual, blocks=max(usual.count(n, d), min(blocks, n // 2)))

    def spoiled_by(self, n: int, d: int) -> float:
        """Only a row as many times beyond the limit as its block has rows moves the mean of the block there."""
        return n / self.count(n, d)

    def overwhelmed(self, bad: int, n: int, d: int) -> str:
        """Whether bad rows may reach half of the blocks."""
        blocks = self.count(n, d)
        if bad <= _SPOILED_BLOCKS * blocks:
            return ""
        return (
            f"{bad} of {n} rows do not fit the model, and the gradient estimator has {blocks} blocks and breaks when "
            "half of them hold such a row; if they are not just heavy tails, use "
            f"{type(self).__name__}(blocks={_blocks_for(bad)}) or estimator='trim'."
        )

    def spoilers(self) -> str:
        """Heavy tails are no harm; a row must spoil its block."""
        return "rows bad enough to spoil a block"


def _blocks_for(bad: int) -> int:
    return _BLOCKS_PER_BAD_ROW * bad + _MORE_BLOCKS
