"""`table` and `coefplot`: models of several kinds side by side."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression

import robustsparse as rs


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=120, d=12, k=2, rng=1)


@pytest.fixture(scope="module")
def fit(sim: Any) -> rs.RHTResult:
    return rs.rht("y ~ .", sim.data)


def cells(table: rs.ModelTable, name: str, model: int = 0) -> list[str]:
    """What stands in the lines of a term, or beside a fact: the number and what is below it."""
    rows = [*table.terms, *table.facts]
    place = [row.name for row in rows].index(name)
    below = [row for row in rows[place + 1 : place + 2] if not row.name]
    return [row.cells[model].plain(0) for row in (rows[place], *below)]


def test_a_fit_stands_in_the_table_as_in_its_summary(fit: Any) -> None:
    table = rs.table([fit])
    summary = fit.summary().text()
    for term in ("Intercept", *fit.support()):
        estimate, error = cells(table, term)
        assert estimate in summary
        assert error.strip("()") in summary
    assert cells(table, "Rows") == [str(fit.nobs)]
    assert cells(table, "Robust R²") == [f"{fit.rsquared:.3f}"]
    assert cells(table, "Flagged rows") == [str(len(fit.outliers()))]


def test_terms_that_any_model_has_are_there_and_no_others(fit: Any, sim: Any) -> None:
    other = pd.Series({"x11": 0.5, "x1": 0.0, fit.support()[0]: 2.0})
    table = rs.table([fit, other])
    names = [row.name for row in table.terms if row.name]
    assert names == ["Intercept", *fit.support(), "x11"]
    assert cells(table, "x11") == [""]
    assert cells(table, "x11", 1) == ["0.5000"]
    assert cells(table, fit.support()[1], 1)[0] == ""


def test_models_of_other_libraries(fit: Any, sim: Any) -> None:
    X, y = sim.data.drop(columns="y"), sim.data["y"]
    lasso, line = Lasso(alpha=0.3).fit(X, y), LinearRegression().fit(X.to_numpy(), y)
    ours = rs.baselines.lasso("y ~ .", sim.data)
    table = rs.table({"rht": fit, "lasso": lasso, "line": (line, list(X)), "own": ours})
    assert table.models == ("rht", "lasso", "line", "own")
    term = fit.support()[0]
    place = list(X).index(term)
    assert float(cells(table, term, 1)[0]) == pytest.approx(lasso.coef_[place], abs=1e-3)
    assert float(cells(table, term, 2)[0]) == pytest.approx(line.coef_[place], abs=1e-3)
    assert float(cells(table, "Intercept", 2)[0]) == pytest.approx(line.intercept_, abs=1e-3)
    assert cells(table, "Terms", 1) == [str((lasso.coef_ != 0).sum())]
    assert [cells(table, "Method", i)[0] for i in range(4)] == [
        "rht",
        "Lasso",
        "LinearRegression",
        "lasso",
    ]


def test_results_with_the_names_of_statsmodels() -> None:
    params = pd.Series({"const": 1.0, "a": 2.0})
    model = SimpleNamespace(
        params=params, bse=params / 10, pvalues=params * 0.01, nobs=50.0, rsquared=0.5
    )
    table = rs.table([model], stars=True)
    assert cells(table, "Intercept") == ["1.000*", "(0.100)"]
    assert cells(table, "Rows") == ["50"]
    assert cells(table, "R²") == ["0.500"]


def test_results_of_statsmodels_have_their_own_intervals(sim: Any) -> None:
    formulas = pytest.importorskip("statsmodels.formula.api")
    few = formulas.ols("y ~ x1", sim.data.head(8)).fit()
    median = formulas.quantreg("y ~ x1", sim.data).fit()
    table = rs.table([few, median], below="ci", level=0.9)
    low, high = cells(table, "x1")[1].strip("[]").split(", ")
    # With six degrees of freedom Student's intervals are a fifth wider than normal ones.
    np.testing.assert_allclose(
        [float(low), float(high)], few.conf_int(alpha=0.1).loc["x1"], atol=1e-2
    )
    assert [cells(table, "Method", i) for i in range(2)] == [["OLS"], ["QuantReg"]]
    # A median regression has an R² that is not a number.
    assert cells(table, "R²", 1) == [""]


def test_stars_intervals_and_p_values(fit: Any) -> None:
    term = fit.support()[0]
    assert cells(rs.table([fit], stars=True), term)[0].endswith("***")
    assert not cells(rs.table([fit]), term)[0].endswith("*")
    low, high = cells(rs.table([fit], below="ci", level=0.9), term)[1].strip("[]").split(", ")
    np.testing.assert_allclose([float(low), float(high)], fit.conf_int(0.9).loc[term], atol=1e-4)
    assert str(rs.table([fit], below="ci", alpha=0.1)) == str(
        rs.table([fit], below="ci", level=0.9)
    )
    assert cells(rs.table([fit], below="p"), "Intercept")[1] == f"({fit.pvalues['Intercept']:.3f})"
    assert all(row.name for row in rs.table([fit], below=None).terms)


def test_other_standard_errors_are_named(fit: Any, sim: Any) -> None:
    pairs = sim.data.assign(pair=np.arange(len(sim.data)) // 2)
    table = rs.table([fit, rs.rht("y ~ .", pairs, cluster="pair"), fit.update(cov="hac")])
    assert [cells(table, "Std. errors", i)[0] for i in range(3)] == ["", "by pair", "Newey-West"]
    assert "Std. errors" not in {row.name for row in rs.table([fit]).facts}


def test_two_classes_and_shrunken_models(sim: Any) -> None:
    data = rs.simulate.logistic(n=150, d=10, k=2, rng=2).data
    classes = rs.rht("y ~ .", data, "binomial")
    shrunken = rs.rht("y ~ .", sim.data, goal="predict")
    logistic = LogisticRegression().fit(data.drop(columns="y"), data["y"])
    table = rs.table([classes, shrunken, logistic])
    assert cells(table, "Dev. explained") == [f"{classes.rsquared:.3f}"]
    assert cells(table, "Method", 1) == ["rht, predict"]
    assert not any(row.cells[1].brackets[0] and row.cells[1].text for row in table.terms)


def test_many_terms_are_counted(fit: Any) -> None:
    wide = pd.Series(1.0, index=[f"z{i}" for i in range(60)])
    table = rs.table([wide, fit], max_terms=10)
    assert sum(bool(row.name) for row in table.terms) == 10
    assert any("53 more terms are not shown" in note for note in table.notes)
    assert "Intercept" in [row.name for row in table.terms]


def test_text_stays_on_the_page_and_lines_up(fit: Any) -> None:
    text = rs.table({f"model {i}": fit for i in range(9)}, title="Nine").text(80)
    lines = text.splitlines()
    assert lines[0] == "Nine"
    assert max(map(len, lines)) <= 80
    assert text.count("Robust R²") == 2
    narrow = rs.table([fit, fit], stars=True).text().splitlines()
    start = next(i for i, line in enumerate(narrow) if line.startswith("Intercept"))
    # Digits of an estimate and of its standard error end below each other.
    ends = {len(line.rstrip("*) ")) for line in narrow[start : start + 4]}
    assert len(ends) == 1


def test_files_and_notebooks(fit: Any, tmp_path: Path) -> None:
    table = rs.table({"a & b": fit, "<two>": fit}, stars=True, title="5% & more")
    assert table.to_html(tmp_path / "t.html") is None
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert table._repr_html_() == table.to_html()
    assert table.to_html() in page
    assert "&lt;two&gt;" in page
    assert ">***</sup>" in page
    table.to_latex(tmp_path / "t.tex")
    tex = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert tex == table.to_latex()
    assert r"a \& b" in tex
    assert r"\caption{5\% \& more}" in tex
    assert "^{***}$" in tex
    assert tex.count(r"\\") == 1 + len(table.terms) + len(table.facts)


def test_mistakes_are_named(fit: Any, sim: Any) -> None:
    line = LinearRegression().fit(sim.X, sim.y)
    several = LinearRegression().fit(sim.data.drop(columns="y"), np.column_stack([sim.y, sim.y]))
    for bad, why in (
        (lambda: rs.table([]), "no models"),
        (lambda: rs.table([fit], names=["a", "b"]), "1 different names"),
        (lambda: rs.table({"a": fit}, names=["b"]), "names already"),
        (lambda: rs.table([fit, 3]), "no model that can be shown"),
        (lambda: rs.table([line]), r"the pair \(model, names\)"),
        (lambda: rs.table([(line, ["a"])]), "1 names for 12 coefficients"),
        (lambda: rs.table([several]), "2 rows of coefficients"),
        (lambda: rs.table([fit], terms=["x99"]), "which no model has selected"),
        (lambda: rs.table([fit], below="sd"), "is not one of"),
        (lambda: rs.table([fit], level=0.05), r"alpha=0\.05"),
    ):
        with pytest.raises(rs.ParameterError, match=why):
            bad()


def test_a_picture_of_several_models(fit: Any, sim: Any) -> None:
    truth = pd.Series(sim.beta, index=[f"x{j + 1}" for j in range(12)])
    ax = rs.coefplot({"robust": fit, "truth": truth})
    assert [label.get_text() for label in ax.get_yticklabels()] == fit.support()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["robust", "truth"]
    points = [part.get_offsets() for part in ax.collections if len(part.get_offsets()) == 2]
    np.testing.assert_allclose(points[0][:, 0], fit.coef()[fit.support()])
    assert (points[0][:, 1] < points[1][:, 1]).all()


def test_a_picture_takes_alpha_as_its_message_says(fit: Any) -> None:
    with pytest.raises(rs.ParameterError, match=r"alpha=0\.05"):
        rs.coefplot(fit, level=0.05)
    lengths = [
        np.diff(ax.collections[0].get_segments()[0][:, 0])
        for ax in (rs.coefplot(fit, alpha=0.05), rs.coefplot(fit, alpha=0.3))
    ]
    assert lengths[0] > lengths[1] > 0


def test_a_picture_of_one_model_needs_no_legend(fit: Any) -> None:
    ax = rs.coefplot(fit, intercept=True)
    assert ax.get_legend() is None
    assert ax.get_yticklabels()[0].get_text() == "Intercept"


def test_a_picture_with_too_many_terms_says_so(fit: Any) -> None:
    ax = rs.coefplot([pd.Series(1.0, index=[f"z{i}" for i in range(60)])], max_terms=10)
    assert "50 more not shown" in ax.get_xlabel()
