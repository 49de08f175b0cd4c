"""What estimators that are made for a share of bad rows have in common."""

from dataclasses import dataclass, replace
from typing import Self

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.checks import check_number
from robustsparse.robust.scales import LIGHT_TRIM

# Trimming this much at each end leaves a tenth of the rows; beyond, a trimmed mean is no better
# than a median.
LARGEST_TRIM = 0.45
# Under a cancelling attack twice the contamination must be trimmed; on clean data it costs next to
# nothing.
TRIM_PER_EPSILON = 2.0
# Part of good rows that may lie beyond three scales of the residuals.
GOOD_FLAGGED = 0.01


@dataclass(frozen=True)
class ForBadShare(Estimator):
    """An estimator made for a share of bad rows.

    Parameters
    ----------
    epsilon : float
        Share of bad rows to survive.
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon, 0.0, 0.49)

    @property
    def withstands(self) -> float:
        """The share of bad rows."""
        return self.epsilon

    @property
    def share(self) -> float:
        """Share of the rows, or of values at each end, that may go."""
        return min(TRIM_PER_EPSILON * self.epsilon, LARGEST_TRIM)

    def lighter(self) -> Self:
        """The same for the few bad rows that a rejection may have left."""
        return replace(self, epsilon=min(self.epsilon, LIGHT_TRIM / TRIM_PER_EPSILON))

    def overwhelmed(self, bad: int, n: int, d: int) -> str:
        """Whether more rows are bad than may go; of good rows, too, a few are beyond three scales."""
        if bad <= max(self.share * n, GOOD_FLAGGED * n, 1):
            return ""
        return (
            f"{bad} of {n} rows do not fit the model, and the gradient estimator is made for a share of "
            f"{self.epsilon:.3g}; fit again with a larger epsilon, or epsilon='auto'."
        )
