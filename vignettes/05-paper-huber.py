# %% [markdown]
# # Huber loss under Cauchy noise and corruption
#
# The noise has no mean, and a fraction ε of the rows are outliers in x and y. Is Algorithm 1 with Huber's loss and
# the trimmed mean still linearly convergent? This is the paper's experiment on robust M-estimators, its figure of log
# ‖βᵗ − β*‖ against iterations.
#
# The setting is the paper's: n = 300 authentic rows, d = 1000, k = 5, covariance exp(−|i − j|), outliers with random
# ±1 in x and y = −xᵀβ*. It names neither the scale of the Cauchy noise, nor ε, nor Huber's δ. Here the scale is 0.5
# (and 1 in the table), ε = 0, 0.05, 0.1 and 0.2, and δ follows the residuals: 1.345 times their median absolute
# deviation at each iterate. The step is 1/L = 0.46, the share ε is trimmed at each end, k' = 2k. Each curve is the
# median of 50 data sets.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.convergence import (
    STEP,
    draw,
    factor,
    legend_beside,
    plain_ticks,
    quietly,
    same_support,
    trace,
)
from vignettes_common import quick

import robustsparse as rs
from robustsparse.report.plots.style import PALETTE, name_axes, polish

TRIALS, ITERATIONS = (2, 20) if quick() else (50, 80)
EPSILONS = (0.0, 0.05, 0.1, 0.2)
SCALES = (0.5, 1.0)

# %% [markdown]
# ## One fit

# %%
sim = rs.simulate.linear(noise="cauchy", sigma=0.5, epsilon=0.1, rng=50_000)
fit = quietly(
    rs.rht_fit, sim.X, sim.y, loss="huber", estimator=rs.Trimmed(0.1), k=10, step=STEP,
    standardize=False, intercept=False, refit=False,
)  # fmt: skip
print(fit.summary())

# %% [markdown]
# ## All trials
#
# Beside Huber's loss the squared one, which the same trimmed mean has to protect from the noise as well as from the
# outliers; and the package's default call with Huber's loss, `rht_fit(X, y, loss="huber", k=5, epsilon=ε)`, which
# rejects rows and refits (ε = 0.05 where there are no outliers).


# %%
def error(coef: np.ndarray, sim: rs.simulate.Simulation) -> float:
    return float(np.linalg.norm(coef - sim.beta))


def trial(scale: float, epsilon: float, seed: int) -> list[dict[str, object]]:
    sim = rs.simulate.linear(noise="cauchy", sigma=scale, epsilon=epsilon, rng=50_000 + seed)
    rows = []
    for method, loss in (("Huber", rs.Huber()), ("squared", rs.Squared())):
        curve, coef = trace(
            sim.X, sim.y, lambda beta: error(beta, sim), k=10, loss=loss, iterations=ITERATIONS,
            estimator=rs.Trimmed(epsilon) if epsilon else rs.Mean(),
        )  # fmt: skip
        rows.append({"method": method, "curve": curve, "coef": coef, "factor": factor(curve)})
    fit = quietly(rs.rht_fit, sim.X, sim.y, loss="huber", k=5, epsilon=max(epsilon, 0.05), n_jobs=1)
    rows.append({"method": "default", "coef": fit.params.iloc[1:].to_numpy()})
    for row in rows:
        coef = row.pop("coef")
        row |= {"error": error(coef, sim), "right": same_support(coef, sim.beta)}
    return [{"scale": scale, "ε": epsilon, **row} for row in rows]


runs = pd.DataFrame(
    [
        row
        for scale in SCALES
        for epsilon in EPSILONS
        for seed in range(TRIALS)
        for row in trial(scale, epsilon, seed)
    ]
)


# %%
def panel(ax: plt.Axes, method: str) -> None:
    for color, epsilon in zip(PALETTE, EPSILONS, strict=False):
        chosen = runs[(runs["ε"] == epsilon) & (runs["scale"] == 0.5) & (runs["method"] == method)]
        draw(ax, pd.DataFrame(chosen["curve"].to_list()), color, f"{epsilon:g}")
    ax.set_yscale("log")
    plain_ticks(ax, (0.3, 0.5, 1.0, 2.0, 5.0, 10.0))
    polish(ax)
    name_axes(ax, "iteration t", "‖βᵗ − β*‖", f"{method} loss, Cauchy noise of scale 0.5")


figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharey=True)
panel(axes[0], "Huber")
panel(axes[1], "squared")
axes[1].set_ylabel("")
legend_beside(axes[1], "ε")

# %% [markdown]
# Lines are medians, bands reach from quartile to quartile. Median errors and shares of data sets in which the five
# largest coefficients are the true ones:

# %%
by = runs.groupby(["scale", "ε", "method"])
pd.concat(
    [
        by["error"].median().unstack().add_prefix("error, "),
        by["right"].mean().unstack().add_prefix("right, "),
        by["factor"].median().unstack()[["Huber"]].add_prefix("factor an iteration, "),
    ],
    axis=1,
).reset_index()

# %% [markdown]
# ## Verdict: reproduces in part, for ε up to 0.1
#
# - **Linear convergence** on the way down, at scale 0.5: the error falls by the factor in the table an iteration
#   until it flattens out after some twenty iterations. It flattens out early, since with k' = 2k the five superfluous
#   coefficients fit noise.
# - **ε = 0.2 does not work.** The iterates stop near the start, with the right support in few data sets at scale 0.5
#   and in none at scale 1. At scale 1 half of the data sets already fail at ε = 0.1. The paper does not say up to
#   which ε its figure goes.
# - **Is it Huber's loss or the trimming that helps?** Without trimming (ε = 0) the squared loss fails altogether and
#   Huber's works: that is Huber's merit. Once a share is trimmed the squared loss works too, because trimming the
#   gradients tames the noise as well: Huber's is better at ε = 0.05, and from 0.1 on there is little between them.
# - **The default call** does much better than the algorithm as printed: the right support in all data sets up to
#   ε = 0.2 at scale 0.5, and less than a third of the error above wherever it finds the support. At scale 1 and ε
#   = 0.2 it fails in about half of the data sets.
