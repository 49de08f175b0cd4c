"""Python code in a formula: what it reads and calls, told before any of it runs."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import NamedTuple

from formulaic.transforms import TRANSFORMS
from formulaic.utils.code import sanitize_variable_names

from robustsparse.base.errors import FormulaError

# Characters of a formula that a message shows.
LONGEST_QUOTE = 200


class Code(NamedTuple):
    """What a piece of Python code reads, and the code itself as it will run."""

    values: frozenset[str]
    functions: frozenset[str]
    compared: frozenset[str]
    dotted: frozenset[str]
    tree: ast.AST


@lru_cache(maxsize=1024)
def read_code(expr: str) -> Code:
    """Tell the names in Python code apart by their use, and refuse private ones."""
    try:
        return _read(expr)
    except (SyntaxError, RecursionError, MemoryError, IndexError, UnicodeError) as error:
        # Too many brackets or signs and an empty name in backticks are no errors of syntax to Python.
        reason = (
            error.msg if isinstance(error, SyntaxError) else "too deep, an empty name or no text"
        )
        raise FormulaError(
            f"`{shortened(expr)}` cannot be read as Python ({reason}); names with spaces or "
            "operators go in backticks, and a column called like a Python keyword must be renamed "
            "to be used inside code"
        ) from error


def _read(expr: str) -> Code:
    aliases: dict[str, str] = {}
    clean = sanitize_variable_names(expr, {}, aliases, template="_formulaic_{}")
    tree = ast.parse(clean.strip(), mode="eval")
    # What formulaic will run: it writes names in backticks in another way, by which one may become private.
    run = ast.parse(sanitize_variable_names(expr, {}, {}), mode="eval")
    _refuse_private(expr, tree, run)
    bound = _names_in(tree, ast.Store)
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    functions = {_root(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    # `np` in np.log(a) is a module; `a` in a.fillna(0) is a column.
    functions = {name for name in functions if name in TRANSFORMS or _called(tree, name)}
    loaded = _names_in(tree, ast.Load)
    names = {aliases.get(name, name) for name in loaded - bound - functions}
    compared = {aliases.get(name, name) for name in _compared(tree) - bound - functions}
    dotted = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    values, called = frozenset(names | _quoted(tree)), frozenset(functions - {""})
    return Code(values, called, frozenset(compared), frozenset(dotted), run)


def _names_in(tree: ast.AST, use: type[ast.expr_context]) -> set[str]:
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, use)}


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _called(tree: ast.AST, name: str) -> bool:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(func, ast.Name) and func.id == name for func in calls)


def _quoted(tree: ast.AST) -> set[str]:
    """Columns named by Q("..."), patsy's way to write awkward names."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    firsts = (node.args[0] for node in calls if _root(node.func) == "Q")
    return {str(arg.value) for arg in firsts if isinstance(arg, ast.Constant)}


def _compared(tree: ast.AST) -> set[str]:
    """Find names whose missing values a comparison would turn into False."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            plain = (s for s in sides if not any(isinstance(n, ast.Call) for n in ast.walk(s)))
            found |= {name for side in plain for name in _names_in(side, ast.Load)}
    return found


def _refuse_private(expr: str, *trees: ast.AST) -> None:
    for node in (node for tree in trees for node in ast.walk(tree)):
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        hidden = name.startswith("_") and not name.startswith("_formulaic_")
        if hidden and (isinstance(node, ast.Attribute) or name.startswith("__")):
            raise FormulaError(f"{name!r} in `{expr}` is private to Python and not allowed there")


def shortened(code: str) -> str:
    """As much of a long text as a message shows."""
    return code if len(code) <= LONGEST_QUOTE else f"{code[:LONGEST_QUOTE]}..."
