"""`Made`: how a fit was made, for its summary, its predictions and its file."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from robustsparse.design.fingerprint import Fingerprint
from robustsparse.design.response import Classes
from robustsparse.design.row_audit import Dropped
from robustsparse.regression.cells import Imputation
from robustsparse.regression.family import Family

if TYPE_CHECKING:
    from robustsparse.design.spec import DesignSpec


@dataclass(frozen=True, eq=False)
class Made:
    """How a fit was made, for its summary, its predictions and its file.

    Attributes
    ----------
    kind : Family
        Kind of response.
    select : str
        How k was chosen; "given" if it was not.
    goal : str
        "select" or "predict".
    step : float
        Length of the last step.
    refitted : bool
        Whether the chosen columns were refitted.
    kept, constant : tuple of str
        Terms that were never thresholded; columns, and factors with a single level, that cannot be selected.
    dropped : Dropped
        Rows that were left out.
    classes : pair of labels or None
        Those coded 0 and 1.
    references : dict
        The level of each factor that has no column of its own.
    copies : dict
        For selected terms the others that are nearly interchangeable with them.
    spec : DesignSpec or None
        How to code new data; None for arrays.
    offset_given : bool
        Whether the response was given an offset that new data must bring along.
    groups : dict
        Columns that enter and leave together, by the name of their term; other columns stand alone.
    reason : str
        Why the iterations ended: "settled" if nothing happened; "taken back" if they ran past the lowest robust
        deviance of their path and the estimate is the one there.
    undecided : bool
        Whether the labels were too few to select by, so that the fit predicts.
    taken_back : pair of float or None
        Norms of the standardized coefficients that the iterations ended with and of those they were taken back to.
    cells : DataFrame or None
        Cells that were missing or wrong, see `RHTResult.cells`; None in files of former versions.
    imputation : Imputation or None
        How missing cells of new rows are imputed, if those of the fit were to be.
    by_name : bool
        Whether a fit without a formula was given names of columns, by which those of new rows are found.
    fingerprint : Fingerprint or None
        What is remembered of the data, to see whether they have changed; None in files of former versions.
    errors : str
        How standard errors were made: "sandwich", "hc3", "cluster" or "hac".
    cluster : pair of str and int, or None
        What the clusters are called, and how many there are.
    """

    kind: Family
    select: str
    step: float
    refitted: bool
    kept: tuple[str, ...]
    dropped: Dropped
    classes: Classes | None
    references: dict[str, object]
    constant: tuple[str, ...]
    spec: "DesignSpec | None"
    offset_given: bool
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    goal: str = "select"
    copies: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reason: str = "settled"
    undecided: bool = False
    taken_back: tuple[float, float] | None = None
    cells: pd.DataFrame | None = None
    imputation: Imputation | None = None
    by_name: bool = False
    fingerprint: Fingerprint | None = None
    errors: str = "sandwich"
    cluster: tuple[str, int] | None = None
