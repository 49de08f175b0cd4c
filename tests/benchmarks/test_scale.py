"""Fits of files beside fits in memory."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import bars, report, scale, tables
from benchmarks.results import Results
from benchmarks.scale_data import write, write_bed
from benchmarks.scale_jobs import Job, measure


@pytest.mark.filterwarnings("ignore")
def test_a_file_and_memory_give_the_same(tmp_path: Path) -> None:
    y, chosen = write(tmp_path / "x.f32", 150, 1500)
    memory, file = (
        measure(Job(where, 150, 1500), tmp_path / "x.f32", y) for where in ("memory", "file")
    )
    assert np.allclose(memory["coef"], file["coef"], rtol=0, atol=1e-10)
    assert memory["passes"] == 0 < file["passes"]
    row = scale._row(
        "file", 150, 1500, file, chosen, difference=0.0, ratio=scale._spread([1.4, 1.5, 1.8]),
        ratio_bar=scale.CPU, peak_bar=scale.PEAK,
    )  # fmt: skip
    results = Results("full", {}, scale=[row])
    assert "150 × 1,500" in tables.scale(results.scale)
    assert "1.5 (1.45–1.65) cpu" in tables.scale(results.scale)
    found = {bar.what.split(": ")[1]: bar.met for bar in bars.every(results)}
    assert found["cpu time / memory"]
    assert found["passes"]
    assert set(found) >= {"peak memory, GB", "true predictors missed"}
    report.save_scale(results, tmp_path)
    assert report.load_scale(tmp_path).scale == results.scale


@pytest.mark.filterwarnings("ignore")
def test_workers_take_turns_with_memory(tmp_path: Path) -> None:
    y, _ = write(tmp_path / "x.f32", 150, 1500)
    got = measure(Job("dask", 150, 1500, rounds=2), tmp_path / "x.f32", y)
    memory = measure(Job("memory", 150, 1500), tmp_path / "x.f32", y)
    assert np.allclose(memory["coef"], got["coef"], rtol=0, atol=1e-10)
    assert len(got["ratios"]) == 2
    assert got["passes"] > 0
    # The workers' time is beside that of the driver.
    assert got["cpu"] > 0.0 < got["longest"]


def test_genotypes_from_the_shell(tmp_path: Path) -> None:
    y, chosen = write_bed(tmp_path / "x.bed", 300, 30_000)
    pd.DataFrame({"y": y}).to_csv(tmp_path / "people.csv", index=False)
    got = scale.shell_fit(tmp_path, "50MB")
    assert got["passes"] > 0
    assert got["cpu"] > 0
    assert 5e7 < got["peak"] < 1e9
    assert set(chosen.tolist()) <= set(got["support"])
    (tmp_path / "people.csv").unlink()
    with pytest.raises(RuntimeError, match="people"):
        scale.shell_fit(tmp_path, "50MB")
