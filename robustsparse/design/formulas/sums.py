"""Trees of formulas: long sums in one pass, and products counted before they are multiplied out.

For every ``+`` formulaic copies all terms before it, so that a sum of 20,000 columns would take a minute and gigabytes.
Here the summands go into one ordered set, one after the other, with the same terms in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from formulaic.parser.types import ASTNode, OrderedSet, Token

from robustsparse.base.errors import FormulaError

# Products of terms that a formula may stand for: all pairs of 2,000 columns.
_MOST_PRODUCTS = 5_000_000
# No count needs to be larger.
_UNCOUNTED = 10**15
# Sums within brackets within brackets, and so on, are left to formulaic from here on.
_DEEPEST = 50
_POWERS = ("**", "^")


class _Known:
    """A part of a tree that is evaluated already."""

    def __init__(self, terms: Any) -> None:
        self._terms = terms

    def to_terms(self, **_: Any) -> Any:
        """The terms, asked for as those of a token are."""
        return self._terms


def without_sums(tree: Any, context: Mapping[str, Any], columns: int) -> Any:
    """The tree of a formula with two sides in which the right one is evaluated.

    Parameters
    ----------
    tree : what formulaic makes of the tokens of a formula.
    context : what its operators read.
    columns : the number of columns that ``.`` stands for.

    Raises
    ------
    FormulaError
        If there are too many products to multiply out.
    """
    if not isinstance(tree, ASTNode) or len(list(tree.args)) != 2:
        return tree
    left, right = tree.args
    _require_few(_products(right, columns))
    return ASTNode(tree.operator, [left, _Known(_evaluated(right, context))])


def _evaluated(node: Any, context: Mapping[str, Any], depth: int = 0) -> Any:
    """The terms of a part of a tree, of sums without copies of what came before."""
    if depth > _DEEPEST or not _is_sum(node):
        return node.to_terms(context=context) if isinstance(node, ASTNode) else node.to_terms()
    later = []
    while _is_sum(node):
        symbol, (node, other) = node.operator.symbol, node.args
        later.append((symbol, other))
    terms = dict.fromkeys(_evaluated(node, context, depth + 1))
    for symbol, other in reversed(later):
        for term in _evaluated(other, context, depth + 1):
            if symbol == "+":
                terms.setdefault(term)
            else:
                terms.pop(term, None)
    return OrderedSet(terms)


def _is_sum(node: Any) -> bool:
    return isinstance(node, ASTNode) and node.operator.symbol in "+-" and len(node.args) == 2


def _require_few(products: int) -> None:
    if products > _MOST_PRODUCTS:
        count = f"{products:,}" if products < _UNCOUNTED else "far more"
        raise FormulaError(
            f"the formula multiplies out to {count} products of terms, and {_MOST_PRODUCTS:,} is the most; take a "
            "smaller power (one beyond the number of terms in the brackets adds nothing), or write out the "
            "interactions that you mean"
        )


def _products(tree: Any, columns: int) -> int:
    """How many products of terms a tree stands for, at most; nothing is multiplied out."""
    counts: dict[int, int] = {}
    for node in _leaves_first(tree):
        inside = [counts[id(one)] for one in node.args] if isinstance(node, ASTNode) else []
        counts[id(node)] = min(_count(node, inside, columns), _UNCOUNTED)
    return counts[id(tree)]


def _leaves_first(tree: Any) -> Iterator[Any]:
    """The nodes of a tree, each after those below; without recursion, as a long sum is a deep tree."""
    waiting = [(tree, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready or not isinstance(node, ASTNode):
            yield node
        else:
            waiting.append((node, True))
            waiting.extend((one, False) for one in node.args)


def _count(node: Any, inside: list[int], columns: int) -> int:
    """Products of a node, from those of its arguments."""
    symbol = node.operator.symbol if isinstance(node, ASTNode) else ""
    if symbol == ".":
        return columns
    if symbol == ":":
        return math.prod(inside)
    if symbol == "*":
        return sum(inside) + math.prod(inside)
    if symbol in _POWERS:
        return _power(inside[0], node.args[1])
    return sum(inside) if inside else 1


def _power(base: int, exponent: Any) -> int:
    """Factors that a power multiplies out to; one that is no whole number is refused by formulaic."""
    text = exponent.token if isinstance(exponent, Token) else ""
    times = int(text[:16]) if text.isdecimal() else 1
    beyond = times * math.log(max(base, 2)) > math.log(_UNCOUNTED)
    return _UNCOUNTED if beyond else times * base**times
