"""Formulas on Dask frames, parquet files and, from the shell, bed files."""

from pathlib import Path
from typing import Any

import bed_reader
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.__main__ import main
from robustsparse.base.errors import DataError, FormulaError
from robustsparse.regression.large import rounds

N, D = 150, 2500


@pytest.fixture(autouse=True)
def _few_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_FIRST", 350)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, D))
    y = X[:, [3, 900, 2400]] @ [2.0, -2.0, 1.5] + rng.normal(size=N)
    y[:12] = 25.0
    # Names with a point are names, no paths.
    data = pd.DataFrame(X, columns=[f"gene.{j}" for j in range(D)])
    return data.assign(y=y, w=rng.uniform(0.5, 2.0, N), label=["a", "b"] * (N // 2))


def assert_alike(fit: rs.RHTResult, other: rs.RHTResult) -> None:
    assert fit.support() == other.support()
    assert fit.params.index.equals(other.params.index)
    assert np.abs(fit.params - other.params).max() <= 1e-10
    assert fit.outliers() == other.outliers()


@pytest.fixture(scope="module")
def whole(frame: pd.DataFrame) -> rs.RHTResult:
    return rs.rht("y ~ . - label", frame, weights="w")


@pytest.mark.parametrize("folder", [False, True])
def test_parquet(frame: pd.DataFrame, whole: Any, tmp_path: Path, folder: bool) -> None:
    place = tmp_path / "table"
    if folder:
        place.mkdir()
        frame[:70].to_parquet(place / "1.parquet")
        frame[70:].to_parquet(place / "2.parquet")
    else:
        frame.to_parquet(place)
    kept = tmp_path / "kept"
    assert_alike(rs.rht("y ~ . - label", place, weights="w", checkpoint=kept), whole)
    # What fits is read as a whole, and everything is possible.
    assert_alike(rs.rht("y ~ . - label", str(place), weights="w"), whole)
    with pytest.raises(DataError, match=r"column 'label'.*- label"):
        rs.rht("y ~ .", place, checkpoint=tmp_path / "other")


@pytest.mark.parametrize("label", [None, "patient"])
def test_the_index_of_a_stored_frame_is_no_predictor(tmp_path: Path, label: str | None) -> None:
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "age in days"])
    index = pd.Index(rng.permutation(60), name=label)
    data.assign(y=3.0 * data["a"] + data["b"], half=data["b"].astype(np.float16)).set_index(
        index
    ).to_parquet(tmp_path / "table")
    fit = rs.rht("y ~ .", tmp_path / "table", checkpoint=tmp_path / "kept")
    assert fit.params.index.tolist() == ["Intercept", "a", "b", "age in days", "half"]


def test_a_column_that_is_no_number_is_left_out_as_the_error_says(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["y", "a"]).assign(**{"the kind": "u"})
    data.to_parquet(tmp_path / "table")
    with pytest.raises(DataError, match="- `the kind`"):
        rs.rht("y ~ .", tmp_path / "table", checkpoint=tmp_path / "kept")


def test_a_dask_frame(frame: pd.DataFrame, whole: Any) -> None:
    lazy = dask.dataframe.from_pandas(frame, npartitions=3)
    fit = rs.rht("y ~ . - label", lazy, weights="w")
    assert_alike(fit, whole)
    assert np.allclose(fit.predict(frame), whole.predict(frame))
    with pytest.raises(DataError, match=r"'label'.*no number"):
        rs.rht("y ~ .", lazy)


@pytest.mark.parametrize("formula", ["y ~ log(w)", "log(y) ~ .", "y ~ C(label)", "y ~ bs(w)"])
def test_terms_that_compute_are_refused(frame: pd.DataFrame, formula: str) -> None:
    with pytest.raises(FormulaError, match="in memory"):
        rs.rht(formula, dask.dataframe.from_pandas(frame, npartitions=3))


def test_a_bed_file_from_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    counts = rng.binomial(2, rng.uniform(0.1, 0.5, D), size=(N, D)).astype(np.float32)
    y = 2.0 * counts[:, 10] - 2.0 * counts[:, 2000] + 0.5 * rng.normal(size=N)
    names = {"sid": [f"rs{j}" for j in range(D)], "pheno": [f"{value:.6f}" for value in y]}
    bed_reader.to_bed(tmp_path / "g.bed", counts, properties=names)
    table = tmp_path / "rows.csv"
    pd.DataFrame({"height": y}).to_csv(table, index=False)
    saved = tmp_path / "model.rs"
    command = ["fit", str(tmp_path / "g.bed"), "height ~ .", "--rows", str(table)]
    kept = ["--checkpoint", str(tmp_path / "kept"), "--memory", "100MB"]
    assert main([*command, *kept, "--save", str(saved)]) == 0
    assert "rs2000" in capsys.readouterr().out
    fit = rs.load(saved)
    assert isinstance(fit, rs.RHTResult)
    assert sorted(fit.support()) == ["rs10", "rs2000"]
    assert np.abs(fit.params.to_numpy() - rs.rht_fit(counts, y).params.to_numpy()).max() <= 1e-10
    assert main(["fit", str(tmp_path / "g.bed"), "phenotype ~ ."]) == 0
    assert main(["fit", str(tmp_path / "g.bed"), "phenotype ~ rs3"]) == 2
