"""The container: frame, names, short repr, frozen."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from robustsparse import simulate


def test_frame_holds_y_then_the_columns() -> None:
    sim = simulate.linear(n=20, d=3, k=1, rng=0)
    assert list(sim.data.columns) == ["y", "x1", "x2", "x3"]
    np.testing.assert_array_equal(sim.data["y"], sim.y)
    np.testing.assert_array_equal(sim.data[sim.names], sim.X)
    assert sim.data is sim.data


def test_frame_of_a_graph_has_no_y() -> None:
    sim = simulate.graph(20, 3, rng=0)
    assert list(sim.data.columns) == ["x1", "x2", "x3"]
    assert sim.y is None
    assert sim.support() == []


@pytest.mark.parametrize("make", [simulate.linear, simulate.graph])
def test_frame_shares_no_memory_with_the_arrays(make) -> None:
    sim = make(n=20, d=5, rng=0)
    assert not np.shares_memory(sim.data.to_numpy(), sim.X)


def test_repr_is_short_and_dumps_no_array() -> None:
    assert repr(simulate.linear(n=90, d=8, k=2, rng=0)) == (
        "Simulation(n_total=100, d=8, k=2, outliers=10)"
    )
    graph = simulate.graph(90, 8, kind="band", rng=0)
    assert repr(graph) == "Simulation(n_total=100, d=8, edges=7, outliers=10)"


def test_frozen() -> None:
    sim = simulate.linear(n=20, d=3, k=1, rng=0)
    with pytest.raises(FrozenInstanceError):
        sim.X = sim.X
