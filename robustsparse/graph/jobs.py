"""The two long parts of a run, node fits and subsamples: in parallel, with progress, kept in a checkpoint."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from robustsparse.algorithm.bound import BoundGradient
from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.checkpoint import Checkpoint, Parts
from robustsparse.base.errors import ConvergenceWarning, warn_user
from robustsparse.base.jobs import outcomes
from robustsparse.base.types import Array
from robustsparse.graph.nodes import CHUNK, NodeTask, coefficients
from robustsparse.graph.options import Plan
from robustsparse.graph.ranking import Ranking, Subsample, combine, rank_subsample
from robustsparse.graph.rows import TrustedRows
from robustsparse.graph.scores import much_is_shared

# From this many fits of nodes on it pays to start processes. Threads start at once, but only one of them can run
# Python at a time.
_MANY_FITS = 1500
# From this many on, or if each look at all variables reads so many values, whole iterations are compiled ones. The
# first graph of an installation has to wait for them, no longer than it would take without. They round otherwise, so
# that nothing but the graph's size may decide.
_FITS_TO_COMPILE_FOR, _VALUES_TO_COMPILE_FOR = 500, 1e8
# Warn if more than this share of the nodes did not settle; a few have all but settled.
_UNSETTLED = 0.1


def rank_pairs(rows: TrustedRows, covariance: Array, plan: Plan, store: Checkpoint) -> Ranking:
    """Ranking of the pairs over all subsamples."""
    many = much_is_shared(covariance)
    jobs = {
        f"subsamples-{i}": partial(_subsample, rows, seed, many)
        for i, seed in enumerate(plan.draws)
    }
    parts = _run_jobs(jobs, store, plan, "subsamples", processes=False)
    return combine([Subsample(**part) for part in parts], plan.rule, len(rows.values))


def _subsample(rows: TrustedRows, seed: int, many: bool) -> Parts:
    return dict(vars(rank_subsample(rows, seed, many=many)))


def fit_nodes(XT: Array, start: Array | None, plan: Plan, store: Checkpoint) -> list[Any]:
    """Coefficients (d, d), sparse, of Algorithm 1 on every node, for each k of the path."""
    d = len(XT)
    rows = np.ascontiguousarray(XT)
    fits = d * len(plan.ks)
    fused = fits >= _FITS_TO_COMPILE_FOR or fits * rows.size >= _VALUES_TO_COMPILE_FOR
    like = _shared(plan.estimator, rows, fused)
    task = NodeTask(rows, plan.estimator, plan.ks, plan.settings, plan.seeds, start, like)
    chunks = [range(first, min(first + CHUNK, d)) for first in range(0, d, CHUNK)]
    jobs = {f"nodes-{chunk.start}": partial(task.fit, chunk) for chunk in chunks}
    parts = _run_jobs(jobs, store, plan, "nodes", processes=fits >= _MANY_FITS)
    unsettled = sum(len(part["unsettled"]) for part in parts)
    if unsettled > _UNSETTLED * d:
        warn_user(
            f"the fits of {unsettled} of {d} nodes did not settle; raise max_iter, or use a smaller k.",
            ConvergenceWarning,
        )
    return coefficients(parts, len(plan.ks), d)


def _shared(estimator: Estimator, XT: Array, fused: bool) -> BoundGradient | None:
    """What the gradients of all nodes share: sizes of the variables, and from one node a guess of the cuts."""
    gradient = estimator.shared(XT, screened=fused)
    if gradient is None:
        return None
    # The guess comes from the first variable that is not constant: a constant one is zero, and so are its products.
    gradient.begin(XT[XT.any(axis=1).argmax()])
    return gradient


def _run_jobs(
    jobs: Mapping[str, Callable[[], Parts]],
    store: Checkpoint,
    plan: Plan,
    label: str,
    *,
    processes: bool,
) -> list[Parts]:
    """Outcomes of the jobs in their order; those that the store has are not run again."""
    left = [partial(_read_or_run, name, job, store) for name, job in jobs.items()]
    return outcomes(left, plan.threads, label, plan.verbose, processes=processes)


def _read_or_run(name: str, job: Callable[[], Parts], store: Checkpoint) -> Parts:
    done = store.read(name)
    return store.write(name, job()) if done is None else done
