"""Command line: `python -m benchmarks [--full] [--no-save]`, or `--against REV`."""

import argparse
import sys
from collections.abc import Iterable
from typing import TypeVar

from benchmarks import against, environment, fits, gradient, latency, report, solver

Row = TypeVar("Row")


def _told(rows: Iterable[Row]) -> list[Row]:
    """All rows, each with a dot on standard error as a sign of life."""
    out = []
    for row in rows:
        out.append(row)
        print(".", end="", file=sys.stderr, flush=True)
    return out


def run(full: bool, threads: int) -> report.Results:
    """Measure everything."""
    about = environment.describe()
    times = _told(solver.rows(full, threads)) + _told(gradient.rows(full))
    whole = _told(fits.rows(full, threads))
    starts = _told(latency.rows(full))
    print(file=sys.stderr)
    return report.Results("full" if full else "quick", about, times, whole, starts)


def main() -> None:
    """Parse the arguments, measure, print and save."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="more rounds, seeds and slow peers")
    parser.add_argument("--no-save", action="store_true", help="print the tables only")
    parser.add_argument("--against", metavar="REV", help="compare with a commit, nothing else")
    arguments = parser.parse_args()
    if arguments.against:
        print(against.table(arguments.against))
        return
    results = run(arguments.full, min(2, environment.cores()))
    print(report.markdown(results))
    if not arguments.no_save:
        report.save(results)


if __name__ == "__main__":
    main()
