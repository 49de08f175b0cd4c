"""Least squares of very many rows in as few rows as there are columns.

All that least squares asks of a design are inner products, and the triangle of a QR decomposition has the same ones. It
is found in one pass over parts of the rows, each put below the triangle of those before.
"""

from dataclasses import replace

import numpy as np

from robustsparse.base.row_slices import is_tall, row_slices
from robustsparse.base.types import Array
from robustsparse.regression.fit.standardized import Standardized

# The rows are this many times as many as the columns, at least, for it to be worth it.
_TIMES = 100


def in_few_rows(problem: Standardized) -> Standardized:
    """A problem with the same least squares, without weights or offset, in few rows; the same one unless it is tall.

    Only inner products may be asked of it: its rows are none of the data.
    """
    n, p = problem.n, len(problem.XT)
    single = problem.terms is None and problem.whole is None
    if not (single and is_tall(n, p) and n >= _TIMES * p):
        return problem
    triangle = np.empty((0, p + 1))
    for rows in row_slices(n, p):
        stacked = np.vstack([triangle, _weighted(problem, rows)])
        triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
    return replace(
        problem, XT=np.ascontiguousarray(triangle[:, :p].T), y=triangle[:, p].copy(), weights=None, offset=None,
        certainty=None, variables=None, seen=None,
    )  # fmt: skip


def _weighted(problem: Standardized, rows: slice) -> Array:
    """Some rows with their response in the last column, times the roots of their weights."""
    block = np.empty((rows.stop - rows.start, len(problem.XT) + 1))
    block[:, :-1] = problem.columns(np.arange(len(problem.XT)), rows)
    block[:, -1] = problem.y[rows]
    if problem.offset is not None:
        block[:, -1] -= problem.offset[rows]
    if problem.weights is not None:
        block *= np.sqrt(problem.weights[rows])[:, None]
    return block
