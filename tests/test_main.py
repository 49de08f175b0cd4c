"""The command line: one line for each error, and no fit is lost."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.__main__ import main
from robustsparse.report.summary.report import Summary


@pytest.fixture
def table(tmp_path: Path) -> Path:
    sim = rs.simulate.linear(n=40, d=4, k=2, rng=0)
    sim.data.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture
def model(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run("fit", table, "y ~ .", "--save", tmp_path / "model.rs") == 0
    capsys.readouterr()
    return tmp_path / "model.rs"


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


# ------------------------------------------------------------------------------------- bad input

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


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_table_that_is_none_is_one_line(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"data.{ending}").write_bytes(b"y,a\n1,2\n")
    assert run("fit", tmp_path / f"data.{ending}", "y ~ .") == 2
    err = capsys.readouterr().err
    assert f"cannot be read as a {ending} file" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "formula", ["", "y", "y ~", "y ~ q", "y ~ (", "y ~ {open('x')}", "y ~ . +"]
)
def test_a_bad_formula_is_one_line(
    formula: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fit", table, formula) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", tmp_path / "nowhere.csv", "y ~ .") == 2
    assert "nowhere.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (("--family", "logistic"), "use family='binomial'"),
        (("--epsilon", "2"), "epsilon=2"),
        (("--keep", "q"), "keep names 'q'"),
        (("--index", "q"), "no column 'q' for the labels"),
    ],
)
def test_a_bad_option_is_one_line(
    option: tuple[str, str], says: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fit", table, "y ~ .", *option) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_warnings_are_lines_without_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(60, 3)), columns=["y", "a", "b"]).to_csv(tmp_path / "n.csv")
    assert run("fit", tmp_path / "n.csv", "y ~ .", "--goal", "select") == 0
    err = capsys.readouterr().err
    assert err.startswith("robustsparse: warning: the model may be wrong")
    assert ".py" not in err


# --------------------------------------------------------------------------- nothing is lost


@pytest.mark.parametrize("option", ["--plot", "--report", "--out"])
@pytest.mark.parametrize("path", ["no/folder/path.html", "path.xyz", "folder"])
def test_an_output_that_cannot_be_written_loses_nothing(
    option: str, path: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if (option, path) == ("--report", "path.xyz"):
        return
    (tmp_path / "folder").mkdir()
    saved = ("--save", tmp_path / "fit.rs")
    assert run("fit", table, "y ~ .", option, tmp_path / path, *saved) == 2
    out, err = capsys.readouterr()
    assert "Robust Hard Thresholding" in out
    assert err.count("\n") == 1
    assert rs.load(tmp_path / "fit.rs").nobs == 44
    assert {file.name for file in tmp_path.iterdir()} == {"data.csv", "fit.rs", "folder"}


def test_a_model_that_cannot_be_written_is_elsewhere_and_loses_no_plot(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    plot = tmp_path / "path.png"
    assert run("fit", table, "y ~ .", "--plot", plot, "--save", tmp_path / "no" / "fit.rs") == 2
    out, err = capsys.readouterr()
    assert "Robust Hard Thresholding" in out
    assert err.count("\n") == 1
    assert plot.exists()
    found = re.search(r"It is in '(.*)' instead", err)
    assert found is not None
    assert rs.load(found.group(1)).nobs == 44


@pytest.mark.parametrize("option", ["--save", "--plot", "--out", "--report"])
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


def test_a_model_is_not_overwritten_by_its_predictions(
    model: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = model.read_bytes()
    assert run("predict", model, table, "--out", model) == 2
    assert "holds the data or the model" in capsys.readouterr().err
    assert model.read_bytes() == before


def test_every_output_needs_a_file_of_its_own(
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


def test_an_error_that_nobody_expects_loses_no_other_output(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Any) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(rs.RHTResult, "plot_path", broken)
    outputs = {"--save": "fit.rs", "--plot": "path.png", "--out": "fit.csv", "--report": "fit.html"}
    given = [word for option, name in outputs.items() for word in (option, tmp_path / name)]
    assert run("fit", table, "y ~ .", *given) == 2
    assert rs.load(tmp_path / "fit.rs").nobs == 44
    assert {file.name for file in tmp_path.iterdir()} == {"data.csv", "fit.rs", "fit.csv"}


def test_a_plot_without_an_ending_is_a_picture(table: Path, tmp_path: Path) -> None:
    assert run("fit", table, "y ~ .", "--plot", tmp_path / "path") == 0
    assert (tmp_path / "path").read_bytes().startswith(b"\x89PNG")


def test_the_demo_shows_its_summary_where_it_cannot_draw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("demo", "--plot", tmp_path / "no" / "demo.png") == 2
    assert "Robust Hard Thresholding" in capsys.readouterr().out


# ------------------------------------------------------------------------------- tables in


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "csv.gz", "parquet", "feather"])
def test_a_table_of_any_kind_gives_the_same_model(ending: str, table: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table)
    path = tmp_path / f"other.{ending}"
    writers: dict[str, Any] = {
        "tsv": lambda: frame.to_csv(path, sep="\t", index=False),
        "txt": lambda: frame.to_csv(path, sep="|", index=False),
        "parquet": lambda: frame.to_parquet(path),
        "feather": lambda: frame.to_feather(path),
    }
    writers.get(ending, lambda: frame.to_csv(path, index=False))()
    for source, name in ((table, "a.csv"), (path, "b.csv")):
        assert run("fit", source, "y ~ .", "--out", tmp_path / name) == 0
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_semicolons_with_decimal_commas(table: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table)
    frame.to_csv(tmp_path / "semi.csv", sep=";", decimal=",", index=False)
    frame.to_csv(tmp_path / "points.csv", sep=";", index=False)
    outs = []
    for source in (table, tmp_path / "semi.csv", tmp_path / "points.csv"):
        out = tmp_path / f"{source.stem}.json"
        assert run("fit", source, "y ~ .", "--out", out) == 0
        outs.append(json.loads(out.read_text())["coefficients"])
    assert outs[0] == outs[1] == outs[2]


def test_a_first_column_without_a_name_is_the_labels(table: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table).rename(index="s{}".format)
    frame.iloc[3, 0] += 100.0
    frame.to_csv(tmp_path / "labels.csv")
    assert run("fit", tmp_path / "labels.csv", "y ~ .", "--save", tmp_path / "fit.rs") == 0
    fit = rs.load(tmp_path / "fit.rs")
    assert "s3" in fit.outliers()
    assert len(fit.params) == 5


# ------------------------------------------------------------------------------- tables out


def test_options_of_the_function_are_those_of_the_command(table: Path, tmp_path: Path) -> None:
    given = ("--k", "1,2", "--no-refit", "--keep", "x3", "--standardize", "winsor", "--rng", "3")
    assert run("fit", table, "y ~ .", *given, "--save", tmp_path / "fit.rs") == 0
    own = rs.rht(
        "y ~ .", pd.read_csv(table), k=[1, 2], refit=False, keep="x3", standardize="winsor", rng=3
    )
    assert rs.load(tmp_path / "fit.rs").params.equals(own.params)


@pytest.mark.parametrize("command", ["fit", "predict", "graph", "stability"])
def test_every_option_has_a_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(command, "--help")
    assert end.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for option in ("--n-jobs", "--verbose") if command != "predict" else ("--interval", "--level"):
        assert option in text


def test_a_fit_as_json_csv_latex_and_text(table: Path, tmp_path: Path) -> None:
    outs = [tmp_path / f"fit.{ending}" for ending in ("json", "csv", "html", "tex", "txt")]
    assert run("fit", table, "y ~ .", *(w for out in outs for w in ("--out", out))) == 0
    fit = rs.rht("y ~ .", pd.read_csv(table))
    values = json.loads(outs[0].read_text())
    assert [row["term"] for row in values["coefficients"]] == list(fit.tidy()["term"])
    assert values["nobs"] == fit.nobs
    assert [row["row"] for row in values["flagged"]] == fit.outliers()
    assert pd.read_csv(outs[1])["estimate"].to_numpy() == pytest.approx(fit.tidy()["estimate"])
    assert "<table" in outs[2].read_text()
    assert r"\begin{table}" in outs[3].read_text()
    assert outs[4].read_text() == f"{fit.summary()}\n"


def test_predictions_on_the_screen_and_in_files(
    model: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = rs.load(model).predict(pd.read_csv(table))
    assert run("predict", model, table) == 0
    screen = capsys.readouterr().out
    (tmp_path / "screen.csv").write_text(screen)
    assert pd.read_csv(tmp_path / "screen.csv")["prediction"].to_numpy() == pytest.approx(expected)
    outs = [tmp_path / f"p.{ending}" for ending in ("csv", "json", "parquet", "feather")]
    given = (word for out in outs for word in ("--out", out))
    assert run("predict", model, table, "--interval", "prediction", *given) == 0
    for out, read in zip(
        outs, (pd.read_csv, pd.read_json, pd.read_parquet, pd.read_feather), strict=True
    ):
        got: Any = read(out)  # type: ignore[operator]
        assert list(got.columns) == ["row", "prediction", "se", "lower", "upper"]
        assert got["prediction"].to_numpy() == pytest.approx(expected)


def test_names_that_a_spreadsheet_would_run_are_harmless(
    model: Path, table: Path, tmp_path: Path
) -> None:
    named = pd.read_csv(table).assign(id="=cmd()").drop(columns="y")
    named.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "p.csv"
    assert run("predict", model, tmp_path / "new.csv", "--index", "id", "--out", out) == 0
    assert '"\'=cmd()"' in out.read_text()


def test_a_graph_predicts_nothing(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "graph.rs"
    assert run("graph", table, "--max-edges", 3, "--save", saved) == 0
    assert run("predict", saved, table) == 2
    assert "holds a graph" in capsys.readouterr().err


def test_a_graph_in_all_forms(table: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups.csv"
    groups.write_text("node,kind\ny,response\nx1,input\nx2,input\nx3,input\nx4,input\n")
    outs = [tmp_path / f"edges.{ending}" for ending in ("csv", "json", "graphml")]
    given = [word for out in outs for word in ("--out", out)]
    report, plot = tmp_path / "graph.html", tmp_path / "graph.svg"
    assert run(
        "graph", table, "~ .", "--max-edges", 3, "--groups", groups, "--report", report, "--plot", plot,
        *given,
    ) == 0  # fmt: skip
    own = rs.robust_ns(pd.read_csv(table), max_edges=3)
    assert pd.read_csv(outs[0])["node1"].tolist() == own.edges()["node1"].tolist()
    assert len(json.loads(outs[1].read_text())) == 3
    assert "response" in outs[2].read_text()
    assert "<svg" in plot.read_text()
    assert "Agreement with the groups" in report.read_text()


def test_stability(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "s.csv", tmp_path / "s.html"
    given = ("--resamples", 4, "--epsilon", 0.05, "--out", out, "--report", report)
    assert run("stability", table, "y ~ .", *given, "--plot", tmp_path / "s.png") == 0
    own = rs.stability("y ~ .", pd.read_csv(table), resamples=4, epsilon=0.05)
    assert pd.read_csv(out)["frequency"].tolist() == own.frequencies.tolist()
    assert "Stability selection" in capsys.readouterr().out
    assert "data:image/png" in report.read_text()


# ---------------------------------------------------------------------------------- the report


class _Page(HTMLParser):
    """What a page is made of, and whether every element is closed."""

    VOID = ("meta", "img", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.sources += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def read_page(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.open == []
    # Everything is in the page itself.
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    return page


def test_a_report_is_one_page_with_everything_in_it(table: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table).rename(columns={"x1": "<b>dose & more</b>"})
    frame.iloc[2, 0] += 50.0
    frame.iloc[7, 2] = np.nan
    frame.to_csv(table, index=False)
    report = tmp_path / "fit.html"
    assert run("fit", table, "y ~ .", "--na-action", "impute", "--report", report) == 0
    page = read_page(report)
    wanted = {"Summary", "Rows", "Coefficients", "Path", "Choice of k", "Flagged rows"}
    assert wanted | {"Cells that were filled"} == set(page.headings)
    assert len(page.sources) == 4
    text = report.read_text()
    assert "<b>dose" not in text
    assert "--na-action impute" in text


@pytest.mark.parametrize("goal", ["select", "predict"])
def test_a_report_of_two_classes(goal: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    sick = X[:, 0] - X[:, 1] > 0
    sick[:10] = ~sick[:10]
    pd.DataFrame(X).rename(columns="g{}".format).assign(sick=sick).to_csv(tmp_path / "c.csv")
    report = tmp_path / "c.html"
    assert (
        run(
            "fit",
            tmp_path / "c.csv",
            "sick ~ .",
            "--family",
            "binomial",
            "--goal",
            goal,
            "--report",
            report,
        )
        == 0
    )
    assert "Flagged rows" in read_page(report).headings
    assert ("Labels that the model bets against" in report.read_text()) == (goal == "select")


def test_a_report_of_nothing_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"y": rng.normal(size=50)})
    data.to_csv(tmp_path / "one.csv")
    report = tmp_path / "one.html"
    assert run("fit", tmp_path / "one.csv", "y ~ 1", "--report", report) == 0
    assert "Summary" in read_page(report).headings


# ------------------------------------------------------------------------------------ the shell


def test_version_and_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "robustsparse", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert shell("--version").stdout.strip() == f"robustsparse {rs.__version__}"
    wrong = shell("fit", str(tmp_path / "none.csv"), "y ~ .")
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
    assert shell("fit").returncode == 2
