"""The command line: `python -m robustsparse demo` and `python -m robustsparse fit data.csv "y ~ ."`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from robustsparse.base.errors import RobustSparseError
from robustsparse.datasets import octane
from robustsparse.regression.family import FAMILIES
from robustsparse.regression.result import RHTResult
from robustsparse.regression.rht import rht


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    Examples
    --------
    >>> main(["fit", "nowhere.csv", "y ~ ."])
    1
    """
    options = _parser().parse_args(arguments)
    try:
        fit = _demo() if options.command == "demo" else _fit(options)
    except (RobustSparseError, OSError) as error:
        print(f"robustsparse: {error}", file=sys.stderr)
        return 1
    print(fit.summary())
    _write(fit, options)
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
    data = pd.read_csv(options.data)
    return rht(options.formula, data, options.family, options.estimator, epsilon=options.epsilon)


def _write(fit: RHTResult, options: argparse.Namespace) -> None:
    if options.plot is not None:
        fit.plot_path().figure.savefig(options.plot, dpi=150)
        print(f"\nThe path of the coefficients is in {options.plot}.")
    if getattr(options, "save", None) is not None:
        fit.save(options.save)
        print(f"The model is in {options.save}.")


if __name__ == "__main__":
    sys.exit(main())
