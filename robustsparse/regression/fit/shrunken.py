"""The fit for prediction: coefficients shrunken on the rows that are trusted.

Few terms without shrinkage explain; many small ones predict. Which rows are bad is told by the fit that selects. On the
others an elastic net is fitted, its penalty chosen by cross-validation in which no row that is left out counts for more
than one at the edge of being rejected.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array, Places
from robustsparse.regression.fit.cross_validated_net import cross_validated_net, deal_folds
from robustsparse.regression.fit.k_paths import Choice
from robustsparse.regression.fit.models import Fitted, Model, response_flags
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import TRUSTED, trust_in_rows
from robustsparse.regression.fit.standardized import Standardized


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
    weights = _row_weights(problem, options, selected)
    net = cross_validated_net(problem, weights, deal_folds(problem, weights, options.rng))
    sizes = (np.delete(net.coefs, problem.keep, axis=1) != 0).sum(axis=1)
    places = _best_of_sizes(sizes, net.value, most)
    at = list(places.values())
    columns = {"value": net.value[at], "se": net.se[at]}
    table = pd.DataFrame(columns, index=pd.Index(places, name="k"))
    choice = Choice(min(places, key=lambda k: float(net.value[places[k]])), table)
    path = {k: net.coefs[place] for k, place in places.items()}
    return _fitted(problem, selected, weights, path, choice)


def _row_weights(problem: Standardized, options: Options, selected: Fitted) -> Array:
    """Weights of the rows in the judgement of the selecting fit; 0 for those that are not trusted."""
    trust = trust_in_rows(problem, selected.leverage, options.estimator)
    out = response_flags(problem, selected.model)
    if out.mean() > 0.5:
        size = np.abs(selected.model.resid)
        out = size > np.median(size)
    return np.where(out | (trust < TRUSTED), 0.0, trust)


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
    models = {k: _model(problem, coef, weights, k) for k, coef in path.items()}
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


def _model(problem: Standardized, coef: Array, weights: Array, size: int) -> Model:
    """Coefficients with what they leave of all rows."""
    eta = problem.predictor(coef)
    resid = problem.family.residuals(problem.y, eta)
    active = np.union1d(np.flatnonzero(coef), problem.keep)
    scale = problem.family.scale_of(resid)
    return Model(active, coef[active], eta, scale, resid, weights, None, size)
