"""Data sets that come with the package, and the paper's preprocessing of the stocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_number
from robustsparse.base.errors import DataError
from robustsparse.base.types import Array

Data = TypeVar("Data", pd.DataFrame, "pd.Series[Any]", Array)

# Within the installed package, or beside it in a source checkout.
FOLDERS = (Path(__file__).parent / "data", Path(__file__).parents[1] / "data")


class Stocks(NamedTuple):
    """Prices and what the tickers stand for.

    Attributes
    ----------
    prices : DataFrame of shape (1258, 452)
        Closing prices; a row is a trading day, a column a ticker.
    info : DataFrame of shape (452, 3)
        ``ticker``, ``sector`` and ``name`` of the company, in the order of the columns of `prices`.

    Examples
    --------
    >>> prices, info = stocks()
    >>> list(prices.columns) == list(info["ticker"])
    True
    """

    prices: pd.DataFrame
    info: pd.DataFrame


def stocks() -> Stocks:
    """Load the prices of 452 stocks of the S&P 500, 2003 to 2007.

    The paper's real data: daily closing prices of the stocks that were always in the index between
    January 1, 2003 and January 1, 2008, with their GICS sectors. The days carry no dates. Log
    returns are heavy-tailed and have outliers; stocks of a sector move together.

    Returns
    -------
    Stocks
        Named tuple ``(prices, info)``.

    Notes
    -----
    Origin: ``stockdata`` of the R package huge 1.3.5 (GPL-2), collected from Yahoo! Finance.
    T. Zhao, H. Liu, K. Roeder, J. Lafferty, L. Wasserman (2012). The huge package for
    high-dimensional undirected graph estimation in R. Journal of Machine Learning Research 13.

    Examples
    --------
    >>> from robustsparse.datasets import stocks
    >>> prices, info = stocks()
    >>> prices.shape
    (1258, 452)
    >>> info.sector.value_counts().index[0]
    'Financials'
    """
    return Stocks(_read("stock_prices.csv.gz").rename_axis("day"), _read("stock_info.csv"))


def octane() -> pd.DataFrame:
    """Load octane numbers and near-infrared spectra of 39 gasoline samples.

    Samples 25, 26 and 36 to 39 contain added alcohol: known outliers in the spectra.

    Returns
    -------
    DataFrame of shape (39, 227)
        ``y``, the octane number, and ``V1`` to ``V226``, the absorbance at 1102 to 1552 nm in steps
        of 2 nm; the index is the sample number from 1 to 39.

    Notes
    -----
    Origin: ``octane`` of the R package rrcov 1.7-2 (GPL-2 or later); K. Esbensen, S. Schoenkopf,
    T. Midtgaard (1994). Multivariate Analysis in Practice. Camo, Trondheim.

    Examples
    --------
    >>> from robustsparse.datasets import octane
    >>> octane().loc[[1, 25], ["y", "V1", "V226"]]
               y        V1      V226
    sample
    1       88.6 -0.001834  0.029127
    25      89.0 -0.003880  0.117780
    """
    return _numbered(_read("octane.csv.gz"), "sample")


def golub() -> pd.DataFrame:
    """Load the expression of 3,051 genes in 38 leukemia patients.

    Returns
    -------
    DataFrame of shape (38, 3052)
        ``subtype``, ``'ALL'`` (27 patients) or ``'AML'`` (11), and a column for each probe,
        preprocessed log expression. Names such as ``AFFX-HUMISGF3A/M97935_MA_at`` need backticks
        in a formula; `golub_genes` describes them. The index is the patient number from 1 to 38.

    Notes
    -----
    Origin: ``golub`` of the Bioconductor package multtest 2.54 (LGPL-3 or later); T. R. Golub et al.
    (1999). Molecular classification of cancer: class discovery and class prediction by gene
    expression monitoring. Science 286, 531-537.

    Examples
    --------
    >>> from robustsparse.datasets import golub
    >>> golub().subtype.value_counts().to_dict()
    {'ALL': 27, 'AML': 11}
    """
    return _numbered(_read("golub.csv.gz"), "patient")


def golub_genes() -> pd.DataFrame:
    """Load what the probes of `golub` measure.

    Returns
    -------
    DataFrame of shape (3051, 2)
        ``gene``, the probe's name, and ``description``, in the order of the columns of `golub`.

    Notes
    -----
    Origin: as `golub`.

    Examples
    --------
    >>> from robustsparse.datasets import golub_genes
    >>> golub_genes().loc[1000, "description"]
    'ANX4 Annexin IV (placental anticoagulant protein II)'
    """
    return _read("golub_genes.csv.gz")


def winsorize(data: Data, n_sd: float = 5.0, *, fraction: float = 0.05) -> Data:
    """Pull extreme values of each variable in, as the paper does with the stocks' returns.

    A variable is clipped to within `n_sd` winsorized standard deviations of its winsorized mean.
    These two are the plain mean and standard deviation (with n - 1) after the
    ``floor(fraction * n)`` smallest and as many largest values have been replaced by the nearest
    value that remains. On Gaussian data this standard deviation is 0.91 times the usual one, so
    that 5 of them are 4.6 usual ones.

    Parameters
    ----------
    data : DataFrame, Series or ndarray of 1 or 2 dimensions
        A variable a column. Left as they are: missing values, columns that are not numbers, and
        variables whose winsorized standard deviation is zero (rare events, constants), which
        clipping would wipe out.
    n_sd : float
        Winsorized standard deviations to allow on either side.
    fraction : float
        Share of the values replaced on either side before mean and standard deviation.

    Returns
    -------
    Same type as `data`
        A copy, with the same labels.

    Examples
    --------
    >>> import numpy as np
    >>> from robustsparse.datasets import winsorize
    >>> values = np.append(np.tile([-1.0, 0.0, 1.0], 10), 1000.0)
    >>> print(winsorize(values).max().round(2))
    4.21
    """
    check_number("n_sd", n_sd, 0.0, open_low=True)
    check_number("fraction", fraction, 0.0, 0.5)
    if isinstance(data, pd.DataFrame):
        return data.apply(_clip_series, n_sd=n_sd, fraction=fraction)
    if isinstance(data, pd.Series):
        return _clip_series(data, n_sd, fraction)
    values = np.array(data, dtype=np.float64)
    if values.ndim not in (1, 2):
        raise DataError(
            f"winsorize takes a vector or a matrix; the data have shape {values.shape}."
        )
    return np.apply_along_axis(_clip, 0, values, n_sd, fraction, "array")


def _clip_series(column: pd.Series[Any], n_sd: float, fraction: float) -> pd.Series[Any]:
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return column.copy()
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    clipped = _clip(values, n_sd, fraction, f"column {column.name!r}")
    unchanged = np.array_equal(clipped, values, equal_nan=True)
    return column.copy() if unchanged else pd.Series(clipped, column.index, name=column.name)


def _clip(values: Array, n_sd: float, fraction: float, name: str) -> Array:
    present = np.sort(values[~np.isnan(values)])
    cut = min(int(fraction * len(present)), (len(present) - 1) // 2)
    inner = np.clip(present, *present[[cut, -1 - cut]]) if len(present) > 1 else present[:0]
    if np.isinf(inner).any():
        raise DataError(f"Too many infinite values in {name}: raise fraction or remove them.")
    if len(inner) == 0 or np.ptp(inner) == 0:
        return values.copy()
    center, reach = inner.mean(), n_sd * inner.std(ddof=1)
    return np.asarray(np.clip(values, center - reach, center + reach))


def _read(name: str) -> pd.DataFrame:
    """Read a file anew at each call, so that nobody can change another's copy."""
    for folder in FOLDERS:
        if (folder / name).is_file():
            # A wide table is read column by column and pandas warns that it is fragmented; a copy lies in one piece.
            return pd.read_csv(folder / name).copy()
    raise DataError(f"The data file {name!r} is missing; reinstall robustsparse to get it back.")


def _numbered(frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Number the rows from 1, as the literature on these data does."""
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name=axis), axis=0)
