"""`TrustedRows`: any estimator, fitted to the rows that `rht` trusts."""

import inspect
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import Bunch, Tags, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _is_fitted, check_is_fitted, validate_data

from robustsparse.base.checks import FEWEST_ROWS, as_vector
from robustsparse.base.errors import ContaminationWarning, warn_user
from robustsparse.base.text import shown
from robustsparse.base.types import Mask, Places
from robustsparse.design.row_order import repetitions
from robustsparse.regression.any_order import rht_in_any_order
from robustsparse.regression.arguments import Arguments, Cells, Epsilon
from robustsparse.regression.result import RHTResult
from robustsparse.sklearn.inputs import PRECISIONS, as_seed, names_of


def _delegates(name: str) -> Callable[[Any], bool]:
    """Whether the estimator inside has a method; its own error tells what it lacks."""

    def check(self: "TrustedRows") -> bool:
        getattr(self.estimator_ if _is_fitted(self) else self.estimator, name)
        return True

    return check


class TrustedRows(MetaEstimatorMixin, BaseEstimator):
    """Judge the rows with `rht`, and fit any estimator to those that are trusted.

    The rows are judged together, on all columns and by a robust sparse model of the response: rows whose response that
    model cannot explain, and rows too far out in the predictors, are left out, and single cells that are wrong are
    replaced by what the nearest columns let expect. What is left goes to the estimator as it is. See
    ``docs/trusted-rows.md`` for what that does to predictions.

    Parameters
    ----------
    estimator : estimator
        Regressor or classifier to fit, for example ``LassoCV()`` or a pipeline that ends in one; a copy is fitted. With
        more than two classes a row is trusted if it is, each class against the others.
    epsilon : float or "auto"
        Fraction of bad rows to survive, as in `robustsparse.rht`.
    cells : "auto" or bool
        Whether single cells are judged too, as in `robustsparse.rht`.
    random_state : int, RandomState, Generator or None
        Random numbers of the judgement; None is a fixed seed.
    n_jobs : int, optional
        Threads of the judgement.

    Attributes
    ----------
    estimator_ : estimator
        The copy that was fitted to the trusted rows.
    trusted_ : array of bool (n,)
        Which rows these are.
    judges_ : list of RHTResult
        The fits that judged the rows, one, or one for each of several classes.
    classes_ : array
        The labels, for a classifier.
    n_features_in_, feature_names_in_
        As scikit-learn has them.

    Notes
    -----
    Which rows are trusted does not depend on their order, and a row of weight 2 is judged as the same row twice, see
    `RHTRegressor`; the estimator gets the rows in the order in which they were given.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> import robustsparse as rs
    >>> from robustsparse.sklearn import TrustedRows
    >>> sim = rs.simulate.linear(n=120, d=10, k=3, epsilon=0.1, attack="leverage", rng=4)
    >>> model = TrustedRows(Ridge()).fit(sim.X, sim.y)
    >>> bool(model.trusted_[sim.outlier].any()), int(model.trusted_[~sim.outlier].sum())
    (False, 120)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        epsilon: Epsilon = 0.1,
        cells: Cells = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.epsilon = epsilon
        self.cells = cells
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Judge the rows and fit the estimator.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Predictors.
        y : array (n,)
            Response or labels.
        sample_weight : array (n,), optional
            Weights of the rows, for the judgement and for the estimator. Whole numbers stand for rows that are there so
            many times; 0 leaves a row out. To an estimator that takes no weights the rows are given as often.
        **fit_params
            Arguments of the estimator's `fit`; those with a value for each row are cut to the trusted rows.

        Returns
        -------
        TrustedRows
            Itself.

        Examples
        --------
        >>> import robustsparse as rs
        >>> from sklearn.linear_model import Ridge
        >>> from robustsparse.sklearn import TrustedRows
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = TrustedRows(Ridge()).fit(sim.X, sim.y)
        >>> model.trusted_.shape == sim.y.shape
        True
        """
        passed = dict(self._passed(sample_weight, fit_params))
        tags = get_tags(self.estimator)
        values, response = validate_data(
            self, X, y, accept_sparse="csr", dtype=PRECISIONS, ensure_min_samples=FEWEST_ROWS,
            ensure_all_finite="allow-nan" if tags.input_tags.allow_nan else True, y_numeric=not is_classifier(self),
        )  # fmt: skip
        self.judges_ = [
            self._judge(values, one, sample_weight) for one in self._responses(response)
        ]
        self.trusted_ = np.all([_trusted(one, len(response)) for one in self.judges_], axis=0)
        self._keep_classes(response)
        rows = np.flatnonzero(self.trusted_)
        if "sample_weight" in passed and not _takes_weights(self.estimator):
            rows = _repeated(rows, passed.pop("sample_weight"), len(response))
        given = X if isinstance(X, pd.DataFrame) else values
        mended = _mended(given, self.judges_) if self.cells else given
        # A frame stays one, so that the estimator sees its names and types.
        part = mended.iloc[rows] if isinstance(mended, pd.DataFrame) else mended[rows]
        passed = {name: _rows_of(value, rows, len(response)) for name, value in passed.items()}
        self.estimator_ = clone(self.estimator).fit(part, response[rows], **passed)
        return self

    def _passed(self, sample_weight: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
        """What goes on to the `fit` of the estimator."""
        if _routing_enabled():
            given = {} if sample_weight is None else {"sample_weight": sample_weight}
            routed: Bunch = process_routing(self, "fit", **given, **fit_params)
            return dict(routed.estimator.fit)
        return (
            fit_params if sample_weight is None else {**fit_params, "sample_weight": sample_weight}
        )

    def _responses(self, y: Any) -> list[Any]:
        """What rows are judged by: the response, or of several classes each against the others."""
        if not is_classifier(self):
            return [y]
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class, {shown(self.classes_[0])}; a classifier needs rows of two classes."
            )
        events = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return [(y == event).astype(int) for event in events]

    def _judge(self, X: Any, y: Any, weights: Any) -> RHTResult:
        gaps = not hasattr(X, "tocsr") and np.isnan(X).any()
        asked = Arguments(
            family="binomial" if is_classifier(self) else "gaussian", goal="predict", epsilon=self.epsilon,
            cells=self.cells, rng=as_seed(self.random_state), n_jobs=self.n_jobs,
        )  # fmt: skip
        return rht_in_any_order(
            X,
            y,
            asked,
            names=names_of(self),
            weights=weights,
            na_action="impute" if gaps else "raise",
        )

    def _keep_classes(self, y: Any) -> None:
        """Trust all rows of a class of which none is: they lie apart as a class does, not as errors do."""
        lost = np.setdiff1d(y, y[self.trusted_]) if is_classifier(self) else np.zeros(0)
        for label in lost:
            self.trusted_ |= y == label
            warn_user(
                f"every row of class {shown(label)} is far from the other classes; none of them is judged.",
                ContaminationWarning,
            )

    @available_if(_delegates("predict"))
    def predict(self, X: Any, **params: Any) -> Any:
        """Predictions of the estimator for new rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Rows to predict.
        **params
            Arguments of the estimator's method.

        Returns
        -------
        array (n,)

        Examples
        --------
        >>> import robustsparse as rs
        >>> from sklearn.linear_model import Ridge
        >>> from robustsparse.sklearn import TrustedRows
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = TrustedRows(Ridge()).fit(sim.X, sim.y)
        >>> model.predict(sim.X[:3]).shape
        (3,)
        """
        return self._call("predict", X, params)

    @available_if(_delegates("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Rows to predict.
        **params
            Arguments of the estimator's method.

        Returns
        -------
        array (n, number of classes)

        Examples
        --------
        >>> import robustsparse as rs
        >>> from sklearn.linear_model import LogisticRegression
        >>> from robustsparse.sklearn import TrustedRows
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = TrustedRows(LogisticRegression()).fit(sim.X, sim.y)
        >>> model.predict_proba(sim.X[:3]).shape
        (3, 2)
        """
        return self._call("predict_proba", X, params)

    @available_if(_delegates("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Decision function of the estimator.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Rows to predict.
        **params
            Arguments of the estimator's method.

        Returns
        -------
        array (n,)

        Examples
        --------
        >>> import robustsparse as rs
        >>> from sklearn.linear_model import LogisticRegression
        >>> from robustsparse.sklearn import TrustedRows
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = TrustedRows(LogisticRegression()).fit(sim.X, sim.y)
        >>> model.decision_function(sim.X[:3]).shape
        (3,)
        """
        return self._call("decision_function", X, params)

    @available_if(_delegates("score"))
    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score of the estimator on other rows, all of which count.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers (n, d)
            Rows to judge by.
        y : array (n,)
            Their response.
        **params
            Arguments of the estimator's method.

        Returns
        -------
        float

        Examples
        --------
        >>> import robustsparse as rs
        >>> from sklearn.linear_model import Ridge
        >>> from robustsparse.sklearn import TrustedRows
        >>> sim = rs.simulate.linear(n=150, d=20, k=2, epsilon=0.1, rng=1)
        >>> model = TrustedRows(Ridge()).fit(sim.X, sim.y)
        >>> model.score(sim.X[~sim.outlier], sim.y[~sim.outlier]) > 0.5
        True
        """
        check_is_fitted(self)
        routed = process_routing(self, "score", **params).estimator.score if params else {}
        return float(self.estimator_.score(X, y, **routed))

    def _call(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        routed = process_routing(self, method, **params).estimator[method] if params else {}
        return getattr(self.estimator_, method)(X, **routed)

    def get_metadata_routing(self) -> MetadataRouter:
        """Where scikit-learn sends weights and the like: to the methods of the estimator."""
        mapping = MethodMapping()
        for method in ("fit", "predict", "predict_proba", "decision_function", "score"):
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _takes_weights(estimator: Any) -> bool:
    """Whether weights can be given to the `fit` of an estimator, by their name or among others."""
    parameters = inspect.signature(estimator.fit).parameters
    others = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    return others or "sample_weight" in parameters


def _repeated(rows: Places, sample_weight: Any, n: int) -> Places:
    """Rows as often as their weights say, for an estimator that takes none."""
    times = repetitions(as_vector("sample_weight", sample_weight, n))
    if times is None:
        raise ValueError(
            "the estimator takes no sample_weight, so that rows can only be repeated, as often as small whole numbers "
            "say; pass such weights, or none."
        )
    return np.repeat(rows, times[rows])


def _trusted(judge: RHTResult, n: int) -> Mask:
    """Rows (n,) that a fit used and did not reject."""
    return np.asarray(judge.row_weights.reindex(range(n), fill_value=0.0) > 0.0)


def _mended(X: Any, judges: list[RHTResult]) -> Any:
    """A copy of X with what wrong cells should have been; X itself if there are none."""
    wrong = pd.concat([judge.cells("wrong") for judge in judges])
    if not len(wrong) or hasattr(X, "tocsr"):
        return X
    names = list(judges[0].params.index[int(judges[0].intercept) :])
    places = pd.Index(names).get_indexer(pd.Index(wrong["column"]))
    if not isinstance(X, pd.DataFrame):
        X = X.copy()
        X[wrong.index.to_numpy(dtype=np.intp), places] = wrong["new"].to_numpy()
        return X
    X = X.copy()
    for place in np.unique(places):
        cells = wrong[places == place]
        column = X.iloc[:, place].to_numpy(dtype=np.float64, copy=True)
        column[cells.index.to_numpy(dtype=np.intp)] = cells["new"].to_numpy()
        X[X.columns[place]] = column
    return X


def _rows_of(value: Any, rows: Any, n: int) -> Any:
    """The part of a value for each of n rows that belongs to some of them; other values as they are."""
    if isinstance(value, list) and len(value) == n:
        return [value[row] for row in rows]
    # What can become an array need not be one.
    value = (
        np.asarray(value) if hasattr(value, "__array__") and not hasattr(value, "iloc") else value
    )
    shape = getattr(value, "shape", None)
    if shape is None or not len(shape) or shape[0] != n:
        return value
    return value.iloc[rows] if hasattr(value, "iloc") else value[rows]
