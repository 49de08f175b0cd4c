"""Sparse matrices in one form."""

import numpy as np
import pytest
from scipy import sparse

from robustsparse.base.matrices import canonical


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.coo_array])
def test_every_form_of_a_matrix_becomes_one(kind: type) -> None:
    dense = np.array([[0.0, 3.0, 0.0], [3.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    found = canonical(kind(dense))
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert found.indices.tolist() == [1, 0, 2, 1]
    np.testing.assert_array_equal(found.toarray(), dense)
