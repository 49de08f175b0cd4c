"""The types of the kernels' border against the kernels themselves."""

import ast
import inspect
from pathlib import Path

import pytest

from robustsparse import kernels

STUB = ast.parse(Path(kernels.__file__).with_suffix(".pyi").read_text())
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
TUPLES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
CONSTANTS = {
    node.target.id
    for node in STUB.body
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
}


def test_the_stub_types_all_that_is_exported_and_nothing_else() -> None:
    assert {*FUNCTIONS, *TUPLES, *CONSTANTS} == set(kernels.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_are_those_of_the_kernel(name: str) -> None:
    arguments = [argument.arg for argument in FUNCTIONS[name].args.args]
    function = getattr(kernels, name)
    plain = getattr(function, "py_func", function)
    assert arguments == list(inspect.signature(plain).parameters)


@pytest.mark.parametrize("name", TUPLES)
def test_fields_are_those_of_the_tuple(name: str) -> None:
    fields = [
        ast.unparse(node.target) for node in TUPLES[name].body if isinstance(node, ast.AnnAssign)
    ]
    assert tuple(fields) == getattr(kernels, name)._fields
