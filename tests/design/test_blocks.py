"""Columns of numbers, some at a time."""

import numpy as np
import pandas as pd
import pytest

from robustsparse.design.blocks import CHUNK, NumericBlock


@pytest.mark.parametrize("apart", [False, True])
def test_blocks_hand_out_every_column_in_order(apart: bool) -> None:
    n, d = 5, 2 * CHUNK + 7
    values = np.random.default_rng(0).normal(size=(n, d))
    names = [f"x{j}" for j in range(d)]
    frame = pd.DataFrame(values, columns=names)
    if apart:
        frame = pd.DataFrame({name: frame[name].to_numpy().copy() for name in names}, copy=False)
    for choice in (names, names[::-1], names[3:9], names[::2], ["x1"], []):
        block = NumericBlock.of(frame, choice)
        out = np.full((n, len(choice)), np.nan)
        for place, chunk in block.chunks():
            assert chunk.shape[1] <= CHUNK
            out[:, place] = chunk
        np.testing.assert_array_equal(out, frame[choice])


def test_blocks_of_one_array_are_views() -> None:
    values = np.ones((4, 3 * CHUNK))
    frame = pd.DataFrame(values, copy=False)
    frame.columns = pd.Index([f"x{j}" for j in range(3 * CHUNK)])
    for _, chunk in NumericBlock.of(frame, list(frame.columns)).chunks():
        assert np.shares_memory(chunk, values)
