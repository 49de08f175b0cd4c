"""Elastic nets and ridges on weighted rows, with the penalty chosen by cross-validation.

The nets without each fold and the one of all rows go down the path together, which ends where smaller penalties have
nothing to offer: the rows left out are predicted worse again, or the others cannot be fitted any better. Beside elastic
nets a ridge has its turn where that is quick: many columns that tell the same in part predict best together. Since it
takes all of them, it must be clearly better.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustsparse.algorithm.elastic_net import Descent, Net
from robustsparse.algorithm.gram_net import Equations, GramDescent, left_out_equations
from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.ridge import RidgeDescent, turned
from robustsparse.base.threads import one_blas_thread
from robustsparse.base.types import Array, Mask, Places
from robustsparse.regression.fit.standardized import Standardized

# Shares of the l1 norm in the penalty, of which cross-validation takes one: half is as accurate as the lasso, and of
# near-copies it takes all or none; close to a ridge, many weak terms share what they explain.
MIXINGS = (0.5, 0.1)
FOLDS = 5
# Penalties on the path as parts of the first: close together where few terms enter, for those who want few.
_PENALTIES = np.concatenate([np.linspace(1.0, 0.84, 5), np.geomspace(0.8, 1e-3, 28)])
# Those of a ridge, whose first is the largest variance of a direction.
_RIDGE_PENALTIES = np.geomspace(1.0, 1e-6, 25)
# A path has turned so many penalties after the best, if the last is worse by so many standard errors; by as many must a
# ridge be better than the nets.
_WORSE, _ERRORS = 3, 1.0
# Classes are told apart when the loss is this part of the empty model's; beyond, coefficients only grow.
_APART = 1e-3
# A spread below this part of a column's largest value is none.
_FLAT = 1e-9
# Inner products of so many columns at most are kept for all folds.
_FEW_COLUMNS = 300
# Rows times squared directions up to which a ridge is quick, of the squared loss and of others.
_QUICK_SQUARES, _QUICK = 3e7, 2e6


@dataclass(frozen=True, eq=False)
class NetPath:
    """Nets at falling penalties, with what cross-validation says of each.

    Attributes
    ----------
    coefs : array (penalties, p)
        Coefficients by row of the standardized design.
    value, se : array (penalties,)
        Mean bounded loss of rows left out, and its standard error.
    eta_out : array (n_used,)
        Predictors of the rows by nets that did not see them, at the penalty of the smallest value.
    fold : array of int (n_used,)
        Number of each row's fold.
    used : bool array (n,)
        Which rows of the problem these are: those of positive weight.
    """

    coefs: Array
    value: Array
    se: Array
    eta_out: Array
    fold: Places
    used: Mask

    @property
    def best(self) -> int:
        """Place of the smallest value."""
        return int(self.value.argmin())


def cross_validated_net(problem: Standardized, weights: Array, fold: Places) -> NetPath:
    """The elastic nets of weighted rows whose mixing predicts rows left out best; last a ridge if it is better.

    Parameters
    ----------
    problem : Standardized
        The standardized problem.
    weights : array (n,)
        Multipliers of the rows, beside the problem's own.
    fold : array of int (n,)
        Number of each row's fold, from 0 on; see `deal_folds`.
    """
    net, scale, used = _net(problem, weights)
    fold = fold[used]
    folds = [np.flatnonzero(fold == f) for f in np.unique(fold)]
    # Thousands of small products: threads would only wait for each other.
    with one_blas_thread():
        equations = _shared_equations(net, folds)
        tried = [
            *_elastic_nets(problem, net, folds, equations),
            *_ridges(problem, net, folds, equations),
        ]
    share = net.weights / net.weights.sum()
    # Bounded alike, so that they can be compared.
    etas = np.concatenate([path.etas for path in tried])
    losses = problem.family.bounded(problem.loss, net.y, etas)
    value = losses @ share
    se = np.sqrt((losses - value[:, None]) ** 2 @ share**2)
    shown = _shown(losses, share, [len(path.etas) for path in tried])
    coefs = np.concatenate([path.coefs for path in tried])[shown] / scale
    best = shown[value[shown].argmin()]
    return NetPath(coefs, value[shown], se[shown], etas[best], fold, used)


def _shown(losses: Array, share: Array, lengths: Sequence[int]) -> Places:
    """Places of the mixing with the smallest mean loss, and of the best ridge if it is better by a standard error."""
    value = losses @ share
    parts = np.split(np.arange(len(value)), np.cumsum(lengths)[:-1])
    nets, ridges = parts[: len(MIXINGS)], parts[len(MIXINGS) :]
    path = min(nets, key=lambda part: float(value[part].min()))
    best = path[value[path].argmin()]
    for part in ridges:
        ridge = part[value[part].argmin()]
        mean, error = _mean_and_error(losses[ridge] - losses[best], share)
        if mean < -_ERRORS * error:
            return np.append(path, ridge)
    return path


def deal_folds(problem: Standardized, weights: Array, rng: np.random.Generator) -> Places:
    """Number of each row's fold (n,); rows of positive weight are dealt out evenly, and so are classes."""
    used = np.flatnonzero(_given(problem, weights) > 0)
    order = used[rng.permutation(len(used))]
    if not problem.family.has_scale:
        order = order[np.argsort(problem.y[order], kind="stable")]
    fold = np.zeros(problem.n, dtype=np.intp)
    fold[order] = np.arange(len(order)) % min(FOLDS, len(order))
    return fold


def _given(problem: Standardized, weights: Array) -> Array:
    return weights if problem.weights is None else weights * problem.weights


def _net(problem: Standardized, weights: Array) -> tuple[Net, Array, Mask]:
    """The net of the rows in use, its columns on the scale that they have there, that scale, and those rows."""
    given = _given(problem, weights)
    used = given > 0
    XT = np.asarray(problem.XT[:, used], dtype=np.float64, order="C")
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
    return net, scale, used


@dataclass(frozen=True, eq=False)
class _Tried:
    """Coefficients (penalties, p) of a path, and predictors (penalties, n) of the rows left out."""

    coefs: Array
    etas: Array


def _shared_equations(net: Net, folds: Sequence[Places]) -> list[Equations] | None:
    """Normal equations that all nets go by, of few columns; None if there are none."""
    if isinstance(net.loss, Squared) and net.free.sum() <= _FEW_COLUMNS:
        return left_out_equations(net, folds)
    return None


def _elastic_nets(
    problem: Standardized, net: Net, folds: Sequence[Places], equations: list[Equations] | None
) -> list[_Tried]:
    """The paths of all mixings."""
    nets = [replace(net, mixing=mixing) for mixing in MIXINGS]
    descents: Sequence[Descent | GramDescent]
    if equations is not None:
        descents = [GramDescent(some, equations) for some in nets]
    else:
        rows = [_mask(net, out) for out in folds]
        descents = [Descent([some, *map(some.without, rows)]) for some in nets]
    return [
        _path(problem, some, folds, descent, _PENALTIES)
        for some, descent in zip(nets, descents, strict=True)
    ]


def _ridges(
    problem: Standardized, net: Net, folds: Sequence[Places], equations: list[Equations] | None
) -> list[_Tried]:
    """The path of the ridge, if there is one that is quick."""
    squared, columns = isinstance(net.loss, Squared), int(net.free.sum())
    directions = min(columns, len(net.y))
    quick = _QUICK_SQUARES if squared else _QUICK
    if columns < 2 or len(net.y) * directions**2 > quick:
        return []
    few = turned(net)
    ridge = few.net
    descent: GramDescent | RidgeDescent
    if squared:
        # With no more columns than rows the directions are the columns themselves.
        known = equations if columns <= len(net.y) else None
        descent = GramDescent(ridge, known or left_out_equations(ridge, folds))
    else:
        descent = RidgeDescent([ridge, *(ridge.without(_mask(ridge, out)) for out in folds)])
    path = _path(problem, ridge, folds, descent, _RIDGE_PENALTIES)
    return [_Tried(few.back(path.coefs), path.etas)]


def _mask(net: Net, rows: Places) -> Mask:
    mask = np.zeros(len(net.y), dtype=bool)
    mask[rows] = True
    return mask


def _path(
    problem: Standardized,
    net: Net,
    folds: Sequence[Places],
    descent: Descent | GramDescent | RidgeDescent,
    penalties: Array,
) -> _Tried:
    """One path, as far as it is worth going; penalties are parts of the largest."""
    share = net.weights / net.weights.sum()
    # Numbers are never told apart.
    enough = None if problem.family.has_scale else _APART * descent.losses()
    etas: list[Array] = []
    coefs: list[Array] = []
    best = 0
    # Of few columns those of each fold are copied, of many the few in a model are looked up.
    parts = [net.XT[:, rows] for rows in folds] if len(net.XT) <= _FEW_COLUMNS else None
    for penalty in descent.largest_penalty() * penalties:
        models = descent.to(float(penalty))
        eta = net.offset.copy()
        for place, (rows, coef) in enumerate(zip(folds, models[1:], strict=True)):
            if parts:
                eta[rows] += coef @ parts[place]
            else:
                terms = np.flatnonzero(coef)
                eta[rows] += coef[terms] @ net.XT[np.ix_(terms, rows)]
        coefs.append(models[0])
        etas.append(eta)
        mean, error = _more(problem, net.y, share, etas[best], eta)
        if mean < 0:
            best = len(etas) - 1
        past = len(etas) > best + _WORSE and mean > _ERRORS * error
        if past or (enough is not None and (descent.losses() <= enough).all()):
            break
    return _Tried(np.array(coefs), np.array(etas))


def _more(
    problem: Standardized, y: Array, share: Array, best: Array, eta: Array
) -> tuple[float, float]:
    """How much more the rows lose with predictors than with the best ones: the mean, and its standard error."""
    first, second = problem.family.bounded(problem.loss, y, np.array([best, eta]))
    return _mean_and_error(second - first, share)


def _mean_and_error(values: Array, share: Array) -> tuple[float, float]:
    """Weighted mean, and its standard error."""
    mean = float(values @ share)
    return mean, float(np.sqrt((values - mean) ** 2 @ share**2))
