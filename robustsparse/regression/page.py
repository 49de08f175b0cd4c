"""A fit as one page of HTML: summary, plots, and the rows to look at; and as plain values."""

import math
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.text import beginning, plain
from robustsparse.regression.result import RHTResult
from robustsparse.regression.stability import Stability
from robustsparse.report.page import Section, page, picture, rows_table

# Rows of a table, and columns of the data in it, before the rest is only counted.
_ROWS, _COLUMNS = 200, 8
_FLAGGED = ("flag", "weight", "fitted", "resid", "std_resid", "distance")


def fit_page(fit: RHTResult, data: pd.DataFrame | None = None, about: str = "") -> str:
    """A fit as a page.

    Parameters
    ----------
    fit : RHTResult
        The fit.
    data : DataFrame, optional
        Its data, of which flagged rows show the response and the selected columns.
    about : str
        How it was made, in a line.
    """
    sections = [
        Section("Summary", fit.summary()._repr_html_()),
        *_pictures(fit),
        Section("Flagged rows", _flagged(fit, data)),
    ]
    if "wrong" in fit.diagnostics and len(wrong := fit.labels()):
        sections.append(Section("Labels that the model bets against", _table(wrong)))
    if len(cells := fit.cells()):
        sections.append(Section("Cells that were filled", _table(cells)))
    return page(f"Robust regression: {beginning(fit.formula or 'arrays')}", about, sections)


def stability_page(stable: Stability, about: str = "") -> str:
    """A stability selection as a page."""
    sections = [Section("Summary", stable.summary()._repr_html_())]
    if len(stable.frequencies):
        drawn = picture(stable.plot(), "How often each term was selected")
        sections.append(Section("Frequencies", drawn))
    return page(f"Stability selection: {beginning(stable.formula)}", about, sections)


def _pictures(fit: RHTResult) -> list[Section]:
    drawn = [
        ("Rows", picture(fit.plot_diagnostics(), "Residuals, quantiles, outlier map and weights"))
    ]
    # A model for prediction has no standard errors to draw.
    if fit.support() and fit.cov is not None:
        drawn.append(("Coefficients", picture(fit.plot_coefficients(), "Coefficients of terms")))
    if fit.support():
        drawn.append(("Path", picture(fit.plot_path(), "Coefficients against the number of terms")))
    if fit.cv is not None and len(fit.cv) > 1:
        drawn.append(("Choice of k", picture(fit.plot_cv(), "What k was chosen by")))
    return [Section(*one) for one in drawn]


def _flagged(fit: RHTResult, data: pd.DataFrame | None) -> str:
    """The flagged rows, the most suspicious first, with what they hold."""
    rows = fit.diagnostics["flag"] != ""
    if not rows.any():
        return "<p>None.</p>"
    table = fit.diagnostics.loc[rows, list(_FLAGGED)]
    if data is not None and fit.diagnostics.index.is_unique:
        held = [name for name in _columns(fit) if name in data.columns]
        names = {name: f"{name} (data)" for name in _FLAGGED}
        table = table.join(data.loc[table.index, held[:_COLUMNS]].rename(columns=names))
    order = np.argsort(-table["std_resid"].abs().to_numpy(), kind="stable")
    return _table(table.iloc[order])


def _columns(fit: RHTResult) -> list[str]:
    """The response and the selected columns, by names that the data may have."""
    response = [] if fit.spec is None else [fit.spec.response_name]
    return [*response, *fit.kept, *fit.terms()]


def _table(frame: pd.DataFrame) -> str:
    more = len(frame) - _ROWS
    rest = f"<p>{more} more are not shown.</p>" if more > 0 else ""
    return rows_table(frame.head(_ROWS)) + rest


def as_values(fit: RHTResult) -> dict[str, Any]:
    """A fit as plain values for JSON: how it was made, its terms, its notes and its flagged rows.

    Examples
    --------
    >>> import robustsparse as rs
    >>> values = as_values(rs.rht("y ~ .", rs.simulate.linear(n=80, d=5, k=2, rng=1).data))
    >>> sorted(values)
    ['coefficients', 'family', 'flagged', 'formula', 'k', 'nobs', 'notes', 'summary']
    """
    summary = fit.summary()
    flagged = fit.diagnostics.loc[fit.diagnostics["flag"] != "", list(_FLAGGED)]
    return {
        "formula": fit.formula,
        "family": fit.family,
        "nobs": fit.nobs,
        "k": fit.k,
        "summary": dict(summary.head),
        "coefficients": _records(fit.tidy()),
        "flagged": _records(flagged.rename_axis("row").reset_index()),
        "notes": list(summary.notes),
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dictionaries of plain values; JSON has no word for what is missing or infinite."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in frame.to_dict(orient="records")
    ]


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int | str | bool | None) else plain(value)
