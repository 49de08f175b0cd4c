"""How models predict and select on real data: `python docs/real_data.py` writes docs/real-data.md (ten minutes).

Needs the `bench` extra: scikit-learn, abess and statsmodels.
"""

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
from abess.linear import LinearRegression, LogisticRegression
from joblib import Parallel, delayed
from sklearn import datasets
from sklearn.linear_model import HuberRegressor, LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import robustsparse as rs

HERE = Path(__file__).parent
FOLDS, BAD, PROBES = 5, 0.1, 500
# Folds that are used of corrupted data in two classes, where a fit takes longest.
FOLDS_OF_CLASSES = 2
# Data as they are, where methods are close together, are divided into folds so much more often: numbers, and classes.
CLEAN_REPEATS, CLEAN_REPEATS_OF_CLASSES = 12, 4
OWN = ("predict", "select")
# Added to every log loss before ratios are formed: some classes are told apart without an error.
FLOOR = 0.05
CAP = np.log(100.0)
SMALL = ("diabetes", "wine (alcohol)", "star98", "grunfeld", "statecrime", "ccard")

HEAD = """# Real data

`python docs/real_data.py` makes this page (with the `bench` extra). Data: diabetes, wine and breast cancer from
scikit-learn, star98 and grunfeld from statsmodels, octane and golub from this package. {folds}-fold cross-validation,
{clean} times for numbers as they are, {classes} times for classes as they are, else {repeats}; the test folds are never
touched. The training rows are taken as they are, or one in ten of them is corrupted in one of six ways. For a response
that is a number:

- *decimal*: y is ten times too large or too small; *mislinked*: y belongs to another row;
- *units*: in a third of the columns the sign is wrong or the value is a hundred times too large; *swapped*: values of a
  third of the columns have changed places; *999*: a tenth of the values are the code 999;
- *leverage*: the row is ten scales out in every column, and its response five in a direction of its own.

For two classes *decimal* is replaced by labels flipped at random, *mislinked* by labels flipped in one class only, and
rows of leverage have a random label; of corrupted data in classes {few} of the {folds} folds are used.

Methods: `predict` and `select` are `rht_fit(..., goal=...)`; LassoCV and RidgeCV, for
classes logistic regression with l1 and l2 penalties by cross-validation; abess; HuberRegressor (numbers only); *MAD*:
the plain recipe, rows with |y| beyond 3.5 MAD dropped, X clipped at 5 MAD, then LassoCV (for classes: clipped, l1).

Errors are medians of the absolute errors of all left-out rows; for classes the mean log loss of these, each capped at
log 100, with {floor} added since golub is told apart without an error. All are divided by that of the best method of
the line, so that 1 is the best. `select` is for models, not for predictions, and is shown as they are only.
"""


# ------------------------------------------------------------------------------------------- data


def read() -> dict[str, tuple[np.ndarray, np.ndarray, bool]]:
    """Design, response and whether it is one of two classes, by name."""
    diabetes = datasets.load_diabetes(scaled=False)
    wine, cancer = datasets.load_wine(), datasets.load_breast_cancer()
    star = sm.datasets.star98.load_pandas().data
    grunfeld = sm.datasets.grunfeld.load_pandas().data
    octane, golub = rs.datasets.octane(), rs.datasets.golub()
    firms = pd.get_dummies(grunfeld[["value", "capital", "firm"]], drop_first=True, dtype=float)
    above = star["NABOVE"] / (star["NABOVE"] + star["NBELOW"])
    subtype = golub["subtype"] == golub["subtype"].max()
    found = {
        "diabetes": (diabetes.data, diabetes.target, False),
        "wine (alcohol)": (wine.data[:, 1:], wine.data[:, 0], False),
        "star98": (star.drop(columns=["NABOVE", "NBELOW"]), above, False),
        "grunfeld": (firms, grunfeld["invest"], False),
        "octane": (octane.drop(columns="y"), octane["y"], False),
        "breast cancer": (cancer.data, cancer.target, True),
        "wine (class)": (wine.data, wine.target == 1, True),
        "golub": (golub.drop(columns="subtype"), subtype, True),
    }
    return {
        name: (np.asarray(X, dtype=float), np.asarray(y, dtype=float), two)
        for name, (X, y, two) in found.items()
    }


def small() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Six small data sets for probes."""
    crime, card = (
        sm.datasets.statecrime.load_pandas().data, sm.datasets.ccard.load_pandas().data
    )  # fmt: skip
    own = {name: data[:2] for name, data in read().items() if name in SMALL}
    return own | {
        "statecrime": (crime.drop(columns="murder").to_numpy(float), crime["murder"].to_numpy()),
        "ccard": (card.drop(columns="AVGEXP").to_numpy(float), card["AVGEXP"].to_numpy()),
    }


def center_and_scale(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    center = np.median(X, axis=0)
    mad = 1.4826 * np.median(np.abs(X - center), axis=0)
    spread = np.where(mad > 0, mad, X.std(axis=0))
    return center, np.where(spread > 0, spread, 1.0)


# ------------------------------------------------------------------------------------- corruption

Rows = tuple[np.ndarray, np.ndarray]
Corruption = Callable[[np.ndarray, np.ndarray, bool, np.ndarray, np.random.Generator], None]


def decimal(X: np.ndarray, y: np.ndarray, two: bool, bad: np.ndarray, rng: Any) -> None:
    y[bad] = 1 - y[bad] if two else y[bad] * rng.choice([10.0, 0.1], len(bad))


def mislinked(X: np.ndarray, y: np.ndarray, two: bool, bad: np.ndarray, rng: Any) -> None:
    if two:
        members = np.flatnonzero(y == rng.integers(2))
        bad = rng.choice(members, min(len(bad), len(members) // 2), replace=False)
    y[bad] = 1 - y[bad] if two else y[rng.permutation(bad)]


def units(X: np.ndarray, y: np.ndarray, two: bool, bad: np.ndarray, rng: Any) -> None:
    columns = rng.choice(X.shape[1], max(1, X.shape[1] // 3), replace=False)
    X[np.ix_(bad, columns)] *= rng.choice([-1.0, 100.0], len(columns))


def swapped(X: np.ndarray, y: np.ndarray, two: bool, bad: np.ndarray, rng: Any) -> None:
    pairs = max(1, X.shape[1] // 6)
    for row in bad:
        first, second = rng.permutation(X.shape[1])[: 2 * pairs].reshape(2, pairs)
        X[row, first], X[row, second] = X[row, second], X[row, first].copy()


def codes(X: np.ndarray, y: np.ndarray, two: bool, bad: np.ndarray, rng: Any) -> None:
    lost = rng.random((len(bad), X.shape[1])) < 0.1
    lost[np.arange(len(bad)), rng.integers(X.shape[1], size=len(bad))] = True
    X[bad] = np.where(lost, 999.0, X[bad])


def leverage(X: np.ndarray, y: np.ndarray, two: bool, bad: np.ndarray, rng: Any) -> None:
    center, scale = center_and_scale(X)
    out = 10.0 * rng.choice([-1.0, 1.0], X.shape[1]) + rng.normal(size=(len(bad), X.shape[1]))
    X[bad] = center + scale * out
    middle, spread = center_and_scale(y[:, None])
    y[bad] = rng.integers(2) if two else middle[0] + 5.0 * spread[0] * rng.choice([-1.0, 1.0])


KINDS: dict[str, Corruption | None] = {
    "as they are": None,
    "decimal": decimal,
    "mislinked": mislinked,
    "units": units,
    "swapped": swapped,
    "999": codes,
    "leverage": leverage,
}


def corrupted(X: np.ndarray, y: np.ndarray, two: bool, kind: str, rng: Any) -> Rows:
    X, y = X.copy(), y.copy()
    how = KINDS[kind]
    if how is not None:
        how(X, y, two, rng.choice(len(y), max(1, round(BAD * len(y))), replace=False), rng)
    return X, y


# ---------------------------------------------------------------------------------------- methods


def own(goal: str, X: np.ndarray, y: np.ndarray, two: bool) -> rs.RHTResult:
    family = "binomial" if two else "gaussian"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        return rs.rht_fit(X, y, family=family, goal=goal, n_jobs=1)


def peers(two: bool) -> dict[str, Any]:
    """Models of other packages; each standardizes its columns."""
    if two:
        cv = {"Cs": 10, "scoring": "neg_log_loss"}
        l1 = LogisticRegressionCV(penalty="l1", solver="liblinear", **cv)
        models = {"lasso": l1, "ridge": LogisticRegressionCV(**cv), "abess": LogisticRegression()}
    else:
        ridge = RidgeCV(np.geomspace(1e-3, 1e5, 30))
        models = {
            "lasso": LassoCV(), "ridge": ridge, "abess": LinearRegression(),
            "Huber": HuberRegressor(max_iter=500),
        }  # fmt: skip
    return {name: make_pipeline(StandardScaler(), model) for name, model in models.items()}


def mad_recipe(X: np.ndarray, y: np.ndarray, two: bool) -> Rows:
    """Rows and columns as the recipe wants them."""
    center, scale = center_and_scale(X)
    clipped = np.clip(X, center - 5.0 * scale, center + 5.0 * scale)
    if two:
        return clipped, y
    middle, spread = center_and_scale(y[:, None])
    near = np.abs(y - middle) <= 3.5 * spread
    return clipped[near], y[near]


def fit(name: str, X: np.ndarray, y: np.ndarray, two: bool) -> tuple[Callable[..., Any], set[int]]:
    """How a method predicts (probabilities, for classes), and the columns that it uses."""
    if name in OWN:
        result = own(name, X, y, two)
        return result.predict, set(np.flatnonzero(result.params.iloc[1:]))
    if name == "MAD":
        X, y = mad_recipe(X, y, two)
    model = peers(two)["lasso" if name == "MAD" else name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    used = set(np.flatnonzero(np.ravel(model[-1].coef_)))
    if not two:
        return model.predict, used
    return lambda new: np.reshape(model.predict_proba(new), (len(new), -1))[:, -1], used


def losses(y: np.ndarray, predicted: np.ndarray, two: bool) -> np.ndarray:
    if not two:
        return np.abs(y - predicted)
    right = np.where(y == 1, predicted, 1.0 - predicted)
    return np.minimum(-np.log(np.maximum(right, 1e-12)), CAP)


def study(name: str, kind: str, repeat: int) -> list[dict[str, Any]]:
    """One data set, corrupted in one way: errors, supports and times of every method in every fold."""
    X, y, two = read()[name]
    rng = np.random.default_rng([2026, repeat, list(KINDS).index(kind), len(name)])
    fold = rng.permutation(len(y)) % FOLDS
    clean = kind == "as they are"
    rows = []
    for f in range(FOLDS_OF_CLASSES if two and not clean else FOLDS):
        out = fold == f
        Xf, yf = corrupted(X[~out], y[~out], two, kind, rng)
        for method in [*OWN, *peers(two), "MAD"]:
            if method == "select" and not clean:
                continue
            start = time.perf_counter()
            predict, used = fit(method, Xf, yf, two)
            took = time.perf_counter() - start
            rows.append(
                {
                    "data": name, "kind": kind, "repeat": repeat, "method": method, "two": two,
                    "losses": losses(y[out], np.asarray(predict(X[out])), two), "used": used,
                    "time": took,
                }
            )  # fmt: skip
    return rows


def probe(name: str, kind: str, repeat: int) -> int:
    """How many of 500 permuted columns beside a small data set are selected."""
    X, y = small()[name]
    rng = np.random.default_rng([2027, repeat, len(name)])
    copies = X[:, rng.integers(X.shape[1], size=PROBES)]
    X = np.hstack([X, rng.permuted(copies, axis=0)])
    Xf, yf = corrupted(X, y, False, kind, rng)
    chosen = np.flatnonzero(own("select", Xf, yf, False).params.iloc[1:])
    return int((chosen >= X.shape[1] - PROBES).sum())


# ----------------------------------------------------------------------------------------- tables


def error_of(part: pd.DataFrame) -> float:
    pooled = np.concatenate(list(part["losses"]))
    return float(pooled.mean() + FLOOR) if part["two"].iloc[0] else float(np.median(pooled))


def jaccard(part: pd.DataFrame) -> float:
    """Mean overlap of the supports of two folds."""
    values = [
        len(a & b) / len(a | b) if a | b else 1.0
        for _, one in part.groupby("repeat")
        for a, b in itertools.combinations(one["used"], 2)
    ]
    return float(np.mean(values))


def geometric(table: pd.DataFrame) -> pd.Series:
    return np.exp(np.log(table).mean())


def relative(table: pd.DataFrame) -> pd.DataFrame:
    return table.div(table.min(axis=1), axis=0)


def markdown(table: pd.DataFrame, corner: str, digits: int = 2, bold: bool = True) -> str:
    lines = [f"| {corner} | " + " | ".join(map(str, table.columns)) + " |"]
    lines.append("|" + "---|" * (len(table.columns) + 1))
    for name, values in table.iterrows():
        cells = [
            "" if np.isnan(v) else f"**{v:.{digits}f}**" if bold and v == values.min() else f"{v:.{digits}f}"
            for v in values
        ]  # fmt: skip
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by(runs: pd.DataFrame, keys: list[str], value: Callable[[pd.DataFrame], float]) -> pd.DataFrame:
    """A value of every part of the runs, methods as columns."""
    parts = {key: value(part) for key, part in runs.groupby([*keys, "method"], sort=False)}
    table = pd.Series(parts).unstack()
    methods = [m for m in [*OWN, "lasso", "ridge", "abess", "Huber", "MAD"] if m in table]
    order = list(dict.fromkeys(key[:-1] if len(keys) > 1 else key[0] for key in parts))
    return table.loc[order, methods]


def verdict(mean: pd.Series, where: str) -> str:
    best = mean.drop("predict").idxmin()
    ratio = mean["predict"] / mean.drop("predict").min()
    says = (
        "is the best"
        if ratio <= 1
        else "is NOT the best, but within 3%"
        if ratio <= 1.03
        else "LOSES"
    )
    return (
        f"- {where}: `predict` {says}: {ratio:.3f} of the error of the best other method, {best}."
    )


def prediction(runs: pd.DataFrame) -> str:
    errors = by(runs, ["data", "kind"], error_of)
    text = "\n## Prediction\n"
    verdicts = []
    for two, what in ((False, "numbers"), (True, "classes")):
        names = list(dict.fromkeys(runs.loc[runs["two"] == two, "data"]))
        some = errors.loc[names].dropna(axis=1, how="all")
        clean = some.xs("as they are", level=1)
        bad = some.drop(index="as they are", level=1).drop(columns="select")
        means = bad.groupby(level=0, sort=False).apply(geometric)
        kinds = bad.groupby(level=1, sort=False).apply(geometric)
        for title, table in (
            (f"{what}, as they are", clean),
            (f"{what}, corrupted: mean over the six ways", means),
            (f"{what}, corrupted: mean over the data sets", kinds),
        ):
            shown = relative(table)
            if table is not kinds:
                mean = geometric(table)
                shown.loc["*mean*"] = mean / mean.min()
            text += f"\n### {title[0].upper()}{title[1:]}\n\n{markdown(shown, 'data')}\n"
        verdicts += [
            verdict(geometric(clean), f"{what}, as they are"),
            verdict(geometric(means), f"{what}, corrupted"),
        ]
        lost = relative(some)["predict"]
        lost = lost[lost > 1.1]
        if len(lost):
            named = ", ".join(f"{name}, {kind} ({v:.2f})" for (name, kind), v in lost.items())
            verdicts.append(
                f"- {what}: more than 10% behind the best method of the line in {named}."
            )
    return text + "\nMeans are geometric. In short:\n\n" + "\n".join(verdicts) + "\n"


def stability(runs: pd.DataFrame) -> str:
    clean = by(runs[runs["kind"] == "as they are"], ["data"], jaccard)
    bad = by(runs[runs["kind"] != "as they are"], ["data"], lambda part: float(
        np.mean([jaccard(one) for _, one in part.groupby("kind")])))  # fmt: skip
    methods = ["predict", "select", "lasso", "abess", "MAD"]
    table = clean[methods]
    table.loc["*mean*"] = table.mean()
    table["predict, corrupted"], table["lasso, corrupted"] = bad["predict"], bad["lasso"]
    table.loc["*mean*", ["predict, corrupted", "lasso, corrupted"]] = [
        bad["predict"].mean(), bad["lasso"].mean()
    ]  # fmt: skip
    mean = table.loc["*mean*"]
    says = [
        f"`{goal}` is {'above' if mean[goal] > mean['lasso'] else 'BELOW'} the lasso as they are"
        for goal in OWN
    ]
    above = mean["predict, corrupted"] > mean["lasso, corrupted"]
    says.append(f"`predict` is {'above' if above else 'BELOW'} it when rows are corrupted")
    return (
        "\n## Stability of the support\n\nMean Jaccard overlap of the columns used in two folds (intersection over "
        f"union), as they are unless said.\n\n{markdown(table, 'data', bold=False)}\n\nOn average {'; '.join(says)}.\n"
    )


def probes(jobs: int, repeats: int) -> str:
    kinds = ("as they are", "decimal", "mislinked")
    tasks = [(n, k, r) for n in SMALL for k in kinds for r in range(repeats)]
    found = Parallel(n_jobs=jobs)(delayed(probe)(*task) for task in tasks)
    table = pd.DataFrame(tasks, columns=["data", "kind", "repeat"]).assign(found=found)
    mean = table.pivot_table(index="data", columns="kind", values="found", sort=False)
    mean.loc["*mean*"] = mean.mean()
    held = "holds" if (mean.loc["*mean*"] <= 0.5).all() else "does NOT hold"
    return (
        f'\n## Probes\n\n{PROBES} permuted columns are added; how many of them `goal="select"` selects, mean of '
        f"{repeats} draws. The goal of at most 0.5 on average {held}.\n\n{markdown(mean, 'data', bold=False)}\n"
    )


def times(runs: pd.DataFrame) -> str:
    clean = runs[runs["kind"] == "as they are"]
    table = by(clean, ["data"], lambda part: float(part["time"].median()))
    over = {
        goal: [name for name in table.index if table.loc[name, goal] > 3 * table.loc[name, "lasso"]]
        for goal in OWN
    }
    says = [
        f"`{goal}` takes longer than three times the lasso's time on {', '.join(names) if names else 'none'}"
        for goal, names in over.items()
    ]
    return (
        f"\n## Times\n\nMedian seconds of a fit, one core.\n\n{markdown(table, 'data', bold=False)}\n\n"
        f"{'; '.join(says)}.\n"
    )


def repeats_of(kind: str, two: bool) -> int:
    """How often data are divided into folds."""
    if kind != "as they are":
        return 1
    return CLEAN_REPEATS_OF_CLASSES if two else CLEAN_REPEATS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help="data sets, separated by commas; printed only")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(read())
    # Compiled once, before anything is timed.
    sim = rs.simulate.linear(n=60, d=8, k=2, rng=1)
    for goal in OWN:
        own(goal, sim.X, sim.y, False)
        own(goal, sim.X, sim.y > np.median(sim.y), True)
    two = {name: data[2] for name, data in read().items()}
    often = {(n, k): options.repeats * repeats_of(k, two[n]) for n in names for k in KINDS}
    tasks = [(*what, r) for what, repeats in often.items() for r in range(repeats)]
    done = Parallel(n_jobs=options.jobs, verbose=5)(delayed(study)(*task) for task in tasks)
    runs = pd.DataFrame(itertools.chain.from_iterable(done))
    clean, classes = (r * options.repeats for r in (CLEAN_REPEATS, CLEAN_REPEATS_OF_CLASSES))
    text = HEAD.format(
        folds=FOLDS, repeats=options.repeats, clean=clean, classes=classes, few=FOLDS_OF_CLASSES,
        floor=FLOOR,
    )  # fmt: skip
    text += prediction(runs) + stability(runs)
    if options.only:
        print(text, times(runs))
        return
    text += probes(options.jobs, 2 * options.repeats) + times(runs)
    (HERE / "real-data.md").write_text(text)


if __name__ == "__main__":
    main()
