"""What a result tells of itself."""

import numpy as np

from robustsparse.regression.part import Part
from robustsparse.regression.summary import summarize
from robustsparse.report.summary.report import Summary


class Reporting(Part):
    """Methods of `RHTResult` that tell."""

    @property
    def explained(self) -> float:
        """Robust R² (gaussian), or the share of the weighted deviance explained (binomial)."""
        rows = (self._fit.fittedvalues, self._fit.resid, self._fit.row_weights)
        return self._fit.made.kind.explained(
            *(np.asarray(values, dtype=np.float64) for values in rows)
        )

    def summary(self, k: int | None = None) -> Summary:
        """The fit in words and numbers, to print or to export as HTML or LaTeX.

        Parameters
        ----------
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.
        """
        return summarize(self._fit, self._fit._member(k))
