"""The public names of the package in the order of the reference, each with the guide that says when to use it.

A public name that stands in no section comes under "More", so that none is without a page.
"""

import inspect
from dataclasses import dataclass
from importlib import import_module

# Where names are public.
DOORS = (
    "robustsparse",
    "robustsparse.datasets",
    "robustsparse.inference",
    "robustsparse.simulate",
    "robustsparse.baselines",
    "robustsparse.sklearn",
)
REST = "More"


@dataclass(frozen=True)
class Section:
    """A part of the reference: its heading, its guide, and how the names in it begin or what they are."""

    heading: str
    guide: str
    names: tuple[str, ...]


SECTIONS = (
    Section("Regression", "fit", ("rht", "rht_fit", "RHTResult", "stability", "Stability", "load")),
    Section("Intervals", "inference", ("inference.split", "inference.bootstrap")),
    Section("Several models", "report", ("table", "ModelTable", "coefplot")),
    Section("Graphs", "graphs", ("robust_ns", "GraphResult")),
    Section("Judging predictions", "predict", ("CrossValidation", "ROC", "mean_roc", "plot_roc")),
    Section("scikit-learn", "pipelines", ("sklearn.",)),
    Section("Data", "large", ("datasets.", "winsorize", "open_bed")),
    Section(
        "Gradients and losses",
        "robustness",
        (
            "Trimmed",
            "MedianOfMeans",
            "Mean",
            "GeometricMedianOfMeans",
            "Catoni",
            "SparseFilter",
            "Squared",
            "Huber",
            "Logistic",
        ),
    ),
    Section("Simulated data", "robustness", ("simulate.",)),
    Section("Compared methods", "robustness", ("baselines.",)),
    Section("Errors and warnings", "bad-rows", ("Error", "Warning")),
    Section(REST, "index", ()),
)


def public_names() -> list[str]:
    """Every public function, class and value by its shortest door, `rht` or `simulate.linear`, each once."""
    found: dict[int, str] = {}
    for door in DOORS:
        module = import_module(door)
        for name in _of(module):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                short = f"{door}.{name}".removeprefix("robustsparse.")
                found.setdefault(id(value), short)
    return list(found.values())


def _of(module: object) -> list[str]:
    """What a module says is public, else what it defines without an underscore."""
    said = getattr(module, "__all__", None)
    if said is not None:
        return list(said)
    mine = module.__name__  # type: ignore[attr-defined]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == mine
    ]


def by_section() -> dict[Section, list[str]]:
    """The names of every section that has some, in its order."""
    left = public_names()
    taken: dict[Section, list[str]] = {}
    for section in SECTIONS:
        mine = [name for name in left if section.heading == REST or _belongs(name, section.names)]
        taken[section] = sorted(mine, key=lambda name, of=section: _rank(name, of.names))
        left = [name for name in left if name not in mine]
    return {section: names for section, names in taken.items() if names}


def _belongs(name: str, wanted: tuple[str, ...]) -> bool:
    return any(_fits(name, one) for one in wanted)


def _fits(name: str, one: str) -> bool:
    if one.endswith("."):
        return name.startswith(one)
    return name == one or (one in ("Error", "Warning") and name.endswith(one))


def _rank(name: str, wanted: tuple[str, ...]) -> tuple[int, str]:
    place = next((i for i, one in enumerate(wanted) if _fits(name, one)), len(wanted))
    return place, name
