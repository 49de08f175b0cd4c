"""Quantiles of residuals beside those of a normal sample or of the model, with the envelope that these stay in."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import ndtri

from robustsparse.base.checks import as_rng
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array

# Samples for the envelope: its ends at 95% rest on about twelve samples each.
_SAMPLES = 500
# Of a model samples are drawn whole: this many numbers at most, but never fewer samples than the second.
_DRAWN, _FEWEST = 5_000_000, 60
# The envelope is simulated at no more than about this many ranks and interpolated between them, the
# outermost ones being all among them.
_RANKS = 1000
_OUTERMOST = 100


def qq_frame(
    std_resid: "pd.Series[float]",
    level: float = 0.95,
    rng: "int | np.random.Generator | None" = None,
) -> pd.DataFrame:
    """Sorted residuals beside normal quantiles, a robust line and a pointwise envelope.

    The line goes through the quartiles. The envelope is what normal samples of the same size do
    around their own lines, scaled to this one, so that outliers do not widen it.

    Parameters
    ----------
    std_resid : Series
        Standardized residuals by row label; missing and infinite ones are left out.
    level : float
        Share of normal samples that are inside the envelope, point by point.
    rng : int, Generator or None
        Random numbers of the simulation; None for a fixed seed.

    Returns
    -------
    DataFrame
        By row label, ascending: `theoretical`, `sample`, `line`, `low`, `high`.

    Examples
    --------
    >>> frame = qq_frame(pd.Series([0.3, -1.2, 0.9, -0.1, 250.0]))
    >>> bool(frame["sample"].iloc[-1] > frame["high"].iloc[-1])
    True
    """
    finite = _sorted(std_resid, level)
    sample = np.asarray(finite, dtype=np.float64)
    n = len(sample)
    # Blom's positions: close to the expected order statistics.
    theoretical = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    low, high = _envelope(theoretical, level, as_rng(rng)) if n else (sample, sample)
    every = np.arange(1.0, n + 1)
    center, slope = _line(sample[None, :], every, theoretical) if n else (sample, sample)
    return pd.DataFrame(
        {
            "theoretical": theoretical,
            "sample": sample,
            "line": center + slope * theoretical,
            "low": center + slope * low,
            "high": center + slope * high,
        },
        index=finite.index,
    )


def model_qq_frame(
    resid: "pd.Series[float]",
    sample: Callable[[np.random.Generator], Array],
    level: float = 0.95,
    rng: "int | np.random.Generator | None" = None,
) -> pd.DataFrame:
    """Sorted residuals beside those that the model itself would have, with a pointwise envelope.

    For residuals that are not normal even where the model is right, such as those of two classes (Augustin, Sauleau
    and Wood, 2012): responses are drawn from the model, and the line is where residuals equal the mean of theirs.

    Parameters
    ----------
    resid : Series
        Residuals by row label; missing and infinite ones are left out.
    sample : callable
        Draws the residuals (n,) of responses that the model made, with a random generator.
    level : float
        Share of the samples that are inside the envelope, point by point.
    rng : int, Generator or None
        Random numbers of the simulation; None for a fixed seed.

    Returns
    -------
    DataFrame
        By row label, ascending: `theoretical`, `sample`, `line`, `low`, `high`.

    Examples
    --------
    >>> frame = model_qq_frame(pd.Series([0.3, -1.2, 0.9, 8.0]), lambda rng: rng.uniform(-2, 2, 4))
    >>> (frame["sample"] > frame["high"]).tolist()
    [False, False, False, True]
    """
    finite = _sorted(resid, level)
    n = len(finite)
    if not n:
        empty = np.zeros(0)
        return pd.DataFrame(
            dict.fromkeys(("theoretical", "sample", "line", "low", "high"), empty),
            index=finite.index,
        )
    ranks, generator = _ranks(n), as_rng(rng)
    samples = min(max(_DRAWN // n, _FEWEST), _SAMPLES)
    draws = np.array([_at_ranks(sample(generator), ranks, n) for _ in range(samples)])
    ends = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    every = np.arange(1.0, n + 1)
    middle, low, high = (np.interp(every, ranks, part) for part in (draws.mean(axis=0), *ends))
    return pd.DataFrame(
        {
            "theoretical": middle,
            "sample": np.asarray(finite, dtype=np.float64),
            "line": middle,
            "low": low,
            "high": high,
        },
        index=finite.index,
    )


def _at_ranks(values: Array, ranks: Array, n: int) -> Array:
    """Order statistics of a sample at some ranks among n, the sample being of n or a little more."""
    ordered = np.sort(values[np.isfinite(values)])
    return np.interp(ranks, np.linspace(1.0, n, len(ordered)), ordered)


def _sorted(std_resid: "pd.Series[float]", level: float) -> "pd.Series[float]":
    """Finite residuals, ascending; an error if the level is none."""
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r} must be a number between 0 and 1, for example 0.95.")
    return std_resid[np.isfinite(std_resid.to_numpy(dtype=float))].sort_values(kind="stable")


def _line(samples: Array, ranks: Array, theoretical: Array) -> tuple[Array, Array]:
    """Line through the quartiles of samples (m, g), sorted and known at g ranks.

    Returns the intercepts and slopes (m,) of sample against normal quantiles.
    """
    n = len(theoretical)
    every = np.arange(1.0, n + 1)
    positions = [1 + (n - 1) * share for share in (0.25, 0.75)]
    (x0,), (x1,) = (_at(theoretical[None, :], every, position) for position in positions)
    below, above = (_at(samples, ranks, position) for position in positions)
    slope = (above - below) / (x1 - x0) if x1 > x0 else np.zeros(len(samples))
    return below - slope * x0, slope


def _at(samples: Array, ranks: Array, position: float) -> Array:
    """Values (m,) of sorted samples at a rank that need not be whole."""
    i = min(int(np.searchsorted(ranks, position, side="right")), len(ranks) - 1)
    j = max(i - 1, 0)
    share = (position - ranks[j]) / (ranks[i] - ranks[j]) if i > j else 0.0
    return np.asarray((1 - share) * samples[:, j] + share * samples[:, i], float)


def _envelope(theoretical: Array, level: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Ends of the envelope around the line with intercept 0 and slope 1."""
    n = len(theoretical)
    every = np.arange(1.0, n + 1)
    ranks = _ranks(n)
    samples = _normal_order_statistics(ranks, n, rng)
    centers, slopes = _line(samples, ranks, theoretical)
    usable = slopes > 0
    if not usable.any():
        return theoretical, theoretical
    scaled = (samples[usable] - centers[usable, None]) / slopes[usable, None]
    ends = np.quantile(scaled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    offsets = ends - theoretical[ranks.astype(int) - 1]
    low, high = (theoretical + np.interp(every, ranks, offset) for offset in offsets)
    return low, high


def _ranks(n: int) -> Array:
    """Ranks to simulate: all of a small sample, else the outermost and some in between."""
    if n <= _RANKS:
        return np.arange(1.0, n + 1)
    outer = np.arange(1.0, _OUTERMOST + 1)
    inner = np.linspace(_OUTERMOST, n + 1 - _OUTERMOST, _RANKS - 2 * _OUTERMOST).round()
    return np.unique(np.concatenate([outer, inner, n + 1 - outer]))


def _normal_order_statistics(ranks: Array, n: int, rng: np.random.Generator) -> Array:
    """Draw standard normal samples of size n, sorted, at some ranks only: (samples, ranks).

    The gaps between uniform order statistics are gamma variables divided by their sum.
    """
    gaps = rng.standard_gamma(
        np.diff(ranks, prepend=0.0, append=n + 1.0), (_SAMPLES, len(ranks) + 1)
    )
    sums = np.cumsum(gaps, axis=1)
    return np.asarray(ndtri(sums[:, :-1] / sums[:, -1:]), float)
