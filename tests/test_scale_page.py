"""docs/scale.md shows the run that is stored, and says what it missed."""

from dataclasses import replace

from benchmarks import report
from docs import scale


def test_the_page_is_that_of_the_stored_run() -> None:
    page = scale.PAGE.read_text(encoding="utf-8")
    assert scale.page_with(page, scale.measured(report.load_scale())) == page


def test_what_is_missed_is_named() -> None:
    run = report.load_scale()
    file = next(row for row in run.scale if row.where == "file")
    good = replace(run, scale=[replace(file, found=file.true, passes=1, ratio=None)])
    assert scale.verdict(good) == "All 2 goals are met."
    bad = replace(run, scale=[replace(file, found=file.true - 3, passes=11, ratio=None)])
    told = scale.verdict(bad)
    assert "2 of 2 goals are missed" in told
    assert "passes (11, goal 10)" in told
    assert "true predictors missed (3, goal 0)" in told
