"""`Members`: the models of a path by their size, in few numbers, without the rows that they were made of."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from robustsparse.base.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Member:
    """A model of a path, on the data's own scale.

    Attributes
    ----------
    k : int
        Number of terms that it keeps.
    params : Series
        Coefficients of its terms: the intercept, the kept ones, then the selected ones, the largest first.
    scale : float
        Robust scale of its residuals.
    cov : DataFrame or None
        Covariance of the coefficients; None without a refit.
    flags : DataFrame
        Why rows are flagged (`flag`) and their `weight`, by row label; rows that are not flagged are left out.
    told, notes : tuple
        Lines and notes of a summary that its family adds.
    df_resid : float or None
        Degrees of freedom of Student's t; None is the normal distribution.
    spread : float or None
        Standard deviation of a new response, see `RHTResult`.
    """

    k: int
    params: "pd.Series[float]"
    scale: float
    cov: pd.DataFrame | None
    flags: pd.DataFrame
    told: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    df_resid: float | None = None
    spread: float | None = None


class Members(Mapping[int, Member]):
    """Models by their size, each made when it is first asked for.

    What makes them holds the columns of all models; a copy that leaves the process holds the models alone.

    Parameters
    ----------
    sizes : iterable of int
        Sizes that can be asked for.
    make : callable
        Makes the model of a size; a second argument says which standard errors, if not the usual ones.
    """

    def __init__(self, sizes: Iterable[int], make: Callable[..., Member]) -> None:
        self._sizes, self._make = tuple(sizes), make
        self._made: dict[int, Member] = {}

    @classmethod
    def of(cls, made: Mapping[int, Member]) -> "Members":
        """Those that were made before."""
        return cls(made, _Stored(dict(made)))

    def __iter__(self) -> Iterator[int]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, size: int) -> Member:
        if size not in self._sizes:
            raise KeyError(size)
        if size not in self._made:
            self._made[size] = self._make(size)
        return self._made[size]

    def with_errors(self, size: int, errors: object) -> Member:
        """The model of a size with other standard errors."""
        return self._make(size, errors)

    def __reduce__(self) -> tuple[Any, ...]:
        return Members.of, (dict(self),)


class _Stored:
    """Models that were made before, of whose rows nothing is left."""

    def __init__(self, made: dict[int, Member]) -> None:
        self._stored = made

    def __call__(self, size: int, errors: object = None) -> Member:
        if errors is not None:
            raise ParameterError(
                "other standard errors need the rows of the fit, which a model from a file or another process has not; "
                "fit again with cov=... or cluster=..., or update(cov=...)."
            )
        return self._stored[size]
