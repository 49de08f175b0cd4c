"""`Model` and `Fitted`: a fit in the units of the standardized problem, and models of other sizes on demand."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.row_slices import is_tall
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.family import Chosen, Family
from robustsparse.regression.fit.k_paths import Choice
from robustsparse.regression.fit.known_rows import KnownRows
from robustsparse.regression.fit.rows import SUBSAMPLES, Leverage, active
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.robust.mm import Refit
from robustsparse.robust.row_moves import RowMoves
from robustsparse.robust.skewness import side_limits


@dataclass(frozen=True)
class Model:
    """Coefficients with what they leave of all rows, in standardized units.

    Attributes
    ----------
    active : array of int
        Columns in the model, ascending: the support and the kept ones.
    coef : array (a,)
        Their coefficients.
    eta : array (n,)
        Linear predictor of all rows, offset included.
    scale : float
        Robust scale of the residuals.
    resid, weights : array (n,)
        Residuals of all rows, and their weights from 0 to 1.
    cov : array (a, a) or None
        Covariance of the coefficients; None without a refit.
    size : int
        How many terms the threshold kept.
    df : float or None
        Degrees of freedom of tests of the coefficients; None is the normal distribution.
    wrong : array (n,) or None
        Probability that each label is wrong; None if responses are no labels, or without a refit.
    row_moves : callable or None
        Makes what each row does to the coefficients, for other covariances than `cov`; None without a refit.
    """

    active: Indices
    coef: Array
    eta: Array
    scale: float
    resid: Array
    weights: Array
    cov: Array | None
    size: int
    df: float | None = None
    wrong: Array | None = None
    row_moves: Callable[[], RowMoves] | None = None

    @classmethod
    def refitted(
        cls, columns: Indices, rows: Chosen, refit: Refit, trust: Array, size: int, family: Family
    ) -> "Model":
        """A robust regression of all rows on the columns of a model."""
        eta = rows.predictor(refit.coef)
        return cls(
            columns, refit.coef, eta, refit.scale, refit.resid, refit.weights * trust, refit.cov, size, refit.df,
            refit.wrong, partial(family.row_moves, rows, refit),
        )  # fmt: skip

    def full(self, p: int) -> Array:
        """Coefficients (p,) of all columns."""
        coef = np.zeros(p)
        coef[self.active] = self.coef
        return coef


class ModelsOnDemand(Mapping[int, Model], ABC):
    """The model of every size on a path, each made once it is asked for.

    Parameters
    ----------
    columns : dict from k to array of int
        Columns of the models.
    """

    def __init__(self, columns: dict[int, Indices]) -> None:
        self._columns = columns
        self._made: dict[int, Model] = {}

    def __iter__(self) -> Iterator[int]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, size: int) -> Model:
        if size not in self._made:
            self._made[size] = self._model(size)
        return self._made[size]

    @abstractmethod
    def _model(self, size: int) -> Model:
        """Make the model of a size."""


class Models(ModelsOnDemand):
    """The model of every size on a path, each refitted to all rows when it is asked for.

    Only the columns that are in one of the models are held, so that the design can go, unless they are most of it.

    Parameters
    ----------
    problem : Standardized
        The problem.
    trust, shares : array (n,)
        How far rows are trusted by where they are, and how much those of a cluster count.
    path : dict from k to RHTFit
        The models, as they were found.
    """

    def __init__(
        self, problem: Standardized, trust: Array, shares: Array, path: dict[int, RHTFit]
    ) -> None:
        super().__init__({size: active(problem, fit) for size, fit in path.items()})
        self._starts = {size: path[size].coef[columns] for size, columns in self._columns.items()}
        self._union = np.unique(np.concatenate(list(self._columns.values())))
        most = 2 * len(self._union) > len(problem.XT) and is_tall(problem.n, len(problem.XT))
        self._rows = None if most else problem.chosen(self._union)
        self._problem = problem if most else None
        self._trust, self._shares = trust, shares
        self._family, self._free = problem.family, problem.free

    def _model(self, size: int) -> Model:
        # With every column in the model nothing was selected: the robust regression sees to far rows itself.
        everything = size == self._free
        trust = np.ones_like(self._trust) if everything else self._trust
        rows = self._rows_of(size)
        # Random numbers of its own: a model is the same whatever was asked for before it.
        refit = self._family.refit(
            rows, self._starts[size], SUBSAMPLES if everything else 0, np.random.default_rng(size)
        )
        model = Model.refitted(self._columns[size], rows, refit, trust, size, self._family)
        # The columns of a tall design are taken out of it once more when they are needed.
        return (
            model
            if self._problem is None
            else replace(model, row_moves=partial(self._moves, size, refit))
        )

    def _rows_of(self, size: int) -> Chosen:
        """All rows on the columns of a model, as they count for it."""
        columns = self._columns[size]
        if self._rows is None:
            assert self._problem is not None
            rows = self._problem.chosen(columns)
        else:
            rows = self._rows.only(np.searchsorted(self._union, columns))
        return rows if size == self._free else rows.weighted_by(self._trust * self._shares)

    def _moves(self, size: int, refit: Refit) -> RowMoves:
        """What each row does to the coefficients of a model."""
        return self._family.row_moves(self._rows_of(size), refit)


@dataclass(frozen=True)
class Fitted:
    """A fit in the units of the standardized problem.

    Attributes
    ----------
    model : Model
        The model that was asked for or chosen.
    solution : RHTFit
        The last run of Algorithm 1.
    choice : Choice or None
        How k was chosen.
    path : dict from k to coefficients (p,)
        The path that it was chosen on.
    leverage : Leverage
        How far out the rows are in the predictors.
    models : mapping from k to Model
        Models of other sizes.
    doubt : str
        Why the choice of k may be wrong, in words; empty if nothing speaks against it.
    undecided : bool
        Whether there are too few labels to tell which terms matter.
    goal : str
        "select" or "predict": whether the coefficients are shrunken.
    known : KnownRows or None
        What fits to part of the rows need not find out again; None unless rows were judged.
    """

    model: Model
    solution: RHTFit
    choice: Choice | None
    path: dict[int, Array]
    leverage: Leverage
    models: Mapping[int, Model]
    doubt: str = ""
    undecided: bool = False
    goal: str = "select"
    known: KnownRows | None = None


def judged_residuals(problem: Standardized, model: Model) -> Array:
    """Residuals in units of their scale; Pearson's if there is none."""
    resid, unit = problem.family.judged(problem.y, model.eta, model.resid, model.scale)
    return np.asarray(problem.judged(resid / unit))


def response_flags(problem: Standardized, model: Model) -> Mask:
    """Rows whose response the model cannot explain, or whose label it bets against."""
    resid, limit = judged_residuals(problem, model), problem.family.reject
    if not problem.family.has_scale:
        out: Mask = np.abs(resid) > limit
        return out if model.wrong is None else out | (model.wrong > 0.5)
    below, above = side_limits(resid, limit)
    return np.asarray((resid < -below) | (resid > above))
