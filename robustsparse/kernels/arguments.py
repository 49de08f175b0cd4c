"""Arguments of kernels that belong together.

d is the number of columns of a design, n the number of its rows. The arrays are those of the caller: kernels write to
what is called a memory. Each tuple costs a call from Python a microsecond, one within another two: what is called for
every node of a graph takes numbers one by one.
"""

from typing import Any, NamedTuple


class TrimDesign(NamedTuple):
    """A design, and what bounds of its trimmed means need to know of it.

    Attributes
    ----------
    XT, XT32 : array (d, n)
        The transposed design, as it is and in single precision.
    trimmed : int
        Number of values that a trimmed mean drops at each end.
    norms : array (4, d)
        Bounds of the size of each column, see `NORM` to `PEAK`.
    sizes : array (d,)
        Typical absolute value of each column.
    light : array (n,)
        0 on rows of extreme leverage, 1 on the others.
    exact_only : bool
        Whether products with the design may overflow in single precision.
    """

    XT: Any
    XT32: Any
    trimmed: Any
    norms: Any
    sizes: Any
    light: Any
    exact_only: Any


class TrimMemory(NamedTuple):
    """What is remembered of the columns from one vector of scores to the next.

    The scores at which columns were last looked at stay in a fixed number of slots.

    Attributes
    ----------
    slots : int32 array (d,)
        Slot of the scores at which each column was last looked at; -1 for a column that must be looked at anew.
    counts : int array (slots,)
        How many columns refer to each slot, as of the last time that one was claimed.
    references : array (slots, n)
        The scores in each slot; one is not read before it is written.
    units : array (slots,)
        Typical absolute value of these.
    moved : array (slots, DRIFT_WIDTH)
        How far the scores have moved since each reference.
    state : array (STATE_WIDTH, d)
        What was found of each column when it was last looked at.
    guess : array (GUESS_WIDTH,)
        Typical cuts and gaps, over the size of a column, and by how much such cuts are missed.
    score32 : float32 array (n,)
        The current scores over their typical size.
    """

    slots: Any
    counts: Any
    references: Any
    units: Any
    moved: Any
    state: Any
    guess: Any
    score32: Any


class TrimScores(NamedTuple):
    """The current scores.

    Attributes
    ----------
    score : array (n,)
        The scores.
    unit : float
        Their typical absolute value. Cuts are remembered in this unit, so they serve as guesses after the scores have
        shrunk.
    slot : int
        Their slot among the references.
    certify : bool
        Whether single precision can be trusted with them.
    wild : bool
        Whether there are rows of extreme leverage or score, which are bounded apart.
    """

    score: Any
    unit: Any
    slot: Any
    certify: Any
    wild: Any


class BlockDesign(NamedTuple):
    """A design, and what bounds of its block means need to know of it.

    Attributes
    ----------
    XT : array (d, n)
        The transposed design.
    XT32 : float32 array (d, n)
        The same with its rows in the order of the blocks.
    order : int array (n,)
        The rows in the order of the blocks: block b are the places b, b + blocks, b + 2 blocks, ...
    blocks : int
        Number of blocks.
    norms : float32 array (d, blocks)
        Norm of each block of each column over the size of the block.
    """

    XT: Any
    XT32: Any
    order: Any
    blocks: Any
    norms: Any


class BlockMemory(NamedTuple):
    """What is remembered of the columns from one vector of scores to the next.

    The scores at which columns were last looked at stay in a fixed number of slots.

    Attributes
    ----------
    slots : int32 array (d,)
        Slot of the scores at which each column was last looked at; -1 for a column that must be looked at anew.
    counts : int array (slots,)
        How many columns refer to each slot, as of the last time that one was claimed.
    references : array (slots, n)
        The scores in each slot; one is not read before it is written.
    units : array (slots,)
        Typical absolute value of these.
    moved : float32 array (slots, blocks)
        Norm of the move of the scores since each reference, block by block, in units of the reference.
    means : float32 array (d, blocks)
        Block means of each column when it was last looked at, in units of the reference.
    """

    slots: Any
    counts: Any
    references: Any
    units: Any
    moved: Any
    means: Any


class BlockScores(NamedTuple):
    """The current scores, in the order of the blocks.

    Attributes
    ----------
    score : array (n,)
        The scores.
    score32 : float32 array (n,)
        The same over their typical size.
    slot : int
        Their slot among the references.
    certify : bool
        Whether single precision can be trusted with them.
    """

    score: Any
    score32: Any
    slot: Any
    certify: Any
