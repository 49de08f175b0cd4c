"""Best subsets for labels: models of every size, by what the labels say of each set of columns.

Close to a model its likelihood looks like a least-squares problem of weighted rows, in which the best sets of all sizes
are found by exact exchanges (`subsets`). What the labels say of these sets is then computed (`wrong_labels`), the best
one of each size is kept, and the search goes on from the likelihood at the best model, and from its neighbors in size,
until none of them leads to a better one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robustsparse.algorithm.solver import RHTFit
from robustsparse.algorithm.sparsity import identifiable_k
from robustsparse.base.threads import one_blas_thread
from robustsparse.base.types import Indices
from robustsparse.regression.fit.best_subsets import padded
from robustsparse.regression.fit.criteria import Price, cost
from robustsparse.regression.fit.finders import Found, Hints, Whole
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.subsets import Subset, SubsetPath, set_rows, subset_path
from robustsparse.robust.wrong_labels import Labelled, ShareFits, share_fits

# The likelihood is looked at from so many models, at most.
_LOOKS = 8
# Fall of the objective at which fits of sets to be compared have settled.
_TOL = 1e-4


class LabelSubsets(Whole):
    """The best set of every size, with the coefficients of a likelihood that knows of wrong labels."""

    def find(
        self, part: Standardized, hints: Hints, price: Price, wanted: Sequence[int] = ()
    ) -> Found:
        """Models of 0, 1, 2, … terms until the criterion has clearly turned, then on to the largest wanted."""
        # Thousands of small products: threads would only wait for each other.
        with one_blas_thread():
            search = _Search(part, price)
            path = search.look(0, hints.sets)
            for size in search.open_sizes():
                path = search.look(size, hints.sets)
            values = search.values()
            # Sizes that are asked for have no say in the models of those that are found anyway.
            more = path.continued(max(wanted, default=0))
            search.take(one for size, one in more.items() if size > max(values))
        models = {size: search.model(size) for size in sorted(search.best)}
        largest = models[max(models)]
        beyond = {size: padded(part, largest, size) for size in wanted if size > max(models)}
        sets = tuple(models[size].support for size in values)
        return Found(models | beyond, values, sets)


@dataclass
class _Search:
    """The best sets so far.

    Attributes
    ----------
    part : Standardized
        Trusted rows.
    price : Price
        Price of coefficients.
    best : dict from int to a subset and its fits
        The best set of each size.
    """

    part: Standardized
    price: Price
    best: dict[int, tuple[Subset, ShareFits]] = field(default_factory=dict)
    _tried: set[bytes] = field(default_factory=set)
    _seen: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.take([Subset(np.zeros(0, dtype=np.int64), 0.0, 0)])

    def take(self, subsets: Iterable[Subset]) -> None:
        """Keep those that are better than the best of their size."""
        for subset in subsets:
            key = _key(subset)
            if key in self._tried:
                continue
            self._tried.add(key)
            size = self.part.count(subset.columns)
            fits = share_fits(self._rows(subset), tol=_TOL)
            if size not in self.best or fits.misfit < self.best[size][1].misfit:
                self.best[size] = subset, fits

    def _rows(self, subset: Subset) -> Labelled:
        rows = self.part.chosen(np.concatenate([subset.columns, self.part.keep]))
        return Labelled.of(rows.A, rows.y, rows.offset, rows.weights)

    def look(self, size: int, seeds: Sequence[Indices]) -> SubsetPath:
        """Best sets of the least-squares problem that the likelihood looks like from the best model of a size."""
        subset, fits = self.best[size]
        self._seen.add(_key(subset))
        weights, response = fits.working(self._rows(subset))
        problem = replace(self.part, y=response, weights=weights, offset=None)
        sets = [one.columns for one, _ in self.best.values() if len(one.columns)]
        most = identifiable_k(self.part.n, self.part.free)
        path = subset_path(set_rows(problem), [*seeds, *sets], most, self._criterion)
        self.take(path.values())
        return path

    def open_sizes(self) -> Iterator[int]:
        """The best size and its neighbors, as long as nobody looked from there."""
        for _ in range(_LOOKS):
            values = self.values()
            k = min(values, key=values.__getitem__)
            near = [size for size in (k, k + 1, k - 1) if size in self.best]
            unseen = [size for size in near if _key(self.best[size][0]) not in self._seen]
            if not unseen:
                return
            yield unseen[0]

    def values(self) -> dict[int, float]:
        """The criterion of the best set of each size."""
        return {
            size: self._criterion(size, fits.misfit, subset.freedom)
            for size, (subset, fits) in sorted(self.best.items())
        }

    def _criterion(self, size: int, misfit: float, columns: int) -> float:
        """What is not explained, by labels or by the squares that stand for them, plus the price of a size."""
        # The squares differ from the misfit by a constant, which is no part of what terms explain.
        return misfit + cost(self.part, self.price, size, columns, 0.0)

    def model(self, size: int) -> RHTFit:
        """The best model of a size."""
        part, (subset, fits) = self.part, self.best[size]
        columns = np.concatenate([subset.columns, part.keep])
        coef = np.zeros(len(part.XT))
        coef[columns] = fits.coef_at(fits.cautious_share)
        support = part.ranked(subset.columns, coef)
        return RHTFit(coef, support, 0.0, True, "settled", 0.5 * fits.misfit / part.n, ())


def _key(subset: Subset) -> bytes:
    return np.sort(subset.columns).tobytes()
