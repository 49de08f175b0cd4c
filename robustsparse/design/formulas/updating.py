"""A formula made of another, as R's `update` does it."""

import re

from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.types import Token

from robustsparse.base.errors import FormulaError

# A dot that is neither a part of a number nor of a name, and what may hold another one.
_DOT, _QUOTE = re.compile(r"(?<![\w.`)\]])\.(?![\w.`])"), re.compile(r"[\"'`]")


def updated_formula(old: str, new: str) -> str:
    """The new formula with ``.`` replaced by what the old one has on the same side.

    Parameters
    ----------
    old : the formula to start from.
    new : such as ``". ~ . - x"``; without a response it keeps the old one.

    Examples
    --------
    >>> updated_formula("log(y) ~ a + b", ". ~ . - b + c")
    'log(y) ~ a + b - b + c'
    >>> updated_formula("y ~ . - 1", "~ (.):g")
    'y ~ (. - 1):g'
    >>> updated_formula("y ~ a", "log(.) ~ .")
    'log(y) ~ a'
    """
    response, terms = _sides(old)
    left, right = _sides(new)
    return f"{_response(left, response)} ~ {_replaced(right, terms)}"


def _response(new: str, old: str) -> str:
    """The new response, of which the old one may be a part."""
    if new in ("", "."):
        return old
    # Braces stand around code, and may not stand within.
    inside = f"({old[1:-1]})" if old.startswith("{") else old
    return new if _QUOTE.search(new) else _DOT.sub(lambda _: inside, new)


def _sides(formula: str) -> tuple[str, str]:
    if not isinstance(formula, str):
        raise FormulaError(
            f"formula must be text such as '. ~ . - x', not {type(formula).__name__}."
        )
    tildes = [token for token in _tokens(formula) if _is(token, Token.Kind.OPERATOR, "~")]
    if len(tildes) != 1:
        raise FormulaError(
            f"formula {formula!r} must have one ~; write a change as '. ~ . - x', in which . is what was there before."
        )
    place = int(tildes[0].source_start or 0)
    return formula[:place].strip(), formula[place + 1 :].strip()


def _tokens(formula: str) -> list[Token]:
    try:
        return list(tokenize(formula))
    except Exception as error:
        raise FormulaError(f"formula {formula!r} cannot be read: {error}") from error


def _is(token: Token, kind: Token.Kind, text: str) -> bool:
    return token.kind is kind and token.token == text


def _replaced(side: str, old: str) -> str:
    """One side of the new formula with the old one in the place of its dots."""
    tokens = _tokens(side)
    text = side
    for i in reversed(range(len(tokens))):
        if _is(tokens[i], Token.Kind.VALUE, "."):
            start, end = int(tokens[i].source_start or 0), int(tokens[i].source_end or 0)
            inside = old if _stands_alone(tokens, i) else f"({old})"
            text = text[:start] + inside + text[end + 1 :]
    return text


def _stands_alone(tokens: list[Token], i: int) -> bool:
    """Whether a dot is a summand, so that no brackets are needed; in these, `- 1` would be lost."""
    before = tokens[i - 1].token if i else "+"
    after = tokens[i + 1].token if i + 1 < len(tokens) else "+"
    return (before == "+" and after in "+-") or (before == "(" and after == ")")
