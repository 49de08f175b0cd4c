"""Formulas that only name columns: all that is possible where a table is not in memory."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from robustsparse.base.errors import FormulaError
from robustsparse.base.text import did_you_mean

# The response may be a name in backticks with a ~ in it.
_SIDES = re.compile(r"(\s*`[^`]*`\s*|[^~]*)(~?)(.*)", re.DOTALL)
_TERM = re.compile(r"\s*([+-])\s*(`[^`]+`|[^\s+-]+)")


@dataclass(frozen=True)
class PlainFormula:
    """A response, predictors, and whether there is an intercept.

    Examples
    --------
    >>> PlainFormula.of("y ~ . - age - 1", ["y", "age", "x1", "x2"])
    PlainFormula(response='y', predictors=('x1', 'x2'), intercept=False)
    >>> PlainFormula.of("y ~ x2 + `a b`", ["y", "a b", "x2"]).predictors
    ('a b', 'x2')
    """

    response: str
    predictors: tuple[str, ...]
    intercept: bool

    @classmethod
    def of(cls, formula: str, columns: Sequence[str], beside: Sequence[str] = ()) -> "PlainFormula":
        """From a formula and the columns of a table; those `beside` are weights and the like, and no predictors."""
        sides = _SIDES.match(formula)
        assert sides is not None
        left, sign, right = sides.groups()
        right = right.strip() if right.lstrip()[:1] in ("+", "-") else f"+ {right.strip()}"
        terms, rest = _TERM.findall(right), _TERM.sub("", right).strip()
        if not sign or not terms or rest:
            raise FormulaError(
                f"{formula!r} is no formula; write one like 'y ~ .' or 'y ~ a + b - 1'."
            )
        known = {*columns}
        response = _name(left.strip(), known, formula)
        chosen: set[str] = set()
        intercept = True
        for sign, term in terms:
            if term in ("0", "1"):
                intercept = (sign == "+") == (term == "1")
            else:
                every = known - {response, *beside}
                some = every if term == "." else {_name(term, known, formula)}
                chosen = chosen | some if sign == "+" else chosen - some
        if response in chosen:
            raise FormulaError(f"the response {response!r} is also a term of {formula!r}.")
        predictors = tuple(name for name in columns if name in chosen)
        if not predictors:
            raise FormulaError(f"{formula!r} leaves no predictor.")
        return cls(response, predictors, intercept)


def _name(term: str, columns: Collection[str], formula: str) -> str:
    name = term.strip("`")
    if name in columns:
        return name
    raise FormulaError(
        f"{term!r} in {formula!r} is no column{did_you_mean(name, columns)}. Terms that compute something, as factors, "
        "splines and interactions do, need the table in memory; of one that is not, a formula only names columns."
    )
