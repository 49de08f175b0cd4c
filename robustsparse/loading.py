"""`load`: models and graphs from the files that `save` wrote."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustsparse.graph.files import is_graph_file
from robustsparse.graph.result import load_graph
from robustsparse.regression.files import read_result
from robustsparse.regression.intervals import rerun
from robustsparse.regression.result import Made, RHTResult


def load(file: str | Path, context: Mapping[str, Any] | None = None) -> Any:
    """Read a model or a graph that `save` wrote; nothing in the file can run.

    Parameters
    ----------
    file : str or Path
        The file.
    context : dict, optional
        Functions of the user's own that a formula calls; they are not stored.

    Returns
    -------
    RHTResult or GraphResult
    """
    if is_graph_file(file):
        return load_graph(file)
    return read_result(file, (RHTResult, Made), rerun, context)
