"""Sparse models for data that cannot be trusted: corrupted rows, heavy tails, more columns than rows."""

from robustsparse import simulate
from robustsparse.errors import (
    ContaminationWarning,
    ConvergenceWarning,
    DataError,
    DataWarning,
    FormulaError,
    ParameterError,
    RobustSparseError,
    RobustSparseWarning,
    UnseenLevelError,
)
from robustsparse.gradients import Mean, MedianOfMeans, Trimmed
from robustsparse.losses import Huber, Logistic, Squared
from robustsparse.plots import plot_roc
from robustsparse.regression import load, rht, rht_fit
from robustsparse.results import RHTResult
from robustsparse.roc import ROC

__version__ = "0.1.0"
