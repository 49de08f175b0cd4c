"""PLINK bed files: genotypes as counts 0, 1, 2 of an allele, four in a byte."""

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np

from robustsparse.base.checks import check_choice
from robustsparse.base.errors import DataError, MissingDependencyError
from robustsparse.base.types import Indices
from robustsparse.design.stores.store import Block, Source

Impute = Literal["mean", "mode"] | None


class BedColumns(Source):
    """Genotypes of a PLINK bed file, a column a variant; see `open_bed`.

    Attributes
    ----------
    names : tuple of str
        Identifiers of the variants; one that is not unique has the number of its variant behind it.
    samples : array of str (n,)
        Identifiers of the individuals.
    phenotype : array of str (n,)
        Last column of the fam file.
    """

    def __init__(self, path: str | os.PathLike[str], impute: Impute = None) -> None:
        check_choice("impute", impute, (None, "mean", "mode"))
        self.path, self.impute = str(path), impute
        if not Path(self.path).is_file():
            raise DataError(f"{self.path!r} is not there, or no file; give the path of a bed file.")
        with self._open() as bed:
            self.shape = bed.shape
            self.names: tuple[str, ...] = _unique(bed.sid)
            self.samples = np.array(bed.iid)
            self.phenotype = np.array(bed.pheno)
        self.dtype = np.dtype(np.float32)

    def __repr__(self) -> str:
        n, d = self.shape
        return f"<genotypes of {n:,} individuals at {d:,} variants, {self.path}>"

    def _open(self) -> Any:
        try:
            import bed_reader
        except ImportError:
            raise MissingDependencyError(
                "bed files need the package bed-reader; install robustsparse[plink]."
            ) from None
        try:
            # With the counts at hand the text files beside it are not read again for every block.
            n, d = getattr(self, "shape", (None, None))
            return bed_reader.open_bed(self.path, iid_count=n, sid_count=d, num_threads=1)
        except (ValueError, OSError) as error:
            raise DataError(f"{self.path!r} cannot be read as a bed file ({error}).") from error

    def read(self, first: int, last: int) -> Block:
        """Counts of the variants from the first to the one before the last."""
        return self._counts(np.s_[:, first:last], lambda place: first + place)

    def pick(self, columns: Indices) -> Block:
        """Counts of some variants."""
        return self._counts(np.s_[:, columns], lambda place: int(columns[place]))

    def _counts(self, index: Any, number: Any) -> Block:
        with self._open() as bed:
            block = np.ascontiguousarray(bed.read(index=index, dtype="float32", order="F").T)
        gaps = np.flatnonzero(np.isnan(block.sum(axis=1)))
        if len(gaps) and self.impute is None:
            count = int(np.isnan(block[gaps[0]]).sum())
            raise DataError(
                f"variant {self.names[number(gaps[0])]!r} of {self.path!r} has {count} missing genotype(s); "
                "open_bed(path, impute='mean') sets them to the mean count of their variant, 'mode' to the commonest."
            )
        for j in gaps:
            block[j] = _filled(block[j], self.impute == "mode")
        return block


def _filled(counts: Any, commonest: bool) -> Any:
    """Counts of a variant with a stand-in for missing ones; 0 if nobody was typed."""
    known = counts[~np.isnan(counts)]
    if not len(known):
        return np.zeros_like(counts)
    value = np.bincount(known.astype(int)).argmax() if commonest else known.mean(dtype=np.float64)
    return np.where(np.isnan(counts), np.float32(value), counts)


def _unique(names: Any) -> tuple[str, ...]:
    """Names of variants, those that repeat one before with their number behind them."""
    seen: set[str] = set()
    out = []
    for number, name in enumerate(map(str, names), 1):
        own = name if name not in seen else f"{name}#{number}"
        seen.add(own)
        out.append(own)
    return tuple(out)


def open_bed(path: str | os.PathLike[str], *, impute: Impute = None) -> BedColumns:
    """Open a PLINK bed file, as the design of a fit that reads it in blocks.

    Parameters
    ----------
    path : str or path
        The bed file; its bim and fam files stand beside it.
    impute : {None, "mean", "mode"}
        What missing genotypes are set to: the mean count of their variant, or the commonest count. None refuses them.

    Returns
    -------
    BedColumns
        To be given as `X` to `rht_fit`. It has `shape`, `names`, `samples` and `phenotype`.

    Examples
    --------
    >>> import tempfile, pathlib, bed_reader
    >>> import robustsparse as rs
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.binomial(2, 0.4, size=(150, 60)).astype(np.float32)
    >>> y = counts[:, 7] - counts[:, 30] + 0.3 * rng.normal(size=150)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "cohort.bed"
    ...     _ = bed_reader.to_bed(path, counts, properties={"sid": [f"rs{j}" for j in range(60)]})
    ...     fit = rs.rht_fit(rs.open_bed(path), y)
    >>> sorted(fit.support())
    ['rs30', 'rs7']
    """
    return BedColumns(path, impute)
