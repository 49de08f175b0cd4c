"""Formula text to terms, with every name checked before any code runs.

The result is plain data: a :class:`Piece` is one factor of a term, a term is a tuple of pieces,
and a :class:`Run` stands for neighboring numeric columns that ``.`` brought in, so that a formula
on a very wide frame costs no more than the names that it spells out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.sanitize_tokens import sanitize_python_code
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.types import Token
from formulaic.transforms import TRANSFORMS

from robustsparse.base.errors import DataError, FormulaError
from robustsparse.base.text import did_you_mean
from robustsparse.design.formulas.allowed import BUILTINS, check_allowed, numpy_namespace
from robustsparse.design.formulas.code import LONGEST_QUOTE, read_code, shortened
from robustsparse.design.formulas.sums import without_sums

# Formulaic takes a column called `1` for the intercept, and one called `log` for the function. The
# mark tells them apart; the names of the design lose it.
MARK = "\x1a"
_RUN = "\x1f"
_SECOND = f"{_RUN}and"
_LITERAL = re.compile(r"[0-9.]+")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PARSER = DefaultFormulaParser(feature_flags={"twosided"})


Method = Literal["lookup", "python", "literal"]
_METHODS = get_args(Method)


class Piece(NamedTuple):
    """One factor of a term: a column, Python code, or a literal number."""

    expr: str
    method: Method


Term = tuple[Piece, ...]
INTERCEPT: Term = (Piece("1", "literal"),)


@dataclass(frozen=True)
class Run:
    """Neighboring numeric columns that ``.`` brought in and no other part of the formula names."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class ParsedFormula:
    """A formula as plain data.

    Attributes
    ----------
    response : the left-hand side.
    terms : terms and runs, in the order of their columns.
    named : the columns that the formula spells out.
    dotted : whether it has a ``.`` for the others.
    """

    response: Piece
    terms: tuple[Term | Run, ...]
    named: frozenset[str]
    dotted: bool

    @property
    def intercept(self) -> bool:
        """Whether the model has an intercept."""
        return INTERCEPT in self.terms


def parse_formula(
    formula: str,
    columns: Mapping[str, bool],
    *,
    excluded: Collection[str] = (),
    context: Mapping[str, Any] | None = None,
) -> ParsedFormula:
    """Read a formula against the columns of a frame.

    Parameters
    ----------
    formula : such as ``"y ~ . - id"``.
    columns : the frame's columns in order; the value says whether one is numeric.
    excluded : columns that ``.`` does not stand for, besides those of the response.
    context : further names that code in the formula may use.

    Examples
    --------
    >>> parsed = parse_formula("log(y) ~ . - b", {"y": True, "a": True, "b": True, "c": True})
    >>> parsed.response.expr, parsed.terms[1:]
    ('log(y)', (Run(columns=('a',)), Run(columns=('c',))))
    """
    tokens = _tokens(formula)
    left, right = _sides(formula, tokens)
    for token in (*left, *right):
        _check_names(formula, token, columns, context or {})
    hidden = set(excluded) | _names(left)
    named = _names((*left, *right))
    open_columns = [name for name in columns if name not in hidden]
    available, runs = _collapse(open_columns, named, columns)
    response, terms = _terms(formula, available)
    if any(len(term) > 1 and any(piece.expr.startswith(_RUN) for piece in term) for term in terms):
        # An interaction with `.` needs every column by its name.
        runs = {}
        response, terms = _terms(formula, [_marked(name) for name in open_columns])
    expanded = tuple(runs.get(term[0].expr, term) for term in terms if term[0].expr != _SECOND)
    dotted = any(token.token == "." for token in right)
    return ParsedFormula(response, expanded, frozenset(named), dotted)


def require_text(formula: Any) -> None:
    """Raise if a formula is none, as when the data come first."""
    if not isinstance(formula, str):
        raise FormulaError(
            f"formula must be text such as 'y ~ .', not {type(formula).__name__}; the formula comes first, then the "
            "data: rht('y ~ .', data). For a matrix and a response use rht_fit(X, y)"
        )


def stored_piece(stored: Sequence[Any]) -> Piece:
    """A piece from a file, if it is one."""
    expr, method = stored
    if not isinstance(expr, str) or method not in _METHODS:
        raise DataError(f"a stored term is none: {str(stored)[:LONGEST_QUOTE]}")
    return Piece(expr, method)


def label(term: Term) -> str:
    """Write a term as formulaic does."""
    return ":".join(unmarked(piece.expr) for piece in term)


def unmarked(name: str) -> str:
    """Remove the mark that kept a name apart from a literal."""
    return name.replace(MARK, "")


def variables(piece: Piece) -> frozenset[str]:
    """List the names that a piece reads: columns, or constants of the context."""
    if piece.method == "lookup":
        return frozenset([unmarked(piece.expr)])
    return read_code(piece.expr).values if piece.method == "python" else frozenset()


def check_code(
    piece: Piece, known: Collection[str], granted: Mapping[str, Any] | None = None
) -> None:
    """Refuse code that uses a name which is neither data, context, transform nor harmless.

    A formula that was just parsed passes; one from a file may not, or may lack its context.
    `granted` is what the user passed in ``context=``; None lifts the limits of what code may do.
    """
    if piece.method != "python":
        return
    code = read_code(piece.expr)
    if granted is not None:
        check_allowed(shortened(piece.expr), code.tree, granted, known)
    unknown = (code.values | code.functions) - BUILTINS - TRANSFORMS.keys() - set(known)
    if unknown:
        raise FormulaError(
            f"`{piece.expr}` uses {sorted(unknown)[0]!r}, which is neither a column "
            "nor a known function; pass it with context="
        )


def _tokens(formula: str) -> list[Token]:
    require_text(formula)
    try:
        tokens = list(tokenize(formula))
    except Exception as error:
        _reraise(formula, error)
    for token in tokens:
        if token.kind is Token.Kind.PYTHON:
            _check_syntax(formula, token)
    return tokens


def _check_syntax(formula: str, token: Token) -> None:
    try:
        read_code(_code_of(token))
    except FormulaError as error:
        _fail_at(formula, token, str(error))


def _code_of(token: Token) -> str:
    """Code as formulaic hands it on; what it cannot read stays as it is, and is refused where it is read."""
    code: str = token.token
    with suppress(Exception):
        code = sanitize_python_code(code)
    return code


def _sides(formula: str, tokens: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    tildes = [i for i, token in enumerate(tokens) if _is_tilde(token)]
    if not tildes or tildes[0] == 0:
        raise FormulaError(f"formula {formula!r} has no response; write it as 'response ~ terms'")
    if len(tokens) == tildes[0] + 1:
        raise FormulaError(
            f"formula {formula!r} has nothing on the right of ~; write 'response ~ .' for all other columns, or "
            "'response ~ 1' for the intercept alone"
        )
    return list(tokens[: tildes[0]]), list(tokens[tildes[0] :])


def _is_tilde(token: Token) -> bool:
    return token.kind is Token.Kind.OPERATOR and "~" in token.token


def _names(tokens: Iterable[Token]) -> set[str]:
    found: set[str] = set()
    for token in tokens:
        if token.kind is Token.Kind.NAME:
            found.add(token.token)
        elif token.kind is Token.Kind.PYTHON:
            found |= read_code(_code_of(token)).values
    return found


def _check_names(
    formula: str, token: Token, columns: Mapping[str, bool], context: Mapping[str, Any]
) -> None:
    if token.kind is Token.Kind.NAME:
        names, known = {token.token} - {"."}, {*context}
    elif token.kind is Token.Kind.PYTHON:
        code = read_code(_code_of(token))
        names, known = {*code.values, *code.functions}, {*context, *BUILTINS, *TRANSFORMS}
        for name in sorted(code.dotted & columns.keys()):
            _fail_at(formula, token, f"the column {name!r} goes in backticks inside code: `{name}`")
    else:
        return
    # A difference of sets would go through all columns for every name.
    for name in sorted(name for name in names if name not in known and name not in columns):
        awkward = [c for c in columns if c.startswith(name) and not c.isidentifier()]
        hint = _hint(name, columns, known)
        if awkward:
            hint = f"; a name with spaces or operators goes in backticks: `{awkward[0]}`"
        _fail_at(
            formula,
            token,
            f"the formula uses {name!r}, which is neither a column of the data "
            f"nor a name in context{hint}",
        )
    if token.kind is Token.Kind.PYTHON:
        try:
            check_allowed(shortened(token.token), code.tree, context, columns)
        except FormulaError as error:
            _fail_at(formula, token, str(error))


# What other languages call things, and how formulas write them here.
_WRITTEN = {
    "ln": "log(x)",
    "factor": "C(x)",
    "category": "C(x)",
    "categorical": "C(x)",
    "ns": "cr(x, df=4)",
    "s": "bs(x, df=4)",
    "spline": "bs(x, df=4)",
    "inv": "{1 / x}",
    "square": "{x**2}",
    "sq": "{x**2}",
}
# What is a part of the formula elsewhere, and an argument of the call here.
_ARGUMENTS = frozenset({"offset", "weights", "cluster"})


def _hint(name: str, columns: Mapping[str, bool], known: Collection[str]) -> str:
    """What was probably meant: a column or name that looks alike, a function of numpy, or R's name of a function."""
    if name in _ARGUMENTS:
        return f"; that is an argument of the call, beside the formula: {name}='x'"
    if name in _WRITTEN:
        return f"; write {_WRITTEN[name]}"
    if hasattr(numpy_namespace(), name):
        return f"; did you mean np.{name}?"
    return did_you_mean(name, {*columns, *known})


def _fail_at(formula: str, token: Token, message: str) -> NoReturn:
    where = _caret(formula, token.source_start or 0, token.source_end or 0)
    raise FormulaError(f"{message}\n{where}")


def _marked(name: str) -> str:
    return MARK + name if _LITERAL.fullmatch(name) or name in TRANSFORMS else name


def _collapse(
    names: Sequence[str], named: Collection[str], numeric: Mapping[str, bool]
) -> tuple[list[str], dict[str, Run]]:
    """Neighboring numeric columns that are named nowhere as one name each."""
    available: list[str] = []
    runs: dict[str, Run] = {}
    for plain, group in groupby(names, key=lambda name: numeric[name] and name not in named):
        if plain:
            key = f"{_RUN}{len(runs)}"
            runs[key] = Run(tuple(group))
            # Two names for the columns of a run: with one alone the products of `.` with itself would go unnoticed.
            available.extend([key, _SECOND])
        else:
            available.extend(_marked(name) for name in group)
    return available, runs


def _terms(formula: str, available: Sequence[str]) -> tuple[Piece, list[Term]]:
    context: dict[str, Any] = {"__formulaic_variables_available__": available}
    try:
        tokens = list(_PARSER.get_tokens_from_formula(formula, context=context))
        # Formulaic misreads quoted names with dots on the left, so `available` excludes them.
        context["__formulaic_variables_used_lhs__"] = []
        for token in tokens:
            if token.kind is Token.Kind.NAME:
                token.token = _marked(token.token)
        tree = _PARSER.get_ast_from_tokens(tokens, context=context)
        tree = without_sums(tree, context, len(available))
        sides = _PARSER.get_terms_from_ast(tree, context=context)
        left, right = list(sides.lhs), sorted(sides.rhs, key=lambda term: term.degree)
    except FormulaError as error:
        raise FormulaError(f"{error}\n    {shortened(formula)}") from None
    except Exception as error:
        _reraise(formula, error)
    return _response(formula, [_pieces(term) for term in left]), [_pieces(t) for t in right]


def _pieces(term: Any) -> Term:
    return tuple(Piece(factor.expr, factor.eval_method.value) for factor in term.factors)


def _response(formula: str, terms: Sequence[Term]) -> Piece:
    if len(terms) != 1 or len(terms[0]) != 1 or terms[0][0].method == "literal":
        raise FormulaError(
            f"formula {formula!r} must have one response on the left of ~; "
            "put arithmetic in braces, as in '{a + b} ~ x'"
        )
    return terms[0][0]


def _reraise(formula: str, error: Exception) -> NoReturn:
    message, _, source = _ANSI.sub("", str(error)).partition("\n\n")
    if message.startswith("Unknown operator"):
        message += " Python code goes in braces, as in {a > 0}."
    if "`|`" in message:
        message += (
            " There are no random effects; cluster='g' tells which rows depend on each other."
        )
    start, end = source.find("⧛"), source.find("⧚")
    where = _caret(formula, start, end - 2) if 0 <= start < end else f"    {shortened(formula)}"
    raise FormulaError(f"cannot read the formula: {shortened(message)}\n{where}") from error


def _caret(formula: str, start: int, end: int) -> str:
    line = re.sub(r"\s", " ", formula)
    if len(line) > LONGEST_QUOTE:
        # A window around the place, where a long line would hide it.
        first = max(0, start - LONGEST_QUOTE // 2)
        line = line[first : first + LONGEST_QUOTE]
        start, end = start - first, min(end - first, len(line) - 1)
    return f"    {line}\n    {' ' * start}{'^' * max(1, end - start + 1)}"
