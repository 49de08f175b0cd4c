"""A gradient estimator from outside the package: winsorized means."""

from dataclasses import dataclass

import numpy as np

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.types import Array


@dataclass(frozen=True)
class Winsorized(Estimator):
    """Mean of the values after the largest and smallest have been brought to the next one.

    Parameters
    ----------
    share : float
        Share of the values at each end.
    """

    share: float = 0.2

    def __call__(self, X: Array, score: Array) -> Array:
        """Winsorized mean of `x_ij * score_i` for each j."""
        products = X * score[:, None]
        low, high = np.quantile(products, [self.share, 1.0 - self.share], axis=0)
        return np.clip(products, low, high).mean(axis=0)

    def lighter(self) -> "Winsorized":
        """Bring in less once bad rows have been rejected."""
        return Winsorized(min(self.share, 0.02))

    def overwhelmed(self, bad: int, n: int, d: int) -> str:
        """Tell the user if more rows are bad than are brought in."""
        if bad <= max(self.share * n, 1):
            return ""
        return f"{bad} of {n} rows do not fit the model, more than a share of {self.share:g}; use a larger one."

    def words(self, n: int, d: int) -> str:
        """For the summary."""
        return f"{100 * self.share:g}% winsorized mean"
