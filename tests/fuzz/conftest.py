"""What the fuzzers share."""

import pytest


@pytest.fixture(scope="session")
def long(pytestconfig: pytest.Config) -> bool:
    """Whether the fuzzers run for long."""
    return bool(pytestconfig.getoption("--long"))
