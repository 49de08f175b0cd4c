"""Which columns of a design enter and leave a model together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.base.text import shown
from robustsparse.base.types import Indices, Mask

# What `groups=` takes.
GroupsLike = Mapping[Any, Any] | Sequence[Any]
# Columns by the name of their group; columns in none stand alone, under their own name.
Groups = dict[str, tuple[int, ...]]


def column_groups(
    given: Any,
    names: Sequence[str],
    find: Callable[[Any], Sequence[int]],
    keep: Mask,
    terms: Mapping[str, Sequence[int]] | None = None,
) -> Groups:
    """Groups of columns, from those that a user asks for and from the terms of a formula.

    Parameters
    ----------
    given : mapping, sequence or None
        From a group's name to its members, or a label for each column, of which None is no group.
    names : sequence of str
        The columns.
    find : callable
        The columns that a member stands for; it raises for one that is unknown.
    keep : bool array (d,)
        Columns that are never thresholded; a group of such columns alone is none.
    terms : mapping, optional
        Columns by the term of the formula; what `given` does not mention of a term stays together.

    Examples
    --------
    >>> names = ["a", "b", "c", "d"]
    >>> column_groups({"pair": ["a", "c"]}, names, lambda one: [names.index(one)], np.zeros(4, bool))
    {'pair': (0, 2)}
    >>> column_groups(["u", "v", "v", None], names, lambda one: [], np.zeros(4, bool))
    {'u': (0,), 'v': (1, 2)}
    """
    groups, owner = _asked(given, names, find)
    for label, columns in (terms or {}).items():
        rest = tuple(j for j in columns if j not in owner)
        if rest and label in groups:
            raise ParameterError(
                f"groups has {label!r}, which is also a term with columns outside of the group, such as "
                f"{names[rest[0]]!r}; choose another name, or put all of them into it."
            )
        if rest:
            groups[label] = rest
    _check_names(groups, names)
    _check_kept(groups, names, keep)
    # A column that is called like its group has nothing to tell.
    told = {
        name: columns
        for name, columns in groups.items()
        if not keep[list(columns)].any() and [names[j] for j in columns] != [name]
    }
    return dict(sorted(told.items(), key=lambda item: item[1]))


def named(groups: Groups, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Groups with the names of their columns.

    Examples
    --------
    >>> named({"pair": (0, 2)}, ["a", "b", "c"])
    {'pair': ('a', 'c')}
    """
    return {group: tuple(names[j] for j in columns) for group, columns in groups.items()}


def group_ids(groups: Groups, d: int) -> Indices | None:
    """Number of each column's group (d,), or None if every column stands alone.

    Examples
    --------
    >>> group_ids({"pair": (0, 2)}, 4)
    array([0, 1, 0, 2])
    """
    if all(len(columns) == 1 for columns in groups.values()):
        return None
    first = np.arange(d)
    for columns in groups.values():
        first[list(columns)] = columns[0]
    return np.unique(first, return_inverse=True)[1].astype(np.int64)


def _asked(
    given: Any, names: Sequence[str], find: Callable[[Any], Sequence[int]]
) -> tuple[Groups, dict[int, str]]:
    """The groups of a user, and which of them each column is in."""
    if given is None:
        return {}, {}
    if isinstance(given, Mapping):
        asked = {
            name: [j for member in _several(members) for j in find(member)]
            for name, members in given.items()
        }
    else:
        asked = _by_label(given, len(names))
    groups: Groups = {}
    owner: dict[int, str] = {}
    for key, columns in asked.items():
        name = str(key)
        if not columns:
            raise ParameterError(f"groups has {name!r} with no columns; leave it out.")
        if name in groups:
            raise ParameterError(f"groups has {name!r} twice; give each group a name of its own.")
        for j in columns:
            if owner.setdefault(j, name) != name:
                raise ParameterError(
                    f"groups has the column {names[j]!r} in {owner[j]!r} and in {name!r}; a column is in one group at "
                    "most."
                )
        groups[name] = tuple(sorted(set(columns)))
    return groups, owner


def _several(members: Any) -> list[Any]:
    single = isinstance(members, str) or not isinstance(members, Iterable)
    return [members] if single else list(members)


def _by_label(given: Any, d: int) -> dict[Any, list[int]]:
    """Columns by label."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(
            f"groups={shown(given)} must be a mapping from names of groups to lists of columns, or a sequence with a "
            "label for each column."
        )
    labels = list(given)
    if len(labels) != d:
        raise ParameterError(
            f"groups has {len(labels)} labels and the design has {d} columns; give one for each, or a mapping from "
            "names of groups to lists of columns."
        )
    asked: dict[Any, list[int]] = {}
    for j, label in enumerate(labels):
        if not pd.isna(label):
            asked.setdefault(label, []).append(j)
    return asked


def _check_names(groups: Groups, names: Sequence[str]) -> None:
    """Raise if a group is called like a column outside of it: a list of terms would not tell them apart."""
    inside = {name: {names[j] for j in columns} for name, columns in groups.items()}
    for name in names if groups else ():
        if name in inside and name not in inside[name]:
            raise ParameterError(
                f"groups has {name!r}, which is also a column outside of the group; choose another name."
            )


def _check_kept(groups: Groups, names: Sequence[str], keep: Mask) -> None:
    """Raise if only a part of a group is kept."""
    for name, columns in groups.items():
        kept = [names[j] for j in columns if keep[j]]
        free = [names[j] for j in columns if not keep[j]]
        if kept and free:
            raise ParameterError(
                f"keep splits {name!r}, whose columns enter and leave together: {kept[0]!r} is kept and {free[0]!r} is "
                "not. Keep all of them or none, or take the kept ones out of the group (group_terms=False for the "
                "terms of a formula)."
            )
