"""From a formula and a data frame to the arrays that a solver needs, and again for new data.

``y ~ .`` on a wide frame is the common case here, so plain numeric columns are copied as one
block; only factors, transforms and interactions go through formulaic. The columns, their names and
their order are those that formulaic itself would give.

Rows with missing or infinite values cannot be used. They are counted and dropped, or refused.
Factors keep a column per level but one (the reference, when there is an intercept); a category
that no row in use has is no level. Levels that training did not see are an error in new data; a row
with a missing input gives a row of NaN.

Security: a formula is code, but code that can only compute. It sees the columns of the data, the
transforms of formulaic, functions of numpy as ``np``, methods of columns such as ``fillna``, and
what you pass in ``context``; never the caller's variables, and no module. What it may use is
listed in :mod:`robustsparse.design.formulas.allowed`; the rest is refused before anything runs.
A stored :class:`DesignSpec` holds the formula's code as text, for which the same limits hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_choice
from robustsparse.base.errors import DataError, FormulaError
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Mask, Places
from robustsparse.design.blocks import NumericBlock
from robustsparse.design.clusters import cluster_column
from robustsparse.design.design import Design
from robustsparse.design.formulas.basis_terms import find_bases
from robustsparse.design.formulas.coding import Coding, Evaluator
from robustsparse.design.formulas.parsing import (
    INTERCEPT,
    ParsedFormula,
    Piece,
    Run,
    Term,
    parse_formula,
    require_text,
    unmarked,
)
from robustsparse.design.frames import Kind, as_frame, column_kinds
from robustsparse.design.gaps import NA_ACTIONS, Gaps, fill_gaps, stand_ins
from robustsparse.design.named_columns import NamedColumns, grouped_columns, kept_columns
from robustsparse.design.predictors import check_predictor
from robustsparse.design.response import Coding as ResponseCoding
from robustsparse.design.response import CodingLike, Response, as_coding
from robustsparse.design.row_audit import Dropped, RowAudit
from robustsparse.design.row_values import row_values, row_weights
from robustsparse.design.spec import DesignSpec, context_of, evaluator_for, read_by

__all__ = ["Design", "DesignSpec", "Dropped", "Response", "build_design"]


def build_design(
    formula: str,
    data: Any,
    *,
    family: CodingLike = "gaussian",
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    keep: str | Sequence[str] | None = None,
    groups: Any = None,
    group_terms: bool = True,
    na_action: Literal["drop", "raise", "impute"] = "drop",
    context: Mapping[str, Any] | None = None,
) -> Design:
    """Evaluate a formula on a data frame.

    Parameters
    ----------
    formula : such as ``"y ~ ."``, ``"log(y) ~ a * b + C(g)"``, ``"y ~ . - id"``. Names with
        spaces or operators go in backticks. ``.`` stands for all columns but those of the response,
        ``weights``, ``offset`` and ``cluster``.
    data : pandas or polars data frame.
    family : ``"gaussian"``, or ``"binomial"`` for a response with two values.
    weights, offset : column name, or array with a value for each row of ``data``; weight 0 leaves a row out.
    cluster : column name, or array with a label for each row: rows with the same one depend on each other.
    keep : terms (``"C(g)"``), variables (``"g"``) or columns (``"C(g)[T.b]"``) to mark as kept.
        A variable stands for the terms that read it alone.
    groups : mapping from names to terms, variables or columns that enter and leave together, or a label for each
        column.
    group_terms : whether the columns of a term enter and leave together.
    na_action : ``"drop"`` counts and drops rows with missing or infinite values,
        ``"raise"`` refuses them, ``"impute"`` keeps rows whose response is there, with stand-ins for the cells.
    context : further names that code in the formula may use.

    Raises
    ------
    FormulaError
        If the formula cannot be read or names something unknown.
    DataError
        If the data cannot be used as they are.

    Examples
    --------
    >>> data = pd.DataFrame({"y": [1.0, 2.0, 4.0], "g": ["a", "b", None], "x": [5, 6, 7]})
    >>> design = build_design("y ~ .", data)
    >>> design.names, design.references, design.dropped.missing
    (('g[T.b]', 'x'), {'g': 'a'}, 1)
    >>> design.X
    array([[0., 5.],
           [1., 6.]])
    """
    coding_of_response = as_coding(family)
    check_choice("na_action", na_action, NA_ACTIONS)
    require_text(formula)
    frame = as_frame(data)
    if not len(frame):
        raise DataError("the data have no rows")
    weight, shift = row_weights(frame, weights), row_values(frame, "offset", offset)
    clusters = cluster_column(frame, cluster)
    index, counts = frame.index, np.ones(len(frame), dtype=bool)
    if weight is not None and not weight.all():
        # A row of weight 0 has no part in anything that is learned from the data.
        counts = weight > 0
        frame, weight = frame[counts], weight[counts]
        shift = None if shift is None else shift[counts]
        clusters = None if clusters is None else clusters.rows(counts)
    kinds = column_kinds(frame)
    names = context_of(context or {}, counts)
    parsed = parse_formula(
        formula,
        {name: kind == "numeric" for name, kind in kinds.items()},
        excluded=[value for value in (weights, offset, cluster) if isinstance(value, str)],
        context=names,
    )
    _check_columns(parsed, frame, kinds)
    layout = _layout(parsed, kinds)
    audit = RowAudit.of(len(frame))
    block = NumericBlock.of(frame, layout.plain)
    if na_action != "impute":
        audit.scan(block)
    if shift is not None:
        audit.note("offset", np.isnan(shift), np.isinf(shift))
    predicting = [piece for term in layout.coded for piece in term]
    pieces = [*predicting, parsed.response]
    holes: dict[Term, Mask] = {}
    if na_action == "impute":
        frame, holes = _with_stand_ins(frame, layout, parsed.response, kinds, names, context or {})
    learned: dict[str, Any] = {}
    evaluator, rows = evaluator_for(frame, pieces, kinds, names, learned, audit, context or {})
    _require_rows(audit, frame.index, na_action)
    values, coding = _code(evaluator, layout.coded, audit, rows)
    _require_rows(audit, frame.index, na_action)
    use = ~audit.bad
    response = _response(frame, parsed.response, evaluator, use[rows], use, coding_of_response)
    columns, places = _columns(parsed, layout, coding)
    found = NamedColumns.of(columns, coding, places, kinds)
    kept = kept_columns(keep, found)
    spec = DesignSpec(
        formula=formula,
        family=coding_of_response.family,
        names=columns,
        intercept=parsed.intercept,
        response_name=response.name,
        classes=response.classes,
        offset_column=offset if isinstance(offset, str) else None,
        _response=parsed.response,
        _coding=replace(coding, transforms=learned),
        _places=places,
        _kinds={name: kinds[name] for name in sorted(read_by(pieces) & kinds.keys())},
        _context=dict(context or {}),
        _granted=dict(context or {}),
    )
    X, gaps = _fill(block, values, places, use), None
    if na_action == "impute":
        X, gaps = _gaps(X, columns, coding, places, holes, use)
    return Design(
        X=X,
        response=response,
        names=columns,
        intercept=parsed.intercept,
        rows=frame.index[use],
        dropped=_dropped(audit, index, counts),
        weights=None if weight is None else weight[use],
        offset=None if shift is None else shift[use],
        keep=kept,
        groups=grouped_columns(groups, group_terms, found, kept),
        coded=found.coded() if group_terms else None,
        bases=find_bases(evaluator, coding, places, columns, use[rows]),
        gaps=gaps,
        clusters=None if clusters is None else clusters.rows(use),
        references=spec.references,
        spec=spec,
    )


def _with_stand_ins(
    frame: pd.DataFrame,
    layout: _Layout,
    response: Piece,
    kinds: Mapping[str, Kind],
    names: Mapping[str, Any],
    granted: Mapping[str, Any],
) -> tuple[pd.DataFrame, dict[Term, Mask]]:
    """Ordinary values where terms that are coded read missing ones, and the rows of each term that rest on them."""
    pieces = [piece for term in layout.coded for piece in term]
    audit = RowAudit.of(len(frame))
    evaluator_for(frame, pieces, kinds, names, {}, audit, granted)
    missing: dict[Piece, Mask] = {}
    for piece in pieces:
        found = audit.found([unmarked(piece.expr), *read_by([piece])])
        if found.any():
            missing[piece] = found
    # The response is never imputed.
    read = sorted((read_by(missing) - read_by([response])) & kinds.keys())
    holes = {
        term: np.any([missing[piece] for piece in term if piece in missing], axis=0)
        for term in layout.coded
        if any(piece in missing for piece in term)
    }
    return (stand_ins(frame, read, kinds) if read else frame), holes


def _gaps(
    X: Array,
    names: Sequence[str],
    coding: Coding,
    places: Sequence[Sequence[int]],
    holes: Mapping[Term, Mask],
    use: Mask,
) -> tuple[Array, Gaps]:
    """The design with stand-ins for what is missing in plain columns, and what that is, coded columns included."""
    for coded, at in zip(coding.terms, places, strict=True):
        if coded.pieces in holes:
            X[np.ix_(np.flatnonzero(holes[coded.pieces][use]), np.asarray(at))] = np.nan
    gaps = fill_gaps(X.T, names)
    return X, gaps


def _check_columns(parsed: ParsedFormula, frame: pd.DataFrame, kinds: Mapping[str, Kind]) -> None:
    """Raise for columns that cannot be predictors, before any work is done."""
    for term in parsed.terms:
        if isinstance(term, Run):
            continue
        if term == (parsed.response,):
            raise FormulaError(f"the response {unmarked(parsed.response.expr)!r} is also a term")
        for piece in term:
            name = unmarked(piece.expr)
            if piece.method == "lookup" and kinds.get(name, "numeric") != "numeric":
                check_predictor(frame[name], kinds[name], by_dot=name not in parsed.named)
    if parsed.terms == (INTERCEPT,) and parsed.dotted:
        raise FormulaError("the formula has no predictors: the data have no columns for `.`")
    if not parsed.terms:
        raise FormulaError(
            "the formula has neither predictors nor an intercept; 'y ~ 1' is the model of the intercept alone"
        )


@dataclass(frozen=True)
class _Layout:
    """Which columns are lifted as a block, and which terms are coded by formulaic."""

    plain: tuple[str, ...]
    coded: tuple[Term, ...]


def _layout(parsed: ParsedFormula, kinds: Mapping[str, Kind]) -> _Layout:
    terms = [term for term in parsed.terms if not isinstance(term, Run)]
    # A main effect decides how formulaic codes its interactions, so it goes along with them.
    tied = {piece for term in terms if len(term) > 1 for piece in term}
    plain: list[str] = []
    coded: list[Term] = []
    for term in parsed.terms:
        if isinstance(term, Run):
            plain.extend(term.columns)
        elif _is_plain(term, kinds) and term[0] not in tied:
            plain.append(unmarked(term[0].expr))
        else:
            coded.append(term)
    return _Layout(tuple(plain), () if coded == [INTERCEPT] else tuple(coded))


def _is_plain(term: Term, kinds: Mapping[str, Kind]) -> bool:
    piece = term[0]
    lookup = len(term) == 1 and piece.method == "lookup"
    return lookup and kinds.get(unmarked(piece.expr)) == "numeric"


def _require_rows(audit: RowAudit, index: pd.Index, na_action: str) -> None:
    bad = audit.bad
    if na_action == "raise" and bad.any():
        raise DataError(
            f"{int(bad.sum())} of {len(bad)} rows have missing or infinite values in "
            f"{audit.describe()}; first rows: {listed(index[bad].tolist())}; "
            "clean them, drop them with na_action='drop', or keep them with na_action='impute'"
        )
    if bad.all():
        raise DataError(
            f"no row is left: all {len(bad)} have missing or infinite values, in {audit.describe()}"
        )


def _dropped(audit: RowAudit, index: pd.Index, counts: Mask) -> Dropped:
    """What was left out: rows that do not count, and of the others those of the audit."""
    missing, infinite = audit.missing, audit.infinite & ~audit.missing
    out = ~counts
    out[counts] = audit.bad
    return Dropped(
        int(missing.sum()), int(infinite.sum()), index[out], audit.columns, int((~counts).sum())
    )


def _code(
    evaluator: Evaluator, terms: Sequence[Term], audit: RowAudit, rows: Places
) -> tuple[Array, Coding]:
    """Code the usable rows, without the intercept; products that overflow are audited too."""
    if not terms:
        return np.empty((int((~audit.bad).sum()), 0)), Coding()
    values, coding = evaluator.code(terms, audit.bad[rows])
    values = values[:, terms[0] == INTERCEPT :]
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return values, coding
    names = [unmarked(n) for t in coding.terms if t.pieces != INTERCEPT for n in t.columns]
    used = np.flatnonzero(~audit.bad)
    for k in np.flatnonzero(wrong.any(axis=0)):
        overflow = np.zeros(len(audit.bad), dtype=bool)
        overflow[used[wrong[:, k]]] = True
        audit.note(names[k], np.zeros_like(overflow), overflow)
    return _code(evaluator, terms, audit, rows) if not audit.bad.all() else (values, coding)


def _response(
    frame: pd.DataFrame,
    piece: Piece,
    evaluator: Evaluator,
    use_evaluated: Mask,
    use: Mask,
    coding: ResponseCoding,
) -> Response:
    name = unmarked(piece.expr)
    if piece.method == "lookup" and name in frame.columns:
        # The column itself, because a categorical one knows the order of its classes.
        return coding.code(frame[name][use], name)
    return coding.code(evaluator.values(piece)[use_evaluated], name)


def _columns(
    parsed: ParsedFormula, layout: _Layout, coding: Coding
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Names of all columns in order, and the places of each coded term's columns."""
    names: list[str] = []
    places: list[tuple[int, ...]] = []
    coded = {term.pieces: term for term in coding.terms}
    for term in parsed.terms:
        if isinstance(term, Run):
            names.extend(term.columns)
        elif term in coded:
            columns = () if term == INTERCEPT else coded[term].columns
            places.append(tuple(range(len(names), len(names) + len(columns))))
            names.extend(map(unmarked, columns))
        elif term != INTERCEPT:
            names.append(unmarked(term[0].expr))
    _require_distinct([*names, "Intercept"] if parsed.intercept else names)
    return tuple(names), tuple(places)


def _require_distinct(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        doubled = sorted({name for name in names if names.count(name) > 1})
        raise FormulaError(
            f"the model would have two columns called {listed(doubled)}; "
            "rename the column in the data or leave it out"
        )


def _fill(block: NumericBlock, values: Array, places: Sequence[Sequence[int]], use: Mask) -> Array:
    """Assemble the design in Fortran order, a chunk at a time so that no second copy is needed."""
    coded_at = [place for term in places for place in term]
    d = len(block.names) + len(coded_at)
    flipped = np.empty((d, int(use.sum())), dtype=np.float64 if coded_at else block.dtype)
    plain_at = np.setdiff1d(np.arange(d), coded_at, assume_unique=True)
    rows = slice(None) if use.all() else np.flatnonzero(use)
    for place, chunk in block.chunks():
        flipped[plain_at[place]] = chunk[rows].T
    flipped[coded_at] = values.T
    return flipped.T
