"""Terms and a frame to columns of numbers, and the same coding again for new data.

Plain numeric columns never come here: they are lifted as one block elsewhere. What comes here is
what needs formulaic: factors, transforms, interactions, and the intercept, which decides how
factors are coded.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd
from formulaic import ModelSpec
from formulaic.errors import DataMismatchWarning
from formulaic.materializers import PandasMaterializer
from formulaic.materializers.base import EncodedTermStructure
from formulaic.materializers.types import EvaluatedFactor, FactorValues, ScopedFactor, ScopedTerm
from formulaic.parser.types import Factor
from formulaic.parser.types import Term as FormulaicTerm
from formulaic.transforms import TRANSFORMS
from formulaic.transforms.contrasts import TreatmentContrasts
from formulaic.utils.stateful_transforms import stateful_transform

from robustsparse.base.archive import from_json, to_json
from robustsparse.base.errors import DataError, FormulaError, RobustSparseError, UnseenLevelError
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Mask
from robustsparse.design.formulas.allowed import hidden_builtins, numpy_namespace
from robustsparse.design.formulas.code import read_code
from robustsparse.design.formulas.inputs import adds_truths, in_floats, needs_type, used_levels
from robustsparse.design.formulas.parsing import (
    Piece,
    Term,
    check_code,
    label,
    stored_piece,
    unmarked,
    variables,
)
from robustsparse.design.frames import kind_of, prepared
from robustsparse.design.row_audit import infinite


def _learn_from_finite(name: str) -> Any:
    """Make a transform of formulaic learn its mean and scale from finite values.

    Formulaic's own would make the whole column missing for one hole, and thus drop every row.
    """
    inner = TRANSFORMS[name]

    @stateful_transform  # type: ignore[untyped-decorator]
    def transform(data: Any, *args: Any, _state: dict[str, Any], **kwargs: Any) -> Any:
        values = np.asarray(data, dtype=float)
        if not _state and values.ndim == 1:
            inner(values[np.isfinite(values)], *args, _state=_state, **kwargs)
        return inner(values, *args, _state=_state, **kwargs)

    return transform


FINITE_TRANSFORMS = {name: _learn_from_finite(name) for name in ("center", "scale", "standardize")}


@dataclass(frozen=True)
class Scope:
    """A product of factors within a term; each says whether its reference level is left out."""

    factors: tuple[tuple[str, bool], ...]
    scale: float


@dataclass(frozen=True)
class CodedTerm:
    """A term with the columns that it became."""

    pieces: Term
    scopes: tuple[Scope, ...]
    columns: tuple[str, ...]

    @property
    def label(self) -> str:
        """The term as the formula writes it."""
        return label(self.pieces)

    @property
    def variables(self) -> frozenset[str]:
        """Names that the term reads."""
        return frozenset[str]().union(*map(variables, self.pieces))


@dataclass(frozen=True)
class Coding:
    """All that coding learned from the training data, without the data.

    Attributes
    ----------
    terms : the coded terms with their columns.
    transforms : what ``center``, ``bs``, ``poly`` and their like remember.
    encoders : kind and levels of each factor.
    references : the level of each factor that has no column of its own.
    """

    terms: tuple[CodedTerm, ...] = ()
    transforms: dict[str, Any] = field(default_factory=dict)
    encoders: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    references: dict[str, object] = field(default_factory=dict)

    @property
    def single_levels(self) -> dict[str, object]:
        """The one level of each factor that has no more, and thus no column beside the intercept."""
        coded = {
            expr for t in self.terms for s in t.scopes for expr, reduced in s.factors if reduced
        }
        levels = {
            expr: self.encoders[expr][1].get("categories", ())
            for expr in coded & self.encoders.keys()
        }
        return {
            unmarked(expr): found[0] for expr, found in sorted(levels.items()) if len(found) == 1
        }

    def subset(self, use: Sequence[bool]) -> Coding:
        """Keep some of the terms, coded as they were in the full model."""
        terms = tuple(term for term, wanted in zip(self.terms, use, strict=True) if wanted)
        return replace(self, terms=terms)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON, exact to the bit."""
        return {
            "terms": [
                {
                    "pieces": [list(piece) for piece in term.pieces],
                    "scopes": [[[list(f) for f in s.factors], s.scale] for s in term.scopes],
                    "columns": list(term.columns),
                }
                for term in self.terms
            ],
            "transforms": to_json(self.transforms),
            "encoders": to_json(self.encoders),
            "references": to_json(self.references),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Coding:
        """Undo :meth:`to_dict`; no code is run."""
        terms = tuple(_term_from_json(term) for term in stored["terms"])
        rest = (from_json(stored[key]) for key in ("transforms", "encoders", "references"))
        return cls(terms, *rest)


def _term_from_json(stored: Mapping[str, Any]) -> CodedTerm:
    scopes = (
        Scope(tuple((expr, reduced) for expr, reduced in factors), scale)
        for factors, scale in stored["scopes"]
    )
    pieces = tuple(map(stored_piece, stored["pieces"]))
    return CodedTerm(pieces, tuple(scopes), tuple(stored["columns"]))


class Evaluator:
    """Pieces of a formula evaluated on the rows of one frame.

    Parameters
    ----------
    columns : the columns that the pieces read, from :func:`robustsparse.design.frames.prepared`.
    context : names given to the formula besides the data.
    transforms : state of the transforms; empty in training, and filled by evaluating.
    granted : the part of the context that the user gave, who may do with it what they like; None
        lifts the limits of what code in a formula may do.
    """

    def __init__(
        self,
        columns: Mapping[str, pd.Series],
        n: int,
        context: Mapping[str, Any],
        transforms: dict[str, Any],
        granted: Mapping[str, Any] | None,
    ) -> None:
        self._granted = granted
        self._context = context
        self._known = {*columns, *context}
        self._n = n
        self._spec = ModelSpec(formula=[], output="numpy", transform_state=transforms)
        self._read(columns)

    def _read(self, columns: Mapping[str, pd.Series]) -> None:
        """Take these columns, also with whole numbers and truth values as floats."""
        self._columns = columns
        floats = in_floats(columns)
        self._engine = self._made(columns)
        self._in_floats = None if floats is None else self._made(floats)

    def _made(self, columns: Mapping[str, pd.Series]) -> PandasMaterializer:
        frame = pd.DataFrame(dict(columns), index=pd.RangeIndex(self._n), copy=False)
        walls = {} if self._granted is None else {**hidden_builtins(), "np": numpy_namespace()}
        names = {**walls, **FINITE_TRANSFORMS, **self._context}
        return PandasMaterializer(frame, context=names)

    def values(self, piece: Piece) -> pd.Series:
        """Evaluate a piece that is one column; factors stay as they are."""
        leaves = self._leaves(piece)
        if len(leaves) != 1 or leaves[0].ndim != 1:
            raise FormulaError(f"`{unmarked(piece.expr)}` gives several columns, not one")
        return pd.Series(leaves[0])

    def defects(self, piece: Piece) -> tuple[Mask, Mask]:
        """Find the rows where a piece is missing, and where it is infinite.

        A comparison turns a missing value into False; such rows count as missing all the same.
        """
        missing, unbounded = np.zeros(self._n, dtype=bool), np.zeros(self._n, dtype=bool)
        for leaf in self._leaves(piece):
            missing |= _any_row(pd.isna(leaf))
            unbounded |= _any_row(infinite(leaf)) if leaf.dtype.kind == "f" else False
        if piece.method == "python":
            for name in read_code(piece.expr).compared & self._columns.keys():
                missing |= self._columns[name].isna().to_numpy()
        return missing, unbounded

    def code(self, terms: Sequence[Term], drop: Mask) -> tuple[Array, Coding]:
        """Code terms for the rows that are not dropped, and remember how."""
        pieces = _distinct(terms)
        self._forget_unused_levels(pieces, drop)
        for piece in pieces:
            self._evaluate(piece)
        spec = ModelSpec(
            formula=[_formulaic_term(term) for term in terms],
            output="numpy",
            transform_state=self._spec.transform_state,
        )
        values, spec = self._matrix(spec, drop)
        return values, _coding(terms, spec)

    def recode(self, coding: Coding, drop: Mask) -> Array:
        """Code new data as in training."""
        pieces = _distinct(term.pieces for term in coding.terms)
        self._forget_unused_levels(pieces, drop)
        for piece in pieces:
            self._evaluate(piece)
            self._check_levels(piece, coding, drop)
        spec = ModelSpec(
            formula=[_formulaic_term(term.pieces) for term in coding.terms],
            output="numpy",
            structure=[_structure(term) for term in coding.terms],
            transform_state=self._spec.transform_state,
            encoder_state={
                expr: (Factor.Kind(kind), copy.deepcopy(state))
                for expr, (kind, state) in coding.encoders.items()
            },
        )
        return self._matrix(spec, drop)[0]

    def _forget_unused_levels(self, pieces: Sequence[Piece], drop: Mask) -> None:
        changed = used_levels(self._columns, pieces, ~drop)
        if changed:
            self._read({**self._columns, **changed})

    def _evaluate(self, piece: Piece) -> EvaluatedFactor:
        check_code(piece, self._known, self._granted)
        factor = Factor(piece.expr, eval_method=piece.method)
        try:
            # The rows at fault are counted elsewhere, so numpy need not speak of them.
            with np.errstate(all="ignore"):
                self._evaluate_in_floats(piece, factor)
                return self._engine._evaluate_factor(factor, self._spec, set())
        except RobustSparseError:
            raise
        except Exception as error:
            _explain(error, unmarked(piece.expr))

    def _evaluate_in_floats(self, piece: Piece, factor: Factor) -> None:
        """Evaluate with all numbers as floats; a factor stays with the whole numbers that are its levels."""
        known = self._engine.factor_cache
        if self._in_floats is None or factor.expr in known or needs_type(piece, self._unread()):
            return
        # What floats cannot do, such as `a & 3`, whole numbers may; else it is told of these.
        with suppress(Exception):
            found = self._in_floats._evaluate_factor(factor, self._spec, set())
            if found.metadata.kind is not Factor.Kind.CATEGORICAL:
                known[factor.expr] = found

    def _unread(self) -> Mapping[str, Any]:
        """Functions of the user's own."""
        return {name: value for name, value in self._context.items() if callable(value)}

    def _leaves(self, piece: Piece) -> list[npt.NDArray[Any]]:
        """Evaluate to columns; a single number, a date or a wrong length raises."""
        if piece.method == "literal":
            return []
        name = unmarked(piece.expr)
        leaves = list(_flatten(self._evaluate(piece).values))
        for leaf in leaves:
            if leaf.ndim == 0 or len(leaf) != self._n:
                raise FormulaError(f"`{name}` does not give one value for each of {self._n} rows")
            if leaf.dtype.kind in "mM" or kind_of(leaf.dtype) == "other":
                raise DataError(f"`{name}` gives {leaf.dtype} values; convert them to numbers")
            if leaf.dtype == bool and adds_truths(piece):
                raise FormulaError(
                    f"`{name}` adds truth values, which gives whether any is true and not how many; count with "
                    "1 * (a > 0) + 1 * (b > 0)"
                )
        return leaves

    def _matrix(self, spec: ModelSpec, drop: Mask) -> tuple[Array, ModelSpec]:
        rows = int(np.count_nonzero(~drop))
        # What was encoded for other rows must not be used again.
        self._engine.encoded_cache.clear()
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                # Formulaic would code an unknown level like the reference and only warn.
                warnings.simplefilter("error", DataMismatchWarning)
                matrix = self._engine.get_model_matrix(spec, drop_rows=set(np.flatnonzero(drop)))
        except DataMismatchWarning as warning:
            raise UnseenLevelError(str(warning).split(" They are")[0]) from None
        except Exception as error:
            _explain(error, " + ".join(str(term) for term in spec.formula))
        values = np.asarray(matrix.__wrapped__, dtype=np.float64)
        return values.reshape(rows, -1) if values.size else np.empty((rows, 0)), matrix.model_spec

    def _check_levels(self, piece: Piece, coding: Coding, drop: Mask) -> None:
        kind, state = coding.encoders.get(piece.expr, ("", {}))
        if kind != "categorical" or "categories" not in state:
            return
        values = pd.Series(self._leaves(piece)[0])[~drop]
        unseen = values[~values.isin(state["categories"])].unique()
        if len(unseen):
            names = listed(sorted(variables(piece) & self._columns.keys())) or piece.expr
            raise UnseenLevelError(
                f"column {names} has a level that was not in the training data: "
                f"{listed(unseen.tolist())}; known are {listed(state['categories'])}"
            )


def _any_row(mask: npt.NDArray[Any]) -> Mask:
    return np.asarray(mask.any(axis=1) if mask.ndim > 1 else mask)


def _flatten(values: Any) -> Iterator[npt.NDArray[Any]]:
    if isinstance(values, FactorValues):
        values = values.__wrapped__
    if isinstance(values, dict):
        for key, value in values.items():
            if not str(key).startswith("__"):
                yield from _flatten(value)
    elif hasattr(values, "toarray"):
        yield values.toarray()
    elif isinstance(values, pd.Series | pd.Categorical):
        yield _array(pd.Series(values))
    else:
        yield np.asarray(values)


def _array(series: pd.Series) -> npt.NDArray[Any]:
    """Keep numbers and dates as they are, and make objects of anything else."""
    ready = prepared(series)
    return ready.to_numpy(dtype=object) if kind_of(ready.dtype) == "factor" else ready.to_numpy()


def _distinct(terms: Iterable[Term]) -> list[Piece]:
    return list(dict.fromkeys(piece for term in terms for piece in term))


def _explain(error: Exception, what: str) -> NoReturn:
    cause = error.__cause__ or error
    reason = f"{type(cause).__name__}: {cause}"
    if isinstance(cause, ValueError) and str(cause).endswith(" is not in list"):
        level = str(cause).removesuffix(" is not in list")
        reason = f"no row in use has the level {level} that it names; take another one as reference"
    raise FormulaError(f"`{what}` cannot be evaluated: {reason}") from error


def _formulaic_term(term: Term) -> FormulaicTerm:
    return FormulaicTerm(Factor(piece.expr, eval_method=piece.method) for piece in term)


def _structure(term: CodedTerm) -> EncodedTermStructure:
    scopes = [
        ScopedTerm(
            [ScopedFactor(EvaluatedFactor(Factor(e), None), reduced=r) for e, r in scope.factors],
            scale=scope.scale,
        )
        for scope in term.scopes
    ]
    return EncodedTermStructure(_formulaic_term(term.pieces), scopes, list(term.columns))


def _coding(terms: Sequence[Term], spec: ModelSpec) -> Coding:
    coded = tuple(_coded(term, row) for term, row in zip(terms, spec.structure, strict=True))
    reduced = {expr for t in coded for s in t.scopes for expr, r in s.factors if r}
    encoders, references = {}, {}
    for expr, (kind, state) in spec.encoder_state.items():
        contrasts = state.get("contrasts")
        if state:
            # Contrasts come from the formula's text again; only the levels must be remembered.
            encoders[expr] = (kind.value, {k: v for k, v in state.items() if k != "contrasts"})
        if kind is Factor.Kind.CATEGORICAL:
            _check_level_names(expr, state.get("categories", ()))
        if contrasts and expr in reduced and isinstance(contrasts.contrasts, TreatmentContrasts):
            levels = contrasts.levels
            references[unmarked(expr)] = contrasts.contrasts.get_drop_field(levels, False)
    return Coding(coded, spec.transform_state, encoders, references)


def _coded(term: Term, row: EncodedTermStructure) -> CodedTerm:
    scopes = (
        Scope(
            tuple((factor.factor.expr, factor.reduced) for factor in scope.factors),
            getattr(scope.scale, "__wrapped__", scope.scale),
        )
        for scope in row.scoped_terms
    )
    return CodedTerm(term, tuple(scopes), tuple(row.columns))


def _check_level_names(expr: str, levels: Iterable[Any]) -> None:
    for level in levels:
        if isinstance(level, str) and level.startswith("__"):
            raise DataError(
                f"level {level!r} of {unmarked(expr)!r} begins with two underscores, "
                "which formulas cannot code; rename it"
            )
