"""Sparse robust regression and graphs from the command line.

`robustsparse fit data.csv "y ~ ." --save model.rs --report model.html` fits, prints, stores and shows a model, which
`robustsparse predict model.rs new.csv` applies. Exit codes: 0 if all was done, 2 if anything failed, 130 if it was
interrupted.
"""

import argparse
import json
import os
import shlex
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

import robustsparse
from robustsparse.base.atomic import written_whole
from robustsparse.base.errors import (
    DataError,
    ParameterError,
    RobustSparseError,
    RobustSparseWarning,
)
from robustsparse.base.signatures import add_options
from robustsparse.base.tables import WRITERS, read_table, to_csv, write_table
from robustsparse.base.text import listed
from robustsparse.datasets import octane
from robustsparse.design.row_values import row_values
from robustsparse.design.stores.bed import open_bed
from robustsparse.design.stores.plain_formulas import PlainFormula
from robustsparse.graph.page import graph_page
from robustsparse.graph.result import GraphResult
from robustsparse.graph.robust_ns import robust_ns
from robustsparse.loading import load
from robustsparse.regression.page import as_values, fit_page, stability_page
from robustsparse.regression.result import RHTResult
from robustsparse.regression.rht import rht, rht_fit
from robustsparse.regression.stability import Stability, stability

# What the shell gets to know of any error, as of wrong arguments; and of Ctrl-C.
_FAILED, _INTERRUPTED = 2, 130
# Arguments that are data, or objects of Python.
_DATA = ("formula", "data", "context", "self", "newdata", "keep_data", "client")
# Arguments of a fit that reads large data, which other commands do not have.
_LARGE = ("memory", "checkpoint")
# Arguments that name columns, whatever these look like.
_NAMES = ("keep", "weights", "offset", "cluster")
# The files that a command writes: the option, what it is for.
_OUTPUTS = {
    "save": "write the {what} to this file, which `predict` and robustsparse.load read",
    "out": "write a table to this file, or more than one: {tables}",
    "report": "write one page of HTML with summary, plots and rows",
    "plot": "write a picture (png, pdf, svg)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    Examples
    --------
    >>> main(["fit", "nowhere.csv", "y ~ ."])
    2
    """
    os.environ.setdefault("MPLBACKEND", "Agg")
    options = _parser().parse_args(arguments)
    line = shlex.join(["robustsparse", *(sys.argv[1:] if arguments is None else arguments)])
    options.line = f"{line} (version {robustsparse.__version__})"
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        warnings.simplefilter("always", RobustSparseWarning)
        try:
            return int(options.run(options))
        except (RobustSparseError, OSError) as error:
            return _failed(error)
        except KeyboardInterrupt:
            return _INTERRUPTED


def _failed(error: Exception) -> int:
    """Say on one line what is the matter; messages about formulas have a picture below."""
    lines = str(error).splitlines() or [type(error).__name__]
    print(f"robustsparse: {lines[0]}", file=sys.stderr)
    return _FAILED


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say a warning on one line, without the place in the code, which tells a user of the shell nothing."""
    print(f"robustsparse: warning: {message}", file=sys.stderr)


# ------------------------------------------------------------------------------------- arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="robustsparse", description=__doc__)
    parser.add_argument(
        "--version", action="version", version=f"robustsparse {robustsparse.__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("fit", help="fit a formula to a table")
    _add_data(fit)
    fit.add_argument("formula", help='for example "y ~ ."')
    fit.add_argument(
        "--rows", type=Path, help="of a bed file: table with the response, a row an individual"
    )
    fit.add_argument(
        "--impute",
        choices=("mean", "mode"),
        help="of a bed file: what missing genotypes are set to",
    )
    _add_outputs(
        fit,
        "model",
        tables="csv, tsv, parquet, feather or html: coefficients; json: all; tex, txt: summary",
    )
    add_options(fit, rht, without=_DATA, names=_NAMES)
    fit.set_defaults(run=_fit)
    _add_predict(commands)
    _add_graph(commands)
    _add_stability(commands)
    demo = commands.add_parser("demo", help="fit the octane data, which hold six corrupted samples")
    _add_outputs(demo, "model", tables="as of fit")
    demo.set_defaults(run=_demo, plot=Path("robustsparse-demo.png"))
    return parser


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser("predict", help="predict the rows of a table by a stored model")
    predict.add_argument("model", type=Path, help="file that `fit --save` wrote")
    _add_data(predict)
    predict.add_argument(
        "--trusted", action="store_true", help="the model is yours: lift the limits of its formula"
    )
    predict.add_argument(
        "--out",
        type=Path,
        action="append",
        default=[],
        help=f"write to {_endings()} instead of the screen",
    )
    add_options(predict, RHTResult.predict, without=_DATA, names=("offset",))
    predict.set_defaults(run=_predict)


def _add_graph(commands: Any) -> None:
    graph = commands.add_parser(
        "graph", help="estimate which columns of a table depend on each other"
    )
    _add_data(graph)
    graph.add_argument(
        "formula", nargs="?", help='one-sided, for example "~ . - id"; all columns without it'
    )
    graph.add_argument("--groups", type=Path, help="table of two columns: node, and its group")
    _add_outputs(graph, "graph", tables="csv, tsv, parquet, feather, html or json: edges; graphml")
    add_options(graph, robust_ns, without=_DATA)
    graph.set_defaults(run=_graph)


def _add_stability(commands: Any) -> None:
    parser = commands.add_parser(
        "stability", help="which terms are selected on most parts of the rows"
    )
    _add_data(parser)
    parser.add_argument("formula", help='for example "y ~ ."')
    _add_outputs(parser, "", tables="csv, tsv, parquet, feather, html or json: frequencies")
    own = add_options(parser, stability, without=_DATA)
    add_options(parser, rht, without=(*_DATA, *_LARGE, *own), names=_NAMES)
    parser.set_defaults(run=_stability)


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data", type=Path, help="CSV, TSV, parquet or feather file; text with a header line"
    )
    parser.add_argument("--index", help="column with the labels of the rows")
    parser.add_argument(
        "--sep", help="what separates cells of a text file; told from it by default"
    )
    parser.add_argument("--decimal", help="decimal sign of a text file")


def _add_outputs(parser: argparse.ArgumentParser, what: str, tables: str) -> None:
    for name, text in _OUTPUTS.items():
        if name == "save" and not what:
            continue
        several: dict[str, Any] = {"action": "append", "default": []} if name == "out" else {}
        text = text.format(what=what, tables=tables)
        parser.add_argument(f"--{name}", type=Path, help=text, **several)


def _endings() -> str:
    return listed([f"*{ending}" for ending in WRITERS], quote=False, most=len(WRITERS))


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of the function that were given."""
    own = {
        "command",
        "run",
        "line",
        "data",
        "formula",
        "index",
        "sep",
        "decimal",
        "model",
        "trusted",
        "rows",
        "impute",
    }
    own |= {*_OUTPUTS}
    return {name: value for name, value in vars(options).items() if name not in own}


def _read(options: argparse.Namespace) -> pd.DataFrame:
    _check_outputs(options)
    return read_table(options.data, sep=options.sep, decimal=options.decimal, index=options.index)


def _check_outputs(options: argparse.Namespace) -> None:
    outputs = [path for name in _OUTPUTS for path in _paths(options, name)]
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise ParameterError("two outputs name the same file; give each its own.")
    for path in outputs:
        for given in (options.data, getattr(options, "model", None)):
            if given is not None and path.exists() and given.exists() and path.samefile(given):
                raise ParameterError(
                    f"{str(path)!r} holds the data or the model; write to another file."
                )


def _paths(options: argparse.Namespace, name: str) -> list[Path]:
    given = getattr(options, name, None)
    return given if isinstance(given, list) else [] if given is None else [given]


# -------------------------------------------------------------------------------------- commands


def _demo(options: argparse.Namespace) -> int:
    print("Octane numbers of 39 gasoline samples from 226 near-infrared absorbances.")
    print("Samples 25, 26 and 36 to 39 contain added alcohol. Nobody tells the model.\n")
    data = octane()
    return _finished(options, rht("y ~ .", data), data)


def _fit(options: argparse.Namespace) -> int:
    if options.data.suffix == ".bed":
        return _fit_genotypes(options)
    data = _read(options)
    return _finished(options, rht(options.formula, data, **_asked(options)), data)


def _fit_genotypes(options: argparse.Namespace) -> int:
    """Fit a PLINK bed file; the response is the phenotype of its fam file, or a column of a table of its rows."""
    _check_outputs(options)
    asked = _asked(options)
    bed = open_bed(options.data, impute=options.impute)
    rows = pd.DataFrame({"phenotype": pd.to_numeric(bed.phenotype, errors="coerce")})
    if options.rows is not None:
        rows = read_table(options.rows, sep=options.sep, decimal=options.decimal)
    # Of the variants one will do: the formula is of all of them.
    plain = PlainFormula.of(options.formula, [*map(str, rows.columns), *bed.names[:1]])
    if options.formula.partition("~")[2].replace(" ", "") not in (".", ".-1", ".+0"):
        raise ParameterError("the formula of a bed file is 'name ~ .', of all its variants.")
    if len(rows) != bed.shape[0]:
        raise DataError(f"{str(options.rows)!r} has {len(rows)} rows, the bed file {bed.shape[0]}.")
    given = {
        name: rows[value] if name in _NAMES and name != "keep" and value in rows else value
        for name, value in asked.items()
        if name != "group_terms"
    }
    given = {"intercept": plain.intercept, **given}
    fit = rht_fit(bed, rows[plain.response].to_numpy(), **given)
    return _finished(options, fit, rows)


def _finished(options: argparse.Namespace, fit: RHTResult, data: pd.DataFrame) -> int:
    def report(fit: RHTResult, path: Path) -> None:
        _write_text(fit_page(fit, data, options.line), path)

    return _written(options, fit, {"out": _write_fit, "report": report, "plot": _plot_path})


def _predict(options: argparse.Namespace) -> int:
    model = load(options.model, trusted=options.trusted)
    if not isinstance(model, RHTResult):
        raise DataError(
            f"{str(options.model)!r} holds a graph; predict needs a model that `fit --save` wrote."
        )
    data, asked = _read(options), _asked(options)
    if "offset" in asked:
        asked["offset"] = row_values(data, "offset", asked["offset"])
    got = model.predict(data, **asked)
    table = got.to_frame() if isinstance(got, pd.Series) else got
    if not options.out:
        to_csv(table.rename_axis("row").reset_index(), sys.stdout)
    return max((_attempt(write_table, table, path) for path in options.out), default=0)


def _graph(options: argparse.Namespace) -> int:
    groups = None if options.groups is None else _groups(options.groups)
    asked = {name: value for name, value in _asked(options).items() if name != "groups"}
    graph = robust_ns(_read(options), options.formula, **asked)

    def report(graph: GraphResult, path: Path) -> None:
        _write_text(graph_page(graph, groups, options.line), path)

    def plot(graph: GraphResult, path: Path) -> None:
        _draw(lambda: graph.plot(groups), path)

    def out(graph: GraphResult, path: Path) -> None:
        if path.suffix == ".graphml":
            graph.to_graphml(path, groups)
        else:
            write_table(graph.edges(), path, index=False)

    return _written(options, graph, {"out": out, "report": report, "plot": plot})


def _groups(path: Path) -> "pd.Series[Any]":
    """Group of each node from a table."""
    table = read_table(path)
    if table.shape[1] != 2:
        raise DataError(f"{str(path)!r} must have two columns: node, and its group.")
    node, group = table.columns
    return table.set_index(node)[group]


def _stability(options: argparse.Namespace) -> int:
    stable = stability(options.formula, _read(options), **_asked(options))

    def report(stable: Stability, path: Path) -> None:
        _write_text(stability_page(stable, options.line), path)

    def out(stable: Stability, path: Path) -> None:
        write_table(stable.frequencies.reset_index(), path, index=False)

    def plot(stable: Stability, path: Path) -> None:
        _draw(stable.plot, path)

    return _written(options, stable, {"out": out, "report": report, "plot": plot})


# --------------------------------------------------------------------------------------- outputs


def _written(
    options: argparse.Namespace, result: Any, writers: dict[str, Callable[[Any, Path], None]]
) -> int:
    """Write and print what was asked for, each whether or not the others can be: a fit may have taken long.

    The result itself comes first, so that nothing that fails later can lose it.
    """
    codes = [_attempt(_save, result, path) for path in _paths(options, "save")]
    codes.append(_attempt(_show, result, None))
    tasks = [(write, path) for name, write in writers.items() for path in _paths(options, name)]
    return max([*codes, *(_attempt(write, result, path) for write, path in tasks)])


def _attempt(write: Callable[[Any, Any], None], result: Any, path: Path | None) -> int:
    try:
        write(result, path)
        if path is not None:
            print(f"{path} is written.")
    except Exception as error:
        # Whatever is wrong with one output, the others are still to come.
        return _failed(error)
    return 0


def _show(result: Any, _: None) -> None:
    print(result.summary())


def _save(result: Any, path: Path) -> None:
    try:
        result.save(path)
    except (RobustSparseError, OSError) as error:
        # A place that can be written is better than none.
        folder = Path(tempfile.mkdtemp(prefix="robustsparse-"))
        result.save(folder / path.name)
        raise DataError(f"{error} It is in {str(folder / path.name)!r} instead.") from error


def _write_fit(fit: RHTResult, path: Path) -> None:
    ending = path.suffix.lower()
    if ending == ".json":
        _write_text(json.dumps(as_values(fit), indent=1, allow_nan=False), path)
    elif ending == ".tex":
        fit.summary().to_latex(path)
    elif ending == ".txt":
        _write_text(f"{fit.summary()}\n", path)
    else:
        write_table(fit.tidy(), path, index=False)


def _write_text(text: str, path: Path) -> None:
    with written_whole(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _plot_path(fit: RHTResult, path: Path) -> None:
    _draw(fit.plot_path, path)


def _draw(draw: Callable[[], Any], path: Path) -> None:
    with written_whole(path) as partial:
        draw().figure.savefig(partial, dpi=150, format=path.suffix[1:] or "png")


if __name__ == "__main__":
    sys.exit(main())
