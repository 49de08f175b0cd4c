"""What a result predicts: new rows, rows left out, residuals, scores."""

from typing import Any, Literal

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_choice
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array
from robustsparse.design.labelled import require_same_rows
from robustsparse.design.response import recode_response
from robustsparse.regression.call import CROSS_VALIDATION
from robustsparse.regression.out_of_fold import CrossValidation
from robustsparse.regression.part import Part
from robustsparse.regression.prediction_intervals import check_interval, with_interval
from robustsparse.regression.predictions import (
    imputed_cells,
    imputed_rows,
    linear_predictor,
    new_rows,
    require_imputation,
    typed,
)
from robustsparse.regression.residuals import KINDS, observed, residual_series
from robustsparse.regression.wald import check_level

_TYPES = ("response", "link", "class")
_INTERVALS = (None, "confidence", "prediction")


class Predicting(Part):
    """Methods of `RHTResult` that predict."""

    def predict(
        self,
        newdata: Any = None,
        type: str = "response",
        offset: Any = None,
        k: int | None = None,
        na_action: Literal["keep", "impute"] = "keep",
        se: bool = False,
        interval: Literal["confidence", "prediction"] | None = None,
        level: float = 0.95,
        alpha: float | None = None,
    ) -> Any:
        """Predictions, of the length and index of the data; missing where an input is, unless it is imputed.

        Parameters
        ----------
        newdata : data frame or array, optional
            New rows; only the columns that the selected terms need have to be there, in any order. For a fit to arrays
            an (n, d) array will do. None predicts the training rows.
        type : {"response", "link", "class"}
            Fitted response or probability; linear predictor; the more probable label (binomial only).
        offset : array, optional
            Known part of the linear predictor, a value for each new row: needed if the fit was given its offset as an
            array, allowed if it had none. One that was the name of a column is read from `newdata`, and refused here.
        k : int, optional
            Number of terms: another model of the path than the one that was chosen. It needs `newdata`.
        na_action : {"keep", "impute"}
            A row with a missing input has no prediction; or missing inputs are imputed from the nearest columns, as
            those of a fit with ``na_action="impute"``, which it takes.
        se : bool
            Whether to add standard errors of the predictions, and the confidence interval unless `interval` says
            otherwise. They are conditional on the selected terms, as those of the coefficients are.
        interval : {None, "confidence", "prediction"}
            "confidence": for the mean of rows like the new ones, of two classes for the probability. "prediction": for
            a single new response that is not one of the bad ones, of families with a scale. A model that is shrunken
            for prediction has no standard errors; its prediction intervals are as wide as the errors of rows that were
            left out tell. Both take the noise for normal, of one spread.
        level, alpha : float
            Level of the intervals, 0.5 at least; or one less the level.

        Returns
        -------
        Series or DataFrame
            Predictions by row. With ``na_action="impute"`` columns `prediction` and `imputed`, the number of cells that
            the row's rests on without having them. With `se` or `interval` columns `prediction`, `se`, `lower` and
            `upper`; where the response is not the linear predictor, the ends are those of the latter, transformed.

        Examples
        --------
        >>> import robustsparse as rs
        >>> data = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.0, correlation=0.9, rng=4).data
        >>> fit = rs.rht("y ~ .", data, na_action="impute")
        >>> new = data.drop(columns="y").head(2)
        >>> new.loc[0, fit.support()[0]] = np.nan
        >>> fit.predict(new).isna().tolist(), fit.predict(new, na_action="impute")["imputed"].tolist()
        ([True, False], [1, 0])

        About nineteen in twenty new responses lie within their intervals:

        >>> sim = rs.simulate.linear(n=1300, d=20, k=2, epsilon=0.0, rng=4)
        >>> fit = rs.rht("y ~ .", sim.data.head(300))
        >>> new = sim.data.tail(1000)
        >>> table = fit.predict(new, interval="prediction")
        >>> list(table.columns), bool(new["y"].between(table["lower"], table["upper"]).mean() > 0.9)
        (['prediction', 'se', 'lower', 'upper'], True)
        """
        check_choice("type", type, _TYPES)
        check_choice("na_action", na_action, ("keep", "impute"))
        fit = self._fit
        if type == "class" and fit.classes is None:
            raise ParameterError(
                f"type='class' needs family='binomial'; this is a {fit.family} fit, use type='response'."
            )
        check_choice("interval", interval, _INTERVALS)
        level = check_level(level, alpha)
        wanted = interval or ("confidence" if se else None)
        if wanted:
            check_interval(fit, wanted, type, na_action)
        if newdata is None:
            return self._of_training(type, k, na_action, wanted)
        coef = fit.coef(zeros=True, k=k)
        take = imputed_rows if na_action == "impute" else new_rows
        rows = take(fit, newdata, coef, offset)
        eta = linear_predictor(fit, rows, coef)
        if wanted:
            return with_interval(fit, rows, fit._member(k), eta, wanted, type, level)
        prediction = typed(fit, eta, type)
        if rows.imputed is None:
            return prediction
        return pd.DataFrame({"prediction": prediction, "imputed": rows.imputed}, index=rows.index)

    def _of_training(
        self, type: str, k: int | None, na_action: str, interval: str | None
    ) -> "pd.Series[Any] | pd.DataFrame":
        """Predictions of the rows of the fit."""
        fit = self._fit
        if interval:
            raise ParameterError(
                "se and interval need the predictors of the rows, and a result keeps no data; pass them as newdata, "
                "also those of the fit."
            )
        if not fit._chosen(k):
            raise ParameterError(
                f"k={k} needs newdata: fitted values are kept of the chosen model alone, which has k={fit.k}."
            )
        prediction = typed(fit, fit.diagnostics["link"].copy(), type)
        if na_action == "keep":
            return prediction
        require_imputation(fit)
        counts = imputed_cells(fit, prediction.index)
        return pd.DataFrame({"prediction": prediction, "imputed": counts})

    def residuals(self, kind: str = "response") -> "pd.Series[float]":
        """Residuals of all rows used, by row label; flagged rows included.

        Parameters
        ----------
        kind : {"response", "pearson", "deviance"}
            "response": observed less fitted, as in `resid`. "pearson": divided by the standard deviation that the model
            gives the row. "deviance": the root of what the row adds to the deviance, with the sign of the first. As in
            R neither is divided by the scale, so that for the gaussian family all three are the same; standardized
            residuals are in `diagnostics`. Weights of the user's are not counted.

        Returns
        -------
        Series
            By row label.

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
        return residual_series(self._fit, kind)

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
        if self._fit._call is None:
            raise ParameterError("this model cannot be refitted, so it cannot be cross-validated.")
        fold, link, sizes = self._fit._call.repeated(
            CROSS_VALIDATION, self._fit._before(), data, {**options, "folds": folds}
        )
        table = {
            "fold": fold + 1,
            "observed": observed(self._fit),
            "link": link,
            "prediction": self._fit.made.kind.mean(link),
        }
        predictions = pd.DataFrame(table, index=self._fit.diagnostics.index)
        return CrossValidation(predictions, sizes, self._fit.made.kind, self._fit.classes)

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

        Returns
        -------
        float

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> new = rs.simulate.linear(n=200, d=20, beta=sim.beta, epsilon=0.0, attack=None, rng=2)
        >>> fit.score(new.X, new.y) > 0.7
        True
        """
        observed = self._observed(data, y)
        predicted = self.predict(data).to_numpy()
        known = np.isfinite(observed) & np.isfinite(predicted)
        if not known.any():
            raise DataError("no row of data has both a response and all inputs.")
        return self._fit.made.kind.score(observed[known], predicted[known])

    def _observed(self, data: Any, y: Any) -> Array:
        if self._fit.made.spec is not None:
            return self._fit.made.spec.response(data)
        if y is None:
            raise ParameterError("a model fitted to arrays needs the response: score(X, y).")
        require_same_rows("y", y, data.index if isinstance(data, pd.DataFrame) else None)
        return recode_response(pd.Series(np.asarray(y)), "y", self._fit.classes, self._fit.family)
