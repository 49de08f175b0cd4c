"""Arrays as the package writes them; the shapes stand in the docstrings."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
# Columns and rows by number: as the kernels take them, and as numpy returns them.
Indices = NDArray[np.int64]
Places = NDArray[np.intp]
