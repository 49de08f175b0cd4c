"""A process that was started to give memory back keeps it while it is told to."""

import os
import subprocess
import sys

import pytest

# Arrays of two megabytes, made and freed: pages that are touched for the first time, with the memory kept and without.
COUNTED = """
import resource
import numpy as np
from robustsparse.base.allocation import memory_stays

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(1 << 18)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first = faults()
with memory_stays():
    with memory_stays():
        pass
    inside = faults()
print(first, inside, faults())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what glibc does")
def test_memory_stays_as_long_as_somebody_wants_it() -> None:
    told = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", COUNTED], env=told, capture_output=True, text=True, check=True
    )
    before, inside, after = map(int, done.stdout.split())
    # 512 pages an array.
    assert before > 40_000
    assert inside < before / 10
    assert after > 40_000
