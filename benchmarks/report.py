"""Results as JSON, as Markdown tables and as figures."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from benchmarks import bars, figures, graphs, tables
from benchmarks.results import Results
from benchmarks.rows import ScaleRow
from benchmarks.timing import Ratio

HERE = Path(__file__).resolve().parent
# What is kept of a run of the section `scale`.
_SCALE = ("mode", "environment", "scale")
_BEGIN, _END = "<!-- results begin -->", "<!-- results end -->"


def machine(results: Results) -> str:
    e = results.environment
    libraries = ", ".join(f"{name} {version}" for name, version in e["libraries"].items())
    load = "" if e["load_before"] is None else f" Load before the run: {e['load_before']:.1f}."
    minutes = f" The run took {e['minutes']:.0f} minutes." if "minutes" in e else ""
    return (
        f"Mode: {results.mode}; commit {e['commit']}, {e['date']}. {e['processor']}, {e['cores']} cores, "
        f"{e['system']}, Python {e['python']}; {libraries}.{load}{minutes}"
    )


def _sections(results: Results) -> Iterator[tuple[str, str]]:
    """Titles and tables."""
    yield "Bars", bars.table(results)
    for section, rows in groupby(results.times, key=lambda row: row.section):
        yield section, (tables.pairs if section == graphs.SECTION else tables.times)(list(rows))
    if results.fits:
        yield "Whole fits (σ = 0.5)", tables.fits(results.fits)
    if results.growth:
        yield "Growth", tables.growth(results.growth)
    if results.memory:
        yield "Memory", tables.memory(results.memory)
    if results.latency:
        yield "In a new process", tables.latency(results.latency)
    if results.exactness:
        yield "Exactness", tables.exactness(results.exactness)
    if results.scale:
        yield "Scale", tables.scale(results.scale)


def markdown(results: Results) -> str:
    """All tables, each with its figure if there is one."""
    parts = [machine(results)]
    for title, text in _sections(results):
        parts += [f"### {title}", text]
        parts += [
            f"![{figure.words}](figures/{figure.file})"
            for figure in figures.FIGURES
            if title.startswith(figure.section)
        ]
    return "\n\n".join(parts)


def save(results: Results, folder: Path = HERE) -> None:
    """Write `results.json`, the figures, and the tables into `README.md` between its two marks."""
    text = json.dumps(asdict(results), indent=1, ensure_ascii=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    figures.save(results, folder / "figures")
    readme = folder / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(_BEGIN)
    after = rest.split(_END)[1]
    block = f"{_BEGIN}\n\n{markdown(results)}\n\n{_END}"
    readme.write_text(before + block + after, encoding="utf-8")


def save_scale(results: Results, folder: Path = HERE) -> None:
    """Write `scale.json`, of which `python docs/scale.py` makes the tables of docs/scale.md."""
    kept = {name: value for name, value in asdict(results).items() if name in _SCALE}
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    (folder / "scale.json").write_text(text + "\n", encoding="utf-8")


def load_scale(folder: Path = HERE) -> Results:
    """The run that `save_scale` wrote."""
    stored = json.loads((folder / "scale.json").read_text(encoding="utf-8"))
    rows = [
        ScaleRow(**{**row, "ratio": None if row["ratio"] is None else Ratio(**row["ratio"])})
        for row in stored["scale"]
    ]
    return Results(stored["mode"], stored["environment"], scale=rows)
