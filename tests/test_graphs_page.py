"""docs/graphs.py: its data are what it says, its measures are right, and few runs write no page."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from docs import graphs as script


def test_f1_by_hand() -> None:
    truth = np.zeros((4, 4), dtype=bool)
    truth[0, 1] = truth[1, 0] = truth[1, 2] = truth[2, 1] = True
    found = np.zeros_like(truth)
    found[0, 1] = found[1, 0] = found[0, 3] = found[3, 0] = True
    assert script.f1(sparse.csr_array(found), truth) == pytest.approx(0.5)
    assert script.f1(sparse.csr_array(truth), truth) == 1.0


def test_a_trial_has_every_method_on_the_same_graph() -> None:
    rows = script.trial("band", "low-variance outliers", 0)
    assert [row["method"] for row in rows] == [*script.METHODS, script.ORACLE]
    own = rows[0]
    assert own["true"] == 49
    assert own["F1"] > 0.9
    assert own["bad"] == 1.0
    assert own["good"] < 0.02


def runs(default: float) -> pd.DataFrame:
    f1 = dict.fromkeys((*script.METHODS, script.ORACLE), 0.5) | {script.DEFAULT: default}
    return pd.DataFrame(
        [
            {
                "setting": "two populations",
                "graph": "hub",
                "seed": seed,
                "method": name,
                "F1": value,
            }
            for name, value in f1.items()
            for seed in range(2)
        ]
    )


def test_bars_are_missed_where_they_are() -> None:
    first, second = script.f1_table(runs(0.49))
    assert (first["bar"], second["bar"]) == ("**missed**", "met")
    assert first["minus SKEPTIC"] == "-0.010 (0.000)"
    assert script.f1_table(runs(0.5))[0]["bar"] == "met"


def test_some_lines_of_a_page_are_made_anew_and_the_others_stay() -> None:
    head = "| setting | graph | F1 |\n|---|---|---|\n"
    old = f"# Page\n\n## One\n\n{head}| a | hub | 1 |\n| b | hub | 2 |\n\n## Two\n\n{head}| b | hub | 3 |\n"
    new = f"# Page\n\n## One\n\n{head}| b | hub | 7 |\n\n## Two\n\n"
    assert script.renewed(old, new) == old.replace("| 2 |", "| 7 |")
    assert script.renewed(script.PAGE.read_text(), "") == script.PAGE.read_text()


def test_panels_compare_with_the_good_rows() -> None:
    rows = script.panel_trial("5% cells at ±10", 0)
    area = {row["method"]: row["area"] for row in rows}
    assert 0.2 < area["default"] < area["oracle"] + 0.1


def test_few_runs_write_no_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = script.PAGE.read_text() if script.PAGE.exists() else None
    monkeypatch.setattr(sys, "argv", ["graphs.py", "--seeds", "1"])
    monkeypatch.setattr(script, "page", lambda seeds, jobs, only: f"{seeds} seeds")
    script.main()
    assert "1 seeds" in capsys.readouterr().out
    assert (script.PAGE.read_text() if script.PAGE.exists() else None) == before
