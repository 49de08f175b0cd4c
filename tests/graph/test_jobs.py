"""When the nodes of a graph are fitted by compiled iterations."""

from typing import Any

import numpy as np
import pytest

from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.algorithm.plain_trimmed import PlainTrim
from robustsparse.base.checkpoint import Checkpoint
from robustsparse.graph import jobs
from robustsparse.graph.nodes import NodeTask
from robustsparse.graph.options import Request, make_plan

ARGUMENTS: dict[str, Any] = {
    "estimator": "trim", "rule": "or", "max_edges": None, "select": "ebic", "factors": 0, "screen": True,
    "epsilon": 0.1, "standardize": True, "step": "auto", "max_iter": None, "tol": None, "rng": None, "n_jobs": 1,
    "verbose": None,
}  # fmt: skip


def fitted(monkeypatch: pytest.MonkeyPatch, n: int, d: int) -> tuple[type, Any]:
    """Kind of gradient that the nodes share, and the coefficients of the only k."""
    kinds = []
    fit = NodeTask.fit

    def watched(task: NodeTask, nodes: range) -> Any:
        kinds.append(type(task.like))
        return fit(task, nodes)

    monkeypatch.setattr(NodeTask, "fit", watched)
    plan = make_plan(Request(k=3, **ARGUMENTS), n, d)
    XT = np.random.default_rng(0).normal(size=(d, n))
    XT[1:] += XT[:-1]
    with Checkpoint.open(None, "") as store:
        (coef,) = jobs.fit_nodes(XT, np.corrcoef(XT), plan, store)
    return kinds[0], coef.toarray()


@pytest.mark.parametrize("limit", ["_FITS_TO_COMPILE_FOR", "_VALUES_TO_COMPILE_FOR"])
def test_many_fits_and_long_ones_are_compiled(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    kind, plain = fitted(monkeypatch, 60, 20)
    assert kind is PlainTrim
    monkeypatch.setattr(jobs, limit, 20 if limit == "_FITS_TO_COMPILE_FOR" else 20 * 20 * 60)
    kind, compiled = fitted(monkeypatch, 60, 20)
    assert kind is ScreenedTrim
    np.testing.assert_allclose(compiled, plain, atol=1e-12)
