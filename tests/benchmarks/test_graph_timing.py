"""Vanilla thresholding of all nodes is that of one node after the other."""

import numpy as np
import pytest

from benchmarks import graphs
from benchmarks.loops import hard_thresholding, plain_gradient

# Sums in another order.
ROUNDING = 1e-12


def test_all_nodes_at_once_are_the_nodes_in_turn() -> None:
    rng = np.random.default_rng(4)
    XT = graphs.scaled(rng.normal(size=(90, 12)) @ rng.normal(size=(12, 12)))
    step = graphs.steepest(XT)
    together = graphs.neighborhoods(XT, 3, step=step, iterations=25)
    for node in range(12):
        others = XT.copy()
        others[node] = 0.0
        alone = hard_thresholding(others, XT[node], 3, plain_gradient, step=step, iterations=25)
        np.testing.assert_allclose(together[node], alone, atol=ROUNDING)
    assert (np.count_nonzero(together, axis=1) == 3).all()


def test_scaled_and_step() -> None:
    XT = graphs.scaled(np.random.default_rng(1).normal(3.0, 2.0, (50, 6)))
    np.testing.assert_allclose(XT.mean(axis=1), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(XT.std(axis=1), 1.0)
    assert graphs.steepest(XT) * np.linalg.norm(np.corrcoef(XT), 2) == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")  # five iterations are few
def test_candidates_run_on_a_few_stocks() -> None:
    X = graphs.returns()[:150, :20]
    timed = graphs.candidates(X, 2, iterations=5) | graphs.threaded(X, 2)
    graph = timed[graphs.OURS].run(None)
    assert getattr(graph, "k", None) == 2
    assert set(timed) == {graphs.OURS, graphs.VANILLA, graphs.PRINTED, graphs.TWO}
    for candidate in timed.values():
        assert candidate.run(None) is not None
