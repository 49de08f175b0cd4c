"""What a result says of the data: rows, labels and cells that are not to be trusted."""

from collections.abc import Hashable

import pandas as pd

from robustsparse.base.checks import check_choice
from robustsparse.regression.cells import MISSING, WRONG, empty_cells
from robustsparse.regression.label_table import label_table
from robustsparse.regression.part import Part

_FLAGS = (None, "response", "leverage")


class Judging(Part):
    """Methods of `RHTResult` that name bad rows, labels and cells."""

    def outliers(self, kind: str | None = None) -> list[Hashable]:
        """Labels of flagged rows.

        Parameters
        ----------
        kind : {None, "response", "leverage"}
            All; rows whose response the model cannot explain; rows far out in the predictors, on all of which,
            selected or not, leverage is judged; of a spline or polynomial, on its variable. A row can be both, which
            is bad leverage.

        Returns
        -------
        list
            Row labels, in the order of the data.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> bool(set(fit.outliers("response")) <= set(fit.outliers()))
        True
        >>> bool(len(fit.outliers()) == (fit.diagnostics["flag"] != "").sum())
        True
        """
        check_choice("kind", kind, _FLAGS)
        flag = self._fit.diagnostics["flag"]
        wanted = flag != "" if kind is None else flag.isin([kind, "both"])
        return list(self._fit.diagnostics.index[wanted])

    def labels(self, least: float = 0.5) -> pd.DataFrame:
        """Rows of two classes whose label is wrong with a probability of at least `least`, the surest first.

        Parameters
        ----------
        least : float
            Smallest probability: from 0.5 on the model bets against the label.

        Returns
        -------
        DataFrame
            By row: its `label`, the `probability` that the model gives to it, and the probability that it is `wrong`.

        Examples
        --------
        >>> import numpy as np
        >>> import robustsparse as rs
        >>> rng = np.random.default_rng(1)
        >>> X = rng.normal(size=(400, 50))
        >>> y = (X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=400) > 0).astype(int)
        >>> y[:20] = 1 - y[:20]
        >>> fit = rs.rht_fit(X, y, family="binomial")
        >>> wrong = fit.labels()
        >>> sorted(wrong.columns), len(wrong) > 10, sum(row < 20 for row in wrong.index) / len(wrong) > 0.8
        (['label', 'probability', 'wrong'], True, True)
        """
        return label_table(self._fit, least)

    def cells(self, reason: str | None = None) -> pd.DataFrame:
        """Cells that were missing and imputed, or judged wrong and replaced, by row label.

        Parameters
        ----------
        reason : {None, "missing", "wrong"}
            All; those that were missing; those that lie apart from the rest of their column.

        Returns
        -------
        DataFrame
            By row: the `column`, the `reason`, the `old` and the `new` value, and the standard `error` of the new one.

        Examples
        --------
        >>> import numpy as np
        >>> import robustsparse as rs
        >>> data = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.0, rng=4).data
        >>> data.loc[5, "x3"] = np.nan
        >>> fit = rs.rht("y ~ .", data, na_action="impute")
        >>> fit.cells()[["column", "reason"]]
          column   reason
        5     x3  missing
        """
        check_choice("reason", reason, (None, MISSING, WRONG))
        table = self._fit.made.cells
        if table is None:
            table = empty_cells(self._fit.diagnostics.index[:0])
        return table.copy() if reason is None else table[table["reason"] == reason].copy()
