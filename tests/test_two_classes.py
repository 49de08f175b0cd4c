"""docs/two_classes.py: its data are what it says, its measures are right, and few runs write no page."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from docs import two_classes as script


def errors(gaps: list[float], rival: str = "lasso") -> pd.DataFrame:
    """Runs of two methods, the default so much above the rival."""
    rows = [
        {"data": "some", "seed": seed, "method": method, "error": error, "seconds": 1.0}
        for seed, gap in enumerate(gaps)
        for method, error in (("default", 0.2 + gap), (rival, 0.2), ("bad", 0.5))
    ]
    return pd.DataFrame(rows)


class TestMethods:
    @pytest.mark.parametrize("penalty", ["l1", "l2"])
    def test_penalized_coefficients_are_in_units_of_the_columns(self, penalty: str) -> None:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 6))
        y = (X[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(float)
        units, origins = np.geomspace(0.01, 100, 6), np.arange(6.0)
        plain = script.penalized(penalty, X, y)
        other = script.penalized(penalty, X * units + origins, y)
        np.testing.assert_allclose(other[1:] * units, plain[1:], atol=0.02)
        np.testing.assert_allclose(other[0] + origins @ other[1:], plain[0], atol=0.02)
        # The true sign is right in 85% of such rows.
        assert np.mean((plain[0] + X @ plain[1:] > 0) == y) > 0.75

    def test_every_method_classifies_the_papers_data(self) -> None:
        rows = script.lda_trial(16, 0.0, 1, predict=True)
        assert [row["method"] for row in rows] == list(script.LDA_METHODS)
        assert all(0.15 < row["error"] < 0.45 for row in rows)

    def test_the_slow_method_can_be_left_out(self) -> None:
        assert script.available(script.LDA_METHODS, False) == [
            m for m in script.LDA_METHODS if m != "predict"
        ]


class TestComparison:
    @pytest.mark.parametrize(
        ("gaps", "allowed", "met"),
        [
            ([0.01, 0.02], 0.02, True),
            ([0.03, 0.02], 0.02, False),
            ([-0.1, 0.05], None, True),
            ([0.0, 0.0], None, False),
        ],
    )
    def test_bar(self, gaps: list[float], allowed: float | None, met: bool) -> None:
        rows, verdicts = script.compared(
            errors(gaps), ["data"], ["lasso", "bad", "absent"], lambda key: allowed
        )
        assert verdicts[0].startswith("- met" if met else "- **missed**")
        assert rows[0]["gap"] == f"{np.mean(gaps):+.3f}"
        assert (rows[0]["lasso"], rows[0]["bad"]) == ("0.200", "0.500")


class TestData:
    @pytest.mark.parametrize("how", script.FLIPS)
    def test_flips_are_those_that_were_asked_for(self, how: str) -> None:
        rng = np.random.default_rng(3)
        _, y, beta, odds = script.logistic_rows(400, rng)
        wrong = script.flipped(y, odds, how, rng)
        assert wrong.sum() == round(script.FLIPS[how] * 400)
        assert np.count_nonzero(beta) == script.TERMS
        np.testing.assert_allclose(np.std(odds), script.SPREAD)
        if how == "sure rows":
            assert np.abs(odds[wrong]).min() >= np.abs(odds[~wrong]).max()
        if how == "one class":
            assert (y[wrong] == 1).all()

    @pytest.mark.parametrize("how", script.SPOILS)
    def test_one_row_in_ten_is_spoiled(self, how: str) -> None:
        rng = np.random.default_rng(4)
        X, y, beta, _ = script.logistic_rows(300, rng)
        new, labels = script.spoiled(X, y, beta, how, rng)
        far = (new != X).any(axis=1)
        assert far.sum() == (30 if how == "10% leverage" else 0)
        assert ((new[far] @ beta > 0) != labels[far]).all()
        if not far.any():
            assert (labels != y).sum() == (30 if how == "10% flips" else 0)

    def test_best_flags_are_the_likely_ones(self) -> None:
        odds, y = np.array([4.0, 4.0, 0.5, -4.0]), np.array([0.0, 1.0, 0.0, 1.0])
        assert script.more_likely_wrong(y, odds, 0.1).tolist() == [True, False, False, True]
        assert not script.more_likely_wrong(y, odds, 0.0).any()


class TestMeasures:
    def test_intervals(self) -> None:
        inf, nan = np.inf, np.nan
        table = pd.DataFrame(
            [
                (0, 1.0, 1.1, 0.5, 1.5),
                (0, 1.0, 2.0, 1.5, 2.5),
                (1, -1.0, -1.0, -inf, inf),
                (1, -1.0, 0.0, nan, nan),
                (1, 0.0, 0.3, -0.1, 0.7),
            ],
            columns=["seed", "truth", "estimate", "low", "high"],
        )
        got = script.covered(table)
        assert (got["coverage"], got["found"], got["width"]) == (0.5, 0.75, 1.0)
        assert got["no interval"] == pytest.approx(1 / 3)
        assert got["false"] == "1, 1.000"

    @pytest.mark.parametrize(
        ("flags", "hits", "met"), [(30, 25, True), (30, 14, False), (5, 5, False), (0, 0, False)]
    )
    def test_flags(self, flags: int, hits: int, met: bool) -> None:
        counts = {"rows": 1000, "wrong": 100, "flags": flags, "hits": hits}
        got = script.flags_of(pd.Series(counts | {"best flags": 50, "best hits": 40}))
        assert got["recall"] == hits / 100
        assert got["false"] == (flags - hits) / 900
        assert got["best precision"] == 0.8
        assert ("met" in script.flags_verdict("some", got)) == met

    def test_false_flags_alone_can_miss(self) -> None:
        counts = {"rows": 100, "wrong": 0, "flags": 4, "hits": 0, "best flags": 0, "best hits": 0}
        assert "missed" in script.flags_verdict("clean", script.flags_of(pd.Series(counts)))

    def test_one_data_set_of_each_kind(self) -> None:
        intervals = pd.DataFrame(script.coverage_trial(300, "clean", 1))
        assert (intervals["truth"] != 0).sum() == script.TERMS
        assert script.covered(intervals)["found"] > 0.5
        (row,) = script.labels_trial(300, "10% flips", 1)
        assert row["wrong"] == 30
        assert row["hits"] <= row["flags"]


class TestPage:
    def test_parts_are_replaced_one_by_one(self) -> None:
        first = script.page_with("", {"golub": "one\n\ntext"})
        both = script.page_with(first, {"labels": "other"})
        parts = script.blocks(both)
        assert (parts["golub"], parts["labels"]) == ("one\n\ntext", "other")
        assert parts["lda"] == script.NOT_YET
        assert both.startswith("# Two classes")

    @pytest.mark.parametrize("few", [[], ["--runs", "1"], ["--first", "9"], ["--no-predict"]])
    def test_few_runs_are_printed_only(
        self,
        few: list[str],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        page = tmp_path / "page.md"
        monkeypatch.setattr(script, "PAGE", page)
        monkeypatch.setitem(
            script.PARTS, "golub", (lambda seeds, predict, jobs: f"seeds {list(seeds)}", 3)
        )
        script.main(["--part", "golub", *few])
        assert page.exists() == (not few)
        first = 9 if "--first" in few else 0
        expected = list(range(first, first + (1 if "--runs" in few else 3)))
        assert f"seeds {expected}" in capsys.readouterr().out
