"""Whether the user is told that code is compiled, which the first calls of an installation wait for."""

import sys
from multiprocessing import current_process

_TOLD = "robustsparse: compiling for this computer, once; the first calls take some seconds longer."
# Whether a line is still to be written when code is compiled: what the last call asked for, until it was written.
_wanted, _written = True, False


def tell_of_compiling(verbose: bool | None) -> None:
    """From now on tell when code is compiled, unless `verbose` is False."""
    global _wanted
    _wanted = verbose is not False


def compiling_begins() -> None:
    """Tell it on the standard error, once in a process; workers leave that to the process that started them."""
    global _written
    if _wanted and not _written and current_process().name == "MainProcess":
        _written = True
        print(_TOLD, file=sys.stderr, flush=True)
