"""Terms of several columns, by the names of the columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

# Columns by the name of their term; other columns are terms of their own.
Groups = Mapping[str, Sequence[str]]


def term_of(columns: Iterable[str], groups: Groups) -> dict[str, str]:
    """The term of each column.

    Examples
    --------
    >>> term_of(["a", "g[b]", "g[c]"], {"g": ("g[b]", "g[c]")})
    {'a': 'a', 'g[b]': 'g', 'g[c]': 'g'}
    """
    owner = {column: name for name, members in groups.items() for column in members}
    return {column: owner.get(column, column) for column in columns}


def ranked_terms(size: "pd.Series[float]", groups: Groups) -> dict[str, list[str]]:
    """Columns by term, the largest first: by its own size, or by the root mean square of those of its columns.

    Examples
    --------
    >>> ranked_terms(pd.Series({"a": 2.0, "u": 1.0, "v": 4.0, "b": 3.0}), {"w": ("u", "v")})
    {'b': ['b'], 'w': ['u', 'v'], 'a': ['a']}
    """
    if not groups:
        return {name: [name] for name in size.sort_values(ascending=False, kind="stable").index}
    term = _terms(size.index, groups)
    strength = (
        (size**2).groupby(term, sort=False).mean().sort_values(ascending=False, kind="stable")
    )
    return {str(name): list(term.index[term == name]) for name in strength.index}


def by_term(path: pd.DataFrame, groups: Groups) -> pd.DataFrame:
    """A path with one row a term: its coefficient, or the root mean square of those of its columns.

    Examples
    --------
    >>> path = pd.DataFrame({1: [-2.0, 0.0, 0.0], 2: [-2.0, 1.0, 7.0]}, index=["a", "u", "v"])
    >>> by_term(path, {"w": ("u", "v")})
         1    2
    a -2.0 -2.0
    w  0.0  5.0
    """
    if not groups:
        return path
    term = _terms(path.index, groups)
    found = ((path**2).groupby(term, sort=False).mean()) ** 0.5
    alone = ~term.duplicated(keep=False)
    # A single column has a sign.
    found.loc[term[alone]] = path[alone].to_numpy()
    found.index.name = path.index.name
    return found


def _terms(columns: "pd.Index[Any]", groups: Groups) -> "pd.Series[Any]":
    return pd.Series(term_of(columns, groups), index=columns, dtype=object)
