"""Variables that a design holds as several columns: those of splines and polynomials, and of their products."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.types import Array, Mask, Places


@dataclass(frozen=True, eq=False)
class Bases:
    """What columns of a basis are made of.

    A column of a spline is near zero in most rows, so that its other rows look far out. Whether a row is, its variable
    tells.

    Attributes
    ----------
    variables : (n, m) the variables.
    made : (m, d) bool, which columns of the design each has a part in.
    """

    variables: Array
    made: NDArray[np.bool_]

    @property
    def columns(self) -> Mask:
        """Columns (d,) of the design that are made of one of the variables or of several."""
        return np.asarray(self.made.any(axis=0))

    def rows(self, chosen: NDArray[Any]) -> "Bases":
        """The same of some rows (a mask or numbers, which may repeat)."""
        return Bases(self.variables[chosen], self.made)

    def of_columns(self, places: Places) -> "Bases | None":
        """The same of some columns of the design; None if no basis has a part in them.

        Examples
        --------
        >>> bases = Bases(np.array([[1.0, 5.0], [2.0, 6.0]]), np.eye(2, 3, dtype=bool))
        >>> bases.of_columns(np.array([2])) is None, bases.of_columns(np.array([0, 2])).variables.shape
        (True, (2, 1))
        """
        made = self.made[:, places]
        used = made.any(axis=1)
        return Bases(self.variables[:, used], made[used]) if used.any() else None
