"""`RHTResult`: what a fit knows, and what can be asked of it."""

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from robustsparse.algorithm.estimator import GradientEstimator
from robustsparse.algorithm.losses import Loss
from robustsparse.base.checks import as_matrix, as_vector, check_choice, check_count
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.text import listed
from robustsparse.base.types import Array
from robustsparse.design.frames import INTERCEPT
from robustsparse.design.response import recode_response
from robustsparse.regression.call import CROSS_VALIDATION, Call
from robustsparse.regression.cells import MISSING, WRONG, empty_cells
from robustsparse.regression.files import save_result
from robustsparse.regression.fit.contamination import BadShare
from robustsparse.regression.label_table import label_table
from robustsparse.regression.made import Made
from robustsparse.regression.measures import likelier
from robustsparse.regression.members import Member, Members
from robustsparse.regression.out_of_fold import CrossValidation
from robustsparse.regression.pictures import Pictures
from robustsparse.regression.residuals import KINDS, observed, residual_series
from robustsparse.regression.summary import summarize
from robustsparse.regression.tables import covariance, tidy_table
from robustsparse.regression.terms import ranked_terms, term_of
from robustsparse.regression.wald import check_level
from robustsparse.report.summary.report import Summary

_TYPES = ("response", "link", "class")
_METHODS = ("sandwich", "split", "bootstrap")
_FLAGS = (None, "response", "leverage")


def _of_making(name: str) -> Any:
    """A field of `made` as an attribute of the result."""
    return property(lambda result: getattr(result.made, name), doc=f"`made.{name}`, see `Made`.")


def _dense(X: Any) -> Array:
    return np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _labels_of(newdata: Any, n: int) -> "pd.Index[Any]":
    return newdata.index if isinstance(newdata, pd.DataFrame) else pd.RangeIndex(n)


@dataclass(frozen=True, eq=False, repr=False)
class RHTResult(Pictures):
    """A sparse model fitted by Robust Hard Thresholding.

    Attributes
    ----------
    params : Series
        Coefficients of all terms, zeros included, on the data's own scale.
    k : int
        Number of terms that the threshold kept; columns that enter and leave together are one term.
    nobs : int
        Number of rows used.
    fittedvalues, resid : Series
        Fitted response (probabilities for the binomial family) and residuals of all rows used, by row label; flagged
        rows included.
    scale : float
        Robust scale of the residuals (1 for the binomial family).
    row_weights : Series
        Weight that the fit gave each row, by row label, the user's weights not included; 0 = rejected.
    diagnostics : DataFrame
        By row label: `link`, `fitted`, `resid`, `std_resid`, `weight`, `distance`, `distance_cutoff`, `flag`.
    converged, n_iter : bool, int
        Whether the last run of Algorithm 1 settled, and its number of iterations.
    reason : str
        Why the iterations ended: "settled"; "taken back" if they ran past the lowest robust deviance of their path, as
        trimming lets them with two classes and no refit, and the estimate is the one there; or what kept them.
    history : DataFrame
        One row an iteration: change, step, size, entered, left, loss.
    path : DataFrame
        Standardized coefficients, terms by k; terms never selected are left out.
    cv : DataFrame or None
        Index k, columns `value` and `se`: the criterion or cross-validated error that k was chosen by.
    formula, family : str
        What was asked for; `formula` is None for a fit to arrays.
    estimator, loss : object
        Gradient estimator and loss.
    cov : DataFrame or None
        Covariance of the nonzero coefficients, conditional on the support; None without a refit, as for a model that
        is to predict.
    intercept : bool
        Whether the model has an intercept, the first of `params`.
    epsilon : float or None
        Share of bad rows that the fit was made to survive.
    bad_share : BadShare or None
        With ``epsilon="auto"`` the estimate that it comes from: `share`, its `upper` bound and the bound's `level`.
    members : Members
        The models of the path by k, in few numbers: what `coef(k=)`, `predict(..., k=)` and `summary(k=)` read.
    made : Made
        How the fit was made, in detail.
    df_resid : float or None
        Degrees of freedom of Student's t in intervals and tests: the sum of the row weights less the number of
        coefficients and one for the scale, 1 at least. None is the normal distribution, for the binomial family.
    """

    params: "pd.Series[float]"
    k: int
    scale: float
    diagnostics: pd.DataFrame
    converged: bool
    n_iter: int
    history: pd.DataFrame
    path: pd.DataFrame
    cv: pd.DataFrame | None
    formula: str | None
    estimator: GradientEstimator | str
    loss: Loss | str
    cov: pd.DataFrame | None
    intercept: bool
    epsilon: float | None
    bad_share: BadShare | None
    members: Members
    made: Made
    df_resid: float | None = None
    # How to repeat the fit; the data are not in it.
    _call: Call | None = None

    @property
    def nobs(self) -> int:
        """Number of rows used."""
        return len(self.diagnostics)

    @property
    def fittedvalues(self) -> "pd.Series[float]":
        """Fitted response by row label."""
        return self.diagnostics["fitted"]

    @property
    def resid(self) -> "pd.Series[float]":
        """Residuals by row label."""
        return self.diagnostics["resid"]

    @property
    def row_weights(self) -> "pd.Series[float]":
        """Weight of each row by row label."""
        return self.diagnostics["weight"]

    @property
    def family(self) -> str:
        """Name of the family."""
        return self.made.kind.name

    # What `made` holds, by names of their own.
    select = _of_making("select")
    goal = _of_making("goal")
    step = _of_making("step")
    refitted = _of_making("refitted")
    kept = _of_making("kept")
    dropped = _of_making("dropped")
    classes = _of_making("classes")
    references = _of_making("references")
    constant = _of_making("constant")
    groups = _of_making("groups")
    copies = _of_making("copies")
    spec = _of_making("spec")
    offset_given = _of_making("offset_given")
    reason = _of_making("reason")

    # ------------------------------------------------------------------------------- the model

    def coef(self, zeros: bool = False, k: int | None = None) -> "pd.Series[float]":
        """Coefficients, by default only those that are not zero: the intercept, then the largest first.

        Parameters
        ----------
        zeros : bool
            Whether to list all terms, in the order of the design.
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=120, d=200, k=3, epsilon=0.1, rng=4)
        >>> fit = rs.rht("y ~ .", sim.data)
        >>> len(fit.coef()), len(fit.coef(k=1)), len(fit.coef(zeros=True, k=1))
        (4, 2, 201)
        """
        if not self._chosen(k):
            some = self._member(k).params
            return some.reindex(self.params.index, fill_value=0.0) if zeros else some.copy()
        if zeros:
            return self.params.copy()
        return self.params[[*self._forced(), *self.support()]]

    def _forced(self) -> list[str]:
        """Terms that were never thresholded."""
        return [*([INTERCEPT] if self.intercept else []), *self.kept]

    def support(self, k: int | None = None) -> list[str]:
        """Names of the selected columns, largest standardized coefficient first; kept columns are not listed.

        The columns of a term that enters as a whole stand together, the largest term first, see `terms`. Those of them
        that repeat others are zero, and are left out.

        Parameters
        ----------
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.
        """
        if not self._chosen(k):
            return list(self._member(k).params.index[len(self._forced()) :])
        return [name for columns in self._selected().values() for name in columns]

    def terms(self, k: int | None = None) -> list[str]:
        """Names of the selected terms, the largest first; a factor, a spline or one of `groups` is one of them.

        The size of a term of several columns is the root mean square of their standardized coefficients.

        Parameters
        ----------
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=120, d=6, k=1, epsilon=0.1, rng=4)
        >>> data = sim.data.assign(g=np.resize(["a", "b", "c"], len(sim.data)))
        >>> data["y"] += 3.0 * (data["g"] == "b") - 3.0 * (data["g"] == "c")
        >>> fit = rs.rht("y ~ .", data)
        >>> fit.terms(), fit.support()
        (['g', 'x6'], ['g[T.b]', 'g[T.c]', 'x6'])
        """
        return list(dict.fromkeys(term_of(self.support(k), self.groups).values()))

    def _selected(self) -> dict[str, list[str]]:
        """The selected columns by their term, the largest term first."""
        column = self.path[self._place()]
        chosen = self.params[(self.params != 0) & ~self.params.index.isin(self._forced())]
        size = column.reindex(chosen.index).abs().fillna(0.0)
        return ranked_terms(size, self.made.groups)

    def _place(self) -> int:
        """The column of the path that was chosen; it may have kept fewer terms than it could."""
        ks = [int(k) for k in self.path.columns]
        return next((k for k in ks if k >= self.k), ks[-1])

    def _chosen(self, k: int | None) -> bool:
        """Whether the model of this size is the one that was chosen."""
        return k is None or k == self.k

    def _member(self, k: int | None) -> Member:
        """The model of a size, the chosen one for None."""
        if self._chosen(k):
            return self.as_member()
        size = check_count("k", k, 0)
        if size not in self.members:
            raise ParameterError(f"k={size} is not on the path of this fit{self._other_sizes()}")
        return self.members[size]

    def _other_sizes(self) -> str:
        """What to do about a size that is not among the models."""
        if len(self.members) < 2:
            return ", which has the chosen model alone; fit again with this k."
        sizes = listed(list(self.members), quote=False, most=30)
        remedy = (
            "take one of these"
            if self.goal == "predict"
            else "take one of these, or fit again with this k"
        )
        return f", which has models of {sizes} terms; {remedy}."

    def as_member(self) -> Member:
        """The model itself, without its rows."""
        flagged = self.diagnostics["flag"] != ""
        return Member(
            k=self.k,
            params=self.coef(),
            scale=self.scale,
            cov=self.cov,
            flags=self.diagnostics.loc[flagged, ["flag", "weight"]],
            told=tuple(self.made.kind.tells(self)),
            notes=tuple(self.made.kind.notes(self)),
            df_resid=self.df_resid,
        )

    def outliers(self, kind: str | None = None) -> list[Hashable]:
        """Labels of flagged rows.

        Parameters
        ----------
        kind : {None, "response", "leverage"}
            All; rows whose response the model cannot explain; rows far out in the predictors, on all of which,
            selected or not, leverage is judged. A row can be both, which is bad leverage.
        """
        check_choice("kind", kind, _FLAGS)
        flag = self.diagnostics["flag"]
        wanted = flag != "" if kind is None else flag.isin([kind, "both"])
        return list(self.diagnostics.index[wanted])

    def labels(self, least: float = 0.5) -> pd.DataFrame:
        """Rows of two classes whose label is wrong with a probability of at least `least`, the surest first.

        Parameters
        ----------
        least : float
            Smallest probability: from 0.5 on the model bets against the label.

        Returns
        -------
        DataFrame
            By row: its `label`, the `probability` that the model gives to it, and the probability that it is `wrong`.

        Examples
        --------
        >>> import robustsparse as rs
        >>> rng = np.random.default_rng(1)
        >>> X = rng.normal(size=(400, 50))
        >>> y = (X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=400) > 0).astype(int)
        >>> y[:20] = 1 - y[:20]
        >>> fit = rs.rht_fit(X, y, family="binomial")
        >>> wrong = fit.labels()
        >>> sorted(wrong.columns), len(wrong) > 10, sum(row < 20 for row in wrong.index) / len(wrong) > 0.8
        (['label', 'probability', 'wrong'], True, True)
        """
        return label_table(self, least)

    def cells(self, reason: str | None = None) -> pd.DataFrame:
        """Cells that were missing and imputed, or judged wrong and replaced, by row label.

        Parameters
        ----------
        reason : {None, "missing", "wrong"}
            All; those that were missing; those that lie apart from the rest of their column.

        Returns
        -------
        DataFrame
            By row: the `column`, the `reason`, the `old` and the `new` value, and the standard `error` of the new one.

        Examples
        --------
        >>> import robustsparse as rs
        >>> data = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.0, rng=4).data
        >>> data.loc[5, "x3"] = np.nan
        >>> fit = rs.rht("y ~ .", data, na_action="impute")
        >>> fit.cells()[["column", "reason"]]
          column   reason
        5     x3  missing
        """
        check_choice("reason", reason, (None, MISSING, WRONG))
        table = self.made.cells
        if table is None:
            table = empty_cells(self.diagnostics.index[:0])
        return table.copy() if reason is None else table[table["reason"] == reason].copy()

    # --------------------------------------------------------------------------------- predict

    def predict(
        self,
        newdata: Any = None,
        type: str = "response",
        offset: Any = None,
        k: int | None = None,
        na_action: Literal["keep", "impute"] = "keep",
    ) -> Any:
        """Predictions, of the length and index of the data; missing where an input is, unless it is imputed.

        Parameters
        ----------
        newdata : data frame or array, optional
            New rows; only the columns that the selected terms need have to be there. For a fit to arrays an (n, d)
            array. None predicts the training rows.
        type : {"response", "link", "class"}
            Fitted response or probability; linear predictor; the more probable label (binomial only).
        offset : array, optional
            Known part of the linear predictor of the new rows, if the model was given one as an array.
        k : int, optional
            Number of terms: another model of the path than the one that was chosen. It needs `newdata`.
        na_action : {"keep", "impute"}
            A row with a missing input has no prediction; or missing inputs are imputed from the nearest columns, as
            those of a fit with ``na_action="impute"``, which it takes.

        Returns
        -------
        Series, or with ``na_action="impute"`` a DataFrame
            Predictions by row; with columns `prediction` and `imputed`, the number of cells that the row's rests on
            without having them.

        Examples
        --------
        >>> import robustsparse as rs
        >>> data = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.0, correlation=0.9, rng=4).data
        >>> fit = rs.rht("y ~ .", data, na_action="impute")
        >>> new = data.drop(columns="y").head(2)
        >>> new.loc[0, fit.support()[0]] = np.nan
        >>> fit.predict(new).isna().tolist(), fit.predict(new, na_action="impute")["imputed"].tolist()
        ([True, False], [1, 0])
        """
        check_choice("type", type, _TYPES)
        check_choice("na_action", na_action, ("keep", "impute"))
        if na_action == "impute":
            return self._predict_imputed(newdata, type, offset, k)
        if type == "class" and self.classes is None:
            raise ParameterError(
                f"type='class' needs family='binomial'; this is a {self.family} fit, use type='response'."
            )
        if newdata is None and not self._chosen(k):
            raise ParameterError(
                f"k={k} needs newdata: fitted values are kept of the chosen model alone, which has k={self.k}."
            )
        coef = self.coef(zeros=True, k=k)
        eta = (
            self.diagnostics["link"].copy()
            if newdata is None
            else self._link(newdata, offset, coef)
        )
        return self._typed(eta, type)

    def _typed(self, eta: "pd.Series[float]", type: str) -> "pd.Series[Any]":
        """Predictions of a type from linear predictors."""
        if type == "link":
            return eta
        mean = pd.Series(
            self.made.kind.mean(np.asarray(eta, dtype=np.float64)),
            index=eta.index,
            name="prediction",
        )
        return mean if type == "response" else likelier(mean, self.classes)

    def _predict_imputed(self, newdata: Any, type: str, offset: Any, k: int | None) -> pd.DataFrame:
        """Predictions of new rows whose missing cells are imputed, beside the number of these."""
        imputation = self.made.imputation
        if imputation is None:
            raise ParameterError(
                "na_action='impute' needs a fit that knows how columns go together; fit with na_action='impute'."
            )
        if newdata is None:
            prediction = self.predict(None, type, offset, k)
            rows = self.cells().loc[lambda cells: cells["column"].isin(self.support())].index
            counts = pd.Series(rows).value_counts().reindex(prediction.index, fill_value=0)
            return pd.DataFrame({"prediction": prediction, "imputed": counts.to_numpy()})
        coef = self.coef(zeros=True, k=k)
        used = np.flatnonzero(coef.to_numpy()[int(self.intercept) :])
        if self.spec is not None:
            values, index = self.spec.cells(newdata, imputation.columns, used)
            given = self.spec.offset(newdata)
        else:
            matrix = self._new_matrix(newdata)
            values = _dense(matrix[:, imputation.columns])
            index, given = _labels_of(newdata, len(values)), None
        X, imputed = imputation.fill(values, used)
        eta = self._predictor(X, coef, index, given, offset)
        return pd.DataFrame({"prediction": self._typed(eta, type), "imputed": imputed}, index=index)

    def _new_matrix(self, newdata: Any) -> Any:
        """New rows of a fit to arrays."""
        matrix = as_matrix(newdata)
        d = len(self.params) - self.intercept
        if matrix.shape[1] != d:
            raise DataError(f"newdata has {matrix.shape[1]} columns; the model was fitted to {d}.")
        return matrix

    def _link(self, newdata: Any, given: Any, params: "pd.Series[float]") -> "pd.Series[float]":
        used = np.flatnonzero(params.to_numpy()[int(self.intercept) :])
        if self.spec is not None:
            X, index = self.spec.matrix(newdata, used)
            offset = self.spec.offset(newdata)
        else:
            X, offset = _dense(self._new_matrix(newdata)[:, used]), None
            X[~np.isfinite(X).all(axis=1)] = np.nan
            index = _labels_of(newdata, len(X))
        return self._predictor(X, params, index, offset, given)

    def _predictor(
        self, X: Array, params: "pd.Series[float]", index: "pd.Index[Any]", offset: Any, given: Any
    ) -> "pd.Series[float]":
        """Linear predictor of rows that have the columns of the coefficients which are not zero."""
        coef = params.to_numpy()[int(self.intercept) :]
        used = np.flatnonzero(coef)
        if offset is None and given is not None:
            offset = as_vector("offset", given, len(X))
        if offset is None and self.offset_given:
            raise DataError(
                "this model was fitted with an offset given as an array, so new rows have none; pass theirs as "
                "predict(newdata, offset=...)."
            )
        eta = X @ coef[used] + (params.iloc[0] if self.intercept else 0.0)
        return pd.Series(eta if offset is None else eta + offset, index=index, name="link")

    def residuals(self, kind: str = "response") -> "pd.Series[float]":
        """Residuals of all rows used, by row label; flagged rows included.

        Parameters
        ----------
        kind : {"response", "pearson", "deviance"}
            "response": observed less fitted, as in `resid`. "pearson": divided by the standard deviation that the model
            gives the row. "deviance": the root of what the row adds to the deviance, with the sign of the first. As in
            R neither is divided by the scale, so that for the gaussian family all three are the same; standardized
            residuals are in `diagnostics`. Weights of the user's are not counted.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.0, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y, family="binomial")
        >>> p = fit.fittedvalues
        >>> bool(np.allclose(fit.residuals("pearson"), fit.resid / np.sqrt(p * (1 - p))))
        True
        """
        check_choice("kind", kind, KINDS)
        return residual_series(self, kind)

    def cross_validate(self, folds: int = 10, data: Any = None, **options: Any) -> CrossValidation:
        """Predict every row by a fit without it: the whole fit, selection included, is made anew for each fold.

        Folds are random; with two classes each has its share of both.

        Parameters
        ----------
        folds : int
            Number of folds, and of fits.
        data : data frame, or pair (X, y) for a fit to arrays
            The data of the fit, if these are no longer in memory: a result keeps no data.
        **options
            `rng`, `n_jobs` (folds at a time), `verbose`, or arguments of the call that cannot be had again.

        Returns
        -------
        CrossValidation
            `predictions` by row label, `score()`, and for two classes `roc()` and `calibration()`. Bad rows are among
            the rows that are predicted.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> crossed = fit.cross_validate(folds=3)
        >>> crossed.folds, bool(crossed.predictions.index.equals(fit.resid.index))
        (3, True)
        """
        if self._call is None:
            raise ParameterError("this model cannot be refitted, so it cannot be cross-validated.")
        fold, link, sizes = self._call.repeated(
            CROSS_VALIDATION, self.nobs, data, {**options, "folds": folds}
        )
        table = {
            "fold": fold + 1,
            "observed": observed(self),
            "link": link,
            "prediction": self.made.kind.mean(link),
        }
        predictions = pd.DataFrame(table, index=self.diagnostics.index)
        return CrossValidation(predictions, sizes, self.made.kind, self.classes)

    def score(self, data: Any, y: Any = None) -> float:
        """Robust R² (gaussian) or share of right labels (binomial) on other data.

        The robust R² is 1 - (τ of the residuals / τ of the response about its median)²: like R², but a few bad rows do
        not decide it.

        Parameters
        ----------
        data : data frame or array
            Rows with the response among them, or for a fit to arrays the (n, d) design.
        y : array, optional
            The response, for a fit to arrays.
        """
        observed = self._observed(data, y)
        predicted = self.predict(data).to_numpy()
        known = np.isfinite(observed) & np.isfinite(predicted)
        if not known.any():
            raise DataError("no row of data has both a response and all inputs.")
        return self.made.kind.score(observed[known], predicted[known])

    def _observed(self, data: Any, y: Any) -> Array:
        if self.made.spec is not None:
            return self.made.spec.response(data)
        if y is None:
            raise ParameterError("a model fitted to arrays needs the response: score(X, y).")
        return recode_response(pd.Series(np.asarray(y)), "y", self.classes, self.family)

    # ------------------------------------------------------------------------------- inference

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
        if self._call is None:
            raise ParameterError(
                f"this model cannot be refitted, so method={method!r} is not for it."
            )
        table: pd.DataFrame = self._call.repeated(
            method, self.nobs, data, {**options, "level": level}
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
        covariance(self.as_member())
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
        return covariance(self.as_member())

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
        return tidy_table(self._member(k), check_level(level))

    # ------------------------------------------------------------------------------- reporting

    @property
    def explained(self) -> float:
        """Robust R² (gaussian), or the share of the weighted deviance explained (binomial)."""
        rows = (self.fittedvalues, self.resid, self.row_weights)
        return self.made.kind.explained(*(np.asarray(values, dtype=np.float64) for values in rows))

    def summary(self, k: int | None = None) -> Summary:
        """The fit in words and numbers, to print or to export as HTML or LaTeX.

        Parameters
        ----------
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.
        """
        return summarize(self, self._member(k))

    def __repr__(self) -> str:
        what = self.formula or f"{len(self.params) - self.intercept} predictors"
        terms = self.terms()
        shown = ", ".join(terms[:5]) + (", …" if len(terms) > 5 else "")
        flagged = len(self.outliers())
        return (
            f"<RHTResult: {what}, {self.family}, {self.nobs} rows, k = {self.k} "
            f"({shown or 'no term'}), {flagged} flagged row{'' if flagged == 1 else 's'}>"
        )

    # ------------------------------------------------------------------------------------ file

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `robustsparse.load` reads; it holds numbers and text, never code."""
        save_result(self, path)
