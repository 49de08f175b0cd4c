"""What code in a formula may do: compute with columns, and nothing else.

A formula may come from a file that someone else wrote. Its code is read before it runs, and runs only if it is made of

- columns, numbers, text, arithmetic, comparisons, ``a if b else c``, subscripts and calls;
- formulaic's transforms (``C``, ``bs``, ``poly``, ``scale``, ...) and the contrasts of ``contr``;
- the functions of numpy that compute: all ufuncs, and those of `NUMPY_FUNCTIONS`, as ``np.`` name;
- the methods and attributes of columns in `METHODS`, such as ``a.fillna(0)`` or ``g.str.upper()``;
- names that the user gave in ``context=``, with all their public attributes.

There are no modules in it, and the type that ``a.astype(...)`` asks for is written out, because one of pandas' can name
a file, so that nothing can be imported, read, written or started. It can still ask for much time and memory.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Mapping
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from robustsparse.base.errors import FormulaError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The functions of Python that code in a formula may call: those that only compute.
BUILTINS = _words(
    "abs all any bool dict float int len list max min pow range round set slice sorted str sum tuple zip"
)

# What `np` offers besides all ufuncs, such as np.log, np.sqrt and np.maximum.
NUMPY_FUNCTIONS = _words(
    """
    all any arange argsort around array asarray average bool_ clip column_stack concatenate convolve copy
    corrcoef count_nonzero cross cumprod cumsum deg2rad diff digitize dot e ediff1d expand_dims fix flip float32
    float64 full full_like gradient hstack i0 inf int32 int64 interp isclose isin isneginf isposinf isreal
    linspace mean median nan nan_to_num nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile
    nanprod nanquantile nanstd nansum nanvar ndim newaxis ones ones_like outer percentile pi piecewise polyval
    prod ptp quantile real repeat reshape roll round searchsorted select shape sinc size sort squeeze stack std
    sum take tile transpose trapezoid unique unwrap vander var vstack where zeros zeros_like
    """
)

# Methods and attributes of columns, of text in them and of dates.
METHODS = _words(
    """
    abs add all any astype between bfill capitalize cat ceil clip codes combine_first contains copy count cummax
    cummin cumprod cumsum date day day_of_week day_of_year dayofweek dayofyear days diff div dt dtype duplicated
    endswith eq ffill fillna find floor floordiv ge get gt hour interpolate is_month_end is_month_start isdigit
    isin isna isnull le len lower lstrip lt mask max mean median microsecond min minute mod month mul ne
    normalize notna notnull pct_change pow prod quantile quarter rank removeprefix removesuffix replace reshape
    round rstrip second shape shift size slice split startswith std str strip sub sum T title to_numpy
    total_seconds upper values var weekday where year zfill
    """
)

# Types that a column may be converted to, as text; a zone of time in one of them could be a file.
_TYPE = re.compile(r"[\w<>|=?\[\]]+")

CONTRASTS = _words("SAS custom diff helmert poly sum treatment")

_NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.keyword, ast.IfExp, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set,
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
_WORDS = {ast.Lambda: "lambda", ast.JoinedStr: "text with braces", ast.NamedExpr: "an assignment"}


@cache
def numpy_namespace() -> SimpleNamespace:
    """What a formula sees as ``np``: functions that compute, and no module."""
    ufuncs = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    present = {name for name in NUMPY_FUNCTIONS | ufuncs if hasattr(np, name)}
    return SimpleNamespace(**{name: getattr(np, name) for name in present})


@cache
def hidden_builtins() -> dict[str, Any]:
    """Python's other functions, each replaced by one that refuses: a second wall behind the check of the code."""
    return {name: _refuse_call for name in dir(builtins) if name not in BUILTINS}


def _refuse_call(*args: Any, **kwargs: Any) -> NoReturn:
    raise FormulaError("a formula called a function of Python that reaches outside")


def check_allowed(
    expr: str, tree: ast.AST, granted: Mapping[str, Any], known: Collection[str] = ()
) -> None:
    """Refuse code that does more than compute.

    Parameters
    ----------
    expr : the code, for messages.
    tree : the same, parsed.
    granted : what the user passed in ``context=``.
    known : names that stand for data, whatever else is called so.

    Examples
    --------
    >>> check_allowed("np.log(a)", ast.parse("np.log(a)", mode="eval"), {})
    >>> check_allowed("np.f2py", ast.parse("np.f2py", mode="eval"), {})
    Traceback (most recent call last):
    robustsparse.base.errors.FormulaError: `np.f2py` uses 'np.f2py', which is not among what a formula may use; ...
    """
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    converting = [call.func for call in calls if _converts(call, granted, known)]
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            _refuse(expr, _WORDS.get(type(node), _text(node)))
        if isinstance(node, ast.Attribute):
            _check_attribute(expr, node, granted)
            if node.attr == "astype" and node not in converting:
                _refuse(expr, f"{_text(node)} with a type that is not written out")
        elif isinstance(node, ast.Call):
            _check_call(expr, node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
            _check_power(expr, node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bytes):
            _refuse(expr, _text(node))


def _check_power(expr: str, node: ast.BinOp) -> None:
    """Refuse ``a ^ 2``, which of whole numbers would be an exclusive or."""
    if any(isinstance(side, ast.Constant) for side in (node.left, node.right)):
        raise FormulaError(
            f"`{expr}` has a ^, which in code is no power but an exclusive or; write a power as **"
        )


def _check_attribute(expr: str, node: ast.Attribute, granted: Mapping[str, Any]) -> None:
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    name = root.id if isinstance(root, ast.Name) else ""
    if name in granted:
        allowed = not _leaves_module(granted[name], _text(node).split(".")[1:])
    elif isinstance(node.value, ast.Name) and name in ("np", "contr"):
        allowed = node.attr in (CONTRASTS if name == "contr" else vars(numpy_namespace()))
    else:
        allowed = node.attr in METHODS
    if not allowed:
        _refuse(expr, _text(node))


def _converts(node: ast.Call, granted: Mapping[str, Any], known: Collection[str]) -> bool:
    """Whether a call names a type, and nothing else, as plainly as ``astype`` may be told one."""
    given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
    if len(given) != 1 or len(given) < len(node.args) + len(node.keywords):
        return False
    match given[0]:
        case ast.Constant(value=str(text)):
            return _TYPE.fullmatch(text) is not None
        case ast.Name(id=name):
            return name in granted or (name in BUILTINS and name not in known)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return name in granted or attribute == "dtype" or (name == "np" and name not in known)
    return False


def _leaves_module(start: Any, attributes: Collection[str]) -> bool:
    """Whether a chain of attributes leads from what the user gave into a module that is no part of it."""
    place = start
    for attribute in attributes:
        step = getattr(place, attribute, None)
        if isinstance(step, ModuleType):
            home = getattr(place, "__name__", "")
            if not isinstance(place, ModuleType) or not step.__name__.startswith(f"{home}."):
                return True
        place = step
    return False


def _check_call(expr: str, node: ast.Call) -> None:
    for keyword in node.keywords:
        # Formulaic passes its own state under such names.
        if keyword.arg is None or keyword.arg.startswith("_"):
            _refuse(expr, _text(keyword) if keyword.arg else "**")
    # Formulaic writes the text of a call into code of its own, where a quotation mark would end it.
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and '"' in part.value:
            raise FormulaError(
                f"`{expr}` has a text with a quotation mark inside a call, which formulas cannot hold"
            )


def _text(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except RecursionError:
        return "code that is nested too deeply"


def _refuse(expr: str, what: str) -> NoReturn:
    raise FormulaError(
        f"`{expr}` uses {what!r}, which is not among what a formula may use; pass a function of your own with "
        "context=, or read a stored model that you trust with load(path, trusted=True)"
    )
