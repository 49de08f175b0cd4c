"""Arguments of functions as options of a command line."""

import argparse
from typing import Any

import pytest

import robustsparse as rs
from robustsparse.base.signatures import add_options, parameter_texts, value


def example(data: Any, size: int = 3, fast: bool = False, *, names: Any = None) -> None:
    """Do something.

    Parameters
    ----------
    data : DataFrame
        The data.
    size, other : int
        How large. Not shown: 5%.
    fast : bool
        Whether to hurry, at 5% more.
    names : {"a", "b"}
        Names of columns.

    Returns
    -------
    names : nothing
        Not an argument.
    """


def parsed(*words: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    add_options(parser, example, without=["data"], names=["names"])
    return vars(parser.parse_args(words))


def test_only_what_is_given_is_set() -> None:
    assert parsed() == {}
    assert parsed("--size", "4", "--fast", "--names", "1") == {
        "size": 4,
        "fast": True,
        "names": "1",
    }
    assert parsed("--no-fast", "--names", "1,b") == {"fast": False, "names": ["1", "b"]}


def test_help_is_the_first_sentence_and_the_default() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser, example, without=["data"])
    text = parser.format_help()
    assert "How large (default: 3)" in text
    assert "Not shown" not in text
    assert "at 5% more" in text
    assert "--names {a,b}" in text


def test_texts_end_where_the_section_does() -> None:
    assert set(parameter_texts(example)) == {"data", "size", "other", "fast", "names"}
    assert parameter_texts(example)["names"][1] == "Names of columns."


@pytest.mark.parametrize("function", [rs.rht, rs.robust_ns, rs.stability])
def test_every_argument_of_ours_is_explained(function: Any) -> None:
    parser = argparse.ArgumentParser()
    added = add_options(parser, function, without=["data", "formula"])
    assert added <= set(parameter_texts(function))


@pytest.mark.parametrize(
    ("text", "meant"),
    [("-1.5e3", -1500.0), ("None", None), ("TRUE", True), ("a,2", ["a", 2]), ("x-y", "x-y"), ("inf", float("inf"))],
)  # fmt: skip
def test_values_are_what_they_look_like(text: str, meant: Any) -> None:
    assert value(text) == meant
