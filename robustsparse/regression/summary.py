"""What a printed summary says of a fit."""

from typing import TYPE_CHECKING

import pandas as pd

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.text import FEW_LINES, beginning, describe, listed, plain
from robustsparse.regression.cells import cell_counts
from robustsparse.regression.standard_errors import DEPENDENT, freedom_note, words
from robustsparse.regression.tables import tidy_table
from robustsparse.regression.terms import term_of
from robustsparse.report.summary.report import Summary

if TYPE_CHECKING:
    from robustsparse.regression.fit.contamination import BadShare
    from robustsparse.regression.members import Member
    from robustsparse.regression.result import RHTResult

# Rows named in a note before the rest is only counted.
_NAMED = 10
# Terms of a model for prediction that are shown; it may have hundreds, and none of them counts alone.
_SHOWN = 20
# What does account for the selection, if rows are independent.
_SELECT_AGAIN = " conf_int(method='split') and conf_int(method='bootstrap') select again."
# A row with a smaller weight counts for less, and the summary says so of rows that are far out.
_LESS = 0.5
# Relative change of coefficients that is nothing but rounding.
_AT_REST = 1e-8
_CHOSEN_BY = {
    "given": "given",
    "ric": "robust criterion",
    "cv": "robust CV",
    "ebic": "extended BIC",
    "gic": "GIC",
}


# What each flag says, of one row and of several.
_FLAGGED = (
    (
        "both",
        "is far out in the predictors and has a response that the model cannot explain",
        "are far out in the predictors and have a response that the model cannot explain",
    ),
    (
        "response",
        "has a response that the model cannot explain",
        "have a response that the model cannot explain",
    ),
    (
        "leverage",
        "is far out in the predictors, though the model explains its response",
        "are far out in the predictors, though the model explains their response",
    ),
)


# What was done about cells, of one and of several.
_MENDED = (
    ("missing", ("was missing", "were missing"), ("is imputed", "are imputed")),
    (
        "wrong",
        ("lies apart from its column", "lie apart from their column"),
        ("is replaced", "are replaced"),
    ),
)


def summarize(result: "RHTResult", model: "Member", level: float) -> Summary:
    """Summary of a model of a fit: how it was made, the nonzero terms with intervals, and notes in plain words."""
    return Summary(
        "Robust Hard Thresholding",
        _head(result, model),
        _table(model, level).head(_shown(result, model)),
        _notes(result, model),
    )


def _head(result: "RHTResult", model: "Member") -> tuple[tuple[str, str], ...]:
    chosen = _CHOSEN_BY[result.select] if model.k == result.k else f"{result.k} was chosen"
    candidates = len(result.params) - result.intercept
    call = f"array of {candidates} columns" if result.formula is None else result.formula
    head = [
        ("Model", beginning(call, FEW_LINES)),
        ("Family", result.family),
        ("Loss", describe(result.loss)),
        ("Gradient", _gradient(result, candidates)),
        ("Rows", str(result.nobs)),
        ("Rows dropped", _dropped(result)),
        ("Candidates", _candidates(result, candidates)),
        ("Selected (k)", f"{_selected(result, model)}, {chosen}"),
        ("Estimates", _estimates(result)),
    ]
    errors = words(result.made.errors, result.made.cluster)
    if errors and model.cov is not None:
        head.append(("Std. errors", errors))
    if len(result.cells()):
        head.append(("Cells mended", _cells(result)))
    if model.k == result.k:
        settled = _ended(result)
        head += [("Iterations", f"{result.n_iter}, {settled}"), ("Last step", _last_step(result))]
    return (*head, *model.told, ("Flagged rows", str(len(model.flags))))


def _cells(result: "RHTResult") -> str:
    """How many cells were filled, and why."""
    counts = result.cells()["reason"].value_counts()
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.items())


def _cell_notes(result: "RHTResult") -> list[str]:
    """In which columns cells were filled."""
    counts = cell_counts(result.cells())
    notes = []
    for kind, what, were in _MENDED:
        some = [(column, count) for reason, column, count in counts if reason == kind]
        if some:
            total = sum(count for _, count in some)
            places = [f"{column} ({count:,})" for column, count in some]
            cells = f"{total:,} {'cell' if total == 1 else 'cells'}"
            notes.append(
                f"{cells} {what[total > 1]} and {were[total > 1]} from the nearest columns, in "
                f"{listed(places, quote=False, most=_NAMED)}; cells() has old and new values, and a row counts for "
                "less the more the model rests on them."
            )
    return notes


def _last_step(result: "RHTResult") -> str:
    """Length of the last step that went anywhere: at rest it is a quotient of rounding errors."""
    history = result.history
    moved = history["step"][history["change"] > _AT_REST]
    return f"{moved.iloc[-1] if len(moved) else result.step:.3g}"


def _ended(result: "RHTResult") -> str:
    if not result.converged:
        return "NOT SETTLED"
    return "taken back" if result.made.taken_back is not None else "settled"


def _candidates(result: "RHTResult", columns: int) -> str:
    """Number of terms, and of columns if these are more."""
    terms = columns - sum(len(members) - 1 for members in result.groups.values())
    return _with_columns(terms, columns)


def _selected(result: "RHTResult", model: "Member") -> str:
    """The same of those that were selected."""
    terms = _terms(result, model)
    columns = sum(len(members) for members in terms.values())
    return _with_columns(model.k, columns if columns > len(terms) else model.k)


def _terms(result: "RHTResult", model: "Member") -> dict[str, list[str]]:
    """Selected columns of a model by term."""
    selected = model.params.index[len(result.kept) + result.intercept :]
    terms: dict[str, list[str]] = {}
    for column, term in term_of(selected, result.groups).items():
        terms.setdefault(term, []).append(column)
    return terms


def _with_columns(terms: int, columns: int) -> str:
    return str(terms) if columns == terms else f"{terms} ({columns} columns)"


def _estimates(result: "RHTResult") -> str:
    if result.goal == "predict":
        return "shrunken for prediction"
    return "robust refit" if result.refitted else "as thresholded"


def _gradient(result: "RHTResult", candidates: int) -> str:
    """What the gradient estimator is; of one that was not stored there is only the text."""
    estimator = result.estimator
    if isinstance(estimator, Estimator):
        return estimator.words(result.nobs, candidates)
    return describe(estimator)


def _dropped(result: "RHTResult") -> str:
    dropped = result.dropped
    parts = []
    if dropped.missing or dropped.infinite:
        parts = [f"{dropped.missing} missing", f"{dropped.infinite} infinite"]
    if dropped.weightless:
        parts.append(f"{dropped.weightless} of weight 0")
    return ", ".join(parts) or "0"


def _shown(result: "RHTResult", model: "Member") -> int:
    """How many lines of the table are shown."""
    whole = len(model.params)
    return min(whole, _SHOWN + whole - model.k) if result.goal == "predict" else whole


def _table(model: "Member", level: float) -> pd.DataFrame:
    tidy = tidy_table(model, level).set_index("term")
    tidy.index.name = None
    names = {
        "estimate": "Estimate",
        "std_error": "Std. Error",
        "low": f"{100 * level:g}% CI low",
        "high": f"{100 * level:g}% CI high",
        "statistic": "z" if model.df_resid is None else "t",
        "p_value": "p",
    }
    return tidy[[name for name in names if name in tidy]].rename(columns=names)


def _notes(result: "RHTResult", model: "Member") -> tuple[str, ...]:
    notes = []
    if model.cov is not None and len(model.cov):
        notes.append(
            "Standard errors, intervals and p-values are conditional on the selected terms and on the rejected rows; "
            "that the same data selected them is not accounted for."
            + (_SELECT_AGAIN if result.made.errors not in DEPENDENT else "")
        )
        if model.df_resid is not None:
            notes.append(freedom_note(result.made.errors, model.df_resid))
    if result.made.undecided:
        notes.append(
            "So few labels cannot tell which of so many columns matter, whatever they say: the fit predicts instead; "
            "cross_validate() tells how well. goal='select' selects all the same."
        )
    if result.goal == "predict":
        notes.append(
            "Coefficients are shrunken for prediction: an elastic net or a ridge on the rows that are trusted, chosen "
            "with its penalty by robust cross-validation. There are no standard errors; goal='select' gives fewer "
            "terms, with them."
        )
        hidden = len(model.params) - _shown(result, model)
        if hidden:
            notes.append(f"The {hidden} smallest terms are not shown; coef() has them all.")
    if result.bad_share is not None:
        notes.append(_bad_share(result, result.bad_share))
    if result.kept:
        notes.append(
            f"Kept whatever their size: {listed(list(result.kept), quote=False, most=_NAMED)}."
        )
    notes += _flag_notes(model.flags)
    single = [name for name in result.constant if name not in result.params.index]
    levels = {name: level for name, level in result.references.items() if name not in single}
    if levels:
        told = [f"{factor}: {level}" for factor, level in levels.items()]
        notes.append(f"Reference levels: {listed(told, quote=False, most=_NAMED)}.")
    notes += _constant_notes(result, single)
    terms = _terms(result, model)
    idle = model.k - len(terms)
    if idle > 0:
        notes.append(
            f"Selected, but zero since they add nothing to the other terms: {idle} of {model.k}."
        )
    repeated = _repeated(result, terms)
    if repeated:
        notes.append(
            "Zero since they add nothing to the other columns of their term: "
            f"{listed(repeated, quote=False, most=_NAMED)}."
        )
    if result.copies and model.k == result.k:
        notes.append(_copies(result.copies))
    notes += _cell_notes(result)
    if result.dropped.columns:
        counts = [f"{name} ({count})" for name, count in result.dropped.columns.items()]
        notes.append(
            f"Rows were dropped for missing or infinite values in {listed(counts, quote=False, most=_NAMED)}."
        )
    notes += model.notes
    if result.made.taken_back is not None and model.k == result.k:
        notes.append(_taken_back(*result.made.taken_back))
    if not result.converged and model.k == result.k:
        notes.append("The iterations did not settle: raise max_iter, or epsilon if rows are bad.")
    return tuple(notes)


def _constant_notes(result: "RHTResult", single: list[str]) -> list[str]:
    """Columns that are constant, and factors of which all rows in use have the same level."""
    columns = [name for name in result.constant if name not in single]
    notes = []
    if columns:
        notes.append(
            f"Constant columns cannot be selected: {listed(columns, quote=False, most=_NAMED)}. Remove them, or check "
            "the data."
        )
    if single:
        levels = [f"{name} ({plain(result.references.get(name, ''))})" for name in single]
        notes.append(
            "Factors with one level in the rows in use explain nothing: "
            f"{listed(levels, quote=False, most=_NAMED)}. Remove them, or check the data."
        )
    return notes


def _taken_back(start: float, end: float) -> str:
    """That trimming let the coefficients grow, and where they were stopped."""
    return (
        f"The iterations ran to standardized coefficients of norm {start:.3g}, past the lowest robust "
        "deviance of their path: trimming drops the rows that would hold them. The estimate is the one of the lowest "
        f"deviance, of norm {end:.3g}. A number as step runs the algorithm as printed, to its end."
    )


def _repeated(result: "RHTResult", terms: dict[str, list[str]]) -> list[str]:
    """Columns of selected terms that are zero, but for constant ones."""
    inside = [(name, term) for term in terms for name in result.groups.get(term, ())]
    shown = set(result.constant)
    return [name for name, term in inside if name not in terms[term] and name not in shown]


def _copies(copies: dict[str, tuple[str, ...]]) -> str:
    """Which terms could be others."""
    could = [f"{term} could be {' or '.join(others[:_NAMED])}" for term, others in copies.items()]
    return f"Near-copies, between which the data hardly decide: {listed(could, quote=False, most=_NAMED)}."


def _bad_share(result: "RHTResult", share: "BadShare") -> str:
    estimator = result.estimator
    rows = estimator.spoilers() if isinstance(estimator, Estimator) else "bad rows"
    text = share.describe(rows)
    return f"{text[0].upper()}{text[1:]}; the fit is made to survive {100 * (result.epsilon or 0):.1f}%."


def _flag_notes(flags: pd.DataFrame) -> list[str]:
    """What was found of the flagged rows, each kind with the rows to check."""
    found = []
    for kind, one, many in _FLAGGED:
        rows = flags[flags["flag"] == kind]
        if len(rows):
            says = f"1 row {one}" if len(rows) == 1 else f"{len(rows)} rows {many}"
            if kind == "leverage":
                says += _say(rows["weight"])
            found.append(f"{says}; check {_which(rows)}.")
    return found


def _which(rows: pd.DataFrame) -> str:
    """Rows by their labels; by their places too where labels repeat, which tell nobody which rows are meant."""
    if "place" not in rows:
        return listed(list(rows.index), quote=False, most=_NAMED)
    named = [
        f"row {place} ({plain(label)})"
        for label, place in zip(rows.index, rows["place"], strict=True)
    ]
    return f"{listed(named, quote=False, most=_NAMED)}, counted from 0 since labels repeat"


def _say(weight: "pd.Series[float]") -> str:
    """How many rows that the model explains have no say in it, or little."""
    out, less = int((weight == 0).sum()), int(((weight > 0) & (weight < _LESS)).sum())
    parts = [f"{out} left out"] * (out > 0) + [f"{less} counted for less than half"] * (less > 0)
    return f" ({listed(parts, quote=False)})" if parts else ""
