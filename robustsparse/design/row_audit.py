"""Rows that cannot be used, for which columns, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustsparse.base.text import listed
from robustsparse.base.types import Mask
from robustsparse.design.blocks import NumericBlock


def infinite(values: pd.Series | npt.NDArray[Any]) -> Mask:
    """Find where a column is plus or minus infinity; factors never are."""
    array = np.asarray(values)
    if array.dtype.kind != "f":
        return np.zeros(array.shape, dtype=bool)
    return np.asarray(np.isinf(array))


@dataclass
class RowAudit:
    """Which rows cannot be used, and for which columns.

    A row that is both missing and infinite somewhere counts as missing.
    """

    missing: Mask
    infinite: Mask
    _found: dict[str, Mask] = field(default_factory=dict)

    @classmethod
    def of(cls, n: int) -> RowAudit:
        """Start with n rows and nothing found."""
        return cls(np.zeros(n, dtype=bool), np.zeros(n, dtype=bool))

    @property
    def bad(self) -> Mask:
        """Rows that cannot be used."""
        return self.missing | self.infinite

    @property
    def columns(self) -> dict[str, int]:
        """Number of values at fault, by column."""
        return {name: int(found.sum()) for name, found in self._found.items()}

    def found(self, names: Iterable[str]) -> Mask:
        """Rows where one of these columns or pieces is at fault."""
        faults = [self._found[name] for name in names if name in self._found]
        return np.any(faults, axis=0) if faults else np.zeros(len(self.missing), dtype=bool)

    def note(self, name: str, missing: Mask, infinite: Mask) -> None:
        """Add what one column holds."""
        self.missing |= missing
        self.infinite |= infinite
        found = missing | infinite
        if found.any():
            self._found[name] = found | self._found.get(name, False)

    def scan(self, block: NumericBlock) -> None:
        """Add what plain numeric columns hold."""
        for place, values in block.chunks():
            with np.errstate(all="ignore"):
                clean = np.isfinite(values.sum())
            # A finite sum proves a clean chunk at the price of one pass; else look closely.
            if clean:
                continue
            missing, unbounded = np.isnan(values), np.isinf(values)
            for j in np.flatnonzero((missing | unbounded).any(axis=0)):
                self.note(block.names[place.start + j], missing[:, j], unbounded[:, j])

    def describe(self) -> str:
        """List columns with the number of values at fault, worst first."""
        worst = sorted(self.columns.items(), key=lambda item: -item[1])
        return listed([f"{name} ({count})" for name, count in worst], quote=False)


@dataclass(frozen=True)
class Dropped:
    """Rows that were left out.

    Attributes
    ----------
    missing, infinite : how many rows; one that is both counts as missing.
    labels : the index labels of all rows that were left out.
    columns : how many values were at fault, by column or term.
    weightless : how many rows of weight 0; what they hold does not matter.
    """

    missing: int
    infinite: int
    labels: pd.Index
    columns: dict[str, int]
    weightless: int = 0
