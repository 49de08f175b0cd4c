"""What a caller asks of a fit, beside the data."""

from dataclasses import dataclass
from typing import Literal

from robustsparse.algorithm.gradients import EstimatorLike
from robustsparse.algorithm.losses import LossLike
from robustsparse.algorithm.problem import StepLike
from robustsparse.algorithm.sparsity import Sparsity
from robustsparse.base.checks import Seed
from robustsparse.regression.families import FamilyLike
from robustsparse.robust.standardize import ScaleLike

Epsilon = float | Literal["auto"]
Select = Literal["ric", "ebic", "gic", "cv"]
Goal = Literal["auto", "select", "predict"]
Cells = bool | Literal["auto"]
Cov = Literal["sandwich", "hc3", "cluster", "hac"]


@dataclass(frozen=True)
class Arguments:
    """The arguments of `rht` and `rht_fit` that do not hold data, as these explain them, not checked yet."""

    family: FamilyLike = "gaussian"
    estimator: EstimatorLike = "trim"
    k: Sparsity = "auto"
    select: Select = "ric"
    loss: LossLike | None = None
    epsilon: Epsilon = 0.1
    standardize: ScaleLike = True
    step: StepLike = "auto"
    radius: float | None = None
    max_iter: int | None = None
    tol: float | None = None
    refit: bool = True
    split: int = False
    goal: Goal = "auto"
    cells: Cells = "auto"
    cov: Cov = "sandwich"
    rng: Seed = None
    n_jobs: int | None = None
    verbose: bool | None = None
