"""A step of fixed length that nobody has to know (`step="search"`).

The paper's Algorithm 1 takes the step 1/L of the population, which nobody knows; and with heavy tails a robust gradient
is far shorter than the population's, so that even this step is too short. Whoever tries several steps without knowing
the truth can still see how well each run explains most of the rows: its robust loss, by the gradient's own estimator.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np

from robustsparse.algorithm.iteration import Descent, Iterate, Iteration
from robustsparse.base.types import Array, Indices

# Lengths that are tried, in multiples of the robust normalized step at zero: runs with longer ones diverge, with
# shorter ones they are slow.
_LENGTHS = tuple(2.0 ** (half / 2) for half in range(2, -5, -1))
# With blocks drawn anew at each iteration the loss of a single one says little; so many of the last ones are looked at.
_LAST = 20


class Run(Protocol):
    """What is asked of the outcome of a run."""

    @property
    def reason(self) -> str:
        """Why it ended."""

    @property
    def loss(self) -> float:
        """Robust loss at its end."""

    @property
    def history(self) -> tuple[Iteration, ...]:
        """One record an iteration."""


Outcome = TypeVar("Outcome", bound=Run)


@dataclass
class _Iterates:
    """The iterates of a run, without their zeros."""

    kept: list[tuple[Indices, Array]] = field(default_factory=list)

    def __call__(self, coef: Array) -> None:
        columns = np.flatnonzero(coef)
        self.kept.append((columns, coef[columns]))

    def tell(self, callback: Callable[[Array], None], d: int) -> None:
        """Call with each of them, in full."""
        for columns, values in self.kept:
            callback(Iterate(columns, values).dense(d))


def search(
    run: Descent,
    at: Iterate,
    callback: Callable[[Array], None] | None,
    descend: Callable[[Descent, Iterate, Callable[[Array], None] | None], Outcome],
) -> Outcome:
    """Of runs with steps of several lengths the one that ends at the lowest robust loss.

    Parameters
    ----------
    run : Descent
        The data, k and the settings.
    at : Iterate
        Where each run starts.
    callback : callable or None
        Called with the iterates of the run that is chosen.
    descend : callable
        A run with a step of fixed length from an iterate; one that grows ends with the reason "diverged".
    """
    best, seen = None, _Iterates()
    for trial in _trials(run):
        iterates = _Iterates()
        fit = descend(trial, at, iterates if callback is not None else None)
        # Even if all of them grow there is an answer: that of the shortest step, which says what happened.
        better = best is None or _level(fit, trial) < _level(best, trial)
        if best is None or best.reason == "diverged" or (better and fit.reason != "diverged"):
            best, seen = fit, iterates
    assert best is not None
    if callback is not None:
        seen.tell(callback, run.d)
    return best


def _trials(run: Descent) -> Iterator[Descent]:
    """Runs with steps of fixed length, the longest first."""
    unit = run.normalized_step(Iterate(run.keep, np.zeros(len(run.keep))))
    for length in _LENGTHS:
        settings = replace(run.settings, step=length * unit)
        yield type(run)(run.problem, run.k, run.keep, settings)


def _level(fit: Run, run: Descent) -> float:
    """Robust loss that a run came down to."""
    if run.problem.gradient.settles or not fit.history:
        return fit.loss
    return float(np.median([row.loss for row in fit.history[-_LAST:]]))
