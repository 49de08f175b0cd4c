# %% [markdown]
# # The theory, measured
#
# The paper proves that Algorithm 1 contracts linearly, ends at the minimax rate, finds the support once the smallest
# coefficient is large enough, and bears a share of outliers that hardly depends on the number of columns. Which of
# that can be seen in data of a size that people have, and which constants are for the proof only?
#
# Everything here is Algorithm 1 **as printed**: a step of fixed length 1/L with the true L, a trimmed share α equal
# to the true ε, no scaling, no intercept, no refit. k' = 2k coefficients survive the threshold unless said, and the
# support is the k largest of them, the paper's supp(β̂, k): k, ε and L are known to it, and nothing else was tuned.
# The design has covariance exp(−|i − j|). Points are medians of 50 data sets of their own (seeds that no choice was
# made with), bars reach from quartile to quartile; where there are fewer data sets it is said.
#
# Two kinds of outliers: the *paper's* (random ±1 in x, y = −xᵀβ*), and *pushed* rows that drag every coordinate of
# the gradient the same way at every iterate, nearly the worst that can be done to a trimmed mean. The theory's bounds
# are for the worst.
#
# The trials are stored in `results/theory_*.csv`, which the scripts `experiments/theory_*.py` make anew.

# %%
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments import theory_contraction, theory_gradient, theory_rates, theory_support
from experiments import theory_time as timing
from experiments.convergence import plain_ticks
from experiments.theory_common import condition, promised_factor, slope
from experiments.theory_figures import curves, guide, half_way, legend_above, shares
from vignettes_common import quick, read_results, run_trials

from robustsparse.report.plots.style import GREY, name_axes, polish


def trials(name: str, trial: object, small: object) -> pd.DataFrame:
    return run_trials(trial, small(), name) if quick() else read_results(name)


# %% [markdown]
# ## What the constants ask
#
# The theorems hold up to constants that are not given. Taken as 1, for the paper's own experiment (n = 300, d = 1000,
# k = 5, ε = 0.1):

# %%
n, d, k = 300, 1000, 5
rows = theory_contraction.theory_rows(d, k)
pd.DataFrame(
    {
        "asked": {
            "condition number ρ": f"{condition():.2f}",
            "k' = 4ρ²k": f"{theory_contraction.theory_kept(k)}",
            "contraction 1 − 1/(8ρ)": f"{promised_factor():.4f}",
            "rows ρ⁴k log d": f"{rows:,}",
            "ε at most 1/(ρ²√k log(nd)), with so many rows": (
                f"{theory_contraction.theory_share(rows, d, k):.4f}"
            ),
        },
        "in the paper's experiment": {
            "condition number ρ": "",
            "k' = 4ρ²k": "not said, and 438 is more than its rows",
            "contraction 1 − 1/(8ρ)": "",
            "rows ρ⁴k log d": f"{n}",
            "ε at most 1/(ρ²√k log(nd)), with so many rows": "0.1",
        },
    }
).rename_axis("").reset_index()

# %% [markdown]
# **The theory's k' = 438 is more than there are rows.** With 438 coefficients for 333 rows there is nothing to
# estimate; so the paper's experiments cannot have used it, and neither do we. What happens on the way there (σ = 0.5,
# the paper's outliers; a run diverges if its robust loss grows tenfold; its error is then that after the solver has
# halved the step):

# %%
contraction = trials("theory_contraction", theory_contraction.trial, theory_contraction.small)
kept = contraction[contraction["part"] == "kept"].groupby("kept")
pd.DataFrame(
    {
        "median error": kept["error"].median(),
        "k largest are right": kept["right"].mean(),
        "diverged": kept["diverged"].mean(),
    }
).rename_axis("k'").reset_index()

# %% [markdown]
# ## Linear convergence, and how fast
#
# Without noise ψ = 0, and the Meta-Theorem promises that *every* iteration shortens the distance to the truth by the
# factor 1 − 1/(8ρ) or better. ρ varies here with the correlation of neighboring columns, 0 to 0.7; n = 300, ε = 0.1,
# the paper's outliers. Drawn is what is gained, one minus the factor.

# %%
way = contraction[contraction["part"] == "condition"]
way = way.assign(
    rho=way["correlation"].map(condition).round(3), gain=1 - way["factor"],
    least=1 - way["worst"], name="k' = " + way["kept"].astype(str),
    arrived=way["error"] < 1e-8,
)  # fmt: skip
figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
curves(ax, way[way["arrived"]], "rho", "gain", "name")
x = np.geomspace(way["rho"].min(), way["rho"].max(), 50)
ax.plot(x, 1 / (8 * x), "--", color=GREY, label="promised, 1/(8ρ)")
ax.plot(x, 1 / x, ":", color=GREY, label="gradient descent with the population's gradient, 1/ρ")
ax.set(xscale="log", yscale="log")
plain_ticks(ax, (1, 2, 5, 10, 20, 30), "x")
plain_ticks(ax, (0.003, 0.01, 0.03, 0.1, 0.3, 0.6))
polish(ax)
name_axes(ax, "condition number ρ", "1 − contraction factor")
ax.legend(frameon=False, fontsize="x-small")

# %% [markdown]
# A run has arrived if it ends within 1e-8 of the truth; the figure shows these runs alone. "Worst iteration" is the
# largest factor of a single iteration in any run that arrived.

# %%
groups, there = way.groupby(["kept", "rho"]), way[way["arrived"]].groupby(["kept", "rho"])
pd.DataFrame(
    {
        "promised": groups["correlation"].first().map(promised_factor),
        "median factor": there["factor"].median(),
        "worst iteration": there["worst"].max(),
        "runs arrived": groups["arrived"].mean(),
    }
).reset_index().rename(columns={"kept": "k'", "rho": "ρ"})

# %% [markdown]
# And with the rows and the share of outliers that Corollary 4.1 asks for, constants taken as 1: 16,607 rows, ε =
# 0.0012, and its k' beside ours (10 data sets).

# %%
full = contraction[contraction["part"] == "theory"].groupby("kept")
pd.DataFrame(
    {
        "promised": promised_factor(),
        "median factor": full["factor"].median(),
        "worst iteration": full["worst"].max(),
        "largest final error": full["error"].max(),
    }
).rename_axis("k'").reset_index()

# %% [markdown]
# ## The final error
#
# With trimming the theory's rate is σ(ε√k log(nd) + √(k log d / n)), up to ρ², and with the median of means on data
# with fourth moments σ√(k log d / n), up to ρ^{5/2}. One thing varies at a time, from n = 1000, d = 500, k = 5, σ =
# 0.5; the share of outliers stands in the table below. The heavy tails are those of t with five degrees of freedom,
# in x and noise, the heaviest t that has the fourth moments which the theorem asks for.

# %%
rates = trials("theory_rates", theory_rates.any_trial, theory_rates.small)
NAMES = {
    "n": ("rows n", -0.5), "k": ("true terms k", 0.5), "d": ("columns d", None),
    "epsilon": ("share of outliers ε", 1.0), "sigma": ("noise σ", 1.0),
    "size": ("size of each coefficient", 0.0),
}  # fmt: skip


def panel(ax: plt.Axes, curve: str) -> None:
    part = rates[rates["curve"] == curve]
    curves(ax, part, "value", "error", "case", theory_rates.CASES)
    label, power = NAMES[curve]
    x, lowest = part["value"].to_numpy(), part.groupby(["case", "value"])["error"].median()
    if power is None:
        ends = np.geomspace(x.min(), x.max(), 50)
        ax.plot(
            ends, 0.7 * lowest.min() * np.sqrt(np.log(ends) / np.log(ends[0])), "--", color=GREY
        )
    else:
        start = lowest.xs(x.min(), level="value").min()
        guide(ax, x, 0.7 * start, power)
    ax.set(xscale="log", yscale="log")
    plain_ticks(ax, tuple(sorted(set(x))), "x")
    few = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    plain_ticks(ax, (0.05, 0.07, 0.1, 0.15, 0.2) if curve == "d" else few)
    polish(ax)
    name_axes(ax, label, "‖β̂ − β*‖")


figure, axes = plt.subplots(2, 3, figsize=(9, 5.6), layout="constrained")
for ax, curve in zip(axes.flat, NAMES, strict=True):
    panel(ax, curve)
handles, labels = axes[0, 0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize="small")

# %% [markdown]
# Dashed lines have the theory's slope (in d, its √log d), their height means nothing. The slopes of the medians, over
# the values at which nine of ten supports are right: beyond them the fit is broken, and its error says nothing of a
# rate.

# %%
SLOPES = {
    "n": "−½, with outliers to 0", "k": "½", "d": "√log d", "epsilon": "at most 1", "sigma": "1",
    "size": "0",
}  # fmt: skip


def fitted(curve: str, case: str) -> dict[str, object]:
    part = rates[(rates["curve"] == curve) & (rates["case"] == case)].groupby("value")
    medians = part["error"].median()[part["right"].mean() >= (0 if quick() else 0.9)]
    share = theory_rates.CURVES[curve][2]
    return {
        "in": curve, "data, estimator": case, "ε": "" if curve == "epsilon" else share[case],
        "from": medians.index[0], "to": medians.index[-1], "slope": slope(medians.index, medians),
        "theory": SLOPES[curve],
    }  # fmt: skip


pd.DataFrame([fitted(curve, case) for curve in NAMES for case in theory_rates.CURVES[curve][2]])

# %% [markdown]
# The medians behind three of the panels, ε, σ and the size of the coefficients:

# %%
rates[rates["curve"].isin(["epsilon", "sigma", "size"])].pivot_table(
    index=["curve", "value"], columns="case", values="error", aggfunc="median"
).reset_index()

# %% [markdown]
# ## The smallest coefficient, and the weakest edge
#
# Corollary 4.5: the support is right once the smallest coefficient exceeds a multiple of the same rate. Four
# coefficients are ±1 and the fifth is smaller; d = 1000, σ = 0.5, the paper's outliers. Corollary 4.6 says the same
# of Algorithm 2 and the smallest entry θ of the precision matrix: 30 variables in a ring, two neighbors each, scaled
# to variance 1; every variable is regressed on the others with k' = 4, the two largest coefficients are its
# neighborhood, and a graph is right if all neighborhoods are (union and intersection are then the same). Its outliers
# are the paper's for graphs, N(±1.5, I); 30 graphs a point.

# %%
support = trials("theory_support", theory_support.any_trial, theory_support.small)
support = support.assign(
    right=support["right"].astype(float),
    curve="n = " + support["n"].astype(str) + ", ε = " + support["epsilon"].astype(str),
)
# In this order curves that both panels have get the same color.
ordered = support.sort_values(["epsilon", "n"], kind="stable")
smallest = ordered[ordered["part"] == "beta_min"]
weakest = ordered[ordered["part"] == "theta_min"]
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.9), layout="constrained", sharey=True)
for ax, part, label in (
    (axes[0], smallest, "smallest coefficient"),
    (axes[1], weakest, "off-diagonal θ of the precision matrix"),
):
    shares(ax, part, "size", "curve")
    polish(ax)
    name_axes(ax, label, "share of right supports" if ax is axes[0] else "")
    legend_above(ax, columns=2)

# %% [markdown]
# Where half of the supports are right, and the theory's rate for the same data, σ(ε√k log(nd) + √(k log d / n)), for
# graphs with σ = 1 and up to the diagonal of the precision matrix. Its constant is not known; if the theory is sharp
# the ratio is the same in all rows.


# %%
def needed(part: pd.DataFrame, sigma: float) -> pd.DataFrame:
    rows = []
    for (n, epsilon), found in part.groupby(["n", "epsilon"]):
        d, k = found["d"].iloc[0], found["k"].iloc[0]
        half = half_way(found.groupby("size")["right"].mean())
        outliers = sigma * epsilon * math.sqrt(k) * math.log(n * d)
        noise = sigma * math.sqrt(k * math.log(d) / n)
        rows.append(
            {
                "n": n, "ε": epsilon, "half are right at": half, "theory's rate": outliers + noise,
                "of it due to ε": outliers, "ratio": half / (outliers + noise),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


needed(smallest, theory_support.SIGMA)

# %%
needed(weakest, 1.0)

# %% [markdown]
# ## How many outliers
#
# The theory bears a share of outliers of the order 1/(√k log(nd)): nearly free of d, and falling with k. Little noise
# (σ = 0.1), coefficients ±1; a trial succeeds if the support is right. Left and middle: the paper's outliers and its
# n = 300. Right: pushed rows, with n = 60k so that the number of rows is no more scarce for large k than for small.

# %%
breakdown = support[support["part"] == "breakdown"]
paper = breakdown[breakdown["what"] == "paper"]
fewest = paper["k"].min() if quick() else 5
panels = {
    "paper's outliers, k = 5": (paper[(paper["k"] == fewest) & (paper["n"] <= 300)], "d"),
    "paper's outliers, d = 1000": (
        paper[(paper["n"] <= 300) & (paper["d"] == (20 if quick() else 1000))].sort_values("k"), "k",
    ),
    "pushed, d = 1000, n = 60k": (breakdown[breakdown["what"] == "pushed"], "k"),
}  # fmt: skip
figure, axes = plt.subplots(1, 3, figsize=(9, 3.3), layout="constrained", sharey=True)
for ax, (title, (part, by)) in zip(axes, panels.items(), strict=True):
    shares(ax, part, "epsilon", by)
    polish(ax)
    name_axes(ax, "share of outliers ε", "share of right supports" if ax is axes[0] else "", title)
    ax.legend(
        title=by, frameon=False, fontsize="x-small", title_fontsize="x-small", loc="lower left"
    )

# %% [markdown]
# The share of outliers at which half of the supports are right, beside the theory's 1/(√k log(nd)) (its constant is
# not known, so only the ratio tells), and success at ε = 0.2:

# %%
limits = []
for (what, n_rows, columns, true), part in breakdown.groupby(["what", "n", "d", "k"]):
    success = part.groupby("epsilon")["right"].mean()
    order = 1 / (math.sqrt(true) * math.log(n_rows * columns))
    limits.append(
        {
            "outliers": what, "n": n_rows, "d": columns, "k": true, "half are right at ε": half_way(success),
            "1/(√k log(nd))": order, "ratio": half_way(success) / order,
            "right at ε = 0.2": success.get(0.2, np.nan),
        }
    )  # fmt: skip
pd.DataFrame(limits)

# %% [markdown]
# ## Time
#
# A trimmed mean by sorting takes O(nd log n) operations an iteration, a median of means O(nd), as many as a plain
# mean. CPU time of one full gradient on one core, the least of fifteen runs; n varies at d = 64, d at n = 500. (In a
# fit the package computes most coordinates in no iteration at all, see [how it works](../docs/how-it-works.md).) The
# dashed lines have slope 1.

# %%
times = trials("theory_time", timing.trial, timing.small).assign(
    milliseconds=lambda t: 1e3 * t["seconds"]
)
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained", sharey=True)
for ax, varied, label in ((axes[0], "n", "rows n"), (axes[1], "d", "columns d")):
    part = times[times["varied"] == varied]
    curves(ax, part, varied, "milliseconds", "way")
    guide(ax, part[varied].to_numpy(), 0.6 * part["milliseconds"].min(), 1.0)
    ax.set(xscale="log", yscale="log")
    plain_ticks(ax, tuple(part[varied].unique()), "x")
    plain_ticks(ax, (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000))
    polish(ax)
    name_axes(ax, label, "milliseconds a gradient" if varied == "n" else "")
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize="small")

# %% [markdown]
# Slopes on the log-log axes over the three largest sizes, where what does not grow no longer counts; n log n has a
# slope of 1.1 there. The last column is the time at the largest n, in units of the plain mean's.


# %%
def growth(part: pd.DataFrame, varied: str) -> float:
    largest = part[part["varied"] == varied].tail(3)
    return slope(largest[varied], largest["seconds"])


most = times[(times["varied"] == "n") & (times["n"] == times["n"].max())].set_index("way")[
    "seconds"
]
pd.DataFrame(
    [
        {
            "gradient": way, "slope in n": growth(part, "n"), "slope in d": growth(part, "d"),
            "times a plain mean": most[way] / most["plain mean"],
        }
        for way, part in times.groupby("way", sort=False)
    ]
)  # fmt: skip

# %% [markdown]
# ## Sample splitting
#
# The proof uses fresh rows in each iteration; the paper calls that an artifact and does not do it, and neither does
# the package unless asked (`split=T`). What would it cost? The same rows, all in every iteration or dealt out to T
# iterations; ε = 0.1, the paper's outliers, d = 500, k = 5, σ = 0.5.

# %%
split = rates[rates["curve"] == "split"]
split = split.assign(name=["all rows" if t == 0 else f"T = {t}" for t in split["parts"]])
figure, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
curves(ax, split, "value", "error", "name")
ax.set(xscale="log", yscale="log")
plain_ticks(ax, tuple(split["value"].unique()), "x")
plain_ticks(ax, (0.1, 0.2, 0.3, 0.5, 1.0, 2.0))
polish(ax)
name_axes(ax, "authentic rows in all", "‖β̂ − β*‖")
ax.legend(frameon=False, fontsize="x-small")

# %%
split.pivot_table(index="value", columns="name", values="error", aggfunc="median").rename_axis(
    "n"
).reset_index()

# %% [markdown]
# ## The gradient itself, for numbers and for two classes
#
# The corollaries rest on two propositions: the largest error of a coordinate, ‖Ĝ − G‖∞, is of the order √(‖β − β*‖² +
# σ²)(ε log(nd) + √(log d / n)) for the squared loss, but for the logistic loss it **does not grow with the distance**
# at all, so that the Robust Descent Condition holds with α = 0. With a centered Gaussian design the population
# gradient G is known for both. β moves away from β* in a random direction of 15 entries; n = 1000, d = 500, k = 5, ε
# = 0.1 where there are outliers. For the logistic loss they are the paper's too: ±3 in x, labels with the opposite
# odds.

# %%
gradient = trials("theory_gradient", theory_gradient.any_trial, theory_gradient.small)
errors = gradient[gradient["part"] == "gradient"]
middle = errors[errors["n"] == (160 if quick() else 1000)]
final = gradient[gradient["part"] == "error"]
figure, axes = plt.subplots(1, 3, figsize=(9.4, 3.9), layout="constrained")
for ax, loss in ((axes[0], "squared"), (axes[1], "logistic")):
    curves(ax, middle[middle["loss"] == loss], "distance", "largest", "case")
    polish(ax)
    ax.set_ylim(bottom=0)
    name_axes(ax, "‖β − β*‖", "‖Ĝ − G‖∞")
    legend_above(ax, f"{loss} loss")
curves(axes[2], final, "n", "error", "case")
guide(axes[2], final["n"].to_numpy(), 0.7 * final.groupby("n")["error"].median().iloc[0], -0.5)
axes[2].set(xscale="log", yscale="log")
plain_ticks(axes[2], tuple(final["n"].unique()), "x")
plain_ticks(axes[2], (0.1, 0.2, 0.3, 0.5, 1.0, 2.0))
polish(axes[2])
name_axes(axes[2], "rows n", "‖β̂ − β*‖")
legend_above(axes[2], "logistic loss, final error")

# %% [markdown]
# The Robust Descent Condition: the l2 norm of the 15 largest errors, at the truth (ψ) and far away, medians; and the
# α of a line from the one to the other. The Meta-Theorem asks for α at most μ_α/32. The slope in n is that of ψ.


# %%
def descent(loss: str, case: str) -> dict[str, object]:
    part = middle[(middle["loss"] == loss) & (middle["case"] == case)]
    sizes = part.groupby("distance")["sparse"].median()
    at_truth = errors[
        (errors["loss"] == loss) & (errors["case"] == case) & (errors["distance"] == 0)
    ]
    by_rows = at_truth.groupby("n")["sparse"].median()
    return {
        "loss": loss, "data, estimator": case, "at the truth (ψ)": sizes.iloc[0],
        f"at distance {sizes.index[-1]:.1f}": sizes.iloc[-1],
        "α": (sizes.iloc[-1] - sizes.iloc[0]) / sizes.index[-1],
        "slope in n": slope(by_rows.index, by_rows),
    }  # fmt: skip


pd.DataFrame(
    [descent(loss, case) for loss in ("squared", "logistic") for case in theory_gradient.CASES]
)

# %% [markdown]
# The Meta-Theorem ends at an error of the order ψ/μ, at most 32 of them by its proof, where μ is the smallest
# eigenvalue of the covariance. The final errors of the squared loss on such data (the same n, d, k, σ and ε), in these
# units:

# %%
ends = rates[(rates["curve"] == "size") & (rates["value"] == 1)].groupby("case")["error"].median()
units = {
    case: descent("squared", case)["at the truth (ψ)"] * math.sqrt(condition())
    for case in (theory_gradient.CLEAN, theory_gradient.OUTLIERS)
}
pd.DataFrame(
    [
        {
            "data, estimator": case, "ψ/μ": unit, "final error": ends[case],
            "error in units of ψ/μ": ends[case] / unit,
        }
        for case, unit in units.items()
    ]
)  # fmt: skip

# %% [markdown]
# The final error of the logistic loss, within a ball of twice the length of β* (the paper's Π_B), with its slope:

# %%
table = final.pivot_table(index="n", columns="case", values="error", aggfunc="median")
slopes = {case: slope(table.index, table[case]) for case in table}
pd.concat([table.reset_index(), pd.DataFrame([{"n": "slope", **slopes}])], ignore_index=True)

# %% [markdown]
# ## What was learned
#
# - **Contraction.** At the paper's ρ = 4.68 and k' = 2k the median factor is 0.865 and the worst single iteration of 50
#   runs 0.943, where 0.973 is promised. From there on the gain falls as 1/ρ, at five times the promised size. The
#   promise is not for k' this small: with k' = k from ρ = 4.68 on, with k' = 2k from ρ = 16 on, single iterations
#   exceed it, and runs end at a wrong support (k' = k: one in eight at ρ = 9, half at ρ = 16; k' = 2k: one in ten at ρ
#   = 32). With the corollary's n and ε no iteration exceeded 0.83, with the theory's k' = 438 as with k' = 10. Where it
#   ends: at 0.3 and 0.5 times ψ/μ, where the proof allows 32.
# - **Rates.** Without outliers the slopes are −0.49 in n, 0.41 in k and 1.00 in σ, and those of the median of means on
#   t₅ data −0.47, 0.45 and 0.99. With outliers the error falls more slowly in n, the more so the worse they are (−0.37
#   and −0.18). In ε the error of pushed rows grows with a slope of 0.56 until they break the fit, between ε = 0.05 and
#   0.1; the paper's own outliers do less harm and break nothing up to 0.2. The size of β* plays no part at all: from 1
#   to 10,000 the slope is 0.00.
# - **Smallest coefficient.** Without outliers half of the supports are right at 0.65 to 0.70 times the rate, at n =
#   300 and at 1200: the rate is sharp there. With the paper's outliers it is eleven to twenty-three times what is
#   needed: the bound is for worse ones. More rows still help.
# - **Weakest edge.** Graphs are harder: their outliers shift all variables together. Half of the rings are right at
#   1.7 to 2.1 times the rate without outliers and 0.6 to 0.8 times with them; with ε = 0.05 only where θ is near 0.6.
# - **How many outliers.** With pushed rows the limit falls with k as 1/(√k log(nd)) does: the ratio is 1.68, 1.72 and
#   1.87 for k = 3, 6 and 12. With the paper's outliers 25 times as many columns take the limit from 0.27 to 0.20, as
#   the logarithm says (ratios 6.6, 6.7 and 6.4). At ε = 0.2, k = 5 is right in all or nearly all data sets up to d =
#   1000 and in half at d = 5000; k = 10 in 0.44 and 0.10. Twice the rows make that k = 10 at d = 1000 right again in
#   all: there it was rows that were scarce.
# - **Time.** Sorting has the slope of n log n. The package's trimmed mean selects instead of sorting, is nearly
#   linear and takes 40% of the time at 128,000 rows. The textbook's median of means costs little more than a mean;
#   the package's, whose rows are in random order, has a slope above 1 where the data outgrow the cache. Plain means
#   do, too.
# - **Sample splitting** is an artifact of the proof, as the paper says: with all rows in every iteration the error is
#   the smaller one at every n, by 7% at n = 8000 and by 42% at n = 1000, against the best T in hindsight.
# - **Two classes.** Between the truth and a distance of 8.9 the gradient's error grows 18 to 25 times in sup norm for
#   the squared loss, and 1.7 to 2.1 times for the logistic one, less and less with the distance, but without a plateau
#   in this range: within it α = 0 will do with a ψ of about twice the one at the truth. The slope of ψ in n is −0.46 to
#   −0.50. The final error follows on clean data (−0.49) and, with the median of means, on t₅ data (−0.62 from n = 500,
#   where it starts badly, −0.54 from n = 1000 on); with outliers it is flatter (−0.37).
#
# ## Verdicts
#
# Data sets of each point stand in brackets; known to the algorithm were k, ε and L everywhere, and nothing was tuned.
# Which values to try was laid out on other seeds.
#
# | claim of the paper | verdict [data sets a point] | figure |
# |---|---|---|
# | Theorem 3.1: contracts by 1 − 1/(8ρ) or better | holds with k' = 2k up to ρ = 9, with k' = k up to 2.3 [50] | 1 |
# | the same in the paper's setting, k' = 2k | 0.865 in the median, 0.943 at worst, promised 0.973 [50] | 1 |
# | the same with the n and ε of Corollary 4.1, constants of 1 | 0.83 at worst, promised 0.973 [10] | |
# | Theorem 3.1: ends at an error of the order ψ/μ | holds: 0.3 and 0.5 times ψ/μ, 32 by the proof [50] | 2, 7 |
# | Theorem 3.1: k' = 4ρ²k | cannot be used: 438 is more than n, and every run diverges [50] | |
# | Corollary 4.1: √(k log d / n) without outliers | holds: slopes −0.49 in n, 0.41 in k, 1.00 in σ [50] | 2 |
# | Corollary 4.1: σε√k log(nd) more with outliers | flatter in n (−0.37, −0.18); slope in ε 0.48, 0.56 [50] | 2 |
# | Corollary 4.1: no dependence on ‖β*‖ | holds: slope 0.00 over four powers of ten [50] | 2 |
# | Corollary 4.1: ε up to the order 1/(√k log(nd)) | holds with pushed rows: ratios 1.7 to 1.9 [30] | 4 |
# | the same: nearly free of d | holds: limit 0.27, 0.24, 0.20 at d = 200, 1000, 5000 [50] | 4 |
# | Corollary 4.3: MOM with fourth moments | holds on t₅ data: −0.47 in n, 0.45 in k, 0.99 in σ [50] | 2 |
# | Corollary 4.5: smallest coefficient | holds; sharp without outliers, far too cautious with the paper's [50] | 3 |
# | Corollary 4.6: smallest θ of a graph | holds; the paper's outliers with ε = 0.05 need θ near 0.6 [30] | 3 |
# | Time: O(nd log n) trimmed, O(nd) median of means | holds, but for the cache [least of 15 runs] | 5 |
# | Sample splitting is an artifact of the proof | holds: all rows are better at every n [50] | 6 |
# | Propositions A.1, A.2: sup norm, squared loss | holds: grows in proportion to the distance [50] | 7 |
# | Corollaries 4.2, 4.4: logistic loss, RDC, α = 0 | holds within the range: about twice ψ at most [50] | 7 |
# | Corollaries 4.2, 4.4: logistic loss, final error | holds: −0.49, MOM −0.62; −0.37 with outliers [50] | 7 |
