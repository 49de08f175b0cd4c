"""Normal quantiles of residuals, with the envelope that normal samples stay in."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from robustsparse.checks import as_rng
from robustsparse.errors import ParameterError

Array = NDArray[np.float64]

# Samples for the envelope: its ends at 95% rest on about twelve samples each.
_SAMPLES = 500
# From this many rows on, the line is so well determined that the exact distribution of the order
# statistics replaces the simulation.
_EXACT_FROM = 3000


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
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r} must be a number between 0 and 1, for example 0.95.")
    finite = std_resid[np.isfinite(std_resid.to_numpy(dtype=float))].sort_values(kind="stable")
    sample = np.asarray(finite, dtype=np.float64)
    n = len(sample)
    # Blom's positions: close to the expected order statistics.
    theoretical = stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    low, high = _envelope(theoretical, level, as_rng(rng)) if n else (sample, sample)
    center, slope = _line(sample[None, :], theoretical) if n else (np.zeros(1), np.ones(1))
    return pd.DataFrame(
        {
            "theoretical": theoretical,
            "sample": sample,
            "line": center[0] + slope[0] * theoretical,
            "low": center[0] + slope[0] * low,
            "high": center[0] + slope[0] * high,
        },
        index=finite.index,
    )


def _line(samples: Array, theoretical: Array) -> tuple[Array, Array]:
    """Line through the quartiles of each sorted sample (m, n): intercepts and slopes (m,)."""
    below, above = np.quantile(samples, [0.25, 0.75], axis=1)
    x0, x1 = np.quantile(theoretical, [0.25, 0.75])
    slope = (above - below) / (x1 - x0) if x1 > x0 else np.zeros(len(samples))
    return below - slope * x0, slope


def _envelope(theoretical: Array, level: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Ends of the envelope around the line with intercept 0 and slope 1."""
    n = len(theoretical)
    tails = [(1 - level) / 2, (1 + level) / 2]
    if n >= _EXACT_FROM:
        order = np.arange(1, n + 1)
        exact = [stats.norm.ppf(stats.beta.ppf(tail, order, n + 1 - order)) for tail in tails]
        return exact[0], exact[1]
    samples = np.sort(rng.standard_normal((_SAMPLES, n)), axis=1)
    centers, slopes = _line(samples, theoretical)
    usable = slopes > 0
    if not usable.any():
        return theoretical, theoretical
    scaled = (samples[usable] - centers[usable, None]) / slopes[usable, None]
    low, high = np.quantile(scaled, tails, axis=0)
    return low, high
