"""How many rows are bad: estimated from the flags of a fit, with a bound, and whether the fit can bear it."""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from scipy.special import betaincinv

from robustsparse.algorithm.gradients import (
    TRIM_PER_EPSILON,
    GradientEstimator,
    MedianOfMeans,
    Trimmed,
)
from robustsparse.algorithm.losses import Huber
from robustsparse.base.errors import ContaminationWarning, warn_user
from robustsparse.base.types import Mask
from robustsparse.regression.fit.as_printed import fit_prepared
from robustsparse.regression.fit.automatic import REJECT, Fitted, response_flags, standard_residuals
from robustsparse.regression.fit.options import REFITTED, Options, is_named, with_epsilon
from robustsparse.regression.fit.standardized import Prepared
from robustsparse.robust.scales import tau_scale

LEVEL = 0.95
# Bounds of an estimated epsilon. Flags miss some bad rows, and to trim a few more costs nothing; beyond the largest a
# trimmed mean is nearly a median.
SMALLEST, LARGEST = 0.05, 0.25
# Part of good rows that may lie beyond three scales of the residuals.
_GOOD_FLAGGED = 0.01
# Share of the blocks that bad rows must reach before a median of means is called broken.
_SPOILED_BLOCKS = 0.65
# The theory's rate over √n beyond which simulated fits break down, unless at least so much of the bad rows is found or
# the model explains so much of the response; below the last share, it explains nothing.
_BARRIER, _FOUND, _EXPLAINED, _NOTHING = 0.55, 0.6, 0.7, 0.1


@dataclass(frozen=True)
class BadShare:
    """Share of the rows that are bad.

    Attributes
    ----------
    share : float
        Share of the rows whose response a first fit, made to survive many bad rows, cannot explain; for a median of
        means only of those bad enough to spoil a block.
    upper : float
        Its upper confidence bound (Clopper and Pearson).
    level : float
        Level of the bound.
    """

    share: float
    upper: float
    level: float = LEVEL

    @classmethod
    def of(cls, bad: int, rows: int, level: float = LEVEL) -> "BadShare":
        """From a number of bad rows.

        Examples
        --------
        >>> BadShare.of(0, 100).upper.__round__(4)
        0.0295
        """
        upper = 1.0 if bad == rows else float(betaincinv(bad + 1, rows - bad, level))
        return cls(bad / rows, upper, level)

    def describe(self, rows: str = "bad rows") -> str:
        """In words.

        Examples
        --------
        >>> BadShare(0.09, 0.124).describe()
        'estimated share of bad rows 9.0%, at most 12.4% with 95% confidence'
        """
        return (
            f"estimated share of {rows} {100 * self.share:.1f}%, at most {100 * self.upper:.1f}% "
            f"with {100 * self.level:g}% confidence"
        )


def estimate_epsilon(data: Prepared, options: Options) -> tuple[Options, BadShare | None]:
    """The options with an epsilon that suits the data, if it is to be estimated, and the estimate."""
    if not options.estimated:
        return options, None
    fitted = fit_prepared(data, _pilot(options, data))
    bad = _bad_rows(data, fitted, options.estimator)
    share = BadShare.of(int(bad.sum()), data.n)
    if is_named(options, "mom"):
        settled = with_epsilon(options, min(share.upper, LARGEST))
        return replace(settled, estimator=_enough_blocks(settled, data)), share
    return with_epsilon(options, float(np.clip(share.upper, SMALLEST, LARGEST))), share


def _pilot(options: Options, data: Prepared) -> Options:
    """A first fit that survives many bad rows, with random numbers of its own."""
    pilot = replace(
        options, select="ric", split=0, verbose=False, rng=options.rng.spawn(1)[0],
        refit=isinstance(options.loss, REFITTED), k=options.k if options.refit else "auto",
    )  # fmt: skip
    if is_named(options, "mom"):
        pilot = replace(pilot, estimator=_enough_blocks(pilot, data))
    return pilot


def _enough_blocks(options: Options, data: Prepared) -> MedianOfMeans:
    """Blocks of which bad rows reach less than half, or the usual number if that is larger."""
    usual = MedianOfMeans(rng=options.rng)
    blocks = 4 * ceil(options.epsilon * data.n) + 15
    return replace(usual, blocks=max(usual.count(data.n, data.d), min(blocks, data.n // 2)))


def _bad_rows(data: Prepared, fitted: Fitted, estimator: GradientEstimator) -> Mask:
    """Rows that the estimator has to survive.

    Those whose response the fit cannot explain; for a median of means, which heavy tails are no harm to, those that
    spoil a block, moving its mean by three scales alone.
    """
    if isinstance(estimator, MedianOfMeans):
        limit = REJECT * data.n / estimator.count(data.n, data.d)
        spoiling: Mask = np.abs(standard_residuals(data, fitted)) > limit
        return spoiling
    bad = response_flags(data, fitted)
    # Huber's loss bounds what a response can do, whatever the gradient estimator.
    return bad & fitted.leverage.flags if isinstance(data.loss, Huber) else bad


def warn_if_worse(data: Prepared, fitted: Fitted, options: Options) -> None:
    """Warn if the data look worse than the gradient estimator can survive, and say what to do about it."""
    bad = int(_bad_rows(data, fitted, options.estimator).sum())
    if isinstance(options.estimator, Trimmed):
        text = _trims_too_few(data, bad, options.estimator) or _beyond_theory(
            data, fitted, bad, options
        )
    elif isinstance(options.estimator, MedianOfMeans):
        text = _spoils_too_many_blocks(data, bad, options.estimator)
    else:
        return
    if text:
        warn_user(text, ContaminationWarning)


def _trims_too_few(data: Prepared, bad: int, estimator: Trimmed) -> str:
    trimmed = estimator.count(data.n)
    # Of good rows, too, a few are beyond three scales.
    if bad <= max(trimmed, _GOOD_FLAGGED * data.n, 1):
        return ""
    return (
        f"{bad} of {data.n} rows do not fit the model, and the gradient estimator trims {trimmed} at each end; fit "
        "again with a larger epsilon, or epsilon='auto'."
    )


def _spoils_too_many_blocks(data: Prepared, bad: int, estimator: MedianOfMeans) -> str:
    blocks = estimator.count(data.n, data.d)
    if bad <= _SPOILED_BLOCKS * blocks:
        return ""
    return (
        f"{bad} of {data.n} rows do not fit the model, and the gradient estimator has {blocks} blocks and breaks when "
        "half of them hold such a row; if they are not just heavy tails, use "
        f"MedianOfMeans(blocks={4 * bad + 15}) or estimator='trim'."
    )


def _beyond_theory(data: Prepared, fitted: Fitted, bad: int, options: Options) -> str:
    """Whether a fit that was told of many bad rows found neither them nor a model, where theory says that it may.

    The paper's error is of the order ε √k log(nd). Simulated fits break down where that over √n passes a limit, unless
    the bad rows show: then they are rejected, and the rest is like clean data.
    """
    epsilon = _told(options)
    explained = _explained(data, fitted)
    if data.binary or bad >= _FOUND * epsilon * data.n or explained >= _EXPLAINED:
        return ""
    # Where nothing was found the model looked for may be any on the path.
    tried = max(fitted.path, default=0) if explained < _NOTHING else 0
    size = max(len(fitted.solution.support), tried)
    if epsilon * np.sqrt(size / data.n) * np.log(data.n * data.d) <= _BARRIER:
        return ""
    return (
        f"the fit was to survive {100 * epsilon:.3g}% of bad rows, found {bad} of {data.n}, and its terms explain "
        f"{100 * max(explained, 0.0):.0f}% of the response: with {size} terms from {data.d} columns so many bad rows "
        "are more than the estimator can survive. Take more rows or fewer columns, a smaller k, or, if fewer rows are "
        "bad, a smaller epsilon."
    )


def _told(options: Options) -> float:
    """Share of bad rows that a trimmed mean is made for."""
    if is_named(options, "trim") or not isinstance(options.estimator, Trimmed):
        return options.epsilon
    return options.estimator.alpha / TRIM_PER_EPSILON


def _explained(data: Prepared, fitted: Fitted) -> float:
    """Robust R² in standardized units."""
    target = data.y if data.offset is None else data.y - data.offset
    total = tau_scale(target - np.median(target))
    return 1.0 - (tau_scale(fitted.resid) / total) ** 2 if total > 0 else 1.0
