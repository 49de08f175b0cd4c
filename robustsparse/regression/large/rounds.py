"""A fit on candidate columns, proved on all of them, with those that speak against it again, until none does.

By induction a run without an objection is the run on all columns: up to its first look both hold the same; no column
outside changes what comes of it, so both hold the same up to the second; and so on to the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from robustsparse.base.checkpoint import Checkpoint
from robustsparse.base.errors import DataError
from robustsparse.base.types import Indices, Mask
from robustsparse.design.stores.store import ColumnStore
from robustsparse.regression.fit.looks import Log, Look
from robustsparse.regression.large.proof import Named, Own, prove, strongest
from robustsparse.regression.large.statistics import Shown, Statistics, Units

# Runs until one is proved, at most.
MAX_ROUNDS = 30
# Columns that are held at first for each measure of how well they go with the response; and, as a share of all that
# the memory can take, how many they are at most.
_FIRST, _FIRST_SHARE = 1000, 0.25
# Bytes that a run takes for each byte of the columns that it holds: as read, standardized, in single precision, and on
# other rows.
_COPIES = 5
# Columns that only came near join as well if all that are held then take no more than this part of the memory.
_NEAR_SHARE = 0.8
_KEY = 16

T = TypeVar("T")
# Makes a fit of the columns that are held (ascending), whose looks are noted.
Run = Callable[[Indices, Log], T]


def room(n: int, units: Units, memory: int) -> int:
    """Number of columns of n rows that a run can hold."""
    return max(memory // (_COPIES * np.dtype(units.dtype).itemsize * n), 1)


def first_held(known: Statistics, keep: Mask, most: int) -> Indices:
    """The columns of the first run, of at most so many: kept ones, and those that go best with the response."""
    d = len(keep)
    most = min(_FIRST, max(int(_FIRST_SHARE * most), 1))
    held = keep.copy()
    for slopes in known.slopes:
        held[np.argsort(-slopes, kind="stable")[: min(most, d)]] = True
    return np.flatnonzero(held & (~known.constant | keep))


@dataclass
class Progress:
    """How far the rounds are: what a checkpoint keeps.

    Attributes
    ----------
    held : array of int
        Columns of the next run.
    proved : set of bytes
        Keys of looks that no other column changes.
    """

    held: Indices
    proved: set[bytes]

    def store(self, checkpoint: Checkpoint) -> None:
        """Keep it."""
        keys = np.frombuffer(b"".join(sorted(self.proved)), dtype=np.uint8)
        checkpoint.write("rounds", {"held": self.held, "proved": keys})

    @classmethod
    def read(cls, checkpoint: Checkpoint) -> "Progress | None":
        """What was kept."""
        parts = checkpoint.read("rounds")
        if parts is None:
            return None
        keys = parts["proved"].tobytes()
        return cls(parts["held"], {keys[a : a + _KEY] for a in range(0, len(keys), _KEY)})


def proved_run(
    run: Run[T],
    store: ColumnStore,
    units: Units,
    known: Statistics,
    begun: Progress,
    most: int,
    checkpoint: Checkpoint,
    shown: Callable[[int, int], Shown],
    max_rounds: int = MAX_ROUNDS,
) -> T:
    """What a run comes to on all columns; it may hold `most`, and `shown(turn, held)` draws the progress of a pass."""
    for turn in range(1, max_rounds + 1):
        log = Log()
        outcome = run(begun.held, log)
        bar = shown(turn, len(begun.held))
        joining = _objections(log, store, units, known, begun, bar)
        if not len(joining.against):
            return outcome
        begun.held = _enlarged(begun.held, joining, most)
        begun.store(checkpoint)
    raise DataError(
        f"the fit could not be proved on all columns within {max_rounds} rounds, the last with {len(begun.held)} of "
        f"{store.shape[1]} columns held; a smaller k, or fewer columns that repeat each other, make it easier."
    )


def _enlarged(held: Indices, joining: "Joining", most: int) -> Indices:
    """The columns that are held with those that object, and with those that came near if there is room."""
    both = np.union1d(held, joining.against)
    if len(both) > most:
        raise DataError(
            f"{len(both)} columns have a say in this fit, and the memory can hold {most}; give "
            f"{1.0 + len(both) / most:.1f} times as much memory=, or a smaller k."
        )
    near = np.union1d(both, joining.near)
    return near if len(near) <= _NEAR_SHARE * most else both


class Joining(NamedTuple):
    """Columns that would have changed a run, and those that came near: the strongest of each look."""

    against: Indices
    near: Indices


def _objections(
    log: Log, store: ColumnStore, units: Units, known: Statistics, begun: Progress, shown: Shown
) -> Joining:
    """Columns that would have changed a run, none if it is proved, and those that came near."""
    needed = np.array(sorted(log.needed), dtype=np.int64)
    if np.isin(np.flatnonzero(~known.constant), begun.held).all():
        return Joining(needed[:0], needed[:0])
    asked = {key: look for key, look in log.looks.items() if key not in begun.proved}
    if not asked:
        return Joining(needed, needed)
    named = _judgment(list(asked.values()), store, units, known, begun.held, shown)
    # What objects is held from now on, so that where all are named nothing outside objects any more.
    open_looks = {at for at, one in named.items() if not one.complete}
    begun.proved.update(key for at, key in enumerate(asked) if at not in open_looks)
    against = [needed, *(one.columns[one.changes] for one in named.values())]
    near = [needed, *(one.columns for one in named.values())]
    return Joining(np.unique(np.concatenate(against)), np.unique(np.concatenate(near)))


def _judgment(
    looks: list[Look],
    store: ColumnStore,
    units: Units,
    known: Statistics,
    held: Indices,
    shown: Shown,
) -> dict[int, Named]:
    """Columns that all blocks name for the looks, by the places of these: one pass."""
    own = list(map(partial(_own, known, held), store.blocks))
    found: dict[int, list[Named]] = {}
    passed = shown(store.map(prove, units, looks, each=own), "proof")
    for (first, _), verdict in zip(store.blocks, passed, strict=True):
        for at, one in verdict.items():
            found.setdefault(at, []).append(one.moved(first))
    return {at: strongest(looks[at], some) for at, some in found.items()}


def _own(known: Statistics, held: Indices, block: tuple[int, int]) -> Own:
    """What a block is judged with."""
    first, last = block
    mask = np.zeros(last - first, dtype=bool)
    mask[held[np.searchsorted(held, first) : np.searchsorted(held, last)] - first] = True
    return Own(known.parts([block])[0], mask)
