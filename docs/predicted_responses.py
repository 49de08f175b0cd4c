"""How often new responses lie within their prediction intervals: a section of docs/inference.md."""

import warnings

import numpy as np
from joblib import Parallel, delayed

import robustsparse as rs

HEAD = """## Predictions

`fit.predict(new, interval="prediction")` at 95%, of the default call `rht("y ~ .", data)` and of the same with
`goal="predict"`: share of {new} new good rows a data set that lie within their intervals, mean over {runs} data sets,
its standard error at most {error:.3f}. n good rows and, with the paper's outliers, one bad row in ten of all; five
coefficients of ±1 (three for d = 10), noise 0.5. *width*: median over data sets of the width, over that of an interval
that knows the truth. Where n is small for d the wrong terms are selected, or too few: intervals are wide then, and
hold.
"""
SIZES = ((50, 10), (50, 100), (50, 1000), (300, 10), (300, 1000))
RUNS, NEW, NOISE = 100, 500, 0.5
# Width of an interval that knows the truth: twice 1.96 standard deviations.
KNOWN = 2 * 1.96 * NOISE


def one(n: int, d: int, bad: bool, goal: str, seed: int) -> tuple[float, float]:
    """Share of new rows within their intervals, and the width of these, of one data set."""
    rng = np.random.default_rng([2026, seed, n, d, bad])
    truth = {"d": d, "k": 3 if d == 10 else 5, "sigma": NOISE}
    sim = rs.simulate.linear(
        n=n, epsilon=0.1 if bad else 0.0, attack="paper" if bad else None, rng=rng, **truth
    )
    new = rs.simulate.linear(
        n=NEW, d=d, sigma=NOISE, beta=sim.beta, epsilon=0.0, attack=None, rng=rng
    ).data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        fit = rs.rht("y ~ .", sim.data, goal=goal, n_jobs=1, rng=seed)
    table = fit.predict(new, interval="prediction")
    held = new["y"].between(table["lower"], table["upper"]).mean()
    return float(held), float((table["upper"] - table["lower"]).median())


def row(n: int, d: int, runs: int, jobs: int) -> tuple[dict[str, str], float]:
    """A line of the table, and the largest standard error in it."""
    line, errors = {"n × d": f"{n} × {d}"}, []
    for goal, name in (("auto", "default"), ("predict", 'goal="predict"')):
        for bad in (False, True):
            found = np.array(
                Parallel(n_jobs=jobs)(delayed(one)(n, d, bad, goal, s) for s in range(runs))
            )
            data = "outliers" if bad else "clean"
            line[f"{name}, {data}"] = f"{found[:, 0].mean():.3f}"
            line[f"width, {data}" + (" " if goal == "predict" else "")] = (
                f"{np.median(found[:, 1]) / KNOWN:.2f}"
            )
            errors.append(found[:, 0].std(ddof=1) / np.sqrt(runs))
    return line, max(errors)


def section(part: int, jobs: int) -> tuple[str, list[dict[str, str]]]:
    """Text and table."""
    runs, rows, errors = max(RUNS // part, 2), [], []
    for n, d in SIZES:
        line, error = row(n, d, runs, jobs)
        rows.append(line)
        errors.append(error)
        print(line, flush=True)
    return HEAD.format(new=NEW, runs=runs, error=max(errors)), rows
