# %% [markdown]
# # Linear regression with outliers: error against iterations
#
# Does Algorithm 1 converge linearly when a tenth of the rows are outliers, does it stop at an error that the noise
# explains, and does it recover the coefficients exactly when there is no noise? This is the first experiment of the
# paper, its figure of log ‖βᵗ − β*‖ against t for several σ².
#
# The setting is the paper's: d = 1000 columns with covariance exp(−|i − j|), n = 300 authentic rows, k = 5
# coefficients ±1, and a fraction ε = 0.1 of all rows with random ±1 in x and y = −xᵀβ*. The paper names neither the
# noise levels nor the step nor the share that is trimmed; here σ² = 0, 0.01, 0.1 and 1, the step is the theory's 1/L
# = 0.46 and the trimmed share is ε at each end. Each curve is the median of 50 data sets.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.convergence import (
    STEP,
    arrival,
    draw,
    factor,
    legend_beside,
    quietly,
    same_support,
    trace,
)
from vignettes_common import quick

import robustsparse as rs
from robustsparse.report.plots.style import PALETTE, name_axes, polish

TRIALS, ITERATIONS = (2, 60) if quick() else (50, 300)
SIZE = {"n": 300, "d": 1000, "k": 5, "epsilon": 0.1}
NOISE = (0.0, 0.01, 0.1, 1.0)

# %% [markdown]
# ## One fit
#
# The paper's algorithm as printed, without anything around it: a fixed step, no scaling, no intercept, no refit. It
# keeps k' coefficients, and the theory asks for k' larger than k; here k' = 2k.

# %%
sim = rs.simulate.linear(**SIZE, sigma=0.1, rng=20_000)
printed = {"step": STEP, "standardize": False, "intercept": False, "refit": False}
fit = quietly(rs.rht_fit, sim.X, sim.y, estimator=rs.Trimmed(0.1), k=10, **printed)
print(fit.summary())

# %% [markdown]
# For the error at each iteration the same steps are taken on the arrays with a callback; both end in the same place.

# %%
errors, coef = trace(
    sim.X, sim.y, lambda beta: np.linalg.norm(beta - sim.beta), k=10, estimator=rs.Trimmed(0.1),
    iterations=300,
)  # fmt: skip
print("largest difference of the two fits:", f"{np.abs(coef - fit.params.to_numpy()).max():.0e}")
print("error after 0, 10, 20, 40 and 80 iterations:", errors[[0, 10, 20, 40, 80]].round(4))

# %% [markdown]
# ## All trials
#
# For comparison, plain iterative hard thresholding (the mean in place of the trimmed mean) on the authentic rows
# alone, which nobody has in practice.


# %%
def trial(variance: float, kept: int, seed: int) -> list[dict[str, object]]:
    sim = rs.simulate.linear(**SIZE, sigma=np.sqrt(variance), rng=20_000 + seed)
    good = ~sim.outlier
    rows = []
    for method, X, y, estimator in (
        ("RHT", sim.X, sim.y, rs.Trimmed(SIZE["epsilon"])),
        ("oracle IHT", sim.X[good], sim.y[good], rs.Mean()),
    ):
        curve, coef = trace(
            X, y, lambda beta: np.linalg.norm(beta - sim.beta), k=kept, estimator=estimator,
            iterations=ITERATIONS,
        )  # fmt: skip
        rows.append(
            {
                "σ²": variance, "k'": kept, "method": method, "curve": curve, "error": curve[-1],
                "right": same_support(coef, sim.beta), "factor": factor(curve),
                "arrival": arrival(curve),
            }
        )  # fmt: skip
    return rows


runs = pd.DataFrame(
    [
        row
        for variance in NOISE
        for kept in (5, 10)
        for seed in range(TRIALS)
        for row in trial(variance, kept, seed)
    ]
)


# %%
def panel(ax: plt.Axes, kept: int) -> None:
    for color, variance in zip(PALETTE, NOISE, strict=False):
        chosen = runs[(runs["σ²"] == variance) & (runs["k'"] == kept)]
        curves = chosen.loc[chosen["method"] == "RHT", "curve"]
        draw(ax, pd.DataFrame(curves.to_list()), color, f"{variance:g}")
    ax.set_yscale("log")
    polish(ax)
    name_axes(ax, "iteration t", "‖βᵗ − β*‖", f"k' = {kept}" + (" = k" if kept == 5 else " = 2k"))


figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharey=True)
panel(axes[0], 5)
panel(axes[1], 10)
axes[1].set_ylabel("")
legend_beside(axes[1], "σ²")

# %% [markdown]
# Lines are medians over the data sets, bands reach from the lower to the upper quartile. The numbers behind them:

# %%
robust = runs[runs["method"] == "RHT"].groupby(["σ²", "k'"])
oracle = runs[runs["method"] == "oracle IHT"].groupby(["σ²", "k'"])
pd.DataFrame(
    {
        "median error": robust["error"].median(),
        "90% below": robust["error"].quantile(0.9),
        "oracle's median": oracle["error"].median(),
        "five largest are right": robust["right"].mean(),
        "oracle's five are": oracle["right"].mean(),
        "factor an iteration": robust["factor"].median(),
        "iterations to the final level": robust["arrival"].median(),
    }
).reset_index()

# %% [markdown]
# How exact is exact?

# %%
exact = runs[(runs["σ²"] == 0) & (runs["method"] == "RHT")].groupby("k'")["error"]
print("share of data sets with a final error below 1e-12, σ² = 0:")
print((exact.apply(lambda e: (e < 1e-12).mean())).round(2).to_string())

# %% [markdown]
# ## Verdict: reproduces
#
# 50 data sets for each σ² and k', on none of which anything was tuned; k is known through k', ε through the trimming.
#
# - **Linear convergence.** On the log scale the curves fall on straight lines, by the factors in the table, until
#   they flatten out; k' = k is faster an iteration than k' = 2k.
# - **The final level follows the noise.** A hundred times the variance is about ten times the error, as σ is in the
#   theory's rate. It lies above what plain hard thresholding reaches on the authentic rows alone, about twice as high
#   with k' = k and 1.4 to 1.6 times with k' = 2k: trimming has a price.
# - **Exact recovery without noise.** With k' = 2k every data set ends at machine precision.
# - **What the figure in the paper does not show.** With k' = k a few runs stop at a wrong support, the more the
#   larger the noise, though the oracle does not: see the share of right supports, and the 90% point at σ² = 1. With
#   k' = 2k the five largest coefficients were the true ones in all data sets, at the price of a larger error, since
#   five superfluous coefficients fit noise. This is why `rht` by default starts with more coefficients, thresholds
#   down, and then refits.
#
# | claim of the paper | verdict (50 seeds) | figure |
# |---|---|---|
# | linear convergence to a level that the noise sets | reproduces | 1 |
# | σ = 0: β* is recovered to machine precision | reproduces: in all data sets with k' = 2k, in 98% with k' = k | 1 |
