"""The arguments of a fit, checked and completed."""

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from robustsparse.algorithm.bad_share import LARGEST_TRIM
from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.gradients import EstimatorLike, as_estimator
from robustsparse.algorithm.losses import Loss, as_loss
from robustsparse.algorithm.problem import Settings
from robustsparse.algorithm.sparsity import Sparsity
from robustsparse.base.checks import (
    as_rng,
    check_choice,
    check_count,
    check_number,
    refuse_word,
)
from robustsparse.base.errors import ParameterError
from robustsparse.base.threads import threads_for
from robustsparse.base.types import Array
from robustsparse.regression.arguments import Arguments, Cells, Cov, Epsilon, Goal, Select
from robustsparse.regression.families import as_family, check_loss
from robustsparse.regression.family import Family
from robustsparse.robust.standardize import SCALES, ScaleLike

# With a robust step, and with a step of fixed length.
_MAX_ITER, _MAX_ITER_FIXED = 100, 300
# Share of bad rows that the first fit assumes where it is to be estimated.
PILOT_EPSILON = 0.2


@dataclass(frozen=True)
class Options:
    """Arguments of a fit, checked.

    Attributes
    ----------
    family, estimator, loss, k, select, goal, cells, cov, settings, rng, verbose, threads
        As asked for, or what suits the others.
    asked : str or callable
        The estimator as the user gave it: one given by name follows the contamination and the response.
    epsilon : float
        The share of bad rows to survive; if it is to be estimated, the one that a first fit assumes.
    estimated : bool
        Whether it is to be estimated.
    scale : str
        Scale of the columns.
    refit : bool
        Whether the chosen columns are refitted robustly.
    split : int
        Parts of the rows, one an iteration; 0 uses all rows in each.
    most_trimmed : float
        Largest share that the response allows to trim at each end.
    """

    family: Family
    estimator: Estimator
    asked: EstimatorLike
    loss: Loss
    k: Sparsity
    select: Select
    epsilon: float
    estimated: bool
    scale: str
    settings: Settings
    refit: bool
    split: int
    rng: np.random.Generator
    verbose: bool
    threads: int
    most_trimmed: float = LARGEST_TRIM
    goal: Goal = "select"
    cells: Cells = False
    cov: Cov = "sandwich"

    @property
    def named(self) -> bool:
        """Whether the gradient estimator was asked for by name."""
        return isinstance(self.asked, str)


def make_options(asked: Arguments) -> Options:
    """Check the arguments of `rht` and `rht_fit` and fill in what they leave open."""
    family = as_family(asked.family)
    check_choice("select", asked.select, get_args(Select))
    check_choice("goal", asked.goal, get_args(Goal))
    check_choice("cov", asked.cov, get_args(Cov))
    check_choice("cells", asked.cells, (True, False, "auto"))
    epsilon = _assumed(asked.epsilon)
    rng = as_rng(asked.rng)
    estimator = as_estimator(asked.estimator, epsilon, rng)
    loss = family.own_loss() if asked.loss is None else as_loss(asked.loss)
    check_loss(loss, asked.loss, family)
    return Options(
        family=family,
        estimator=estimator,
        asked=asked.estimator,
        loss=loss,
        k=asked.k,
        select=asked.select,
        epsilon=epsilon,
        estimated=asked.epsilon == "auto",
        scale=_scale(asked.standardize, estimator, family),
        settings=_settings(asked, family),
        refit=bool(asked.refit) and isinstance(loss, family.losses),
        split=_parts(asked),
        rng=rng,
        verbose=bool(asked.verbose),
        threads=threads_for(asked.n_jobs),
        goal=asked.goal,
        cells=asked.cells,
        cov=asked.cov,
    )


def _settings(asked: Arguments, family: Family) -> Settings:
    step, radius = asked.step, family.radius
    if isinstance(step, str):
        check_choice("step", step, ("auto", "search"))
    else:
        step = check_number("step", step, 0.0, open_low=True)
    if asked.radius is not None:
        radius = check_number("radius", asked.radius, 0.0, open_low=True)
    most = _MAX_ITER if step == "auto" else _MAX_ITER_FIXED
    iterations = most if asked.max_iter is None else check_count("max_iter", asked.max_iter, 1)
    tol = family.tol if asked.tol is None else check_number("tol", asked.tol, 0.0, 1.0)
    return Settings(step, radius, iterations, tol)


def _parts(asked: Arguments) -> int:
    parts = 0 if asked.split is False else check_count("split", asked.split, 2)
    if parts and (not np.isscalar(asked.k) or asked.k == "auto"):
        raise ParameterError("split needs a number for k: each part of the rows is used only once.")
    if parts and asked.step == "search":
        raise ParameterError(
            "step='search' compares runs on the same rows, and split uses each row once; give a number or 'auto'."
        )
    return parts


def _scale(asked: ScaleLike, estimator: Estimator, family: Family) -> str:
    if asked is True:
        return estimator.column_scale or family.column_scale
    if asked is False:
        return "none"
    check_choice("standardize", asked, (True, False, *SCALES))
    return str(asked)


def for_response(options: Options, y: Array) -> Options:
    """Trim less than asked where that would remove most of a rare class."""
    most = options.family.most_trimmed(y)
    return with_epsilon(replace(options, most_trimmed=most), options.epsilon)


def with_epsilon(options: Options, epsilon: float) -> Options:
    """The options for another share of bad rows: an estimator asked for by name follows it."""
    options = replace(options, epsilon=epsilon)
    if not options.named:
        return options
    own = as_estimator(options.asked, epsilon, options.rng, options.most_trimmed)
    return replace(options, estimator=own)


def _assumed(epsilon: Epsilon) -> float:
    if isinstance(epsilon, str):
        refuse_word("epsilon", epsilon, "a number from 0 to below 0.5")
        return PILOT_EPSILON
    return check_number("epsilon", epsilon, 0.0, 0.49)
