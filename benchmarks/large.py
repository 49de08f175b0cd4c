"""The paper's linear model column by column, so that a design of gigabytes is written once and never copied."""

from math import exp, sqrt

import numpy as np

from benchmarks.problems import Array

_CORRELATION, _SIGMA, _BAD = exp(-1.0), 0.5, 0.1


def draw(n: int, d: int, k: int, seed: int = 0) -> tuple[Array, Array]:
    """Transposed design (d, n) and response (n,); a tenth of the rows lies on a wrong plane with entries ±1."""
    rng = np.random.default_rng(seed)
    bad = rng.permutation(n)[: round(_BAD * n)]
    XT = np.empty((d, n))
    rng.standard_normal(out=XT[0])
    for j in range(1, d):
        rng.standard_normal(out=XT[j])
        XT[j] *= sqrt(1.0 - _CORRELATION**2)
        XT[j] += _CORRELATION * XT[j - 1]
        # Of the column before, good rows alone go into the next one: the bad are overwritten there too.
        XT[j - 1, bad] = _signs(rng, len(bad))
    XT[-1, bad] = _signs(rng, len(bad))
    # Apart from each other and of turning sign, so that problems of all sizes are equally hard.
    support = (np.arange(k) + 0.5) * d / k
    plane = np.resize([1.0, -1.0], k) @ XT[support.astype(np.intp)]
    y = plane + _SIGMA * rng.standard_normal(n)
    y[bad] = -plane[bad]
    return XT, np.asarray(y)


def _signs(rng: np.random.Generator, count: int) -> Array:
    return np.asarray(2.0 * rng.integers(0, 2, count) - 1.0)
