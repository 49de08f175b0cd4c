"""The left-hand side of a model as numbers: measured values, or two classes as 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_choice, check_range
from robustsparse.base.errors import DataError
from robustsparse.base.text import listed
from robustsparse.base.types import Array
from robustsparse.design.frames import kind_of, numbers
from robustsparse.design.predictors import float_or_nan

Classes = tuple[object, object]


@dataclass(frozen=True, repr=False)
class Response:
    """A coded response.

    Attributes
    ----------
    name : as the formula writes it, such as ``"log(y)"``.
    values : (n,) float64; 0 and 1 for the binomial family.
    classes : the labels coded 0 and 1, the second being the event; None for the gaussian family.
    """

    name: str
    values: Array
    classes: Classes | None = None

    def __repr__(self) -> str:
        return f"Response({self.name!r}, n={len(self.values)}, classes={self.classes})"


class Coding(Protocol):
    """How a family of models reads a response.

    Attributes
    ----------
    family : name of the family.
    numeric : whether values are numbers rather than labels.
    """

    @property
    def family(self) -> str: ...  # noqa: D102

    @property
    def numeric(self) -> bool: ...  # noqa: D102

    def code(self, values: pd.Series, name: str) -> Response:
        """Code the response of the rows in use."""


@dataclass(frozen=True)
class Numbers:
    """Measured values, as they are."""

    family: str = "gaussian"
    numeric = True

    def code(self, values: pd.Series, name: str) -> Response:
        """Numbers, in double precision."""
        _require_numbers(values, name, self.family)
        measured = numbers(values).to_numpy(dtype=np.float64)
        check_range(f"response {name!r}", measured)
        return Response(name, measured)


@dataclass(frozen=True)
class TwoClasses:
    """Any two labels; the event is the second in sorted order, or the second category, as in R.

    Examples
    --------
    >>> TwoClasses().code(pd.Series(["sick", "well", "sick"]), "state").values
    array([0., 1., 0.])
    """

    family: str = "binomial"
    numeric = False

    def code(self, values: pd.Series, name: str) -> Response:
        """0 and 1."""
        classes = _two_classes(values, name)
        return Response(name, recode_response(values, name, classes), classes)


CodingLike = Literal["gaussian", "binomial"] | Coding
_CODINGS: dict[str, Coding] = {"gaussian": Numbers(), "binomial": TwoClasses()}


def as_coding(family: CodingLike) -> Coding:
    """The way to read a response, from the name of a family or itself."""
    if not isinstance(family, str):
        return family
    check_choice("family", family, tuple(_CODINGS))
    return _CODINGS[family]


def recode_response(
    values: pd.Series, name: str, classes: Classes | None, family: str = "gaussian"
) -> Array:
    """Response of new data coded as in training; NaN where it is missing.

    Examples
    --------
    >>> recode_response(pd.Series(["well", None]), "state", ("sick", "well"))
    array([ 1., nan])
    """
    if classes is None:
        _require_numbers(values, name, family)
        return _with_nan(numbers(values))
    unknown = values[values.notna() & ~values.isin(list(classes))].unique()
    if len(unknown):
        raise DataError(
            f"response {name!r} has labels that were not in the training data: "
            f"{listed(_plain(unknown))}; known are {listed(classes)}"
        )
    event = values.isin([classes[1]]).to_numpy()
    return np.where(values.isna().to_numpy(), np.nan, event)


def _with_nan(values: pd.Series) -> Array:
    if isinstance(values.dtype, np.dtype):
        return values.to_numpy(dtype=np.float64)
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _require_numbers(values: pd.Series, name: str, family: str) -> None:
    if kind_of(values.dtype) == "numeric":
        return
    labels = _plain(values.dropna().unique())
    if _are_numbers(labels):
        return
    remedy = "use family='binomial'" if len(labels) == 2 else "convert it to numbers"
    if _read_as_text(labels):
        remedy = "these are numbers as text, convert them with pd.to_numeric"
    raise DataError(
        f"response {name!r} must be numeric for family={family!r}, "
        f"but it holds {listed(labels)}; {remedy}"
    )


def _read_as_text(labels: list[object]) -> bool:
    """Whether most labels are numbers that were read as text."""
    texts = [label for label in labels if isinstance(label, str)]
    wrong = sum(bool(np.isnan(float_or_nan(text))) for text in texts)
    return len(texts) > 2 and 2 * wrong < len(texts)


def _are_numbers(labels: list[object]) -> bool:
    return all(isinstance(label, int | float) for label in labels)


def _two_classes(values: pd.Series, name: str) -> Classes:
    labels = _labels(values)
    if len(labels) != 2:
        raise DataError(
            f"response {name!r} must have two different values, its classes, for family='binomial', "
            f"but the rows in use have {len(labels)}: {listed(labels)}"
            + ("; for measurements use family='gaussian'" if _are_numbers(labels) else "")
        )
    return labels[0], labels[1]


def _labels(values: pd.Series) -> list[object]:
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _plain(values.cat.remove_unused_categories().cat.categories)
    labels = _plain(values.dropna().unique())
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=str)


def _plain(labels: Any) -> list[object]:
    """Labels as Python's own types, which print and store well."""
    return [label.item() if isinstance(label, np.generic) else label for label in labels]
