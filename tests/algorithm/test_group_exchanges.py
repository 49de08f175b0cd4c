"""What groups add to a set, and in the place of its members, against least squares on the vectors themselves."""

from collections.abc import Sequence

import numpy as np
import pytest

from robustsparse.algorithm.group_exchanges import GroupLook, look_at_groups
from robustsparse.base.types import Array

ROUNDING = 1e-9
RANKS = (2, 1, 3, 1, 2, 4)


def orthonormal(seed: int, n: int = 40, near: float = 1.0) -> list[Array]:
    """A basis for every group; `near` 0 makes the second group repeat a vector of the first."""
    rng = np.random.default_rng(seed)
    blocks = [rng.normal(size=(n, rank)) for rank in RANKS]
    blocks[1] = blocks[0][:, :1] + near * blocks[1]
    return [np.linalg.qr(block)[0].T for block in blocks]


def target(n: int = 40) -> Array:
    return np.random.default_rng(99).normal(size=n)


def rss(bases: Sequence[Array], y: Array) -> float:
    if not bases:
        return float(y @ y)
    A = np.concatenate(bases).T
    left = y - A @ np.linalg.lstsq(A, y, rcond=1e-5)[0]
    return float(left @ left)


def looked(bases: list[Array], chosen: Sequence[int], y: Array) -> GroupLook:
    block = np.concatenate(bases)
    some = np.concatenate([block[:0], *(bases[g] for g in chosen)])
    ends = np.cumsum([0, *RANKS])
    members = np.cumsum([0, *(RANKS[g] for g in chosen)])
    return look_at_groups(some @ some.T, some @ y, block @ some.T, block @ y, ends, members)


@pytest.mark.parametrize("chosen", [(), (2,), (0, 3), (5, 0, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_every_move_is_that_of_least_squares(seed: int, chosen: tuple[int, ...]) -> None:
    bases, y = orthonormal(seed), target()
    look = looked(bases, chosen, y)
    own = rss([bases[g] for g in chosen], y)
    assert look.explained == pytest.approx(float(y @ y) - own, abs=1e-6)
    for g in set(range(len(RANKS))) - set(chosen):
        larger = rss([bases[i] for i in (*chosen, g)], y)
        assert look.added[g] == pytest.approx(own - larger, abs=1e-5)
    for m in range(len(chosen)):
        rest = [*chosen[:m], *chosen[m + 1 :]]
        without = rss([bases[i] for i in rest], y)
        assert look.cost[m] == pytest.approx(without - own, abs=1e-5)
        for g in set(range(len(RANKS))) - set(chosen):
            other = rss([bases[i] for i in (*rest, g)], y)
            assert look.exchanged[m, g] == pytest.approx(without - other, abs=1e-5)


def test_members_explain_nothing_more() -> None:
    look = looked(orthonormal(0), (0, 2), target())
    assert look.added[[0, 2]] == pytest.approx(0.0, abs=ROUNDING)


def test_a_group_that_repeats_another_adds_nothing_and_is_no_harm_within() -> None:
    y = target()
    bases = orthonormal(1, near=0.0)
    assert looked(bases, (0,), y).added[1] == 0.0
    both, alone = looked(bases, (0, 1), y), looked(bases, (0,), y)
    assert both.explained == pytest.approx(alone.explained, rel=1e-6)
    assert np.isfinite(both.exchanged).all()
