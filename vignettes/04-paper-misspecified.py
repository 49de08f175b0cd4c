# %% [markdown]
# # A model that is not linear: F(β) against iterations
#
# The responses are y = Σⱼ xⱼ³ βⱼ*, so no linear model is right, and a fraction ε of the rows are outliers besides.
# Does a sparse linear fit still come down to the loss that it would reach on the authentic rows alone, whatever ε is?
# The paper's figure shows F(βᵗ) = Σ (yᵢ − xᵢᵀβᵗ)², summed over the authentic rows, for several ε and for an oracle,
# and says that the curves converge alike.
#
# The setting is that of the linear experiment: n = 300 authentic rows, d = 1000, k = 5, covariance exp(−|i − j|),
# outliers with random ±1 in x and y = −xᵀβ*. The paper does not name its ε; here 0.05, 0.1, 0.2 and 0.3. *RHT* is
# Algorithm 1 as printed: the share ε trimmed at each end, the fixed step 1/L = 0.46, k' = 2k, no scaling, no intercept,
# no refit. Each curve is the median of 50 data sets.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.convergence import STEP, draw, legend_beside, quietly, same_support, trace
from vignettes_common import quick

import robustsparse as rs
from robustsparse.report.plots.style import GREY, PALETTE, name_axes, polish

TRIALS, ITERATIONS = (2, 20) if quick() else (50, 60)
EPSILONS = (0.05, 0.1, 0.2, 0.3)
TRUE_K = 5

# %% [markdown]
# ## One fit

# %%
sim = rs.simulate.misspecified(epsilon=0.1, rng=40_000)
fit = quietly(
    rs.rht_fit, sim.X, sim.y, estimator=rs.Trimmed(0.1), k=2 * TRUE_K, step=STEP,
    standardize=False, intercept=False, refit=False,
)  # fmt: skip
print(fit.summary())

# %%
print("true terms:    ", ", ".join(sorted(sim.support())))
print("largest in fit:", ", ".join(sorted(fit.support()[:TRUE_K])))

# %% [markdown]
# ## All trials
#
# *Oracle* is plain iterative hard thresholding on the authentic rows, as in the paper; *trimmed oracle* has the
# authentic rows alone too, but trims as RHT does, so that the price of trimming can be told from the harm of the
# outliers. *Default* is the package's own call, `rht_fit(X, y, k=5, epsilon=ε)`, which standardizes, computes its
# steps, rejects rows and refits.


# %%
def authentic_loss(sim: rs.simulate.Simulation, coef: np.ndarray, intercept: float = 0.0) -> float:
    good = ~sim.outlier
    return float(((sim.y[good] - intercept - sim.X[good] @ coef) ** 2).sum())


def trial(epsilon: float, seed: int) -> list[dict[str, object]]:
    sim = rs.simulate.misspecified(epsilon=epsilon, rng=40_000 + seed)
    good = ~sim.outlier
    runs = {
        "RHT": (sim.X, sim.y, rs.Trimmed(epsilon)),
        "oracle": (sim.X[good], sim.y[good], rs.Mean()),
        "trimmed oracle": (sim.X[good], sim.y[good], rs.Trimmed(epsilon)),
    }
    rows = []
    for method, (X, y, estimator) in runs.items():
        curve, coef = trace(
            X, y, lambda beta: authentic_loss(sim, beta), k=2 * TRUE_K, estimator=estimator,
            iterations=ITERATIONS,
        )  # fmt: skip
        right = same_support(coef, sim.beta)
        rows.append({"method": method, "curve": curve, "F": curve[-1], "right": right})
    fit = quietly(rs.rht_fit, sim.X, sim.y, k=TRUE_K, epsilon=epsilon, n_jobs=1)
    intercept, coef = fit.params.iloc[0], fit.params.iloc[1:].to_numpy()
    final = authentic_loss(sim, coef, intercept)
    rows.append({"method": "default", "F": final, "right": same_support(coef, sim.beta)})
    return [{"ε": epsilon, **row} for row in rows]


runs = pd.DataFrame(
    [row for epsilon in EPSILONS for seed in range(TRIALS) for row in trial(epsilon, seed)]
)

# %%
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for color, epsilon in zip(PALETTE, EPSILONS, strict=False):
    chosen = runs[(runs["ε"] == epsilon) & (runs["method"] == "RHT")]
    draw(ax, pd.DataFrame(chosen["curve"].to_list()), color, f"ε = {epsilon}")
draw(
    ax, pd.DataFrame(runs.loc[runs["method"] == "oracle", "curve"].to_list()), GREY, "oracle", "--"
)  # fmt: skip
ax.set_ylim(bottom=0)
polish(ax)
name_axes(ax, "iteration t", "F(βᵗ), sum of squares over 300 authentic rows")
legend_beside(ax, "RHT, and IHT on\nauthentic rows")

# %% [markdown]
# Lines are medians, bands reach from quartile to quartile. The numbers behind them:

# %%
start = float(np.median([curve[0] for curve in runs["curve"].dropna()]))
print(f"F(0), median: {start:.0f}")
by = runs.groupby(["ε", "method"])
final = by["F"].median().unstack()[["RHT", "oracle", "trimmed oracle", "default"]]
right = by["right"].mean().unstack()[["RHT", "oracle", "trimmed oracle", "default"]]
final.add_prefix("F, ").round().astype(int).reset_index()

# %% [markdown]
# The same, relative to the oracle:

# %%
final.div(final["oracle"], axis=0).round(2).reset_index()

# %% [markdown]
# Share of data sets in which the five largest coefficients are the true ones:

# %%
right.reset_index()

# %% [markdown]
# ## Verdict: reproduces in part
#
# 50 data sets for each ε, on none of which anything was tuned; k and ε are known.
#
# - **Convergence.** For every ε the loss falls within some twenty iterations and stays there, as in the paper.
# - **The levels are not alike.** At ε = 0.05 and 0.1 the loss comes down a good part of the way to the oracle's; at
#   0.2 and 0.3 it stays much nearer to F(0) than to the oracle. The paper calls the curves similar; for ε of 0.2 and
#   more they are not.
# - **Why.** The second table separates two causes. The trimmed oracle sees no outlier and still ends above the
#   oracle: the authentic gradients are heavy-tailed here (a true column's is of the order x⁴), and the large ones,
#   which trimming takes away, carry much of the signal. For ε up to 0.1 that is most of the gap between RHT and the
#   oracle. What is beyond is the outliers' doing.
# - **The support** is what the paper expects a linear fit to find in spite of the cubes. The trimmed oracle finds it
#   in most data sets. With outliers it is found up to ε = 0.1 in most data sets, and never beyond; the default call
#   finds it in all up to ε = 0.1, in nine of ten at 0.2 and in less than a fifth at 0.3. Its loss is higher than the
#   support would allow, since it rejects authentic rows with large |x|³ too: it fits the bulk of the rows, not their
#   sum of squares.
#
# | claim of the paper | verdict (50 seeds) | figure |
# |---|---|---|
# | convergence for every ε, without a linear model | reproduces | 1 |
# | the curves of all ε are similar | in part: up to ε = 0.1, not at 0.2 and 0.3 | 1 |
# | a linear fit of the authentic rows finds the support | reproduces: in all data sets | |
