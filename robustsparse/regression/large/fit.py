"""The fit of a design that is read in blocks of columns."""

import os
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.algorithm.gradients import Mean, Trimmed
from robustsparse.base.checkpoint import Checkpoint, Parts, fingerprint
from robustsparse.base.checks import check_choice
from robustsparse.base.errors import ParameterError
from robustsparse.base.progress import progress
from robustsparse.base.threads import one_blas_thread
from robustsparse.base.types import Indices, Mask
from robustsparse.design.arrays import array_design, array_names, kept_columns, require_rows
from robustsparse.design.design import Design
from robustsparse.design.frames import INTERCEPT
from robustsparse.design.stores.store import ColumnStore
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.cells import empty_cells
from robustsparse.regression.fit.looks import Log, Whole
from robustsparse.regression.fit.options import Options, for_response, make_options
from robustsparse.regression.fit.rows import Leverage
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import check_units, require_variation, with_response
from robustsparse.regression.large.cells import refuse_wrong_cells
from robustsparse.regression.large.rounds import MAX_ROUNDS, Progress, first_held, proved_run, room
from robustsparse.regression.large.statistics import (
    Asked,
    Shown,
    Statistics,
    Units,
    part_of,
    sampled,
    statistics,
)
from robustsparse.regression.result import RHTResult
from robustsparse.regression.spine import Outcome, check_errors, fit_problem, told, warn_of_constant
from robustsparse.robust.scales import median_and_mad
from robustsparse.robust.standardize import Scaling
from robustsparse.robust.wrong_cells import RowCounts

# A response beyond this many scales is cut off where columns are first compared with it.
_CUT_OFF = 3.0


@dataclass(frozen=True)
class Limits:
    """How a fit of large data may work.

    Attributes
    ----------
    memory : int
        Bytes that may be held.
    checkpoint : path or None
        Folder in which the rounds are kept.
    max_rounds : int
        Runs until one is proved.
    """

    memory: int
    checkpoint: str | os.PathLike[str] | None = None
    max_rounds: int = MAX_ROUNDS


def fit_store(
    store: ColumnStore,
    y: Any,
    asked: Arguments,
    limits: Limits,
    *,
    names: Sequence[str] | None = None,
    intercept: bool = True,
    keep: Sequence[Any] | None = None,
    groups: Any = None,
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    na_action: str = "raise",
) -> RHTResult:
    """Fit a store of columns; the arguments are those of `rht_fit`."""
    options = make_options(asked)
    _refuse(options, groups, na_action)
    labels = array_names(names if names is not None else store.names, store.shape[1])
    if intercept and INTERCEPT in labels:
        raise ParameterError(f"a column is called {INTERCEPT!r} like the intercept; rename it.")
    # What is to be known of the rows does not depend on the columns: any one will do.
    rows = array_design(
        np.zeros((store.shape[0], 1)), y, coding=options.family.coding, intercept=intercept,
        weights=weights, offset=offset, cluster=cluster,
        na_action="drop" if na_action == "drop" else "raise",
    )  # fmt: skip
    rows = replace(rows, by_name=names is not None or store.names is not None)
    require_rows(len(rows.rows))
    check_errors(rows, options)
    warn_of_constant(rows)
    kept = kept_columns(keep, labels)
    return _Large(store, rows, labels, kept, options, limits).fitted(asked)


def _refuse(options: Options, groups: Any, na_action: str) -> None:
    """Raise for what needs all columns at once."""
    check_choice("na_action", na_action, ("raise", "drop", "impute"))
    wrong = ""
    if not isinstance(options.estimator, Trimmed | Mean):
        wrong = "estimator= must be 'trim' or 'mean'; 'trim' withstands heavy tails as well as others do"
    elif options.split:
        wrong = "split= is not possible; split=False uses all rows in every iteration"
    elif groups is not None:
        wrong = "groups= is not possible; select single columns"
    elif na_action == "impute":
        wrong = "na_action='impute' is not possible; impute the columns first"
    elif options.goal == "predict":
        wrong = (
            "goal='predict' is not possible, for it shrinks all columns at once; use goal='select'"
        )
    if wrong:
        raise ParameterError(
            f"X is read in blocks of columns, and {wrong}. Or give as much memory= as all columns need."
        )


@dataclass(frozen=True)
class _Large:
    """A fit of a store.

    Attributes
    ----------
    store : ColumnStore
        The columns.
    rows : Design
        The rows that count, with a response, without columns.
    names : tuple of str
        Names of all columns.
    kept : bool array (d,)
        Columns that are never thresholded.
    options : Options
        Options of the fit.
    limits : Limits
        How it may work.
    """

    store: ColumnStore
    rows: Design
    names: tuple[str, ...]
    kept: Mask
    options: Options
    limits: Limits

    @property
    def units(self) -> Units:
        """How columns are brought to the units of the fit."""
        single = self.store.dtype == np.float32
        n = self.store.shape[0]
        index = None if len(self.rows.rows) == n else np.asarray(self.rows.rows)
        return Units(
            self.options.scale, self.rows.intercept, np.float32 if single else np.float64, index
        )

    def fitted(self, asked: Arguments) -> RHTResult:
        """The result on all columns."""
        digest = self._digest(asked) if self.limits.checkpoint is not None else ""
        with one_blas_thread(), Checkpoint.open(self.limits.checkpoint, digest) as checkpoint:
            known = self._known(checkpoint)
            most = room(len(self.rows.rows), self.units, self.limits.memory)
            begun = Progress.read(checkpoint) or Progress(first_held(known, self.kept, most), set())
            outcome: Outcome = proved_run(
                self._run(known), self.store, self.units, known, begun, most,
                checkpoint, self._shown_round, self.limits.max_rounds,
            )  # fmt: skip
        return self._widened(told(outcome), known)

    # ------------------------------------------------------------------- before the first run

    def _known(self, checkpoint: Checkpoint) -> Statistics:
        """Statistics of all columns, checked."""
        stored = checkpoint.read("statistics")
        known = self._measured() if stored is None else _read(stored)
        require_variation(known.scaling, self.names)
        if stored is None:
            unit = self._problem(known, np.flatnonzero(self.kept), Log()).unit
            check_units(known.scaling, unit, self.names)
            refuse_wrong_cells(
                self.store, self.units, known, self.options.cells, self.names, self._shown("")
            )
            checkpoint.write("statistics", _written(known))
        return known

    def _measured(self) -> Statistics:
        response = self.rows.response.values
        offset = self.rows.offset
        y = response if offset is None else response - offset
        if self.options.family.has_scale:
            location, scale = median_and_mad(y)
            scale = scale or float(np.abs(y - location).mean()) or 1.0
            y = np.clip((y - location) / scale, -_CUT_OFF, _CUT_OFF)
        asked = Asked(
            every=sampled(self.store.shape[1]), inner=False, cells=self.options.cells is not False,
            estimator=for_response(self.options, response).estimator, y=y - y.mean(),
        )  # fmt: skip
        return statistics(
            self.store, self.units, asked, self.names, self.limits.memory, self.options.threads,
            self._shown(""),
        )  # fmt: skip

    # ------------------------------------------------------------------------------ one run

    def _run(self, known: Statistics) -> Callable[[Indices, Log], Outcome]:
        def run(held: Indices, log: Log) -> Outcome:
            problem = self._problem(known, held, log)
            design = replace(
                self.rows,
                X=np.empty((0, len(held))),
                names=tuple(self.names[j] for j in held),
                keep=self.kept[held],
            )
            # Every run draws the same random numbers.
            options, nothing = deepcopy(self.options), empty_cells(self.rows.rows[:0])
            return fit_problem(problem, design, options, None, nothing, None)

        return run

    def _problem(self, known: Statistics, held: Indices, log: Log) -> Standardized:
        """The problem on some columns."""
        rows, units = self.rows, self.units
        own = part_of(known.scaling, held)
        part = units.standardized(self.store.take(held), own)
        ones = np.ones((int(rows.intercept), part.shape[1]), dtype=part.dtype)
        problem = with_response(
            np.concatenate([part, ones]), own, rows.response.values, self.options.loss,
            family=self.options.family, how=units.how, intercept=rows.intercept,
            keep=np.flatnonzero(self.kept[held]), weights=rows.weights, offset=rows.offset,
        )  # fmt: skip
        whole = Whole(held, known.constant, problem.n, log, known.far, known.clusters)
        return replace(problem, whole=whole)

    # -------------------------------------------------------------------------- the result

    def _widened(self, result: RHTResult, known: Statistics) -> RHTResult:
        """The result with a coefficient for every column."""
        index = pd.Index([*([INTERCEPT] if self.rows.intercept else []), *self.names])
        params = pd.Series(np.zeros(len(index)), index=index, name="coef")
        used = result.params[result.params != 0]
        params[used.index] = used
        constant = tuple(self.names[j] for j in np.flatnonzero(known.constant))
        return replace(result, params=params, made=replace(result.made, constant=constant))

    # ------------------------------------------------------------------------------- words

    def _shown(self, before: str) -> Shown:
        def shown(passed: Iterator[Any], what: str) -> Iterator[Any]:
            label = f"pass {self.store.passes + 1}, {before}{what}"
            return progress(passed, len(self.store.blocks), label, self.options.verbose)

        return shown

    def _shown_round(self, turn: int, held: int) -> Shown:
        return self._shown(f"round {turn}, {held:,} of {self.store.shape[1]:,} columns held: ")

    def _digest(self, asked: Arguments) -> str:
        """What the fit depends on; of the columns some are looked at."""
        d, rows = self.store.shape[1], self.rows
        some = self.store.take(np.unique(np.linspace(0, d - 1, 5).astype(np.int64)))
        free = ("n_jobs", "verbose")
        settings = {
            item.name: getattr(asked, item.name) for item in fields(asked) if item.name not in free
        }
        arrays = {"X": some, "y": rows.response.values, "keep": self.kept}
        given = {"weights": rows.weights, "offset": rows.offset}
        arrays |= {name: values for name, values in given.items() if values is not None}
        shape = (*self.store.shape, rows.intercept)
        return fingerprint(arrays, {**settings, "shape": shape})


def _written(known: Statistics) -> Parts:
    """Statistics as plain arrays."""
    scaling, far = known.scaling, known.far
    counts = [np.array([one.far, one.near, one.large]) for one in (known.counts, known.own_counts)]
    return {
        "location": scaling.location, "scale": scaling.scale, "constant": scaling.constant,
        "flags": far.flags, "distances": far.distances, "cutoff": np.array(far.cutoff),
        "clusters": known.clusters, "counts": np.array(counts), "slopes": known.slopes,
    }  # fmt: skip


def _read(parts: Parts) -> Statistics:
    """Undo `_written`."""
    counts, own_counts = (RowCounts(*some) for some in parts["counts"])
    return Statistics(
        Scaling(parts["location"], parts["scale"], parts["constant"]),
        Leverage(parts["flags"], parts["distances"], float(parts["cutoff"])),
        parts["clusters"],
        counts,
        own_counts,
        parts["slopes"],
    )
