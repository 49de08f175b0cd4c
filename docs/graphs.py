"""How `robust_ns` fares where graphs are hard: `python docs/graphs.py` writes docs/graphs.md (12 minutes on a core).

`--seeds 2` looks at fewer data sets and prints the page only; `--only SETTING ...` makes the lines of some settings
anew and leaves the others of the page as they are.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
import robustsparse as rs
from docs.attacks import markdown
from vignettes.vignettes_common import run_trials

PAGE = Path(__file__).parent / "graphs.md"
# Nothing was chosen on these data sets.
SEEDS, FIRST = 20, 45_000
SIZE = {"n": 200, "d": 50}
GRAPHS: dict[str, dict[str, Any]] = {
    "band": {"kind": "band", "v": 0.6},
    "hub": {"kind": "hub", "clusters": 5},
    "random": {"kind": "random"},
    "cluster": {"kind": "cluster"},
}
GOOD = {"epsilon": 0.0}
SETTINGS: dict[str, dict[str, Any]] = {
    "clean": GOOD,
    "the paper's outliers": {"epsilon": 0.1},
    "low-variance outliers": {"epsilon": 0.1, "outliers": "concentrated", "shift": 1.0},
    "isotropic scatter, 3": {"epsilon": 0.1, "outliers": "scattered"},
    "isotropic scatter, 5": {"epsilon": 0.1, "outliers": "scattered", "spread": 5.0},
    "5% cells at ±4": {**GOOD, "cellwise": 0.05, "cell_size": 4.0},
    "10% cells at ±4": {**GOOD, "cellwise": 0.1, "cell_size": 4.0},
    "common factor": {**GOOD, "factor": 1.0},
    "two populations": {**GOOD, "second": 0.3},
}
# Bad rows and cells that lie among the good ones.
HIDDEN: dict[str, dict[str, Any]] = {
    "low-variance directions": {"epsilon": 0.1, "outliers": "flat"},
    "isotropic scatter, 1": {"epsilon": 0.1, "outliers": "scattered", "spread": 1.0},
    "5% cells at ±3": {**GOOD, "cellwise": 0.05, "cell_size": 3.0},
    "5% cells at ±2": {**GOOD, "cellwise": 0.05, "cell_size": 2.0},
}
PANELS: dict[str, dict[str, Any]] = {
    **{f"n = d = {d}, v = {v}": {"n": d, "d": d, "v": v} for d in (100, 200) for v in (0.3, 0.6)},
    "t with 3 df": {"n": 100, "d": 100, "tail": "t3", **GOOD},
    "log-normal": {"n": 100, "d": 100, "tail": "lognormal", **GOOD},
    "5% cells at ±10": {"n": 100, "d": 100, "cellwise": 0.05, **GOOD},
}
DEFAULT, GIVEN, ORACLE, VANILLA = "default", "factors=1", "glasso, good data", "vanilla NS"
SKEPTICS = ("SKEPTIC, CLIME", "SKEPTIC, glasso")
METHODS: dict[str, Callable[[Any], rs.GraphResult]] = {
    DEFAULT: lambda X: rs.robust_ns(X, n_jobs=1),
    GIVEN: lambda X: rs.robust_ns(X, factors=1, n_jobs=1),
    SKEPTICS[0]: lambda X: rs.baselines.skeptic(X, n_jobs=1),
    SKEPTICS[1]: lambda X: rs.baselines.skeptic(X, solver="glasso"),
    VANILLA: lambda X: rs.baselines.neighborhood_lasso(X, n_jobs=1),
}
# Where partialling out a factor is what a user would ask for, given what the data are.
ASKED = ("common factor", "two populations")
MAX_FPR = 0.1

HEAD = """# Graphs that are hard to find

`python docs/graphs.py` makes this page. Graphs of 50 variables from 200 good rows (`simulate.graph`), {seeds} data sets
for each line, on which nothing was chosen:

- *band*: a chain, v = 0.6, 49 edges; *hub*: five hubs with nine neighbors each, 45 edges; *random*: about 73 edges;
  *cluster*: two clusters, about 140 edges; all but the band with v = 0.3;
- *the paper's outliers*: a tenth of all rows from N(±1.5, I); *low-variance outliers*: as many around one point at ±1
  in each variable, with standard deviation 0.1, so that no row is larger than the good ones; *isotropic scatter*: as
  many from N(0, 3² I) or N(0, 5² I);
- *cells at ±4*: so many of the single cells are overwritten with 4 or -4, give or take 0.2;
- *common factor*: a factor with loadings from N(0, 1) is added, so that it has half of the variance; *two
  populations*: three rows in ten have means that lie 2 above or below those of the others in each variable. The graph
  is the one given the factor, or within each population.

Every method chooses its number of edges by the same extended BIC (γ = 0.5), on its own matrix and along its own path.
SKEPTIC takes Kendall's tau and gives `sin(π τ / 2)` to CLIME or to the graphical lasso; *glasso, good data* is the
graphical lasso of the same good rows without anything that was done to them. `robust_ns` is the default call, and the
same with `factors=1`, which partials one robust principal factor out first.
"""
F1 = """
## F1 of the chosen graph

*minus SKEPTIC* is the mean difference of the default from the better of the two SKEPTICs of that line on the same data
sets, with its standard error; bar: not below zero. With a common factor or two populations it is also that of
`factors=1`, in a second line: nobody's graph is right there without it.
"""
RANKING = """
## F1 with the true number of edges

The same, if somebody says how many edges there are: how good the order of the pairs is, apart from the choice of
their number.
"""
ROWS = """
## Rows and cells

Share of the good rows that the default call rejects, and of the bad ones; weight that bad rows keep on average; and how
many edges it has beside the truth.
"""
BEYOND = """
## What hides better

The same F1, and the same bar, where bad rows and cells look like good ones. The default was mended for the first and
for cells at ±3 and ±2 with other data sets; a bar that is missed is one.
*Low-variance directions*: a tenth of all rows lie in the five directions in which the good ones vary least, at the same
mean square, as another reading of low-variance outliers; *isotropic scatter, 1*: as many from N(0, I); *cells at ±3*
lie at the ends of the good values, and *cells at ±2* in the midst of them.
"""
PANEL = """
## The paper's panels

Partial area under the ROC curve (false positive rate up to 0.1) of the default and of the neighborhood lasso on the
good rows alone, with standard errors; settings of [the paper's graphs](../vignettes/08-paper-graphs.md), other data
sets. For heavy tails and cells the good rows are Gaussian ones of the same graph.
"""


def f1(graph: Any, truth: np.ndarray) -> float:
    """F1 of the edges of a graph."""
    found = graph.toarray() != 0
    return float(2 * (found & truth).sum() / max(found.sum() + truth.sum(), 1))


def trial(graph: str, setting: str, seed: int) -> list[dict[str, Any]]:
    """All methods on one data set."""
    shape = {**SIZE, **GRAPHS[graph]}
    sim = rs.simulate.graph(**shape, **{**SETTINGS, **HIDDEN}[setting], rng=FIRST + seed)
    # The same seed draws the same good rows first.
    good = rs.simulate.graph(**shape, **GOOD, rng=FIRST + seed)
    assert np.array_equal(good.adjacency, sim.adjacency)
    rows = [measures(name, fit(sim.X), sim) for name, fit in METHODS.items()]
    rows.append(measures(ORACLE, rs.baselines.glasso(good.X), good))
    return [{"setting": setting, "graph": graph, "seed": seed, **row} for row in rows]


def measures(method: str, graph: rs.GraphResult, sim: rs.simulate.Simulation) -> dict[str, Any]:
    truth = sim.adjacency
    edges = int(truth.sum()) // 2
    row = {
        "method": method,
        "F1": f1(graph.adjacency, truth),
        "edges": graph.n_edges,
        "true": edges,
    }
    # A path may end before it has as many pairs.
    row["ranked"] = f1(graph.at(n_edges=min(edges, graph.ranking.nnz // 2)).adjacency, truth)
    if graph.row_weights is not None:
        weights, bad = graph.row_weights.to_numpy(), sim.outlier
        row["good"] = float((weights[~bad] == 0).mean())
        row["bad"] = float((weights[bad] == 0).mean()) if bad.any() else np.nan
        row["kept"] = float(weights[bad].mean()) if bad.any() else np.nan
    return row


def panel_trial(panel: str, seed: int) -> list[dict[str, Any]]:
    """The default and the oracle on one data set of a panel."""
    setting = PANELS[panel]
    sim = rs.simulate.graph(**setting, rng=FIRST + seed)
    shape = {key: setting[key] for key in ("n", "d", "v") if key in setting}
    good = rs.simulate.graph(**shape, **GOOD, rng=FIRST + seed)
    fits = {
        DEFAULT: rs.robust_ns(sim.X, n_jobs=1),
        "oracle": rs.baselines.neighborhood_lasso(good.X, n_jobs=1),
    }
    return [
        {"panel": panel, "seed": seed, "method": name,
         "area": graph.roc(sim.adjacency).partial_auc(MAX_FPR)}
        for name, graph in fits.items()
    ]  # fmt: skip


def lines(runs: pd.DataFrame, column: str) -> list[tuple[str, str, pd.DataFrame]]:
    """Setting, graph, and a column of its runs, seeds by methods."""
    return [
        (str(setting), str(graph), part.pivot(index="seed", columns="method", values=column))
        for (setting, graph), part in runs.groupby(["setting", "graph"], sort=False)
    ]


def f1_table(runs: pd.DataFrame) -> list[dict[str, object]]:
    """A row a setting and graph, and a second one where a factor is to be partialled out."""
    rows: list[dict[str, object]] = []
    for setting, graph, wide in lines(runs, "F1"):
        best = max(SKEPTICS, key=lambda name: wide[name].mean())
        row: dict[str, object] = {"setting": setting, "graph": graph}
        row |= {name: f"{wide[name].mean():.2f}" for name in (*METHODS, ORACLE)}
        rows.append(row | gap(wide[DEFAULT] - wide[best]))
        if setting in ASKED:
            blank = dict.fromkeys(row, "") | {"setting": f"{setting}, factors=1", "graph": graph}
            rows.append(blank | {GIVEN: row[GIVEN]} | gap(wide[GIVEN] - wide[best]))
    return rows


def gap(difference: "pd.Series[float]") -> dict[str, object]:
    mean = difference.mean()
    error = float(np.nan_to_num(difference.sem()))
    # What is printed as zero is none.
    met = round(mean, 3) >= 0
    return {"minus SKEPTIC": f"{mean:+.3f} ({error:.3f})", "bar": "met" if met else "**missed**"}


def ranking_table(runs: pd.DataFrame) -> list[dict[str, object]]:
    return [
        {"setting": setting, "graph": graph}
        | {name: f"{wide[name].mean():.2f}" for name in (*METHODS, ORACLE)}
        for setting, graph, wide in lines(runs, "ranked")
    ]


def row_table(runs: pd.DataFrame) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    own = runs[runs.method == DEFAULT]
    for (setting, graph), part in own.groupby(["setting", "graph"], sort=False):
        mean = part[["good", "bad", "kept", "edges", "true"]].mean()
        bad = {"bad rejected": mean["bad"], "weight of bad rows": mean["kept"]}
        rows.append(
            {"setting": setting, "graph": graph, "good rejected": f"{mean['good']:.3f}"}
            | {name: "" if np.isnan(value) else f"{value:.2f}" for name, value in bad.items()}
            | {"edges": f"{mean['edges']:.1f}", "true edges": f"{mean['true']:.1f}"}
        )
    return rows


def panel_table(runs: pd.DataFrame) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for panel, part in runs.groupby("panel", sort=False):
        wide = part.pivot(index="seed", columns="method", values="area")
        wide["difference"] = wide[DEFAULT] - wide["oracle"]
        rows.append(
            {"panel": panel}
            | {name: f"{wide[name].mean():.3f} ({np.nan_to_num(wide[name].sem()):.3f})"
               for name in (DEFAULT, "oracle", "difference")}
        )  # fmt: skip
    return rows


def page(seeds: int, jobs: int, only: Sequence[str] = ()) -> str:
    """The whole page, or one of some settings alone."""
    names, panels = only or (*SETTINGS, *HIDDEN), () if only else PANELS
    tasks = [(graph, name, s) for name in names for graph in GRAPHS for s in range(seeds)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        runs = run_trials(trial, tasks, "settings", jobs)
        areas = run_trials(
            panel_trial, [(p, s) for p in panels for s in range(seeds)], "panels", jobs
        )
    hidden = runs[runs.setting.isin([*HIDDEN])]
    runs = runs[~runs.setting.isin([*HIDDEN])]
    parts: Sequence[str] = [
        HEAD.format(seeds=seeds), F1, table(f1_table, runs), RANKING, table(ranking_table, runs),
        ROWS, table(row_table, runs), BEYOND, table(f1_table, hidden), PANEL, table(panel_table, areas),
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def table(rows: Callable[[pd.DataFrame], list[dict[str, object]]], runs: pd.DataFrame) -> str:
    return markdown(rows(runs)) if len(runs) else ""


def by_place(text: str) -> dict[tuple[str, ...], str]:
    """Lines of a page by the heading above them and, in tables, their first two entries."""
    lines, heading = {}, ""
    for number, line in enumerate(text.splitlines()):
        heading = line if line.startswith("## ") else heading
        entries = tuple(line.split("|")[1:3])
        lines[(heading, *entries) if entries else (heading, str(number))] = line
    return lines


def renewed(old: str, new: str) -> str:
    """A page with those lines of its tables that a page of some settings has, too."""
    found = by_place(new)
    lines = [
        found.get(place, line) if len(place) > 2 else line for place, line in by_place(old).items()
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=[*SETTINGS, *HIDDEN], default=[], metavar="SETTING")  # fmt: skip
    options = parser.parse_args()
    text = page(options.seeds, options.jobs, options.only)
    if options.only and options.seeds == SEEDS:
        text = renewed(PAGE.read_text(), text)
    if options.seeds < SEEDS:
        print(text)
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
