"""`RHTRegressor` and `RHTClassifier`: sparse linear models that withstand bad rows."""

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from robustsparse.algorithm.gradients import EstimatorLike
from robustsparse.algorithm.losses import LossLike
from robustsparse.algorithm.problem import StepLike
from robustsparse.algorithm.sparsity import Sparsity
from robustsparse.base.checks import FEWEST_ROWS
from robustsparse.base.text import shown
from robustsparse.base.types import Array, Mask
from robustsparse.design.groups import GroupsLike
from robustsparse.regression.any_order import rht_in_any_order
from robustsparse.regression.arguments import Arguments, Cells, Epsilon, Goal, Select
from robustsparse.regression.result import RHTResult
from robustsparse.robust.standardize import ScaleLike
from robustsparse.sklearn.inputs import PRECISIONS, as_seed, names_of

# Arguments of a fit that hold no data, under the same name.
_SHARED = (
    "goal", "k", "select", "estimator", "loss", "epsilon", "standardize", "step", "radius", "max_iter", "tol", "refit",
    "split", "cells", "n_jobs", "verbose",
)  # fmt: skip


class _SparseLinear(SelectorMixin, BaseEstimator):
    """What the two models share: the fit, the linear predictor, and the selected columns as a transformer."""

    _family: ClassVar[Literal["gaussian", "binomial"]]

    def __init__(
        self,
        *,
        goal: Goal = "predict",
        k: Sparsity = "auto",
        select: Select = "ric",
        estimator: EstimatorLike = "trim",
        loss: LossLike | None = None,
        epsilon: Epsilon = 0.1,
        standardize: ScaleLike = True,
        fit_intercept: bool = True,
        step: StepLike = "auto",
        radius: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        refit: bool = True,
        split: int = False,
        keep: Any = None,
        groups: GroupsLike | None = None,
        na_action: Literal["raise", "drop", "impute"] = "raise",
        cells: Cells = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.goal = goal
        self.k = k
        self.select = select
        self.estimator = estimator
        self.loss = loss
        self.epsilon = epsilon
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.step = step
        self.radius = radius
        self.max_iter = max_iter
        self.tol = tol
        self.refit = refit
        self.split = split
        self.keep = keep
        self.groups = groups
        self.na_action = na_action
        self.cells = cells
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fitted(self, X: Any, y: Any, sample_weight: Any) -> RHTResult:
        """The result of the package's own function on data that scikit-learn has checked."""
        asked = Arguments(
            family=self._family, rng=as_seed(self.random_state), **{name: getattr(self, name) for name in _SHARED}
        )  # fmt: skip
        return rht_in_any_order(
            X, y, asked, names=names_of(self), intercept=self.fit_intercept, weights=sample_weight, keep=self.keep,
            groups=self.groups, na_action=self.na_action,
        )  # fmt: skip

    def _remember(self, result: RHTResult) -> None:
        self.result_ = result
        self.n_iter_ = max(result.n_iter, 1)
        self.row_weights_ = result.row_weights.reindex(range(self._rows), fill_value=0.0).to_numpy()

    def _checked(self, X: Any, y: Any, **how: Any) -> tuple[Any, Any]:
        finite = True if self.na_action == "raise" else "allow-nan"
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=PRECISIONS, ensure_min_samples=FEWEST_ROWS,
            ensure_all_finite=finite, **how,
        )  # fmt: skip
        self._rows = X.shape[0]
        return X, y

    def _new(self, X: Any) -> Any:
        check_is_fitted(self)
        finite = True if self.na_action == "raise" else "allow-nan"
        return validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=PRECISIONS, ensure_all_finite=finite
        )

    def _link(self, X: Any) -> Array:
        """Linear predictor (n,) of new rows; that of a missing input is imputed if those of the fit were."""
        X = self._new(X)
        gaps = self.na_action == "impute" and not hasattr(X, "tocsr") and np.isnan(X).any()
        if gaps:
            return np.asarray(self.result_.predict(X, "link", na_action="impute")["prediction"])
        coef = self.coef_.ravel()
        if self.na_action == "drop" and not hasattr(X, "tocsr"):
            # What is missing where a coefficient is zero is no loss.
            X, coef = X[:, coef != 0], coef[coef != 0]
        return np.asarray(X @ coef + float(np.ravel(self.intercept_)[0]))

    def _slopes(self) -> Array:
        result = self.result_
        return np.asarray(result.params, dtype=np.float64)[int(result.intercept) :]

    def _constant(self) -> float:
        return float(self.result_.params.iloc[0]) if self.fit_intercept else 0.0

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return np.asarray(self._slopes() != 0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.na_action != "raise"
        return tags


class RHTRegressor(RegressorMixin, _SparseLinear):
    """Sparse linear regression on data in which some rows cannot be trusted.

    `rht_fit` as an estimator of scikit-learn. It is also a selector: `transform` keeps the columns of the model,
    `get_feature_names_out` names them, and `SelectFromModel` reads `coef_`.

    Parameters
    ----------
    goal : {"predict", "select", "auto"}
        "predict": many shrunken coefficients on the trusted rows, for the best predictions. "select": few terms.
    fit_intercept : bool
        Whether the model has an intercept.
    random_state : int, RandomState, Generator or None
        Random numbers; None is a fixed seed.
    na_action : {"raise", "drop", "impute"}
        Missing values are refused; their rows left out of the fit; or imputed from the nearest columns, also of new
        rows.
    k, select, estimator, loss, epsilon, standardize, step, radius, max_iter, tol, refit, split, keep, groups,
    cells, n_jobs, verbose
        As in `robustsparse.rht` and `robustsparse.rht_fit`.

    Attributes
    ----------
    coef_ : array (d,)
        Coefficients, zeros included.
    intercept_ : float
        Intercept.
    row_weights_ : array (n,)
        How far each row of the fit was trusted; 0 = rejected.
    result_ : RHTResult
        The fit itself, with its summary, diagnostics and plots.
    n_features_in_, feature_names_in_, n_iter_
        As scikit-learn has them.

    Notes
    -----
    The fit does not depend on the order of the rows: they are fitted in an order that follows from what they hold, by
    which folds and random numbers are dealt out, so that `rht_fit` on the rows as they stand may differ a little.
    Weights that are whole numbers repeat rows, 0 leaves one out: a row of weight 2 is the same row twice, in every way.
    If they add up to more than ten times the rows (and to more than 1,000), and if any of them is no whole number, all
    multiply what a row adds to the loss instead, in units of their mean.

    Repeated rows, by weights or in the data, are no evidence against each other. As long as rows are judged, those that
    stand out by how many copies they have count like one row, so that a single bad row of a large weight cannot carry
    the fit; if the model explains them they count in full.

    Examples
    --------
    >>> import robustsparse as rs
    >>> from robustsparse.sklearn import RHTRegressor
    >>> sim = rs.simulate.linear(n=120, d=30, k=3, epsilon=0.1, rng=4)
    >>> model = RHTRegressor(goal="select").fit(sim.X, sim.y)
    >>> sorted(model.get_support(indices=True)) == sorted(sim.beta.nonzero()[0])
    True
    """

    _family = "gaussian"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Predictors.
        y : array (n,)
            Response.
        sample_weight : array (n,), optional
            Weights of the rows, of which 0 leaves a row out; whole numbers repeat rows, others multiply them.

        Returns
        -------
        RHTRegressor
            Itself.

        Examples
        --------
        >>> import robustsparse as rs
        >>> from robustsparse.sklearn import RHTRegressor
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = RHTRegressor().fit(sim.X, sim.y)
        >>> model.coef_.shape
        (20,)
        """
        X, y = self._checked(X, y, y_numeric=True)
        self._remember(self._fitted(X, y, sample_weight))
        self.coef_, self.intercept_ = self._slopes(), self._constant()
        return self

    def predict(self, X: Any) -> Array:
        """Fitted response (n,) of new rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Rows to predict.

        Returns
        -------
        array (n,)

        Examples
        --------
        >>> import robustsparse as rs
        >>> from robustsparse.sklearn import RHTRegressor
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = RHTRegressor().fit(sim.X, sim.y)
        >>> model.predict(sim.X[:3]).shape
        (3,)
        """
        return self._link(X)


class RHTClassifier(ClassifierMixin, _SparseLinear):
    """Sparse logistic regression on data of two classes in which rows and labels cannot all be trusted.

    `rht_fit` with ``family="binomial"`` as an estimator of scikit-learn. It is also a selector, see `RHTRegressor`,
    which has the same parameters and attributes. For more than two classes put it into a `OneVsRestClassifier`.

    Parameters
    ----------
    goal, k, select, estimator, loss, epsilon, standardize, fit_intercept, step, radius, max_iter, tol, refit, split,
    keep, groups, na_action, cells, random_state, n_jobs, verbose
        As in `RHTRegressor`.

    Attributes
    ----------
    classes_ : array (2,)
        The labels; probabilities and `coef_` are of the second.
    coef_ : array (1, d)
        Coefficients, zeros included.
    intercept_ : array (1,)
        Intercept.
    row_weights_, result_, n_features_in_, feature_names_in_, n_iter_
        As in `RHTRegressor`.

    Examples
    --------
    >>> import robustsparse as rs
    >>> from robustsparse.sklearn import RHTClassifier
    >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.0, rng=1)
    >>> model = RHTClassifier().fit(sim.X, sim.y)
    >>> model.predict_proba(sim.X[:3]).shape, bool(model.score(sim.X, sim.y) > 0.8)
    ((3, 2), True)
    """

    _family = "binomial"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Predictors.
        y : array (n,)
            Labels of two classes.
        sample_weight : array (n,), optional
            Weights of the rows, of which 0 leaves a row out; whole numbers repeat rows, others multiply them.

        Returns
        -------
        RHTClassifier
            Itself.

        Examples
        --------
        >>> import robustsparse as rs
        >>> from robustsparse.sklearn import RHTClassifier
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = RHTClassifier().fit(sim.X, sim.y)
        >>> len(model.classes_)
        2
        """
        X, y = self._checked(X, y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}. "
                "OneVsRestClassifier(RHTClassifier()) takes more classes."
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class, {shown(self.classes_[0])}; a classifier needs rows of two classes."
            )
        self._remember(self._fitted(X, codes, sample_weight))
        self.coef_ = self._slopes()[None, :]
        self.intercept_ = np.array([self._constant()])
        return self

    def decision_function(self, X: Any) -> Array:
        """Log-odds (n,) of the second class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Rows to predict.

        Returns
        -------
        array (n,)

        Examples
        --------
        >>> import robustsparse as rs
        >>> from robustsparse.sklearn import RHTClassifier
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = RHTClassifier().fit(sim.X, sim.y)
        >>> model.decision_function(sim.X[:3]).shape
        (3,)
        """
        return self._link(X)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities (n, 2) of the two classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Rows to predict.

        Returns
        -------
        array (n, 2)
            In the order of `classes_`.

        Examples
        --------
        >>> import robustsparse as rs
        >>> from robustsparse.sklearn import RHTClassifier
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = RHTClassifier().fit(sim.X, sim.y)
        >>> model.predict_proba(sim.X[:3]).shape
        (3, 2)
        """
        second = expit(self._link(X))
        return np.column_stack([1.0 - second, second])

    def predict(self, X: Any) -> Any:
        """The likelier label (n,) of new rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Rows to predict.

        Returns
        -------
        array (n,)

        Examples
        --------
        >>> import robustsparse as rs
        >>> from robustsparse.sklearn import RHTClassifier
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = RHTClassifier().fit(sim.X, sim.y)
        >>> set(model.predict(sim.X)) <= set(model.classes_)
        True
        """
        second = self._link(X) > 0
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
