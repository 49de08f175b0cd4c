"""`load`: models and graphs from the files that `save` wrote."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustsparse.base.errors import DataError
from robustsparse.base.text import listed
from robustsparse.base.zipped import damage_named
from robustsparse.graph.files import is_graph_file, read_graph
from robustsparse.graph.result import GraphResult
from robustsparse.regression.files import read_result
from robustsparse.regression.result import RHTResult
from robustsparse.regression.rht import repeat_call


def load(
    file: str | Path, context: Mapping[str, Any] | None = None, *, trusted: bool = False
) -> Any:
    """Read a model or a graph that `save` wrote, from wherever it comes.

    Nothing in the file runs when it is read. Its formula runs when the model predicts, within the limits of any
    formula: it can compute with the columns, and cannot import, read, write or start anything. A file that asks for far
    more memory than its size explains is refused before any of it is taken.

    Parameters
    ----------
    file : str or Path
        The file.
    context : dict, optional
        Functions of the user's own that a formula calls; they are not stored, and the formula may do with them what
        it likes.
    trusted : bool
        Lift these limits, for a file whose origin you know: its terms may be any Python code, and it may become
        however large.

    Returns
    -------
    RHTResult or GraphResult

    Examples
    --------
    >>> import tempfile
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=100, d=20, k=2, epsilon=0.1, rng=1)
    >>> fit = rs.rht("y ~ .", sim.data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(f"{folder}/model.rs")
    ...     again = rs.load(f"{folder}/model.rs")
    >>> again.predict(sim.data).equals(fit.predict(sim.data))
    True
    """
    if Path(file).is_dir():
        raise DataError(
            f"{str(file)!r} is a folder; load takes a file that save() wrote{_inside(file)}"
        )
    if is_graph_file(file):
        graph = read_graph(file, trusted=trusted)
        with damage_named(file):
            return GraphResult(**graph)
    return read_result(file, RHTResult, repeat_call, context, trusted)


def _inside(folder: str | Path) -> str:
    """The files of a folder, for a message."""
    files = sorted(path.name for path in Path(folder).iterdir() if path.is_file())
    return f"; in it are {listed(files, quote=False)}." if files else "."
