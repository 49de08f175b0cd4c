"""`RHTResult`: what a fit knows, and what can be asked of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.algorithm.estimator import GradientEstimator
from robustsparse.algorithm.losses import Loss
from robustsparse.base.checks import check_count
from robustsparse.base.errors import ParameterError
from robustsparse.base.text import beginning, listed
from robustsparse.design.frames import INTERCEPT
from robustsparse.regression.call import Before, Call
from robustsparse.regression.files import save_result
from robustsparse.regression.fit.contamination import BadShare
from robustsparse.regression.inferring import Inferring
from robustsparse.regression.judging import Judging
from robustsparse.regression.made import Made
from robustsparse.regression.members import Member, Members
from robustsparse.regression.pictures import Pictures
from robustsparse.regression.predicting import Predicting
from robustsparse.regression.reporting import Reporting
from robustsparse.regression.terms import ranked_terms, term_of


def _of_making(name: str) -> Any:
    """A field of `made` as an attribute of the result."""
    return property(lambda result: getattr(result.made, name), doc=f"`made.{name}`, see `Made`.")


@dataclass(frozen=True, eq=False, repr=False)
class RHTResult(Judging, Predicting, Inferring, Reporting, Pictures):
    """A sparse model fitted by Robust Hard Thresholding.

    Attributes
    ----------
    params : Series
        Coefficients of all terms, zeros included, on the data's own scale.
    k : int
        Number of terms that the threshold kept; columns that enter and leave together are one term.
    nobs : int
        Number of rows used.
    fittedvalues, resid : Series
        Fitted response (probabilities for the binomial family) and residuals of all rows used, by row label; flagged
        rows included.
    scale : float
        Robust scale of the residuals (1 for the binomial family).
    row_weights : Series
        Weight that the fit gave each row, by row label, the user's weights not included; 0 = rejected.
    diagnostics : DataFrame
        By row label: `link`, `fitted`, `resid`, `std_resid`, `weight`, `distance`, `distance_cutoff`, `flag`.
    converged, n_iter : bool, int
        Whether the last run of Algorithm 1 settled, and its number of iterations.
    reason : str
        Why the iterations ended: "settled"; "taken back" if they ran past the lowest robust deviance of their path, as
        trimming lets them with two classes and no refit, and the estimate is the one there; or what kept them.
    history : DataFrame
        One row an iteration: change, step, size, entered, left, loss.
    path : DataFrame
        Standardized coefficients, terms by k; terms never selected are left out.
    cv : DataFrame or None
        Index k, columns `value` and `se`: the criterion or cross-validated error that k was chosen by.
    formula, family : str
        What was asked for; `formula` is None for a fit to arrays.
    estimator, loss : object
        Gradient estimator and loss.
    cov : DataFrame or None
        Covariance of the nonzero coefficients, conditional on the support; None without a refit, as for a model that
        is to predict.
    intercept : bool
        Whether the model has an intercept, the first of `params`.
    epsilon : float or None
        Share of bad rows that the fit was made to survive.
    bad_share : BadShare or None
        With ``epsilon="auto"`` the estimate that it comes from: `share`, its `upper` bound and the bound's `level`.
    members : Members
        The models of the path by k, in few numbers: what `coef(k=)`, `predict(..., k=)` and `summary(k=)` read.
    made : Made
        How the fit was made, in detail.
    select, goal : str
        How k was chosen, "given" if it was not; "select" or "predict".
    step, refitted : float, bool
        Length of the last step; whether the chosen columns were refitted.
    kept, constant : tuple of str
        Terms that were never thresholded; columns, and factors with a single level, that cannot be selected.
    dropped : Dropped
        Rows that were left out.
    classes : pair of labels or None
        Those coded 0 and 1.
    references : dict
        The level of each factor that has no column of its own.
    groups, copies : dict
        Columns that enter and leave together, by the name of their term; for selected terms the others that are nearly
        interchangeable with them.
    spec : DesignSpec or None
        How to code new data; None for arrays.
    offset_given : bool
        Whether the response was given an offset that new data must bring along.
    df_resid : float or None
        Degrees of freedom of Student's t in intervals and tests: the sum of the row weights less the number of
        coefficients and one for the scale, 1 at least. None is the normal distribution, for the binomial family.
    spread : float or None
        Standard deviation of a new response, if it is a good one, about the true model, by the residuals of the rows
        that the fit explains; with ``goal="predict"`` about its prediction, by rows that were left out. None for
        families without a scale.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
    >>> fit = rs.rht_fit(sim.X, sim.y)
    >>> fit.k, fit.nobs, fit.family
    (2, 111, 'gaussian')
    """

    params: "pd.Series[float]"
    k: int
    scale: float
    diagnostics: pd.DataFrame
    converged: bool
    n_iter: int
    history: pd.DataFrame
    path: pd.DataFrame
    cv: pd.DataFrame | None
    formula: str | None
    estimator: GradientEstimator | str
    loss: Loss | str
    cov: pd.DataFrame | None
    intercept: bool
    epsilon: float | None
    bad_share: BadShare | None
    members: Members
    made: Made
    df_resid: float | None = None
    spread: float | None = None
    # How to repeat the fit; the data are not in it.
    _call: Call | None = None

    @property
    def nobs(self) -> int:
        """Number of rows used."""
        return len(self.diagnostics)

    @property
    def fittedvalues(self) -> "pd.Series[float]":
        """Fitted response by row label."""
        return self.diagnostics["fitted"]

    @property
    def resid(self) -> "pd.Series[float]":
        """Residuals by row label."""
        return self.diagnostics["resid"]

    @property
    def row_weights(self) -> "pd.Series[float]":
        """Weight of each row by row label."""
        return self.diagnostics["weight"]

    @property
    def family(self) -> str:
        """Name of the family."""
        return self.made.kind.name

    # What `made` holds, by names of their own.
    select = _of_making("select")
    goal = _of_making("goal")
    step = _of_making("step")
    refitted = _of_making("refitted")
    kept = _of_making("kept")
    dropped = _of_making("dropped")
    classes = _of_making("classes")
    references = _of_making("references")
    constant = _of_making("constant")
    groups = _of_making("groups")
    copies = _of_making("copies")
    spec = _of_making("spec")
    offset_given = _of_making("offset_given")
    reason = _of_making("reason")

    # ------------------------------------------------------------------------------- the model

    def coef(self, zeros: bool = False, k: int | None = None) -> "pd.Series[float]":
        """Coefficients, by default only those that are not zero: the intercept, then the largest first.

        Parameters
        ----------
        zeros : bool
            Whether to list all terms, in the order of the design.
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.

        Returns
        -------
        Series
            By term.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=120, d=200, k=3, epsilon=0.1, rng=4)
        >>> fit = rs.rht("y ~ .", sim.data)
        >>> len(fit.coef()), len(fit.coef(k=1)), len(fit.coef(zeros=True, k=1))
        (4, 2, 201)
        """
        if not self._chosen(k):
            some = self._member(k).params
            return some.reindex(self.params.index, fill_value=0.0) if zeros else some.copy()
        if zeros:
            return self.params.copy()
        return self.params[[*self._forced(), *self.support()]]

    def _forced(self) -> list[str]:
        """Terms that were never thresholded."""
        return [*([INTERCEPT] if self.intercept else []), *self.kept]

    def support(self, k: int | None = None) -> list[str]:
        """Names of the selected columns, largest standardized coefficient first; kept columns are not listed.

        The columns of a term that enters as a whole stand together, the largest term first, see `terms`. Those of them
        that repeat others are zero, and are left out.

        Parameters
        ----------
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> sorted(fit.support()) == sorted(sim.support())
        True
        """
        if not self._chosen(k):
            return list(self._member(k).params.index[len(self._forced()) :])
        return [name for columns in self._selected().values() for name in columns]

    def terms(self, k: int | None = None) -> list[str]:
        """Names of the selected terms, the largest first; a factor, a spline or one of `groups` is one of them.

        The size of a term of several columns is the root mean square of their standardized coefficients.

        Parameters
        ----------
        k : int, optional
            Number of terms: another model of the path than the one that was chosen.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import numpy as np
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=120, d=6, k=1, epsilon=0.1, rng=4)
        >>> data = sim.data.assign(g=np.resize(["a", "b", "c"], len(sim.data)))
        >>> data["y"] += 3.0 * (data["g"] == "b") - 3.0 * (data["g"] == "c")
        >>> fit = rs.rht("y ~ .", data)
        >>> fit.terms(), fit.support()
        (['g', 'x6'], ['g[T.b]', 'g[T.c]', 'x6'])
        """
        return list(dict.fromkeys(term_of(self.support(k), self.groups).values()))

    def _selected(self) -> dict[str, list[str]]:
        """The selected columns by their term, the largest term first."""
        column = self.path[self._place()]
        chosen = self.params[(self.params != 0) & ~self.params.index.isin(self._forced())]
        size = column.reindex(chosen.index).abs().fillna(0.0)
        return ranked_terms(size, self.made.groups)

    def _place(self) -> int:
        """The column of the path that was chosen; it may have kept fewer terms than it could."""
        ks = [int(k) for k in self.path.columns]
        return next((k for k in ks if k >= self.k), ks[-1])

    def _chosen(self, k: int | None) -> bool:
        """Whether the model of this size is the one that was chosen."""
        return k is None or k == self.k

    def _member(self, k: int | None) -> Member:
        """The model of a size, the chosen one for None."""
        if self._chosen(k):
            return self.as_member()
        size = check_count("k", k, 0)
        if size not in self.members:
            raise ParameterError(f"k={size} is not on the path of this fit{self._other_sizes()}")
        return self.members[size]

    def _other_sizes(self) -> str:
        """What to do about a size that is not among the models."""
        if len(self.members) < 2:
            return ", which has the chosen model alone; fit again with this k."
        sizes = listed(list(self.members), quote=False, most=30)
        remedy = (
            "take one of these"
            if self.goal == "predict"
            else "take one of these, or fit again with this k"
        )
        return f", which has models of {sizes} terms; {remedy}."

    def as_member(self) -> Member:
        """The model itself, without its rows.

        Returns
        -------
        Member
            What `members` holds for each k.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> fit.as_member().params.equals(fit.coef())
        True
        """
        flagged = self.diagnostics["flag"] != ""
        flags = self.diagnostics.loc[flagged, ["flag", "weight"]]
        if not self.diagnostics.index.is_unique:
            flags = flags.assign(place=np.flatnonzero(flagged))
        return Member(
            k=self.k,
            params=self.coef(),
            scale=self.scale,
            cov=self.cov,
            flags=flags,
            told=tuple(self.made.kind.tells(self)),
            notes=tuple(self.made.kind.notes(self)),
            df_resid=self.df_resid,
            spread=self.spread,
        )

    def _before(self) -> Before:
        """What the data of the fit were."""
        return Before(self.nobs, self.made.fingerprint)

    def __repr__(self) -> str:
        what = beginning(self.formula or f"{len(self.params) - self.intercept} predictors")
        terms = self.terms()
        shown = ", ".join(terms[:5]) + (", …" if len(terms) > 5 else "")
        flagged = len(self.outliers())
        return (
            f"<RHTResult: {what}, {self.family}, {self.nobs} rows, k = {self.k} "
            f"({shown or 'no term'}), {flagged} flagged row{'' if flagged == 1 else 's'}>"
        )

    # ------------------------------------------------------------------------------------ file

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `robustsparse.load` reads; it holds numbers and text, never code.

        Parameters
        ----------
        path : str or Path
            The file; it is there whole or not at all.

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
        >>> fit = rs.rht_fit(sim.X, sim.y)
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "fit.model"
        >>> fit.save(path)
        >>> rs.load(path).params.equals(fit.params)
        True
        """
        save_result(self, path)
