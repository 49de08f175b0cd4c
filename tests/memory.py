"""How much memory a piece of a test takes at its peak."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _bytes(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", _STATUS.read_text())
    return 1024 * int(found[1]) if found else 0


@contextmanager
def at_most(limit: int) -> Iterator[None]:
    """Assert that the block takes at most so many bytes more than there were; only Linux can tell."""
    try:
        # Sets the peak back to what is in use now.
        _RESET.write_text("5")
        before = _bytes("VmRSS")
    except OSError:
        yield
        return
    yield
    assert _bytes("VmHWM") - before < limit
