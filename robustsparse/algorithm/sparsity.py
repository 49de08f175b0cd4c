"""How many predictors are worth trying."""

from collections.abc import Sequence
from math import log
from typing import Literal

# What `k=` takes.
Sparsity = int | Sequence[int] | Literal["auto"]

_GRID = (*range(1, 21), 25, 30)
# The largest k of a path, by the rows that a coefficient needs to be found among d predictors; small data get a path of
# a few values all the same, so that the choice is not made for them.
_ROWS_PER_LOG, _MOST = 3.0, 30
_ROWS_PER_TERM, _ENOUGH = 5, 8


def largest_k(n: int, free: int) -> int:
    """Largest k worth trying with n rows and `free` predictors.

    Examples
    --------
    >>> largest_k(300, 1000)
    14
    """
    wanted = min(int(n / (_ROWS_PER_LOG * log(max(free, 3)))), _MOST)
    return max(1, min(max(wanted, min(n // _ROWS_PER_TERM, _ENOUGH)), free))


def identifiable_k(n: int, free: int) -> int:
    """Largest k that n good rows can tell from the noise: k log d ≤ n, and three rows a coefficient.

    Examples
    --------
    >>> identifiable_k(300, 1000)
    43
    """
    return max(1, min(int(n / log(max(free, 3))), n // 3, free))


def k_grid(n: int, free: int) -> tuple[int, ...]:
    """Values of k along a path, from 1 to `largest_k`."""
    most = largest_k(n, free)
    return tuple(k for k in _GRID if k <= most)
