"""Every public function, class and method says what it takes, what it returns, and shows an example."""

import functools
import inspect
import re
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import robustsparse as rs

sys.path.insert(0, str(Path(__file__).parents[1] / "docs/site"))

import names

# Methods that the solver calls, not the user: what they take and return is said once, by the protocols
# `algorithm.estimator.Estimator` and `algorithm.losses.Loss`, and CONTRIBUTING shows how to write them.
SEAMS = (
    rs.Trimmed, rs.MedianOfMeans, rs.Mean, rs.GeometricMedianOfMeans, rs.Catoni, rs.SparseFilter,
    rs.Squared, rs.Huber, rs.Logistic,
)  # fmt: skip
# Called by scikit-learn, to whose documentation it belongs.
OF_OTHERS = {"sklearn.TrustedRows.get_metadata_routing"}


def is_documented_value(name: str, value: Any) -> bool:
    """Functions and classes; mappings of names and names of types have no docstring of their own."""
    return (inspect.isfunction(value) or inspect.isclass(value)) and name not in OF_OTHERS


def is_raised(value: Any) -> bool:
    """Errors and warnings are met, not called."""
    return inspect.isclass(value) and issubclass(value, Exception)


def methods(name: str, owner: Any) -> dict[str, Any]:
    """Public methods that the package wrote, by name."""
    if not inspect.isclass(owner) or owner in SEAMS or is_raised(owner):
        return {}
    found = {}
    for part in dir(owner):
        value = getattr(owner, part)
        if not part.startswith("_") and getattr(value, "__module__", "").startswith("robustsparse"):
            found[f"{name}.{part}"] = value
    return {name: value for name, value in found.items() if is_documented_value(name, value)}


def documented() -> dict[str, Any]:
    """All that must have a docstring, by name."""
    found = {}
    for name in names.public_names():
        value = functools.reduce(getattr, name.split("."), rs)
        if is_documented_value(name, value):
            found |= {name: value, **methods(name, value)}
    return found


PUBLIC = documented()


def has(text: str, heading: str) -> bool:
    return re.search(rf"^{heading}\n-+$", text, re.M) is not None


def parameters(value: Any) -> list[str]:
    return [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]


def test_the_walk_finds_what_there_is() -> None:
    assert {"rht", "RHTResult.predict", "GraphResult.to_html", "sklearn.TrustedRows.fit"} <= set(
        PUBLIC
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_an_example(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert text
    assert ">>> " in text or is_raised(PUBLIC[name])


@pytest.mark.parametrize("name", [n for n, value in PUBLIC.items() if inspect.isfunction(value)])
def test_functions_say_what_they_take_and_return(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    missing = [one for one in parameters(PUBLIC[name]) if not re.search(rf"\b{one}\b", text)]
    assert missing == []
    assert has(text, "Parameters") or not parameters(PUBLIC[name])
    returned = inspect.signature(PUBLIC[name]).return_annotation
    assert has(text, "Returns") or returned in (None, "None")


@pytest.mark.parametrize("name", [n for n, value in PUBLIC.items() if is_dataclass(value)])
def test_results_document_their_attributes(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    mine = [field.name for field in fields(PUBLIC[name]) if not field.name.startswith("_")]
    assert [one for one in mine if not re.search(rf"\b{one}\b", text)] == []
    bare = [
        part
        for part, value in vars(PUBLIC[name]).items()
        if isinstance(value, property) and not part.startswith("_") and not value.__doc__
    ]
    assert bare == []
