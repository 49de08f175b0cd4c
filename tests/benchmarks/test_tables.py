"""Tables, the list of bars, figures and files, from rows that are made up."""

import json
from pathlib import Path

import pytest

from benchmarks import bars, figures, fits, graphs, growth, report, solver, tables
from benchmarks.results import Results
from benchmarks.rows import ExactRow, FitRow, GrowthRow, LatencyRow, MemoryRow, TimeRow
from benchmarks.timing import Ratio

PNG = b"\x89PNG"


def once(value: float) -> Ratio:
    return Ratio(value, value, value, 1)


@pytest.fixture
def results() -> Results:
    spread = Ratio(0.5, 0.4, 0.6, 3)
    stocks = "stocks, 9 × 3, k' = 2"
    times = [
        TimeRow(solver.SECTION, "A", solver.FIXED, solver.VANILLA, 1, "cpu", spread, 1.0, 0.6),
        TimeRow(solver.SECTION, "B", solver.FIXED, solver.VANILLA, 2, "wall", once(3.0), 1.0, 2.0),
        TimeRow(graphs.SECTION, stocks, graphs.OURS, graphs.VANILLA, 1, "cpu", spread, 2.0, 1.0),
        TimeRow(
            graphs.SECTION, stocks, graphs.OURS, "huge", 1, "cpu", None, 2.0, note="not installed"
        ),
    ]
    error = (0.1, 0.05, 0.2)
    whole = [
        FitRow("A", "paper", fits.OURS, None, error, 1.0),
        FitRow("A", "paper", "lasso", once(0.5), error, 0.3, 1.0),
        FitRow("A", "paper", fits.ORACLE, None, error, 1.0),
        FitRow("A", "paper", "missing", None, None, None, 0.02, "not installed"),
    ]
    grown = [
        GrowthRow(axis, "others = 1", method, (1, 10, 100), (0.1, 1.0, 10.0), 1.0, 100, bar)
        for axis, bar in (("n", 1.05), ("d", 0.9), ("k", None))
        for method in growth.METHODS
    ]
    return Results(
        "quick",
        {
            "commit": "abc", "date": "2020-01-01", "processor": "one", "cores": 2, "system": "Linux",
            "python": "3", "libraries": {"numpy": "2"}, "load_before": None, "minutes": 4.0,
        },
        times, whole, grown,
        [
            MemoryRow("A", "float64", "rht_fit", 1.4, 100.0, 1.6),
            MemoryRow("A", "float64", "rht", None, 100.0, 1.6),
        ],
        [LatencyRow("import", "others", once(1.1), 0.9, 1.0)],
        [ExactRow(200, 1e-15, 1e-12)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"), [(0.012345, "0.0123"), (2.0, "2"), (12345.6, "12,346"), (1e-12, "1e-12")]
)
def test_numbers(value: float, text: str) -> None:
    assert tables.number(value) == text


def test_spread_shows_quartiles_of_several_rounds_alone() -> None:
    assert tables.spread(Ratio(0.5, 0.4, 0.6, 3)) == "0.5 (0.4–0.6)"
    assert tables.spread(once(0.5)) == "0.5"
    assert tables.spread(None) == "–"


def test_bars_are_met_up_to_equality_and_never_by_nan() -> None:
    assert tables.met(1.0, 1.0) == "≤ 1 ✓"
    assert tables.met(1.01, 1.0) == "≤ 1 ✗"
    assert tables.met(float("nan"), 1.0) == "≤ 1 ✗"
    assert tables.met(1.0, None) == tables.met(None, 1.0) == ""


def test_every_bar_is_in_the_list(results: Results) -> None:
    listed = bars.every(results)
    # Three of times, two of fits, six of growth, two of memory, start-up, exactness.
    assert len(listed) == 3 + 2 + 6 + 2 + 1 + 1
    missed = [bar.what for bar in listed if bar.value is not None and not bar.met]
    assert len(missed) == 1 + 3
    assert [bar.note for bar in listed if bar.value is None] == ["not installed", "not measured"]
    assert bars.table(results).startswith("9 of 13 bars that could be measured are met.")


def test_tables_have_as_many_cells_in_each_line(results: Results) -> None:
    text = report.markdown(results)
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines[0].startswith("|"):
            assert len({line.count("|") for line in lines}) == 1, block
    assert "| robust_ns / huge | not installed |" in text
    assert "The run took 4 minutes." in text


def test_save_replaces_what_is_between_the_marks(results: Results, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("before <!-- results begin --> old <!-- results end --> after\n")
    report.save(results, tmp_path)
    report.save(results, tmp_path)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before <!-- results begin -->\n\nMode: quick")
    assert text.endswith("<!-- results end --> after\n")
    assert " old " not in text
    assert text.count("### Growth") == 1
    assert json.loads((tmp_path / "results.json").read_text())["exactness"][0]["largest"] == 1e-15
    for figure in figures.FIGURES:
        assert text.count(f"(figures/{figure.file})") == 1
        assert (tmp_path / "figures" / figure.file).read_bytes()[:4] == PNG


def test_a_run_of_some_sections_can_be_shown() -> None:
    environment = {
        "commit": "", "date": "", "processor": "", "cores": 1, "system": "", "python": "",
        "libraries": {}, "load_before": 0.5,
    }  # fmt: skip
    text = report.markdown(Results("quick", environment, exactness=[ExactRow(1, 0.0, 1e-12)]))
    assert "### Exactness" in text
    assert "### Growth" not in text
    assert "figures/" not in text


def test_ratios_are_drawn_where_they_are(results: Results) -> None:
    ax = figures.draw_ratios(results).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "A", "B, 2 threads", "stocks, 9 × 3, k' = 2",
    ]  # fmt: skip
    dots = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert dots == [0.5, 3.0, 0.5]


def test_times_of_fits_are_relative_to_ours(results: Results) -> None:
    ax = figures.draw_fits(results).axes[0]
    drawn = {
        line.get_marker(): float(line.get_xdata()[0])
        for line in ax.lines
        if len(line.get_xdata()) == 1
    }
    assert drawn == {"*": 1.0, "o": 2.0}
