"""`LassoResult`: a penalized model, and what can be asked of it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from robustsparse.base.checks import check_choice
from robustsparse.base.errors import ParameterError
from robustsparse.base.text import did_you_mean
from robustsparse.design.build import DesignSpec
from robustsparse.design.frames import INTERCEPT
from robustsparse.design.labelled import new_columns
from robustsparse.report.roc import ROC, roc_from_scores


@dataclass(frozen=True, eq=False, repr=False)
class LassoResult:
    """A linear or logistic model fitted by the lasso or the trimmed lasso.

    Attributes
    ----------
    params : Series
        Coefficients of all terms, zeros included, on the data's own scale; the intercept is the first.
    k : int
        Number of terms that are not zero.
    penalty : float
        The lambda that was chosen.
    path : DataFrame
        Standardized coefficients, terms by lambda; terms never selected are left out.
    cv : DataFrame or None
        Index lambda, columns `value` and `se`: the cross-validated loss that lambda was chosen by.
    row_weights : Series
        By row label: 1 for the rows that counted, 0 for those that the trimmed lasso left out.
    nobs : int
        Number of rows.
    family, method : str
        "gaussian" or "binomial"; "lasso" or "trimmed lasso".
    intercept : bool
        Whether the model has an intercept.
    classes : tuple or None
        Labels coded 0 and 1, for the binomial family.
    spec : DesignSpec or None
        How new data are coded, for a fit to a formula.
    by_name : bool
        Whether a fit without a formula was given names of columns, by which those of new rows are found.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.0, attack=None, rng=1)
    >>> lasso = rs.baselines.lasso(sim.X, sim.y)
    >>> lasso.method, set(sim.support()) <= set(lasso.support())
    ('lasso', True)
    """

    params: "pd.Series[float]"
    k: int
    penalty: float
    path: pd.DataFrame
    cv: pd.DataFrame | None
    row_weights: "pd.Series[float]"
    nobs: int
    family: str
    method: str
    intercept: bool
    classes: tuple[object, object] | None = None
    spec: DesignSpec | None = None
    by_name: bool = False

    def coef(self, zeros: bool = False) -> "pd.Series[float]":
        """Coefficients, by default only those that are not zero: the intercept, then the largest first.

        Parameters
        ----------
        zeros : bool
            Whether to list all terms, in the order of the design.

        Returns
        -------
        Series
            By term.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.0, attack=None, rng=1)
        >>> lasso = rs.baselines.lasso(sim.X, sim.y)
        >>> len(lasso.coef(zeros=True))
        21
        """
        if zeros:
            return self.params.copy()
        return self.params[[*([INTERCEPT] if self.intercept else []), *self.support()]]

    def support(self) -> list[str]:
        """Names of the selected terms, largest standardized coefficient first.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.0, attack=None, rng=1)
        >>> lasso = rs.baselines.lasso(sim.X, sim.y)
        >>> len(lasso.support()) == lasso.k
        True
        """
        sizes = self.path[self.penalty].abs()
        return list(sizes[sizes > 0].sort_values(ascending=False, kind="stable").index)

    def predict(self, newdata: Any, type: str = "response") -> "pd.Series[Any]":
        """Predictions for new rows; missing where an input is.

        Parameters
        ----------
        newdata : data frame or array
            For a fit to a formula a data frame, for a fit to arrays an (n, d) array.
        type : {"response", "link", "class"}
            Fitted response or probability; linear predictor; the more probable label (binomial only).

        Returns
        -------
        Series
            By row.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.0, attack=None, rng=1)
        >>> lasso = rs.baselines.lasso(sim.X, sim.y)
        >>> lasso.predict(sim.X[:3]).shape
        (3,)
        """
        check_choice("type", type, ("response", "link", "class"))
        if type == "class" and self.classes is None:
            raise ParameterError("type='class' needs family='binomial'; use type='response'.")
        link = self._link(newdata)
        if type == "link" or self.family == "gaussian":
            return link.rename("link" if type == "link" else "prediction")
        if type == "response":
            return pd.Series(expit(link.to_numpy()), index=link.index, name="prediction")
        assert self.classes is not None
        labels = np.array([*self.classes, None], dtype=object)
        place = np.where(link.isna(), 2, link > 0).astype(int)
        return pd.Series(labels[place], index=link.index, name="prediction").infer_objects()

    def _link(self, newdata: Any) -> "pd.Series[float]":
        slopes = self.params.to_numpy()[int(self.intercept) :]
        used = np.flatnonzero(slopes)
        if self.spec is not None:
            X, index = self.spec.matrix(newdata, used)
        else:
            names = list(self.params.index[int(self.intercept) :])
            X, index = new_columns(newdata, names, self.by_name, used, used)
        constant = float(self.params.iloc[0]) if self.intercept else 0.0
        return pd.Series(X @ slopes[used] + constant, index=index)

    def support_roc(self, true_support: Collection[str]) -> ROC:
        """ROC curve of the terms along the path against the true ones.

        Terms are ranked by how many penalties keep them, then by the size of their coefficient.

        Parameters
        ----------
        true_support : collection of str
            Names of the terms of the true model.

        Returns
        -------
        ROC

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.0, attack=None, rng=1)
        >>> lasso = rs.baselines.lasso(sim.X, sim.y)
        >>> lasso.support_roc(sim.support()).auc
        1.0
        """
        terms = list(self.params.index[int(self.intercept) :])
        unknown = [name for name in true_support if name not in terms]
        if unknown:
            hint = did_you_mean(str(unknown[0]), terms)
            raise ParameterError(f"{unknown[0]!r} is not a candidate term of this model{hint}")
        sizes = self.path.abs()
        largest = sizes.to_numpy().max(initial=1e-300)
        rank = (sizes > 0).sum(axis=1) + 0.5 * sizes.max(axis=1) / largest
        scores = rank.reindex(terms).fillna(0.0).to_numpy()
        return roc_from_scores(scores, np.isin(terms, list(true_support)))

    def __repr__(self) -> str:
        terms = self.support()
        shown = ", ".join(terms[:5]) + (", …" if len(terms) > 5 else "")
        return (
            f"<LassoResult: {self.method}, {self.family}, {self.nobs} rows, lambda = {self.penalty:.4g}, "
            f"k = {self.k} ({shown or 'no term'})>"
        )
