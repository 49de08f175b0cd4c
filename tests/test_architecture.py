"""The folders are the architecture: imports go one way through them, and what is heavy has one owner."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "robustsparse"

# A folder imports only from those before it. Slices of one line do not import each other.
LAYERS = [
    {"base"},
    {"kernels"},
    {"robust"},
    {"algorithm"},
    {"design"},
    {"report"},
    {"regression", "graph"},
    {"baselines"},
    {"simulate"},
    {"sklearn"},
]
# The only folder that may know each of these.
OWNERS = {
    "formulaic": "design/formulas",
    "matplotlib": "report/plots",
    "numba": "kernels",
    "sklearn": "sklearn",
}
# The same of a single module.
ALONE = {
    "dask": "design/stores/dask_columns.py",
    "distributed": "design/stores/dask_columns.py",
    "bed_reader": "design/stores/bed.py",
    "pyarrow": "design/stores/parquet.py",
}
KERNEL_USERS = {"kernels", "robust", "algorithm", "design", "graph", "baselines"}
# Folders whose `__init__` is a door that others come through; the rest say what they hold, and import nothing.
DOORS = {"", "kernels", "report/plots", "baselines", "simulate", "sklearn"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def folder(path: Path) -> str:
    """The first folder of a module; the top level has none."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def imported(path: Path) -> set[str]:
    """Names of the modules that a file imports; what is for the type checker alone does not count."""
    tree = ast.parse(path.read_text())
    typing_only = {
        child
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def own(path: Path) -> set[Path]:
    """Files of the package that a module imports."""
    places = [PACKAGE.parent.joinpath(*name.split(".")) for name in imported(path)]
    files = {place.with_suffix(".py") for place in places} | {
        place / "__init__.py" for place in places
    }
    return files & set(MODULES) - {path}


def name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", [p for p in MODULES if folder(p)], ids=name)
def test_imports_go_one_way(path: Path) -> None:
    layer = next(i for i, names in enumerate(LAYERS) if folder(path) in names)
    below = set().union(*LAYERS[:layer], {folder(path)})
    # The package itself is imported only for the folders in it.
    assert {folder(other) for other in own(path)} <= below | {""}
    assert not {p for p in own(path) if not folder(p)} - {PACKAGE / "__init__.py"}


@pytest.mark.parametrize("where", sorted({p.parent for p in MODULES}), ids=name)
def test_no_cycles_within_a_folder(where: Path) -> None:
    inside = {p: own(p) for p in MODULES if p.parent == where and p.name != "__init__.py"}
    while inside:
        free = [p for p, needs in inside.items() if not needs & inside.keys()]
        assert free, f"cycle among {sorted(map(name, inside))}"
        for p in free:
            del inside[p]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_what_is_heavy_has_one_owner(path: Path) -> None:
    tops = {module.split(".")[0] for module in imported(path)}
    for library, owner in OWNERS.items():
        assert library not in tops or name(path).startswith(f"{owner}/")
    for library, module in ALONE.items():
        assert library not in tops or name(path) == module
    if any(folder(other) == "kernels" for other in own(path)):
        assert folder(path) in KERNEL_USERS


@pytest.mark.parametrize("path", [p for p in MODULES if p.name == "__init__.py"], ids=name)
def test_only_doors_import(path: Path) -> None:
    here = path.parent.relative_to(PACKAGE).as_posix().removeprefix(".")
    assert here in DOORS or not imported(path)


def test_the_folder_is_small_enough_to_see() -> None:
    entries = [p for p in PACKAGE.iterdir() if not p.name.startswith("__") and p.name != "py.typed"]
    assert len(entries) <= 14


def test_the_import_waits_for_nothing_that_not_every_fit_needs() -> None:
    heavy = {"formulaic", "joblib", "matplotlib", "scipy.stats", "sklearn", "threadpoolctl", "tqdm"}
    heavy |= {"dask", "distributed", "bed_reader", "zarr"}
    code = f"import sys, robustsparse; print(*({heavy!r} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout.split() == []
