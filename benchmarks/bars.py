"""All bars of the project in one list: what was measured, and whether it keeps to them."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks import tables
from benchmarks.results import Results


@dataclass(frozen=True)
class Bar:
    """One figure that has a bar; without a value the note says why."""

    what: str
    value: float | None
    bar: float
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether it was measured and is small enough."""
        return self.value is not None and self.value <= self.bar


def _ratios(results: Results) -> Iterator[Bar]:
    for r in results.times:
        if r.bar is not None:
            what = f"{r.section}, {r.problem}, {r.threads} thread{'s' * (r.threads > 1)}: {r.ours} / {r.other}"
            yield Bar(what, None if r.ratio is None else r.ratio.median, r.bar, r.note)
    for f in results.fits:
        if f.bar is not None:
            what = f"Whole fit, {f.problem}, {f.attack}: rht_fit / {f.method}"
            yield Bar(what, None if f.ratio is None else f.ratio.median, f.bar, f.note)


def every(results: Results) -> list[Bar]:
    """All of them, in the order of the tables."""
    out = list(_ratios(results))
    for g in results.growth:
        if g.bar is not None:
            out.append(Bar(f"Exponent of {g.method} in {g.axis}", g.exponent, g.bar))
    for m in results.memory:
        if m.bar is not None:
            note = "" if m.peak is not None else "not measured"
            out.append(Bar(f"Memory of {m.call}, {m.data}, over X", m.peak, m.bar, note))
    for s in results.latency:
        if s.bar_seconds is not None:
            out.append(Bar(f"Seconds: {s.what}", s.seconds, s.bar_seconds))
    for e in results.exactness:
        out.append(Bar(f"Difference from a sorting loop, {e.problems} problems", e.largest, e.bar))
    out.extend(_scales(results))
    return out


def _scales(results: Results) -> Iterator[Bar]:
    for r in results.scale:
        what = f"Columns in {r.where}, {r.rows:,} × {r.columns:,}"
        if r.ratio is not None and r.ratio_bar is not None:
            yield Bar(f"{what}: {r.clock} time / memory", r.ratio.median, r.ratio_bar)
        if r.passes_bar is not None:
            yield Bar(f"{what}: passes", float(r.passes), r.passes_bar)
        if r.peak is not None and r.peak_bar is not None:
            yield Bar(f"{what}: peak memory, GB", r.peak / 1e9, r.peak_bar / 1e9)
        yield Bar(f"{what}: true predictors missed", float(r.true - r.found), 0.0)


def table(results: Results) -> str:
    """How many are met, then one line each."""
    bars = every(results)
    measured = [bar for bar in bars if bar.value is not None]
    count = f"{sum(bar.met for bar in measured)} of {len(measured)} bars that could be measured are met."
    lines = [
        (
            bar.what,
            bar.note if bar.value is None else tables.number(bar.value),
            tables.met(bar.value, bar.bar) or f"≤ {tables.number(bar.bar)}",
        )
        for bar in bars
    ]
    return f"{count}\n\n{tables.table(('what', 'measured', 'bar'), lines)}"
