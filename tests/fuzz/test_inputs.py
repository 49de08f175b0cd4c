"""Calls with odd data and arguments: an error of ours, or numbers.

An example is the seed of a random generator, because hypothesis itself prefers small and odd draws, and a call with
several of them only meets the first check.
"""

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

import robustsparse as rs
from tests.memory import at_most

# Peak above the start that a call may reach; the first one compiles.
MOST_MEMORY = 200 << 20
SEEDS = st.integers(0, 2**32 - 1)

ODD = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 5e-324, 1e-310, 1e-160, 1e160, 1e300, 1.7e308]
UNITS = [1e-320, 1e-300, 1e-20, 1e20, 1e150, 1e300, 1e305]
TYPES = ["f2", "object", "c16", "U3", "M8[s]"]
# Good values and odd ones.
ARGUMENTS: dict[str, tuple[list[Any], list[Any]]] = {
    "k": (["auto", 0, 1, [1, 2]], [99, -1, 1.5, None, "x", [], [[1]], 10**400, np.nan, True]),
    "estimator": (
        ["trim", "mom", "mean", "geomom", "catoni", "filter", rs.Trimmed(0.3), rs.MedianOfMeans(3)],
        ["x", None, lambda X, score: 3, rs.Trimmed, 3],
    ),
    "epsilon": ([0.1, 0.0, 0.3, "auto"], [0.49, 0.5, -1, "x", np.nan, None]),
    "standardize": ([True, False, "mad", "sd", "winsor", "blocks", "none"], ["x", None, 3]),
    "refit": ([True, False], [None, "x"]),
    "select": (["auto", "cv"], ["x", None]),
    "intercept": ([True, False], [None]),
    "step": (["auto", 0.5], [1e300, -1, "x"]),
    "max_iter": ([5, 50], [0, 1, -1, "x", 10**400]),
    "tol": ([1e-4, 1e-9], [0.0, -1, np.nan, "x"]),
    "rng": ([None, 1], [-1, "x", 10**400]),
    "keep": ([None, [0], ["x1"], 0, "x1"], [["zz"], [99], [None], [[0]]]),
}


def mostly(draw: random.Random, good: list[Any], odd: list[Any]) -> Any:
    return draw.choice(odd if draw.random() < 0.07 else good)


def arguments(draw: random.Random, *names: str) -> dict[str, Any]:
    """A few arguments, most of them with a good value."""
    return {name: mostly(draw, *ARGUMENTS[name]) for name in draw.sample(names, draw.randint(0, 3))}


def normal(draw: random.Random, *shape: int) -> Any:
    rng = np.random.default_rng(draw.getrandbits(32))
    return rng.standard_normal(shape) * mostly(draw, [1.0], UNITS)


def spoiled(draw: random.Random, values: Any) -> Any:
    """Odd values in some cells, or in a whole column."""
    if values.size and draw.random() < 0.3:
        for _ in range(draw.randint(1, 3)):
            place = tuple(draw.randrange(size) for size in values.shape)
            cell = place if draw.random() < 0.8 else (slice(None), *place[1:])
            values[cell] = draw.choice(ODD)
    return values


def matrix(draw: random.Random, most_columns: int = 5) -> Any:
    """Normal draws with odd cells, in odd units, types and forms."""
    shape = mostly(draw, [30], [0, 1, 4, 5, 12]), mostly(draw, [1, 2, most_columns], [0])
    values = normal(draw, *shape)
    values = spoiled(draw, values.round() if draw.random() < 0.2 else values)
    dtype = np.dtype(mostly(draw, ["f8", "f8", "f4", "i4", "u1", "bool", ">f8", ">i2"], TYPES))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        typed = values.astype(dtype) if dtype.kind != "M" else values.astype("i8").view(dtype)
    plain = dtype.kind in "biuf" and dtype.isnative and dtype != np.float16
    forms = [np.asarray, np.asfortranarray, pd.DataFrame, list]
    return draw.choice([*forms, sparse.csr_array] if plain else forms)(typed)


def vector(draw: random.Random, n: int, kinds: list[str]) -> Any:
    """A value for each row, or now and then for some other number of rows."""
    values = normal(draw, mostly(draw, [n] * 3, [0, 1, n + 1]))
    kind = mostly(draw, kinds, ["signs", "text", "object", "plain", "size"])
    if kind == "signs":
        return values > 0
    if kind == "text":
        return np.where(values > 0, "u", "v")
    values = spoiled(draw, np.abs(values) if kind == "size" else values)
    if kind == "object":
        return np.array([*values.tolist(), 10**400], dtype=object)[1:]
    return values.tolist() if kind == "list" else values


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns; None if it raised an error of ours."""
    with warnings.catch_warnings(), at_most(MOST_MEMORY):
        warnings.simplefilter("ignore")
        try:
            return call()
        except rs.RobustSparseError:
            return None


def assert_numbers(fit: Any) -> None:
    if fit is not None:
        for name in ("params", "fittedvalues", "resid", "row_weights"):
            assert np.isfinite(getattr(fit, name).to_numpy()).all(), name
        assert np.isfinite(fit.scale)
        str(fit.summary())


@given(seed=SEEDS)
@example(seed=285)
@example(seed=22688)
@example(seed=274180)
def test_arrays(seed: int) -> None:
    draw = random.Random(seed)
    X = matrix(draw)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    family = mostly(draw, ["gaussian", "gaussian", "binomial"], ["x", None])
    y = vector(draw, n, ["signs", "text"] if family == "binomial" else ["plain", "list"])
    options = arguments(draw, *ARGUMENTS)
    for name, kind in (("weights", "size"), ("offset", "plain")):
        if draw.random() < 0.2:
            options[name] = vector(draw, n, [kind])
    assert_numbers(outcome(lambda: rs.rht_fit(X, y, family=family, **options)))


WORDS = [
    "y", "a", "b", "g", "t", "zz", ".", "1", "0", "-1", "2", "~", "+", "-", "*", ":", "/", "^", "**", "(", ")", "{",
    "}", "`a`", "``", "log(a)", "np.log(b)", "C(g)", "bs(a, df=3)", "poly(a, 2)", "scale(b)", "I(a**2)", "a > 0", "é",
    "Q('a')", "g.str.upper()", "a.fillna(0)", "np.where(a > 0, a, b)", "{a + b}", "lag(a)", "%in%", "|", "\x00", "[",
    "'", '"',
]  # fmt: skip
RIGHT = [
    "a",
    "b",
    "g",
    "log(b)",
    "np.sqrt(b)",
    "C(g)",
    "poly(a, 2)",
    "scale(a)",
    "a:b",
    "a:g",
    "{a > 0}",
    ".",
]


def formula(draw: random.Random) -> str:
    """Some formula, more or less well formed."""
    if draw.random() < 0.75:
        return "y ~ " + " + ".join(draw.choices(RIGHT, k=draw.randint(1, 4)))
    return mostly(draw, ["y ~ "], [""]) + " ".join(draw.choices(WORDS, k=draw.randint(0, 7)))


def frame(draw: random.Random) -> pd.DataFrame:
    """A response, two numbers, a factor and perhaps dates, some of them odd."""
    n = mostly(draw, [24], [0, 1, 5])
    rng = np.random.default_rng(draw.getrandbits(32))
    numbers = {name: spoiled(draw, normal(draw, n)) for name in ("y", "a")}
    table = pd.DataFrame(numbers).assign(b=rng.uniform(1, 2, n), g=rng.choice(list("uvw"), n))
    change = mostly(draw, ["none", "bytes", "nullable"], ["time", "object", "twice", "huge"])
    if change == "time":
        return table.assign(t=pd.Timestamp("2020-01-01"))
    if change == "object":
        return table.astype(object)
    if change == "bytes":
        return table.astype({"a": ">f8", "b": ">f4"})
    if change == "twice":
        return table.set_axis(["y", "a", "a", "g"], axis=1)
    if change == "huge" and n:
        return table.assign(a=[10**400, *range(n - 1)])
    return table.astype({"a": "Float64"}) if change == "nullable" else table


@given(seed=SEEDS)
@example(seed=16181)
@example(seed=4140407)
@example(seed=9274235)
def test_formulas(seed: int) -> None:
    draw = random.Random(seed)
    options = arguments(draw, "k", "epsilon", "refit", "estimator", "standardize")
    options["family"] = mostly(draw, ["gaussian"], ["binomial", "x"])
    options["keep"] = mostly(draw, [None] * 4 + [["a"]], ["g", [0], "zz"])
    options["weights"] = mostly(draw, [None, None, "b"], ["zz"])
    fit = outcome(lambda: rs.rht(formula(draw), frame(draw), **options))
    assert_numbers(fit)
    if fit is not None:
        outcome(lambda: fit.predict(frame(draw)))


@given(seed=SEEDS)
@example(seed=29103)
def test_graphs(seed: int) -> None:
    draw = random.Random(seed)
    options = arguments(draw, "k", "estimator", "epsilon", "step", "max_iter", "tol", "rng")
    options["screen"] = draw.random() < 0.7
    options["rule"] = mostly(draw, ["or", "and"], ["x"])
    options["select"] = mostly(draw, ["ebic", "stars"], ["x"])
    options["max_edges"] = mostly(draw, [None, 0, 2], [99, -1, "x"])
    graph = outcome(lambda: rs.robust_ns(matrix(draw, 4), n_jobs=1, **options))
    if graph is not None:
        assert np.isfinite(graph.covariance).all()
        assert np.isfinite(graph.ranking.data).all()
        str(graph.summary())
