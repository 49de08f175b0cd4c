"""Estimators for scikit-learn: pipelines, grids, selectors and all that takes its estimators take these.

An extra, ``pip install robustsparse[sklearn]``; nothing else in the package imports scikit-learn.
"""

from robustsparse.base.errors import MissingDependencyError

try:
    from robustsparse.sklearn.graph import RobustGraph
    from robustsparse.sklearn.linear import RHTClassifier, RHTRegressor
    from robustsparse.sklearn.trusted_rows import TrustedRows
except ImportError as error:
    raise MissingDependencyError(
        "robustsparse.sklearn needs scikit-learn 1.6 or later; pip install 'robustsparse[sklearn]'."
    ) from error

__all__ = ["RHTClassifier", "RHTRegressor", "RobustGraph", "TrustedRows"]
