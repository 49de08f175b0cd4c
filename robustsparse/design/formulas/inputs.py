"""Columns as code in a formula gets them: whole numbers that do not overflow, and levels that some row has."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from robustsparse.base.types import Mask
from robustsparse.design.formulas.code import read_code
from robustsparse.design.formulas.parsing import Piece, variables

# What code uses that makes text of numbers, where 1 and 1.0 differ.
_TEXT = frozenset({"astype", "str"})


def in_floats(columns: Mapping[str, pd.Series]) -> dict[str, pd.Series] | None:
    """The columns with whole numbers and truth values as floats; None if none are there.

    A product of whole numbers may overflow in silence, and a sum of truth values is one itself.

    Examples
    --------
    >>> in_floats({"a": pd.Series([1, 2]), "b": pd.Series([True, False])})["b"].tolist()
    [1.0, 0.0]
    >>> in_floats({"a": pd.Series([0.5])}) is None
    True
    """
    whole = {
        name: column.astype(np.float64)
        for name, column in columns.items()
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub"
    }
    return {**columns, **whole} if whole else None


def needs_type(piece: Piece, functions: Mapping[str, object]) -> bool:
    """Whether what a piece gives may depend on the type of a number: code that makes text of it, or calls a function.

    `functions` are those that nobody here has read.

    Examples
    --------
    >>> needs_type(Piece("a.astype(str).str.len()", "python"), {}), needs_type(Piece("a**3", "python"), {})
    (True, False)
    """
    if piece.method != "python":
        return False
    code = read_code(piece.expr)
    used = {node.attr for node in ast.walk(code.tree) if isinstance(node, ast.Attribute)}
    called = {*code.functions, *code.values}
    return not _TEXT.isdisjoint(used | called) or not called.isdisjoint(functions)


def adds_truths(piece: Piece) -> bool:
    """Whether a piece that gave truth values is a sum: of comparisons, of which it tells only whether any is true.

    Examples
    --------
    >>> adds_truths(Piece("(a > 0) + (b > 0)", "python")), adds_truths(Piece("a > 0", "python"))
    (True, False)
    """
    tree = read_code(piece.expr).tree if piece.method == "python" else None
    body = tree.body if isinstance(tree, ast.Expression) else None
    return isinstance(body, ast.BinOp) and isinstance(body.op, ast.Add)


def used_levels(
    columns: Mapping[str, pd.Series], pieces: Iterable[Piece], rows: Mask
) -> dict[str, pd.Series]:
    """The categories among the columns that have levels which no row to use has, without these.

    A level without rows is a column of zeros or, as reference, one that no row is compared with. Codes of categories
    number all levels, so that what they are read from stays as it is.
    """
    as_codes = frozenset[str]().union(
        *(variables(piece) for piece in pieces if piece.method == "python" and _reads_codes(piece))
    )
    found = {}
    for name, column in columns.items():
        if isinstance(column.dtype, pd.CategoricalDtype) and name not in as_codes:
            levels = column[rows].cat.remove_unused_categories().cat.categories
            if len(levels) < len(column.cat.categories):
                found[name] = column.cat.set_categories(levels)
    return found


def _reads_codes(piece: Piece) -> bool:
    tree = read_code(piece.expr).tree
    return any(isinstance(node, ast.Attribute) and node.attr == "cat" for node in ast.walk(tree))
