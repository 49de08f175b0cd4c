"""Amounts of memory: as people write them, and as much as there is."""

import os
import re
from typing import Any

from robustsparse.base.errors import ParameterError
from robustsparse.base.text import shown

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
# Less than this cannot hold the package and its libraries beside the data.
_LEAST = 50 * 10**6
# What is assumed where the system does not say.
_USUAL = 4 * 10**9


def bytes_of(memory: Any) -> int:
    """Number of bytes that an argument `memory` asks for.

    Examples
    --------
    >>> bytes_of("1.5GB"), bytes_of("500 MB"), bytes_of(2e9)
    (1500000000, 500000000, 2000000000)
    """
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)i?b?\s*", str(memory).lower())
    try:
        amount = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    except (ValueError, OverflowError):
        amount = 0
    if isinstance(memory, bool) or amount < _LEAST:
        raise ParameterError(
            f"memory={shown(memory)} must be a number of bytes or a text such as '4GB', 50MB at least."
        )
    return amount


def available() -> int:
    """Bytes of memory that programs can still have.

    Examples
    --------
    >>> available() > 0
    True
    """
    try:
        with open("/proc/meminfo") as lines:
            told = dict(line.split(":", 1) for line in lines)
        return int(told["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return _USUAL
