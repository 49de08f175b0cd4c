"""Families: the kinds of response, each with what a fit has to know of it.

A family says how a response is coded, which loss drives the selection, how the chosen columns are refitted, which rows
the model cannot explain, and what a summary tells. A class of the user's that derives from `Family` is the equal of
those here: pass an instance as `family=`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.special import expit

from robustsparse.algorithm.bad_share import LARGEST_TRIM
from robustsparse.algorithm.losses import LOSSES, Huber, Logistic, Loss, Squared
from robustsparse.base.checks import check_choice
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array, Indices
from robustsparse.design.response import Coding, Numbers, TwoClasses
from robustsparse.regression.measures import deviance_explained, robust_r2
from robustsparse.robust.mm import Refit, mm_regression, mm_row_moves
from robustsparse.robust.row_moves import RowMoves
from robustsparse.robust.scales import MAD_TO_SD, column_medians, m_scale, tau_scale
from robustsparse.robust.skewness import side_limits
from robustsparse.robust.wrong_labels import (
    Labelled,
    logistic_row_moves,
    mislabeled_logistic,
    share_fits,
)

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult

# Largest part of the rarer class that is trimmed at each end: its rows are the extremes of a good
# predictor.
_RARE_TRIMMED = 1.0 / 3.0
# A scale, or a variance, this small is an exact fit; its logarithm would drown every penalty.
_EXACT, _EXACT_VARIANCE = 1e-10, 1e-20
# Residuals below this part of the response are rounding errors.
_ROUNDING = 1e-10
# Share of wrong labels in a deviance that is not to be led by any of them.
_FEW_WRONG = 0.02


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


class Gaussian(Family):
    """Measured values with noise of one unknown scale."""

    name = "gaussian"
    losses = (Squared, Huber)
    coding = Numbers()
    has_scale = True
    residual_kind = "response"
    least_squares = True

    def mean(self, eta: Array) -> Array:
        """The predictor itself."""
        return eta

    def residuals(self, y: Array, eta: Array) -> Array:
        """What the model leaves."""
        return np.asarray(y - eta)

    def unit_deviance(self, y: Array, eta: Array) -> Array:
        """Squared residuals: as in R, the scale is no part of a deviance."""
        return np.square(self.residuals(y, eta))

    def refit(self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator) -> Refit:
        """MM-regression; without a column, the scale of the response."""
        return self._regression(rows, start, subsamples, rng, cov=True)

    def judge(self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator) -> Refit:
        """The same without a covariance."""
        return self._regression(rows, start, subsamples, rng, cov=False)

    def _regression(
        self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator, *, cov: bool
    ) -> Refit:
        even = rows.even()
        if not len(start):
            scale = m_scale(even.target, prior_weights=even.weights)
            ones = np.ones(len(rows.y))
            return Refit(np.zeros(0), scale, ones, np.zeros((0, 0)), rows.target, True, 0)
        refit = mm_regression(
            even.A, even.target, starts=start[None, :], prior_weights=even.weights,
            subsamples=subsamples, rng=rng, cov=cov,
        )  # fmt: skip
        return refit if even is rows else replace(refit, resid=rows.target - rows.A @ refit.coef)

    def row_moves(self, rows: Chosen, refit: Refit) -> RowMoves:
        """Those of an MM-regression."""
        even = rows.even()
        if not len(refit.coef):
            return RowMoves.nothing(len(rows.y), 0)
        return mm_row_moves(even.A, even.target, refit, even.weights)

    def misfit(self, rows: Chosen, start: Array) -> float:
        """N log τ² with a τ-scale of the residuals of an MM-regression; with weights the M-scale."""
        rows = rows.even()
        resid = rows.target
        if len(start):
            resid = mm_regression(
                rows.A, resid, starts=start[None, :], prior_weights=rows.weights, subsamples=0,
                cov=False,
            ).resid  # fmt: skip
        weights = rows.weights
        scale = tau_scale(resid) if weights is None else m_scale(resid, prior_weights=weights)
        return 2.0 * len(resid) * log(max(scale, _EXACT))

    def trusted_misfit(self, rows: Chosen, start: Array) -> float:
        """N log σ² by least squares."""
        root = np.ones(len(rows.y)) if rows.weights is None else np.sqrt(rows.weights)
        A, target = root[:, None] * rows.A, root * rows.target
        resid = target - A @ np.linalg.lstsq(A, target, rcond=None)[0]
        n = len(target)
        return n * float(np.log(max(float(resid @ resid) / n, _EXACT_VARIANCE)))

    def scale_of(self, resid: Array) -> float:
        """M-scale."""
        return m_scale(resid)

    def bounded(self, loss: Loss, y: Array, eta: Array) -> Array:
        """Losses of residuals of at most `reject` scales of the best model's."""
        miss = eta - y
        edge = self.reject * MAD_TO_SD * float(column_medians(np.abs(miss).T).min())
        return loss.value(np.zeros_like(miss), np.clip(miss, -edge, edge))

    def judged(self, y: Array, eta: Array, resid: Array, scale: float) -> tuple[Array, float]:
        """In units of their scale, but at an exact fit of the size of rounding errors."""
        return resid, residual_unit(y, scale)

    def score(self, observed: Array, predicted: Array) -> float:
        """Robust R²."""
        return robust_r2(observed, predicted)

    def explained(self, fitted: Array, resid: Array, weights: Array) -> float:
        """Robust R²."""
        return robust_r2(fitted + resid, fitted)

    def tells(self, result: "RHTResult") -> list[tuple[str, str]]:
        """Robust scale and R²."""
        return [
            ("Robust scale", f"{result.scale:.4g}"),
            ("Robust R²", f"{result.explained:.3f}"),
        ]

    def notes(self, result: "RHTResult") -> list[str]:
        """Whether there is no noise, or noise with one long tail."""
        if result.scale > 0.0:
            return self._long_tail(result)
        return [
            "The model fits more than half of the rows without any error, so that there is no noise to judge the "
            "coefficients and the other rows by: a response that has one value in most rows, or one that was "
            "computed from the predictors."
        ]

    def _long_tail(self, result: "RHTResult") -> list[str]:
        """Where a row is flagged if residuals have one long tail."""
        below, above = side_limits(result.diagnostics["std_resid"].to_numpy(), self.reject)
        if below == above:
            return []
        where, length = ("above", above) if above > below else ("below", below)
        return [
            f"Residuals have a longer tail {where}: there a row is flagged beyond {length:.1f} scales, not "
            f"{self.reject:g}."
        ]


def residual_unit(y: Array, scale: float) -> float:
    """What residuals are measured in: their scale, but at an exact fit the size of rounding errors."""
    return max(scale, _ROUNDING * float(np.median(np.abs(y))), 1e-300)


class Binomial(Family):
    """Two classes, coded 0 and 1."""

    name = "binomial"
    losses = (Logistic,)
    coding = TwoClasses()
    # A predictor that tells two classes apart has two modes, and its MAD may see only one of them.
    column_scale = "winsor"
    # Without a ball the coefficients of separable classes grow forever; a change of ten in the log-odds
    # for one scale of a predictor is certainty already.
    radius = 10.0
    # On the boundary of that ball the steps are plain ones, and creep.
    tol = 1e-5
    path_tol = 1e-3
    generous = False
    # Pearson residuals have long tails by nature: a label to which the model gives less than one chance in a hundred.
    reject = 9.95
    far_rows_out = True
    labels = True
    trimming_inflates = True
    # Those of Pearson have long tails, and most of a picture would be empty.
    residual_kind = "deviance"
    mean_name = "fitted probability"
    mean_bounds = (0.0, 1.0)

    def most_trimmed(self, y: Array) -> float:
        """A third of the rarer class."""
        events = float(y.mean())
        return _RARE_TRIMMED * min(events, 1.0 - events)

    def mean(self, eta: Array) -> Array:
        """Probability of the event."""
        return np.asarray(expit(eta))

    def residuals(self, y: Array, eta: Array) -> Array:
        """Pearson residuals; whatever the loss, the predictor is read as log-odds."""
        probability = expit(eta)
        spread = np.sqrt(np.maximum(probability * (1.0 - probability), 1e-12))
        return np.asarray((y - probability) / spread)

    def unit_deviance(self, y: Array, eta: Array) -> Array:
        """Twice the logistic loss."""
        return 2.0 * Logistic().value(y, eta)

    def limit(self, kind: str) -> float:
        """The label has the same probability whichever residual says so."""
        return sqrt(2.0 * log(1.0 + self.reject**2)) if kind == "deviance" else self.reject

    def draw(self, eta: Array, rng: np.random.Generator) -> Array:
        """Labels by chance."""
        return np.asarray(rng.random(eta.shape) < expit(eta), dtype=np.float64)

    def refit(self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator) -> Refit:
        """Logistic regression that knows of wrong labels."""
        return mislabeled_logistic(
            rows.A, rows.y, offset=rows.offset, prior_weights=rows.weights, start=start
        )

    def row_moves(self, rows: Chosen, refit: Refit) -> RowMoves:
        """Those of the likelihood, at the share of wrong labels that it was fitted with."""
        return logistic_row_moves(
            rows.A, rows.y, refit, offset=rows.offset, prior_weights=rows.weights
        )

    def misfit(self, rows: Chosen, start: Array) -> float:
        """What the labels say of the columns, whatever the share of wrong ones."""
        return share_fits(Labelled.of(rows.A, rows.y, rows.offset, rows.weights), start).misfit

    def robust_deviance(self, y: Array, eta: Array) -> Array:
        """The deviance, if a few labels are wrong."""
        right = expit(np.where(y == 1, eta, -eta))
        return np.asarray(-2.0 * np.log(_FEW_WRONG + (1.0 - 2.0 * _FEW_WRONG) * right))

    def bounded(self, loss: Loss, y: Array, eta: Array) -> Array:
        """Losses of Pearson residuals of `reject` at most."""
        return np.minimum(loss.value(y, eta), log(1.0 + self.reject**2))

    def score(self, observed: Array, predicted: Array) -> float:
        """Share of right labels."""
        return float(((predicted > 0.5) == observed).mean())

    def explained(self, fitted: Array, resid: Array, weights: Array) -> float:
        """Share of the weighted deviance."""
        return deviance_explained(np.rint(fitted + resid), fitted, weights)

    def tells(self, result: "RHTResult") -> list[tuple[str, str]]:
        """Which label is the event, and the deviance explained."""
        against, event = result.classes or (0, 1)
        return [
            ("Event", f"{event} (against {against})"),
            ("Dev. explained", f"{result.explained:.3f}"),
            *([("Wrong labels", _about(result))] if "wrong" in result.diagnostics else []),
        ]

    def notes(self, result: "RHTResult") -> list[str]:
        """Whether the classes are separated."""
        if result.goal == "predict" or not float(result.resid.abs().max()) < 0.5:
            return []
        return [
            "The selected terms separate the two classes without an error. The likelihood alone would make their "
            "coefficients infinite; a prior (Jeffreys') keeps them finite, and sets their size."
        ]


def _about(result: "RHTResult") -> str:
    """How many labels look wrong."""
    wrong = result.diagnostics["wrong"]
    share, bets = 100.0 * float(wrong.mean()), int((wrong > 0.5).sum())
    if share == 0.0:
        return "none to be seen"
    return f"about {share:.2g}%, see labels()" if bets else f"about {share:.2g}%, no telling which"


FAMILIES: dict[str, Family] = {"gaussian": Gaussian(), "binomial": Binomial()}
# What other packages call them, and what to do about it.
_MEANT = {
    **dict.fromkeys(
        ("logistic", "logit", "bernoulli", "binary", "classification"),
        "is called 'binomial' here; use family='binomial'.",
    ),
    **dict.fromkeys(
        ("normal", "linear", "ols", "regression", "squared", "least_squares"),
        "is called 'gaussian' here; use family='gaussian'.",
    ),
    **dict.fromkeys(
        ("huber", "robust"),
        "is no kind of response; use family='gaussian', which withstands bad rows, and loss='huber' if it is to be.",
    ),
    **dict.fromkeys(
        ("poisson", "count", "counts"),
        "is no family of the package; docs/extending/poisson.py of its repository has one for counts: "
        "family=Poisson().",
    ),
}
# What `family=` takes.
FamilyLike = Literal["gaussian", "binomial"] | Family


def as_family(family: FamilyLike) -> Family:
    """Family from its name, or the object itself."""
    if isinstance(family, Family):
        return family
    if isinstance(family, type):
        raise ParameterError(f"family={family!r} is a class; call it to make one.")
    meant = _MEANT.get(family.lower()) if isinstance(family, str) else None
    if family not in FAMILIES and meant is not None:
        raise ParameterError(f"family={family!r} {meant}")
    check_choice("family", family, tuple(FAMILIES))
    return FAMILIES[family]


def check_loss(loss: Loss, asked: object, family: Family) -> None:
    """Refuse a loss of ours for another kind of response; what a user's own is for, only the user knows."""
    if isinstance(loss, tuple(LOSSES.values())) and not isinstance(loss, family.losses):
        own = [repr(name) for name, known in LOSSES.items() if known in family.losses]
        own = own or [f"{known.__name__}()" for known in family.losses]
        raise ParameterError(
            f"loss={asked!r} does not fit family={family.name!r}; use {' or '.join(own)}, or the other family."
        )
