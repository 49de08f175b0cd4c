"""Cross-validation of a whole fit: every row is predicted by a model that was made without it."""

import numpy as np

from robustsparse.base.checks import Seed, as_rng, check_count
from robustsparse.base.errors import DataError
from robustsparse.base.types import Array, Places
from robustsparse.regression.resampling import Study, repeat, seeds_from


def cross_validate_study(
    study: Study,
    folds: int = 10,
    rng: Seed = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[Places, Array, tuple[int, ...]]:
    """Fold (n,) of each row, its linear predictor (n,) by the fit without that fold, and the size of each fit."""
    count = check_count("folds", folds, 2, study.n)
    generator = as_rng(rng)
    classes = study.classes()
    fewest = int(np.bincount(classes).min())
    if fewest < 2:
        raise DataError(
            "a class has a single row, so that the fit without it would know of none; cross-validation needs two."
        )
    fold = deal(classes, count, generator)
    seeds = seeds_from(generator, count)

    def held_out(f: int) -> tuple[Array, int]:
        fit = study.fit(np.flatnonzero(fold != f), seeds[f])
        return study.link(fit, np.flatnonzero(fold == f)), fit.k

    link = np.empty(study.n)
    outcomes = repeat(held_out, range(count), n_jobs, verbose)
    for f, (predicted, _) in enumerate(outcomes):
        link[fold == f] = predicted
    return fold, link, tuple(k for _, k in outcomes)


def deal(strata: Places, folds: int, rng: np.random.Generator) -> Places:
    """Random folds (n,), counted from 0, that differ by one row at most, in total and about so in each stratum.

    Examples
    --------
    >>> fold = deal(np.repeat([0, 1], [6, 3]), 3, np.random.default_rng(0))
    >>> [sorted(fold[:6].tolist()), sorted(fold[6:].tolist())]
    [[0, 0, 1, 1, 2, 2], [0, 1, 2]]
    """
    order = np.lexsort([rng.random(len(strata)), strata])
    fold = np.empty(len(strata), dtype=np.intp)
    fold[order] = np.arange(len(strata)) % folds
    return fold
