"""What groups of columns add to a set of groups, by inner products alone, and in the place of each of its members.

Every group has an orthonormal basis of what its columns span. It explains slope' left⁻¹ slope of what a set leaves,
where `slope` are the inner products of its basis with the residuals and `left` is what the set leaves of the basis' own
inner products.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.exchanges import DEPENDENT, inverse_of
from robustsparse.base.types import Array, Indices


@dataclass(frozen=True)
class GroupLook:
    """What a set of groups explains, and what others would beside it.

    Attributes
    ----------
    explained : float
        By how much the set lowers the residual sum of squares.
    added : array (g,)
        By how much that falls with each group added.
    exchanged : array (m, g)
        The same once a member has gone; 0 where it is clearly less than was asked for.
    cost : array (m,)
        By how much it grows without each member.
    """

    explained: float
    added: Array
    exchanged: Array
    cost: Array


def look_at_groups(
    inside: Array,
    own: Array,
    shared: Array,
    cross: Array,
    ends: Indices,
    members: Indices,
    more: Callable[[float], Array] | None = None,
) -> GroupLook:
    """Look at all groups beside a set.

    Parameters
    ----------
    inside, own : arrays (c, c) and (c,)
        Inner products of the set's basis vectors with each other and with the target.
    shared, cross : arrays (w, c) and (w,)
        Those of the basis vectors of all groups with the set's and with the target.
    ends, members : arrays of int (g + 1,) and (m + 1,)
        Where the vectors of each group begin, of all and of the set, and where the last one ends.
    more : callable, optional
        Takes what the set explains and returns how much more (m, g) than a member a group must explain in its place
        for the exchange to be of interest; by default all are.
    """
    added, cost = np.empty(len(ends) - 1), np.empty(len(members) - 1)
    exchanged = np.empty((len(cost), len(added)))
    inverse = np.ascontiguousarray(inverse_of(inside))
    shared, coef = np.ascontiguousarray(shared), inverse @ own
    explained, slope = shared @ inverse, cross - shared @ coef
    total = float(own @ coef)
    least = np.full(exchanged.shape, -np.inf) if more is None else more(total)
    kernels.exchange_groups(
        explained, shared, slope, inverse, coef, ends, members, DEPENDENT, least,
        added, exchanged, cost,
    )  # fmt: skip
    return GroupLook(total, added, exchanged, cost)
