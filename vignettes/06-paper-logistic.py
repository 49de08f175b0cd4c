# %% [markdown]
# # Sparse logistic regression with outliers
#
# Two questions of the paper. Does Algorithm 1 with the logistic loss converge linearly for several fractions ε of
# outliers? And does it classify new rows better than the trimmed lasso as the dimension grows?
#
# The data are the paper's (sparse LDA): x ~ N(1 ± v, I) in the two classes, v with k entries ±1/√k, so that the Bayes
# classifier has the slopes β* = 2v. Outliers have random ±3 in all columns and labels from the opposite model.
#
# ## Convergence
#
# n = 300 authentic rows, d = 1000, k = 5 as in the paper; ε = 0, 0.05, 0.1 and 0.2. *As printed* means a step of fixed
# length, the share ε trimmed at each end, no scaling, no intercept and no refit, with k' = k. The step is 1/L, L being
# a quarter of the largest second moment of 2k columns. All runs stay in a ball of radius 10, which is the paper's; the
# truth has length 2.
#
# One thing has to be settled first. The classes have mean 1 in every column, so the log-odds are β*ᵀ(x − 1), not β*ᵀx:
# the model needs an intercept of −2Σv, which Algorithm 1 as printed does not have. How much that matters depends on the
# signs of v: with k = 5, |Σv| is 0.45 for five data sets of eight, else 1.34 or 2.24. So the data sets are stratified,
# 50 with |Σv| = 0.45 and 50 with more, and the algorithm is run on each in two ways:
#
# - *as printed*: no intercept, columns as they are, step 4/12 = 0.33;
# - *with an intercept*: it is not thresholded, each column is less its median, and the step is 4/2 = 2.
#
# The second is shown to its end, and *stopped* at the first step that changes the coefficients by less than 3%
# (`tol=0.03` of the package). To stop needs no truth, but the 3% were chosen on other data sets by who knew it.

# %%
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.convergence import draw, legend_beside, plain_ticks, quietly, same_support, trace
from experiments.logistic_dimension import DIMENSIONS, EPSILONS, IN_FULL
from experiments.logistic_dimension import trial as dimension_trial
from experiments.logistic_hindsight import trial as hindsight_trial
from scipy.stats import norm
from vignettes_common import quick, read_results, run_trials

import robustsparse as rs
from robustsparse.regression.families import as_family
from robustsparse.report.plots.style import GREY, PALETTE, name_axes, polish

TRIALS, ITERATIONS = (2, 15) if quick() else (50, 60)
LEVELS = (0.0, 0.05, 0.1, 0.2)
RADIUS = 10.0
FIRST_SEED = 65_000
TOLERANCE = 0.03
STRATA = ("|Σv| = 0.45", "|Σv| ≥ 1.34")

# %% [markdown]
# One fit of the package, which centers robustly and has an intercept, without its refit. Trimming drops the very rows
# that keep slopes from growing, so the package goes back to the lowest robust deviance on the way of the iterates; with
# a number as `step` it would not:

# %%
sim = rs.simulate.logistic(epsilon=0.1, rng=FIRST_SEED)
fit = quietly(
    rs.rht_fit, sim.X, sim.y, family="binomial", estimator=rs.Trimmed(0.1), k=5, refit=False
)
print(fit.summary())

# %% [markdown]
# The runs of the algorithm, traced:


# %%
def stratum(seed: int) -> str:
    # The direction is drawn first, whatever the number of rows.
    beta = rs.simulate.logistic(n=1, attack=None, rng=seed).beta
    return STRATA[int(abs(beta.sum() / 2) > 1)]


def seeds(name: str) -> list[int]:
    matching = (seed for seed in itertools.count(FIRST_SEED) if stratum(seed) == name)
    return list(itertools.islice(matching, TRIALS))


def runs_of(sim: rs.simulate.Simulation, X: np.ndarray, epsilon: float, **how: object) -> dict:
    iterates = []

    def error(beta: np.ndarray) -> float:
        iterates.append(beta)
        return float(np.linalg.norm(beta[-len(sim.beta) :] - sim.beta))

    curve, _ = trace(
        X, sim.y, error, k=5, loss=rs.Logistic(), iterations=ITERATIONS, radius=RADIUS,
        estimator=rs.Trimmed(epsilon) if epsilon else rs.Mean(), **how,
    )  # fmt: skip
    deviance = [as_family("binomial").robust_deviance(sim.y, X @ beta).sum() for beta in iterates]
    return {"curve": curve, "iterates": iterates, "lowest": int(np.argmin(deviance))}


def early(iterates: list[np.ndarray]) -> int:
    pairs = enumerate(itertools.pairwise(iterates), start=1)
    small = (t for t, (a, b) in pairs if np.linalg.norm(b - a) <= TOLERANCE * np.linalg.norm(b))
    return next(small, len(iterates) - 1)


def row(sim: rs.simulate.Simulation, curve: np.ndarray, last: np.ndarray) -> dict[str, object]:
    slopes = last[-len(sim.beta) :]
    right = same_support(slopes, sim.beta)
    return {"curve": curve, "error": curve[-1], "length": np.linalg.norm(slopes), "right": right}


def trial(epsilon: float, name: str, seed: int) -> list[dict[str, object]]:
    sim = rs.simulate.logistic(epsilon=epsilon, rng=seed)
    centered = np.column_stack([np.ones(len(sim.X)), sim.X - np.median(sim.X, axis=0)])
    printed = runs_of(sim, sim.X, epsilon, step=4 / 12)
    free = runs_of(sim, centered, epsilon, step=2.0, intercept=True)
    stop = early(free["iterates"])
    stopped = np.where(np.arange(ITERATIONS + 1) < stop, free["curve"], free["curve"][stop])
    rows = {
        "as printed": row(sim, printed["curve"], printed["iterates"][-1]),
        "with an intercept": row(sim, free["curve"], free["iterates"][-1]),
        "with an intercept, stopped": {
            **row(sim, stopped, free["iterates"][stop]),
            "stop": stop,
            "least": free["curve"].min(),
            "lowest": free["curve"][free["lowest"]],
        },
    }
    return [{"variant": variant, "stratum": name, "ε": epsilon, **r} for variant, r in rows.items()]


chosen = {name: seeds(name) for name in STRATA}
runs = run_trials(
    trial, [(e, name, seed) for e in LEVELS for name in STRATA for seed in chosen[name]], "runs"
)


# %%
def panel(ax: plt.Axes, title: str, variant: str, name: str | None = None) -> None:
    shown = runs[(runs["variant"] == variant) & ((runs["stratum"] == name) | (name is None))]
    for color, epsilon in zip(PALETTE, LEVELS, strict=False):
        curves = pd.DataFrame(shown.loc[shown["ε"] == epsilon, "curve"].to_list())
        draw(ax, curves, color, f"{epsilon:g}")
    ax.set_yscale("log")
    plain_ticks(ax, (0.2, 0.3, 0.5, 1.0, 2.0, 3.0))
    polish(ax)
    name_axes(ax, "iteration t", "‖βᵗ − β*‖", title)


figure, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained", sharex=True, sharey=True)
for ax, name in zip(axes[0], STRATA, strict=True):
    panel(ax, f"as printed, {name}", "as printed", name)
panel(axes[1, 0], "with an intercept, to the end", "with an intercept")
panel(axes[1, 1], "with an intercept, stopped", "with an intercept, stopped")
for ax in axes[0]:
    ax.set_xlabel("")
for ax in axes[:, 1]:
    ax.set_ylabel("")
    legend_beside(ax, "ε")

# %% [markdown]
# Lines are medians, bands reach from quartile to quartile. The numbers behind them; β* and the start are 2 apart. The
# smallest error on the way is what a stop with the truth in hand would give. The package's own stop, the lowest robust
# deviance, is there for comparison; it looks at iterates only, where the package also looks between them and zero.

# %%
by = runs.groupby(["variant", "stratum", "ε"])
pd.DataFrame(
    {
        "final error": by["error"].median(),
        "stopped at iteration": by["stop"].median(),
        "smallest error on the way": by["least"].median(),
        "error at the lowest deviance": by["lowest"].median(),
        "length of the slopes (truth: 2)": by["length"].median(),
        "right support": by["right"].mean(),
    }
).reset_index()

# %% [markdown]
# ## Classification error against the dimension
#
# As in the paper k = √d, n = 15k authentic rows, ε = 0.1 and 0.2, and the mean over the trials of the classification
# error on authentic rows. That error is computed exactly, since a linear score of Gaussian classes is Gaussian. What
# each method knows:
#
# - k and ε: *as printed* and *with an intercept*, as above and to the end; *RHT*, the package's algorithm without
#   refit, which takes a computed step, scales columns, trims 2ε and is taken back as above; *RHT + refit*, the
#   package's best model of k columns;
# - nothing: *RHT, own k* is RHT with its k by robust cross-validation and the default trimming; *RHT, automatic* is the
#   default call, *RHT, predicting* that with `goal="predict"`;
# - ε alone: the *trimmed lasso*, whose penalty is chosen by cross-validation; the plain *lasso* (ℓ1 logistic
#   regression) knows nothing. Since cross-validation suffers from the outliers too, both lassos are also shown with the
#   penalty of their path that classifies new rows best, which only the truth tells.
#
# The trials are stored in `results/logistic_dimension.csv` and `results/logistic_hindsight.csv`, which the scripts of
# the same names in `experiments/` make anew. Fifty data sets of each dimension up to 900 are those that this page has
# long shown; ten more of each are fresh, and the only ones of d = 1600. The two slowest methods, *own k* and
# *predicting*, were run on the fresh ones alone. The paper does not name its dimensions.

# %%
if quick():
    small = [(100, e, IN_FULL[0]) for e in EPSILONS]
    tables = [run_trials(f, small, "dimension") for f in (dimension_trial, hindsight_trial)]
else:
    tables = [read_results(name) for name in ("logistic_dimension", "logistic_hindsight")]
table = pd.concat(tables, ignore_index=True)
trials = table.groupby(["method", "d"])["seed"].nunique().unstack()
print("dimensions in full:", *DIMENSIONS, "| trials: at most", trials.max().max())
print(f"error of the Bayes classifier: {norm.cdf(-1):.3f}")

# %%
known = ["as printed", "with an intercept", "RHT", "RHT + refit"]
unknown = ["RHT, own k", "RHT, automatic", "RHT, predicting"]
hindsight = ["trimmed lasso, best penalty", "lasso, best penalty"]
names = [*known, *unknown, "trimmed lasso", "lasso"]
colors = dict(zip(("trimmed lasso", "lasso", *known), PALETTE, strict=False))
colors |= dict(zip(unknown, PALETTE[2:], strict=False))
rivals = ["trimmed lasso", "trimmed lasso, best penalty", "lasso", "lasso, best penalty"]
groups = {"k and ε known": [*known, *rivals[:2]], "k unknown": [*unknown, *rivals]}
mean = table.groupby(["epsilon", "d", "method"])["error"].mean()
margin = 2 * table.groupby(["epsilon", "d", "method"])["error"].sem().fillna(0)


def dimension_panel(ax: plt.Axes, epsilon: float, methods: list[str], title: str) -> None:
    for method in methods:
        level, spread = (x[epsilon].xs(method, level="method") for x in (mean, margin))
        ax.errorbar(
            level.index, level, spread, color=colors[method.removesuffix(", best penalty")],
            linestyle=":" if method in hindsight else "-", marker="s" if method in unknown else "o",
            markersize=4, label=method,
        )  # fmt: skip
    ax.axhline(norm.cdf(-1), color=GREY, linestyle="--", label="Bayes")
    polish(ax)
    name_axes(ax, "dimension d", "classification error", f"ε = {epsilon}, {title}")


figure, axes = plt.subplots(2, 2, figsize=(9.5, 7), layout="constrained", sharex=True, sharey=True)
for line, (title, methods) in zip(axes, groups.items(), strict=True):
    for ax, epsilon in zip(line, EPSILONS, strict=True):
        dimension_panel(ax, epsilon, methods, title)
    line[1].set_ylabel("")
    legend_beside(line[1], "mean ± 2 s.e.")
for ax in axes[0]:
    ax.set_xlabel("")

# %% [markdown]
# Colors of the upper and of the lower panels stand for different kinds of RHT, which have squares below. Dotted lines
# are told their penalty by the truth, and both trimmed lassos their ε.
#
# Mean classification errors:

# %%
mean.unstack()[[*names, *hindsight]].round(3).reset_index()

# %% [markdown]
# How many of the selected columns are true ones, of which there are √d; means:

# %%
count = table.groupby(["epsilon", "d", "method"])[["right", "terms"]].mean().map("{:.1f}".format)
(count["right"] + " of " + count["terms"]).unstack()[names].reset_index()

# %% [markdown]
# By how much the error of the trimmed lasso is larger than that of the others on the same data sets, with the standard
# error of that difference:

# %%
wide = table.pivot(index=["epsilon", "d", "seed"], columns="method", values="error")
gaps = wide[[*known, *unknown]].rsub(wide["trimmed lasso"], axis=0)
by = gaps.groupby(["epsilon", "d"])
text = by.mean().map("{:.3f}".format) + " (" + by.sem().fillna(0).map("{:.3f}".format) + ")"
text.reset_index()

# %% [markdown]
# Share of the data sets in which each of them is better than the trimmed lasso:

# %%
better = (gaps > 0).astype(float).where(gaps.notna())
better.groupby(["epsilon", "d"]).mean().reset_index()

# %% [markdown]
# ## Verdict: with an intercept, convergence reproduces for ε up to 0.1, and so does the comparison
#
# Convergence: 100 fresh data sets for each ε, k and ε known. Comparison: 60 data sets for each d up to 900, ten of
# them fresh; ten for d = 1600, for *own k* and for *predicting*.
#
# - **As printed depends on the signs of v.** The paper's data need an intercept of −2Σv and the algorithm has none.
#   Without outliers it is at an error of 0.50 after 60 iterations where |Σv| = 0.45, and at 1.04 where it is larger; it
#   is slow, and the support is right in 26 to 34% of the data sets at ε = 0.1.
# - **Convergence with an intercept**, columns less their medians and a step of 2. The error falls fast for some ten
#   iterations, then rises a little, as the slopes go on growing. Who stopped each run at its smallest error, which only
#   the truth tells, would have medians of 0.29 and 0.35 in the two strata at ε = 0, 0.34 and 0.39 at 0.05, 0.44 and
#   0.46 at 0.1. A stop at the first change of less than 3% keeps most of that: 0.32 and 0.42 at ε = 0, 0.42 in both at
#   0.05, 0.48 in both at 0.1, with the right support in 86 to 100% of the data sets. At ε = 0.2 the error stays above
#   half of the initial 2 wherever one stops, and the support is right in a quarter of the data sets.
# - **The lowest robust deviance is no good stop here at ε = 0.1**: it comes too early, at an error of 0.73 to
#   0.82. The package uses it where the step is computed.
# - **No exact recovery**, as the paper says: without outliers the error of 300 rows is about 0.4.
# - **RHT against the trimmed lasso, k and ε known.** With an intercept Algorithm 1 has the smaller classification
#   error at every d and both ε, by more than four standard errors up to d = 900, and in at least three quarters of the
#   data sets; RHT as the package runs it likewise. Fifty of these sixty data sets had been seen before; on the ten
#   fresh ones it is ahead by 1.8 to 4.1 standard errors at ε = 0.1, and by 3.8 and more at 0.2. At d = 1600, ε = 0.1,
#   with ten data sets, the gaps are within two standard errors. As printed, without an intercept, it is worse than the
#   trimmed lasso at ε = 0.1 and ahead of it at 0.2 up to d = 900. With an intercept it is also ahead when the trimmed
#   lasso is given its best penalty, by little at ε = 0.1.
# - **k and ε unknown.** RHT with its own k by cross-validation keeps the lead at ε = 0.2, by about two standard
#   errors or more; at 0.1 it is ahead by more than two standard errors at three of six dimensions and level at the
#   others. The default call is far ahead at ε = 0.2 and ahead by two standard errors at most at 0.1 from d = 400 on.
#   `goal="predict"` is the best of all at every d and both ε, no worse at ε = 0.2 than at 0.1 by more than 0.02, and
#   within 0.07 of the Bayes error. Its price is a model of many more columns than are true.
# - **What the paper does not show.** With its best penalty the plain lasso, which trims nothing, is ahead of RHT at ε
#   = 0.2 from d = 400 on, and level with Algorithm 1 with an intercept from 400 to 900; but cross-validation does
#   not find that penalty, and with the one that it finds the plain lasso is last everywhere.
# - **Where the package is weak.** The best model of k columns suffers where k is as large as √d, with 15 rows for
#   each column: at ε = 0.1 RHT + refit is behind RHT from d = 225 on, and behind the trimmed lasso from d = 625 on.
#   At ε = 0.2 it is ahead of all others that know k, but its error grows with d, from 0.24 to 0.32.
#
# | claim of the paper | verdict | figure |
# |---|---|---|
# | logistic loss: linear convergence, several ε | reproduces for ε ≤ 0.1, with an intercept (100 seeds) | 1 |
# | β* is not recovered exactly | reproduces | 1 |
# | RHT classifies better than the trimmed lasso, ε = 0.1 | reproduces with an intercept, k known (60, 10 fresh) | 2 |
# | the same, ε = 0.2 | reproduces with an intercept, also with k unknown (60 seeds; own k ten) | 2 |
