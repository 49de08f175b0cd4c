"""The best set of columns of every size that was found: better ones come from starts, from below and from above.

All moves are compiled, and remember what was tried: a set that stays the same is grown and shrunk once.
"""

from collections.abc import Sequence

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.exchanges import DEPENDENT, LOWER, InnerProducts
from robustsparse.base.types import Indices

# Room for sets of so many columns is made at first.
_ROOM = 32
_NOTHING = np.empty(0, dtype=np.int64)


class SetsBySize:
    """Sets after the best exchanges of one column for another; at first only the one without a column.

    Parameters
    ----------
    products : InnerProducts
        Of all columns.
    """

    def __init__(self, products: InnerProducts) -> None:
        self._products = products
        self._sets, self._spare = np.empty((0, 0), dtype=np.int64), _NOTHING
        self._moves = np.empty((0, kernels.MOVES_WIDTH), dtype=np.int64)
        self._rss = np.empty(0)
        self.offer([_NOTHING])

    def __getitem__(self, size: int) -> tuple[Indices, float]:
        return np.sort(self._sets[size, :size]), float(self._rss[size])

    def __contains__(self, size: int) -> bool:
        return size < len(self._rss) and bool(self._rss[size] < np.inf)

    def unexplained(self, size: int) -> tuple[float, int]:
        """Residual sum of squares of the set of a size, and its degrees of freedom."""
        return float(self._rss[size]), size

    def offer(self, starts: Sequence[Indices]) -> None:
        """Take what some starts come to, where that is better; columns that those before them explain are left out."""
        self._make_room(max((len(start) for start in starts), default=0))
        self._improve(starts, 0, 0)

    def grow(self, first: int, last: int) -> bool:
        """Have sets from one size to another grow by a column; whether any is better for it."""
        self._make_room(last)
        return self._improve([], first, last)

    def shrink(self, first: int) -> bool:
        """Have sets of a size, and those below, shrink by a column; whether any is better for it."""
        return self._improve([], first, min(first, 1))

    def forget(self, beyond: int) -> None:
        """Forget larger sets."""
        self._rss[beyond + 1 :] = np.inf
        self._moves[beyond + 1 :] = 0
        # What the largest one grew to may be among them.
        self._moves[beyond, kernels.GROWS] = 1

    def _improve(self, starts: Sequence[Indices], first: int, last: int) -> bool:
        products, lengths = self._products, np.array([len(start) for start in starts], np.int64)
        return kernels.improve_sets(
            products.gram, products.cross, products.squares, products.total, DEPENDENT, LOWER,
            np.concatenate([_NOTHING, *starts]), lengths, first, last,
            self._sets, self._rss, self._moves, self._spare,
        )  # fmt: skip

    def _make_room(self, size: int) -> None:
        """Have room for sets of a size."""
        held = len(self._rss)
        if size < held:
            return
        room = max(size + 1, _ROOM, 2 * held)
        sets, rss = np.empty((room, room), dtype=np.int64), np.full(room, np.inf)
        moves = np.zeros((room, kernels.MOVES_WIDTH), dtype=np.int64)
        sets[:held, :held], rss[:held], moves[:held] = self._sets, self._rss, self._moves
        self._sets, self._rss, self._moves = sets, rss, moves
        self._spare = np.empty(room, dtype=np.int64)
