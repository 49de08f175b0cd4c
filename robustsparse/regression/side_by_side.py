"""`table` and `coefplot`: several models side by side."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_choice, check_count
from robustsparse.design.frames import INTERCEPT
from robustsparse.regression.model_columns import ModelColumn, common_terms, model_columns
from robustsparse.regression.wald import check_level
from robustsparse.report.plots import plot_models
from robustsparse.report.summary.numbers import decimals_of, format_table, format_to
from robustsparse.report.summary.side_by_side import Cell, ModelTable, Row

# Smaller p-values have more stars, as in R.
_STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
_FACTS = ("Method", "Std. errors", "Rows", "Flagged rows", "Terms", "Robust scale", "Robust R²")
_MOST = 40
_ROUND = ("(", ")")


def table(
    models: Any,
    *,
    names: Sequence[str] | None = None,
    terms: str | Sequence[str] | None = None,
    stars: bool = False,
    below: Literal["se", "ci", "p"] | None = "se",
    level: float = 0.95,
    alpha: float | None = None,
    max_terms: int = _MOST,
    title: str = "",
) -> ModelTable:
    """Models side by side: terms as rows, estimates with their standard errors below.

    Parameters
    ----------
    models : list or another iterable, or dict from names to models
        Results of `rht` and `rht_fit`, of the baselines and of statsmodels, fitted linear models of scikit-learn (of
        arrays: pairs of a model and the names of its columns), or plain Series of coefficients.
    names : sequence of str, optional
        Names of the models; (1), (2) and so on by default.
    terms : str or sequence of str, optional
        Which terms, in this order; by default all that one of the models has selected.
    stars : bool
        Whether to mark estimates by their p-values.
    below : {"se", "ci", "p"} or None
        What stands below an estimate in brackets: standard error, confidence interval, p-value, nothing.
    level, alpha : float
        Level of the intervals, 0.5 at least; or one less the level.
    max_terms : int
        Largest number of terms; those beyond, which fewer models have selected or which come later, are counted in a
        note.
    title : str
        Above the table.

    Returns
    -------
    ModelTable
        Prints as text and shows itself in notebooks; `to_html(path)`, `to_latex(path)`.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, attack="leverage", rng=3)
    >>> fit = rs.rht("y ~ .", sim.data)
    >>> lasso = rs.baselines.lasso("y ~ .", sim.data)
    >>> print(rs.table({"robust": fit, "one term": fit.update(k=1), "lasso": lasso}, terms=fit.support()))
    =========================================
                    robust  one term    lasso
    -----------------------------------------
    x4            -1.0215   -0.7145    0.9421
                  (0.0445)  (0.0992)
    x5             1.0399             -0.9063
                  (0.0454)
    -----------------------------------------
    Method            rht       rht     lasso
    Rows              167       167       167
    Flagged rows       17        17
    Terms               2         1         2
    Robust scale   0.5099     1.043
    Robust R²       0.848     0.306
    -----------------------------------------
    - In brackets: standard errors.
    =========================================
    """
    check_choice("below", below, ("se", "ci", "p", None))
    level = check_level(level, alpha)
    columns = model_columns(models, names, level)
    shown, rest = _shown(
        common_terms(columns, terms), columns, check_count("max_terms", max_terms, 1)
    )
    written = [_written(column, shown) for column in columns]
    # Models without standard errors, which tell how many digits count, have as many as the others.
    known = [part["Estimate"] for part in written if "Std. Error" in part]
    digits = max(map(decimals_of, known)) if known else None
    cells = [
        _cells(column, shown, part, digits, below, stars)
        for column, part in zip(columns, written, strict=True)
    ]
    rows = []
    for i, term in enumerate(shown):
        rows.append(Row(term, tuple(column[i][0] for column in cells)))
        if any(column[i][1].text for column in cells):
            rows.append(Row("", tuple(column[i][1] for column in cells)))
    heading = tuple(column.name for column in columns)
    return ModelTable(
        heading, tuple(rows), _facts(columns), _notes(rest, stars, below, level), title
    )


def _shown(terms: list[str], columns: Sequence[ModelColumn], most: int) -> tuple[list[str], int]:
    """The terms that there is room for, those of most models first, in their order; and the number of the others."""
    often = [sum(term in column.terms.index for column in columns) for term in terms]
    best = sorted(range(len(terms)), key=lambda i: (terms[i] != INTERCEPT, -often[i], i))[:most]
    return [terms[i] for i in sorted(best)], max(len(terms) - most, 0)


def _written(column: ModelColumn, terms: Sequence[str]) -> dict[str, list[str]]:
    """Numbers of a model as they are printed, term by term."""
    known = column.terms.reindex(list(terms))
    names = {"estimate": "Estimate", "std_error": "Std. Error", "low": "CI low", "high": "CI high"}
    numbers = known[[name for name in names if name in known]].rename(columns=names)
    return {part.name: [cell.strip() for cell in part.cells] for part in format_table(numbers)}


def _cells(
    column: ModelColumn,
    terms: Sequence[str],
    written: dict[str, list[str]],
    digits: int | None,
    below: str | None,
    stars: bool,
) -> list[tuple[Cell, Cell]]:
    """For each term the estimate and what stands below it."""
    known = column.terms.reindex(list(terms))
    nothing = pd.Series(np.nan, known.index)
    estimate, p = (
        np.asarray(known.get(name, nothing), dtype=np.float64) for name in ("estimate", "p_value")
    )
    first = written["Estimate"] if "Std. Error" in written else format_to(estimate, digits)
    under = _below(written, p, below)
    found = []
    for i in range(len(known)):
        mark = next((text for limit, text in _STARS if p[i] < limit), "") if stars else ""
        there = not np.isnan(estimate[i])
        found.append((Cell(first[i], mark), under[i]) if there else (Cell(), Cell()))
    return found


def _below(formatted: dict[str, list[str]], p: Any, below: str | None) -> list[Cell]:
    if below == "p":
        return [Cell() if np.isnan(value) else Cell(f"{value:.3f}", "", _ROUND) for value in p]
    if below == "se" and "Std. Error" in formatted:
        return [Cell(text, "", _ROUND) for text in formatted["Std. Error"]]
    if below == "ci" and "CI low" in formatted:
        ends = zip(formatted["CI low"], formatted["CI high"], strict=True)
        return [Cell(f"{low}, {high}", "", ("[", "]")) for low, high in ends]
    return [Cell()] * len(p)


def _facts(columns: Sequence[ModelColumn]) -> tuple[Row, ...]:
    known = dict.fromkeys([*_FACTS, *(name for column in columns for name in column.facts)])
    rows = [(name, tuple(Cell(column.facts.get(name, "")) for column in columns)) for name in known]
    return tuple(Row(name, cells) for name, cells in rows if any(cell.text for cell in cells))


def _notes(rest: int, stars: bool, below: str | None, level: float) -> tuple[str, ...]:
    notes = []
    if below == "ci":
        notes.append(f"In brackets: {100 * level:g}% confidence intervals.")
    elif below is not None:
        notes.append(f"In brackets: {'standard errors' if below == 'se' else 'p-values'}.")
    if stars:
        notes.append("*** p < 0.001, ** p < 0.01, * p < 0.05, as if the terms had been given.")
    if rest:
        notes.append(f"{rest} more terms are not shown; max_terms= shows them.")
    return tuple(notes)


def coefplot(
    models: Any,
    *,
    names: Sequence[str] | None = None,
    terms: str | Sequence[str] | None = None,
    intercept: bool = False,
    level: float = 0.95,
    alpha: float | None = None,
    max_terms: int = _MOST,
    ax: Any = None,
) -> Any:
    """Draw the coefficients of several models with their intervals, term by term; returns the Axes.

    Parameters
    ----------
    models, names, terms, max_terms
        As in `table`.
    intercept : bool
        Whether the intercept is drawn too.
    level, alpha : float
        Level of the intervals, of models that have them, 0.5 at least; or one less the level.
    ax : Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, attack="leverage", rng=3)
    >>> fit = rs.rht("y ~ .", sim.data)
    >>> lasso = rs.baselines.lasso("y ~ .", sim.data)
    >>> ax = rs.coefplot({"robust": fit, "lasso": lasso}, terms=fit.support())
    >>> [label.get_text() for label in ax.get_yticklabels()] == fit.support()
    True
    """
    level = check_level(level, alpha)
    columns = model_columns(models, names, level)
    wanted = common_terms(columns, terms)
    if not intercept and terms is None:
        wanted = [term for term in wanted if term != INTERCEPT]
    shown, rest = _shown(wanted, columns, check_count("max_terms", max_terms, 1))
    return plot_models({column.name: column.terms.reindex(shown) for column in columns}, ax, rest)
