"""Kernels that wait for more work than it takes to compile them: until then numpy does the same, to the last bit."""

from collections.abc import Callable
from typing import Any

import numpy as np

from robustsparse.kernels import column_medians, columns, order_statistics
from robustsparse.kernels.compiler import is_compiled

# Values that numpy goes through in one process, several times slower than a kernel would, in about a tenth of a second:
# to compile takes up to two. So many at a time, as it makes copies of them; a call takes as long as so many values.
_AT_FIRST, _AT_ONCE, _A_CALL = 1 << 22, 1 << 20, 1 << 12


class Deferred:
    """A kernel whose first argument has the values that it goes through, and what does the same without the compiler.

    Parameters
    ----------
    kernel, plain : callable
        Both write to their arguments, and return the same.
    """

    def __init__(self, kernel: Callable[..., Any], plain: Callable[..., Any]) -> None:
        self._kernel, self._plain = kernel, plain
        # What may still be done without the kernel; unknown as long as nobody has looked for its machine code.
        self._left: int | None = None
        self.py_func = getattr(kernel, "py_func", kernel)

    def __call__(self, values: Any, *others: Any) -> Any:
        """Write what is asked of the values, and return what else is."""
        if self._left is None:
            self._left = 0 if is_compiled(self._kernel) else _AT_FIRST
        if values.size > min(self._left, _AT_ONCE):
            self._left = 0
            return self._kernel(values, *others)
        self._left -= values.size + _A_CALL
        return self._plain(values, *others)


def plain_deviations(XT: Any, center: bool, location: Any, deviation: Any) -> None:
    """What `row_deviations` does."""
    XT = np.asarray(XT, dtype=np.float64)
    location[:] = _medians(XT) if center else 0.0
    if len(deviation):
        deviation[:] = _medians(np.abs(XT - location[:, None]))


def _medians(values: Any) -> Any:
    """Median of each row; halves are added, as in the kernel."""
    half, odd = divmod(values.shape[1], 2)
    if odd:
        return np.partition(values, half, axis=1)[:, half]
    middle = np.partition(values, (half - 1, half), axis=1)
    return 0.5 * middle[:, half - 1] + 0.5 * middle[:, half]


def plain_counts(XT: Any, limits: Any, counts: Any) -> None:
    """What `count_beyond` does."""
    size = np.abs(XT)
    for count, limit in zip(counts, limits, strict=True):
        count += np.count_nonzero(size > limit, axis=0).astype(count.dtype)


def plain_hashes(bits: Any, factors: Any, out: Any) -> None:
    """What `hash_rows` does."""
    mixed = np.where(bits == columns.MINUS_ZERO, np.uint64(0), bits)
    mixed ^= mixed >> columns.SHIFTS[0]
    for factor, shift in zip(columns.FACTORS, columns.SHIFTS[1:], strict=True):
        mixed *= factor
        mixed ^= mixed >> shift
    mixed *= factors
    np.sum(mixed, axis=1, out=out)


def plain_largest(columns: Any, values: Any, k: int, places: Any) -> int:
    """What `largest_places` does."""
    size = np.abs(values)
    some = np.flatnonzero(size > 0.0)
    best = np.sort(some[np.lexsort((columns[some], -size[some]))][:k])
    places[: len(best)] = best
    return len(best)


row_deviations = Deferred(column_medians.row_deviations, plain_deviations)
count_beyond = Deferred(columns.count_beyond, plain_counts)
hash_rows = Deferred(columns.hash_rows, plain_hashes)
largest_places = Deferred(order_statistics.largest_places, plain_largest)
