"""Constants that the kernels share."""

import numpy as np

# A literal zero as an argument would have a function compiled once more for it.
ZERO = np.int64(0)
# A trimmed mean has two cuts, the low one first.
SIDES = np.int64(2)

# Sums may be reordered, which is what lets them vectorize; products are never fused, so that a
# product has the same bits wherever it is formed. NaN and infinity keep their meaning.
SUMS = {"reassoc", "nsz"}

# Unit roundoff of float32 and of float64.
ROUND32 = 2.0**-24
ROUND64 = 2.0**-53
# Smallest width of a bracket.
TINY = 1e-30
# What a product can lose to float32's smallest numbers: 2**-149 times the largest score.
UNDERFLOW = 1e-24
# Float32 passes are trusted while no product can overflow: with norms of columns and scores over their typical size
# below these.
LARGEST_DESIGN = 1e12
LARGEST_SCORE = 1e20
# Below this float64 rounds absolutely, and what is proved with relative errors does not hold.
SMALLEST = 1e-300
# A sum of squares below this has lost terms to underflow.
SMALLEST_SQUARE = 1e-200
# What is claimed of a column must survive the rounding of the claim itself.
SLACK = 1.0 + 1e-9

# Rows of `TrimDesign.norms`: norm of a column; the same over rows without extreme leverage; bounds of its largest
# absolute value over these rows and over all.
NORM, LIGHT_NORM, LIGHT_PEAK, PEAK = range(4)
NORMS_WIDTH = 4
# Rows of a screening state: what is known of each predictor since it was last looked at, first of all the most that its
# value can be. What there is of both cuts stands side by side.
KNOWN, VALUE, RADIUS, LOW, HIGH, LOW_GAP, HIGH_GAP, CLIP = range(8)
STATE_WIDTH = 8
# Columns of a drift record: how far the scores moved since a reference (see `drift`).
SCALE, ALL, CALM_SCALE, CALM, CALM_MAX, RATIO_SUM, GROWTH, JUMP_MAX, JUMP_SUM = range(9)
DRIFT_WIDTH = 9
# Where in a guess the two cuts begin, the gaps between order statistics near them, and where it has by how much the
# cuts of a column never looked at are missed.
CUTS, GAPS, MISS = 0, 2, 4
GUESS_WIDTH = 5

# What follows is how an iteration of Algorithm 1 goes, in compiled code and in Python alike.
# A step that changes the support may be at most this part of the step that minimizes along the whole move. One that is
# longer is shortened so often, each time by this factor at least.
MOVE_SHARE = 0.99
SHRINKAGES, SHORTER = 15, 1.3
# A bar that is a quotient of rounded numbers is lowered by this factor, more than rounding can have raised it.
BAR_ROUNDING = 1.0 - 1e-12
# A curvature below this part of the squared move is none.
FLAT = 1e-12
# Steps on the support between two scans: loose while it still changes, tight once it stays.
LOOSE_STEPS, LOOSE_TOL = 10, 1e-3
TIGHT_STEPS = 80
# Points that the acceleration of these steps remembers.
SECANTS = np.int64(6)
# A slope so many times as large as the least one shows that the secants misled.
MISLED = 2.0
