"""`python docs/scale.py` puts the last run of `python -m benchmarks --only scale --full` into docs/scale.md."""

from pathlib import Path

from benchmarks import bars, report, tables
from benchmarks.results import Results

PAGE = Path(__file__).parent / "scale.md"
BEGIN, END = "<!-- measured -->", "<!-- end -->"


def verdict(results: Results) -> str:
    """Which goals are missed, in a sentence."""
    every = bars.every(results)
    missed = [
        f"{bar.what.removeprefix('Columns in ')} ({tables.number(bar.value)}, goal {tables.number(bar.bar)})"
        for bar in every
        if bar.value is not None and not bar.met
    ]
    if not missed:
        return f"All {len(every)} goals are met."
    return f"**{len(missed)} of {len(every)} goals are missed**: {'; '.join(missed)}."


def measured(results: Results) -> str:
    """The tables of a run, with what it ran on and what it missed."""
    parts = [
        report.machine(results),
        verdict(results),
        tables.scale(results.scale),
        bars.table(results),
    ]
    return "\n\n".join(parts)


def page_with(page: str, text: str) -> str:
    """The page with new tables."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Write the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page_with(page, measured(report.load_scale())), encoding="utf-8")


if __name__ == "__main__":
    main()
