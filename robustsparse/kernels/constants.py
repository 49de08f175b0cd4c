"""Constants that the kernels share."""

import numpy as np

# A literal zero as an argument would have a function compiled once more for it.
ZERO = np.int64(0)

# Sums may be reordered, which is what lets them vectorize; products are never fused, so that a
# product has the same bits wherever it is formed. NaN and infinity keep their meaning.
SUMS = {"reassoc", "nsz"}

# Unit roundoff of float32.
ROUND32 = 2.0**-24
# Smallest width of a bracket.
TINY = 1e-30
# What a product can lose to float32's smallest numbers: 2**-149 times the largest score.
UNDERFLOW = 1e-24
# Below this float64 rounds absolutely, and what is proved with relative errors does not hold.
SMALLEST = 1e-300
# A sum of squares below this has lost terms to underflow.
SMALLEST_SQUARE = 1e-200
# What is claimed of a column must survive the rounding of the claim itself.
SLACK = 1.0 + 1e-9

# Columns of a screening state: what is known of each predictor since it was last looked at.
VALUE, RADIUS, LOW, HIGH, LOW_GAP, HIGH_GAP, CLIP = range(7)
STATE_WIDTH = 7
# Columns of a drift record: how far the scores moved since a reference (see `drift`).
ALL, LIGHT, LIGHT_MAX, RATIO_SUM, RATIO_MAX, JUMP_MAX, JUMP_SUM = range(7)
DRIFT_WIDTH = 7

# A curvature below this part of the squared move is none.
FLAT = 1e-12
