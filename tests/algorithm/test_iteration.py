"""Hard thresholding: what the paper's Lemma B.1 says of the k' largest coefficients."""

import numpy as np
import pytest

from robustsparse.algorithm.iteration import largest
from robustsparse.base.types import Array

ROUNDING = 1e-12


def kept(z: Array, k: int) -> Array:
    places = largest(np.arange(len(z)), z, k)
    out = np.zeros(len(z))
    out[places] = z[places]
    return out


def quotient(beta: Array, z: Array, k: int) -> float:
    """What the lemma bounds: how far thresholding z may turn away from a sparse beta."""
    left = z - kept(z, k)
    gap = beta - kept(z, k)
    return float(gap @ left / (gap @ gap))


@pytest.mark.parametrize(("k", "wide"), [(1, 1), (2, 6), (3, 12), (5, 7)])
def test_lemma_b1_bounds_what_thresholding_costs(k: int, wide: int) -> None:
    rng = np.random.default_rng(k)
    bound = 0.5 * np.sqrt(k / wide)
    worst = -np.inf
    for _ in range(500):
        z, beta = rng.standard_t(2, size=30), np.zeros(30)
        beta[rng.choice(30, k, replace=False)] = rng.standard_t(2, size=k)
        worst = max(worst, quotient(beta, z, wide))
    assert worst <= bound + ROUNDING


@pytest.mark.parametrize(("k", "wide"), [(1, 1), (2, 6), (3, 12)])
def test_lemma_b1_is_sharp(k: int, wide: int) -> None:
    z, beta = np.ones(wide + k), np.zeros(wide + k)
    # Ties go to the lowest columns, so that the last k are left out.
    beta[wide:] = np.sqrt(wide / k)
    assert quotient(beta, z, wide) == pytest.approx(0.5 * np.sqrt(k / wide), rel=ROUNDING)
