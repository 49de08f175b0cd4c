"""What `TrustedRows` does to predictions: `python docs/trusted_rows.py` writes docs/trusted-rows.md (ten minutes).

Needs the `bench` extra. Data, their corruption and the plain recipe are those of docs/real_data.py.
"""

import argparse
import itertools
import sys
import warnings
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

sys.path.insert(0, str(Path(__file__).parents[1]))

import robustsparse as rs
from docs.real_data import (
    FLOOR,
    FOLDS,
    FOLDS_OF_CLASSES,
    KINDS,
    corrupted,
    error_of,
    geometric,
    losses,
    mad_recipe,
    markdown,
    peers,
    read,
)
from robustsparse.sklearn import RHTClassifier, RHTRegressor, TrustedRows

HERE = Path(__file__).parent
# Golub has 3,051 columns, and classes that every method tells apart: it would take long and say nothing.
LEFT_OUT = ("golub",)
ATTACKS = ("clean", "leverage", "flip_y", "shift_y", "flip_largest", "mislinked")
# Rows, columns and terms of the simulated data.
SHAPE = {"n": 200, "d": 60, "k": 12}
NEW = 500

HEAD = """# Trusted rows

`TrustedRows(estimator)` of `robustsparse.sklearn` judges the rows with `rht`, leaves out those that it does not trust,
replaces single cells that are wrong, and fits *any* estimator of scikit-learn to the rest.
`python docs/trusted_rows.py` makes this page (with the `bench` extra).

```python
>>> import numpy as np
>>> from sklearn.linear_model import LassoCV
>>> import robustsparse as rs
>>> from robustsparse.sklearn import TrustedRows
>>> sim = rs.simulate.linear(n=200, d=60, k=12, epsilon=0.1, attack="leverage", rng=1)
>>> model = TrustedRows(LassoCV(max_iter=10_000)).fit(sim.X, sim.y)
>>> int((~model.trusted_).sum()), int((~model.trusted_)[sim.outlier].sum())
(24, 22)

```

Each of three estimators (LassoCV, RidgeCV and gradient boosting with scikit-learn's defaults; for classes logistic
regression with l1 and l2 penalties by cross-validation, and boosting) is fitted to the rows as they come (*plain*),
after the usual filter (*MAD*: rows with |y| beyond 3.5 MAD dropped, X clipped at 5 MAD; for classes clipped alone), and
as `TrustedRows(estimator)`. `RHT` is `RHTRegressor()` or `RHTClassifier()` by itself, which shrinks on the same rows.
"""


def boosting(two: bool) -> Any:
    """Trees, for which columns need not be scaled, and no line need be right."""
    return HistGradientBoostingClassifier() if two else HistGradientBoostingRegressor()


def estimators(two: bool) -> dict[str, Any]:
    """What is fitted to the rows, by name."""
    linear = peers(two)
    return {"lasso": linear["lasso"], "ridge": linear["ridge"], "boosting": boosting(two)}


def fitted(name: str, way: str, X: np.ndarray, y: np.ndarray, two: bool) -> Any:
    """An estimator that was fitted to rows in one of the ways."""
    if name == "RHT":
        model: Any = RHTClassifier(n_jobs=1) if two else RHTRegressor(n_jobs=1)
    else:
        model = clone(estimators(two)[name])
    if way == "trusted":
        model = TrustedRows(model, n_jobs=1)
    if way == "MAD":
        X, y = mad_recipe(X, y, two)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def predicted(model: Any, X: np.ndarray, two: bool) -> np.ndarray:
    return model.predict_proba(X)[:, -1] if two else model.predict(X)


def pairs() -> list[tuple[str, str]]:
    """Every estimator in every way."""
    ways = ("plain", "MAD", "trusted")
    return [*itertools.product(("lasso", "ridge", "boosting"), ways), ("RHT", "alone")]


def study(name: str, kind: str, repeat: int) -> list[dict[str, Any]]:
    """One real data set, corrupted in one way: what every method loses in every fold."""
    X, y, two = read()[name]
    rng = np.random.default_rng([2028, repeat, list(KINDS).index(kind), len(name)])
    fold = rng.permutation(len(y)) % FOLDS
    rows = []
    for f in range(FOLDS_OF_CLASSES if two else FOLDS):
        out = fold == f
        Xf, yf = corrupted(X[~out], y[~out], two, kind, rng)
        for estimator, way in pairs():
            guess = predicted(fitted(estimator, way, Xf, yf, two), X[out], two)
            what = {"data": name, "kind": kind, "estimator": estimator, "way": way, "two": two}
            rows.append({**what, "losses": losses(y[out], np.asarray(guess), two)})
    return rows


def drawn(attack: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a linear model, one in eleven of them bad, and its coefficients."""
    plain = attack in ("clean", "mislinked")
    sim = rs.simulate.linear(
        **SHAPE, sigma=1.0, epsilon=0.0 if plain else 0.1, attack=None if plain else attack, rng=seed
    )  # fmt: skip
    y = sim.y.copy()
    if attack == "mislinked":
        rng = np.random.default_rng(seed)
        bad = rng.permutation(len(y))[: len(y) // 10]
        y[bad] = y[np.roll(bad, 1)]
    return sim.X, y, sim.beta


def trial(attack: str, seed: int) -> list[dict[str, Any]]:
    """One simulated data set: how far every method is from the mean of new rows, on average."""
    X, y, beta = drawn(attack, seed)
    new = np.random.default_rng([seed, 1]).normal(size=(NEW, X.shape[1]))
    rows = []
    for estimator, way in pairs():
        model = fitted(estimator, way, X, y, False)
        miss = np.abs(model.predict(new) - new @ beta)
        rows.append(
            {"attack": attack, "estimator": estimator, "way": way, "error": float(miss.mean())}
        )
    return rows


# ----------------------------------------------------------------------------------------- tables


def wide(errors: pd.Series) -> pd.DataFrame:
    """Errors by line, methods as columns, divided by the best of the line."""
    table = errors.unstack(["estimator", "way"])[pairs()]
    table.columns = ["RHT" if name == "RHT" else f"{name}, {way}" for name, way in table.columns]
    return table.div(table.min(axis=1), axis=0)


def lines(errors: pd.Series, by: str, order: Any) -> str:
    """A table of geometric means."""
    keys = [by, "estimator", "way"]
    mean = np.exp(np.log(errors).groupby(level=keys, sort=False).mean())
    table = wide(mean).reindex(order)
    table.loc["*mean*"] = geometric(table) / geometric(table).min()
    return markdown(table, by)


def gains(parts: dict[str, pd.Series]) -> str:
    """Errors on trusted rows over those after the filter and over those of all rows, by estimator, and in words."""
    table = {}
    for name, errors in parts.items():
        log = np.log(errors.drop(index="RHT", level="estimator"))
        mean = log.groupby(level=["estimator", "way"], sort=False).mean().unstack("way")
        for way in ("MAD", "plain"):
            table[f"{name}, over {way}"] = np.exp(mean["trusted"] - mean[way])
    frame = pd.DataFrame(table)
    says = " ".join(_said(name, frame[f"{name}, over MAD"]) for name in parts)
    return f"{markdown(frame, '`TrustedRows` of', bold=False)}\n{paragraph(says)}"


def _said(name: str, ratio: pd.Series) -> str:
    """For which estimators trusted rows are better than filtered ones, by more than a hundredth."""
    kinds = {"better": ratio < 0.99, "as good": ratio.between(0.99, 1.01), "WORSE": ratio > 1.01}
    parts = [
        f"{word} for {', '.join(ratio.index[some])}" for word, some in kinds.items() if some.any()
    ]
    return f"{name[0].upper()}{name[1:]}, beside the MAD filter: {'; '.join(parts)}."


def paragraph(text: str) -> str:
    return f"\n{fill(text, 120, break_long_words=False, break_on_hyphens=False)}\n"


def real(runs: pd.DataFrame) -> str:
    keys = ["two", "data", "kind", "estimator", "way"]
    errors = pd.Series({key: error_of(part) for key, part in runs.groupby(keys, sort=False)})
    errors.index.names = keys
    text = "\n## Real data\n" + paragraph(
        "The data sets and the six ways of corrupting a tenth of the training rows of [real data](real-data.md), "
        f"without {' and '.join(LEFT_OUT)}; errors are medians of absolute errors, for classes mean log losses with "
        f"{FLOOR} added, over those of the best method of the line. Means are geometric."
    )
    for two, what in ((False, "Numbers"), (True, "Classes")):
        some = errors.loc[two]
        clean = some.xs("as they are", level="kind")
        bad = some.drop(index="as they are", level="kind")
        kinds = [kind for kind in KINDS if kind != "as they are"]
        text += f"\n### {what}, as they are\n\n{lines(clean, 'data', clean.index.unique('data'))}\n"
        text += f"\n### {what}, corrupted: mean over the data sets\n\n{lines(bad, 'kind', kinds)}\n"
        parts = {
            "as they are": clean,
            "corrupted": bad,
            "mislinked": bad.xs("mislinked", level="kind"),
        }
        text += f"\nErrors of an estimator on trusted rows over its errors in the other ways:\n\n{gains(parts)}"
    return text


def simulated(trials: pd.DataFrame, seeds: int) -> str:
    errors = trials.set_index(["attack", "seed", "estimator", "way"])["error"]
    shape = ", ".join(f"{name} = {value}" for name, value in SHAPE.items())
    text = "\n## Simulated data\n" + paragraph(
        f"The paper's linear model, {shape}, noise of standard deviation 1, {seeds} data sets a line, one row in "
        "eleven bad in the way that the line says (see [attacks](attacks.md); *mislinked*: one response in ten "
        "belongs to another row). Errors are mean distances of the prediction from the mean of new rows, over "
        "those of the best method of the line."
    )
    parts = {"clean": errors.loc[["clean"]], "bad rows": errors.drop(index="clean", level="attack")}
    return f"{text}\n{lines(errors, 'attack', list(ATTACKS))}\n\n{gains(parts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1, help="divisions of real data into folds")
    parser.add_argument("--seeds", type=int, default=20, help="simulated data sets of a line")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help="real data sets, separated by commas; printed only")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [n for n in read() if n not in LEFT_OUT]
    tasks = list(itertools.product(names, KINDS, range(options.repeats)))
    parallel = Parallel(n_jobs=options.jobs, verbose=5)
    runs = pd.DataFrame(itertools.chain.from_iterable(parallel(delayed(study)(*t) for t in tasks)))
    cases = list(itertools.product(ATTACKS, range(options.seeds)))
    found = parallel(delayed(trial)(*case) for case in cases)
    trials = pd.DataFrame(
        {**row, "seed": seed} for (_, seed), rows in zip(cases, found, strict=True) for row in rows
    )
    text = HEAD + real(runs) + simulated(trials, options.seeds)
    if options.only:
        print(text)
    else:
        (HERE / "trusted-rows.md").write_text(text)


if __name__ == "__main__":
    main()
