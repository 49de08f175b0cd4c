"""Rows of tall designs, some at a time, so that what is computed of them takes little memory."""

# Entries of a design up to which its rows are worked on together, and about as many as are at a time beyond.
_TOGETHER, _AT_A_TIME = 1 << 20, 1 << 18


def is_tall(n: int, p: int) -> bool:
    """Whether n rows of p columns are worked on in several parts."""
    return n * p > _TOGETHER


def row_slices(n: int, p: int) -> list[slice]:
    """Consecutive parts of n rows of p columns; a single one of few.

    Examples
    --------
    >>> row_slices(100, 5)
    [slice(0, 100, None)]
    >>> len(row_slices(1_000_000, 5))
    20
    """
    height = max(1, _AT_A_TIME // max(p, 1)) if is_tall(n, p) else max(n, 1)
    return [slice(first, min(first + height, n)) for first in range(0, n, height)]
