"""Two classes: labels of which some may be wrong, and logistic regression that knows it."""

from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from robustsparse.algorithm.losses import Logistic, Loss
from robustsparse.base.types import Array
from robustsparse.design.response import TwoClasses
from robustsparse.regression.family import Chosen, Family
from robustsparse.regression.measures import deviance_explained
from robustsparse.robust.mm import Refit
from robustsparse.robust.row_moves import RowMoves
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
# Share of wrong labels in a deviance that is not to be led by any of them.
_FEW_WRONG = 0.02


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
