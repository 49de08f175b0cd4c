"""Fits of files beside fits in memory."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import bars, scale, tables
from benchmarks.results import Results


@pytest.mark.filterwarnings("ignore")
def test_a_file_and_memory_give_the_same(tmp_path: Path) -> None:
    y, chosen = scale.write(tmp_path / "x.f32", 150, 1500)
    memory, file = (
        scale.measure(scale.Job(where, 150, 1500), tmp_path / "x.f32", y)
        for where in ("memory", "file")
    )
    assert np.allclose(memory["coef"], file["coef"], rtol=0, atol=1e-10)
    assert memory["passes"] == 0 < file["passes"]
    row = scale._row("file", 150, 1500, file, chosen, 0.0, (1.5, "cpu", scale.CPU), scale.PEAK)
    results = Results("quick", {}, scale=[row])
    assert "150 × 1,500" in tables.scale(results.scale)
    found = {bar.what.split(": ")[1]: bar.met for bar in bars.every(results)}
    assert found["cpu time / memory"]
    assert found["passes"]
    assert set(found) >= {"peak memory, GB", "true predictors missed"}
