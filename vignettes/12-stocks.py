# %% [markdown]
# # Stocks: what a portfolio analyst learns from the graph
#
# Two stocks that are tied given all others share a risk that no other stock of the list accounts for. Which ties are
# there, which of them hold across sectors, which can be relied upon, and which days were judged too unusual to count?

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from vignettes_common import quick

import robustsparse as rs
from robustsparse.report.plots.style import PALETTE, name_axes, polish

prices, info = rs.datasets.stocks()
about = info.set_index("ticker")
if quick():
    few = about.groupby("sector").head(3).index
    prices, about = prices.loc[:200, few], about.loc[few]
returns = rs.winsorize(np.log(prices).diff().iloc[1:])
sector = about["sector"]

# %% [markdown]
# Without further choices: the number of edges is chosen by an extended BIC of the neighborhoods.

# %%
graph = rs.robust_ns(returns)
print(graph.summary())

# %% [markdown]
# ## Are the sectors found?

# %% [markdown]
# Each point is a stock; the twelve with most neighbors are named. The layout knows the edges only, not the sectors.

# %%
graph.plot(groups=sector, labels=12)

# %%
agreement = graph.group_summary(sector)
print(agreement.round(3).to_string())
matrix = pd.DataFrame(graph.adjacency.toarray(), index=graph.nodes, columns=graph.nodes)
rows = []
for name, members in sector.groupby(sector).groups.items():
    inside = int(matrix.loc[members, members].to_numpy().sum() // 2)
    leaving = int(matrix.loc[members].to_numpy().sum()) - 2 * inside
    other = matrix[members].groupby(sector).sum().sum(axis=1).drop(name)
    rows.append(
        {
            "sector": name,
            "stocks": len(members),
            "edges inside": inside,
            "edges leaving": leaving,
            "share of edge ends inside": round(2 * inside / max(2 * inside + leaving, 1), 2),
            "most ties to": other.idxmax(),
        }
    )
pd.DataFrame(rows).sort_values("share of edge ends inside", ascending=False).set_index("sector")

# %% [markdown]
# ## Hubs: the stocks with most neighbors
#
# A hub moves with many others given everything else: a natural hedge, and a poor diversifier.

# %%
degree = graph.degrees.sort_values(ascending=False, kind="stable").head(10)
pd.DataFrame(
    {
        "company": about.name[degree.index],
        "sector": sector[degree.index],
        "neighbors": degree,
        "of other sectors": [
            sum(sector[near] != sector[hub] for near in graph.neighbors(hub))
            for hub in degree.index
        ],
    }
).rename_axis("ticker")

# %% [markdown]
# ## Ties across sectors
#
# The strongest edges between stocks of different sectors: where the classification hides a shared business, or where a
# portfolio that is spread over sectors is not spread over risks.

# %%
edges = graph.edges()
across = edges[sector[edges.node1].to_numpy() != sector[edges.node2].to_numpy()].head(15)


def company(ticker: str) -> str:
    return f"{about.name[ticker]} ({sector[ticker]})"


pd.DataFrame(
    {
        "one": across.node1.map(company),
        "other": across.node2.map(company),
        "partial correlation": across.partial_corr.round(2),
        "stable share": across.stability.round(2),
    }
).reset_index(drop=True)

# %% [markdown]
# ## Which edges can be relied upon?
#
# Every edge carries the share of subsamples that select it. A harder test is time: the graph of the first half of the
# days against that of the second half, both cut to the same number of edges, beside the neighborhood lasso.

# %%
half = len(returns) // 2
n_edges = 60 if quick() else 1000
methods = {
    "robust NS": lambda part: rs.robust_ns(part, max_edges=n_edges),
    "neighborhood lasso, or": lambda part: rs.baselines.neighborhood_lasso(part, max_edges=n_edges),
    "neighborhood lasso, and": lambda part: rs.baselines.neighborhood_lasso(
        part, rule="and", max_edges=n_edges
    ),
}


def both(method: str) -> dict[str, float]:
    """Edges that the two halves share."""
    first, second = (methods[method](part) for part in (returns[:half], returns[half:]))
    common = int(first.adjacency.multiply(second.adjacency).sum() // 2)
    return {
        "edges of each half": n_edges,
        "in both halves": common,
        "share": round(common / n_edges, 3),
        "purity of both": round(
            float(np.mean([g.group_summary(sector)["purity"] for g in (first, second)])), 3
        ),
    }


pd.DataFrame({method: both(method) for method in methods}).T.astype(
    {"edges of each half": int, "in both halves": int}
)

# %%
# Subsamples come in steps of 1/40; two of them make a bar.
steps = np.arange(-0.0125, 1.04, 0.05)
same = sector[edges.node1].to_numpy() == sector[edges.node2].to_numpy()
figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.hist(
    [edges.stability[same], edges.stability[~same]],
    bins=steps, stacked=True, color=[PALETTE[0], PALETTE[1]], label=["within a sector", "across sectors"],
)  # fmt: skip
name_axes(ax, "share of subsamples that select the edge", "edges")
ax.legend(frameon=False, fontsize="small", loc="upper left")
polish(ax)

# %%
always = edges.stability >= 0.95
print(f"{always.sum()} of {len(edges):,} edges are selected in 95% of the subsamples or more;")
print(
    f"of these {same[always].mean():.0%} lie within a sector, of the others {same[~always].mean():.0%}"
)

# %% [markdown]
# ## Unusual days
#
# Days whose returns are large all over count for less in the graph, and not at all if they do not fit what the other
# days say of a stock and its neighbors. The picture shows how far the days spread (median over stocks of the absolute
# return, each stock in units of its own usual absolute return) against the median return of the day.

# %%
weights = graph.row_weights
raw = np.log(prices).diff().iloc[1:]
days = pd.DataFrame(
    {
        "median return (%)": 100 * raw.median(axis=1),
        "spread": (raw.abs() / raw.abs().median()).median(axis=1),
        "weight": weights,
    }
)
rejected = days.weight == 0
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for mask, color, label in (
    (days.weight == 1, "0.7", "full weight"),
    ((days.weight < 1) & ~rejected, PALETTE[0], "less weight"),
    (rejected, PALETTE[1], "rejected"),
):
    part = days[mask]
    ax.plot(
        part["median return (%)"],
        part.spread,
        "o",
        ms=3,
        color=color,
        label=f"{label} ({mask.sum()})",
    )
name_axes(ax, "median return of the day (%)", "median |return| / usual |return|")
ax.legend(frameon=False, fontsize="small", loc="upper center", ncols=3)
ax.set_ylim(0, 1.15 * days.spread.max())
polish(ax)

# %%
print(f"{rejected.sum()} of {len(days):,} days are rejected,", end=" ")
print(f"{((days.weight < 1) & ~rejected).sum()} have less weight; those with least:")
days.sort_values("weight", kind="stable").head(8).round(3)

# %% [markdown]
# ## What was learned
#
# - The graph was told nothing of sectors and finds them: most edges stay within one, nine in ten and more in
#   utilities, energy, health care and financials, fewest in telecommunications, which has six stocks, and in
#   industrials, which sell to everybody.
# - The ties that cross sectors are mostly businesses that the classification separates: Amazon with eBay and Yahoo,
#   Target with Wal-Mart and Costco, one owner of hotels with another, McGraw-Hill with Moody's, mining machines with
#   coal. A portfolio that holds both ends is less diversified than its sectors say.
# - The hubs are banks, utilities, an oil producer and a retailer, tied mostly to their own sector, and makers of
#   machines and coatings, a third to a half of whose ties lead to other sectors.
# - Not every edge can be relied upon: one in seven is selected in nearly all subsamples, almost all of these within a
#   sector, and of the graphs of the two halves less than half of the edges agree. They agree more than those of the
#   neighborhood lasso, and more of their edges lie within sectors.
# - No day is rejected. Those that count for least are the days on which the whole market moved most, up as well as
#   down: days that tie everything to everything, and would hide who is tied to whom.
