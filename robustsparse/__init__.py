"""Sparse models for data that cannot be trusted: corrupted rows, heavy tails, more columns than rows."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from robustsparse import datasets, inference
from robustsparse.algorithm.catoni import Catoni
from robustsparse.algorithm.geometric_median import GeometricMedianOfMeans
from robustsparse.algorithm.gradients import Mean, MedianOfMeans, Trimmed
from robustsparse.algorithm.losses import Huber, Logistic, Squared
from robustsparse.algorithm.sparse_filter import SparseFilter
from robustsparse.base.errors import (
    ContaminationWarning,
    ConvergenceWarning,
    DataError,
    DataWarning,
    FormulaError,
    ParameterError,
    RobustSparseError,
    RobustSparseWarning,
    SelectionWarning,
    UnseenLevelError,
)
from robustsparse.datasets import winsorize
from robustsparse.design.stores.bed import open_bed
from robustsparse.graph.result import GraphResult
from robustsparse.graph.robust_ns import robust_ns
from robustsparse.loading import load
from robustsparse.regression.out_of_fold import CrossValidation
from robustsparse.regression.result import RHTResult
from robustsparse.regression.rht import rht, rht_fit
from robustsparse.regression.side_by_side import coefplot, table
from robustsparse.regression.stability import Stability, stability
from robustsparse.report.plots import plot_roc
from robustsparse.report.roc import ROC, mean_roc
from robustsparse.report.summary.side_by_side import ModelTable

if TYPE_CHECKING:
    from robustsparse import baselines, simulate

__version__ = "0.1.0"

__all__ = [
    "ROC",
    "Catoni",
    "ContaminationWarning",
    "ConvergenceWarning",
    "CrossValidation",
    "DataError",
    "DataWarning",
    "FormulaError",
    "GeometricMedianOfMeans",
    "GraphResult",
    "Huber",
    "Logistic",
    "Mean",
    "MedianOfMeans",
    "ModelTable",
    "ParameterError",
    "RHTResult",
    "RobustSparseError",
    "RobustSparseWarning",
    "SelectionWarning",
    "SparseFilter",
    "Squared",
    "Stability",
    "Trimmed",
    "UnseenLevelError",
    "baselines",
    "coefplot",
    "datasets",
    "inference",
    "load",
    "mean_roc",
    "open_bed",
    "plot_roc",
    "rht",
    "rht_fit",
    "robust_ns",
    "simulate",
    "stability",
    "table",
    "winsorize",
]


def __getattr__(name: str) -> ModuleType:
    """Import the compared methods, the simulations and the estimators when asked for: most fits need none of them."""
    if name in ("baselines", "simulate", "sklearn"):
        return import_module(f"robustsparse.{name}")
    raise AttributeError(f"module 'robustsparse' has no attribute {name!r}")


def __dir__() -> list[str]:
    # What tab completion offers: the public names, and not the folders that they come from.
    return sorted({*__all__, "sklearn", *(name for name in globals() if name.startswith("__"))})
