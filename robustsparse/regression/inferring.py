"""What a result infers: standard errors, intervals and tests of its terms."""

from typing import Any

import pandas as pd

from robustsparse.base.checks import check_choice
from robustsparse.base.errors import ParameterError
from robustsparse.design.clusters import as_clusters
from robustsparse.regression.arguments import Cov
from robustsparse.regression.members import Member
from robustsparse.regression.part import Part
from robustsparse.regression.standard_errors import (
    StandardErrors,
    refuse_dependent_rows,
    require_order_of_time,
)
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
        cov: Cov | None = None,
        cluster: Any = None,
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
        cov, cluster : str, array
            For the sandwich: other standard errors than those of the fit, as in `rht`; clusters by a label for each row
            that was used.
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
            return self._sandwich(level, data, options, cov, cluster)
        refuse_dependent_rows(cov, cluster, f"method={method!r}")
        if self._fit._call is None:
            raise ParameterError(
                f"this model cannot be refitted, so method={method!r} is not for it."
            )
        table: pd.DataFrame = self._fit._call.repeated(
            method, self._fit._before(), data, {**options, "level": level}
        )
        return table[["low", "high", "estimate", "frequency"]]

    def _sandwich(
        self, level: float, data: Any, options: dict[str, Any], cov: Any, cluster: Any
    ) -> pd.DataFrame:
        if data is not None or options:
            name = "data" if data is not None else next(iter(options))
            raise ParameterError(f"{name} is for method='split' and 'bootstrap', which fit again.")
        table = self._estimates(level, cov, cluster)
        return table[["low", "high"]]

    def _estimates(
        self, level: float = 0.95, cov: Cov | None = None, cluster: Any = None
    ) -> pd.DataFrame:
        """`tidy` by term; an error if there are no standard errors."""
        covariance(self._fit.as_member())
        return self.tidy(level, cov=cov, cluster=cluster).set_index("term").rename_axis(None)

    def _model(self, k: int | None, cov: Any, cluster: Any) -> Member:
        """The model of a size, with the standard errors of the fit or with others."""
        fit = self._fit
        if cov is None and cluster is None:
            return fit._member(k)
        covariance(fit._member(k))
        rows = fit.diagnostics.index
        clusters = None if cluster is None else as_clusters(cluster, len(rows), rows)
        errors = StandardErrors.of(cov or "sandwich", clusters)
        require_order_of_time(errors.kind, rows)
        return fit.members.with_errors(fit.k if k is None else k, errors)

    def cov_params(self, cov: Cov | None = None, cluster: Any = None) -> pd.DataFrame:
        """Covariance of the nonzero coefficients, in the order of `coef()`, conditional on the support.

        Parameters
        ----------
        cov, cluster : str, array
            Other standard errors than those of the fit, as in `rht`; clusters by a label for each row that was used.

        Returns
        -------
        DataFrame
            Terms by terms.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.cov_params().shape
        (3, 3)

        Rows that depend on each other, in pairs:

        >>> pairs = [row // 2 for row in range(fit.nobs)]
        >>> fit.cov_params(cluster=pairs).equals(fit.cov_params())
        False
        """
        return covariance(self._model(None, cov, cluster))

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
    def tvalues(self) -> "pd.Series[float]":
        """Nonzero coefficients in units of their standard errors.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.tvalues.equals(fit.coef() / fit.bse)
        True
        """
        return self._estimates()["statistic"]

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

    def tidy(
        self,
        level: float = 0.95,
        k: int | None = None,
        *,
        alpha: float | None = None,
        cov: Cov | None = None,
        cluster: Any = None,
    ) -> pd.DataFrame:
        """Nonzero terms as a data frame: term, estimate, std_error, statistic, p_value, low, high.

        Parameters
        ----------
        level : float
            Level of the confidence intervals.
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.
        alpha : float, optional
            In place of `level`: one less the level.
        cov, cluster : str, array
            Other standard errors than those of the fit, as in `rht`; clusters by a label for each row that was used.

        Returns
        -------
        DataFrame
            One row a term.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.tidy(level=0.9).columns.tolist()
        ['term', 'estimate', 'std_error', 'statistic', 'p_value', 'low', 'high']
        """
        return tidy_table(self._model(k, cov, cluster), check_level(level, alpha))
