# %% [markdown]
# # The Robust Descent Condition, measured
#
# The paper's theory rests on one inequality. A gradient estimator Ĝ meets the Robust Descent Condition (RDC) with (α,
# ψ) if, for all sparse β and β̃,
#
# $$|\langle \hat G(\beta) - G(\beta), \tilde\beta - \beta^*\rangle|
# \le (\alpha \|\beta - \beta^*\| + \psi) \|\tilde\beta - \beta^*\|,$$
#
# where G is the population gradient; then Algorithm 1 ends within a multiple of ψ of the truth, provided that α is
# small. How large are α and ψ really, for which estimators does the condition hold, and does ψ grow with ε, k and n
# as the theory says?
#
# On simulated linear data the population gradient is known, Σ(β − β*), and so is the worst β̃: the direction with s
# entries takes the s largest coordinates of |Ĝ − G|. `rs.simulate.rdc` measures that at random sparse β around the
# truth and fits the line.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.convergence import plain_ticks
from experiments.gradients import NAMES, ORACLE
from vignettes_common import quick, read_results

import robustsparse as rs
from robustsparse.algorithm.gradients import as_estimator
from robustsparse.report.plots.style import GREY, PALETTE, add_legend, name_axes, polish

REPEATS, POINTS = (2, 4) if quick() else (20, 10)

result = rs.simulate.rdc(
    "trim", epsilon=0.1, attack="paper", repeats=REPEATS, points=POINTS, rng=70
)
print(result)
result.plot(label="trimmed mean")

# %% [markdown]
# A point is one β on one of 20 data sets of the paper's size (n = 300 authentic rows, 33 outliers, d = 1000, k = 5, σ
# = 0.5), with directions of s = 15 entries, as with k' = 2k. The line is the lowest that bounds all points.
#
# ## Every estimator plugs in
#
# The paper's point is that any estimator with the RDC does, and that every robust sparse gradient estimator (RSGE),
# whose error is bounded in l2, has it. Beside its own two, the trimmed mean (`"trim"`) and the median of means
# (`"mom"`), there are three more, and any callable `(X, score) → (d,)` can be measured and used in `rht` alike:
#
# - `"geomom"`, the geometric median of block means (Minsker 2015), which looks at all coordinates of a block together;
# - `"catoni"`, Catoni's M-estimate of the mean of each coordinate (Catoni 2012), which lets far values count ever less;
# - `"filter"`, a sparse filter (after Diakonikolas et al. 2019 and Liu et al. 2020): rows that are far out along the
#   sparse direction in which gradients vary most are dropped while that direction is wider than good rows allow, and
#   a trimmed mean of the others is taken. The papers know the covariance of good rows, or that it is sparse; here a
#   direction is judged by its shape alone, so that their guarantees do not carry over as they are.

# %%
estimators = {"mean": "mean"} | {title: name for name, title in NAMES.items()}
heavy = {"design": "lognormal", "noise": "lognormal"}
situations = {
    "clean": {"attack": None},
    "paper's outliers": {"attack": "paper"},
    "leverage × 100": {"attack": "leverage"},
    "log-normal": {"attack": None, **heavy},
}
measured = {
    (situation, name): rs.simulate.rdc(
        estimator, **setting, epsilon=0.1, repeats=REPEATS, points=POINTS, rng=71
    )
    for situation, setting in situations.items()
    for name, estimator in estimators.items()
}

# %% [markdown]
# Four situations; a fraction 0.1 of outliers in the second and third. `trim` drops a fifth of the values at each end,
# c₀ = 2 times the fraction of outliers: the theory asks for c₀ ≥ 1 and not for 2, which is this package's choice,
# since attacks that cancel the gradient get through at 1.

# %%
table = pd.DataFrame(
    {key: {"α": found.alpha, "ψ": found.psi} for key, found in measured.items()}
).T.rename_axis(["data", "estimator"])
table.reset_index()

# %% [markdown]
# The errors behind two of these situations:

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained", sharey=True)
for ax, situation in zip(axes, ("clean", "paper's outliers"), strict=True):
    for color, name in zip(PALETTE, estimators, strict=False):
        measured[situation, name].plot(ax, label=name, color=color)
        # On clean data the filter is the trimmed mean, whose line it would hide.
        ax.lines[-1].set_linestyle("--" if name == NAMES["filter"] else "-")
    ax.set_title(situation, fontsize="small", loc="left")
axes[1].set_ylabel("")
axes[0].set_ylim(0, 1.6 * max(measured["clean", name].data["error"].max() for name in estimators))
for ax in axes:
    add_legend(ax, loc="upper right")

# %% [markdown]
# Would the theory's proof go through? It asks for α at most a 32nd of the smallest eigenvalue of Σ:

# %%
print(f"α allowed by the theory:        {result.limit:.4f}")
print(f"least α measured on clean data: {table.loc['clean', 'α'].min():.4f}")

# %% [markdown]
# ## Why sparse directions are enough
#
# Robust gradient descent in few dimensions wants the whole ‖Ĝ − G‖ small, which seems to need n of the order d. The
# condition asks for less: after the threshold only s coordinates of the error can do harm. Both for the trimmed mean
# at the truth, with n = 300 authentic rows, medians over 20 data sets:


# %%
def at_truth(d: int, seed: int, attack: str | None) -> tuple[float, float]:
    sim = rs.simulate.linear(d=d, attack=attack, rng=seed)
    gap = np.abs(as_estimator("trim", epsilon=0.1)(sim.X, sim.X @ sim.beta - sim.y))
    return float(np.linalg.norm(gap)), float(np.linalg.norm(np.sort(gap)[-15:]))


norms = []
for attack in (None, "paper"):
    for d in (100, 1000) if quick() else (100, 1000, 10_000):
        whole, sparse = np.median([at_truth(d, seed, attack) for seed in range(REPEATS)], axis=0)
        norms.append(
            {
                "data": attack or "clean", "columns d": d, "‖Ĝ − G‖, all coordinates": whole,
                "its 15 largest": sparse,
            }
        )  # fmt: skip
pd.DataFrame(norms).replace({"data": {"paper": "paper's outliers"}})

# %% [markdown]
# From d = 100 to 10,000 the whole error grows tenfold, as √d does, that of the 15 coordinates less than twofold.
#
# ## Where a large α comes from
#
# An α near 1 need not mean a wrong direction: an estimator that returned zero would have it too. How much of the
# population gradient is left at the start, β = 0? The table has ⟨Ĝ, G⟩/‖G‖², the median over data sets: 1 is all of
# it.


# %%
def left(estimator: object, seed: int, **setting: object) -> float:
    sim = rs.simulate.linear(**setting, rng=seed)
    gradient = np.exp(-np.abs(np.subtract.outer(range(1000), range(1000)))) @ -sim.beta
    estimate = as_estimator(estimator, epsilon=0.1)(sim.X, -sim.y)
    return float(estimate @ gradient / (gradient @ gradient))


pd.DataFrame(
    {
        situation: {
            name: np.median([left(estimator, seed, **setting) for seed in range(REPEATS)])
            for name, estimator in estimators.items()
        }
        for situation, setting in situations.items()
    }
).rename_axis("estimator").round(3).reset_index()

# %% [markdown]
# ## Does ψ grow as the theory says?
#
# For the trimmed mean the theory's ψ is of the order σ√k (ε log(nd) + √(log d / n)), for the median of means under
# heavy tails σ√(k log d / n). So on log-log axes ψ should have slope 1 in ε where the outliers dominate, ½ in k, and
# −½ in n without outliers. ψ is taken at the truth itself, where α plays no part; each point is the median over data
# sets.
#
# The outliers have to be bad enough to show a rate: here all of them push all coordinates of the gradient alike,
# with 10 in every column and a response that is 10 off (*pushed*; on page 14 such rows have a response of −10⁹).


# %%
def push(
    X: np.ndarray, y: np.ndarray, beta: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with 10 in every column and a residual of 10 at the truth: a gradient of 100 in every coordinate."""
    X, y, mask = X.copy(), y.copy(), np.zeros(len(y), dtype=bool)
    mask[rng.choice(len(y), count, replace=False)] = True
    X[mask] = 10.0
    y[mask] = X[mask] @ beta - 10.0
    return X, y, mask


def psi(estimator: object, **setting: object) -> float:
    found = rs.simulate.rdc(estimator, **setting, points=2, repeats=2 if quick() else 10, rng=72)
    return float(np.median(found.at_truth()))


def slope(curve: pd.Series) -> float:
    return float(np.polyfit(np.log(curve.index), np.log(curve), 1)[0])


few = slice(0, 2 if quick() else None)
shares = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2])[few]
entries = np.array([1, 2, 4, 8, 16, 32])[few]
rows = np.array([200, 400, 800, 1600, 3200])[few]
many = 2_000 if quick() else 20_000
clean, pushed = {"attack": None}, {"attack": push}

in_epsilon = {
    "trim 2ε, pushed": [psi("trim", n=many, d=100, epsilon=e, **pushed) for e in shares],
    "trim 0.25, pushed": [
        psi(rs.Trimmed(0.25), n=many, d=100, epsilon=e, **pushed) for e in shares
    ],
    "trim 2ε, paper's outliers": [psi("trim", n=many, d=100, epsilon=e) for e in shares],
}
in_k = {
    "trim, clean": [psi("trim", n=1000, k=k, **clean) for k in entries],
    "trim, pushed": [psi("trim", n=1000, k=k, **pushed) for k in entries],
    "MOM, clean": [psi("mom", n=1000, k=k, **clean) for k in entries],
}
in_n = {
    "trim, clean": [psi("trim", n=n, d=500, **clean) for n in rows],
    "trim, pushed": [psi("trim", n=n, d=500, **pushed) for n in rows],
    "MOM, clean": [psi("mom", n=n, d=500, **clean) for n in rows],
    "MOM, t₃ noise": [psi("mom", n=n, d=500, noise="t3", **clean) for n in rows],
    "MOM, log-normal": [psi("mom", n=n, d=500, **heavy, **clean) for n in rows],
}
rates = {
    "ε": (pd.DataFrame(in_epsilon, index=shares), 1.0),
    "k": (pd.DataFrame(in_k, index=entries), 0.5),
    "n": (pd.DataFrame(in_n, index=rows), -0.5),
}

# %%
names = {"ε": "fraction of outliers ε", "k": "true terms k (s = 3k)", "n": "authentic rows n"}
figure, axes = plt.subplots(1, 3, figsize=(9, 4.2), layout="constrained")
for ax, (what, (curves, theory)) in zip(axes, rates.items(), strict=True):
    for color, name in zip(PALETTE, curves, strict=False):
        ax.plot(curves.index, curves[name], "o-", color=color, markersize=4, label=name)
    x = np.array([curves.index[0], curves.index[-1]], dtype=float)
    anchor = 0.7 * curves.iloc[0].min() if theory > 0 else 0.6 * curves.iloc[0, 0]
    ax.plot(
        x,
        anchor * (x / x[0]) ** theory,
        "--",
        color=GREY,
        label=f"slope {theory:g}".replace("-", "−"),
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    plain_ticks(ax, (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0))
    plain_ticks(ax, tuple(curves.index[::2]), "x")
    polish(ax)
    name_axes(ax, names[what], "ψ at the truth")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize="x-small")

# %% [markdown]
# The dashed lines have the theory's slope; their height means nothing. Slopes fitted to the points, and the points:

# %%
pd.DataFrame(
    [
        {"in": what, "data and estimator": name, "slope": slope(curves[name]), "theory": theory}
        for what, (curves, theory) in rates.items()
        for name in curves
    ]
)

# %%
rates["ε"][0].rename_axis("ε").reset_index()

# %%
rates["k"][0].rename_axis("k").reset_index()

# %%
rates["n"][0].rename_axis("n").reset_index()

# %% [markdown]
# ## Where the filter should shine
#
# The paper's graphs have a tenth of rows whose every variable lies 1.5 standard deviations up, or all of them down. No
# variable shows such a row; together they do. Algorithm 2 on all rows as they are (k' = 5, no screening of rows; with
# the package's scaling and computed steps, 20 of them, not as printed), 50 fresh data sets a panel, partial area under
# the ROC curve up to a false positive rate of 0.1, with standard errors:

# %%
graphs = read_results("gradients_graphs")
by = graphs.groupby(["gradient", "setting"], sort=False)["pauc"]
areas = by.mean().map("{:.3f}".format) + " (" + by.sem().map("{:.3f}".format) + ")"
areas.unstack(sort=False).loc[[*NAMES.values(), ORACLE]].reset_index()

# %% [markdown]
# The same rows in a regression, and the attacks that get through the automatic fit
# ([attacks](../docs/attacks.md)), n = 300, d = 1000, k = 5: Algorithm 1 with the package's scaling and computed steps,
# without a refit, *told the true k*; median of the l2 error of the coefficients in standard units (columns have mixed
# scales) over 50 fresh data sets; the figure has the quartiles as well.

# %%
algorithm = read_results("gradients_algorithm")
errors = algorithm.groupby(["attack", "epsilon", "gradient"], sort=False)["error"].median()
wide = errors.unstack()[list(NAMES.values())].round(3)
wide.reset_index().rename(columns={"epsilon": "ε"})

# %%
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
places = np.arange(len(wide))
groups = algorithm.groupby(["attack", "epsilon", "gradient"], sort=False)["error"]
low, high = (groups.quantile(q).unstack()[list(wide)] for q in (0.25, 0.75))
# The colors of figure 2, whose first one is the mean's.
for step, (color, name) in enumerate(zip(PALETTE[1:], wide, strict=True)):
    at = places + 0.1 * (step - 2)
    ax.vlines(at, low[name], high[name], color=color, linewidth=1.5)
    ax.plot(at, wide[name], "o", color=color, markersize=5, label=name)
ax.set_xticks(
    places, [f"{attack}\nε = {e}" if attack != "clean" else attack for attack, e in wide.index]
)
ax.set_yscale("log")
plain_ticks(ax, (0.05, 0.1, 0.2, 0.5, 1.0, 2.0))
polish(ax)
name_axes(ax, "", "l2 error, true k told: median and quartiles")
ax.tick_params(axis="x", labelsize="x-small")
ax.legend(loc="upper left", frameon=False, fontsize="x-small")

# %% [markdown]
# Share of these fits whose iterates settled, and the automatic fit, which chooses k, rejects rows and refits, and which
# a gradient only starts (50 fresh data sets; median error):

# %%
settled = algorithm.groupby(["attack", "epsilon", "gradient"], sort=False)["settled"].mean()
settled.unstack()[list(NAMES.values())].reset_index().rename(columns={"epsilon": "ε"})

# %%
automatic = read_results("gradients_automatic")
errors = automatic.groupby(["attack", "epsilon", "gradient"], sort=False)["error"].median()
errors.unstack()[[NAMES["trim"], NAMES["filter"]]].round(3).reset_index()

# %% [markdown]
# ## What was learned
#
# - **Which estimators meet the condition.** Under leverage the mean and the median of means have a ψ in the
#   thousands: a tenth of bad rows leaves no block clean. The geometric median of means stands between these and the
#   trimmed mean, which has nearly the same α and ψ with outliers as without. Catoni's mean has a ψ that no row can
#   blow up, and the smallest of all on log-normal data, but two to three times that of the trimmed mean under
#   outliers. The sparse filter is the trimmed mean on clean data; with outliers its ψ is a little smaller and its α
#   larger, for it drops informative rows as well.
# - **Trimming is no loss at the truth.** On clean data its ψ is even below that of the mean, since x times noise has
#   heavier tails than a normal variable.
# - **The theory's constant is not met.** No estimator comes near the α that the proof allows, not even the mean on
#   clean data; α is zero only under leverage, where ψ explodes. The algorithm converges all the same
#   ([02](02-paper-linear.md)): the condition is sufficient, and far from necessary. Note also that random β around the
#   truth were tried, so the worst α and ψ are at least those in the table.
# - **Sparse directions are what saves n.** The whole error of a gradient grows as √d, its 15 largest coordinates as
#   √log(d/15), less than twofold over two powers of ten.
# - **A large α can be a short gradient.** The trimmed mean keeps about half of the population gradient on clean data;
#   on log-normal data trimmed mean and median of means keep a few hundredths of it. The direction is right and the
#   length is not, which a step computed from an equally robust curvature makes good, and a fixed step does not
#   ([03](03-paper-heavy-tails.md)).
# - **Heavy tails and the constants.** For log-normal data no decrease of ψ with n is seen in this range at all: the
#   block means are still so skewed that the median's bias is what is left. It is small, but it is not the
#   √(k log d / n) of the theory. The theory asks for fourth moments bounded by a constant, C₄ = E x⁴ / (E x²)²; for
#   the paper's log-normal predictors that is the kurtosis, 9.2 million, which makes its constants vacuous.
# - **Rates in n.** Without outliers the slopes are near −½ for the trimmed mean and the median of means on Gaussian
#   data, less steep with t₃ noise. With outliers ψ levels off, as the term in ε says it must.
# - **Rates in k.** Slopes are a little below ½: the s largest of d errors grow like √(s log(d/s)) rather than √s.
#   When all coordinates are pushed alike the slope comes closest to ½.
# - **Rates in ε.** With a fixed share of 0.25 trimmed, the slope is near 1; sampling noise flattens it at the left end,
#   and near the share itself the estimator begins to break. With a share that follows ε, as in the theory (here 2ε, as
#   in the package), the slope is about a half: where few rows are trimmed the cut lies far out, and an outlier can do
#   more harm each. The theory's bound in ε is an upper one, and this is below it. The paper's own outliers do little at
#   the truth: their gradients have random signs outside the true columns.
# - **Joint shifts are what the filter is for.** On the graphs' outliers it has twice the partial area of every other
#   gradient, about three quarters of what good rows alone give; in regression its median error is half of the trimmed
#   mean's at ε = 0.1 and six tenths at 0.2. At ε = 0.2 its iterates settle in 2 of 50 runs: which rows are dropped
#   keeps changing.
# - **It does not help against the other attacks that get through.** At ε = 0.2 rows that mimic good ones, those at the
#   edge of the noise and the paper's own outliers lie too near for any direction to show them, and it is the trimmed
#   mean with them, or nearly; "cancel" and "delete_cancel" break every gradient. The automatic fit judges rows by other
#   means too: with the filter to start it ends with the same errors.
#
# ## Verdict

# %%
verdicts = [
    (
        "any estimator with the RDC plugs into Algorithm 1 (Section 3)",
        "**holds**: five by name, and any callable",
        "20; nothing",
    ),
    (
        "α ≤ μ/32 (Theorem 3.1)",
        "**met by none** but where ψ is in the tens and more; the algorithm converges all the same",
        "20; nothing",
    ),
    (
        "the RDC asks for less than a small ‖Ĝ − G‖ (Section 3)",
        "**holds**: from d = 100 to 10,000 the latter grows tenfold, its part on 15 coordinates 1.8-fold",
        "20; nothing",
    ),
    (
        "trimming asks for α = c₀ε with c₀ ≥ 1 (Definition 4.1)",
        "c₀ = 1 is enough for the theory; the package takes 2, by choice",
        "none",
    ),
    (
        "ψ of MOM falls like n^−½ under heavy tails (Corollary 4.3)",
        "**in part**: Gaussian nearly, t₃ less so, log-normal not; kurtosis makes its constants vacuous",
        "10; nothing",
    ),
    (
        "a filter sees joint shifts that trimming misses",
        "**holds**: twice the partial area on graphs, half of the error in regression (0.6 of it at ε = 0.2)",
        "50 graphs a panel, 50 regressions with k told; thresholds chosen on others",
    ),
    (
        "a filter stops the attacks that get through",
        "**does not**: hardly any gain on paper, none on edge, mimic, cancel and delete_cancel",
        "50; k told",
    ),
    (
        "a filter helps the automatic fit",
        "**does not**: the same error in nearly every data set",
        "50; nothing",
    ),
    (
        "geometric median of means and Catoni's mean",
        "**no better** than trimming where rows are bad, a little on clean data",
        "50; k told",
    ),
]
pd.DataFrame(verdicts, columns=["claim or question", "verdict", "data sets, and what was tuned"])
