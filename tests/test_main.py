"""The command line: one line for each error, and no fit is lost."""

from pathlib import Path

import pytest

import robustsparse as rs
from robustsparse.__main__ import main
from robustsparse.report.summary.report import Summary


@pytest.fixture
def table(tmp_path: Path) -> Path:
    sim = rs.simulate.linear(n=40, d=4, k=2, rng=0)
    sim.data.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_a_fit_is_printed_saved_and_drawn(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot, model = tmp_path / "path.png", tmp_path / "fit.rs"
    assert run("fit", table, "y ~ .", "--plot", plot, "--save", model) == 0
    out, err = capsys.readouterr()
    assert "Robust Hard Thresholding" in out
    assert not err
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert rs.load(model).formula == "y ~ ."


FILES = {
    "empty": b"",
    "blank": b"\n\n",
    "ragged": b"a,b\n1,2\n1,2,3,4\n",
    "binary": bytes(range(256)) * 20,
    "utf-16": "y,a\n1,2\n".encode("utf-16"),
    "header only": b"y,a\n",
    "no such column": b"a,b\n1,2\n",
    "text": b"y,a\n" + b"u,v\n" * 20,
    "few rows": b"y,a\n1,2\n",
    "nul": b"y,a\n1,\x00\n" * 9,
}


@pytest.mark.parametrize("case", FILES)
def test_a_bad_table_is_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.csv").write_bytes(FILES[case])
    assert run("fit", tmp_path / "data.csv", "y ~ .") == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("robustsparse: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("ending", ["gz", "zip", "xz", "bz2", "zst", "tar"])
def test_a_table_that_cannot_be_unpacked_is_one_line(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"data.csv.{ending}").write_bytes(b"y,a\n1,2\n")
    assert run("fit", tmp_path / f"data.csv.{ending}", "y ~ .") == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "formula", ["", "y", "y ~", "y ~ q", "y ~ (", "y ~ {open('x')}", "y ~ . +"]
)
def test_a_bad_formula_is_one_line(
    formula: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fit", table, formula) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("path", ["no/folder/path.png", "path.xyz", "folder"])
def test_a_plot_that_cannot_be_written_loses_nothing(
    path: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    assert run("fit", table, "y ~ .", "--plot", tmp_path / path, "--save", tmp_path / "fit.rs") == 2
    out, err = capsys.readouterr()
    assert "Robust Hard Thresholding" in out
    assert err.count("\n") == 1
    assert rs.load(tmp_path / "fit.rs").nobs == 44
    assert {file.name for file in tmp_path.iterdir()} == {"data.csv", "fit.rs", "folder"}


def test_a_model_that_cannot_be_written_loses_no_plot(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "path.png"
    assert run("fit", table, "y ~ .", "--plot", plot, "--save", tmp_path / "no" / "fit.rs") == 2
    out, err = capsys.readouterr()
    assert "Robust Hard Thresholding" in out
    assert err.count("\n") == 1
    assert plot.exists()


@pytest.mark.parametrize("option", ["--save", "--plot"])
def test_the_data_are_not_overwritten(
    option: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = table.read_bytes()
    (tmp_path / "link").symlink_to(table)
    for target in (table, tmp_path / "link"):
        assert run("fit", table, "y ~ .", option, target) == 2
        out, err = capsys.readouterr()
        assert not out
        assert "holds the data" in err
    assert table.read_bytes() == before


def test_a_model_and_a_plot_need_a_file_each(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = tmp_path / "both"
    assert run("fit", table, "y ~ .", "--save", both, "--plot", both) == 2
    assert "the same file" in capsys.readouterr().err
    assert not both.exists()


def test_a_summary_that_cannot_be_printed_loses_no_model(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "out.txt").open("w", encoding="ascii") as out, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", out)
        patch.setattr(Summary, "__str__", lambda _: "\u03b5")
        assert run("fit", table, "y ~ .", "--save", tmp_path / "fit.rs") == 2
    assert rs.load(tmp_path / "fit.rs").nobs == 44


def test_a_plot_without_an_ending_is_a_picture(table: Path, tmp_path: Path) -> None:
    assert run("fit", table, "y ~ .", "--plot", tmp_path / "path") == 0
    assert (tmp_path / "path").read_bytes().startswith(b"\x89PNG")


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", tmp_path / "nowhere.csv", "y ~ .") == 2
    assert "nowhere.csv" in capsys.readouterr().err


def test_the_demo_shows_its_summary_where_it_cannot_draw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("demo", "--plot", tmp_path / "no" / "demo.png") == 2
    assert "Robust Hard Thresholding" in capsys.readouterr().out
