"""What a fit learns of rows that a fit to part of them need not find out again."""

from dataclasses import dataclass

from robustsparse.base.types import Array, Indices, Places
from robustsparse.regression.fit.rows import Leverage
from robustsparse.regression.fit.views import View


@dataclass(frozen=True)
class KnownRows:
    """Rows as a fit sees them.

    Attributes
    ----------
    far : Leverage
        How far out they are in the predictors.
    trust : array (n,)
        How far they are trusted for that.
    clusters : array of int (n,)
        Clusters of rows, as `row_clusters` finds them.
    views : tuple of View
        Where views of them end that lead to different models.
    """

    far: Leverage
    trust: Array
    clusters: Indices
    views: tuple[View, ...]

    def part(self, rows: Places) -> "KnownRows":
        """The same of some of the rows."""
        far = Leverage(self.far.flags[rows], self.far.distances[rows], self.far.cutoff)
        views = tuple(View(view.good[rows], view.hints, view.second) for view in self.views)
        return KnownRows(far, self.trust[rows], self.clusters[rows], views)
