"""The arguments of a fit, checked and completed."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from robustsparse.algorithm.gradients import (
    LARGEST_TRIM,
    TRIM_PER_EPSILON,
    GradientEstimator,
    MedianOfMeans,
    Trimmed,
    as_estimator,
)
from robustsparse.algorithm.losses import Huber, Logistic, Loss, Squared, as_loss
from robustsparse.algorithm.problem import Settings
from robustsparse.base.checks import as_rng, check_choice, check_count, check_number
from robustsparse.base.errors import ParameterError
from robustsparse.base.threads import threads_for
from robustsparse.base.types import Array
from robustsparse.robust.standardize import SCALES

Epsilon = float | Literal["auto"]

FAMILIES = ("gaussian", "binomial")
# Without a ball the coefficients of separable classes grow forever; a change of ten in the log-odds
# for one scale of a predictor is certainty already.
_BINOMIAL_RADIUS = 10.0
_MAX_ITER = {True: 100, False: 300}
# On the boundary of that ball the steps are plain ones, and creep.
_TOL = {"gaussian": 1e-10, "binomial": 1e-5}
# Losses whose supports have a robust refit.
REFITTED = (Squared, Huber, Logistic)
# Share of bad rows that the first fit assumes where it is to be estimated.
PILOT_EPSILON = 0.2
# Largest part of the rarer class that is trimmed at each end: its rows are the extremes of a good
# predictor.
_RARE_TRIMMED = 1.0 / 3.0


@dataclass(frozen=True)
class Options:
    """Arguments of a fit, checked."""

    family: str
    estimator: GradientEstimator
    # The estimator as the user gave it: one given by name follows the contamination and the response.
    asked: Any
    loss: Loss
    k: Any
    select: str
    # The share of bad rows to survive; if it is to be estimated, the one that a first fit assumes.
    epsilon: float
    estimated: bool
    how: str
    settings: Settings
    refit: bool
    split: int
    rng: np.random.Generator
    verbose: bool
    threads: int
    # Share of the rarer class.
    rare: float = 0.5


def make_options(
    family: str = "gaussian",
    estimator: Any = "trim",
    *,
    k: Any = "auto",
    select: str = "ric",
    loss: Any = None,
    epsilon: Epsilon = 0.1,
    standardize: Any = True,
    step: Any = "auto",
    radius: float | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    refit: bool = True,
    split: Any = False,
    rng: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Options:
    """Check the arguments of `rht` and `rht_fit` and fill in what they leave open."""
    check_choice("family", family, FAMILIES)
    check_choice("select", select, ("ric", "cv"))
    assumed = _assumed(epsilon)
    generator = as_rng(rng)
    chosen = as_estimator(estimator, assumed, generator)
    own = "squared" if family == "gaussian" else "logistic"
    the_loss = as_loss(own if loss is None else loss)
    _check_loss(loss, the_loss, family)
    if step != "auto":
        step = check_number("step", step, 0.0, open_low=True)
    if radius is not None:
        radius = check_number("radius", radius, 0.0, open_low=True)
    elif family == "binomial":
        radius = _BINOMIAL_RADIUS
    iterations = (
        _MAX_ITER[step == "auto"] if max_iter is None else check_count("max_iter", max_iter, 1)
    )
    tolerance = _TOL[family] if tol is None else check_number("tol", tol, 0.0, 1.0)
    settings = Settings(step, radius, iterations, tolerance)
    parts = 0 if split is False else check_count("split", split, 2)
    if (parts and not np.isscalar(k)) or (parts and k == "auto"):
        raise ParameterError("split needs a number for k: each part of the rows is used only once.")
    return Options(
        family, chosen, estimator, the_loss, k, select, assumed, epsilon == "auto",
        _scale(standardize, chosen, family), settings,
        bool(refit) and isinstance(the_loss, REFITTED), parts, generator,
        bool(verbose), threads_for(n_jobs),
    )  # fmt: skip


def _check_loss(asked: Any, loss: Loss, family: str) -> None:
    """Refuse a loss of ours for the other kind of response; what a user's own is for, only the user knows."""
    own = isinstance(loss, Logistic) if family == "gaussian" else isinstance(loss, Squared | Huber)
    if own:
        fitting = "'squared' or 'huber'" if family == "gaussian" else "'logistic'"
        raise ParameterError(
            f"loss={asked!r} does not fit family={family!r}; use {fitting}, or the other family."
        )


def _scale(standardize: Any, estimator: GradientEstimator, family: str) -> str:
    if standardize is True:
        if isinstance(estimator, MedianOfMeans):
            return "blocks"
        # A predictor that tells two classes apart has two modes, and its MAD may see only one of
        # them.
        return "mad" if family == "gaussian" else "winsor"
    if standardize is False:
        return "none"
    check_choice("standardize", standardize, (True, False, *SCALES))
    return str(standardize)


def for_response(options: Options, y: Array) -> Options:
    """Trim less than asked where that would remove most of a rare class."""
    if options.family == "gaussian":
        return options
    mean = float(y.mean())
    return with_epsilon(replace(options, rare=min(mean, 1.0 - mean)), options.epsilon)


def with_epsilon(options: Options, epsilon: float) -> Options:
    """The options for another share of bad rows: a trimmed mean asked for by name follows it."""
    options = replace(options, epsilon=epsilon)
    if not is_named(options, "trim"):
        return options
    most = LARGEST_TRIM if options.family == "gaussian" else _RARE_TRIMMED * options.rare
    return replace(options, estimator=Trimmed(min(TRIM_PER_EPSILON * epsilon, most)))


def _assumed(epsilon: Any) -> float:
    if isinstance(epsilon, str):
        check_choice("epsilon", epsilon, ("auto",))
        return PILOT_EPSILON
    return check_number("epsilon", epsilon, 0.0, 0.49)


def is_named(options: Options, name: str) -> bool:
    """Whether the gradient estimator was asked for by this name."""
    return isinstance(options.asked, str) and options.asked == name
