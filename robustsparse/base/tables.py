"""Tables from files and to files, by their endings."""

import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from robustsparse.base.atomic import written_whole
from robustsparse.base.errors import DataError, MissingDependencyError, ParameterError
from robustsparse.base.text import did_you_mean, listed

# What separates the cells of a text file, the likeliest first.
SEPARATORS = (",", "\t", ";", "|")
# Rows that are looked at to tell which.
_LOOK = 50
_COLUMNAR = (".parquet", ".feather", ".arrow")
# A file whose name ends like this, packed or not, is separated by tabs.
_TABS = (".tsv", ".tab")
_SHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
# What a spreadsheet would run as a formula.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def read_table(
    path: Path, *, sep: str | None = None, decimal: str | None = None, index: str | None = None
) -> pd.DataFrame:
    """A data frame from a CSV, TSV, parquet or feather file.

    Parameters
    ----------
    path : Path
        The file; text files may be packed.
    sep : str, optional
        What separates cells in a text file; comma, tab, semicolon or bar is told from its first lines.
    decimal : str, optional
        The decimal sign; a comma where semicolons separate cells that have one, else a point.
    index : str, optional
        Column with the labels of the rows. A first column without a name is taken for them.

    Raises
    ------
    DataError
        If the file is none of these.
    """
    if path.suffix.lower() in _SHEETS:
        raise DataError(
            f"{str(path)!r} is a file of spreadsheets; save the one with the data as CSV."
        )
    columnar = path.suffix.lower() in _COLUMNAR
    frame = _columnar(path) if columnar else _text(path, sep, decimal)
    return frame if index is None else _labelled(frame, index)


def _columnar(path: Path) -> pd.DataFrame:
    ending = path.suffix.lower()
    read = pd.read_parquet if ending == ".parquet" else pd.read_feather
    # A file that is missing or closed to us is told as such; pyarrow has an error of input for everything.
    path.open("rb").close()
    try:
        return read(path)
    except ImportError as error:
        raise MissingDependencyError(
            f"{str(path)!r} needs pyarrow; install it with: pip install robustsparse[parquet]"
        ) from error
    except Exception as error:
        raise _unreadable(path, f"a {ending[1:]} file", error) from error


def _text(path: Path, sep: str | None, decimal: str | None) -> pd.DataFrame:
    try:
        sep = sep or _separator(path)
        frame = _csv(path, sep=sep, decimal=decimal or ".")
        if decimal is None and sep == ";" and _has_commas(frame):
            frame = _csv(path, sep=sep, decimal=",")
    except OSError:
        raise
    except Exception as error:
        # Wrong bytes, lines of different lengths and an empty file are of one kind, each packed format has its own.
        raise _unreadable(path, "a CSV file in UTF-8 with a header line", error) from error
    if frame.columns[0] == "Unnamed: 0" and frame.shape[1] > 1:
        # As R and pandas write the labels of rows.
        frame = frame.set_index("Unnamed: 0").rename_axis(None)
    return frame


def _csv(path: Path, **how: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        # A column of mixed types is met by our own checks, which name the values.
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        frame: pd.DataFrame = pd.read_csv(path, **how)
        return frame


def _separator(path: Path) -> str:
    """What makes the most columns of the first lines."""
    name = path.name.lower()
    if any(part in name for part in _TABS):
        return "\t"
    widths = {}
    for sep in SEPARATORS:
        try:
            widths[sep] = _csv(path, sep=sep, nrows=_LOOK).shape[1]
        except pd.errors.ParserError:
            continue
    # Where nothing does, the comma's own message is the one to give.
    found = max(widths, key=widths.__getitem__, default=",")
    return found if widths.get(found, 1) > 1 or "," in widths else ","


def _has_commas(frame: pd.DataFrame) -> bool:
    """Whether a column of text looks like numbers with a comma for the point."""
    texts = frame.select_dtypes(exclude="number").head(_LOOK)
    return any(
        column.dropna().astype(str).str.fullmatch(r"-?\d+,\d+").any() for _, column in texts.items()
    )


def _unreadable(path: Path, what: str, error: Exception) -> DataError:
    reason = [*str(error).strip().splitlines(), type(error).__name__][0]
    return DataError(f"{str(path)!r} cannot be read as {what} ({reason}).")


def _labelled(frame: pd.DataFrame, index: str) -> pd.DataFrame:
    if index not in frame.columns:
        hint = did_you_mean(index, map(str, frame.columns))
        raise DataError(f"there is no column {index!r} for the labels of the rows{hint or '.'}")
    return frame.set_index(index).rename_axis(None)


# -------------------------------------------------------------------------------------- writing


def write_table(frame: pd.DataFrame, path: Path, *, index: bool = True) -> None:
    """Write a frame to a CSV, TSV, JSON, HTML, parquet or feather file, whole or not at all.

    Parameters
    ----------
    frame : DataFrame
        The table.
    path : Path
        The file.
    index : bool
        Whether the labels of the rows are written too, as a first column called `row`.
    """
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise ParameterError(
            f"{str(path)!r} ends in none of {listed(WRITERS, quote=False, most=len(WRITERS))}."
        )
    table = frame.rename_axis("row").reset_index() if index else frame
    with written_whole(path) as partial:
        try:
            writer(table, partial)
        except ImportError as error:
            raise MissingDependencyError(
                f"{str(path)!r} needs pyarrow; install it with: pip install robustsparse[parquet]"
            ) from error


def to_csv(table: pd.DataFrame, target: Any, sep: str = ",") -> None:
    """Comma separated values, in which no text is a formula to a spreadsheet."""
    safe = table.copy()
    for name in safe.columns[[not pd.api.types.is_numeric_dtype(t) for t in safe.dtypes]]:
        safe[name] = safe[name].map(no_formula, na_action="ignore")
    # In quotes, or a return within a name would end its line.
    safe.to_csv(target, index=False, quoting=csv.QUOTE_NONNUMERIC, sep=sep)


def no_formula(value: Any) -> Any:
    """Text that a spreadsheet would evaluate with an apostrophe before it; anything else as it is.

    Examples
    --------
    >>> no_formula("=1+1"), no_formula("a"), no_formula(-1)
    ("'=1+1", 'a', -1)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_SIGNS) else value


def _to_json(table: pd.DataFrame, path: Path) -> None:
    table.to_json(path, orient="records", indent=1, date_format="iso", double_precision=15)


def _to_html(table: pd.DataFrame, path: Path) -> None:
    table.to_html(path, index=False, border=0)


WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    ".csv": to_csv,
    ".tsv": lambda table, path: to_csv(table, path, "\t"),
    ".json": _to_json,
    ".html": _to_html,
    ".parquet": lambda table, path: table.to_parquet(path),
    ".feather": lambda table, path: table.to_feather(path),
}
