"""Errors and warnings."""

import pytest

import robustsparse as rs


def test_a_warning_points_to_the_users_line() -> None:
    sim = rs.simulate.linear(n=60, d=30, k=3, rng=0)
    with pytest.warns(rs.ConvergenceWarning) as caught:
        rs.rht_fit(sim.X, sim.y, k=3, max_iter=1, refit=False)
    assert caught[0].filename == __file__
