"""`CrossValidation`: predictions of rows that a fit has not seen, and what follows from them."""

from dataclasses import dataclass

import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.design.response import Classes
from robustsparse.regression.family import Family
from robustsparse.report.plots import calibration_frame
from robustsparse.report.roc import ROC, roc_from_scores


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """Predictions of all rows by models that were fitted without them.

    Attributes
    ----------
    predictions : DataFrame
        By row label: `fold`, counted from 1; `observed`, the response, of two classes 1 for the event; `link` and
        `prediction`, linear predictor and fitted response by the model that did not see the row.
    sizes : tuple of int
        Number of terms that the model of each fold selected.
    family : Family
        Kind of response.
    classes : pair of labels or None
        Those coded 0 and 1.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
    >>> crossed = rs.rht_fit(sim.X, sim.y).cross_validate(folds=3)
    >>> crossed.folds, len(crossed.predictions) == len(sim.y)
    (3, True)
    """

    predictions: pd.DataFrame
    sizes: tuple[int, ...]
    family: Family
    classes: Classes | None = None

    @property
    def folds(self) -> int:
        """Number of folds."""
        return len(self.sizes)

    def score(self) -> float:
        """Robust R² (gaussian) or share of right labels (binomial) of the predictions.

        Returns
        -------
        float

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.0, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y, family="binomial")
        >>> crossed = fit.cross_validate(folds=3)
        >>> crossed.score() > 0.7
        True
        """
        columns = (self.predictions[name].to_numpy() for name in ("observed", "prediction"))
        return self.family.score(*columns)

    def roc(self) -> ROC:
        """ROC curve of the predictions of all folds together (binomial).

        Models of different folds are compared with each other here; where they select nothing, rows of the class that
        a fold happens to have more of rank lower, and the area may be below one half.

        Returns
        -------
        ROC

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.0, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y, family="binomial")
        >>> crossed = fit.cross_validate(folds=3)
        >>> crossed.roc().auc > 0.7
        True
        """
        self._require_classes("roc")
        return roc_from_scores(
            self.predictions["link"].to_numpy(), self.predictions["observed"].to_numpy() == 1
        )

    def calibration(self, bins: int | None = None, level: float = 0.95) -> pd.DataFrame:
        """Predicted probability and observed share in bins of equal counts (binomial), see `calibration_frame`.

        Parameters
        ----------
        bins : int, optional
            Number of bins; ten by default, fewer if there are less than ten rows for each.
        level : float
            Level of Wilson's intervals for the shares.

        Returns
        -------
        DataFrame
            By bin: `n`, `predicted`, `observed`, `low`, `high`.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.0, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y, family="binomial")
        >>> crossed = fit.cross_validate(folds=3)
        >>> list(crossed.calibration(bins=5).columns)
        ['n', 'predicted', 'observed', 'low', 'high']
        """
        self._require_classes("calibration")
        table = self.predictions
        return calibration_frame(table["prediction"], table["observed"], bins, level)

    def _require_classes(self, what: str) -> None:
        if self.classes is None:
            raise ParameterError(
                f"{what} needs family='binomial'; this is a {self.family.name} fit."
            )

    def __repr__(self) -> str:
        sizes = sorted(self.sizes)
        terms = f"{sizes[0]} to {sizes[-1]}" if sizes[0] < sizes[-1] else f"{sizes[0]}"
        terms += " term" if terms == "1" else " terms"
        measure = (
            f"score {self.score():.3f}"
            if self.classes is None
            else f"{100 * self.score():.0f}% right, AUC {self.roc().auc:.3f}"
        )
        return f"<CrossValidation: {len(self.predictions)} rows in {self.folds} folds, {terms}, {measure}>"
