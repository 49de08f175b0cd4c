"""Everything that a run measures."""

from dataclasses import dataclass, field
from typing import Any

from benchmarks.rows import ExactRow, FitRow, GrowthRow, LatencyRow, MemoryRow, ScaleRow, TimeRow


@dataclass(frozen=True)
class Results:
    """All tables of a run, with what they were measured on."""

    mode: str
    environment: dict[str, Any]
    times: list[TimeRow] = field(default_factory=list)
    fits: list[FitRow] = field(default_factory=list)
    growth: list[GrowthRow] = field(default_factory=list)
    memory: list[MemoryRow] = field(default_factory=list)
    latency: list[LatencyRow] = field(default_factory=list)
    exactness: list[ExactRow] = field(default_factory=list)
    scale: list[ScaleRow] = field(default_factory=list)
