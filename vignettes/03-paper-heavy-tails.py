# %% [markdown]
# # Heavy tails: median of means against the lasso
#
# When predictors and noise are log-normal, no row is wrong, but a few are enormous. Does Algorithm 1 with the median
# of means (MOM) do as well on such data as the lasso does on Gaussian data of the same size? The paper says so, with
# a figure of log ‖β̂ − β*‖ against n, each curve the average of 50 trials.
#
# The setting is the paper's: x = √Σ x̃ with Σ = exp(−|i − j|), the entries of x̃ and the noise are (Z − E Z)/√Var Z
# with Z ~ logN(0, 4). The paper fixes k, d and σ without naming them; here k = 5, d = 1000 and σ = 0.1, and n grows
# from 100 to 500.

# %%
import matplotlib.pyplot as plt
import numpy as np
from experiments.convergence import legend_beside, plain_ticks, quietly
from experiments.heavy_tails import HEAVY, SIZES, trial
from vignettes_common import quick, read_results, run_trials

import robustsparse as rs
from robustsparse.report.plots.style import PALETTE, name_axes, polish

# %% [markdown]
# ## One fit

# %%
sim = rs.simulate.linear(n=200, d=1000, k=5, sigma=0.1, attack=None, **HEAVY, rng=30_001)
fit = quietly(rs.rht_fit, sim.X, sim.y, estimator="mom", k=5, refit=False)
print(fit.summary())

# %%
print(f"error: {np.linalg.norm(fit.params.iloc[1:].to_numpy() - sim.beta):.4f}")
print(f"largest |x| in units of its standard deviation: {np.abs(sim.X).max():.0f}")

# %% [markdown]
# ## All trials
#
# - *MOM* is the package's algorithm: columns scaled robustly, step computed from a robust curvature, blocks redrawn
#   at each iteration, no refit. It knows k = 5.
# - *MOM, fixed step* takes the theory's step 1/L = 0.46 on the columns as they are.
# - The *lasso* chooses its penalty by five-fold cross-validation, on the log-normal data and on Gaussian data of the
#   same size.
#
# The trials are stored in `results/heavy_tails.csv`, which `python vignettes/experiments/heavy_tails.py` makes anew.

# %%
if quick():
    table = run_trials(trial, [(n, seed, 60) for n in (60, 90) for seed in range(2)], "trials")
else:
    table = read_results("heavy_tails")
methods = ["MOM, log-normal", "lasso, Gaussian", "lasso, log-normal", "MOM, fixed step, log-normal"]
print("sample sizes in full:", SIZES, "| trials each:", table["seed"].nunique())


# %%
def curves(ax: plt.Axes, statistic: str, title: str) -> None:
    values = table.groupby(["method", "n"])["error"].agg(statistic)
    for color, method in zip(PALETTE, methods, strict=False):
        ax.plot(values[method].index, values[method], "o-", color=color, markersize=4, label=method)
    ax.set_yscale("log")
    plain_ticks(ax, (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0))
    polish(ax)
    name_axes(ax, "rows n", "‖β̂ − β*‖", title)


figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
curves(axes[0], "mean", "average of 50 trials, as in the paper")
curves(axes[1], "median", "median of 50 trials")
axes[1].set_ylabel("")
legend_beside(axes[1], "")

# %% [markdown]
# The numbers behind the figure. Average error:

# %%
table.pivot_table(index="n", columns="method", values="error", aggfunc="mean")[
    methods
].reset_index()

# %% [markdown]
# Median error:

# %%
medians = table.pivot_table(index="n", columns="method", values="error", aggfunc="median")[methods]
medians.reset_index()

# %% [markdown]
# Share of trials in which all five true terms are in the model:

# %%
found = table.assign(found=table["found"].astype(float))
found.pivot_table(index="n", columns="method", values="found")[methods].reset_index()

# %% [markdown]
# ## Verdict: reproduces, with the computed step and not with a fixed one
#
# - **MOM beats the lasso on log-normal data** in the median at every n, and on average at every n but 100.
# - **It is level with the lasso on Gaussian data, and better.** In the median it has the smaller error at every n. On
#   average too, except at n = 100, where a quarter of the trials miss a true term and their errors of order 1 dominate
#   the average: with 100 rows the median of means does not always find the support. Part of its advantage is not due
#   to the tails: it knows k, and it does not shrink its coefficients as the lasso does.
# - **The lasso on log-normal data** nearly always has the true terms; what suffers is its error, on average more than
#   in the median.
# - **A fixed step does not do it.** With the theory's step 1/L most of the error is still there when the iterations
#   end, at all sizes tried, and few supports are right. On such data a robust gradient is far shorter than the
#   population's ([07](07-rdc.md) measures it), so a step made for the population is too short. The package divides by
#   a curvature that the same median of means estimates, which is too small likewise. The paper does not say how its
#   step was chosen.
