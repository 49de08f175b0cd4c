"""docs/inference.md: its sections are there, and what it says of prediction intervals is what was promised."""

from pathlib import Path

import numpy as np
import pytest

from docs import dependent_rows, predicted_responses

PAGE = Path(__file__).parents[1] / "docs" / "inference.md"


def lines_of(heading: str) -> list[dict[str, str]]:
    """The table of a section, a dict a line."""
    text = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def test_prediction_intervals_hold_what_they_promise() -> None:
    lines = lines_of("Predictions")
    assert [line["n × d"] for line in lines] == [f"{n} × {d}" for n, d in predicted_responses.SIZES]
    for line in lines:
        for data in ("clean", "outliers"):
            assert 0.92 <= float(line[f"default, {data}"]) <= 0.98


def test_intervals_that_know_of_clusters_hold_what_they_promise() -> None:
    lines = lines_of("Rows that depend on each other")
    assert len(lines) == 2 * len(dependent_rows.DATA)
    for line in lines:
        assert float(line["own, slopes"]) > float(line["usual, slopes"])
        if "clusters" in line["data"]:
            assert 0.92 <= float(line["own, slopes"]) <= 0.98


@pytest.mark.parametrize("goal", ["auto", "predict"])
def test_a_data_set_of_predictions(goal: str) -> None:
    held, width = predicted_responses.one(50, 10, True, goal, 0)
    assert 0.8 < held <= 1
    assert width > predicted_responses.KNOWN / 2


@pytest.mark.parametrize(("kind", "first", "second"), [("clusters", 10, 5), ("time", 60, 0.5)])
def test_a_data_set_of_dependent_rows(kind: str, first: int, second: float) -> None:
    found = dependent_rows.one(kind, first, second, True, 0)
    assert all(0 <= found[name] <= 1 for name in found if name != "k")


def test_rows_depend_on_each_other_as_the_page_says() -> None:
    rng = np.random.default_rng(0)
    _, error, how = dependent_rows.in_clusters(rng, 4000, 2)
    pairs = error.reshape(-1, 2)
    assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(0.5, abs=0.05)
    assert len(np.unique(how["cluster"])) == 4000
    _, series, _ = dependent_rows.in_time(rng, 8000, 0.8)
    assert np.corrcoef(series[1:], series[:-1])[0, 1] == pytest.approx(0.8, abs=0.05)
    assert series.std() == pytest.approx(1.0, abs=0.1)
