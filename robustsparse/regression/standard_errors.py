"""`StandardErrors`: which rows are taken to be independent of each other, and what follows for a model."""

from dataclasses import dataclass
from typing import Any, get_args

import pandas as pd

from robustsparse.base.checks import check_choice
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array
from robustsparse.design.clusters import Clusters
from robustsparse.regression.arguments import Cov
from robustsparse.regression.fit.models import Model
from robustsparse.robust.autocorrelation import newey_west
from robustsparse.robust.row_moves import RowMoves, clustered, heteroscedastic

# Kinds in which rows depend on each other.
DEPENDENT = ("cluster", "hac")


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """How standard errors are made.

    Attributes
    ----------
    kind : {"sandwich", "hc3", "cluster", "hac"}
        As in `rht`.
    clusters : Clusters or None
        Rows that depend on each other, for "cluster".
    """

    kind: str = "sandwich"
    clusters: Clusters | None = None

    @classmethod
    def of(cls, cov: Any, clusters: Clusters | None) -> "StandardErrors":
        """What was asked for, if it makes sense."""
        check_choice("cov", cov, get_args(Cov))
        if clusters is None:
            if cov == "cluster":
                raise ParameterError("cov='cluster' needs to know the clusters: cluster='firm'.")
            return cls(cov)
        if cov not in ("sandwich", "cluster"):
            raise ParameterError(
                f"cov={cov!r} and cluster={clusters.name!r} contradict each other; leave one of them out."
            )
        if clusters.count < 2:
            raise DataError(
                f"all rows are of one cluster ({clusters.name}); standard errors need several, better twenty and more."
            )
        return cls("cluster", clusters)

    def covariance(self, model: Model) -> tuple[Array | None, float | None]:
        """Covariance (a, a) of a model's coefficients, in standardized units, and degrees of freedom of its tests."""
        if self.kind == "sandwich" or model.cov is None or model.row_moves is None:
            return model.cov, model.df
        moves = model.row_moves()
        if self.kind == "hc3":
            return heteroscedastic(moves), model.df
        if self.kind == "hac":
            return _in_time(moves, model)
        return self._in_clusters(moves, model)

    def _in_clusters(self, moves: RowMoves, model: Model) -> tuple[Array, float]:
        # A cluster all of whose rows are rejected tells nothing.
        assert self.clusters is not None
        known = model.weights > 0
        rest = self.clusters.rows(known)
        if rest.count < 2:
            raise DataError(
                f"all rows that are trusted are of one cluster ({rest.name}); standard errors need several."
            )
        count = rest.count - 1.0
        return clustered(moves.rows(known), rest.of), _fewer(model.df, count)


def _in_time(moves: RowMoves, model: Model) -> tuple[Array, float]:
    # Rejected rows say nothing; in the series they would look like rows that forgot those before.
    found = newey_west(moves.rows(model.weights > 0).row_by_row())
    return found.covariance + moves.extra, _fewer(model.df, found.freedom)


def _fewer(df: float | None, other: float) -> float:
    return other if df is None else min(df, other)


def require_order_of_time(cov: Any, rows: "pd.Index[Any]") -> None:
    """Raise if rows that are taken to be in the order of time have dates which say that they are not."""
    dated = isinstance(rows, pd.DatetimeIndex | pd.PeriodIndex | pd.TimedeltaIndex)
    if (
        cov == "hac"
        and dated
        and not (rows.is_monotonic_increasing or rows.is_monotonic_decreasing)
    ):
        raise DataError(
            "cov='hac' takes the rows in the order of time, and the dates of their index are in another one; fit to "
            "data.sort_index(), or for several series in one frame give cluster= instead."
        )


def refuse_dependent_rows(cov: Any, cluster: Any, what: str) -> None:
    """Raise if rows depend on each other, for what draws them one by one."""
    if cluster is not None or cov in DEPENDENT:
        raise ParameterError(
            f"{what} draws rows one by one, as if they were independent, and "
            f"{'cluster' if cluster is not None else 'cov'}={_shown(cov, cluster)} says that they are not; use "
            "conf_int() as it is."
        )


def _shown(cov: Any, cluster: Any) -> str:
    return repr(cov) if cluster is None else repr(cluster) if isinstance(cluster, str) else "..."


def words(kind: str, cluster: tuple[str, int] | None) -> str:
    """What a summary says of standard errors; nothing of the usual ones.

    Examples
    --------
    >>> words("cluster", ("firm", 40))
    'clustered by firm (40)'
    """
    if kind == "cluster" and cluster is not None:
        return f"clustered by {cluster[0]} ({cluster[1]})"
    return {"hc3": "HC3", "hac": "Newey-West (rows in time)"}.get(kind, "")


def freedom_note(kind: str, df: float) -> str:
    """Where degrees of freedom come from."""
    why = {
        "cluster": "the clusters less one",
        "hac": "rows that follow each other tell less than as many others",
    }.get(kind, "the rows, each as far as it is trusted, less the coefficients and the scale")
    return f"t has {df:.1f} degrees of freedom: {why}."
