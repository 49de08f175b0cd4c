"""What scikit-learn hands over, as the functions of the package take it."""

from typing import Any

import numpy as np

from robustsparse.base.checks import Seed

# Single precision stays single.
PRECISIONS = (np.float64, np.float32)
_SEEDS = 2**31 - 1


def as_seed(random_state: Any) -> Seed:
    """What `rng` takes from what `random_state` takes.

    Examples
    --------
    >>> as_seed(3), isinstance(as_seed(np.random.RandomState(0)), int)
    (3, True)
    """
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_SEEDS))
    seed: Seed = random_state
    return seed


def names_of(estimator: Any) -> list[str] | None:
    """Names of the columns that an estimator was fitted to, if they have any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
