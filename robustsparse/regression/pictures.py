"""What a result draws, and the ROC curves that it has."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_choice
from robustsparse.base.errors import ParameterError
from robustsparse.base.text import did_you_mean
from robustsparse.regression.cell_map import cell_map_of, residual_view
from robustsparse.regression.measures import path_rank
from robustsparse.regression.out_of_fold import CrossValidation
from robustsparse.regression.part import Part
from robustsparse.regression.residuals import drawn, observed
from robustsparse.regression.terms import by_term, term_of
from robustsparse.report.plots import (
    plot_calibration,
    plot_cells,
    plot_coefficients,
    plot_convergence,
    plot_diagnostics,
    plot_path,
    plot_roc,
    plot_selection,
)
from robustsparse.report.roc import ROC, roc_from_scores

_DRAWN_KINDS = (None, "pearson", "deviance")
_IN_SAMPLE = "in sample"


class Pictures(Part):
    """Methods of `RHTResult` that draw."""

    def plot_path(self, ax: Any = None) -> Any:
        """Draw the standardized coefficients against k, of a term of several columns its size; returns the Axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.plot_path().get_xlabel()
        'number of terms k'
        """
        fit = self._fit
        several = any(len(columns) > 1 for columns in fit.groups.values())
        label = "standardized coefficient" + several * "\n(several columns: root mean square)"
        return plot_path(by_term(fit.path, fit.groups), fit._place(), ax, label=label)

    def plot_convergence(self, ax: Any = None) -> Any:
        """Draw the relative change of the iterates; returns the Axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.plot_convergence().get_xlabel()
        'iteration'
        """
        return plot_convergence(self._fit.history, ax)

    def plot_cv(self, ax: Any = None) -> Any:
        """Draw what k was chosen by; returns the Axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.plot_cv().get_ylabel()
        'robust criterion'
        """
        fit = self._fit
        if fit.cv is None:
            raise ParameterError(
                "k was given, so there is nothing to draw; fit with k='auto' or a list of values."
            )
        label = "robust prediction error" if fit.select == "cv" else "robust criterion"
        return plot_selection(fit.cv, fit._place(), label, ax)

    def plot_diagnostics(self, axes: Any = None, residuals: str | None = None) -> Any:
        """Draw residuals, a QQ plot, the outlier map and the row weights; returns the four Axes.

        Parameters
        ----------
        axes : array of four Axes, optional
            Where to draw; a new figure if None.
        residuals : {None, "pearson", "deviance"}
            Which residuals; None are those of the deviance for the binomial family, and the plain ones, standardized
            by their robust scale, for the gaussian, which has no others. Dashed lines are where a row is flagged: three
            scales, or for the binomial family a label to which the model gives one chance in a hundred. Residuals of
            two classes are not normal, and are compared with those of labels drawn from the model.

        Returns
        -------
        array of four Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> len(fit.plot_diagnostics().ravel())
        4
        """
        check_choice("residuals", residuals, _DRAWN_KINDS)
        fit = self._fit
        family = fit.made.kind
        if family.has_scale:
            return plot_diagnostics(fit.diagnostics, fit.scale, axes, cutoff=family.reject)
        kind = residuals or family.residual_kind
        frame, view = drawn(fit, kind)
        return plot_diagnostics(frame, 1.0, axes, kind=view, cutoff=family.limit(kind))

    def plot_cells(
        self, k: int | None = None, rows: Sequence[Hashable] | None = None, ax: Any = None
    ) -> Any:
        """Draw which cells of the selected columns were missing or wrong, beside the residuals; returns the Axes.

        Wrong cells are colored by how many standard errors they are off from what replaced them: red is too high, blue
        too low. Residuals have the same colors where they are beyond the limit of a flag. `regression.cell_map`
        has the numbers.

        Parameters
        ----------
        k : int, optional
            Number of terms: columns of another model of the path. Residuals and flags remain those of the chosen one.
        rows : sequence, optional
            Labels of rows to draw, in this order. If None, rows that are flagged or have such a cell; of more than 40
            those with the most to tell. Rows that share a label are drawn as one.
        ax : Axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> data = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.0, rng=4).data
        >>> fit = rs.rht("y ~ .", data)
        >>> data.loc[5, fit.support()[0]] = np.nan
        >>> ax = rs.rht("y ~ .", data, na_action="impute").plot_cells(rows=[5])
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['5']
        """
        fit = self._fit
        name, cutoff = residual_view(fit)[1:]
        if not fit._chosen(k):
            name += f" (k = {fit.k})"
        return plot_cells(cell_map_of(fit, k, rows), ax, residual=name, cutoff=cutoff)

    def plot_coefficients(self, ax: Any = None) -> Any:
        """Draw estimates with their intervals; returns the Axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> labels = fit.plot_coefficients().get_yticklabels()
        >>> sorted(label.get_text() for label in labels) == sorted(fit.support())
        True
        """
        fit = self._fit
        table = fit.conf_int().assign(estimate=fit.coef())
        return plot_coefficients(table.iloc[int(fit.intercept) :], ax)

    def plot_calibration(
        self,
        ax: Any = None,
        *,
        cv: "bool | CrossValidation" = True,
        bins: int | None = None,
        level: float = 0.95,
        **options: Any,
    ) -> Any:
        """Draw predicted probabilities against observed shares in bins of equal counts (binomial); returns the Axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.
        cv : bool or CrossValidation
            True predicts every row by a fit without it, see `cross_validate`; so does a `CrossValidation` that was
            made before. False draws the fitted probabilities, which are too good.
        bins : int, optional
            Number of bins; ten by default, fewer if there are less than ten rows for each.
        level : float
            Level of Wilson's intervals for the shares.
        **options
            Arguments of `cross_validate`.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.0, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y, family="binomial")
        >>> ax = fit.plot_calibration(folds=3)
        >>> ax.get_ylabel()
        'observed share'
        """
        fit, classes = self._fit, self._two_classes("plot_calibration")
        crossed = self._crossed(cv, options)
        if crossed is None:
            probability, y = fit.fittedvalues, pd.Series(observed(fit))
        else:
            probability, y = (crossed.predictions[name] for name in ("prediction", "observed"))
        source = _IN_SAMPLE if crossed is None else _named(crossed)
        return plot_calibration(
            probability, y, ax, bins=bins, level=level, event=_event(classes[1]), source=source
        )

    def plot_roc(
        self, ax: Any = None, *, cv: "bool | CrossValidation" = True, **options: Any
    ) -> Any:
        """Draw the ROC curve of the rows of the fit, and beside it that by cross-validation; returns the Axes.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.
        cv : bool or CrossValidation
            True predicts every row by a fit without it, see `cross_validate`; so does a `CrossValidation` that was
            made before. False draws the curve in sample alone.
        **options
            Arguments of `cross_validate`.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.0, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y, family="binomial")
        >>> ax = fit.plot_roc(folds=3)
        >>> [text.get_text().split("  ")[1] for text in ax.get_legend().get_texts()]
        ['in sample', '3-fold cross-validation']
        """
        self._two_classes("plot_roc")
        crossed = self._crossed(cv, options)
        curves = {_IN_SAMPLE: self.class_roc()}
        if crossed is not None:
            curves[_named(crossed)] = crossed.roc()
        return plot_roc(curves, ax)

    def _crossed(
        self, cv: "bool | CrossValidation", options: dict[str, Any]
    ) -> CrossValidation | None:
        """The cross-validation to draw."""
        if cv is True:
            return self._fit.cross_validate(**options)
        if options:
            raise ParameterError(
                f"{next(iter(options))} is for cross-validation, which cv={cv!r} does not ask for; use cv=True."
            )
        if cv is False:
            return None
        if not isinstance(cv, CrossValidation):
            raise ParameterError(
                f"cv={cv!r} must be True, False or what cross_validate() returned."
            )
        if not cv.predictions.index.equals(self._fit.diagnostics.index):
            raise ParameterError("cv is of other rows than this fit; use its own cross_validate().")
        return cv

    def _two_classes(self, what: str) -> tuple[Any, Any]:
        fit = self._fit
        if fit.classes is None:
            raise ParameterError(f"{what} needs family='binomial'; this is a {fit.family} fit.")
        classes: tuple[Any, Any] = fit.classes
        return classes

    def support_roc(self, true_support: Collection[str]) -> ROC:
        """ROC curve of the terms along the path against the true ones.

        Terms are ranked by how many values of k keep them, then by the size of their coefficient. The true ones can be
        named as terms or by their columns.

        Parameters
        ----------
        true_support : collection of str
            Names of the terms, or of their columns, that are in the true model.

        Returns
        -------
        ROC

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.support_roc(sim.support()).auc
        1.0
        """
        fit = self._fit
        forced = set(fit._forced())
        term = term_of([name for name in fit.params.index if name not in forced], fit.groups)
        known = {**term, **dict(zip(term.values(), term.values(), strict=True))}
        unknown = [name for name in true_support if name not in known]
        if unknown:
            hint = did_you_mean(str(unknown[0]), known)
            raise ParameterError(f"{unknown[0]!r} is not a candidate term of this model{hint}")
        terms = list(dict.fromkeys(term.values()))
        rank = path_rank(by_term(fit.path, fit.groups))
        true = {known[name] for name in true_support}
        return roc_from_scores(
            rank.reindex(terms).fillna(0.0).to_numpy(), np.isin(terms, list(true))
        )

    def class_roc(self, newdata: Any = None, y: Any = None) -> ROC:
        """ROC curve of the predicted probabilities; of the training rows, which is too good, if `newdata` is None.

        `cross_validate().roc()` is that of training rows that the fit has not seen, and `plot_roc` draws both.

        Parameters
        ----------
        newdata : data frame or array, optional
            Other rows than those of the fit, with the response among them for a fit to a formula.
        y : array, optional
            Their response, for a fit to arrays.

        Returns
        -------
        ROC

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.logistic(n=150, d=20, k=2, epsilon=0.0, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y, family="binomial")
        >>> fit.class_roc().auc > 0.8
        True
        """
        self._two_classes("class_roc")
        fit = self._fit
        if newdata is None:
            return roc_from_scores(fit.diagnostics["link"].to_numpy(), observed(fit) == 1)
        truth, scores = fit._observed(newdata, y), fit.predict(newdata, "link").to_numpy()
        known = np.isfinite(truth) & np.isfinite(scores)
        return roc_from_scores(scores[known], truth[known] == 1)


def _event(label: Any) -> str:
    """A label as the event of a plot; a number needs a word beside it."""
    return f"response {label:g}" if isinstance(label, int | float) else str(label)


def _named(crossed: CrossValidation) -> str:
    return f"{crossed.folds}-fold cross-validation"
