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
from robustsparse.baselines.trimmed_graphs import trimmed_glasso

__all__ = [
    "clime",
    "glasso",
    "neighborhood_lasso",
    "nonparanormal",
    "rclime",
    "skeptic",
    "spearman",
    "trimmed_glasso",
]
