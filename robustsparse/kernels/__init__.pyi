"""Types of all that crosses the border into the compiled code, which has none of its own."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.types import Array, Indices, Mask, Places

# Designs may be of single or of double precision.
Design = NDArray[np.floating[Any]]
Single = NDArray[np.float32]

BAR_ROUNDING: float
CUTS: int
DRIFT_WIDTH: int
FLAT: float
GAPS: int
GROWS: int
GUESS_WIDTH: int
LARGEST_DESIGN: float
LARGEST_INVERSE: float
LARGEST_SCORE: float
LOOSE_STEPS: int
LOOSE_TOL: float
MISLED: float
MISS: int
MOVES_WIDTH: int
MOVE_SHARE: float
NORM: int
NORMS_WIDTH: int
RIDGE: float
ROUND32: float
SECANTS: int
SHORTER: float
SHRINKAGES: int
STATE_WIDTH: int
TIGHT_STEPS: int
TINY: float

class TrimDesign(NamedTuple):
    XT: Design
    XT32: Design
    trimmed: int
    norms: Array
    sizes: Array
    light: Array
    exact_only: bool

class TrimMemory(NamedTuple):
    slots: NDArray[np.int32]
    counts: Indices
    references: Array
    units: Array
    moved: Array
    state: Array
    guess: Array
    score32: Single

class TrimScores(NamedTuple):
    score: Array
    unit: float
    slot: int
    certify: bool
    wild: bool

class BlockDesign(NamedTuple):
    XT: Design
    XT32: Single
    order: Indices
    blocks: int
    norms: Single

class BlockMemory(NamedTuple):
    slots: NDArray[np.int32]
    counts: Indices
    references: Array
    units: Array
    moved: Single
    means: Single

class BlockScores(NamedTuple):
    score: Array
    score32: Single
    slot: int
    certify: bool

def bisquare_slopes(XT: Array, y: Array, limit: float, out: Array) -> None: ...
def block_median_rows(XT: Design, order: Indices, r: Array, blocks: int, out: Array) -> None: ...
def block_setup(design: BlockDesign, first: int, last: int) -> None: ...
def block_survivors(
    design: BlockDesign,
    memory: BlockMemory,
    scores: BlockScores,
    first: int,
    last: int,
    closed: Mask,
    k: int,
    bar: float,
    found: Indices,
    values: Array,
) -> int: ...
def claim_reference(
    score: Array, slots: NDArray[np.int32], counts: Indices
) -> tuple[float, int]: ...
def clime_columns(
    S: Array,
    lambdas: Array,
    first: int,
    last: int,
    max_pivots: int,
    out: Array,
    reached: Indices,
) -> None: ...
def count_beyond(XT: Array, limits: Array, counts: NDArray[np.int32]) -> None: ...
def descend_bisquare(
    AT: Array,
    y: Array,
    prior: Array,
    average: Array,
    tuning: float,
    aim: float,
    near: float,
    tol: float,
    max_iter: int,
    coefs: Array,
    inverses: Array,
    moved: Array,
) -> int: ...
def elastic_from_rows(
    Z: Array,
    resid: Array,
    threshold: float,
    ridge: float,
    beta: Array,
    tol: float,
    max_sweeps: int,
) -> bool: ...
def exchange_groups(
    explained: Array,
    shared: Array,
    slope: Array,
    inverse: Array,
    coef: Array,
    ends: Indices,
    members: Indices,
    dependent: float,
    more: Array,
    added: Array,
    exchanged: Array,
    cost: Array,
) -> None: ...
def graphical_lasso(
    S: Array, penalty: float, W: Array, B: Array, tol: float, max_rounds: int, max_sweeps: int
) -> int: ...
def hash_rows(
    bits: NDArray[np.uint64], factors: NDArray[np.uint64], out: NDArray[np.uint64]
) -> None: ...
def improve_sets(
    gram: Array,
    cross: Array,
    squares: Array,
    total: float,
    dependent: float,
    lower: float,
    starts: Indices,
    lengths: Indices,
    first: int,
    last: int,
    sets: Indices,
    rss: Array,
    moves: Indices,
    chosen: Indices,
) -> bool: ...
def is_compiled(compiled: Any) -> bool: ...
def inverse_scales(
    squares: Array,
    average: Array,
    tuning: float,
    aim: float,
    tol: float,
    max_iter: int,
    inverses: Array,
) -> None: ...
def iterate_squares(
    y: Array,
    weights: Array,
    k: int,
    kept: Mask,
    barred: Mask,
    columns: Indices,
    values: Array,
    share: float,
    tight_tol: float,
    design: TrimDesign,
    memory: TrimMemory,
    new_columns: Indices,
    new_values: Array,
) -> tuple[int, float, float, int, bool, float]: ...
def largest_places(columns: Indices, values: Array, k: int, places: Places) -> int: ...
def lasso_from_gram(
    S: Array, penalty: float, beta: Array, grad: Array, tol: float, max_sweeps: int
) -> bool: ...
def lasso_node_paths(
    S: Array, lambdas: Array, first: int, last: int, tol: float, max_sweeps: int, out: Array
) -> int: ...
def leverage_setup(XT: Design, light: Array, first: int, last: int, norms: Array) -> None: ...
def polish_squares(
    XT: Array,
    y: Array,
    weights: Array,
    m: int,
    share: float,
    steps: int,
    tol: float,
    once: bool,
    values: Array,
) -> None: ...
def precision_from_columns(W: Array, B: Array, out: Array) -> None: ...
def residual_variances(S: Array, starts: Indices, neighbors: Indices, out: Array) -> None: ...
def row_deviations(XT: Design, center: bool, location: Array, deviation: Array) -> None: ...
def secant_move(past: Array, count: int, at: Array, length: float, move: Array) -> None: ...
def take_scores(
    score: Array, light: Array, memory: TrimMemory
) -> tuple[float, int, bool, bool]: ...
def threshold_nodes(
    S: Array, first: int, last: int, ks: Indices, places: Indices, values: Array
) -> None: ...
def trim_rows(XT: Design, r: Array, m: int, cuts: Array, out: Array) -> None: ...
def trim_setup(
    XT: Design,
    first: int,
    last: int,
    step: int,
    XT32: Design,
    norms: Array,
    sizes: Array,
    nonzeros: Indices,
    row_squares: Array,
) -> None: ...
def trim_survivors(
    design: TrimDesign,
    memory: TrimMemory,
    scores: TrimScores,
    first: int,
    last: int,
    closed: Mask,
    k: int,
    bar: float,
    found: Indices,
    values: Array,
) -> int: ...
def weighted_lasso(
    XT: Design,
    w: Array,
    r: Array,
    penalty: float,
    beta: Array,
    intercept: bool,
    tol: float,
    max_sweeps: int,
) -> tuple[float, bool]: ...
def weighted_squares(XT: Design, weights: Array, out: Array) -> None: ...
