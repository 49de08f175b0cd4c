# %% [markdown]
# # The paper's equities: 452 stocks, and does technology hang together?
#
# Stocks of a sector move together. A graph of daily returns that knows nothing of sectors should therefore find them,
# if it survives heavy tails and bad days. The paper draws graphs of 2,000 edges by Robust Neighborhood Selection and by
# "vanilla" neighborhood selection (the lasso of each stock on all others) and says that only the first one keeps the
# technology stocks together. Its introduction speaks of "(unmodified) real data", its appendix of winsorized returns:
# here are both.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.convergence import quietly
from scipy.sparse import csgraph
from scipy.stats import kurtosis, norm
from vignettes_common import quick

import robustsparse as rs
from robustsparse.report.plots.qq import qq_frame
from robustsparse.report.plots.style import PALETTE, name_axes, polish

prices, info = rs.datasets.stocks()
sector = info.set_index("ticker")["sector"]
n_edges, kept = 2000, (10, 30)
if quick():
    few = sector.groupby(sector).head(5).index
    prices, sector, n_edges, kept = prices.loc[:300, few], sector[few], 60, (4, 8)
print(prices.shape, "closing prices;", sector.nunique(), "sectors")

# %% [markdown]
# ## Preparation
#
# Daily returns of the logarithm of the price: as they are, and as in the paper's appendix with each stock winsorized to
# within five winsorized standard deviations of its winsorized mean.

# %%
returns = np.log(prices).diff().iloc[1:]
data = rs.winsorize(returns, n_sd=5)
changed = (data != returns).to_numpy()
print(
    f"{data.shape[0]:,} days of {data.shape[1]} stocks; {changed.sum():,} returns ({changed.mean():.2%}) pulled in"
)
tails = pd.DataFrame({"log returns": kurtosis(returns), "winsorized": kurtosis(data)})
print("excess kurtosis (normal: 0)\n", tails.quantile([0.1, 0.5, 0.9]).round(2).to_string())

# %% [markdown]
# Two technology companies, Adobe and Agilent, after this preparation: histograms with the normal density of the same
# median and interquartile range, and quantiles against those of a normal distribution (band: where 95% of normal
# samples would lie, point by point).


# %%
def show(ticker: str, left: plt.Axes, right: plt.Axes) -> None:
    """Histogram and normal quantiles of the returns of a stock, in percent."""
    values = 100 * data[ticker]
    quartiles = values.quantile([0.25, 0.5, 0.75]).to_numpy()
    spread = (quartiles[2] - quartiles[0]) / 1.349
    grid = np.linspace(values.min(), values.max(), 200)
    left.hist(values, bins=60, density=True, color=PALETTE[5])
    left.plot(grid, norm.pdf(grid, quartiles[1], spread), color=PALETTE[1], label="normal")
    left.legend(frameon=False, fontsize="small")
    name_axes(left, "daily log return (%)", "density", info.set_index("ticker").name[ticker])
    frame = qq_frame((values - quartiles[1]) / spread)
    right.fill_between(frame.theoretical, frame.low, frame.high, color="0.85", lw=0)
    right.plot(frame.theoretical, frame.line, color="0.5", lw=0.8)
    right.plot(frame.theoretical, frame["sample"], ".", ms=3, color=PALETTE[0])
    name_axes(right, "normal quantile", "standardized return", "against the normal")
    polish(left)
    polish(right)


figure, axes = plt.subplots(2, 2, figsize=(7, 5.4), layout="constrained")
for ticker, row in zip(("ADBE", "A"), axes, strict=True):
    show(ticker, *row)

# %% [markdown]
# Still heavier in the tails than normal, as the paper says. The share of days beyond three standard deviations (those
# of the middle half of the days) against what a normal distribution has:

# %%
middle = (data.quantile(0.75) - data.quantile(0.25)) / 1.349
beyond = ((data - data.median()).abs() > 3 * middle).mean()
print(f"ADBE {beyond['ADBE']:.2%}, A {beyond['A']:.2%}, median stock {beyond.median():.2%}")
print(f"normal {2 * norm.sf(3):.2%}")

# %% [markdown]
# ## Graphs of 2,000 edges
#
# Four methods, each on the returns as they are and on the winsorized ones:
#
# - Robust NS as the package does it by default;
# - Algorithm 2 as printed: a fixed step (the theory's 1/L, with L from the covariance of all days), a trimmed share of
#   ε = 0.1, nothing scaled but centered, no refit, no day left out, and the 2,000 edges with the largest coefficients.
#   The paper does not name its k'; here it is 10 and 30. All stocks move with the market, which makes L large and the
#   step short: the fits stop after 200 iterations, and few have settled by then;
# - vanilla NS, the neighborhood lasso, with an edge where one of the two regressions selects it ("or"), and where both
#   do ("and").


# %%
def printed(data: pd.DataFrame, k: int) -> rs.GraphResult:
    """Algorithm 2 as printed."""
    step = 1 / np.linalg.eigvalsh(data.cov())[-1]
    return quietly(
        rs.robust_ns, data, k=k, estimator=rs.Trimmed(0.1), step=step, screen=False,
        standardize=False, max_edges=n_edges,
    )  # fmt: skip


def graphs_of(data: pd.DataFrame) -> dict[str, rs.GraphResult]:
    """Every method's graph."""
    lasso = rs.baselines.neighborhood_lasso
    return {
        "robust NS (default)": rs.robust_ns(data, max_edges=n_edges),
        **{f"robust NS as printed, k' = {k}": printed(data, k) for k in kept},
        "vanilla NS, or": lasso(data, rule="or", max_edges=n_edges),
        "vanilla NS, and": lasso(data, rule="and", max_edges=n_edges),
    }


graphs = {"as they are": graphs_of(returns), "winsorized": graphs_of(data)}
print(graphs["as they are"]["robust NS (default)"].summary())

# %% [markdown]
# ## The paper's picture
#
# Left Robust NS, right vanilla NS; above the returns as they are, below winsorized. Technology is pink, the palette's
# color next to the paper's purple. The layout knows the edges only, not the sectors: that a color lies together is a
# finding.

# %%
TECHNOLOGY = "Information Technology"
shown = (f"robust NS as printed, k' = {kept[-1]}", "vanilla NS, or")


def pictures(groups: pd.Series, methods: tuple[str, str]) -> None:
    """Networks of two methods (columns) on both kinds of returns (rows), with one legend."""
    figure, axes = plt.subplots(2, 2, figsize=(5.8, 6.1))
    # A place that the legend leaves free, before the networks are fitted to it.
    figure.subplots_adjust(0.01, 0.11, 0.99, 0.96, wspace=0.03, hspace=0.08)
    for (kind, found), row in zip(graphs.items(), axes, strict=True):
        for name, ax in zip(methods, row, strict=True):
            ax.set_title(f"{name}; returns {kind}", fontsize=7.5, loc="left")
            found[name].plot(groups=groups, ax=ax, legend=False)
    handles, names = axes[0, 0].get_legend_handles_labels()
    names = [name.replace("no group", "other sectors") for name in names]
    figure.legend(handles, names, loc="lower center", ncols=4, frameon=False, fontsize="x-small")


# The fourth group is pink in the order of the categories.
names = [name for name in sorted(sector.unique()) if name != TECHNOLOGY]
order = [*names[:3], TECHNOLOGY, *names[3:]]
pictures(sector.astype(pd.CategoricalDtype(order)), shown)

# %% [markdown]
# The same with technology alone in color, here blue, and the package's default in place of Algorithm 2 as printed:

# %%
alone = sector.where(sector == TECHNOLOGY).astype(pd.CategoricalDtype(order))
pictures(alone, ("robust NS (default)", "vanilla NS, or"))

# %% [markdown]
# ## How well the sectors come out
#
# Purity is the share of edges within a sector; the vote is the share of stocks whose sector is the most frequent one
# among their neighbors (stocks without neighbors do not vote, so they are counted apart); modularity compares the
# edges within sectors with what the degrees alone would give.

# %%
every = {(kind, name): graph for kind, found in graphs.items() for name, graph in found.items()}
table = pd.DataFrame({key: graph.group_summary(sector) for key, graph in every.items()}).T
table["right of all"] = table["vote_accuracy"] * (1 - table["isolated"] / len(sector))
table.rename_axis(["returns", "method"]).astype({"isolated": int}).round(3)

# %% [markdown]
# ## The technology cluster in numbers
#
# Of the technology stocks: edges among them, edges that leave, the share of their edges that stay inside, the
# largest piece that holds together by inside edges alone, and how many have a majority of neighbors in the sector.


# %%
def cluster(graph: rs.GraphResult, name: str = TECHNOLOGY) -> dict[str, float]:
    """One sector's place in a graph."""
    inside = (sector.reindex(graph.nodes) == name).to_numpy()
    matrix = graph.adjacency.toarray()
    within = matrix[np.ix_(inside, inside)]
    degree = matrix[inside].sum(axis=1)
    label = csgraph.connected_components(within)[1]
    return {
        "stocks": int(inside.sum()),
        "edges inside": int(within.sum() // 2),
        "edges leaving": int(matrix[np.ix_(inside, ~inside)].sum()),
        "share of edge ends that stay": round(float(within.sum() / degree.sum()), 3),
        "largest piece": int(np.bincount(label).max()),
        "no neighbor inside": int((within.sum(axis=1) == 0).sum()),
        "majority inside": int((2 * within.sum(axis=1) > degree).sum()),
    }


found = pd.DataFrame({key: cluster(graph) for key, graph in every.items()}).T
found.rename_axis(["returns", "method"])

# %% [markdown]
# The default ranks pairs over random subsamples of the days. How much of its lines is their luck? Ten other draws of
# the subsamples of each table, in the order of the last column:


# %%
def luck(data: pd.DataFrame) -> dict[str, object]:
    """What ten draws of the subsamples make of purity and of technology."""
    seeds = range(2 if quick() else 10)
    drawn = [rs.robust_ns(data, max_edges=n_edges, rng=seed) for seed in seeds]
    purity = [graph.group_summary(sector)["purity"] for graph in drawn]
    inside = sorted(int(cluster(graph)["majority inside"]) for graph in drawn)
    return {
        "purity": f"{min(purity):.3f} to {max(purity):.3f}",
        "majority inside, median": np.median(inside),
        "majority inside, all": " ".join(map(str, inside)),
    }


pd.DataFrame({"as they are": luck(returns), "winsorized": luck(data)}).T.rename_axis("returns")

# %% [markdown]
# ## Verdict: in part on the returns as they are, hardly on winsorized ones
#
# One data set, so there are no seeds; nothing but k' was tuned. The larger of the two k' is the better one by purity,
# which only those see who know the sectors; k' = 6 was tried as well and is worse than both. The default needs no such
# choice.
#
# - **Heavy tails, also after winsorizing: reproduces.** There are ten times as many days beyond three standard
#   deviations as a normal distribution has (figure 1).
# - **Stocks of a sector lie together in the graph of Robust NS: reproduces if k' is large enough** (figure 2). Purity
#   is 0.77 as printed with k' = 30 and 0.58 with k' = 10; by default it is 0.80.
# - **Vanilla NS does worse on technology, returns as they are: in part** (figures 2 and 3). Its purity is 0.62, and
#   38 or 42 of the 64 technology stocks have most of their neighbors in technology, where Robust NS has 51 (k' = 30)
#   and 52 (default; other draws of its subsamples give 52 to 58, 55 or 56 in the median, so that differences of a few
#   stocks mean nothing); 12 or 8 of them have no neighbor in technology at all, where Robust NS has 1 and 2. That it
#   "cannot distinguish" technology is too strong: the 52 or 56 that hang together do lie together, and of the ends of
#   technology's edges 0.79 ("or") or 0.65 ("and") stay inside, with Robust NS 0.77 (k' = 30) and 0.82 by default.
# - **The same, returns winsorized: does not reproduce.** Vanilla NS gains what it lacked (0.73 or 0.77, 52 stocks)
#   and is level with Algorithm 2 as printed (0.77, 52); the default is ahead in purity (0.80) and level or a little
#   ahead in technology (52; 52 to 57 over other draws, 55 in the median).
# - Bad days hurt the lasso, and winsorizing repairs most of that. Robust NS gives nearly the same graph with it and
#   without it: this is what robustness is for.
# - Vanilla NS leaves 23 or 26 stocks without a neighbor on the returns as they are, 6 or 13 on winsorized ones, and
#   Algorithm 2 as printed 7 or 10; the default 1.
