"""Robust Hard Thresholding, the paper's Algorithm 1, on arrays.

One iteration: take the robust gradient at the current coefficients, step against it, keep the k
largest coefficients. With a number as `step` that is all; `step="search"` tries several numbers
and keeps the one whose run ends at the lowest robust loss. With `step="auto"` the length of the step
is computed from a robust curvature, and between two looks at all predictors a few robust steps are
taken on the chosen ones alone, which cost next to nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from robustsparse.algorithm.grouped_iteration import GroupedDescent
from robustsparse.algorithm.iteration import Descent, Iterate, Iteration
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.step_search import search
from robustsparse.base.errors import ConvergenceWarning, warn_user
from robustsparse.base.types import Array, Indices

# A support met this often is a cycle, and the best of its members is the answer.
_VISITS = 3
# An estimator with fresh randomness at each iteration has settled when the support stayed this
# often.
_STAYS = 5
# A robust loss this many times the first one is divergence.
_GROWTH = 10.0
_LARGEST_BACKOFFS = 40
# Multiples of k at which a continuation stops on its way down, and the tolerance there.
_CONTINUATION, _CONTINUATION_TOL, _CONTINUATION_ITER = (4.0, 3.0, 2.0, 1.4), 1e-4, 30


@dataclass(frozen=True)
class RHTFit:
    """Outcome of Algorithm 1.

    Attributes
    ----------
    coef : array (d,)
        Coefficients, zero outside the support and the kept columns.
    support : array of int
        Columns that survived the threshold, largest coefficient first; with groups all columns of each that did, the
        largest group first. Kept columns are not listed.
    step : float
        Length of the last step.
    converged : bool
        Whether the iterates settled.
    reason : str
        Why the iterations ended.
    loss : float
        Robust loss at these coefficients.
    history : tuple of Iteration
        One record an iteration.
    ran_to : float or None
        Norm of the coefficients that the run ended with, if they were taken back from there.
    """

    coef: Array
    support: Indices
    step: float
    converged: bool
    reason: str
    loss: float
    history: tuple[Iteration, ...]
    ran_to: float | None = None

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history)


def _finish(
    run: Descent, at: Iterate, converged: bool, reason: str, loss: float | None = None
) -> RHTFit:
    """What a run ends with; its loss is computed unless it is at hand."""
    coef = at.dense(run.d)
    support = run.support(coef)
    if loss is None:
        loss = run.problem.robust_loss(run.predictor(at))
    return RHTFit(coef, support, at.step, converged, reason, loss, tuple(run.history))


class _Guard:
    """Watches the robust loss of a run, to go back to the best iterate when it grows."""

    def __init__(self, run: Descent, at: Iterate) -> None:
        self.run, self.best, self.problem = run, at, run.problem
        self.least = self.first = run.problem.robust_loss(run.predictor(at))
        self.backoffs = 0

    def grown(self, new: Iterate, loss: float) -> bool:
        """Whether the coefficients or their loss have grown beyond reason; if not, the best iterate is remembered."""
        if not np.isfinite(new.values).all():
            return True
        if not loss <= _GROWTH * self.first:
            # After a start with next to no loss any other support looks like growth; so the loss is also compared
            # with that of no coefficients at all.
            nothing = self.problem.predictor(np.empty((0, len(self.problem.y))), np.empty(0))
            self.first = max(self.first, self.problem.robust_loss(nothing))
            if not loss <= _GROWTH * self.first:
                return True
        if loss <= self.least:
            self.best, self.least = new, loss
        return False

    def back(self) -> Iterate:
        """Return to the best iterate, to go on with steps of half the length."""
        self.backoffs += 1
        self.run.share /= 2.0
        if self.run.settings.step != "auto":
            shorter = float(self.run.settings.step) / 2.0
            self.run.settings = replace(self.run.settings, step=shorter)
        return self.best

    def finish(self, at: Iterate) -> RHTFit:
        """End a run that did not settle; one that grew ends at its best iterate."""
        if not self.backoffs:
            return _finish(self.run, at, False, "iterations")
        auto = self.run.settings.step == "auto"
        return _finish(self.run, self.best, False, "unsteady" if auto else "step reduced")


def _run_fixed(
    run: Descent,
    at: Iterate,
    callback: Callable[[Array], None] | None,
    backoffs: int = _LARGEST_BACKOFFS,
) -> RHTFit:
    """Algorithm 1 as printed, with a step of fixed length, which is halved if the iterates grow, so often at most."""
    guard = _Guard(run, at)
    for _ in range(run.settings.max_iter):
        new = run.advance(at)
        loss = run.problem.robust_loss(run.predictor(new))
        if guard.grown(new, loss):
            at = guard.back()
            if guard.backoffs > backoffs:
                return _finish(run, at, False, "diverged")
            continue
        change = run.record(new, at, loss)
        if callback is not None:
            callback(new.dense(run.d))
        at = new
        if change <= run.settings.tol:
            reason = "step reduced" if guard.backoffs else "settled"
            return _finish(run, at, True, reason)
    if not (guard.backoffs or run.problem.gradient.settles):
        return _finish(run, at, False, "redrawn")
    return guard.finish(at)


def _run_auto(run: Descent, at: Iterate, callback: Callable[[Array], None] | None) -> RHTFit:
    """Robust normalized steps with polishing between scans."""
    visits: dict[bytes, tuple[int, float, Iterate]] = {}
    guard = _Guard(run, at)
    for _ in range(run.settings.max_iter):
        new, stays, loss = run.iterate(at)
        if guard.grown(new, loss):
            at = guard.back()
            continue
        change = run.record(new, at, loss)
        at = new
        if callback is not None:
            callback(new.dense(run.d))
        if stays and (change <= run.settings.tol or run.settings.rough):
            return _finish(run, at, True, "settled", loss)
        if not stays:
            key = new.columns.tobytes()
            count = visits[key][0] + 1 if key in visits else 1
            visits[key] = (count, loss, new)
            if count >= _VISITS:
                best = min(visits.values(), key=lambda visit: visit[1])[2]
                return _finish(run, run.settle(best), True, "cycle")
    return guard.finish(at)


def _run_fresh(run: Descent, at: Iterate, callback: Callable[[Array], None] | None) -> RHTFit:
    """Robust normalized steps with an estimator that draws anew each time; the last iterates are averaged."""
    alike: list[Iterate] = []
    guard = _Guard(run, at)
    for _ in range(run.settings.max_iter):
        new = run.loosely(run.advance(at))
        loss = run.problem.robust_loss(run.predictor(new))
        if guard.grown(new, loss):
            at, alike = guard.back(), []
            continue
        run.record(new, at, loss)
        alike = [*alike, new] if np.array_equal(new.columns, at.columns) else [new]
        at = new
        if callback is not None:
            callback(new.dense(run.d))
        if len(alike) >= _STAYS:
            return _finish(run, _average(alike), True, "settled")
    return guard.finish(_average(alike) if alike else at)


def _average(iterates: list[Iterate]) -> Iterate:
    """Mean of iterates with the same support."""
    last = iterates[-1]
    return Iterate(last.columns, np.mean([at.values for at in iterates], axis=0), last.step)


def _run_split(
    run: Descent, at: Iterate, problems: Sequence[Problem], callback: Callable[[Array], None] | None
) -> RHTFit:
    """One iteration on each part of the rows, as in the paper's theory."""
    guard = _Guard(run, at)
    grown = False
    for problem in problems:
        run.change(problem)
        # The linear predictor that the iterate carries is that of the rows of the last part.
        new = run.advance(replace(at, eta=None))
        loss = problem.robust_loss(run.predictor(new))
        run.record(new, at, loss)
        grown = guard.grown(new, loss)
        at = new
        if callback is not None:
            callback(new.dense(run.d))
    return _finish(run, at, not grown, "grown" if grown else "split")


_REMEDIES = {
    "iterations": "Raise max_iter, or try a larger epsilon; on separable binary data give a radius.",
    "redrawn": (
        'Blocks drawn anew at each iteration keep steps of a fixed length from coming to rest; use step="auto", which '
        "averages the last iterates, or MedianOfMeans(redraw=False)."
    ),
    "unsteady": "The iterates grew and the steps were shortened; use a smaller k, or give a radius.",
    "diverged": 'The step was too long however often it was shortened; use step="auto".',
    "grown": 'The step was too long for these parts of the rows; use step="auto" or a smaller number.',
    "step reduced": 'The step was too long for these data and was halved; use step="auto" or a smaller number.',
}


def solve(
    problems: Problem | Sequence[Problem],
    k: int,
    *,
    keep: Indices | None = None,
    settings: Settings | None = None,
    start: Array | None = None,
    callback: Callable[[Array], None] | None = None,
    warn: bool = True,
) -> RHTFit:
    """Run Robust Hard Thresholding (the paper's Algorithm 1).

    Parameters
    ----------
    problems : Problem or sequence of Problem
        The data; a sequence is sample splitting, one iteration on each member.
    k : int
        Number of coefficients that survive the threshold (the paper's k'); of groups, if the problem has any.
    keep : array of int, optional
        Columns that are never thresholded and do not count in k.
    settings : Settings, optional
        Step, radius, iterations and tolerance.
    start : array (d,), optional
        Coefficients to start from instead of zero.
    callback : callable, optional
        Called with the coefficients (d,) after every iteration.
    warn : bool
        Whether to issue a `ConvergenceWarning` when the iterates did not settle.

    Returns
    -------
    RHTFit

    Examples
    --------
    >>> from robustsparse.algorithm.gradients import Trimmed
    >>> from robustsparse.algorithm.losses import Squared
    >>> rng = np.random.default_rng(1)
    >>> XT = rng.normal(size=(50, 80))
    >>> y = 3.0 * XT[7] - 2.0 * XT[30]
    >>> y[:6] = 100.0
    >>> fit = solve(Problem(Trimmed(0.2).bind(XT), y, Squared()), k=2)
    >>> fit.support
    array([ 7, 30])
    >>> fit.coef[fit.support].round(6)
    array([ 3., -2.])
    """
    settings = settings or Settings()
    keep = np.unique(np.asarray([] if keep is None else keep, dtype=np.int64))
    parts = [problems] if isinstance(problems, Problem) else list(problems)
    kind = Descent if parts[0].groups is None else GroupedDescent
    run = kind(parts[0], k, keep, settings)
    at = Iterate(keep, np.zeros(len(keep))) if start is None else run.start(start)
    with np.errstate(over="ignore", invalid="ignore"):
        if len(parts) > 1:
            fit = _run_split(run, at, parts, callback)
        elif settings.step == "search":
            fit = search(run, at, callback, partial(_run_fixed, backoffs=0))
        elif settings.step != "auto":
            fit = _run_fixed(run, at, callback)
        elif parts[0].gradient.settles:
            fit = _run_auto(run, at, callback)
        else:
            fit = _run_fresh(run, at, callback)
    if warn:
        warn_unsettled(fit)
    return fit


def warn_unsettled(fit: RHTFit) -> None:
    """Issue a `ConvergenceWarning` with the remedy if the iterates did not settle as asked."""
    if fit.reason in _REMEDIES:
        warn_user(_message(fit), ConvergenceWarning)


def solve_down(
    problem: Problem,
    k: int,
    *,
    keep: Indices | None = None,
    settings: Settings | None = None,
    warn: bool = True,
) -> RHTFit:
    """Run Algorithm 1 with 4k, 3k, 2k and 1.4k coefficients before k, each run starting from the last.

    A generous first support holds the right predictors where a tight one has to guess; thresholding
    down then starts near the answer. It costs little, since the gradient's bounds carry over from
    one run to the next.

    Parameters
    ----------
    problem, k, keep, settings, warn
        As in `solve`.
    """
    settings = settings or Settings()
    # A support of more than a third of the rows fits noise, and starts no better than none.
    most = problem.gradient.XT.shape[1] // 3
    if problem.groups is None:
        most = min(problem.gradient.XT.shape[0] - (0 if keep is None else len(keep)), most)
    else:
        most = min(problem.groups.count, int(most / problem.groups.mean_size))
    loose = replace(
        settings,
        max_iter=min(settings.max_iter, _CONTINUATION_ITER),
        tol=max(settings.tol, _CONTINUATION_TOL),
    )
    start = None
    for multiple in _CONTINUATION:
        larger = int(multiple * k)
        if k < larger <= most:
            start = solve(problem, larger, keep=keep, settings=loose, start=start, warn=False).coef
    return solve(problem, k, keep=keep, settings=settings, start=start, warn=warn)


def _message(fit: RHTFit) -> str:
    last = (
        f"last relative change {fit.history[-1].change:.1e}"
        if fit.history
        else "no step was possible"
    )
    state = "settled only with a shorter step" if fit.converged else "did not settle"
    return (
        f"Robust Hard Thresholding {state} ({fit.n_iter} iterations, {last}, step {fit.step:.3g}). "
        f"{_REMEDIES[fit.reason]}"
    )
