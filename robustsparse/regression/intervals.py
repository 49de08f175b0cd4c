"""Intervals that account for the selection: the bootstrap and sample splitting.

The intervals of one fit take its terms as given. Here the selection is repeated, or made on other rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.checks import Seed, as_rng, check_count
from robustsparse.design.frames import INTERCEPT
from robustsparse.regression.resampling import (
    Study,
    fits_to_parts,
    make_study,
    repeat,
    seeds_from,
    selecting,
    two_parts,
)
from robustsparse.regression.terms import Groups, term_of
from robustsparse.regression.wald import check_level

Frame = pd.DataFrame


def bootstrap(
    formula: str,
    data: Any,
    *,
    resamples: int = 200,
    level: float = 0.95,
    alpha: float | None = None,
    rng: Seed = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    **options: Any,
) -> Frame:
    """Bootstrap intervals that repeat the fit, selection and rejection of rows included.

    Every resample is a random half of the rows, drawn without replacement in complementary pairs. The rows that a fit
    to all the data flags are dealt out evenly, so that no half has more than its share of suspicious rows. A term that
    a half does not select counts as zero there.

    Parameters
    ----------
    formula, data : str, DataFrame
        As in `rht`.
    resamples : int
        Number of halves; an odd number is rounded up to pairs.
    level, alpha : float
        Confidence level, 0.5 at least; or one less the level.
    rng : int, Generator or None
        Random numbers; None is a fixed seed.
    n_jobs : int, optional
        Fits at a time, one by default; the result does not depend on it.
    verbose : bool
        Show progress on the standard error.
    **options
        Any other argument of `rht`.

    Returns
    -------
    DataFrame
        By term: `estimate` of the fit to all rows, percentile interval `low` and `high`, and `frequency`, the share of
        the resamples that select the term. The intercept and kept terms come first, then the most frequent.

    Notes
    -----
    A half varies about all rows as these vary about the truth: it has half as many rows, so twice the variance, of
    which half is shared with them. So the halves' percentiles are those of a bootstrap. Draws with replacement would
    repeat rows, which makes chance look like evidence: they select false terms and give wider intervals.

    A half is fitted in the units of the fit to all rows, with the cells as that filled them, its share of bad rows if
    ``epsilon="auto"``, and its judgment of how far out rows are in the predictors. The search begins at the models that
    the fit to all rows ended at, its own and any rival; terms are selected and residuals judged anew in every half. A
    model that only a half would come to, from a start of its own, is not found.

    Intervals of weak terms reach to zero where halves miss them. `docs/inference.md` says how often the
    intervals hold the truth.

    Examples
    --------
    >>> import robustsparse as rs
    >>> from robustsparse.inference import bootstrap
    >>> sim = rs.simulate.linear(n=120, d=30, k=2, epsilon=0.1, rng=3)
    >>> table = bootstrap("y ~ .", sim.data, resamples=20)
    >>> sorted(table.index[1:3]) == sorted(f"x{j + 1}" for j in sim.beta.nonzero()[0])
    True
    """
    level = check_level(level, alpha)
    study = make_study(formula, data, selecting(options), bootstrap)
    return bootstrap_study(study, resamples, level, rng, n_jobs, verbose)


def bootstrap_study(
    study: Study,
    resamples: int = 200,
    level: float = 0.95,
    rng: Seed = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Frame:
    """The intervals of `bootstrap`."""
    pairs = (check_count("resamples", resamples, 2) + 1) // 2
    level = check_level(level)
    full, coefs = fits_to_parts(
        study, 0.5, pairs, lambda fit: fit.coef(), as_rng(rng), n_jobs, verbose
    )
    return _percentiles(full.coef(), coefs, level, study.kept, study.named_groups())


def _percentiles(
    full: "pd.Series[float]",
    coefs: Sequence["pd.Series[float]"],
    level: float,
    kept: Sequence[str],
    groups: Groups,
) -> Frame:
    table = pd.concat([full, *coefs], axis=1).fillna(0.0)
    drawn = table.iloc[:, 1:].to_numpy()
    # With these quantiles B draws cut the line into B + 1 equally likely parts: few draws give no narrower interval.
    ends = [0.5 - 0.5 * level, 0.5 + 0.5 * level]
    low, high = np.quantile(drawn, ends, axis=1, method="weibull")
    frame = pd.DataFrame(
        {
            "estimate": table.iloc[:, 0].to_numpy(),
            "low": low,
            "high": high,
            "frequency": (drawn != 0).mean(axis=1),
        },
        index=pd.Index(table.index, name="term"),
    )
    return _ordered(frame, kept, groups)


def _ordered(frame: Frame, kept: Sequence[str], groups: Groups) -> Frame:
    """The intercept, kept terms, then by frequency and size, the columns of a term together."""
    first = frame.index.map({INTERCEPT: 0, **dict.fromkeys(kept, 1)}).fillna(2)
    term = pd.Series(term_of(frame.index, groups), index=frame.index, dtype=object)
    size, often = (
        frame[name].abs().groupby(term, sort=False).transform("max").to_numpy()
        for name in ("estimate", "frequency")
    )
    order = np.lexsort([pd.factorize(term)[0], -size, -often, np.asarray(first)])
    return frame.iloc[order]


def split(
    formula: str,
    data: Any,
    *,
    splits: int = 1,
    level: float = 0.95,
    alpha: float | None = None,
    rng: Seed = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    **options: Any,
) -> Frame:
    """Select terms on one half of the rows and infer on the other, which has not seen the selection.

    With one split the intervals are those of a robust regression whose terms were known beforehand, at the price of
    half of the rows. Several splits remove the luck of the draw: the ends are medians over the splits of intervals at
    level `1 - (1 - level) / 2`, which is valid whatever the dependence of the splits, and conservative.

    Parameters
    ----------
    formula, data : str, DataFrame
        As in `rht`.
    splits : int
        Number of random splits.
    level, alpha : float
        Confidence level, 0.5 at least; or one less the level.
    rng : int, Generator or None
        Random numbers; None is a fixed seed.
    n_jobs : int, optional
        Splits at a time, one by default; the result does not depend on it.
    verbose : bool
        Show progress on the standard error.
    **options
        Any other argument of `rht`; `refit` must stay True.

    Returns
    -------
    DataFrame
        By term: `estimate` (median over the splits that select it), `low`, `high` and `frequency`, the share of the
        splits that select it. A term that half of the splits or fewer select has no bounded interval. The intercept and
        kept terms come first, then the most frequent.

    Notes
    -----
    The interval is for the coefficient in a regression on the terms that the first half selected; where that half
    misses a true term, this is not the coefficient in the full model.

    Half of the rows find fewer weak terms than all of them. Medians over several splits are conservative: they hold
    the truth more often than promised. `docs/inference.md` says how often the intervals hold the truth.

    Examples
    --------
    >>> import robustsparse as rs
    >>> from robustsparse.inference import split
    >>> sim = rs.simulate.linear(n=150, d=50, k=2, epsilon=0.1, rng=3)
    >>> table = split("y ~ .", sim.data)
    >>> sorted(table.index[1:3]) == sorted(f"x{j + 1}" for j in sim.beta.nonzero()[0])
    True
    """
    level = check_level(level, alpha)
    study = make_study(formula, data, selecting(options), split)
    return split_study(study, splits, level, rng, n_jobs, verbose)


def split_study(
    study: Study,
    splits: int = 1,
    level: float = 0.95,
    rng: Seed = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Frame:
    """The intervals of `split`."""
    check_count("splits", splits, 1)
    level = check_level(level)
    inner = level if splits == 1 else 0.5 + 0.5 * level
    # Flags of a fit to all rows would carry what one half knows over to the other, so only the classes are balanced.
    classes = study.classes()

    def infer(seed: int) -> Frame:
        draws = np.random.default_rng(seed)
        first, second = two_parts(classes, 0.5, draws)
        seeds = seeds_from(draws, 2)
        terms = [*study.kept, *study.fit(first, seeds[0]).support()]
        fit = study.fit_terms(second, terms, seeds[1])
        return fit.conf_int(inner).assign(estimate=fit.coef())

    tables = repeat(infer, seeds_from(as_rng(rng), int(splits)), n_jobs, verbose)
    return _medians(tables, study.kept, study.named_groups())


def _medians(tables: Sequence[Frame], kept: Sequence[str], groups: Groups) -> Frame:
    """Medians over the splits; one that does not select a term bounds its interval on neither side."""
    wide = {name: pd.concat([table[name] for table in tables], axis=1) for name in tables[0]}
    frame = pd.DataFrame(
        {
            "estimate": wide["estimate"].median(axis=1),
            "low": wide["low"].fillna(-np.inf).median(axis=1),
            "high": wide["high"].fillna(np.inf).median(axis=1),
            "frequency": wide["estimate"].notna().mean(axis=1),
        }
    )
    return _ordered(frame.rename_axis("term"), kept, groups)
