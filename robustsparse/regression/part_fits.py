"""Fits to parts of the rows of one fit, which share what the rows have in common.

The columns are standardized and cells are mended once, how far out rows are in the predictors is found once, and a part
is fitted from where the fit to all rows ended. What it comes to is its own: its terms are selected and its rows judged
anew.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from robustsparse.base.threads import one_blas_thread
from robustsparse.base.types import Places
from robustsparse.design.frames import INTERCEPT
from robustsparse.regression.fit.contamination import suited
from robustsparse.regression.fit.fit import model_of_known
from robustsparse.regression.fit.known_rows import KnownRows
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.spine import Outcome
from robustsparse.regression.terms import Groups, term_of


@dataclass(frozen=True)
class PartFit:
    """What is told of the fit to a part.

    Attributes
    ----------
    params : Series
        Coefficients by term in the data's units, those that are zero left out.
    selected : list of str
        Columns that were selected.
    groups : dict
        Columns of the terms that have several.
    """

    params: "pd.Series[float]"
    selected: list[str]
    groups: Groups

    def coef(self) -> "pd.Series[float]":
        """Coefficients that are not zero."""
        return self.params

    def terms(self) -> list[str]:
        """The selected terms."""
        return list(dict.fromkeys(term_of(self.selected, self.groups).values()))


@dataclass(frozen=True)
class PartFits:
    """Makes fits to parts of the rows.

    Attributes
    ----------
    problem : Standardized
        The standardized problem on all rows, as the fit to them left it.
    known : KnownRows or None
        What that fit knows of the rows.
    options : Options
        What it came to.
    names : tuple of str
        Names of the columns.
    groups : dict
        Columns of the terms that have several.
    """

    problem: Standardized
    known: KnownRows | None
    options: Options
    names: tuple[str, ...]
    groups: Groups

    @classmethod
    def of(cls, outcome: Outcome, names: tuple[str, ...], groups: Groups) -> "PartFits":
        """Those of a fit."""
        options = replace(outcome.options, threads=1)
        return cls(outcome.problem, outcome.fitted.known, options, names, groups)

    def fit(self, rows: Places, seed: int) -> PartFit:
        """The fit to some rows."""
        part = self.problem.part_of_rows(rows)
        options = replace(self.options, rng=np.random.default_rng(seed))
        known = None if self.known is None else self.known.part(rows)
        with one_blas_thread():
            model = model_of_known(part, suited(options, part), known)
        coef = model.full(len(part.XT))
        free = np.ones(len(coef), dtype=bool)
        free[self.problem.keep] = False
        slopes, constant = part.to_data(coef)
        used = np.flatnonzero(slopes)
        params = pd.Series(slopes[used], index=[self.names[j] for j in used])
        if part.intercept:
            params = pd.concat([pd.Series({INTERCEPT: constant}), params])
        return PartFit(params, [self.names[j] for j in used if free[j]], self.groups)
