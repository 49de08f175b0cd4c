"""Which columns of a design are meant by a name: its own, that of a term or that of a variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustsparse.base.errors import FormulaError, ParameterError
from robustsparse.base.text import did_you_mean, listed, shown
from robustsparse.base.types import Mask
from robustsparse.design.formulas.coding import Coding
from robustsparse.design.frames import Kind
from robustsparse.design.groups import Groups, column_groups


@dataclass(frozen=True)
class NamedColumns:
    """Places of columns by what a user may call them: a column's own name first, then a term's, then a variable's."""

    names: Sequence[str]
    column: dict[str, list[int]]
    term: dict[str, list[int]]
    variable: dict[str, list[int]]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        coding: Coding,
        places: Sequence[Sequence[int]],
        data: Mapping[str, Kind],
    ) -> NamedColumns:
        """Of a design with these columns, those of coded terms in these places, made of the columns of the data."""
        term: dict[str, list[int]] = {}
        variable: dict[str, list[int]] = {}
        for coded, at in zip(coding.terms, places, strict=True):
            term.setdefault(coded.label, []).extend(at)
            read = sorted(coded.variables & data.keys())
            if len(read) == 1:
                variable.setdefault(read[0], []).extend(at)
        return cls(names, {name: [j] for j, name in enumerate(names)}, term, variable)

    def coded(self) -> Mask | None:
        """Columns of terms that have several."""
        places = [j for at in self.term.values() if len(at) > 1 for j in at]
        mask = np.zeros(len(self.names), dtype=bool)
        mask[places] = True
        return mask if places else None

    def __call__(self, argument: str, name: Any) -> list[int]:
        """The columns that a name in an argument stands for."""
        found = self.column.get(name) or self.term.get(name) or self.variable.get(name)
        if not found:
            known = {**self.column, **self.term, **self.variable}
            if name in known:
                raise FormulaError(
                    f"{argument} names {name!r}, which has no column of its own: it is the intercept, or a factor with "
                    f"one level in the rows in use; leave it out of {argument}"
                )
            hint = did_you_mean(name, known) or f"; these are terms: {listed(known, quote=False)}"
            raise FormulaError(f"{argument} names {name!r}, which is no term{hint}")
        return found


def kept_columns(keep: str | Sequence[str] | None, found: NamedColumns) -> Mask:
    """Columns of the kept terms."""
    mask = np.zeros(len(found.names), dtype=bool)
    if keep is None:
        return mask
    wanted = list(keep) if isinstance(keep, Iterable) and not isinstance(keep, str) else [keep]
    for name in wanted:
        if not isinstance(name, str):
            raise ParameterError(
                f"keep={shown(keep)} must name terms, variables or columns of the formula; {shown(name)} is no name"
            )
        mask[found("keep", name)] = True
    return mask


def grouped_columns(groups: Any, group_terms: bool, found: NamedColumns, keep: Mask) -> Groups:
    """Columns that enter and leave together."""

    def find(name: Any) -> list[int]:
        if isinstance(name, str):
            return found("groups", name)
        raise ParameterError(
            f"groups must name terms, variables or columns of the formula; {shown(name)} is no name"
        )

    terms = {label: at for label, at in found.term.items() if at} if group_terms else {}
    return column_groups(groups, found.names, find, keep, terms)
