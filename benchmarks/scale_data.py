"""Designs on disk for `scale.py`: columns in single precision, and genotypes."""

from pathlib import Path

import numpy as np

from benchmarks.problems import Array

PREDICTORS, BAD = 10, 0.1
_BLOCK = 10_000


def write(path: Path, n: int, d: int) -> tuple[Array, Array]:
    """Normal columns, each correlated with the one before, of which ten matter; the response and these columns.

    A tenth of the rows has a wrong response, half of them are far out as well. They are of single precision, column
    after column.
    """
    rng = np.random.default_rng(5)
    chosen = np.sort(rng.choice(d, PREDICTORS, replace=False))
    beta = rng.choice([-1, 1], PREDICTORS) * (0.5 + rng.random(PREDICTORS))
    bad = rng.choice(n, round(BAD * n), replace=False)
    eta = np.zeros(n)
    with path.open("wb") as file:
        for first in range(0, d, _BLOCK):
            block = rng.standard_normal((min(_BLOCK, d - first), n), dtype=np.float32)
            block[1:] += 0.5 * block[:-1]
            block[:, bad[: len(bad) // 2]] *= 5
            own = (chosen >= first) & (chosen < first + len(block))
            eta += beta[own] @ block[chosen[own] - first]
            block.tofile(file)
    y = eta + rng.normal(size=n)
    y[bad] = 5 - 3 * y[bad]
    return y, chosen


def write_bed(path: Path, n: int, d: int) -> tuple[Array, Array]:
    """Counts of alleles of all frequencies from 5% on; ten variants matter and a tenth of the rows is wrong."""
    import bed_reader

    rng = np.random.default_rng(6)
    chosen = np.sort(rng.choice(d, PREDICTORS, replace=False))
    frequency, eta = rng.uniform(0.05, 0.5, d), np.zeros(n)
    with bed_reader.create_bed(path, iid_count=n, sid_count=d) as bed:
        for j in range(d):
            counts = rng.binomial(2, frequency[j], n)
            if j in chosen:
                # Each explains as much as the others.
                eta += counts / counts.std()
            bed.write(counts.astype(np.int8))
    y = eta + rng.normal(size=n)
    bad = rng.choice(n, round(BAD * n), replace=False)
    y[bad] = 5 - 3 * y[bad]
    return y, chosen
