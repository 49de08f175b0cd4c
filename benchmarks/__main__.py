"""`python -m benchmarks [--full] [--no-save] [--only|--without SECTION ...]`, `--against REV`, `--unchanged REV`."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks import (
    against,
    busy,
    environment,
    exactness,
    fits,
    gradient,
    graphs,
    growth,
    kinds,
    latency,
    memory,
    repeated,
    report,
    scale,
    small,
    solver,
    tall,
    unchanged,
)  # fmt: skip
from benchmarks.results import Results


def _growth(full: bool, threads: int) -> Iterable[Any]:
    # For this section alone; the others run as in a process of a user's.
    growth.keep_memory()
    yield from growth.rows(full)


# What measures each section: a field of the results and a function of (full, threads).
SECTIONS: dict[str, tuple[str, Callable[[bool, int], Iterable[Any]]]] = {
    "solver": ("times", solver.rows),
    "gradient": ("times", lambda full, _: gradient.rows(full)),
    "graph": ("times", graphs.rows),
    "small": ("times", lambda full, _: small.rows(full)),
    "repeated": ("times", lambda full, _: repeated.rows(full)),
    "kinds": ("times", lambda full, _: kinds.rows(full)),
    "tall": ("times", lambda full, _: tall.rows(full)),
    "busy": ("times", lambda full, _: busy.rows(full)),
    "fits": ("fits", fits.rows),
    "growth": ("growth", _growth),
    "memory": ("memory", lambda full, _: memory.rows(full)),
    "latency": ("latency", lambda full, _: latency.rows(full)),
    "exactness": ("exactness", lambda full, _: exactness.rows()),
    "scale": ("scale", lambda full, _: scale.rows(full)),
}


def _told(name: str, rows: Iterable[Any]) -> list[Any]:
    """All rows, each with a dot on standard error as a sign of life, and the seconds that they took."""
    out = []
    start = time.perf_counter()
    print(name, end=" ", file=sys.stderr, flush=True)
    for row in rows:
        out.append(row)
        print(".", end="", file=sys.stderr, flush=True)
    print(f" {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return out


def run(full: bool, threads: int, sections: Iterable[str] = tuple(SECTIONS)) -> Results:
    """Measure everything, or some sections."""
    start = time.perf_counter()
    results = Results("full" if full else "quick", environment.describe())
    for name in sections:
        field, rows = SECTIONS[name]
        getattr(results, field).extend(_told(name, rows(full, threads)))
    results.environment["minutes"] = (time.perf_counter() - start) / 60
    return results


def main() -> None:
    """Parse the arguments, measure, print and save."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="more rounds, seeds and larger sizes")
    parser.add_argument("--no-save", action="store_true", help="print the tables only")
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, metavar="SECTION",
        help=f"measure and print some sections; --full saves scale, nothing else is: {', '.join(SECTIONS)}",
    )  # fmt: skip
    parser.add_argument(
        "--without", nargs="+", choices=SECTIONS, default=[], metavar="SECTION",
        help="leave some sections out of a run that is saved, as scale, which has a page of its own",
    )  # fmt: skip
    parser.add_argument("--against", metavar="REV", help="compare with a commit, nothing else")
    parser.add_argument(
        "--unchanged", metavar="REV", help="compare whole fits with those of a commit, nothing else"
    )
    arguments = parser.parse_args()
    if arguments.against:
        print(against.table(arguments.against))
        return
    if arguments.unchanged:
        print(unchanged.table(arguments.unchanged))
        return
    threads = min(2, environment.cores())
    wanted = arguments.only or SECTIONS
    results = run(
        arguments.full, threads, [name for name in wanted if name not in arguments.without]
    )
    print(report.markdown(results))
    if arguments.no_save:
        return
    if arguments.full and results.scale:
        report.save_scale(results)
    if not arguments.only:
        report.save(results)


if __name__ == "__main__":
    main()
