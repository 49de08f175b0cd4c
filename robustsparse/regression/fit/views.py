"""Views: which rows are taken for good ones to begin with, from which the search for a model starts."""

from dataclasses import dataclass
import os
import numpy as np

from robustsparse.algorithm.sparsity import largest_k
from robustsparse.base.types import Indices, Mask
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import Leverage, refit, rejected
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.starts import best_start, _concentrate
WHICH=set(os.environ.get("VIEWS","").split(","))

@dataclass(frozen=True)
class View:
    """Which rows are good, to begin with, and sets of columns to start from."""

    good: Mask
    seeds: tuple[Indices, ...]


def views(judged: Standardized, far: Leverage, clusters: Indices, options: Options) -> list[View]:
    """Rows that a robust start does not reject, and all rows."""
    most = largest_k(judged.n, judged.free)

    def begun(k, left=None):
        if left is None:
            start = best_start(judged, options.estimator, k, options.settings, far.flags, options.threads)
            return View(~rejected(judged, refit(judged, start, options.rng)), (start.support,))
        with judged.only(~left) as part:
            start = best_start(part, options.estimator, k, options.settings, far.flags[~left], options.threads)
            good = ~rejected(part, refit(part, start, options.rng))
        kept = ~left
        kept[kept] = good
        return View(kept, (start.support,))

    first = begun(most)
    out = [first]
    if not first.good.all():
        out.append(View(np.ones(judged.n, dtype=bool), first.seeds))
    inside = clusters >= 0
    if inside.any() and "c" in WHICH:
        out.append(begun(most, inside))
    for k in (1, 3, 6):
        if str(k) in WHICH and k<most:
            out.append(begun(k))
    if "z" in WHICH:
        start=_concentrate(judged, np.zeros(len(judged.XT)), most, options.settings)
        out.append(View(~rejected(judged, refit(judged, start, options.rng)), (start.support,)))
    return out
