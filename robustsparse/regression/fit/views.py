"""Views: which rows are taken for good ones to begin with, from where the search for a model starts.

Rows that mislead one start do not mislead all of them. A generous robust start comes first, then nobody is suspected;
small models that come from the middle of the data, of the response or of the columns, see rows that a generous one
explains away. A view that differs little from one before leads to the same end and is left out. Where a generous start
could explain every row, as with two classes, nobody is suspected yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.types import Indices, Mask
from robustsparse.regression.fit.finders import Hints
from robustsparse.regression.fit.looks import MiddleLook
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import Leverage, judge, rejected
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.starts import best_start, concentrate
from robustsparse.robust.slopes import middle_slopes

# Terms of the small models.
_FEW = 6
# Views are new if they judge this share of the rows otherwise.
_NEW = 0.02
# Responses beyond this many scales are cut off.
_CUT_OFF = 3.0
# A response beyond this many scales is none: its square is no number.
_ABSURD = 1e100


@dataclass(frozen=True)
class View:
    """Which rows are good, to begin with, and where the search starts.

    Attributes
    ----------
    good : bool array (n,)
        The rows.
    hints : Hints
        Where to start.
    second : bool
        Whether it is a second opinion, whose end, with more terms, is to be clearly better: one of many fits by chance.
    """

    good: Mask
    hints: Hints
    second: bool = False


def views(problem: Standardized, far: Leverage, clusters: Indices, options: Options) -> list[View]:
    """Rows that different starts do not reject, all rows, and those outside clusters.

    Parameters
    ----------
    problem : Standardized
        All rows, those that are not to be trusted weighted down.
    far : Leverage
        Rows that are far out in the predictors.
    clusters : array of int (n,)
        Clusters of rows, as `row_clusters` finds them.
    options : Options
        Their gradient estimator is that of the first start.
    """
    everybody = np.abs(problem.y) < _ABSURD
    if not problem.family.generous:
        return [View(everybody, Hints())]
    kept = [
        (
            ~rejected(problem, judge(problem, start, options.rng)),
            Hints(start.coef, (start.support,)),
        )
        for start in _starts(problem, far, options)
    ]
    first, hints = kept[0]
    found = [View(first, hints)]
    if not first.all():
        found.append(View(everybody, hints))
    others = [View(good, own, second=True) for good, own in kept[1:]]
    for other in [View(first & (clusters < 0), hints), *others]:
        if all((other.good != view.good).mean() > _NEW for view in found):
            found.append(other)
    return found


def _starts(problem: Standardized, far: Leverage, options: Options) -> Iterator[RHTFit]:
    """The best of several generous runs of Algorithm 1, then small models."""
    most = problem.largest_k
    yield best_start(problem, options.estimator, most, options.settings, far.flags, options.threads)
    few = min(_FEW, most)
    yield concentrate(problem, np.zeros(len(problem.XT)), few, options.settings)
    yield _middle_start(problem, few)


def _middle_start(problem: Standardized, k: int) -> RHTFit:
    """The columns whose middle goes best with the response, no coefficients yet."""
    target = problem.y if problem.offset is None else problem.y - problem.offset
    y = np.clip(target - np.median(target), -_CUT_OFF, _CUT_OFF)
    y -= y.mean()
    slopes = middle_slopes(problem.XT[: problem.d], y)
    slopes[problem.keep[problem.keep < problem.d]] = 0.0
    best = np.argsort(-slopes, kind="stable")[:k]
    if problem.whole is not None:
        problem.whole.log.add(MiddleLook(y, float(slopes[best].min(initial=np.inf)), k))
    if problem.terms is not None:
        best = problem.terms.columns(problem.terms.holding(best))
    return RHTFit(np.zeros(len(problem.XT)), best, 0.0, True, "settled", 0.0, ())
