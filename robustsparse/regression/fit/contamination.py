"""How many rows are bad: estimated from the flags of a fit, with a bound, and whether the fit can bear it."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.errors import ContaminationWarning, warn_user
from robustsparse.base.types import Mask
from robustsparse.regression.fit.fit import fit_standardized
from robustsparse.regression.fit.models import Fitted, judged_residuals, response_flags
from robustsparse.regression.fit.options import Options, for_response, with_epsilon
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.robust.scales import tau_scale

# First part of the names of the package's own modules.
_PACKAGE = "robustsparse."
LEVEL = 0.95
# The largest epsilon that is estimated: beyond it a trimmed mean is nearly a median.
LARGEST = 0.25
# A row spoils the mean of a block that it alone moves by so many scales.
_SCALES = 3.0
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


def estimate_epsilon(problem: Standardized, options: Options) -> tuple[Options, BadShare | None]:
    """The options with an epsilon that suits the data, if it is to be estimated, and the estimate."""
    if not options.estimated:
        return options, None
    fitted = fit_standardized(problem, _pilot(options, problem))
    bad = _bad_rows(problem, fitted, options)
    share = BadShare.of(int(bad.sum()), problem.n)
    least = options.estimator.least_epsilon if options.named else Estimator.least_epsilon
    settled = with_epsilon(options, float(np.clip(share.upper, least, LARGEST)))
    return _with_enough(settled, problem), share


def suited(options: Options, problem: Standardized) -> Options:
    """The options that a fit came to for one to part of its rows, with the same share of bad ones."""
    own = for_response(options, problem.y)
    if own.estimated:
        return _with_enough(own, problem)
    return replace(own, estimator=own.estimator.with_rng(own.rng))


def _pilot(options: Options, problem: Standardized) -> Options:
    """A first fit that survives many bad rows, with random numbers of its own, whatever k is asked for."""
    pilot = replace(
        options, select="ric", goal="select", split=0, verbose=False, rng=options.rng.spawn(1)[0],
        refit=isinstance(options.loss, options.family.losses), k="auto",
    )  # fmt: skip
    return _with_enough(pilot, problem)


def _with_enough(options: Options, problem: Standardized) -> Options:
    """The options with an estimator that survives their share of bad rows; one of ours only if asked for by name."""
    if not options.named and type(options.estimator).__module__.startswith(_PACKAGE):
        return options
    estimator = options.estimator.with_rng(options.rng)
    enough = estimator.enough_for(options.epsilon, problem.n, problem.predictors)
    return replace(options, estimator=enough)


def _bad_rows(problem: Standardized, fitted: Fitted, options: Options) -> Mask:
    """Rows that the estimator has to survive.

    Those whose response the fit cannot explain; for a median of means, which heavy tails are no harm to, those that
    spoil a block, moving its mean by three scales alone.
    """
    beyond = options.estimator.spoiled_by(problem.n, problem.predictors)
    if beyond > 1.0:
        limit = _SCALES * beyond
        spoiling: Mask = np.abs(judged_residuals(problem, fitted.model)) > limit
        return spoiling
    bad = response_flags(problem, fitted.model)
    return bad & fitted.leverage.flags if getattr(problem.loss, "bounds_response", False) else bad


def warn_if_worse(problem: Standardized, fitted: Fitted, options: Options) -> None:
    """Warn if the data look worse than the gradient estimator can survive, and say what to do about it."""
    bad = int(_bad_rows(problem, fitted, options).sum())
    text = options.estimator.overwhelmed(bad, problem.n, problem.predictors) or _beyond_theory(
        problem, fitted, bad, options
    )
    if text:
        warn_user(text, ContaminationWarning)


def _beyond_theory(problem: Standardized, fitted: Fitted, bad: int, options: Options) -> str:
    """Whether a fit that was told of many bad rows found neither them nor a model, where theory says that it may.

    The paper's error is of the order ε √k log(nd). Simulated fits break down where that over √n passes a limit, unless
    the bad rows show: then they are rejected, and the rest is like clean data.
    """
    made_for = options.estimator.withstands
    # The theory is that of thresholded models; a shrunken path has far more terms.
    if made_for is None or not problem.family.has_scale or options.goal == "predict":
        return ""
    epsilon = options.epsilon if options.named else made_for
    explained = _explained(problem, fitted)
    if bad >= _FOUND * epsilon * problem.n or explained >= _EXPLAINED:
        return ""
    # Where nothing was found the model looked for may be any on the path.
    tried = max(fitted.path, default=0) if explained < _NOTHING else 0
    size = max(len(fitted.solution.support), tried)
    d = problem.predictors
    if not d or epsilon * np.sqrt(size / problem.n) * np.log(problem.n * d) <= _BARRIER:
        return ""
    return (
        f"the fit was to survive {100 * epsilon:.3g}% of bad rows, found {bad} of {problem.n}, and its terms explain "
        f"{100 * max(explained, 0.0):.0f}% of the response: with {size} terms from {problem.predictors} columns so "
        "many bad rows are more than the estimator can survive. Take more rows or fewer columns, a smaller k, or, if "
        "fewer rows are bad, a smaller epsilon."
    )


def _explained(problem: Standardized, fitted: Fitted) -> float:
    """Robust R² in standardized units."""
    target = problem.y if problem.offset is None else problem.y - problem.offset
    total = tau_scale(target - np.median(target))
    left = tau_scale(fitted.model.resid) / total if total > 0 else 0.0
    # A product can be infinite, where a power would be an error.
    return 1.0 - left * left
