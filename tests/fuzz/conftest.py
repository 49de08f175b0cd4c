"""What the fuzzers share."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

# Peak above the start that a fuzzer may reach.
MOST_MEMORY = 200 << 20
_STATUS = Path("/proc/self/status")


@pytest.fixture(scope="session")
def long(pytestconfig: pytest.Config) -> bool:
    """Whether the fuzzers run for long."""
    return bool(pytestconfig.getoption("--long"))


def _peak() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text()) if _STATUS.exists() else None
    return 1024 * int(found[1]) if found else 0


@pytest.fixture(scope="module")
def bounded_memory() -> Iterator[None]:
    """Assert that a module of tests takes no more memory than it should."""
    before = _peak()
    yield
    assert _peak() - before < MOST_MEMORY
