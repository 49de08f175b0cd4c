"""Processor time of the package alone, as JSON, for a comparison of two versions of it."""

import json
import warnings

from benchmarks import gradient, solver
from benchmarks.fits import ours
from benchmarks.problems import LARGE, SMALL, TRUE_K, Case
from benchmarks.timing import Candidate, interleave, seconds


def candidates(case: Case) -> dict[str, Candidate]:
    """What is timed on one kind of data."""
    data = case.draw()
    timed = solver.candidates(data.X.T, data.y, TRUE_K, 1)
    return {
        solver.FIXED: timed[solver.FIXED],
        solver.AUTO: timed[solver.AUTO],
        gradient.OURS: gradient.candidates(case)[gradient.OURS],
        "rht_fit": Candidate(lambda _: ours(data, 1)),
    }


def main() -> None:
    """Print the seconds of everything."""
    out = {}
    for size, rounds in ((SMALL, 5), (LARGE, 1)):
        case = Case(*size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            samples = interleave(candidates(case), rounds)
        for name, taken in samples.items():
            out[f"{case.size}: {name}"] = seconds(taken, "cpu")
    print(json.dumps(out))


if __name__ == "__main__":
    main()
