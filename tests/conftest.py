"""Settings shared by all tests."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

# The first example of a test may compile a kernel, which takes seconds; and a run must not pass or
# fail by the luck of its draw.
settings.register_profile("robustsparse", deadline=None, derandomize=True)
settings.load_profile("robustsparse")


@pytest.fixture
def data() -> pd.DataFrame:
    """Twenty-four labelled rows: a response, two numbers and a factor."""
    n = 24
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "y": rng.normal(size=n),
            "a": rng.normal(size=n),
            "b": rng.uniform(1, 2, n),
            "g": ["u", "v", "w"] * (n // 3),
        },
        index=[f"row{i}" for i in range(n)],
    )
