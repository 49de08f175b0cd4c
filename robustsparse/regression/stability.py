"""Stability selection: the terms that are selected on most random parts of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.algorithm.sparsity import Sparsity
from robustsparse.base.checks import Seed, as_rng, check_count, check_number
from robustsparse.base.text import FEW_LINES, beginning
from robustsparse.regression.resampling import fits_to_parts, make_study, selecting
from robustsparse.report.plots import plot_stability
from robustsparse.report.summary.report import Summary

# Terms of a printed table; the rest are counted.
_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How often each term was selected on random parts of the rows.

    Attributes
    ----------
    frequencies : Series
        Share of the resamples that selected a term, by term, the most frequent first; terms never selected are left
        out, and so are terms that every fit keeps.
    threshold : float
        Share from which a term counts as stable.
    resamples : int
        Number of fits.
    k_mean : float
        Average number of terms that a fit selected.
    candidates : int
        Number of terms to select from.
    rows : int
        Number of rows of a resample.
    formula : str
        The formula.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
    >>> stable = rs.stability("y ~ .", sim.data, resamples=6, rng=1)
    >>> stable.resamples, sorted(stable.selected()) == sorted(sim.support())
    (6, True)
    """

    frequencies: "pd.Series[float]"
    threshold: float
    resamples: int
    k_mean: float
    candidates: int
    rows: int
    formula: str

    def selected(self, threshold: float | None = None) -> list[str]:
        """Terms selected at least this often (by default at the threshold asked for), most frequent first.

        Parameters
        ----------
        threshold : float, optional
            Share of the resamples; the one that was asked for if None.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> stable = rs.stability("y ~ .", sim.data, resamples=6, rng=1)
        >>> set(stable.selected(0.9)) <= set(stable.selected(0.5))
        True
        """
        bar = self.threshold if threshold is None else check_number("threshold", threshold, 0, 1)
        return list(self.frequencies.index[self.frequencies >= bar])

    @property
    def error_bound(self) -> float:
        """Bound on the expected number of false terms among the selected ones (Meinshausen and Bühlmann, 2010).

        It is `k_mean² / ((2 threshold - 1) candidates)`, and holds if the false terms are exchangeable and selecting is
        better than guessing.
        """
        return self.k_mean**2 / ((2.0 * self.threshold - 1.0) * max(self.candidates, 1))

    def plot(self, ax: Any = None) -> Any:
        """Draw the frequencies; returns the Axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> stable = rs.stability("y ~ .", sim.data, resamples=6, rng=1)
        >>> bool(stable.plot().get_xlabel())
        True
        """
        return plot_stability(self.frequencies, self.threshold, ax)

    def summary(self) -> Summary:
        """The most frequent terms and the error bound, to print or to export as HTML or LaTeX.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> stable = rs.stability("y ~ .", sim.data, resamples=6, rng=1)
        >>> dict(stable.summary().head)["Candidates"]
        '20'
        """
        head = (
            ("Model", beginning(self.formula, FEW_LINES)),
            ("Resamples", f"{self.resamples} of {self.rows} rows"),
            ("Candidates", str(self.candidates)),
            ("Selected on average", f"{self.k_mean:.1f}"),
            ("Threshold", f"{self.threshold:g}"),
            ("Stable terms", str(len(self.selected()))),
            ("False terms expected", f"at most {self.error_bound:.2g}"),
        )
        shown = self.frequencies.iloc[: max(_SHOWN, len(self.selected()))]
        notes = [
            "The bound on false terms holds if these are exchangeable and selecting is better than guessing."
        ]
        if len(shown) < len(self.frequencies):
            notes.append(f"{len(self.frequencies) - len(shown)} rarer term(s) are not shown.")
        return Summary(
            "Stability selection", head, shown.to_frame("Frequency").rename_axis(None), tuple(notes)
        )

    def __repr__(self) -> str:
        stable = self.selected()
        shown = ", ".join(stable[:5]) + (", …" if len(stable) > 5 else "")
        return (
            f"<Stability: {beginning(self.formula)}, {self.resamples} resamples, "
            f"{len(stable)} of {self.candidates} terms stable ({shown or 'no term'})>"
        )


def stability(
    formula: str,
    data: Any,
    *,
    resamples: int = 50,
    share: float = 0.5,
    k: Sparsity = "auto",
    threshold: float = 0.6,
    rng: Seed = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    **options: Any,
) -> Stability:
    """Select the terms that `rht` selects on most random parts of the rows.

    Stability selection (Meinshausen and Bühlmann, 2010) on complementary pairs (Shah and Samworth, 2013): every pair of
    resamples is disjoint. The rows that a fit to all the data flags are dealt out evenly, and so are the two classes of
    a binary response, so that no part has to survive more than its share of suspicious rows. Every part is fitted from
    where the fit to all rows ended, in the same units; its terms are selected and its rows judged anew.

    Parameters
    ----------
    formula, data : str, DataFrame
        As in `rht`.
    resamples : int
        Number of fits; an odd number is rounded up to pairs.
    share : float
        Share of the rows in each, at most one half.
    k : "auto", int or sequence of int
        Number of terms that each fit selects, as in `rht`. A larger k finds weaker terms and has a larger error bound.
    threshold : float
        Share of the fits from which a term counts as stable, above one half.
    rng : int, Generator or None
        Random numbers; None is a fixed seed.
    n_jobs : int, optional
        Fits at a time, one by default; the result does not depend on it.
    verbose : bool
        Show progress on the standard error.
    **options
        Any other argument of `rht`; ``epsilon="auto"`` is estimated once, from all rows.

    Returns
    -------
    Stability

    Examples
    --------
    >>> import robustsparse as rs
    >>> from robustsparse.regression.stability import stability
    >>> sim = rs.simulate.linear(n=120, d=60, k=3, epsilon=0.1, rng=1)
    >>> stable = stability("y ~ .", sim.data, resamples=10)
    >>> sorted(stable.selected()) == sorted(f"x{j + 1}" for j in sim.beta.nonzero()[0])
    True
    >>> bool(stable.error_bound < 1)
    True
    """
    pairs = (check_count("resamples", resamples, 2) + 1) // 2
    share = check_number("share", share, 0.0, 0.5, open_low=True)
    threshold = check_number("threshold", threshold, 0.5, 1.0, open_low=True)
    study = make_study(formula, data, selecting({**options, "k": k}), stability)
    _, supports = fits_to_parts(
        study, share, pairs, lambda fit: fit.terms(), as_rng(rng), n_jobs, verbose
    )
    return Stability(
        frequencies=_frequencies(supports),
        threshold=threshold,
        resamples=len(supports),
        k_mean=float(np.mean([len(one) for one in supports])),
        candidates=study.candidates,
        rows=round(share * study.n),
        formula=formula,
    )


def _frequencies(supports: Sequence[Sequence[str]]) -> "pd.Series[float]":
    """Share of the supports that hold a term, the most frequent first."""
    terms = pd.Series([term for one in supports for term in one], dtype=object)
    counts = terms.groupby(terms).size().sort_values(ascending=False, kind="stable")
    return (counts / len(supports)).rename("frequency").rename_axis("term")
