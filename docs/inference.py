"""How often 95% intervals hold the truth: `python docs/inference.py` writes docs/inference.md (an hour).

`--only small` (20 minutes), `--only predictions` and `--only dependent` (10 minutes each) make one section anew and
leave the rest of the page as it is.
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import dependent_rows
import numpy as np
import pandas as pd
import predicted_responses
from joblib import Parallel, delayed

import robustsparse as rs
from robustsparse.inference import bootstrap, split

HERE = Path(__file__).parent
RUNS, SPLITS_RUNS, BOOTSTRAP_RUNS = 100, 10, 30
RESAMPLES, SPLITS = 40, 5
WIDE, NARROW, CLASSES = (300, 1000), (150, 30), (300, 10)
STRONG, WEAK = 1.0, 0.15

HEAD = """# Intervals: what they cover

`python docs/inference.py` makes this page. Simulated data: n good rows and, with the paper's outliers, one
bad row in ten of all; five coefficients of ±1 (strong), with *weak terms* also five of ±0.15, about five standard
errors at n = 300; noise 0.5; predictors with Toeplitz correlation. *Classes*: the paper's logistic model, two Gaussian
classes that differ in three columns, whose coefficients are ±1.15. The default fit: k is chosen, bad rows are
rejected. Nominal level 95%. The bootstrap, forty fits a data set, is measured on smaller data.

- *sandwich*: `fit.conf_int()`, which takes the selected terms as given;
- *split*: `fit.conf_int(method="split")`, selection on one half and inference on the other;
- *split × {splits}*: `fit.conf_int(method="split", splits={splits})`, medians of the ends over {splits} splits, which
  is conservative: it covers more than promised;
- *bootstrap*: `fit.conf_int(method="bootstrap", resamples={resamples})`, percentiles over halves of the rows, zeros
  where a half does not select the term.

*strong*, *weak*: share of the intervals of true terms that hold the true coefficient, among those that the method gives
an interval for (*found*: their share of all true terms); *false*: share of the intervals of false terms that hold zero,
with their number in all runs; *width*: median width for strong terms. A share p of m intervals has a standard error of
√(p(1-p)/m): 0.007 for 1000 intervals, 0.013 for 300.
"""

SMALL = """## Small samples

`fit.conf_int()` with k given and no more columns than that, so that only the rows are judged: a sandwich that corrects
every row for its leverage, and Student's t with `fit.df_resid` degrees of freedom. Coefficients of 1 with an intercept,
normal predictors; noise that is normal, t with 5 degrees of freedom (*t5*), or normal with a spread of exp(0.35 x1)
(*uneven*). *bad*: one row in ten is wrong, in half of the data sets by 20 in the response, in the others far out in the
predictors too. Share of the {runs} × k intervals of slopes that hold the truth; its standard error is {error:.3f} for
k = 1, and less for more.
"""
SMALL_SIZES, SMALL_K, SMALL_RUNS = (10, 20, 40), (1, 2, 3), 200
NOISES = ("normal", "t5", "uneven")

Method = Callable[[pd.DataFrame, int], pd.DataFrame]


def sandwich(data: pd.DataFrame, seed: int) -> pd.DataFrame:
    return rs.rht("y ~ .", data, n_jobs=1, rng=seed).conf_int()


def sandwich_of_classes(data: pd.DataFrame, seed: int) -> pd.DataFrame:
    return rs.rht("y ~ .", data, "binomial", n_jobs=1, rng=seed).conf_int()


def split_of_classes(data: pd.DataFrame, seed: int) -> pd.DataFrame:
    return split("y ~ .", data, family="binomial", rng=seed, n_jobs=1)


def simulate(setting: str, size: tuple[int, int], seed: int) -> tuple[pd.DataFrame, pd.Series]:
    n, d = size
    rng = np.random.default_rng([2024, seed])
    names = [f"x{j + 1}" for j in range(d)]
    if "classes" in setting:
        epsilon = 0.1 if "outliers" in setting else 0.0
        sim = rs.simulate.logistic(n=n, d=d, k=3, epsilon=epsilon, rng=rng)
        return sim.data, pd.Series(sim.beta, index=names)
    sizes = [STRONG] * 5 + ([WEAK] * 5 if "weak" in setting else [])
    beta = np.zeros(d)
    beta[rng.choice(d, len(sizes), replace=False)] = sizes * rng.choice([-1.0, 1.0], len(sizes))
    epsilon = 0.1 if "outliers" in setting else 0.0
    sim = rs.simulate.linear(n=n, d=d, beta=beta, sigma=0.5, epsilon=epsilon, rng=rng)
    return sim.data, pd.Series(beta, index=names)


def one(method: Method, setting: str, size: tuple[int, int], seed: int) -> pd.DataFrame:
    """Every interval of one data set, and the true terms without one."""
    data, beta = simulate(setting, size, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        table = method(data, seed).drop(index="Intercept")
    if "frequency" in table:
        table = table[np.isfinite(table["low"]) & (table["low"] < table["high"])]
    names = table.index.union(beta.index[beta != 0])
    table = table.reindex(names).assign(truth=beta[names])
    table["covers"] = (table["low"] <= table["truth"]) & (table["truth"] <= table["high"])
    return table


def share(hits: pd.Series) -> str:
    return f"{hits.mean():.3f}" if len(hits) else ""


def row(
    name: str, method: Method, setting: str, size: tuple[int, int], runs: int, jobs: int
) -> dict[str, str]:
    tables = Parallel(n_jobs=jobs)(delayed(one)(method, setting, size, s) for s in range(runs))
    return figures(name, setting, size, tables)


def figures(
    name: str, setting: str, size: tuple[int, int], tables: list[pd.DataFrame]
) -> dict[str, str]:
    every = pd.concat(tables)
    given = every[every["low"].notna()]
    truth = given["truth"].abs()
    false = given.loc[truth == 0, "covers"]
    strong = given[(truth != 0) & (truth != WEAK)]
    return {
        "data": setting,
        "method": name,
        "n × d": f"{size[0]} × {size[1]}",
        "runs": str(len(tables)),
        "strong": share(strong["covers"]),
        "weak": share(given.loc[truth == WEAK, "covers"]),
        "found": share(every.loc[every["truth"] != 0, "low"].notna()),
        "false": f"{share(false)} of {len(false)}" if len(false) else "none",
        "width": f"{(strong['high'] - strong['low']).median():.3f}",
    }


def markdown(rows: list[dict[str, str]]) -> str:
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    return "\n".join([*lines, *("| " + " | ".join(r.values()) + " |" for r in rows)])


def few_rows(n: int, k: int, noise: str, bad: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictors and response of one small data set."""
    rng = np.random.default_rng([2025, seed, n, k, NOISES.index(noise), bad])
    X = rng.normal(size=(n, k))
    error = rng.standard_t(5, size=n) if noise == "t5" else rng.normal(size=n)
    if noise == "uneven":
        error *= np.exp(0.35 * X[:, 0])
    y = 0.5 + X.sum(axis=1) + error
    if bad and seed % 2:
        y[: n // 10] += 20.0 * rng.choice([-1.0, 1.0], n // 10)
    elif bad:
        X[: n // 10] *= 5.0
        y[: n // 10] = 30.0 - X[: n // 10].sum(axis=1)
    return X, y


def slopes_held(n: int, k: int, noise: str, bad: bool, seed: int) -> float:
    """Share of the slopes of one small data set that their intervals hold."""
    X, y = few_rows(n, k, noise, bad, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        table = rs.rht_fit(X, y, k=k, n_jobs=1, rng=seed).conf_int()
    slopes = table.reindex([f"x{j + 1}" for j in range(k)])
    return float(slopes["low"].le(1.0).mul(slopes["high"].ge(1.0)).mean())


def small_row(n: int, k: int, runs: int, jobs: int) -> dict[str, str]:
    row = {"n": str(n), "k": str(k)}
    for bad in (False, True):
        for noise in NOISES:
            held = Parallel(n_jobs=jobs)(
                delayed(slopes_held)(n, k, noise, bad, seed) for seed in range(runs)
            )
            row[f"{noise}, bad" if bad else noise] = f"{np.mean(held):.3f}"
    return row


def small_samples(part: int, jobs: int) -> str:
    """The section on small samples."""
    runs, rows = SMALL_RUNS // part, []
    for n in SMALL_SIZES:
        for k in SMALL_K:
            rows.append(small_row(n, k, runs, jobs))
            print(rows[-1], flush=True)
    error = (0.05 * 0.95 / runs) ** 0.5
    return f"{SMALL.format(runs=runs, error=error)}\n{markdown(rows)}\n"


def split_once(data: pd.DataFrame, seed: int) -> pd.DataFrame:
    return split("y ~ .", data, rng=seed, n_jobs=1)


def split_often(data: pd.DataFrame, seed: int) -> pd.DataFrame:
    return split("y ~ .", data, splits=SPLITS, rng=seed, n_jobs=1)


def resampled(data: pd.DataFrame, seed: int) -> pd.DataFrame:
    return bootstrap("y ~ .", data, resamples=RESAMPLES, rng=seed, n_jobs=1)


def wide(part: int, jobs: int) -> str:
    """The page without small samples."""
    studies = [
        ("sandwich", sandwich, WIDE, RUNS),
        ("split", split_once, WIDE, RUNS),
        # Dear ones last: they are measured without weak terms only.
        (f"split × {SPLITS}", split_often, WIDE, SPLITS_RUNS),
        ("bootstrap", resampled, NARROW, BOOTSTRAP_RUNS),
    ]
    rows = []
    for setting in ("clean", "outliers", "weak terms", "weak terms, outliers"):
        for name, method, size, runs in studies[: 2 if "weak" in setting else None]:
            rows.append(row(name, method, setting, size, max(runs // part, 2), jobs))
            print(rows[-1], flush=True)
    for setting in ("classes", "classes, outliers"):
        for name, method in (("sandwich", sandwich_of_classes), ("split", split_of_classes)):
            rows.append(row(name, method, setting, CLASSES, max(RUNS // part, 2), jobs))
            print(rows[-1], flush=True)
    return f"{HEAD.format(splits=SPLITS, resamples=RESAMPLES)}\n{markdown(rows)}\n"


def predictions(part: int, jobs: int) -> str:
    """The section on predictions."""
    head, rows = predicted_responses.section(part, jobs)
    return f"{head}\n{markdown(rows)}\n"


def dependent(part: int, jobs: int) -> str:
    """The section on rows that depend on each other."""
    head, rows = dependent_rows.section(part, jobs)
    return f"{head}\n{markdown(rows)}\n"


# The sections of the page in their order, with their headings; the first has the title of the page.
SECTIONS = {
    "wide": ("# Intervals", wide),
    "small": ("## Small samples", small_samples),
    "predictions": ("## Predictions", predictions),
    "dependent": ("## Rows that depend", dependent),
}


def sections_of(page: str) -> dict[str, str]:
    """The sections that a page has."""
    parts = page.replace("\n## ", "\n\0## ").split("\0")
    return {
        name: part
        for name, (heading, _) in SECTIONS.items()
        for part in parts
        if part.startswith(heading)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs, printed only")
    parser.add_argument("--only", choices=list(SECTIONS), help="only one section")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names = [options.only] if options.only else list(SECTIONS)
    made = {name: SECTIONS[name][1](10 if options.quick else 1, options.jobs) for name in names}
    if options.quick:
        return
    page = HERE / "inference.md"
    parts = {**(sections_of(page.read_text()) if options.only else {}), **made}
    page.write_text("\n\n".join(parts[name].strip() for name in SECTIONS if name in parts) + "\n")


if __name__ == "__main__":
    main()
