"""The command line: `python -m robustsparse demo` and `python -m robustsparse fit data.csv "y ~ ."`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from robustsparse.base.atomic import written_whole
from robustsparse.base.errors import DataError, ParameterError, RobustSparseError
from robustsparse.datasets import octane
from robustsparse.regression.family import FAMILIES
from robustsparse.regression.result import RHTResult
from robustsparse.regression.rht import rht

# What the shell gets to know of any error, as of wrong arguments.
_FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    Examples
    --------
    >>> main(["fit", "nowhere.csv", "y ~ ."])
    2
    """
    options = _parser().parse_args(arguments)
    try:
        fit = _demo() if options.command == "demo" else _fit(options)
    except (RobustSparseError, OSError) as error:
        return _failed(error)
    # Each whether or not the others can be written: a fit may have taken long.
    codes = [
        _attempt(_show, fit, None),
        *(_attempt(write, fit, path) for write, path in _files(options)),
    ]
    return max(codes)


def _failed(error: Exception) -> int:
    """Say on one line what is the matter; messages about formulas have a picture below."""
    lines = str(error).splitlines() or [type(error).__name__]
    print(f"robustsparse: {lines[0]}", file=sys.stderr)
    return _FAILED


def _attempt(write: Callable[[RHTResult, Any], None], fit: RHTResult, path: Path | None) -> int:
    try:
        write(fit, path)
    except (RobustSparseError, OSError, ValueError) as error:
        return _failed(error)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="robustsparse", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="fit the octane data, which hold six corrupted samples")
    fit = commands.add_parser("fit", help="fit a formula to a CSV file")
    fit.add_argument("data", type=Path, help="CSV file with a header line")
    fit.add_argument("formula", help='for example "y ~ ."')
    fit.add_argument("--family", choices=tuple(FAMILIES), default="gaussian")
    fit.add_argument("--estimator", choices=("trim", "mom", "mean"), default="trim")
    fit.add_argument("--epsilon", type=float, default=0.1, help="fraction of bad rows to survive")
    fit.add_argument("--save", type=Path, help="write the model to this file")
    for command, default in ((demo, Path("robustsparse-demo.png")), (fit, None)):
        command.add_argument(
            "--plot", type=Path, default=default, help="write a picture of the path"
        )
    return parser


def _demo() -> RHTResult:
    print("Octane numbers of 39 gasoline samples from 226 near-infrared absorbances.")
    print("Samples 25, 26 and 36 to 39 contain added alcohol. Nobody tells the model.\n")
    return rht("y ~ .", octane())


def _fit(options: argparse.Namespace) -> RHTResult:
    paths = [path.resolve() for _, path in _files(options)]
    if len(set(paths)) < len(paths):
        raise ParameterError("--save and --plot name the same file; give each its own.")
    for _, path in _files(options):
        if path.exists() and options.data.exists() and path.samefile(options.data):
            raise ParameterError(f"{str(path)!r} holds the data; write to another file.")
    data = _read(options.data)
    return rht(options.formula, data, options.family, options.estimator, epsilon=options.epsilon)


def _read(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path)
    except OSError:
        raise
    except Exception as error:
        # Wrong bytes, lines of different lengths and an empty file are of one kind, each packed format has its own.
        reason = [*str(error).strip().splitlines(), type(error).__name__][0]
        raise DataError(
            f"{str(path)!r} cannot be read as a CSV file in UTF-8 with a header line ({reason})."
        ) from error


def _files(options: argparse.Namespace) -> list[tuple[Callable[[RHTResult, Path], None], Path]]:
    """What to write where."""
    wanted = [(_save, getattr(options, "save", None)), (_plot, options.plot)]
    return [(write, path) for write, path in wanted if path is not None]


def _show(fit: RHTResult, _: None) -> None:
    print(fit.summary())


def _save(fit: RHTResult, path: Path) -> None:
    fit.save(path)
    print(f"The model is in {path}.")


def _plot(fit: RHTResult, path: Path) -> None:
    with written_whole(path) as partial:
        fit.plot_path().figure.savefig(partial, dpi=150, format=path.suffix[1:] or "png")
    print(f"\nThe path of the coefficients is in {path}.")


if __name__ == "__main__":
    sys.exit(main())
