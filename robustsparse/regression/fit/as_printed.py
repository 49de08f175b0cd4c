"""From a standardized problem and the options to a fit in its units."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robustsparse.algorithm.solver import RHTFit, solve, solve_down
from robustsparse.algorithm.sparsity import k_grid
from robustsparse.base.checks import FEWEST_ROWS, check_choice, check_count
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.regression.fit.automatic import (
    Fitted,
    least_squares_choice,
    plain_fit,
    refit_of,
    robust_fit,
)
from robustsparse.regression.fit.k_paths import Choice, choose_by_criterion, choose_by_cv, path
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.standardized import Prepared


def _grid(k: Any, data: Prepared) -> tuple[int, ...]:
    """Values of k to choose from."""
    if isinstance(k, str):
        check_choice("k", k, ("auto",))
        return _automatic_grid(data)
    several = isinstance(k, Iterable) and getattr(k, "ndim", 1) > 0
    values = list(k) if several else [k]
    if not values:
        raise ParameterError("k is empty; give a number, a list of numbers or 'auto'.")
    low = 0 if len(data.keep) else 1
    return tuple(sorted({check_count("k", value, low, max(data.free, low)) for value in values}))


def _automatic_grid(data: Prepared) -> tuple[int, ...]:
    """From no predictor at all, if something is left in the model then, to as many as the rows can carry."""
    none = (0,) if len(data.keep) else ()
    most = data.n // 2 - len(data.keep)
    some = tuple(k for k in k_grid(data.n, data.free) if k <= most) if data.free else ()
    return none + some or (1,)


def _chooser(
    options: Options, ks: Sequence[int]
) -> Callable[[Prepared, dict[int, RHTFit]], Choice]:
    """How to choose k from a path on trusted rows."""
    if options.select == "ric":
        return choose_by_criterion if options.family == "binomial" else least_squares_choice
    seed = int(options.rng.integers(2**31))

    def choose(part: Prepared, fits: dict[int, RHTFit]) -> Choice:
        return _cross_validated(part, options, ks, seed)

    return choose


def _cross_validated(data: Prepared, options: Options, ks: Sequence[int], seed: int) -> Choice:
    return choose_by_cv(
        data, options.estimator, ks, options.settings, trim=options.epsilon,
        rng=np.random.default_rng(seed), n_jobs=options.threads, verbose=options.verbose,
    )  # fmt: skip


def fit_prepared(data: Prepared, options: Options) -> Fitted:
    """Fit in standardized units."""
    if data.scaling.constant.all():
        raise DataError("every predictor is constant, so there is nothing to select from.")
    ks = _grid(options.k, data)
    if options.refit and max(ks) + len(data.keep) > data.n // 2:
        raise ParameterError(
            f"k={max(ks)} is too many for a robust refit on {data.n} rows, needing two rows a coefficient; choose a "
            "smaller k or refit=False."
        )
    if options.split:
        return _split_fit(data, options, ks[0])
    if options.refit:
        choose = _chooser(options, ks)
        fitted = robust_fit(
            data, options.estimator, ks, options.settings, choose, rng=options.rng, threads=options.threads,
            verbose=options.verbose,
        )  # fmt: skip
        return fitted if _chosen(options.k, ks) else replace(fitted, choice=None)
    return _thresholded(data, options, ks)


def _chosen(asked: Any, ks: Sequence[int]) -> bool:
    """Whether k is the fit's own choice, on small data among a single value."""
    return len(ks) > 1 or isinstance(asked, str)


def _thresholded(data: Prepared, options: Options, ks: Sequence[int]) -> Fitted:
    """The paper's estimate as it is."""
    choice: Choice | None = None
    fits: dict[int, RHTFit] = {}
    k = ks[0]
    problem = data.problem(options.estimator, options.threads)
    if _chosen(options.k, ks):
        fits = path(data, problem, ks, options.settings, verbose=options.verbose)
        if options.select == "cv":
            choice = _cross_validated(data, options, ks, int(options.rng.integers(2**31)))
        else:
            choice = choose_by_criterion(data, fits)
        k = choice.k
    # With a step of the user's own the algorithm is run as printed, from zero.
    run = solve_down if options.settings.step == "auto" and not data.binary else solve
    solution = run(problem, k, keep=data.keep, settings=options.settings, warn=False)
    # What it has measured must not stand beside what the rows' distances need.
    del problem
    return plain_fit(data, solution, choice, {**fits, k: solution})


def _split_fit(data: Prepared, options: Options, k: int) -> Fitted:
    """One iteration on each of several parts of the rows, as in the paper's theory."""
    if data.n < FEWEST_ROWS * options.split:
        raise ParameterError(
            f"split={options.split} leaves {data.n // options.split} of the {data.n} rows for an iteration, which "
            f"needs at least {FEWEST_ROWS}; split into fewer parts."
        )
    part = options.rng.permutation(data.n) % options.split
    problems = [data.rows(part == t).problem(options.estimator) for t in range(options.split)]
    solution = solve(problems, k, keep=data.keep, settings=options.settings, warn=False)
    if options.refit:
        return refit_of(data, solution, options.rng)
    return plain_fit(data, solution, None, {k: solution})
