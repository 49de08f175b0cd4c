"""The attack battery: ways in which an adversary corrupts a fraction of the rows.

An attack sees everything (authentic rows, true coefficients) and overwrites `count` rows, as in
the paper's definition of epsilon-corrupted samples. It returns new arrays and the mask of the
rows that it wrote; all other rows stay as they were. "Distinguishable" below means that a row
lies far from the authentic ones, in x or in its residual from the true coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array, Mask, Places
from robustsparse.robust.scales import ROUNDED_MAD_TO_SD
from robustsparse.simulate.draws import sparse_signs

Rows: TypeAlias = Places
Corrupted: TypeAlias = tuple[Array, Array, Mask]
Attack: TypeAlias = Callable[[Array, Array, Array, int, np.random.Generator], Corrupted]

FAR = 10.0  # a far row, in standard deviations of the columns
Y_SHIFT = 20.0  # about nine standard deviations of the paper's response
EDGE = 3.0  # residual scales at which rejection rules usually cut
UPPER = 0.99  # quantile that serves as "the inliers' scale" of a single value


def paper(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Write the paper's outliers: x random +1 or -1, ``y = -x'beta``.

    Each x lies at the inliers' scale. Distinguishable by the residual ``-2 x'beta``, except
    where the signs cancel: with an even number k of true predictors many rows have
    ``x'beta = 0`` and lie on the true plane.
    """
    x_bad = rng.choice([-1.0, 1.0], (count, X.shape[1]))
    return overwrite(X, y, random_rows(y, count, rng), x_bad, -x_bad @ beta)


def leverage(
    X: Array,
    y: Array,
    beta: Array,
    count: int,
    rng: np.random.Generator,
    factor: float = 100.0,
) -> Corrupted:
    """Leverage points: x of a row times `factor` (100), ``y = -x'beta``.

    Distinguishable, grossly: every entry of x is far away.
    """
    rows = random_rows(y, count, rng)
    x_bad = X[rows] * factor
    return overwrite(X, y, rows, x_bad, -x_bad @ beta)


def leverage_huge(
    X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator
) -> Corrupted:
    """Leverage points as by a wrong unit: x times a million, ``y = -x'beta``.

    Distinguishable, grossly; a single such row ruins every average.
    """
    return leverage(X, y, beta, count, rng, factor=1e6)


def leverage_false(
    X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator
) -> Corrupted:
    """Leverage that argues for false predictors: some of their entries times 100 explain y.

    As many false columns as there are true ones carry coefficients +1 or -1, and y is what they
    predict. Distinguishable, but only in those few columns and by a gross residual.
    """
    rows = random_rows(y, count, rng)
    rival = _rival(beta, rng)
    x_bad = X[rows]
    x_bad[:, rival != 0] *= 100.0
    return overwrite(X, y, rows, x_bad, x_bad @ rival)


def flip_y(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Change the sign of y in random rows.

    x is authentic. Distinguishable by the residual ``-2y``, so not where y is small.
    """
    rows = random_rows(y, count, rng)
    return overwrite(X, y, rows, X[rows], -y[rows])


def flip_largest(
    X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator
) -> Corrupted:
    """Turn the rows with the largest ``|x'beta|`` against the model: y becomes ``-10 y``.

    x is authentic, and these rows carried most of the information. Distinguishable, grossly, by
    the residual.
    """
    rows = np.argsort(-np.abs(X @ beta), kind="stable")[:count]
    return overwrite(X, y, rows, X[rows], -10.0 * y[rows])


def shift_y(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Add 20 to y in random rows.

    x is authentic. Distinguishable, grossly, by the residual; pulls the intercept above all.
    """
    rows = random_rows(y, count, rng)
    return overwrite(X, y, rows, X[rows], y[rows] + Y_SHIFT)


def mimic(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Rows that look like inliers in every column and lie on the opposite plane, ``y = -x'beta``.

    Each entry of x is an authentic value of its column, drawn independently. Not distinguishable
    in any column, nor in y; by the residual ``-2 x'beta`` unless that is small.
    """
    rows = random_rows(y, count, rng)
    source = rng.integers(0, len(y), (count, X.shape[1]))
    x_bad = np.take_along_axis(X, source, axis=0)
    return overwrite(X, y, rows, x_bad, -x_bad @ beta)


def equal_far(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """All bad rows equal and far away: entries +10 or -10, ``y = -x'beta`` as large as can be.

    Distinguishable, grossly, in x and by the residual, but no row is an outlier among its copies.
    """
    return _equal_rows(X, y, beta, count, rng, FAR)


def equal_near(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """All bad rows equal, at the inliers' scale: entries +1 or -1, ``y = -x'beta``.

    Distinguishable by the residual only if the fit is already right; their being equal is
    the only other trace.
    """
    return _equal_rows(X, y, beta, count, rng, 1.0)


def edge(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Rows at the edge of the inliers: residual of 3 scales, always toward ``y = 0``.

    x is authentic; the scale is the normalized MAD of the authentic residuals. Hardly
    distinguishable: a rule that cuts at 3 scales sees half of them. Shrinks all coefficients.
    Without noise there is no edge and the rows stay on the true plane.
    """
    rows = random_rows(y, count, rng)
    fitted = X[rows] @ beta
    return overwrite(X, y, rows, X[rows], fitted - np.sign(fitted) * EDGE * _noise(X, y, beta))


def one_block(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """One bad batch: consecutive rows with every column shifted by 10 and the sign of y changed.

    Distinguishable, grossly, in x. Concentrated in the file as a broken device or a bad day would
    be: all in one block of consecutive rows, or spread over all blocks that are dealt in turn.
    """
    start = int(rng.integers(0, len(y) - count + 1))
    rows = np.arange(start, start + count)
    return overwrite(X, y, rows, X[rows] + FAR, -y[rows])


def cancel(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Cancel the gradient at zero: over all rows, ``sum x_j y = 0`` for every true predictor.

    The bad rows share the burden equally, with y and the true columns' x of like size; false
    columns keep authentic values. At a tenth of the rows both are about three times the inliers'
    scale: distinguishable in the true columns and by the residual, but in no other column.
    """
    return _cancel_rows(X, y, beta, random_rows(y, count, rng), rng)


def delete_cancel(
    X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator
) -> Corrupted:
    """Delete the most informative rows (largest ``y x'beta``), then cancel the gradient at zero.

    As "cancel", but the authentic rows that would have spoken against it are the ones replaced, so
    milder values do; distinguishable in the true columns and by the residual only.
    """
    informative = np.argsort(-y * (X @ beta), kind="stable")[:count]
    return _cancel_rows(X, y, beta, informative, rng)


def greedy(X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator) -> Corrupted:
    """Greedy attack on the trimmed gradient at zero, one row at a time.

    Each row pushes the current trimmed gradient toward zero for the true predictors and away from
    zero for as many false ones, those that already look best. It uses the inliers' 99% quantiles
    of |y| and of |x| in these columns, authentic values elsewhere: not distinguishable in any
    single value, only by the residual.
    """
    rows = random_rows(y, count, rng)
    columns, direction = _greedy_targets(X, y, beta, count / len(y))
    kept = np.delete(np.arange(len(y)), rows)
    size_x = np.quantile(np.abs(X[:, columns]), UPPER, axis=0)
    y_bad = rng.choice([-1.0, 1.0], count) * np.quantile(np.abs(y), UPPER)
    products = X[np.ix_(kept, columns)] * y[kept, None]
    x_bad = X[rows]
    for i in range(count):
        pull = np.sign(_trimmed_means(products, count / len(y))) * direction
        x_bad[i, columns] = size_x * pull * np.sign(y_bad[i])
        products = np.vstack([products, x_bad[i, columns] * y_bad[i]])
    return overwrite(X, y, rows, x_bad, y_bad)


attacks: dict[str, Attack] = {
    "paper": paper,
    "leverage": leverage,
    "leverage_huge": leverage_huge,
    "leverage_false": leverage_false,
    "flip_y": flip_y,
    "flip_largest": flip_largest,
    "shift_y": shift_y,
    "mimic": mimic,
    "equal_far": equal_far,
    "equal_near": equal_near,
    "edge": edge,
    "one_block": one_block,
    "cancel": cancel,
    "delete_cancel": delete_cancel,
    "greedy": greedy,
}
"""Attacks by name; a user's own callable of the same signature serves as well."""

gross_attacks = frozenset(
    {
        "leverage",
        "leverage_huge",
        "leverage_false",
        "flip_largest",
        "shift_y",
        "equal_far",
        "one_block",
    }
)
"""Names of the attacks whose every row is a gross outlier."""


def find_attack(attack: str | Attack, known: dict[str, Attack]) -> Attack:
    """Return the attack of that name, or the callable itself."""
    if not isinstance(attack, str):
        return attack
    if attack not in known:
        raise ParameterError(f"attack={attack!r}: choose one of {', '.join(map(repr, known))}")
    return known[attack]


def overwrite(X: Array, y: Array, rows: Rows, x_bad: Array, y_bad: Array) -> Corrupted:
    """Copy X and y with the given rows replaced; their mask comes third."""
    X, y, mask = X.copy(), y.copy(), np.zeros(len(y), dtype=bool)
    X[rows], y[rows], mask[rows] = x_bad, y_bad, True
    return X, y, mask


def random_rows(y: Array, count: int, rng: np.random.Generator) -> Rows:
    """Draw `count` different row numbers."""
    return rng.permutation(len(y))[:count]


def _rival(beta: Array, rng: np.random.Generator) -> Array:
    """Draw coefficients +1 or -1 on as many false predictors as there are true ones."""
    false = np.flatnonzero(beta == 0)
    rival = np.zeros_like(beta)
    rival[false] = sparse_signs(len(false), min(len(false), int(np.count_nonzero(beta))), rng)
    return rival


def _equal_rows(
    X: Array, y: Array, beta: Array, count: int, rng: np.random.Generator, size: float
) -> Corrupted:
    signs = rng.choice([-1.0, 1.0], X.shape[1])
    x_bad = size * np.where(beta != 0, np.sign(beta), signs)
    return overwrite(X, y, random_rows(y, count, rng), x_bad, -x_bad @ beta)


def _noise(X: Array, y: Array, beta: Array) -> float:
    """Measure the noise: normalized MAD of the authentic residuals."""
    residual = y - X @ beta
    return float(ROUNDED_MAD_TO_SD * np.median(np.abs(residual - np.median(residual))))


def _cancel_rows(
    X: Array, y: Array, beta: Array, rows: Rows, rng: np.random.Generator
) -> Corrupted:
    true = np.flatnonzero(beta)
    kept = np.delete(np.arange(len(y)), rows)
    share = -(y[kept] @ X[np.ix_(kept, true)]) / len(rows)  # what each bad row's x*y has to be
    size = np.sqrt(np.max(np.abs(share), initial=0.0))
    y_bad = rng.choice([-1.0, 1.0], len(rows)) * size
    x_bad = X[rows]
    x_bad[:, true] = share / y_bad[:, None]
    return overwrite(X, y, rows, x_bad, y_bad)


def _trimmed_means(values: Array, share: float) -> Array:
    # Imported where it is used: scipy.stats takes longer to import than all else here.
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(values, share, axis=0))


def _greedy_targets(X: Array, y: Array, beta: Array, trim: float) -> tuple[Rows, Array]:
    """Choose true columns (direction -1: toward zero), best false ones (+1: away from it)."""
    true, false = np.flatnonzero(beta), np.flatnonzero(beta == 0)
    gradient = np.abs(_trimmed_means(X[:, false] * y[:, None], trim))
    rivals = false[np.argsort(-gradient, kind="stable")[: len(true)]]
    direction = np.r_[-np.ones(len(true)), np.ones(len(rivals))]
    return np.r_[true, rivals], direction
