"""Algorithm 1 as printed, traced: what the vignettes on convergence share.

The step is the theory's 1 / L. With the covariance exp(-|i - j|), L is at most (1 + 1/e) / (1 - 1/e) = 2.16.
"""

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import robustsparse as rs
from robustsparse.algorithm.estimator import GradientEstimator
from robustsparse.algorithm.gradients import as_estimator
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEP = (1 - math.exp(-1)) / (1 + math.exp(-1))


def trace(
    X: np.ndarray,
    y: np.ndarray,
    measure: Callable[[np.ndarray], float],
    *,
    k: int,
    estimator: GradientEstimator,
    loss: object = None,
    step: float | str = STEP,
    iterations: int = 150,
    intercept: bool = False,
    radius: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """What `measure` says of the coefficients before the first and after every iteration, and the last of them.

    `rht_fit(X, y, standardize=False, intercept=False, refit=False, step=...)` takes the same steps. With
    `intercept`, the first column of X is an intercept, which is not thresholded.
    """
    measured = [measure(np.zeros(X.shape[1]))]
    problem = Problem(
        as_estimator(estimator).bind(np.ascontiguousarray(X.T)), y, loss or rs.Squared()
    )
    fit = solve(
        problem,
        k,
        keep=np.array([0]) if intercept else None,
        settings=Settings(step=step, max_iter=iterations, tol=0.0, radius=radius),
        callback=lambda coef: measured.append(measure(coef)),
        warn=False,
    )
    # Iterates that repeat exactly end the run, and would go on forever.
    measured += [measured[-1]] * (iterations + 1 - len(measured))
    return np.array(measured), fit.coef


def same_support(coef: np.ndarray, beta: np.ndarray) -> bool:
    """Whether the largest coefficients, as many as there are true ones, are the true ones."""
    top = np.argsort(-np.abs(coef), kind="stable")[: np.count_nonzero(beta)]
    return set(top) == set(np.flatnonzero(beta))


def quietly(function: Callable[..., object], *args: object, **kwargs: object) -> object:
    """Call without the package's warnings: over many trials they are counted, not read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        return function(*args, **kwargs)


def factor(curve: np.ndarray, ahead: float = 3.0) -> float:
    """Factor an iteration by which a curve falls on its way, until it is `ahead` times its last value."""
    last = int(np.argmax(curve <= ahead * curve[-1]))
    return float((curve[last] / curve[0]) ** (1 / last)) if last >= 2 else math.nan


def arrival(curve: np.ndarray, share: float = 1.1) -> int:
    """Iterations until a curve is within a tenth of its last value."""
    return int(np.argmax(curve <= share * curve[-1]))


def bands(curves: pd.DataFrame) -> pd.DataFrame:
    """Median and quartiles over the trials, the rows of `curves`, at each iteration, its columns."""
    return curves.quantile([0.5, 0.25, 0.75]).T.set_axis(["median", "low", "high"], axis=1)


def draw(ax: "Axes", curves: pd.DataFrame, color: str, label: str, dashes: str = "-") -> None:
    """Draw the median of curves as a line and their quartiles as a band."""
    band = bands(curves)
    ax.plot(band.index, band["median"], color=color, linestyle=dashes, label=label, linewidth=1.4)
    ax.fill_between(band.index, band["low"], band["high"], color=color, alpha=0.2, linewidth=0)


def legend_beside(ax: "Axes", title: str) -> None:
    """Legend to the right of the axes, where it covers nothing."""
    ax.legend(
        title=title,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
    )


def plain_ticks(ax: "Axes", ticks: tuple[float, ...], axis: str = "y") -> None:
    """Numbers as they are, without powers of ten, on a logarithmic axis of few decades."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    which = ax.yaxis if axis == "y" else ax.xaxis
    which.set_major_locator(FixedLocator(ticks))
    which.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    which.set_minor_locator(NullLocator())
