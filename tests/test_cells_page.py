"""docs/cells.py: its data are what it says, its measures are right, and few runs write no page."""

import sys

import numpy as np
import pandas as pd
import pytest

from docs import cells as script


class TestData:
    @pytest.mark.parametrize("kind", script.KINDS)
    def test_cells_are_spoiled_in_their_share_and_no_others(self, kind: str) -> None:
        rng = np.random.default_rng(0)
        X = script.predictors(rng, 200, 30)
        Y, wrong = script.spoiled(rng, X, 0.1, kind)
        np.testing.assert_array_equal(Y[~wrong], X[~wrong])
        assert 0.08 < wrong.mean() < 0.12
        assert (Y[wrong] != X[wrong]).mean() > 0.9

    def test_bad_rows_are_a_tenth(self) -> None:
        rng, X, y, beta, _ = script.linear(1, 100, 20)
        for attack in ("vertical", "leverage"):
            _, other, bad = script.attacked(rng, X, y, beta, attack)
            assert bad.sum() == 10
            np.testing.assert_array_equal(other[~bad], y[~bad])


class TestMeasures:
    def test_error_and_f1(self) -> None:
        got = script.measures(np.array([3.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]))
        assert got["error"] == pytest.approx(3.0)
        assert got["f1"] == pytest.approx(2 / 3)

    def test_bars_are_missed_where_they_are(self) -> None:
        base = {
            "attack": "",
            "d": 200,
            "share": 0.02,
            "kind": "999",
            "method": "default",
            "oracle": 1.0,
        }
        good = pd.DataFrame([{**base, "error": 1.5, "f1": 0.9, "found": 1.0}])
        assert script.wrong_table(good)[0]["bar"] == "met"
        assert script.wrong_table(good.assign(error=1.7))[0]["bar"] == "**missed**"
        assert script.wrong_table(good.assign(f1=0.8))[0]["bar"] == "**missed**"

    def test_a_trial_has_every_method(self) -> None:
        rows = script.wrong_trial(200, "999", 0.02, "vertical", 1)
        assert [row["method"] for row in rows] == [*script.METHODS, "LassoCV, clipped"]
        own = next(row for row in rows if row["method"] == "default")
        assert own["error"] < 3 * own["oracle"]
        assert own["found"] > 0.9


def test_few_runs_write_no_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = script.PAGE.read_text() if script.PAGE.exists() else None
    monkeypatch.setattr(sys, "argv", ["cells.py", "--seeds", "1"])
    monkeypatch.setattr(script, "page", lambda seeds, jobs: f"{seeds} seeds")
    script.main()
    assert "1 seeds" in capsys.readouterr().out
    assert (script.PAGE.read_text() if script.PAGE.exists() else None) == before
