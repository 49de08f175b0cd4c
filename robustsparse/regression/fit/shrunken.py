"""The fit for prediction: coefficients shrunken on the rows that are trusted.

Few terms without shrinkage explain; many small ones predict. Which rows are bad is told by the fit that selects. On the
others an elastic net is fitted, its penalty chosen by cross-validation in which no row that is left out counts for more
than one at the edge of being rejected.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from robustsparse.algorithm.elastic_net import Net, net_path
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array, Places
from robustsparse.regression.fit.k_paths import Choice
from robustsparse.regression.fit.models import Fitted, Model, response_flags
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import TRUSTED, trust_in_rows
from robustsparse.regression.fit.standardized import Standardized

# Shares of the l1 norm in the penalty, of which cross-validation takes one: half is as accurate as the lasso, and of
# near-copies it takes all or none; close to a ridge, many weak terms share what they explain.
MIXINGS = (0.5, 0.1)
FOLDS = 10
# Penalties on the path, and the last as a part of the first.
_PENALTIES, _LAST = 60, 1e-3
# A spread below this part of a column's largest value is none.
_FLAT = 1e-9


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
    net, scale = _net(problem, weights)
    fold = _folds(problem, net.y, options.rng)
    paths = [_path(problem, replace(net, mixing=mixing), fold) for mixing in MIXINGS]
    coefs, value, se = min(paths, key=lambda path: float(path[1].min()))
    places = _best_of_sizes((coefs[:, net.free] != 0).sum(axis=1), value, most)
    at = list(places.values())
    table = pd.DataFrame({"value": value[at], "se": se[at]}, index=pd.Index(places, name="k"))
    choice = Choice(min(places, key=lambda k: float(value[places[k]])), table)
    path = {k: coefs[place] / scale for k, place in places.items()}
    return _fitted(problem, selected, weights, path, choice)


def _row_weights(problem: Standardized, options: Options, selected: Fitted) -> Array:
    """Weights of the rows in the judgement of the selecting fit; 0 for those that are not trusted."""
    trust = trust_in_rows(problem, selected.leverage, options.estimator)
    out = response_flags(problem.family, problem.y, selected.model)
    if out.mean() > 0.5:
        size = np.abs(selected.model.resid)
        out = size > np.median(size)
    return np.where(out | (trust < TRUSTED), 0.0, trust)


def _net(problem: Standardized, weights: Array) -> tuple[Net, Array]:
    """The elastic net of weighted rows, its columns on the scale that they have there, and that scale."""
    given = weights if problem.weights is None else weights * problem.weights
    used = given > 0
    XT = np.asarray(problem.XT[:, used], dtype=np.float64)
    share = given[used] / given[used].sum()
    center = XT @ share if problem.intercept else np.zeros(len(XT))
    scale = np.sqrt(np.maximum((XT * XT) @ share - center**2, 0.0))
    free = scale > _FLAT * np.abs(XT).max(axis=1)
    free[problem.keep] = False
    if problem.terms is not None:
        # Terms that are too wide for the rows are out, as the user was told.
        free &= problem.terms.of >= 0
    scale[~free] = 1.0
    XT /= scale[:, None]
    offset = np.zeros(problem.n) if problem.offset is None else problem.offset
    net = Net(
        XT, problem.y[used], problem.loss, given[used], offset[used], problem.keep, free, MIXINGS[0]
    )
    return net, scale


def _path(problem: Standardized, net: Net, fold: Places) -> tuple[Array, Array, Array]:
    """Coefficients at falling penalties, the mean bounded loss of rows left out at each, and its standard error."""
    penalties = net.largest_penalty() * np.geomspace(1.0, _LAST, _PENALTIES)
    eta = np.empty((len(penalties), len(net.y)))
    for f in range(fold.max() + 1):
        out = fold == f
        eta[:, out] = net.offset[out] + net_path(net.without(out), penalties) @ net.XT[:, out]
    losses = problem.family.bounded(problem.loss, net.y, eta)
    share = net.weights / net.weights.sum()
    value = losses @ share
    return net_path(net, penalties), value, np.sqrt((losses - value[:, None]) ** 2 @ share**2)


def _folds(problem: Standardized, y: Array, rng: np.random.Generator) -> Places:
    """Number of each row's fold; classes are dealt out evenly."""
    order = rng.permutation(len(y))
    if not problem.family.has_scale:
        order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % min(FOLDS, len(y))
    return fold


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
        selected, model=models[choice.k], solution=solution, choice=choice, path=path, models=models, doubt=""
    )  # fmt: skip


def _model(problem: Standardized, coef: Array, weights: Array, size: int) -> Model:
    """Coefficients with what they leave of all rows."""
    eta = problem.predictor(coef)
    resid = problem.family.residuals(problem.y, eta)
    active = np.union1d(np.flatnonzero(coef), problem.keep)
    scale = problem.family.scale_of(resid)
    return Model(active, coef[active], eta, scale, resid, weights, None, size)
