# %% [markdown]
# # Heavy tails: median of means against the lasso
#
# When predictors and noise are log-normal, no row is wrong, but a few are enormous. The paper makes two claims of
# Algorithm 1 with the median of means (MOM):
#
# - without noise it finds β* exactly from n ~ k log d rows, where the lasso is not expected to (the example of its
#   introduction);
# - with noise it does as well on such data as the lasso does on Gaussian data of the same size: a figure of
#   log ‖β̂ − β*‖ against n, each curve the average of 50 trials.
#
# The setting is the paper's: x = √Σ x̃ with Σ = exp(−|i − j|), the entries of x̃ and the noise are (Z − E Z)/√Var Z
# with Z ~ logN(0, 4). The paper fixes k, d and σ without naming them; here k = 5, d = 1000 and σ = 0.1.
#
# - *MOM* is the package's algorithm: columns scaled robustly, step computed from a robust curvature, blocks redrawn
#   at each iteration, no refit. It knows k = 5.
# - *As printed* means a step of fixed length, no scaling, no intercept, no refit, k' = 2k, of which the k largest are
#   the estimate, the paper's supp(β̂, k). Its step is the theory's 1/L = 0.46; or 5 or 7, which were found on other
#   data sets by who knew the truth; or *searched*, which needs no truth: `step="search"` runs the algorithm with seven
#   steps around the robust normalized one, and keeps the run that ends at the lowest robust loss.
# - The *lasso* chooses its penalty by five-fold cross-validation.
#
# All trials below are on data sets on which nothing was chosen.

# %%
import matplotlib.pyplot as plt
import numpy as np
from experiments.convergence import legend_beside, plain_ticks, quietly
from experiments.exact_recovery import trial as exact_trial
from experiments.heavy_tails import SIZES, STEP, trial
from vignettes_common import quick, read_results, run_trials

import robustsparse as rs
from robustsparse.report.plots.style import PALETTE, name_axes, polish

# %% [markdown]
# ## Without noise: exact recovery
#
# Linear equations y = Xβ* with log-normal predictors, and 69 rows for 1000 unknowns:

# %%
sim = rs.simulate.linear(n=69, sigma=0.0, attack=None, design="lognormal", rng=34_000)
fit = quietly(rs.rht_fit, sim.X, sim.y, estimator="mom")
print(fit.summary())

# %%
print(f"error: {np.linalg.norm(fit.params.iloc[1:].to_numpy() - sim.beta):.1e}")
print(f"largest |x| in units of its standard deviation: {np.abs(sim.X).max():.0f}")

# %% [markdown]
# *MOM + refit* is the package's fit with its refit, once with k = 5 known and once with nothing known (*automatic*).
# Without noise the lasso's error is that of its penalty, so it is shown twice: with the usual path of penalties, down
# to 1/500 of the largest, and with one that nearly ends at zero, 1/100,000. The trials are stored in
# `results/exact_recovery.csv`, which `python vignettes/experiments/exact_recovery.py` makes anew.

# %%
if quick():
    cases = [(9.0, design, seed, 60) for design in ("lognormal", "gaussian") for seed in range(2)]
    exact = run_trials(exact_trial, cases, "trials")
else:
    exact = read_results("exact_recovery")
exact["name"] = exact["method"].where(
    exact["design"] == "lognormal", exact["method"] + ", Gaussian"
)
mom = ["MOM + refit, automatic", "MOM + refit", "MOM", "MOM, searched step"]
lassos = ["lasso, penalty to zero", "lasso"]
names = [*mom, *lassos, *(f"{name}, Gaussian" for name in lassos)]
print("trials each:", exact["seed"].nunique(), "| rows:", *sorted(exact["n"].unique()))


# %%
def exact_panel(ax: plt.Axes, shown: list[str], title: str) -> None:
    for place, (color, name) in enumerate(zip(PALETTE, shown, strict=False)):
        found = exact[exact["name"] == name]
        # Side by side, or equal points would hide each other.
        x = found["n"] * 1.03 ** (place - (len(shown) - 1) / 2)
        ax.plot(x, found["error"], "o", color=color, markersize=2.5, alpha=0.5, label=name)
        medians = found.groupby(x)["error"].median()
        # The first two of a panel may be equal: dashes let the second be seen.
        ax.plot(medians.index, medians, "--" if place else "-", color=color, linewidth=1.2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    plain_ticks(ax, tuple(sorted(exact["n"].unique())), "x")
    polish(ax)
    name_axes(ax, "rows n", "‖β̂ − β*‖", title)


figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
exact_panel(axes[0], mom, "median of means, log-normal data")
exact_panel(axes[1], names[4:], "lasso")
axes[1].set_ylabel("")
for ax in axes:
    ax.legend(
        frameon=False, fontsize="small", ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14)
    )
    ax.set_ylim(1e-17, 1e2)

# %% [markdown]
# One point for each data set, lines are medians (dashed, so that lines which coincide can be seen). Shares of data sets
# in which β* is found to six digits, ‖β̂ − β*‖ < 10⁻⁶; for the lassos the penalty stands before that, so 10⁻³ is asked
# of all in the second table:

# %%
exact.assign(share=exact["error"] < 1e-6).pivot_table(index="n", columns="name", values="share")[
    names
].reset_index()

# %%
exact.assign(share=exact["error"] < 1e-3).pivot_table(index="n", columns="name", values="share")[
    names
].reset_index()

# %% [markdown]
# Medians and largest errors:

# %%
spread = exact.groupby(["n", "name"])["error"].agg(["median", "max"]).map("{:.0e}".format)
(spread["median"] + " / " + spread["max"]).unstack()[names].reset_index()

# %% [markdown]
# ## With noise: error against the sample size
#
# The trials are stored in `results/heavy_tails.csv`, which `python vignettes/experiments/heavy_tails.py` makes anew.

# %%
if quick():
    table = run_trials(trial, [(n, seed, 60) for n in (60, 90) for seed in range(2)], "trials")
else:
    table = read_results("heavy_tails")
labels = {f"{STEP:.3f}": "1/L", "5.000": "5", "7.000": "7"}
fixed = table["method"] == "MOM, fixed step"
table.loc[fixed, "method"] = "MOM, step " + table.loc[fixed, "step"].map("{:.3f}".format).map(
    labels
)
methods = [
    "MOM", "lasso, Gaussian data", "lasso", "MOM, searched step", "MOM, step 7", "MOM, step 1/L",
]  # fmt: skip
everything = [*methods[:5], "MOM, step 5", "MOM, step 1/L"]
print("sample sizes in full:", SIZES, "| trials each:", table["seed"].nunique())


# %%
def curves(ax: plt.Axes, statistic: str, title: str) -> None:
    values = table.groupby(["method", "n"])["error"].agg(statistic)
    for color, method in zip(PALETTE, methods, strict=True):
        ax.plot(values[method].index, values[method], "o-", color=color, markersize=4, label=method)
    ax.set_yscale("log")
    plain_ticks(ax, (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0))
    polish(ax)
    name_axes(ax, "rows n", "‖β̂ − β*‖", title)


figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
curves(axes[0], "mean", "average of the trials, as in the paper")
curves(axes[1], "median", "median of the trials")
axes[1].set_ylabel("")
legend_beside(axes[1], "")

# %% [markdown]
# The numbers behind the figure. Average error:

# %%
table.pivot_table(index="n", columns="method", values="error")[everything].reset_index()

# %% [markdown]
# Median error:

# %%
medians = table.pivot_table(index="n", columns="method", values="error", aggfunc="median")
medians[everything].reset_index()

# %% [markdown]
# Share of trials in which all five true terms are in the model:

# %%
found = table.assign(found=table["found"].astype(float))
found.pivot_table(index="n", columns="method", values="found")[everything].reset_index()

# %% [markdown]
# ## Verdict: both claims reproduce, the second with a step that the data choose and not with the theory's
#
# 50 data sets a setting, on none of which anything was chosen.
#
# - **Exact recovery.** From 155 rows on, which is 4.5 k log d, the median of means has β* to six digits in all data
#   sets but one (*MOM*, which knows k), and with the refit to rounding (2 · 10⁻¹⁴ at most) in every data set from 69
#   rows on, whether k is known or not. As printed, with a searched step and 300 iterations, it has six digits in 60%
#   at 155 rows and in 88% at 311; linear convergence takes its time, and more iterations bring more digits. At 69
#   rows, 2 k log d, the algorithm without refit misses in half of the data sets, as printed in most.
# - **The lasso** with a usual path ends at errors of 0.01 to 0.03 in the median and up to 2. Most of that is its
#   smallest penalty: on Gaussian data, where the paper says that it recovers exactly, it ends at 0.005. With a
#   penalty that nearly vanishes it recovers all Gaussian data sets; of the log-normal ones, to three digits, 34% at
#   69 rows, 68% at 155 and 98% at 311. So the lasso does need more rows when tails are heavy, but it does not fail
#   outright.
# - **With noise, MOM beats the lasso on log-normal data**: in the median at every n, with the computed step by five
#   times and more, with the searched one by 1.2 times at n = 100 and by three times and more from 200 on. On average,
#   which is what the paper draws, it does so from n = 200 on. At 100 and 150 rows the averages are level within their
#   standard errors, but for the searched step at n = 100, which is behind (0.47 against 0.14).
# - **It is level with the lasso on Gaussian data, and better**: in the median at every n, on average from 200 rows
#   on. At 100 and 150 rows some trials miss a true term, and their errors of order 1 dominate the average. Part of
#   its advantage is not due to the tails: it knows k, and does not shrink its coefficients as the lasso does.
# - **A fixed step does it, if it is long enough.** On such data a robust gradient is far shorter than the population's
#   ([07](07-rdc.md) measures it), so that a step made for the population is too short: with 1/L a sixth (n = 500) to
#   four fifths (n = 100) of the error is still there after 150 iterations. With 7 the median error is 0.011 at n = 300,
#   with 5 it is 0.006 at n = 500; these numbers were found with the truth in hand, and are too short again at n = 100
#   and 150. The searched step, which needs no truth, is about as good where they are good, and better at n = 100 and
#   150; it is ahead of the lasso on Gaussian data in the median at every n, and on average from 200 rows on. The paper
#   does not say how its step was chosen.
#
# | claim of the paper | verdict (50 seeds) | figure |
# |---|---|---|
# | σ = 0, heavy tails, n ~ k log d: MOM recovers β* | reproduces from 4.5 k log d rows on; with the refit from 2 | 1 |
# | the same: the lasso does not | in part: to three digits in 34, 68, 98% at 2, 4.5, 9 k log d rows | 1 |
# | MOM improves on the lasso on log-normal data | reproduces, on average from n = 200 on; not with 1/L | 2 |
# | MOM on log-normal data is level with the lasso on Gaussian data | reproduces, and better from n = 200 on | 2 |
