"""The methods that the paper compares with: graphs as `GraphResult`, regressions as `LassoResult`.

`neighborhood_lasso`, `glasso`, `clime`, `trimmed_glasso`, `rclime`, `skeptic` and `spearman` estimate graphs,
`nonparanormal` transforms their data; `lasso` and `trimmed_lasso` fit sparse linear and logistic models.
"""

from robustsparse.baselines.correlations import nonparanormal
from robustsparse.baselines.graphs import (
    clime,
    glasso,
    neighborhood_lasso,
    rclime,
    skeptic,
    spearman,
)
from robustsparse.baselines.lasso_result import LassoResult
from robustsparse.baselines.regression import lasso, trimmed_lasso
from robustsparse.baselines.trimmed_graphs import trimmed_glasso

__all__ = [
    "LassoResult",
    "clime",
    "glasso",
    "lasso",
    "neighborhood_lasso",
    "nonparanormal",
    "rclime",
    "skeptic",
    "spearman",
    "trimmed_glasso",
    "trimmed_lasso",
]
