"""Markdown tables of the rows."""

from collections.abc import Iterable, Sequence
from math import isfinite

from benchmarks.rows import ExactRow, FitRow, GrowthRow, LatencyRow, MemoryRow, ScaleRow, TimeRow
from benchmarks.timing import Ratio


def number(value: float) -> str:
    """Three digits, or thousands with commas."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def spread(ratio: Ratio | None) -> str:
    """Median, and quartiles if there was more than one round."""
    if ratio is None:
        return "–"
    middle = number(ratio.median)
    if ratio.rounds == 1:
        return middle
    return f"{middle} ({number(ratio.low)}–{number(ratio.high)})"


def met(value: float | None, bar: float | None) -> str:
    """The bar, and whether the value keeps it."""
    if bar is None or value is None:
        return ""
    return f"≤ {number(bar)} {'✓' if isfinite(value) and value <= bar else '✗'}"


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    cells = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _median(ratio: Ratio | None) -> float | None:
    return None if ratio is None else ratio.median


def times(rows: Sequence[TimeRow]) -> str:
    """One line a problem and number of threads, one column a pair that is compared."""
    pairs = list(dict.fromkeys((r.ours, r.other) for r in rows))
    header = ["problem", "threads", *(f"{ours} / {other}" for ours, other in pairs)]
    lines: dict[tuple[str, int], dict[tuple[str, str], str]] = {}
    for r in rows:
        cell = f"{spread(r.ratio)} {met(_median(r.ratio), r.bar)}".strip()
        lines.setdefault((r.problem, r.threads), {})[r.ours, r.other] = cell
    return table(
        header,
        [
            (problem, str(threads), *(cells.get(pair, "") for pair in pairs))
            for (problem, threads), cells in lines.items()
        ],
    )


def pairs(rows: Sequence[TimeRow]) -> str:
    """One line a pair, for sections with one problem and many pairs."""
    header = ("problem", "threads", "compared", "ratio (quartiles)", "seconds of the first", "bar")
    return table(
        header,
        [
            (
                r.problem, str(r.threads), f"{r.ours} / {r.other}", r.note or spread(r.ratio),
                f"{r.seconds:.2f}", met(_median(r.ratio), r.bar),
            )
            for r in rows
        ],
    )  # fmt: skip


def _fit(r: FitRow) -> tuple[str, ...]:
    if r.error is None or r.f1 is None:
        return r.problem, r.attack, r.method, r.note, "–", "–", ""
    error = f"{number(r.error[0])} ({number(r.error[1])}–{number(r.error[2])})"
    bar = met(_median(r.ratio), r.bar)
    return r.problem, r.attack, r.method, spread(r.ratio), error, f"{r.f1:.2f}", bar


def fits(rows: Sequence[FitRow]) -> str:
    """One line a method."""
    header = (
        "problem", "bad rows", "method", "time of rht_fit over its time",
        "‖β̂ − β*‖ (quartiles)", "F1", "bar",
    )  # fmt: skip
    return table(header, map(_fit, rows))


def memory(rows: Sequence[MemoryRow]) -> str:
    """One line a call."""
    header = ("problem", "data", "call", "peak beyond the data, over X", "X, MB", "bar")
    return table(
        header,
        [
            (
                r.problem, r.data, r.call, "not measured" if r.peak is None else f"{r.peak:.2f}",
                f"{r.megabytes:.0f}", met(r.peak, r.bar),
            )
            for r in rows
        ],
    )  # fmt: skip


def growth(rows: Sequence[GrowthRow]) -> str:
    """One line a method and quantity."""
    header = ("time of", "grows with", "from", "to", "largest n·d", "while", "exponent", "bar")
    return table(
        header,
        [
            (
                r.method, r.axis, f"{r.sizes[0]:,}", f"{r.sizes[-1]:,}", f"{r.entries:.0e}",
                r.fixed, f"{r.exponent:.2f}", met(r.exponent, r.bar),
            )
            for r in rows
        ],
    )  # fmt: skip


def latency(rows: Sequence[LatencyRow]) -> str:
    """One line a thing that happens once a process."""
    header = ("what", "over", "ratio (quartiles)", "seconds", "bar, seconds")
    return table(
        header,
        [
            (r.what, r.yardstick, spread(r.ratio), f"{r.seconds:.2f}", met(r.seconds, r.bar_seconds))
            for r in rows
        ],
    )  # fmt: skip


def exactness(rows: Sequence[ExactRow]) -> str:
    """One line."""
    header = ("random problems", "largest difference of coefficients", "bar")
    return table(
        header, [(str(r.problems), f"{r.largest:.1e}", met(r.largest, r.bar)) for r in rows]
    )


def _gigabytes(peak: float | None) -> str:
    return "" if peak is None else f"{peak / 1e9:.2f}"


def scale(rows: Sequence[ScaleRow]) -> str:
    """One line a fit."""
    header = (
        "columns in", "n × d", "passes", "seconds", "CPU s", "over memory", "driver + busier worker, CPU over memory",
        "peak, GB", "predictors found", "difference", "load",
    )  # fmt: skip
    return table(
        header,
        [
            (
                r.where, f"{r.rows:,} × {r.columns:,}", str(r.passes or ""), number(r.seconds), number(r.cpu),
                "" if r.ratio is None else f"{spread(r.ratio)} {r.clock}",
                "" if r.longest is None else number(r.longest), _gigabytes(r.peak),
                f"{r.found} of {r.true}", "" if r.difference is None else f"{r.difference:.0e}",
                "" if r.load is None else f"{r.load:.0f}",
            )
            for r in rows
        ],
    )  # fmt: skip
