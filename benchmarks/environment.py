"""The machine and the libraries that a result belongs to; nothing that names a host or a folder."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.rpeers import r_version

LIBRARIES = (
    "numpy", "scipy", "pandas", "numba", "formulaic",
    "scikit-learn", "abess", "skglm", "skscope", "statsmodels", "threadpoolctl",
)  # fmt: skip
R_PACKAGES = ("glmnet", "huge", "robustHD")


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """Model of the processor, where the system tells."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    root = Path(__file__).resolve().parent.parent
    out = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=root, capture_output=True, text=True
    )
    return out.stdout.strip() or "unknown"


def describe() -> dict[str, object]:
    """Everything that a reader needs to judge the figures."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "processor": _processor(),
        "cores": cores(),
        "load_before": load,
        "system": platform.system(),
        "python": platform.python_version(),
        "libraries": {library: _version(library) for library in LIBRARIES}
        | {f"R {package}": r_version(package) or "not installed" for package in R_PACKAGES},
    }
