"""Fits by R packages, where Rscript and the packages are there; the seconds are R's own, of the fit alone."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.problems import Array
from benchmarks.timing import Sample, Timed

_SCRIPT = Path(__file__).resolve().parent / "peers.R"
# One thread, as for everything else.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@cache
def r_version(package: str) -> str | None:
    """Version of an R package, None if it or R is not installed."""
    program = shutil.which("Rscript")
    if program is None:
        return None
    code = f'cat(if (requireNamespace("{package}", quietly = TRUE)) format(packageVersion("{package}")))'
    out = subprocess.run([program, "-e", code], capture_output=True, text=True)
    return out.stdout.strip() or None


def _write(folder: Path, X: Array, y: Array | None, k: int) -> None:
    np.ascontiguousarray(X.T).tofile(folder / "x.bin")
    if y is not None:
        np.ascontiguousarray(y).tofile(folder / "y.bin")
    (folder / "size.txt").write_text(f"{X.shape[0]} {X.shape[1]} {k}\n")


def run(method: str, X: Array, y: Array | None = None, k: int = 0) -> tuple[Sample, Array | None]:
    """Run one method of `peers.R` in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, X, y, k)
        subprocess.run(
            ["Rscript", str(_SCRIPT), method, name],
            check=True, capture_output=True, env=os.environ | _ONE_THREAD,
        )  # fmt: skip
        cpu, wall = map(float, (folder / "seconds.txt").read_text().split())
        coef = folder / "coef.bin"
        return Sample(wall, cpu), np.fromfile(coef) if coef.exists() else None


def regression(method: str, X: Array, y: Array, k: int) -> Timed:
    """Coefficients and R's own seconds."""
    sample, coef = run(method, X, y, k)
    assert coef is not None
    return Timed(coef, sample)


@dataclass(frozen=True)
class RGraph:
    """A path of graphs by an R package: its name in the tables, the package and the method of `peers.R`."""

    name: str
    package: str
    method: str

    @property
    def installed(self) -> bool:
        """Whether R and the package are there."""
        return r_version(self.package) is not None

    def time(self, X: Array) -> Sample:
        """Seconds of the whole path with the package's defaults."""
        return run(self.method, X)[0]


HUGE = (
    RGraph("R huge, mb, path of 10", "huge", "huge.mb"),
    RGraph("R huge, glasso, path of 10", "huge", "huge.glasso"),
)
