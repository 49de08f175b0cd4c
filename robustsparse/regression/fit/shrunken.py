"""The fit for prediction: coefficients shrunken on the rows that are trusted.

Few terms without shrinkage explain; many small ones predict. Which rows are bad is told by the fit that selects. On the
others elastic nets and a ridge are fitted, of which cross-validation takes one; no row that is left out counts for more
there than one at the edge of being rejected.

Rows that are far out in the predictors may be errors, or cases of another kind that will come again. They are let in if
a fit with them predicts the trusted rows as well as one without, and better all in all.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array, Mask, Places
from robustsparse.regression.fit.cross_validated_net import (
    NetPath,
    cross_validated_net,
    deal_folds,
)
from robustsparse.regression.fit.k_paths import Choice
from robustsparse.regression.fit.models import Fitted, Model, ModelsOnDemand, response_flags
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import TRUSTED, trust_in_rows
from robustsparse.regression.fit.standardized import Standardized

# Far rows are let in if the trusted ones are predicted worse by so many standard errors at most.
_ERRORS = 1.0


def check_shrinkable(options: Options) -> None:
    """Refuse what is not for a fit that predicts: its rows are judged by a robust refit."""
    if options.refit and not options.split:
        return
    raise ParameterError(
        "goal='predict' judges the rows by a robust refit: it needs refit=True, split=False and a loss of the family."
    )


def shrunken(problem: Standardized, options: Options, selected: Fitted, most: int | None) -> Fitted:
    """The model for prediction, of rows that a selecting fit has judged.

    Parameters
    ----------
    problem : Standardized
        The standardized problem.
    options : Options
        Options of the fit.
    selected : Fitted
        The fit that judged the rows.
    most : int or None
        Most terms that the model may have.
    """
    if problem.whole is not None:
        raise ParameterError(
            "a model for prediction shrinks all columns at once, and these are not in memory; goal='select' selects "
            "few of them, however few labels there are, or give more memory."
        )
    weights, far = _row_weights(problem, options, selected)
    weights, net = _with_far_rows(problem, weights, far, options)
    sizes = (np.delete(net.coefs, problem.keep, axis=1) != 0).sum(axis=1)
    places = _best_of_sizes(sizes, net.value, most)
    at = list(places.values())
    columns = {"value": net.value[at], "se": net.se[at]}
    table = pd.DataFrame(columns, index=pd.Index(places, name="k"))
    choice = Choice(min(places, key=lambda k: float(net.value[places[k]])), table)
    path = {k: net.coefs[place] for k, place in places.items()}
    return _fitted(problem, selected, weights, path, choice)


def _row_weights(problem: Standardized, options: Options, selected: Fitted) -> tuple[Array, Mask]:
    """Weights of the rows as the selecting fit judges them, 0 if they are not trusted, and which are too far out."""
    trust = trust_in_rows(problem, selected.leverage, options.estimator)
    out = response_flags(problem, selected.model)
    if out.mean() > 0.5:
        size = np.abs(selected.model.resid)
        out = size > np.median(size)
    far = trust < TRUSTED
    return np.where(out | far, 0.0, trust), far


def _with_far_rows(
    problem: Standardized, weights: Array, far: Mask, options: Options
) -> tuple[Array, NetPath]:
    """Nets of the trusted rows, or of these and the far ones if nobody is predicted worse; the weights of the rows."""
    fold = deal_folds(problem, weights, options.rng)
    alone = cross_validated_net(problem, weights, fold)
    if not far.any():
        return weights, alone
    let_in = np.where(far, 1.0, weights)
    fold = np.where(far, deal_folds(problem, far.astype(np.float64), options.rng), fold)
    together = cross_validated_net(problem, let_in, fold)
    if _as_good(problem, alone, together):
        return let_in, together
    return weights, alone


def _as_good(problem: Standardized, alone: NetPath, together: NetPath) -> bool:
    """Whether nets with more rows predict those of nets without as well as these, and all of them better.

    Rows are predicted by nets that did not see them; what none of the first nets has seen, by the one of all its rows.
    """
    first = problem.predictor(alone.coefs[alone.best])
    first[alone.used] = alone.eta_out
    used = together.used
    etas = np.array([first[used], together.eta_out])
    one, other = problem.family.bounded(problem.loss, problem.y[used], etas)
    more = other - one
    trusted = more[alone.used[used]]
    error = float(trusted.std()) / np.sqrt(len(trusted))
    return float(trusted.mean()) <= _ERRORS * error and float(more.sum()) < 0.0


def _best_of_sizes(sizes: Places, value: Array, most: int | None) -> dict[int, int]:
    """For each number of terms the place on the path that predicts best."""
    order = np.lexsort([value, sizes])
    places = {int(sizes[place]): int(place) for place in order[::-1]}
    allowed = {k: place for k, place in places.items() if most is None or k <= most}
    return dict(sorted(allowed.items()))


def _fitted(
    problem: Standardized, selected: Fitted, weights: Array, path: dict[int, Array], choice: Choice
) -> Fitted:
    """The fit with the coefficients of its choice."""
    models = _Models(problem, path, weights)
    coef = path[choice.k]
    free = np.ones(len(coef), dtype=bool)
    free[problem.keep] = False
    chosen = np.flatnonzero(free & (coef != 0))
    support = chosen[np.argsort(-np.abs(coef[chosen]), kind="stable")]
    solution = replace(selected.solution, coef=coef, support=support)
    # What there is to be said of the terms that were selected is not said of these.
    return replace(
        selected, model=models[choice.k], solution=solution, choice=choice, path=path, models=models, doubt="",
        goal="predict",
    )  # fmt: skip


class _Models(ModelsOnDemand):
    """The model of every size on a path, each with its scale once it is asked for.

    Parameters
    ----------
    problem : Standardized
        The problem.
    path : dict from k to coefficients (p,)
        The path.
    weights : array (n,)
        Weights of the rows.
    """

    def __init__(self, problem: Standardized, path: dict[int, Array], weights: Array) -> None:
        super().__init__(
            {k: np.union1d(np.flatnonzero(coef), problem.keep) for k, coef in path.items()}
        )
        self._coefs = {k: path[k][columns] for k, columns in self._columns.items()}
        # Not later: the design is let go.
        self._etas = {k: problem.predictor(coef) for k, coef in path.items()}
        self._y, self._family, self._weights = problem.y, problem.family, weights

    def _model(self, size: int) -> Model:
        eta = self._etas[size]
        resid = self._family.residuals(self._y, eta)
        scale = self._family.scale_of(resid)
        return Model(
            self._columns[size], self._coefs[size], eta, scale, resid, self._weights, None, size
        )
