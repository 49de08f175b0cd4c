"""Algorithm 1 on every node of a graph, with the other nodes as predictors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from robustsparse import kernels
from robustsparse.adjacency import canonical
from robustsparse.descent import Problem, Settings
from robustsparse.gradients import GradientEstimator, MedianOfMeans, bind
from robustsparse.losses import Squared
from robustsparse.screening import BoundGradient
from robustsparse.solver import solve
from robustsparse.tuning import with_rng

Array = NDArray[np.float64]

# Nodes in one task; with a checkpoint, what a killed run loses at most.
CHUNK = 8


@dataclass(frozen=True)
class NodeTask:
    """What the fits of all nodes share.

    Attributes
    ----------
    XT : array (d, n)
        Standardized variables.
    estimator : GradientEstimator
        Robust mean of the gradient.
    ks : tuple of int
        Numbers of neighbors, ascending.
    settings : Settings
        How to run Algorithm 1.
    seeds : array (d,)
        One for each node, for an estimator that draws.
    start : array (d, d) or None
        Correlations to start from: neighborhoods by thresholding them are next to those by a robust gradient once bad
        rows are out. None starts the path from zero at its largest k.
    like : BoundGradient or None
        Bound to the same variables: what it has measured of them need not be measured again.
    """

    XT: Array
    estimator: GradientEstimator
    ks: tuple[int, ...]
    settings: Settings
    seeds: NDArray[np.int64]
    start: Array | None = None
    like: BoundGradient | None = None

    def fit(self, nodes: Sequence[int]) -> dict[str, NDArray[Any]]:
        """Fit some nodes; arrays `step`, `node`, `neighbor`, `value` of coefficients, and the `unsettled` nodes."""
        found: list[tuple[int, int, int, float]] = []
        unsettled = []
        gradient = self.like
        for node in nodes:
            estimator = _own_blocks(self.estimator, int(self.seeds[node]))
            gradient = bind(estimator, self.XT, like=gradient)
            fits = self._path(gradient, node)
            for step, (coef, settled) in enumerate(fits):
                found += [(step, node, i, coef[i]) for i in np.flatnonzero(coef).tolist()]
                if not settled:
                    unsettled.append(node)
        table = np.array(found, dtype=np.float64).reshape(-1, 4)
        return {
            "step": table[:, 0].astype(np.int32),
            "node": table[:, 1].astype(np.int32),
            "neighbor": table[:, 2].astype(np.int32),
            "value": table[:, 3],
            "unsettled": np.unique(unsettled).astype(np.int32),
        }

    def _path(self, gradient: BoundGradient, node: int) -> list[tuple[Array, bool]]:
        """Coefficients (d,) of one node for each k, and whether the iterates settled."""
        problem = Problem(gradient, self.XT[node], Squared(), barred=(node,))
        starts = self._starts(node)
        fits = []
        before = None
        for k in reversed(self.ks):
            start = starts[k] if starts else before
            fit = solve(problem, k, settings=self.settings, start=start, warn=False)
            # Algorithm 1 as printed starts from zero.
            before = fit.coef if self.settings.step == "auto" else None
            fits.append((fit.coef, fit.converged))
        return fits[::-1]

    def _starts(self, node: int) -> dict[int, Array]:
        """Coefficients to start from for each k, if there are correlations to take them from."""
        if self.start is None or self.settings.step != "auto":
            return {}
        out = np.empty((len(self.ks), 1, len(self.start)))
        kernels.threshold_nodes(self.start, node, node + 1, np.array(self.ks), out)
        return dict(zip(self.ks, out[:, 0], strict=True))


def _own_blocks(estimator: GradientEstimator, seed: int) -> GradientEstimator:
    """The estimator with random numbers of its own, so that the order of the nodes does not matter."""
    if isinstance(estimator, MedianOfMeans):
        return with_rng(estimator, np.random.default_rng(seed))
    return estimator


def coefficients(parts: Sequence[dict[str, NDArray[Any]]], steps: int, d: int) -> list[Any]:
    """Sparse coefficients (d, d) for each step of the path, row j those of node j."""
    step, node, neighbor, value = (
        np.concatenate([part[name] for part in parts])
        for name in ("step", "node", "neighbor", "value")
    )
    return [
        canonical(
            sparse.csr_array((value[step == s], (node[step == s], neighbor[step == s])), (d, d))
        )
        for s in range(steps)
    ]


def both_directions(coef: Any, rule: str) -> Any:
    """Symmetric sizes of the pairs that a rule makes edges: the larger ("or") or smaller ("and") of two directions.

    Examples
    --------
    >>> coef = sparse.csr_array([[0, 0.5, 0.1], [0.3, 0, 0], [0, 0, 0]])
    >>> both_directions(coef, "and").toarray()
    array([[0. , 0.3, 0. ],
           [0.3, 0. , 0. ],
           [0. , 0. , 0. ]])
    """
    size = abs(sparse.csr_array(coef))
    return canonical(size.maximum(size.T) if rule == "or" else size.minimum(size.T))
