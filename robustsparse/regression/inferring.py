"""What a result infers: standard errors, intervals and tests of its terms."""

from typing import Any

import pandas as pd

from robustsparse.base.checks import check_choice
from robustsparse.base.errors import ParameterError
from robustsparse.regression.part import Part
from robustsparse.regression.tables import covariance, tidy_table
from robustsparse.regression.wald import check_level

_METHODS = ("sandwich", "split", "bootstrap")


class Inferring(Part):
    """Methods of `RHTResult` that infer."""

    def conf_int(
        self,
        level: float = 0.95,
        method: str = "sandwich",
        data: Any = None,
        *,
        alpha: float | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """Confidence intervals, by term.

        Parameters
        ----------
        level : float
            Confidence level, 0.5 at least.
        method : {"sandwich", "split", "bootstrap"}
            "sandwich": of the nonzero coefficients, conditional on the support, by Student's t with `df_resid` degrees
            of freedom. That the same data chose the support is not accounted for: intervals of terms that are in truth
            zero do not cover zero, and those of weak terms, near the edge of being selected, cover less than promised
            when rows are bad.
            "split", "bootstrap": the fit is repeated with the arguments of the call, which accounts for the selection;
            see `robustsparse.inference.split` and `robustsparse.inference.bootstrap`.
        data : data frame, or pair (X, y) for a fit to arrays
            The data of the fit, needed by the last two if these are no longer in memory: a result keeps no data.
        alpha : float, optional
            In place of `level`: one less the level.
        **options
            `splits`, `resamples`, `rng`, `n_jobs`, `verbose`, or arguments of the call that cannot be had again.

        Returns
        -------
        DataFrame
            Columns `low` and `high`; but for the sandwich also `estimate` and `frequency`, the share of the repetitions
            that selected the term.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> bool(fit.conf_int(0.9).equals(fit.conf_int(alpha=0.1)))
        True
        """
        check_choice("method", method, _METHODS)
        level = check_level(level, alpha)
        if method == "sandwich":
            return self._sandwich(level, data, options)
        if self._fit._call is None:
            raise ParameterError(
                f"this model cannot be refitted, so method={method!r} is not for it."
            )
        table: pd.DataFrame = self._fit._call.repeated(
            method, self._fit._before(), data, {**options, "level": level}
        )
        return table[["low", "high", "estimate", "frequency"]]

    def _sandwich(self, level: float, data: Any, options: dict[str, Any]) -> pd.DataFrame:
        if data is not None or options:
            name = "data" if data is not None else next(iter(options))
            raise ParameterError(f"{name} is for method='split' and 'bootstrap', which fit again.")
        table = self._estimates(level)
        return table[["low", "high"]]

    def _estimates(self, level: float = 0.95) -> pd.DataFrame:
        """`tidy` by term; an error if there are no standard errors."""
        covariance(self._fit.as_member())
        return self.tidy(level).set_index("term").rename_axis(None)

    def cov_params(self) -> pd.DataFrame:
        """Covariance of the nonzero coefficients, in the order of `coef()`, conditional on the support.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.cov_params().shape
        (3, 3)
        """
        return covariance(self._fit.as_member())

    @property
    def bse(self) -> "pd.Series[float]":
        """Standard errors of the nonzero coefficients, conditional on the support.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> list(fit.bse.index) == ["Intercept", *fit.support()]
        True
        """
        return self._estimates()["std_error"]

    @property
    def pvalues(self) -> "pd.Series[float]":
        """p-values of the nonzero coefficients against zero, two-sided, conditional on the support.

        They do not account for the selection: a false term has a small one too.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> bool((fit.pvalues[fit.support()] < 1e-6).all())
        True
        """
        return self._estimates()["p_value"]

    def tidy(self, level: float = 0.95, k: int | None = None) -> pd.DataFrame:
        """Nonzero terms as a data frame: term, estimate, std_error, statistic, p_value, low, high.

        Parameters
        ----------
        level : float
            Level of the confidence intervals.
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.
        """
        return tidy_table(self._fit._member(k), check_level(level))
