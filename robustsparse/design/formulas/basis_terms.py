"""Which terms of a formula spread a variable over several columns, and which variable that is."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

import numpy as np
from formulaic.utils.code import sanitize_variable_names

from robustsparse.base.errors import FormulaError
from robustsparse.base.types import Array, Mask
from robustsparse.design.bases import Bases
from robustsparse.design.formulas.coding import Coding, Evaluator
from robustsparse.design.formulas.parsing import Piece, Term, unmarked

# Splines and polynomials.
_BASES = frozenset({"bs", "cr", "cs", "cc", "poly"})
# What the first argument of theirs is called.
_FIRST = ("data", "x")


def find_bases(
    evaluator: Evaluator,
    coding: Coding,
    places: Sequence[Sequence[int]],
    names: Sequence[str],
    use: Mask,
) -> Bases | None:
    """The variables of splines and polynomials in a design, on the rows to use; None if it has none.

    Parameters
    ----------
    evaluator : knows the columns that the terms read.
    coding : the coded terms.
    places : of the columns of each in the design.
    names : of all columns of the design. One that is a variable itself is told of by that.
    use : the rows of the evaluator to use.
    """
    values: dict[str, Array] = {}
    made: dict[str, Mask] = {}
    place = {name: j for j, name in enumerate(names)}
    for term, at in zip(coding.terms, places, strict=True):
        for name, variable in _variables(term.pieces, evaluator).items():
            values[name] = variable[use]
            itself = [place[name]] if name in place else []
            made.setdefault(name, np.zeros(len(names), dtype=bool))[[*at, *itself]] = True
    if not values:
        return None
    return Bases(np.column_stack(list(values.values())), np.array([made[name] for name in values]))


def _variables(term: Term, evaluator: Evaluator) -> dict[str, Array]:
    """What the columns of a term are made of, if it has a basis; factors in a product are left out."""
    arguments = [_argument(piece) for piece in term]
    if not any(arguments):
        return {}
    found = {}
    for piece, argument in zip(term, arguments, strict=True):
        part = argument or piece
        try:
            variable = evaluator.values(part).to_numpy()
        except FormulaError:
            # A number that scales the term, or code that gives several columns.
            continue
        if variable.dtype.kind in "fiu":
            found[unmarked(part.expr).strip("`")] = variable.astype(np.float64)
    return found


def _argument(piece: Piece) -> Piece | None:
    """What a spline or polynomial is made of, as a piece of its own; None for anything else.

    Examples
    --------
    >>> _argument(Piece("bs(log(x), df=4)", "python")), _argument(Piece("log(x)", "python"))
    (Piece(expr='log(x)', method='python'), None)
    """
    if piece.method != "python":
        return None
    aliases: dict[str, str] = {}
    code = sanitize_variable_names(piece.expr, {}, aliases, template="_formulaic_{}")
    call = ast.parse(code.strip(), mode="eval").body
    known = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    if not known or call.func.id not in _BASES:
        return None
    given = [*call.args[:1], *(item.value for item in call.keywords if item.arg in _FIRST)]
    if not given:
        return None
    text = re.sub(r"\w+", lambda word: _written(word[0], aliases), ast.unparse(given[0]))
    return Piece(text, "python")


def _written(word: str, aliases: Mapping[str, str]) -> str:
    return f"`{aliases[word]}`" if word in aliases else word
