"""The simulated problems: the paper's linear model with corrupted rows, small and large."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustsparse import simulate

Array = NDArray[np.float64]

TRUE_K = 5
# Fraction trimmed at each end: twice the contamination, as the package does by default.
ALPHA = 0.2
SMALL, LARGE = (300, 1000), (1000, 20_000)
# Fewer columns than rows, for methods that need it.
TALL = (300, 50)


class Data(NamedTuple):
    """One data set: design, response, true coefficients and which rows are bad."""

    X: Array
    y: Array
    beta: Array
    outlier: NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """One kind of data; a seed makes it one data set.

    Attributes
    ----------
    n, d : int
        Good rows (a ninth as many bad ones are added) and columns.
    sigma : float
        Standard deviation of the noise.
    attack : str
        What the bad rows are, a name in `robustsparse.simulate.attacks`.
    """

    n: int
    d: int
    sigma: float = 0.5
    attack: str = "paper"

    def draw(self, seed: int = 0) -> Data:
        """The data set of a seed; the last one is remembered."""
        return _draw(self, seed)

    @property
    def size(self) -> str:
        """Rows and columns in words."""
        return f"{self.n} × {self.d:,}"


@lru_cache(maxsize=1)
def _draw(case: Case, seed: int) -> Data:
    drawn = simulate.linear(case.n, case.d, TRUE_K, sigma=case.sigma, attack=case.attack, rng=seed)
    assert drawn.y is not None
    assert drawn.beta is not None
    return Data(drawn.X, drawn.y, drawn.beta, drawn.outlier)


def l2_error(estimate: Array, truth: Array) -> float:
    """Distance from the true coefficients."""
    return float(np.linalg.norm(estimate - truth))


def support_f1(estimate: Array, truth: Array) -> float:
    """F1 score of the nonzero coefficients."""
    chosen, true = estimate != 0, truth != 0
    return float(2 * (chosen & true).sum() / max(chosen.sum() + true.sum(), 1))
