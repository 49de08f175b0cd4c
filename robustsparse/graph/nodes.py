"""Algorithm 1 on every node of a graph, with the other nodes as predictors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from robustsparse import kernels
from robustsparse.algorithm.bound import BoundGradient
from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve
from robustsparse.base.matrices import canonical
from robustsparse.base.types import Array, Indices

# Nodes fitted in one job. A checkpoint keeps whole jobs, so a killed run loses at most so many fits of each worker.
CHUNK = 8


@dataclass(frozen=True)
class NodeTask:
    """What the fits of all nodes share.

    Attributes
    ----------
    XT : array (d, n)
        Standardized variables.
    estimator : Estimator
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
        Bound to the same variables: what it knows of them need not be found again.
    """

    XT: Array
    estimator: Estimator
    ks: tuple[int, ...]
    settings: Settings
    seeds: Indices
    start: Array | None = None
    like: BoundGradient | None = None

    def fit(self, nodes: range) -> dict[str, NDArray[Any]]:
        """Fit some nodes; arrays `step`, `node`, `neighbor`, `value` of coefficients, and the `unsettled` nodes."""
        found: list[tuple[int, int, int, float]] = []
        unsettled = []
        gradient, starts = self.like, self._starts(nodes)
        estimator = self.estimator
        draws = type(estimator).with_rng is not Estimator.with_rng
        for node in nodes:
            if draws:
                # Random numbers of its own, so that the order of the nodes does not matter.
                rng = np.random.default_rng(int(self.seeds[node]))
                estimator = self.estimator.with_rng(rng)
            gradient = estimator.bind(self.XT, like=gradient)
            fits = self._path(gradient, node, starts[node - nodes.start])
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

    def _path(
        self, gradient: BoundGradient, node: int, starts: Sequence[Array | None]
    ) -> list[tuple[Array, bool]]:
        """Coefficients (d,) of one node for each k, and whether the iterates settled."""
        problem = Problem(gradient, self.XT[node], Squared(), barred=(node,))
        fits = []
        before = None
        for k, own in zip(reversed(self.ks), reversed(starts), strict=True):
            start = before if own is None else own
            fit = solve(problem, k, settings=self.settings, start=start, warn=False)
            # With a fixed step this is Algorithm 1 as printed, which starts every fit from zero.
            before = fit.coef if self.settings.step == "auto" else None
            fits.append((fit.coef, fit.converged))
        return fits[::-1]

    def _starts(self, nodes: range) -> Sequence[Sequence[Array | None]]:
        """Coefficients that nodes start from at each k, if there are correlations to take them from."""
        if self.start is None or self.settings.step != "auto":
            return [[None] * len(self.ks)] * len(nodes)
        d, each = len(self.start), (len(nodes), sum(self.ks))
        places, values = np.empty(each, dtype=np.int64), np.empty(each)
        kernels.threshold_nodes(
            self.start, nodes.start, nodes.stop, np.array(self.ks), places, values
        )
        ends = np.cumsum(self.ks)[:-1]
        return [
            [
                _dense(*part, d)
                for part in zip(np.split(at, ends), np.split(coef, ends), strict=True)
            ]
            for at, coef in zip(places, values, strict=True)
        ]


def _dense(places: Indices, values: Array, d: int) -> Array:
    out = np.zeros(d)
    out[places] = values
    return out


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
