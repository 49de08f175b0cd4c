# %% [markdown]
# # Huber loss under Cauchy noise and corruption
#
# The noise has no mean, and a fraction ε of the rows are outliers in x and y. Is Algorithm 1 with Huber's loss and
# the trimmed mean still linearly convergent? This is the paper's experiment on robust M-estimators, its figure of log
# ‖βᵗ − β*‖ against iterations.
#
# The setting is the paper's: n = 300 authentic rows, d = 1000, k = 5, covariance exp(−|i − j|), outliers with random
# ±1 in x and y = −xᵀβ*. It names neither the scale of the Cauchy noise, nor ε, nor Huber's δ, nor the step. Here the
# scale is 0.5 (and 1 in the table), ε = 0, 0.05, 0.1 and 0.2, and δ follows the residuals: 1.345 times their median
# absolute deviation at each iterate. Each curve is the median of 50 data sets.
#
# *As printed* means a step of fixed length, the share ε trimmed at each end, no scaling, no intercept, no refit, and
# k' = 2k. Its step is one of three:
#
# - *1/L* = 0.46, the theory's for the covariance of the authentic rows;
# - *searched*: `step="search"`, of seven steps around the robust normalized one the run that ends at the lowest robust
#   loss. It needs no truth;
# - *3/L*, which was found on other data sets by who knew the truth.

# %%
import matplotlib.pyplot as plt
from experiments.convergence import STEP, draw, legend_beside, plain_ticks, quietly
from experiments.huber import DRAWN, EPSILONS, SCALES, trial
from vignettes_common import quick, read_results, run_trials

import robustsparse as rs
from robustsparse.report.plots.style import PALETTE, name_axes, polish

# %% [markdown]
# ## One fit

# %%
sim = rs.simulate.linear(noise="cauchy", sigma=0.5, epsilon=0.1, rng=55_000)
fit = quietly(
    rs.rht_fit, sim.X, sim.y, loss="huber", estimator=rs.Trimmed(0.1), k=10, step="search",
    standardize=False, intercept=False, refit=False,
)  # fmt: skip
print(fit.summary())

# %%
print(f"searched step: {fit.step / STEP:.1f} / L")

# %% [markdown]
# ## All trials
#
# Beside Huber's loss the squared one, which the same trimmed mean has to protect from the noise as well as from the
# outliers; and the package's default call with Huber's loss, `rht_fit(X, y, loss="huber", k=5, epsilon=ε)`, which
# rejects rows and refits (ε = 0.05 where there are no outliers).
#
# The trials are stored in `results/huber.csv`, which `python vignettes/experiments/huber.py` makes anew. Their seeds
# are none of those on which the search and 3/L were chosen.

# %%
if quick():
    cases = [(scale, epsilon, 0, 60, 10) for scale in SCALES for epsilon in EPSILONS]
    runs = run_trials(trial, cases, "trials")
else:
    runs = read_results("huber")
print("trials each:", runs["seed"].nunique())


# %%
def panel(ax: plt.Axes, method: str) -> None:
    shown = runs[(runs["scale"] == DRAWN) & (runs["method"] == method)]
    for color, epsilon in zip(PALETTE, EPSILONS, strict=False):
        curves = shown.loc[shown["epsilon"] == epsilon, "curve"].str.split(expand=True)
        draw(ax, curves.astype(float), color, f"{epsilon:g}")
    ax.set_yscale("log")
    plain_ticks(ax, (0.3, 0.5, 1.0, 2.0, 5.0, 10.0))
    polish(ax)
    name_axes(ax, "iteration t", "‖βᵗ − β*‖", method)


drawn = ["Huber, 1/L", "Huber, searched step", "Huber, 3/L", "squared, 1/L"]
figure, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained", sharex=True, sharey=True)
for ax, method in zip(axes.flat, drawn, strict=True):
    panel(ax, method)
for ax in axes[0]:
    ax.set_xlabel("")
for ax in axes[:, 1]:
    ax.set_ylabel("")
    legend_beside(ax, "ε")

# %% [markdown]
# Cauchy noise of scale 0.5. Lines are medians, bands reach from quartile to quartile. Shares of data sets in which the
# five largest coefficients are the true ones:

# %%
methods = [*drawn, "default"]
by = runs.assign(right=runs["right"].astype(float)).groupby(["scale", "epsilon", "method"])
by["right"].mean().unstack()[methods].reset_index()

# %% [markdown]
# Median of ‖β̂ − β*‖ with all k' = 2k coefficients, as the paper draws it:

# %%
by["error"].median().unstack()[methods].reset_index()

# %% [markdown]
# Median of ‖β̂ − β*‖ with the k largest coefficients:

# %%
by["error of the largest"].median().unstack()[methods].reset_index()

# %% [markdown]
# Factor an iteration by which the error falls over the first ten, at scale 0.5, median:

# %%
traced = runs[runs["curve"].notna()]
first, tenth = (traced["curve"].str.split().str[t].astype(float) for t in (0, 10))
factors = traced.assign(factor=(tenth / first) ** 0.1).groupby(["epsilon", "method"])["factor"]
factors.median().unstack()[drawn].reset_index()

# %% [markdown]
# ## Verdict: reproduces for ε up to 0.1, and at ε = 0.2 with a longer step in three data sets of four
#
# 50 data sets a setting, on none of which anything was chosen. The noise's scale is ours; k is known through k' = 2k,
# and ε through the trimming.
#
# - **Linear convergence** at scale 0.5 and ε up to 0.1, with the theory's step and with the searched one: over the
#   first ten iterations the error falls by a tenth or more each, and after twenty it is flat. It flattens out early,
#   since with k' = 2k the five superfluous coefficients fit noise; the five largest are the true ones in 96 to 100% of
#   the data sets.
# - **ε = 0.2 is a question of the step.** With 1/L most runs stop near the start, and the support is right in 24% of
#   the data sets at scale 0.5. With 3/L it is right in 74%, with the searched step, which needs no truth, in 76%. The
#   default call has 98%.
# - **Scale 1.** The searched step has the right support in 96% at ε = 0.05 and in 80% at 0.1, where 1/L has 76% and
#   58%; 3/L has no more right supports than 1/L there. At ε = 0.2 every step fails (right in 14% at most), and the
#   default call in most data sets, too.
# - **The searched step is the best of the three in every setting**, or level with the best, by the share of right
#   supports and by the error of the five largest. 3/L is too long where the trimming is light. By the error of all ten
#   coefficients 1/L is a little ahead wherever it works: the longer the step, the more noise the superfluous ones fit.
# - **Is it Huber's loss or the trimming that helps?** Without trimming (ε = 0) the squared loss fails altogether and
#   Huber's works: that is Huber's merit. Once a share is trimmed the squared loss works too at scale 0.5, because
#   trimming the gradients tames the noise as well: at ε = 0.05 its error is half as large again as Huber's, from 0.1 on
#   there is less between them. At scale 1 Huber's is ahead up to ε = 0.1.
# - **The default call**, which rejects rows and refits, has less than a third of the error of all coefficients above
#   wherever it finds the support.
#
# | claim of the paper | verdict (50 seeds) | figure |
# |---|---|---|
# | Huber's loss, Cauchy noise, bad rows: linear convergence | reproduces for ε ≤ 0.1, with 1/L or a searched step | 1 |
# | the same at ε = 0.2 | in part: support right in 76% (searched), 74% (3/L, by the truth), 24% (1/L) | 1 |
# | the same with noise of scale 1 | support right in 80% at ε = 0.1 (searched), not at ε = 0.2 | |
