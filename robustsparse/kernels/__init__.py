"""The compiled hot loops; the only package that knows the compiler.

A design enters transposed, as `XT` (d, n), C-contiguous, so that one predictor is one contiguous
row. `r` are the scores (n,), and `m` is the number of values that a trimmed mean drops at each end.
Every exact value of a trimmed mean comes out of `trimmed_mean.exact.kept_sum`, whose order of
summation depends on nothing but the data: that makes a fit with screening equal to one without it
to the last bit.
"""

from robustsparse.kernels.arguments import (
    BlockDesign,
    BlockMemory,
    BlockScores,
    TrimDesign,
    TrimMemory,
    TrimScores,
)
from robustsparse.kernels.bisquare import (
    LARGEST_INVERSE,
    RIDGE,
    descend_bisquare,
    inverse_scales,
)
from robustsparse.kernels.block_medians import block_median_rows, block_setup, block_survivors
from robustsparse.kernels.column_sets import (
    GROWS,
    MOVES_WIDTH,
    improve_sets,
    weighted_squares,
)
from robustsparse.kernels.columns import bisquare_slopes
from robustsparse.kernels.compiler import is_compiled
from robustsparse.kernels.constants import (
    BAR_ROUNDING,
    CUTS,
    DRIFT_WIDTH,
    FLAT,
    GAPS,
    GUESS_WIDTH,
    LARGEST_DESIGN,
    LARGEST_SCORE,
    LOOSE_STEPS,
    LOOSE_TOL,
    MISLED,
    MISS,
    MOVE_SHARE,
    NORM,
    NORMS_WIDTH,
    ROUND32,
    SECANTS,
    SHORTER,
    SHRINKAGES,
    STATE_WIDTH,
    TIGHT_STEPS,
    TINY,
)
from robustsparse.kernels.deferred import (
    count_beyond,
    hash_rows,
    largest_places,
    row_deviations,
)
from robustsparse.kernels.group_sets import exchange_groups
from robustsparse.kernels.lasso.clime import clime_columns
from robustsparse.kernels.lasso.gram import lasso_from_gram, lasso_node_paths
from robustsparse.kernels.lasso.graphical import graphical_lasso, precision_from_columns
from robustsparse.kernels.lasso.rows import elastic_from_rows, weighted_lasso
from robustsparse.kernels.thresholding.fused_iteration import iterate_squares
from robustsparse.kernels.thresholding.nodes import residual_variances, threshold_nodes
from robustsparse.kernels.thresholding.support_steps import polish_squares, secant_move
from robustsparse.kernels.trimmed_mean.exact import trim_rows
from robustsparse.kernels.trimmed_mean.measure import leverage_setup, trim_setup
from robustsparse.kernels.trimmed_mean.references import claim_reference, take_scores
from robustsparse.kernels.trimmed_mean.survivors import trim_survivors

__all__ = [
    "BAR_ROUNDING",
    "CUTS",
    "DRIFT_WIDTH",
    "FLAT",
    "GAPS",
    "GROWS",
    "GUESS_WIDTH",
    "LARGEST_DESIGN",
    "LARGEST_INVERSE",
    "LARGEST_SCORE",
    "LOOSE_STEPS",
    "LOOSE_TOL",
    "MISLED",
    "MISS",
    "MOVES_WIDTH",
    "MOVE_SHARE",
    "NORM",
    "NORMS_WIDTH",
    "RIDGE",
    "ROUND32",
    "SECANTS",
    "SHORTER",
    "SHRINKAGES",
    "STATE_WIDTH",
    "TIGHT_STEPS",
    "TINY",
    "BlockDesign",
    "BlockMemory",
    "BlockScores",
    "TrimDesign",
    "TrimMemory",
    "TrimScores",
    "bisquare_slopes",
    "block_median_rows",
    "block_setup",
    "block_survivors",
    "claim_reference",
    "clime_columns",
    "count_beyond",
    "descend_bisquare",
    "elastic_from_rows",
    "exchange_groups",
    "graphical_lasso",
    "hash_rows",
    "improve_sets",
    "inverse_scales",
    "is_compiled",
    "iterate_squares",
    "largest_places",
    "lasso_from_gram",
    "lasso_node_paths",
    "leverage_setup",
    "polish_squares",
    "precision_from_columns",
    "residual_variances",
    "row_deviations",
    "secant_move",
    "take_scores",
    "threshold_nodes",
    "trim_rows",
    "trim_setup",
    "trim_survivors",
    "weighted_lasso",
    "weighted_squares",
]
