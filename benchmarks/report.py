"""Results as JSON and as Markdown tables."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.rows import FitRow, LatencyRow, TimeRow
from benchmarks.timing import Ratio

HERE = Path(__file__).resolve().parent
_BEGIN, _END = "<!-- results begin -->", "<!-- results end -->"


@dataclass(frozen=True)
class Results:
    """All tables of a run, with what they were measured on."""

    mode: str
    environment: dict[str, Any]
    times: list[TimeRow]
    fits: list[FitRow]
    latency: list[LatencyRow]


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _spread(ratio: Ratio | None) -> str:
    if ratio is None:
        return "–"
    middle = _number(ratio.median)
    if ratio.rounds == 1:
        return middle
    return f"{middle} ({_number(ratio.low)}–{_number(ratio.high)})"


def _met(value: float, bar: float | None) -> str:
    if bar is None:
        return ""
    return f"≤ {_number(bar)} {'✓' if value <= bar else '✗'}"


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    cells = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _time_table(rows: Sequence[TimeRow]) -> str:
    """One line a problem and number of threads, one column a pair that is compared."""
    pairs = list(dict.fromkeys((r.ours, r.other) for r in rows))
    header = ["problem", "threads", *(f"{ours} / {other}" for ours, other in pairs)]
    lines: dict[tuple[str, int], dict[tuple[str, str], str]] = {}
    for r in rows:
        cell = f"{_spread(r.ratio)} {_met(r.ratio.median, r.bar)}".strip()
        lines.setdefault((r.problem, r.threads), {})[r.ours, r.other] = cell
    return _table(
        header,
        [
            (problem, str(threads), *(cells.get(pair, "") for pair in pairs))
            for (problem, threads), cells in lines.items()
        ],
    )


def _fit_line(r: FitRow) -> tuple[str, ...]:
    if r.error is None or r.f1 is None:
        return r.problem, r.attack, r.method, r.note, "–", "–", ""
    error = f"{_number(r.error[0])} ({_number(r.error[1])}–{_number(r.error[2])})"
    met = _met(r.ratio.median, r.bar) if r.ratio else ""
    return r.problem, r.attack, r.method, _spread(r.ratio), error, f"{r.f1:.2f}", met


def _fit_table(rows: Sequence[FitRow]) -> str:
    header = (
        "problem", "bad rows", "method", "time of rht_fit over its time",
        "‖β̂ − β*‖ (quartiles)", "F1", "bar",
    )  # fmt: skip
    return _table(header, map(_fit_line, rows))


def _latency_table(rows: Sequence[LatencyRow]) -> str:
    header = ("what", "over", "ratio (quartiles)", "seconds", "bar, seconds")
    return _table(
        header,
        [
            (r.what, r.yardstick, _spread(r.ratio), f"{r.seconds:.2f}", _met(r.seconds, r.bar_seconds))
            for r in rows
        ],
    )  # fmt: skip


def _machine(results: Results) -> str:
    e = results.environment
    libraries = ", ".join(f"{name} {version}" for name, version in e["libraries"].items())
    load = "" if e["load_before"] is None else f" Load before the run: {e['load_before']:.1f}."
    return (
        f"Mode: {results.mode}; commit {e['commit']}, {e['date']}. {e['processor']}, {e['cores']} cores, "
        f"{e['system']}, Python {e['python']}; {libraries}.{load}"
    )


def markdown(results: Results) -> str:
    """All tables."""
    parts = [_machine(results)]
    for section, rows in groupby(results.times, key=lambda row: row.section):
        parts += [f"### {section}", _time_table(list(rows))]
    parts += ["### Whole fits (σ = 0.5)", _fit_table(results.fits)]
    parts += ["### In a new process", _latency_table(results.latency)]
    return "\n\n".join(parts)


def save(results: Results, folder: Path = HERE) -> None:
    """Write `results.json`, and the tables into `README.md` between its two marks."""
    text = json.dumps(asdict(results), indent=1, ensure_ascii=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    readme = folder / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(_BEGIN)
    after = rest.split(_END)[1]
    tables = f"{_BEGIN}\n\n{markdown(results)}\n\n{_END}"
    readme.write_text(before + tables + after, encoding="utf-8")
