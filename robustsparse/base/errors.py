"""Exceptions and warnings. Every message names the column or value at fault and the remedy."""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])


class RobustSparseError(Exception):
    """Base class of all errors raised by robustsparse."""


class DataError(RobustSparseError, ValueError):
    """The data cannot be used as they are: wrong shape, type, missing or infinite values."""


class FormulaError(RobustSparseError, ValueError):
    """The formula cannot be parsed or does not fit the data frame."""


class ParameterError(RobustSparseError, ValueError):
    """An argument has a value that makes no sense."""


class UnseenLevelError(DataError):
    """New data contain a category that the model was not trained on."""


class MissingDependencyError(RobustSparseError, ImportError):
    """An optional package is needed for this call."""


class WriteError(RobustSparseError, OSError):
    """A file could not be written."""


class RobustSparseWarning(UserWarning):
    """Base class of all warnings issued by robustsparse."""


class ConvergenceWarning(RobustSparseWarning):
    """The iterations stopped before the estimate settled."""


class ContaminationWarning(RobustSparseWarning):
    """The data look worse than the chosen estimator can survive."""


class SelectionWarning(RobustSparseWarning):
    """The terms could not be chosen freely, or little speaks for them, or as much for others."""


class DataWarning(RobustSparseWarning):
    """The data were usable only after a change that the user should know of."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package that led here, however deep inside the cause lies."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
