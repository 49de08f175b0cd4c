"""The folder is the architecture: a module imports only from above itself in this list."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "robustsparse"

ORDER = [
    "errors",
    "text",
    "checks",
    "archive",
    "matrices",
    "ranks",
    "progress",
    "threads",
    "jobs",
    "kernels",
    "scales",
    "losses",
    "screening",
    "screened_trim",
    "screened_blocks",
    "gradients",
    "scaling",
    "packing",
    "descent",
    "solver",
    "preparation",
    "sparsity",
    "s_estimate",
    "refit",
    "subspaces",
    "outliers",
    "refit_binomial",
    "tuning",
    "automatic",
    "options",
    "fitting",
    "contamination",
    "frames",
    "networks",
    "adjacency",
    "formulas",
    "response",
    "array_input",
    "designspec",
    "design",
    "summary",
    "plots",
    "roc",
    "measures",
    "report",
    "call",
    "storage",
    "results",
    "assembly",
    "arrays",
    "resampling",
    "inference",
    "lasso_path",
    "neighborhoods",
    "graph_metrics",
    "graphreport",
    "graphfiles",
    "graphresult",
    "graphpath",
    "loading",
    "regression",
    "stability_selection",
    "variables",
    "graph",
    "baselines",
    "simulate",
    "datasets",
    "sklearn",
    "distributed",
    "__main__",
]

# The only module that may know each of these.
OWNERS = {"formulaic": "formulas", "matplotlib": "plots", "numba": "kernels"}


def modules() -> list[Path]:
    return [p for p in PACKAGE.rglob("*.py") if p.name != "__init__.py"]


def room(path: Path) -> str:
    """The name in ORDER that a file belongs to: its module, or its subpackage."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    # What is imported for the type checker alone does not tie modules together.
    typing_only = {
        child
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", modules(), ids=room)
def test_imports_go_one_way(path: Path) -> None:
    assert room(path) in ORDER, f"{path.name} has no place in the import order"
    above = set(ORDER[: ORDER.index(room(path))]) | {room(path)}
    own = {name.split(".")[1] for name in imported(path) if name.startswith("robustsparse.")}
    assert own & set(ORDER) <= above


@pytest.mark.parametrize("path", modules(), ids=room)
def test_each_heavy_library_has_one_owner(path: Path) -> None:
    tops = {name.split(".")[0] for name in imported(path)}
    for library, owner in OWNERS.items():
        assert library not in tops or room(path) == owner


def test_the_import_waits_for_nothing_that_not_every_fit_needs() -> None:
    heavy = {"formulaic", "joblib", "matplotlib", "scipy.stats", "threadpoolctl"}
    code = f"import sys, robustsparse; print(*({heavy!r} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout.split() == []
