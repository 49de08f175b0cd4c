"""What a kind of response is to a fit; the base of all families.

A family says how a response is coded, which loss drives the selection, how the chosen columns are refitted, which rows
the model cannot explain, and what a summary tells. A class of the user's that derives from `Family` is the equal of
those of the package, `gaussian` and `binomial`: pass an instance as `family=`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from robustsparse.algorithm.bad_share import LARGEST_TRIM
from robustsparse.algorithm.losses import Loss
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array, Indices
from robustsparse.design.response import Coding
from robustsparse.robust.mm import Refit
from robustsparse.robust.row_moves import RowMoves

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult


@dataclass(frozen=True)
class Chosen:
    """The rows of a problem on a few chosen columns.

    Attributes
    ----------
    A : array (n, a)
        The columns.
    y : array (n,)
        Response.
    offset, weights : array (n,) or None
        Known part of the linear predictor; multipliers of the rows.
    certainty : array (n,) or None
        Share of the variance of a row's residual that is not due to cells which were filled; `weights` have it in them.
    """

    A: Array
    y: Array
    offset: Array | None = None
    weights: Array | None = None
    certainty: Array | None = None

    @property
    def target(self) -> Array:
        """Response less what is known of it, for families whose predictor is the response itself."""
        return self.y if self.offset is None else self.y - self.offset

    def only(self, columns: Indices) -> "Chosen":
        """The rows on some of the columns."""
        return replace(self, A=self.A[:, columns])

    def even(self) -> "Chosen":
        """The rows of a linear model divided by what filled cells add to their spread, so that all have the same."""
        if self.certainty is None or self.weights is None:
            return self
        root = np.sqrt(self.certainty)
        offset = None if self.offset is None else root * self.offset
        A, weights = root[:, None] * self.A, self.weights / self.certainty
        return Chosen(A, root * self.y, offset, weights)

    def weighted_by(self, trust: Array) -> "Chosen":
        """The same with rows that count for less."""
        return replace(self, weights=trust if self.weights is None else trust * self.weights)

    def predictor(self, coef: Array) -> Array:
        """Linear predictor (n,)."""
        eta: Array = self.A @ coef
        return eta if self.offset is None else eta + self.offset


class Family(ABC):
    """A kind of response; the base of all families.

    Attributes
    ----------
    name : str
        What `fit.family` says.
    losses : tuple of classes
        Losses that go with it, its own first; only with these there is a refit.
    coding : Coding
        How the response is read.
    column_scale : str
        Scale of the columns, a name that `standardize` knows.
    radius : float or None
        Bound on the l2 norm of the standardized coefficients.
    tol, path_tol : float
        Relative changes at which iterations stop, of the fit and along a path.
    has_scale : bool
        Whether residuals have a scale to be estimated and the response may be standardized.
    generous : bool
        Whether a generous support is a good start. Where it can fit every row, as with two classes, it is not.
    reject : float
        A residual beyond this many scales rejects its row.
    far_rows_out : bool
        Whether rows well beyond the cutoff of the distances have no say: where the residuals cannot tell a wrong
        response from an unlikely one.
    residual_kind : str
        Which residuals a plot draws unless it is told: "response", "pearson" or "deviance".
    mean_name : str
        What a plot calls the fitted response.
    mean_bounds : pair of float or None
        Smallest and largest fitted response there can be.
    least_squares : bool
        Whether, on rows that are trusted, least squares tells how good a set of columns is.
    labels : bool
        Whether the response is a label 0 or 1, which may be wrong; rows are not rejected for it, their refit knows.
    trimming_inflates : bool
        Whether a trimmed gradient drops just the rows that keep coefficients from growing, so that a run without a
        refit is taken back to the lowest `robust_deviance` of its path.
    """

    name: ClassVar[str]
    losses: ClassVar[tuple[type[Any], ...]]
    coding: ClassVar[Coding]
    column_scale: ClassVar[str] = "mad"
    radius: ClassVar[float | None] = None
    tol: ClassVar[float] = 1e-10
    path_tol: ClassVar[float] = 1e-5
    has_scale: ClassVar[bool] = False
    generous: ClassVar[bool] = True
    reject: ClassVar[float] = 3.0
    far_rows_out: ClassVar[bool] = False
    residual_kind: ClassVar[str] = "pearson"
    mean_name: ClassVar[str] = "fitted value"
    mean_bounds: ClassVar[tuple[float, float] | None] = None
    least_squares: ClassVar[bool] = False
    labels: ClassVar[bool] = False
    trimming_inflates: ClassVar[bool] = False

    def own_loss(self) -> Loss:
        """The loss that drives the selection unless another is asked for."""
        loss: Loss = self.losses[0]()
        return loss

    def most_trimmed(self, y: Array) -> float:
        """Largest share that may be trimmed at each end."""
        return LARGEST_TRIM

    @abstractmethod
    def mean(self, eta: Array) -> Array:
        """Fitted response at a linear predictor: the inverse of the link."""

    @abstractmethod
    def residuals(self, y: Array, eta: Array) -> Array:
        """Residuals (n,) in units in which `reject` is a limit: Pearson's, if there is no scale."""

    @abstractmethod
    def refit(self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator) -> Refit:
        """Robust regression on the chosen columns, from coefficients to start with."""

    def row_moves(self, rows: Chosen, refit: Refit) -> RowMoves:
        """What each row does to the coefficients of a refit: what standard errors of dependent rows are made of."""
        raise ParameterError(
            f"family={self.name!r} does not say what single rows do to its coefficients, so that there is "
            "cov='sandwich' alone; give it a method row_moves(rows, refit)."
        )

    def judge(self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator) -> Refit:
        """A refit to judge rows by, without a covariance if that saves time."""
        return self.refit(rows, start, subsamples, rng)

    @abstractmethod
    def misfit(self, rows: Chosen, start: Array) -> float:
        """Minus twice a robust log-likelihood of the chosen columns, as it enters the criterion for k."""

    def trusted_misfit(self, rows: Chosen, start: Array) -> float:
        """The same where bad rows have been rejected."""
        used = start != 0
        return self.misfit(replace(rows, A=rows.A[:, used]), start[used])

    def unit_deviance(self, y: Array, eta: Array) -> Array:
        """Deviance of each row (n,): twice what its log-likelihood lacks to the best there is."""
        raise ParameterError(
            f"family={self.name!r} does not say what its deviance is; use kind='pearson', or give it a method "
            "unit_deviance(y, eta)."
        )

    def limit(self, kind: str) -> float:
        """Residual of a kind, "pearson" or "deviance", at the edge of being rejected."""
        return self.reject

    def draw(self, eta: Array, rng: np.random.Generator) -> Array | None:
        """A response (n,) drawn from the model, for quantiles of residuals; None if normal ones are to be used."""
        return None

    def scale_of(self, resid: Array) -> float:
        """Scale of the residuals of a fit that was not refitted."""
        return 1.0

    def robust_deviance(self, y: Array, eta: Array) -> Array:
        """Minus twice a robust log-likelihood of each row (n,); needed only where `trimming_inflates`."""
        raise NotImplementedError

    def bounded(self, loss: Loss, y: Array, eta: Array) -> Array:
        """Losses (models, n) of rows left out, none above that of a row at the edge of being rejected, if it is known.

        `eta` (models, n) are the predictors by models that did not see the rows.
        """
        return loss.value(y, eta)

    def judged(self, y: Array, eta: Array, resid: Array, scale: float) -> tuple[Array, float]:
        """Residuals by which rows are flagged, and the unit that they are measured in.

        `resid` and `scale` are those of the refit, if there was one.
        """
        return self.residuals(y, eta), 1.0

    @abstractmethod
    def score(self, observed: Array, predicted: Array) -> float:
        """How well predictions do on other data."""

    @abstractmethod
    def explained(self, fitted: Array, resid: Array, weights: Array) -> float:
        """Share of the response that the model explains."""

    def tells(self, result: "RHTResult") -> list[tuple[str, str]]:
        """Lines of a summary that only this family has."""
        return [("Explained", f"{result.explained:.3f}")]

    def notes(self, result: "RHTResult") -> list[str]:
        """Notes of a summary that only this family has."""
        return []
