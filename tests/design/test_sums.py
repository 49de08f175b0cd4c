"""Long sums are the terms that formulaic makes of them, and too many products are refused."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from formulaic.parser import DefaultFormulaParser

import robustsparse as rs
from robustsparse.base.errors import FormulaError
from robustsparse.design.formulas.parsing import label, parse_formula, unmarked

COLUMNS = dict.fromkeys(("y", "a", "b", "c", "d", "e f", "g.h", "log", "1"), True)
NAMES = ["a", "b", "c", "d", "`e f`", "`g.h`", "`log`", "`1`"]
PLAIN = [*NAMES, *NAMES, "0", "1"]
OTHERS = ["a:b", "b:a", "c*d", "log(a)", "{a + b}", "(a + b)**2", "(c - a)", "d/a", "2:b", "-b"]


def formulaic_terms(formula: str) -> list[str]:
    parser = DefaultFormulaParser(feature_flags={"twosided"})
    context = {"__formulaic_variables_available__": [name for name in COLUMNS if name != "y"]}
    terms = parser.get_terms(formula, context=context).rhs
    return [str(term) for term in sorted(terms, key=lambda term: term.degree)]


def our_terms(formula: str) -> list[str]:
    parsed = parse_formula(formula, COLUMNS)
    return [label(term) for term in parsed.terms if isinstance(term, tuple)]


def random_formula(rng: np.random.Generator, summands: list[str]) -> str:
    text = str(rng.choice(summands))
    for _ in range(rng.integers(0, 12)):
        text += str(rng.choice([" + ", " + ", " + ", "+", " - ", "-"])) + str(rng.choice(summands))
        if rng.random() < 0.1:
            text = f"({text})"
    return f"y ~ {text}"


def outcome(terms: object, formula: str) -> list[str] | str:
    try:
        return terms(formula)  # type: ignore[operator]
    except Exception:
        return "refused"


@pytest.mark.parametrize("summands", [PLAIN, PLAIN + OTHERS], ids=["plain", "any"])
def test_the_terms_and_their_order_are_formulaics(summands: list[str]) -> None:
    rng = np.random.default_rng(0)
    read = 0
    for _ in range(400):
        formula = random_formula(rng, summands)
        ours, theirs = outcome(our_terms, formula), outcome(formulaic_terms, formula)
        # A column called 1 or log is the intercept and a function to formulaic: only we keep them apart.
        if "`1`" not in formula and "`log`" not in formula:
            assert ours == theirs, formula
            read += ours != "refused"
    assert read > 80


def test_awkward_names_stay_columns_in_a_sum() -> None:
    parsed = parse_formula("y ~ `1` + `log` + `e f` - `log` + `g.h`", COLUMNS)
    names = [unmarked(term[0].expr) for term in parsed.terms if isinstance(term, tuple)]
    assert names == ["1", "1", "e f", "g.h"]
    assert parsed.intercept


def test_a_written_sum_is_the_model_of_the_dot(tmp_path: object) -> None:
    sim = rs.simulate.linear(n=80, d=60, k=3, epsilon=0.1, rng=2)
    names = [name for name in sim.data.columns if name != "y"]
    written = rs.rht("y ~ " + " + ".join(names), sim.data)
    dot = rs.rht("y ~ .", sim.data)
    assert written.params.equals(dot.params)
    path = f"{tmp_path}/model.rs"
    written.save(path)
    again = rs.load(path)
    assert again.predict(sim.data).equals(dot.predict(sim.data))
    less = written.update(f". ~ . - {names[0]}")
    assert names[0] not in less.params.index
    assert less.params.equals(rs.rht(f"y ~ . - {names[0]}", sim.data).params)


def test_what_a_long_sum_takes_grows_with_its_length() -> None:
    peaks = []
    for d in (1000, 4000):
        columns = {"y": True, **{f"x{j}": True for j in range(d)}}
        formula = "y ~ " + " + ".join(list(columns)[1:])
        tracemalloc.start()
        parsed = parse_formula(formula, columns)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(parsed.terms) == d + 1
    assert peaks[1] < 6 * peaks[0]


@pytest.mark.parametrize(
    "right",
    [
        "(a + b + c)**20",
        "(a + b + c)^20",
        "a + (a + b + c)**99999999999999999999",
        "*".join("abcd" * 10),
        "(.)**9",
        "(a*b*c*d):(a*b*c*d):(a*b*c*d):(a*b*c*d):(a*b*c*d):(a*b*c*d)",
    ],
)
def test_too_many_products_are_refused_at_once(right: str) -> None:
    with pytest.raises(FormulaError, match="products of terms") as caught:
        parse_formula(f"y ~ {right}", COLUMNS)
    assert "smaller power" in str(caught.value)
    assert len(str(caught.value)) < 700


def test_powers_that_can_be_multiplied_out_are() -> None:
    assert our_terms("y ~ (a + b + c)**3")[1:] == ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("yab"))
    data["y"] = data["a"] * data["b"] + 0.1 * data["y"]
    for formula in ("y ~ (a + b)**2", "y ~ .**2", "y ~ .*.", "y ~ (.)^2"):
        fit = rs.rht(formula, data)
        assert set(fit.params.index) == {"Intercept", "a", "b", "a:b"}
        assert fit.support() == ["a:b"]


def test_a_long_formula_is_shown_by_its_beginning() -> None:
    sim = rs.simulate.linear(n=80, d=300, k=3, epsilon=0.1, rng=2)
    fit = rs.rht("y ~ " + " + ".join(sim.data.columns.drop("y")), sim.data)
    assert len(repr(fit)) < 300
    shown = dict(fit.summary().head)["Model"]
    assert shown.endswith("…")
    assert len(shown) <= 401
    assert fit.formula is not None
    assert fit.formula.endswith("x300")
