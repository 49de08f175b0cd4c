"""Measure and draw what docs/how-it-works.md shows: `python docs/how_it_works.py` from the root (a minute)."""

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any
from unittest.mock import patch

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import robustsparse as rs
from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.kernels import constants as c
from robustsparse.report.plots import style

HERE = Path(__file__).parent
PAGE, FIGURES = HERE / "how-it-works.md", HERE / "figures"
WIDTH = 120

# The fit that is drawn; the studies of accuracy, with their numbers of seeds.
DRAWN = {"n": 300, "d": 10_000, "k": 5, "epsilon": 0.1, "attack": "leverage", "rng": 7}
STAGES, ATTACKS, SEEDS = {"n": 300, "d": 1000, "k": 5, "epsilon": 0.1}, ("paper", "leverage"), 20
GRAPH, GRAPH_SEEDS = {"n": 200, "d": 100, "epsilon": 0.1}, 10

# How the question of a column was settled, cheapest first.
UNREAD, INTERVAL, EXACT, ACTIVE = range(4)
LEVELS = ("bound alone, column not read", "float32 interval", "exact value")
COLORS = ("0.7", style.SKY, style.VERMILLION)


# -- one fit, watched from outside


@dataclass
class Look:
    """What one iteration, one vector of scores, knew of every column when it was over.

    Attributes
    ----------
    run : int
        Number of the bound gradient, one for each design and trim, in order of their first use.
    n, trimmed, k : int
        Rows, values trimmed at each end, coefficients that survive the threshold.
    bar : float
        Size that a column had to reach to be of interest, as far as the support alone told.
    calls : int
        How often the survivors were asked for: again, if the step was shortened.
    level : array (d,)
        UNREAD, INTERVAL, EXACT, or ACTIVE for columns in the support.
    low, high, truth : array (d,)
        Proven range of the absolute gradient, and the gradient itself.
    """

    run: int
    n: int
    trimmed: int
    k: int
    bar: float
    calls: int
    level: Indices
    low: Array
    high: Array
    truth: Array

    @property
    def counts(self) -> Indices:
        """Columns settled at each level, those of the support left out."""
        return np.bincount(self.level, minlength=4)[:ACTIVE]


def reach(gradient: ScreenedTrim, slots: Indices, known: Array, clip: Array) -> Array:
    """The most that each gradient can be by level 0; `kernels.trimmed_mean.drift.within_reach` in numpy."""
    norms, moved = gradient._design.norms, gradient._memory.moved[slots].T
    share = 1.0 / (gradient.XT.shape[1] - 2 * gradient.trimmed)
    most = known * moved[c.SCALE] + norms[0] * moved[c.ALL] * share
    if gradient._scores.wild:
        clip = clip * moved[c.CALM_SCALE]
        farthest = np.maximum(norms[2] * moved[c.CALM_MAX], norms[3] * moved[c.JUMP_MAX])
        change = np.maximum(clip + farthest, clip * moved[c.GROWTH]) * moved[c.RATIO_SUM]
        change += norms[1] * moved[c.CALM] + norms[3] * moved[c.JUMP_SUM]
        most = np.minimum(most, known * moved[c.CALM_SCALE] + change * share)
    return np.where(slots < 0, np.inf, most)


def looked(
    gradient: ScreenedTrim,
    active: Mask,
    k: int,
    bar: float,
    calls: int,
    slots: Indices,
    state: Array,
    run: int,
) -> Look:
    """What is known after the survivors were asked for; `slots` and `state` are what was known before."""
    read = gradient._memory.slots == gradient._scores.slot
    value, radius = np.abs(gradient._memory.state[c.VALUE]), gradient._memory.state[c.RADIUS]
    exact = read & (radius == 0.0)
    most = reach(gradient, slots, state[c.KNOWN], state[c.CLIP])
    return Look(
        run, len(gradient._scores.score), gradient.trimmed, k, bar, calls,
        level=np.select([active, exact, read], [ACTIVE, EXACT, INTERVAL], UNREAD),
        low=np.where(read, np.maximum(value - radius, 0.0), 0.0),
        high=np.where(read, value + radius, most),
        truth=np.abs(gradient.dense(gradient.XT, gradient._scores.score)),
    )  # fmt: skip


@contextmanager
def watched() -> Iterator[list[Look]]:
    """Looks at every screened gradient that is taken in the meantime.

    Nothing in the package is changed: the two methods that a solver calls are wrapped, and what a bound gradient
    remembers of its columns is read after each call.
    """
    looks: list[Look] = []
    runs: list[ScreenedTrim] = []
    calls = 0
    begin, survivors = ScreenedTrim.begin, ScreenedTrim.survivors

    def begin_watched(self: ScreenedTrim, score: Array) -> None:
        nonlocal calls
        begin(self, score)
        calls = 0

    def survivors_watched(
        self: ScreenedTrim, active: Mask, k: int, bar: float
    ) -> tuple[Indices, Array]:
        nonlocal calls
        slots, state = self._memory.slots.copy(), self._memory.state.copy()
        out = survivors(self, active, k, bar)
        calls += 1
        if calls > 1:
            looks.pop()
        if not any(self is run for run in runs):
            runs.append(self)
        looks.append(looked(self, active, k, bar, calls, slots, state, run=len(runs) - 1))
        return out

    with (
        patch.object(ScreenedTrim, "begin", begin_watched),
        patch.object(ScreenedTrim, "survivors", survivors_watched),
    ):
        yield looks


@contextmanager
def unscreened() -> Iterator[None]:
    """Every column of every gradient evaluated exactly, and all else as it is."""

    def survivors(self: ScreenedTrim, active: Mask, k: int, bar: float) -> tuple[Indices, Array]:
        gradient = self.dense(self.XT, self._scores.score)
        found = np.flatnonzero(~active & ~(np.abs(gradient) < bar))
        return found, gradient[found]

    with patch.object(ScreenedTrim, "survivors", survivors):
        yield


def identical(one: rs.RHTResult, two: rs.RHTResult) -> bool:
    """Whether two fits are equal to the last bit: coefficients, iterations, path, and every number of every row."""
    parts = ("history", "path", "diagnostics")
    same = all(getattr(one, part).equals(getattr(two, part)) for part in parts)
    return same and np.array_equal(one.params.to_numpy(), two.params.to_numpy())


def watched_fit(size: Mapping[str, Any]) -> tuple[list[Look], bool]:
    """Looks of the default fit to simulated data, and whether it equals the fit without screening."""
    sim = rs.simulate.linear(**size)
    with watched() as looks:
        fit = rs.rht_fit(sim.X, sim.y, n_jobs=1)
    with unscreened():
        plain = rs.rht_fit(sim.X, sim.y, n_jobs=1)
    return looks, identical(fit, plain)


# A smaller share is trimmed where bad rows are out.
_LIGHT = 0.05


def phases(looks: list[Look]) -> dict[int, str]:
    """What each run is for: starts, then the last one, lightly trimmed, from the model that was chosen."""
    names = {}
    rows = max(look.n for look in looks)
    for run in sorted({look.run for look in looks}):
        own = next(look for look in looks if look.run == run)
        share = own.trimmed / own.n
        what = "start" if own.n == rows else "start on near rows"
        what = "from the chosen model" if share < _LIGHT else what
        names[run] = f"{what}, {100 * share:.0f}% trimmed"
    return names


# -- the picture


# Columns that are drawn of those settled at each of the first two levels.
_DRAWN_COLUMNS = 70
_BRACKET = {"arrowstyle": "|-|,widthA=0.2,widthB=0.2", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0}
_LEGEND = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.15), "fontsize": style.TINY, "frameon": False}  # fmt: skip


def draw(looks: list[Look]) -> Figure:
    """How every column of every iteration was settled, and one iteration column by column."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 4.1), layout="constrained", width_ratios=[1.15, 1]
    )
    draw_levels(left, looks)
    chosen = telling(looks)
    draw_columns(right, looks[chosen])
    left.set_title("A  All iterations of a fit", fontsize=style.SMALL, loc="left", pad=8)
    right.set_title(f"B  Iteration {chosen + 1}", fontsize=style.SMALL, loc="left", pad=8)
    return figure


def draw_levels(ax: Axes, looks: list[Look]) -> None:
    style.polish(ax)
    counts = np.array([look.counts for look in looks])
    shares = 100 * counts / counts.sum(axis=1, keepdims=True)
    place, bottom = np.arange(1, len(looks) + 1), np.zeros(len(looks))
    for level, (name, color) in enumerate(zip(LEVELS, COLORS, strict=True)):
        ax.bar(place, shares[:, level], 0.86, bottom, color=color, label=name)
        bottom += shares[:, level]
    for name, first, last in spans(looks):
        ax.annotate("", (first + 0.7, 103), (last + 0.3, 103), arrowprops=_BRACKET)
        ax.text((first + last + 1) / 2, 105, name, ha="center", va="bottom", fontsize=style.TINY)
    ax.set(xlim=(0, len(looks) + 1), ylim=(0, 111), yticks=range(0, 101, 20))
    ax.spines["left"].set_bounds(0, 100)
    style.name_axes(ax, "iteration", "columns outside the support (%)")
    ax.legend(**_LEGEND, ncols=3, handlelength=1, columnspacing=1.2)


def spans(looks: list[Look]) -> list[tuple[str, int, int]]:
    """The starts together and each round of the path: name, first iteration, last one plus one."""
    names = phases(looks)
    groups = [names[look.run] if "path" in names[look.run] else "starts" for look in looks]
    return [
        (name, groups.index(name), len(groups) - groups[::-1].index(name))
        for name in dict.fromkeys(groups)
    ]


def telling(looks: list[Look]) -> int:
    """Place of the iteration, of those that asked once if it can be, in which the least busy level had most to do."""
    least = [(int(look.counts.min()), look.calls == 1) for look in looks]
    return max(range(len(looks)), key=least.__getitem__)


def draw_columns(ax: Axes, look: Look) -> None:
    style.polish(ax)
    order = np.argsort(np.where(look.level == ACTIVE, 0.0, -look.truth), kind="stable")
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1)
    low, high, truth = look.low / look.bar, look.high / look.bar, look.truth / look.bar
    unread, interval, exact = (
        order[look.level[order] == level] for level in (UNREAD, INTERVAL, EXACT)
    )
    unread, interval = thinned(unread), thinned(interval)
    ax.vlines(rank[unread], truth[unread], high[unread], color=COLORS[UNREAD], linewidth=0.8)
    ax.plot(rank[unread], high[unread], "v", ms=3, color=COLORS[UNREAD])
    ax.vlines(rank[interval], low[interval], high[interval], color=COLORS[INTERVAL], linewidth=1.3)
    shown = np.concatenate([unread, interval])
    ax.plot(rank[shown], truth[shown], ".", ms=2.2, color="black", zorder=2.5)
    ax.plot(rank[exact], truth[exact], "o", ms=3.8, color=COLORS[EXACT], zorder=3)
    ax.axhline(1.0, color="black", linewidth=1, linestyle="--", zorder=0.5)
    ax.text(len(order), 1.02, "bar", ha="right", va="bottom", fontsize=style.TINY)
    ax.set_xscale("log")
    ax.set_xlim(0.8, 1.25 * len(order))
    ax.set_ylim(0, 1.05 * max(1.0, float(high[shown].max()), float(truth[exact].max())))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    style.name_axes(
        ax, "rank of the column by its absolute gradient", "absolute gradient (bar = 1)"
    )
    ax.legend(handles=_column_handles(), **_LEGEND, ncols=2, columnspacing=1.2)


def _column_handles() -> list[Line2D]:
    def handle(label: str, color: str, **kind: Any) -> Line2D:
        return Line2D([], [], color=color, label=label, **kind)

    return [
        handle("at most this, by the bound alone", COLORS[UNREAD], marker="v", ms=3, lw=0.8),
        handle("in here, by the float32 interval", COLORS[INTERVAL], lw=1.3),
        handle("exact value", COLORS[EXACT], marker="o", ms=3.8, lw=0),
        handle("true value, which the fit does not need", "black", marker=".", ms=3, lw=0),
    ]


def thinned(columns: Indices) -> Indices:
    """Some of the columns, which are in order, about as many in each doubling of the rank."""
    if len(columns) <= _DRAWN_COLUMNS:
        return columns
    places = np.geomspace(1, len(columns), _DRAWN_COLUMNS).round().astype(int) - 1
    return columns[np.unique(places)]


# -- the numbers


def screening_block(looks: list[Look], same: bool, size: Mapping[str, Any]) -> str:
    """What the picture shows, in numbers."""
    if not same:
        raise AssertionError("the fit with screening differs from the one without")
    total = np.sum([look.counts for look in looks], axis=0)
    chosen = telling(looks)
    one = looks[chosen]
    bad = max(look.n for look in looks) - size["n"]
    text = [
        f"The fit: `rht_fit(X, y)` with its defaults, in one thread, on {size['n']} good rows and {bad} bad ones whose "
        f"predictors are blown up, {size['d']:,} columns, {size['k']} of them in the model. Its {len(looks)} "
        f"iterations with a trimmed gradient ask for {total.sum():,} coordinates outside the support:",
        table(level_rows(looks)),
        "The same call with every coordinate evaluated exactly gives the same coefficients, the same path, the same "
        "history of iterations and the same numbers for every row, equal to the last bit: the script compares them.",
        f"Panel B is iteration {chosen + 1}, with k = {one.k}: {one.counts[UNREAD]:,} columns not read, "
        f"{one.counts[INTERVAL]:,} excluded by their intervals, {one.counts[EXACT]:,} evaluated.",
        *asked_again(looks),
    ]
    return "\n\n".join(part if part.startswith("|") else fill(part, WIDTH) for part in text)


def level_rows(looks: list[Look]) -> list[dict[str, str]]:
    """One row a phase, and one for all."""
    names = phases(looks)
    groups = {names[run]: [look for look in looks if look.run == run] for run in names}
    groups["all"] = looks
    rows = []
    for name, own in groups.items():
        counts = np.sum([look.counts for look in own], axis=0)
        shares = [f"{100 * count / counts.sum():.1f}%" for count in counts]
        rows.append(
            {"phase": name, "iterations": str(len(own)), **dict(zip(LEVELS, shares, strict=True))}
        )
    return rows


def asked_again(looks: list[Look]) -> list[str]:
    """Iterations that evaluated most columns because a step was shortened, if there are any."""
    # The first iteration of a run always asks twice, once for a support to begin with.
    later = [now for before, now in pairwise(looks) if now.run == before.run]
    much = [look for look in later if look.counts[EXACT] > 0.5 * look.counts.sum()]
    if not much or min(look.calls for look in much) < 2:
        return []
    which = "one iteration" if len(much) == 1 else f"{len(much)} iterations"
    share = sum(look.counts[EXACT] for look in much) / sum(look.counts[EXACT] for look in looks)
    return [
        f"One thing still costs more than it must: in {which} most columns were evaluated, {100 * share:.0f}% of all "
        "exact values of the fit. There the step was shortened and the survivors were asked for a second time at the "
        "same scores; that time intervals that are known already do not raise the bar."
    ]


def stage_errors(attack: str, seed: int, size: Mapping[str, Any]) -> tuple[float, ...]:
    """Errors of the coefficients: Algorithm 1 told k, the automatic fit, and what nobody can have."""
    sim = rs.simulate.linear(**size, attack=attack, rng=20_000 + seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        alone = rs.rht_fit(sim.X, sim.y, k=size["k"], refit=False, n_jobs=1)
        whole = rs.rht_fit(sim.X, sim.y, n_jobs=1)
    good, terms = ~sim.outlier, np.flatnonzero(sim.beta)
    ideal = np.zeros(len(sim.beta))
    A = np.column_stack([np.ones(good.sum()), sim.X[good][:, terms]])
    ideal[terms] = np.linalg.lstsq(A, sim.y[good], rcond=None)[0][1:]
    estimates = (alone.params.iloc[1:].to_numpy(), whole.params.iloc[1:].to_numpy(), ideal)
    return tuple(float(np.linalg.norm(coef - sim.beta)) for coef in estimates)


def stages_block(seeds: int, size: Mapping[str, Any]) -> str:
    """Median errors of the stages."""
    names = (
        "Algorithm 1 alone, told the true k",
        "the automatic fit, told nothing",
        "least squares on the true terms and the good rows",
    )
    errors = {
        attack: np.median([stage_errors(attack, seed, size) for seed in range(seeds)], axis=0)
        for attack in ATTACKS
    }
    rows = [
        {"": name, **{f"`{attack}`": f"{errors[attack][i]:.3f}" for attack in ATTACKS}}
        for i, name in enumerate(names)
    ]
    text = (
        f"Median l2 error of the coefficients over {seeds} simulated data sets, {size['n']} good rows, {size['d']:,} "
        f"columns, {size['k']} terms, {100 * size['epsilon']:.0f}% bad rows of two kinds, `paper` and `leverage` of "
        "`rs.simulate.attacks`:"
    )
    return f"{fill(text, WIDTH)}\n\n{table(rows)}"


def graph_aucs(seed: int, size: Mapping[str, Any]) -> tuple[float, ...]:
    """AUC of Algorithm 2 on all rows, of the default, and of the lasso on all rows and on the good ones."""
    sim = rs.simulate.graph(**size, rng=30_000 + seed)
    lasso = rs.baselines.neighborhood_lasso
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        graphs = (
            lasso(sim.data, n_jobs=1),
            rs.robust_ns(sim.data, screen=False, n_jobs=1),
            rs.robust_ns(sim.data, n_jobs=1),
            lasso(sim.data[~sim.outlier], n_jobs=1),
        )
    return tuple(graph.roc(sim.adjacency).auc for graph in graphs)


def graphs_block(seeds: int, size: Mapping[str, Any]) -> str:
    """Mean areas under the ROC curve of the edges."""
    names = (
        "neighborhood lasso, all rows",
        "Algorithm 2 on all rows, `screen=False`",
        "`robust_ns(data)`",
        "neighborhood lasso, good rows only",
    )
    means = np.mean([graph_aucs(seed, size) for seed in range(seeds)], axis=0)
    rows = [{"": name, "mean AUC": f"{m:.3f}"} for name, m in zip(names, means, strict=True)]
    text = (
        f"The paper's graphs, {size['n']} good rows, {size['d']} variables, {100 * size['epsilon']:.0f}% bad rows, "
        f"{seeds} data sets; area under the ROC curve of the edges:"
    )
    return f"{fill(text, WIDTH)}\n\n{table(rows)}"


def table(rows: list[dict[str, str]]) -> str:
    """Markdown."""
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    return "\n".join([*lines, *("| " + " | ".join(row.values()) + " |" for row in rows)])


def blocks(page: str) -> dict[str, str]:
    """What stands between the marks of a page, by their names."""
    return dict(re.findall(r"<!-- measured: (\w+) -->\n\n(.*?)\n\n<!-- end -->", page, re.DOTALL))


def written(page: str, name: str, text: str) -> str:
    """The page with another text between the marks of this name."""
    old = blocks(page)[name]
    mark = f"<!-- measured: {name} -->\n\n"
    return page.replace(f"{mark}{old}\n", f"{mark}{text}\n")


def main() -> None:
    looks, same = watched_fit(DRAWN)
    FIGURES.mkdir(exist_ok=True)
    draw(looks).savefig(FIGURES / "screening.png", dpi=150)
    page = PAGE.read_text()
    page = written(page, "screening", screening_block(looks, same, DRAWN))
    page = written(page, "stages", stages_block(SEEDS, STAGES))
    page = written(page, "graphs", graphs_block(GRAPH_SEEDS, GRAPH))
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
