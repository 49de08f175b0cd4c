"""What a result tells of itself: summaries, one line for a table, its rows, and the same fit with a change."""

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.regression.augmenting import augmented
from robustsparse.regression.call import AUGMENT, UNCHANGED, UPDATE
from robustsparse.regression.part import Part
from robustsparse.regression.summary import summarize
from robustsparse.regression.wald import check_level
from robustsparse.report.summary.report import Summary
from robustsparse.report.summary.writing import Path

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult


class Reporting(Part):
    """Methods of `RHTResult` that tell."""

    @property
    def explained(self) -> float:
        """Robust R² (gaussian), or the share of the weighted deviance explained (binomial)."""
        rows = (self._fit.fittedvalues, self._fit.resid, self._fit.row_weights)
        return self._fit.made.kind.explained(
            *(np.asarray(values, dtype=np.float64) for values in rows)
        )

    @property
    def rsquared(self) -> float:
        """Robust R², as in the summary; for two classes the share of the weighted deviance that is explained.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> dict(fit.summary().head)["Robust R²"] == f"{fit.rsquared:.3f}"
        True
        """
        return self.explained

    @property
    def criterion(self) -> float | None:
        """What k was chosen by, at its choice: the robust criterion that `select` names, or the error of "cv".

        The smaller the better, among models of the same rows. It is no AIC: rows that are rejected do not count, and
        the price of a term grows with the number of candidates. None if k was given.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> bool(fit.criterion == fit.cv["value"].min())
        True
        """
        fit = self._fit
        return None if fit.cv is None else float(fit.cv["value"].loc[[fit._place()]].to_numpy()[0])

    def glance(self) -> pd.DataFrame:
        """The fit in one row, as broom does it: to put several below each other.

        Returns
        -------
        DataFrame
            `nobs`, `dropped` rows, `flagged` rows, `k`, `candidates`, `scale`, `r_squared`, `df_resid`, `criterion`,
            `select`, `goal`, `family`, `converged`.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> rs.rht_fit(sim.X, sim.y).glance()[["nobs", "flagged", "k", "select"]]
           nobs  flagged  k select
        0   111        6  2    ric
        """
        fit = self._fit
        dropped = fit.dropped
        row = {
            "nobs": fit.nobs,
            "dropped": dropped.missing + dropped.infinite + dropped.weightless,
            "flagged": len(fit.outliers()),
            "k": fit.k,
            "candidates": len(fit.params) - fit.intercept,
            "scale": fit.scale,
            "r_squared": self.rsquared,
            "df_resid": np.nan if fit.df_resid is None else fit.df_resid,
            "criterion": np.nan if self.criterion is None else self.criterion,
            "select": fit.select,
            "goal": fit.goal,
            "family": fit.family,
            "converged": fit.converged,
        }
        return pd.DataFrame([row])

    def augment(self, data: Any = None) -> pd.DataFrame:
        """The data of the fit with what it says of each row, as broom does it.

        Parameters
        ----------
        data : data frame, or pair (X, y) for a fit to arrays
            The data of the fit, if these are no longer in memory, rows in any order. Others are refused, by their
            response and by all their predictors.

        Returns
        -------
        DataFrame
            The columns of the data, of an array those that were selected and `y`; and `.fitted`, `.resid`,
            `.std_resid`, `.weight` (0 is rejected), `.flag` (why a row is flagged) and `.outlier` (whether it is). All
            are missing for rows that were dropped.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht("y ~ .", sim.data)
        >>> table = fit.augment()
        >>> table.loc[table[".outlier"], [".weight", ".flag"]].head(2)
           .weight     .flag
        4      0.0  response
        6      0.0  response
        """
        fit = self._fit
        if fit._call is None:
            raise ParameterError("this model does not know its data; join fit.diagnostics to them.")
        if data is not None:
            return augmented(fit, fit._call.given(data))
        given = fit._call.whole(AUGMENT, None, {})
        fit._call.repeated(UNCHANGED, fit._before(), None, {})
        return augmented(fit, given)

    def update(self, formula: str | None = None, data: Any = None, **changes: Any) -> "RHTResult":
        """The same fit with a change, as R's `update`.

        Parameters
        ----------
        formula : str, optional
            Such as ``". ~ . - x3"``, in which a dot is what the formula has on that side.
        data : data frame, or pair (X, y) for a fit to arrays
            Other data. By default those of the fit, which must be in memory, unchanged.
        **changes
            Arguments of `rht` or `rht_fit`.

        Returns
        -------
        RHTResult

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht("y ~ .", sim.data)
        >>> fit.update(f". ~ . - {fit.support()[0]}", k=1).formula == f"y ~ . - {fit.support()[0]}"
        True
        >>> fit.update(cov="hc3").made.errors
        'hc3'
        """
        fit = self._fit
        if fit._call is None:
            raise ParameterError("this model does not know its call; fit again.")
        if formula is not None:
            changes["formula"] = self._updated(formula)
        if data is None:
            fit._call.repeated(UNCHANGED, fit._before(), None, {})
        changes.setdefault("keep_data", fit._call.keeps_data)
        again: RHTResult = fit._call.repeated(UPDATE, fit._before(), data, changes)
        return again

    def _updated(self, formula: str) -> str:
        if self._fit.formula is None:
            raise ParameterError("a model of arrays has no formula; select columns of X instead.")
        # Imported where it is used: fits to arrays need not wait for formulaic.
        from robustsparse.design.formulas.updating import updated_formula

        return updated_formula(self._fit.formula, formula)

    def summary(
        self, k: int | None = None, level: float = 0.95, alpha: float | None = None
    ) -> Summary:
        """The fit in words and numbers, to print or to export as HTML or LaTeX.

        Parameters
        ----------
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.
        level, alpha : float
            Level of the confidence intervals, 0.5 at least; or one less the level.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> list(rs.rht_fit(sim.X, sim.y).summary(level=0.9).table.columns)
        ['Estimate', 'Std. Error', '90% CI low', '90% CI high', 't', 'p']
        """
        return summarize(self._fit, self._fit._member(k), check_level(level, alpha))

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: Path) -> None: ...

    def to_html(self, path: Path | None = None) -> str | None:
        """The summary as HTML; written to a file, whole or not at all, if there is a path.

        Parameters
        ----------
        path : str or Path, optional
            The file; without one the text is returned.

        Returns
        -------
        str or None

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> rs.rht_fit(sim.X, sim.y).to_html().startswith("<div")
        True
        """
        return self.summary().to_html(path)

    @overload
    def to_latex(self, path: None = None) -> str: ...

    @overload
    def to_latex(self, path: Path) -> None: ...

    def to_latex(self, path: Path | None = None) -> str | None:
        r"""The summary as a LaTeX table; written to a file, whole or not at all, if there is a path.

        Parameters
        ----------
        path : str or Path, optional
            The file; without one the text is returned.

        Returns
        -------
        str or None

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> rs.rht_fit(sim.X, sim.y).to_latex().splitlines()[0]
        '\\begin{table}[htbp]'
        """
        return self.summary().to_latex(path)

    def _repr_html_(self) -> str:
        """The summary, in notebooks."""
        return self.summary()._repr_html_()
