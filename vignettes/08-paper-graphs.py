# %% [markdown]
# # The paper's graphs: four ROC panels, with every method and the oracle
#
# Which variables depend on each other given all the others, when a tenth of the rows come from somewhere else? The
# paper draws cluster graphs, adds outlying rows, and compares the ROC curves of Robust Neighborhood Selection with
# those of other robust methods; the oracle is the neighborhood lasso on the good rows alone.

# %%
import inspect

import matplotlib.pyplot as plt
import numpy as np
from experiments import graph_roc as experiment
from experiments.convergence import quietly
from vignettes_common import quick, read_results, run_trials

import robustsparse as rs
from robustsparse.report.plots.style import PALETTE, name_axes, polish

size = 40 if quick() else 100
sim = rs.simulate.graph(n=size, d=size, v=0.3, epsilon=0.1, rng=0)
sim

# %% [markdown]
# One data set of the first panel first. By default `robust_ns` judges rows on all variables together before it fits
# neighborhoods; with `screen=False` it trims each coordinate by itself, as the paper's Algorithm 2 does.

# %%
graph = rs.robust_ns(sim.data)
print(graph.summary())

# %%
rejected = graph.row_weights[graph.row_weights == 0].index
bad = np.flatnonzero(sim.outlier)
print(f"{len(set(rejected) & set(bad))} of {len(bad)} bad rows rejected,", end=" ")
print(f"and {len(set(rejected) - set(bad))} of {(~sim.outlier).sum()} good ones")

# %% [markdown]
# ## Algorithm 2 as printed
#
# "As printed" means the same on all of these pages: a fixed step, a trimmed share of α = ε at each end, nothing scaled,
# no refit; for graphs also no row left out, and columns are centered in place of an intercept. The paper leaves open
# which step and, for a single graph, which k':
#
# - **The step** is the theory's 1/L, with L from the covariance of all rows, bad ones included. Nobody needs to know
#   which rows are bad for that. It is short, since the outliers make L large: after 200 iterations, where the fits
#   stop, most of them have not settled.
# - **k'** is n / log d, as many neighbors as the theory's n ~ k log d allows.
# - **Pairs are ordered** by the size of their coefficients, so that the top k of k' make the graph, as in the paper's
#   supp(β̂, k). For its ROC curves the paper varies k' instead: the pairs in the order in which they come up as k'
#   grows through 1, 2, 4, 8, 16 and 32 are a line of their own, *as printed, edges as k' grows*.
#
# None of these rules needs the truth, but they were picked with it: some fourteen combinations of step, k' and order
# were compared by partial AUC on two data sets a panel (seeds 100 and 101), which are not used below. A second variant,
# k' = 30 and a step of 0.2, was chosen with the truth in hand as well, on data sets that may be among the ten below.

# %%
print(inspect.getsource(experiment.printed))

# %% [markdown]
# Which pairs come up first, against the true graph:

# %%
curves = {
    "robust NS (default)": graph,
    "robust NS as printed": quietly(experiment.printed, sim.X),
    "trimmed glasso": rs.baselines.trimmed_glasso(sim.data),
    "neighborhood lasso": rs.baselines.neighborhood_lasso(sim.data),
}
rs.plot_roc({name: found.roc(sim.adjacency) for name, found in curves.items()})

# %% [markdown]
# ## Four panels, ten data sets each
#
# As in the paper: (n, d) = (100, 100) and (200, 200), off-diagonal entries v = 0.3 (low signal) and 0.6 (high), d/20
# clusters with an edge between two of a cluster with probability 0.3, and outliers, a tenth of all rows, half around
# (1.5, …, 1.5), half around its opposite. Areas are of the whole curve (AUC) and of its part with at most 10% of the
# false pairs accepted, divided by 0.1 (partial AUC: the mean share of true edges found there). Where the ranking of a
# method ends, its curve goes on as a straight line. "Unscreened, computed step" is `robust_ns(..., screen=False)`:
# columns scaled by their MAD, twice ε trimmed, a step computed in each iteration, pairs in the order in which they come
# up as k grows to 10. `python vignettes/experiments/graph_roc.py` makes these numbers anew.

# %%
if quick():
    tiny = {label: part | {"n": 40, "d": 30} for label, part in experiment.PANELS.items()}
    tiny |= {label: part | {"n": 40, "d": 30} for label, part in experiment.OTHERS.items()}
    fast = [experiment.DEFAULT, experiment.PRINTED, "trimmed glasso", "robust CLIME", "vanilla NS"]
    some = [(label, setting, 0, fast) for label, setting in tiny.items()]
    trials = run_trials(experiment.trial, some, "graph trials")
    means = experiment.mean_curves(trials)
else:
    trials, means = read_results("graph_roc"), read_results("graph_roc_curves")
panels, others = list(experiment.PANELS), list(experiment.OTHERS)
print(f"{trials.seed.nunique()} data sets in each setting")

# %%
STYLES = {
    "oracle NS (good data)": ("black", (0, (5, 2))),
    "robust NS (default)": (PALETTE[0], "-"),
    "trimmed glasso": (PALETTE[1], "-"),
    "robust NS as printed": (PALETTE[0], (0, (1, 1))),
    "as printed, edges as k' grows": ("black", (0, (1, 1))),
    "CLIME": ("0.5", "-"),
    "Spearman": (PALETTE[2], "-"),
    "SKEPTIC": (PALETTE[3], "-"),
    "robust CLIME": (PALETTE[4], "-"),
    "vanilla NS": (PALETTE[5], "--"),
}


def draw(max_fpr: float) -> None:
    """Mean curves of the four panels up to a false positive rate."""
    figure, axes = plt.subplots(2, 2, figsize=(7, 6.6), layout="constrained", sharey=True)
    for ax, label in zip(axes.flat, panels, strict=True):
        part = means[(means.setting == label) & (means.fpr <= max_fpr + 1e-9)]
        for name, (color, dashes) in STYLES.items():
            if name in part and part[name].notna().any():
                wide = 2.0 if name == "robust NS (default)" else 1.3
                ax.plot(part.fpr, part[name], color=color, ls=dashes, lw=wide, label=name)
        name_axes(ax, "false positive rate", "true positive rate", label)
        ax.set(xlim=(0, max_fpr), ylim=(0, 1))
        ax.label_outer()
        polish(ax)
    handles, names = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)


draw(1.0)

# %% [markdown]
# The same curves where few false edges are accepted, which is what the paper stresses and how a graph is used:

# %%
draw(experiment.MAX_FPR)

# %% [markdown]
# The numbers behind the panels, mean and standard error over the data sets. AUC, the best first:

# %%
experiment.areas(trials, "auc", panels)

# %% [markdown]
# Partial AUC, false positive rate up to 0.1:

# %%
experiment.areas(trials, "pauc", panels)

# %% [markdown]
# ## Fresh data sets
#
# Both variants of Algorithm 2 as printed, the default, trimmed glasso and the oracle on 50 data sets a panel on which
# nothing was chosen. Partial AUC, mean and standard error. `python vignettes/experiments/graph_fresh.py` makes these
# numbers anew. The page of [hard graphs](../docs/graphs.md) has the default on other graphs and other outliers.

# %%
own = trials[trials.method.isin([experiment.ORACLE, experiment.PRINTED])]
fresh = own if quick() else read_results("graph_fresh")
print(fresh[fresh.method == experiment.PRINTED].groupby("setting", sort=False).size().to_string())
experiment.areas(fresh, "pauc", panels)

# %% [markdown]
# The default beside the best of its robust rivals (of the table above, whatever that is in each panel) and beside the
# oracle, as mean differences on the same data sets:

# %%
experiment.margins(trials, panels)

# %% [markdown]
# ## Bad cells and heavy tails
#
# The paper's outliers are whole rows. Here 5% of single cells are about ±10 instead, so that hardly a row is without
# one; or no value is bad, but the rows have heavy tails: a multivariate t with 3 degrees of freedom, or log-normal
# entries. All at (n, d) = (100, 100), v = 0.3; the oracle sees Gaussian rows of the same graph without bad cells, so
# that here it is a yardstick and no upper bound. With a computed step, fits to all rows as they are (with trimmed means
# or median of means) do not settle on such data; they stop after 20 iterations, and their paths at k = 8.

# %%
experiment.areas(trials, "auc", others)

# %%
experiment.areas(trials, "pauc", others)

# %%
experiment.margins(trials, others)

# %% [markdown]
# ## Verdict: with rows judged together it is ahead where few false edges are accepted; as printed only in part
#
# Ten data sets a panel in the figures, and fifty fresh ones for the methods in the table above, which agree. The rules
# for step, k' and order were picked on two other data sets a panel, by the truth; to follow them takes only ε. The
# variant with k' = 30 and a step of 0.2 has the smaller partial AUC.
#
# - **As printed, a larger true positive rate where the false positive rate is small**, which is what the paper
#   stresses: reproduces against SKEPTIC, Spearman and robust CLIME, twice whose partial AUC or more it has in each
#   panel. Trimmed glasso, with a path of its own, stays far ahead.
# - **As printed, the better curve over the whole path**: does not reproduce. Its AUC is level with that of Spearman, a
#   little behind that of CLIME, which has no protection, and far behind that of trimmed glasso: the ranking ends after
#   k' neighbors, and what follows is a straight line.
# - **With the path that the paper describes**, pairs in the order in which they come up as k' grows, neither holds: the
#   first neighbors of a short list are those that the outliers tie.
# - **Why.** The outliers are shifted a little in all variables at once. No single coordinate looks bad, so trimming
#   coordinates lets them pass, and they tie all pairs alike.
# - **With rows judged on all variables first** (the default) Robust NS has the largest partial AUC of all methods but
#   the oracle in each of the four panels, and is level with the oracle or above it. Its AUC is level with that of
#   trimmed glasso or a little larger, and their curves cross: from a false positive rate of 0.28 or 0.32 on trimmed
#   glasso is ahead, by 0.015 at most.
# - **Bad cells and heavy tails**: with 5% bad cells hardly a row is good, and leaving out whole rows, as trimmed glasso
#   does, does not help; the default sets the bad cells aside and stays nearest to the oracle. It is also ahead of all
#   others on both kinds of heavy tails.
