"""What a design remembers: enough to code new data as in training, and none of the data.

A row of new data with a missing or infinite input gives a row of NaN, so that predictions keep the
length and the index of the data. A level that training did not see raises.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustsparse.base.archive import from_json, to_json
from robustsparse.base.errors import DataError
from robustsparse.base.text import beginning
from robustsparse.base.types import Array, Mask, Places
from robustsparse.design.blocks import NumericBlock, numeric_column
from robustsparse.design.formulas.coding import Coding, Evaluator
from robustsparse.design.formulas.parsing import Piece, stored_piece, unmarked, variables
from robustsparse.design.frames import Kind, as_frame, prepared, require_columns
from robustsparse.design.response import Classes, recode_response
from robustsparse.design.row_audit import RowAudit, infinite

FORMAT = 1


@dataclass(frozen=True, eq=False)
class DesignSpec:
    """All that is needed to code new data as in training, and none of the training data.

    Attributes
    ----------
    formula : as it was written.
    family : ``"gaussian"`` or ``"binomial"``.
    names : the d columns of the design, without the intercept.
    intercept : whether the model has one.
    response_name : the left-hand side.
    classes : the labels coded 0 and 1, or None.
    offset_column : where the offset of new data is found, or None.

    Examples
    --------
    >>> from robustsparse.design.build import build_design
    >>> data = pd.DataFrame({"y": [1.0, 2.0, 4.0], "g": ["a", "b", "b"], "x": [5.0, 6.0, 7.0]})
    >>> spec = DesignSpec.from_dict(build_design("y ~ g + center(x)", data).spec.to_dict())
    >>> matrix, index = spec.matrix({"g": ["b", None], "x": [8.0, 9.0]})
    >>> matrix
    array([[ 1.,  2.],
           [nan, nan]])
    """

    formula: str
    family: str
    names: tuple[str, ...]
    intercept: bool
    response_name: str
    classes: Classes | None
    offset_column: str | None
    _response: Piece = field(repr=False)
    _coding: Coding = field(repr=False)
    # For each coded term the places of its columns in the design.
    _places: tuple[tuple[int, ...], ...] = field(repr=False)
    _kinds: dict[str, Kind] = field(repr=False)
    _context: dict[str, Any] = field(repr=False)
    # The part of the context that the user gave; None if code may do what it likes.
    _granted: dict[str, Any] | None = field(repr=False)

    def __repr__(self) -> str:
        return f"DesignSpec({beginning(self.formula)!r}, {len(self.names)} columns)"

    @property
    def references(self) -> dict[str, object]:
        """The level of each factor that has no column of its own."""
        return dict(self._coding.references)

    @property
    def single_levels(self) -> dict[str, object]:
        """The level of each factor that has the same one in all rows of training, and thus no column."""
        return self._coding.single_levels

    def matrix(self, newdata: Any, columns: Any = None) -> tuple[Array, pd.Index]:
        """Design matrix of new data.

        Parameters
        ----------
        newdata : data frame with the columns that the terms read.
        columns : places of the columns to make, or a mask; all by default. Only what these need has
            to be in ``newdata``, so that a sparse model asks for the inputs of its support alone.

        Returns
        -------
        matrix : (n_new, d) float64 in Fortran order; NaN in rows with a missing or infinite input.
        index : the labels of all rows of ``newdata``, in its order.
        """
        frame = as_frame(newdata)
        everything = np.arange(len(self.names))
        wanted = everything if columns is None else everything[columns]
        flipped = np.full((len(wanted), len(frame)), np.nan)
        self._lift(frame, wanted, flipped)
        self._recode(frame, wanted, flipped)
        flipped[:, ~np.isfinite(flipped).all(axis=0)] = np.nan
        return flipped.T, frame.index

    def cells(self, newdata: Any, columns: Places, needed: Places) -> tuple[Array, pd.Index]:
        """Some columns of the design of new data, in which a missing input makes its own cells missing alone.

        Parameters
        ----------
        newdata : data frame with the columns that the needed terms read; other inputs may be missing as a whole.
        columns : places of the columns to make.
        needed : places of those that must be there.
        """
        frame = as_frame(newdata)
        require_columns(frame, sorted(self._inputs(needed)))
        lent = sorted(self._inputs(columns) - set(frame.columns))
        if lent:
            frame = frame.assign(**dict.fromkeys(lent, np.nan))
        flipped = np.full((len(columns), len(frame)), np.nan)
        self._lift(frame, columns, flipped)
        for places in self._places:
            self._recode(frame, np.where(np.isin(columns, places), columns, -1), flipped)
        flipped[~np.isfinite(flipped)] = np.nan
        return flipped.T, frame.index

    def inputs(self) -> set[str]:
        """Columns of the data that the response and the design are made of."""
        read = read_by([self._response]) & self._kinds.keys()
        return read | self._inputs(np.arange(len(self.names)))

    def _inputs(self, columns: Places) -> set[str]:
        """Columns of the data that some columns of the design are made of."""
        coded = {place for places in self._places for place in places}
        read = {self.names[j] for j in columns if j not in coded}
        for term, places in zip(self._coding.terms, self._places, strict=True):
            if not set(places).isdisjoint(columns.tolist()):
                read |= read_by(term.pieces) & self._kinds.keys()
        return read

    def response(self, newdata: Any) -> Array:
        """Response of new data, coded as in training; NaN where it is missing."""
        frame = as_frame(newdata)
        audit = RowAudit.of(len(frame))
        evaluator, rows = self._evaluator(frame, [self._response], audit)
        out = np.full(len(frame), np.nan)
        out[rows] = recode_response(
            evaluator.values(self._response), self.response_name, self.classes, self.family
        )
        return out

    def offset(self, newdata: Any) -> Array | None:
        """Offset of new data, or None if the model took none from a column."""
        if self.offset_column is None:
            return None
        frame = as_frame(newdata)
        require_columns(frame, [self.offset_column])
        return numeric_column(frame, self.offset_column)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON from which :meth:`from_dict` restores the very same predictions.

        Functions passed in ``context`` are not stored; give them to :meth:`from_dict` again.
        """
        return {
            "format": FORMAT,
            "formula": self.formula,
            "family": self.family,
            "names": list(self.names),
            "intercept": self.intercept,
            "response_name": self.response_name,
            "classes": to_json(self.classes),
            "offset_column": self.offset_column,
            "response": list(self._response),
            "coding": self._coding.to_dict(),
            "places": [list(place) for place in self._places],
            "kinds": dict(self._kinds),
            "context": to_json(_storable(self._context)),
        }

    @classmethod
    def from_dict(
        cls,
        stored: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        *,
        trusted: bool = False,
    ) -> DesignSpec:
        """Undo :meth:`to_dict`; no code is run.

        The stored terms are code that runs when new data are coded, within the limits of
        :mod:`robustsparse.design.formulas.allowed` unless they are ``trusted``.
        """
        if stored.get("format") != FORMAT:
            raise DataError(
                f"the stored design has format {stored.get('format')!r}, this version reads "
                f"{FORMAT}; fit the model again"
            )
        copied = ("formula", "family", "intercept", "response_name", "offset_column")
        return cls(
            **{key: stored[key] for key in copied},
            names=tuple(stored["names"]),
            classes=from_json(stored["classes"]),
            _response=stored_piece(stored["response"]),
            _coding=Coding.from_dict(stored["coding"]),
            _places=tuple(tuple(place) for place in stored["places"]),
            _kinds=dict(stored["kinds"]),
            _context={**from_json(stored["context"]), **(context or {})},
            _granted=None if trusted else dict(context or {}),
        )

    def _lift(self, frame: pd.DataFrame, wanted: npt.NDArray[Any], flipped: Array) -> None:
        coded = {place for places in self._places for place in places}
        plain = np.array([i for i, j in enumerate(wanted) if j not in coded], dtype=int)
        names = [self.names[j] for j in wanted[plain]]
        require_columns(frame, names)
        for place, chunk in NumericBlock.of(frame, names).chunks():
            flipped[plain[place]] = chunk.T

    def _recode(self, frame: pd.DataFrame, wanted: npt.NDArray[Any], flipped: Array) -> None:
        chosen = set(wanted.tolist())
        used = [not chosen.isdisjoint(places) for places in self._places]
        coding = self._coding.subset(used)
        if not coding.terms:
            return
        pieces = [piece for term in coding.terms for piece in term.pieces]
        audit = RowAudit.of(len(frame))
        evaluator, rows = self._evaluator(frame, pieces, audit)
        drop = audit.bad[rows]
        if drop.all():
            return
        values = evaluator.recode(coding, drop)
        places = [j for places, use in zip(self._places, used, strict=True) if use for j in places]
        for k, j in enumerate(places):
            for i in np.flatnonzero(wanted == j):
                flipped[i, rows[~drop]] = values[:, k]

    def _evaluator(
        self, frame: pd.DataFrame, pieces: Sequence[Piece], audit: RowAudit
    ) -> tuple[Evaluator, Places]:
        require_columns(frame, sorted(read_by(pieces) & self._kinds.keys()))
        learned = copy.deepcopy(self._coding.transforms)
        return evaluator_for(
            frame, pieces, self._kinds, self._context, learned, audit, self._granted
        )


def evaluator_for(
    frame: pd.DataFrame,
    pieces: Iterable[Piece],
    kinds: Mapping[str, Kind],
    context: Mapping[str, Any],
    learned: dict[str, Any],
    audit: RowAudit,
    granted: Mapping[str, Any] | None,
) -> tuple[Evaluator, Places]:
    """Evaluate pieces on the rows where what they read is finite, and audit all rows.

    Infinite inputs are set aside first, or they would spoil what transforms learn. Missing
    inputs are judged by what the pieces make of them, since code may fill them.
    """
    pieces = list(dict.fromkeys(pieces))
    columns = _columns_for(pieces, frame, kinds)
    nothing, unbounded = (np.zeros(len(frame), dtype=bool) for _ in range(2))
    for name, column in columns.items():
        audit.note(unmarked(name), nothing, infinite(column))
        unbounded |= infinite(column)
    rows = np.flatnonzero(~unbounded)
    if unbounded.any():
        columns = {
            name: column.iloc[rows].reset_index(drop=True) for name, column in columns.items()
        }
        context = context_of(context, ~unbounded)
    evaluator = Evaluator(columns, len(rows), context, learned, granted)
    for piece in pieces:
        missing, infinities = (_spread(mask, rows, len(frame)) for mask in evaluator.defects(piece))
        audit.note(unmarked(piece.expr), missing, infinities)
    return evaluator, rows


def context_of(context: Mapping[str, Any], rows: Mask) -> dict[str, Any]:
    """Names that a formula may use; of what has a value for each row, the values of some rows, numbered anew."""
    found = dict(context)
    for name, value in context.items():
        if isinstance(value, np.ndarray | pd.Series) and value.shape == rows.shape:
            part = value[rows]
            found[name] = part.reset_index(drop=True) if isinstance(part, pd.Series) else part
    return found


def _columns_for(
    pieces: Sequence[Piece], frame: pd.DataFrame, kinds: Mapping[str, Kind]
) -> dict[str, pd.Series]:
    """Prepare what pieces read, under the names by which they read it."""
    keys = {p.expr for p in pieces if p.method == "lookup"}
    keys |= {name for p in pieces if p.method == "python" for name in variables(p)}
    present = {key: unmarked(key) for key in sorted(keys) if unmarked(key) in frame.columns}
    return {key: prepared(frame[name], kinds.get(name)) for key, name in present.items()}


def _spread(mask: Mask, rows: Places, n: int) -> Mask:
    out = np.zeros(n, dtype=bool)
    out[rows] = mask
    return out


def read_by(pieces: Iterable[Piece]) -> set[str]:
    """Names that pieces read."""
    return {name for piece in pieces for name in variables(piece)}


def _storable(context: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the names of a context that are plain values."""
    kept = {}
    for name, value in context.items():
        try:
            kept[name] = from_json(to_json(value))
        except DataError:
            continue
    return kept
