"""What a printed summary says of a fit."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.text import describe, listed
from robustsparse.report.summary.report import Summary

if TYPE_CHECKING:
    from robustsparse.regression.fit.contamination import BadShare
    from robustsparse.regression.result import RHTResult

# Rows named in a note before the rest is only counted.
_NAMED = 10
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


def summarize(result: "RHTResult") -> Summary:
    """Summary of a fit: how it was made, the nonzero terms, and notes in plain words."""
    return Summary("Robust Hard Thresholding", _head(result), _table(result), _notes(result))


def _head(result: "RHTResult") -> tuple[tuple[str, str], ...]:
    candidates = len(result.params) - result.intercept
    call = result.formula if result.formula is not None else f"array of {candidates} columns"
    flagged = result.outliers()
    head = [
        ("Model", call),
        ("Family", result.family),
        ("Loss", describe(result.loss)),
        ("Gradient", _gradient(result, candidates)),
        ("Rows", str(result.nobs)),
        ("Rows dropped", _dropped(result)),
        ("Candidates", str(candidates)),
        ("Selected (k)", f"{result.k}, {_CHOSEN_BY[result.select]}"),
        ("Estimates", _estimates(result)),
        ("Iterations", f"{result.n_iter}, {'settled' if result.converged else 'NOT SETTLED'}"),
        ("Last step", f"{result.step:.3g}"),
    ]
    head += result.made.kind.tells(result)
    head.append(("Flagged rows", str(len(flagged))))
    return tuple(head)


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


def _table(result: "RHTResult") -> pd.DataFrame:
    tidy = result.tidy().set_index("term")
    tidy.index.name = None
    names = {
        "estimate": "Estimate",
        "std_error": "Std. Error",
        "low": "95% CI low",
        "high": "95% CI high",
        "statistic": "z",
        "p_value": "p",
    }
    return tidy[[name for name in names if name in tidy]].rename(columns=names)


def _notes(result: "RHTResult") -> tuple[str, ...]:
    notes = []
    if result.cov is not None and len(result.cov):
        notes.append(
            "Standard errors, intervals and p-values are conditional on the selected terms and on the rejected rows; "
            "that the same data selected them is not accounted for. conf_int(method='split') and "
            "conf_int(method='bootstrap') select again."
        )
    if result.goal == "predict":
        notes.append(
            "Coefficients are shrunken for prediction: an elastic net on the rows that are trusted, its penalty chosen "
            "by robust cross-validation. There are no standard errors; goal='select' gives fewer terms, with them."
        )
    if result.bad_share is not None:
        notes.append(_bad_share(result, result.bad_share))
    if result.kept:
        notes.append(
            f"Kept whatever their size: {listed(list(result.kept), quote=False, most=_NAMED)}."
        )
    notes += _flag_notes(result.diagnostics["flag"])
    if result.references:
        levels = [f"{factor}: {level}" for factor, level in result.references.items()]
        notes.append(f"Reference levels: {listed(levels, quote=False, most=_NAMED)}.")
    if result.constant:
        notes.append(
            f"Constant columns cannot be selected: {listed(list(result.constant), quote=False, most=_NAMED)}."
        )
    if len(result.support()) < result.k:
        idle = result.k - len(result.support())
        notes.append(
            f"Selected, but zero since they add nothing to the other terms: {idle} of {result.k}."
        )
    if result.copies:
        notes.append(_copies(result.copies))
    if result.dropped.columns:
        counts = [f"{name} ({count})" for name, count in result.dropped.columns.items()]
        notes.append(
            f"Rows were dropped for missing or infinite values in {listed(counts, quote=False, most=_NAMED)}."
        )
    notes += result.made.kind.notes(result)
    if not result.converged:
        notes.append("The iterations did not settle: raise max_iter, or epsilon if rows are bad.")
    return tuple(notes)


def _copies(copies: dict[str, tuple[str, ...]]) -> str:
    """Which terms could be others."""
    could = [f"{term} could be {' or '.join(others[:_NAMED])}" for term, others in copies.items()]
    return f"Near-copies, between which the data hardly decide: {listed(could, quote=False, most=_NAMED)}."


def _bad_share(result: "RHTResult", share: "BadShare") -> str:
    estimator = result.estimator
    rows = estimator.spoilers() if isinstance(estimator, Estimator) else "bad rows"
    text = share.describe(rows)
    return f"{text[0].upper()}{text[1:]}; the fit is made to survive {100 * (result.epsilon or 0):.1f}%."


def _flag_notes(flag: "pd.Series[Any]") -> list[str]:
    """What was found of the flagged rows, each kind with the rows to check."""
    found = []
    for kind, one, many in _FLAGGED:
        rows = list(flag.index[flag == kind])
        if rows:
            says = f"1 row {one}" if len(rows) == 1 else f"{len(rows)} rows {many}"
            found.append(f"{says}; check {listed(rows, quote=False, most=_NAMED)}.")
    return found
