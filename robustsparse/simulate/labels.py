"""Attacks on two-class data, where y holds 0 and 1 and has to keep doing so."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from robustsparse.base.types import Array
from robustsparse.simulate.battery import Attack, Corrupted, overwrite, random_rows


def paper(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Write the paper's outliers: x random +3 or -3, the label drawn with the opposite odds.

    ``P(y = 1 | x) = 1 / (1 + exp(x'beta))``. Distinguishable in x: every entry
    is two or four standard deviations from its column's mean.
    """
    x_bad = rng.choice([-3.0, 3.0], (count, X.shape[1]))
    y_bad = (rng.random(count) < expit(-x_bad @ beta)).astype(np.float64)
    return overwrite(X, y, random_rows(y, count, rng), x_bad, y_bad)


def flip_y(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Swap the label in random rows.

    x is authentic. Distinguishable only where the true odds are lopsided.
    """
    rows = random_rows(y, count, rng)
    return overwrite(X, y, rows, X[rows], 1.0 - y[rows])


def leverage(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Leverage points: x of a row times 100, with the label that `beta` thinks least likely.

    Distinguishable, grossly, in x.
    """
    rows = random_rows(y, count, rng)
    x_bad = 100.0 * X[rows]
    return overwrite(X, y, rows, x_bad, (x_bad @ beta < 0).astype(np.float64))


label_attacks: dict[str, Attack] = {"paper": paper, "flip_y": flip_y, "leverage": leverage}
"""Attacks on labels by name, for `logistic`."""
