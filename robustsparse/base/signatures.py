"""The arguments of a function, with what its docstring says of them, as options of a command line."""

import argparse
import inspect
import re
from collections.abc import Callable, Collection
from typing import Any

# A line of a numpydoc section that begins an entry: names, and mostly a colon and what they may be.
_ENTRY = re.compile(r"^(\w+(?:, \w+)*)(?: : (.+))?$")
_WORDS = {"true": True, "false": False, "none": None}


def add_options(
    parser: argparse.ArgumentParser,
    function: Callable[..., Any],
    *,
    without: Collection[str] = (),
    names: Collection[str] = (),
) -> set[str]:
    """Give a parser an option for each argument of a function; only those that are used are set.

    Parameters
    ----------
    parser : ArgumentParser
        The parser.
    function : callable
        The function, whose docstring is in numpydoc.
    without : collection of str
        Arguments that get no option.
    names : collection of str
        Arguments whose values are names, whatever they look like.

    Returns
    -------
    set of str
        The arguments that got one.
    """
    texts = parameter_texts(function)
    added = set()
    for name, parameter in inspect.signature(function).parameters.items():
        if name in without or parameter.kind is parameter.VAR_KEYWORD:
            continue
        about: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS}
        about["help"] = _help(texts.get(name, ("", ""))[1], parameter.default)
        if parameter.annotation in (bool, bool | None):
            about["action"] = argparse.BooleanOptionalAction
        else:
            about |= {"type": name_or_names if name in names else value, "metavar": "VALUE"}
            kinds = re.fullmatch(r"\{.*\}", texts.get(name, ("", ""))[0])
            if kinds:
                about["metavar"] = kinds.group().replace('"', "").replace(" ", "")
        parser.add_argument(f"--{name.replace('_', '-')}", **about)
        added.add(name)
    return added


def _help(text: str, default: Any) -> str:
    """The first sentence, and the default; a percent sign would be read by argparse."""
    sentence = re.split(r"(?<=\.) ", text, maxsplit=1)[0].rstrip(".").replace("``", "")
    shown = "" if default in (None, inspect.Parameter.empty) else f" (default: {default})"
    return f"{sentence}{shown}".replace("%", "%%")


def value(text: str) -> Any:
    """A word as what it looks like: a number, true, false, none, several with commas, groups with =, or text.

    Examples
    --------
    >>> value("3"), value("0.1"), value("auto"), value("false"), value("1,2,5")
    (3, 0.1, 'auto', False, [1, 2, 5])
    >>> value("left=a,b;right=c")
    {'left': ['a', 'b'], 'right': ['c']}
    """
    if "=" in text:
        pairs = (part.split("=", 1) for part in text.split(";"))
        return {name.strip(): [one.strip() for one in some.split(",")] for name, some in pairs}
    if "," in text:
        return [value(part.strip()) for part in text.split(",") if part.strip()]
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def name_or_names(text: str) -> Any:
    """A name, or several with commas.

    Examples
    --------
    >>> name_or_names("age"), name_or_names("age, 2")
    ('age', ['age', '2'])
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return parts if len(parts) > 1 else text


def parameter_texts(function: Callable[..., Any]) -> dict[str, tuple[str, str]]:
    """What a numpydoc docstring says of each argument: its kinds, and the text below.

    Examples
    --------
    >>> parameter_texts(add_options)["names"]
    ('collection of str', 'Arguments whose values are names, whatever they look like.')
    """
    found: dict[str, tuple[str, str]] = {}
    entry: tuple[str, ...] = ()
    for line in _section(inspect.getdoc(function) or ""):
        begins = _ENTRY.match(line)
        if begins:
            entry = tuple(begins.group(1).split(", "))
            found |= dict.fromkeys(entry, (begins.group(2) or "", ""))
        elif line.strip():
            for name in entry:
                kinds, text = found[name]
                found[name] = kinds, f"{text} {line.strip()}".strip()
    return found


def _section(text: str) -> list[str]:
    """Lines of the section on parameters."""
    lines = text.splitlines()
    if "Parameters" not in lines:
        return []
    start = lines.index("Parameters") + 2
    ends = [i for i in range(start, len(lines)) if lines[i].startswith("---")]
    return lines[start : ends[0] - 1 if ends else len(lines)]
