"""docs/trusted_rows.py: its data are what it says, and its tables say what they hold."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("abess")
script = pytest.importorskip("docs.trusted_rows")


def test_mislinked_rows_are_a_tenth_and_their_responses_those_of_others() -> None:
    X, y, _ = script.drawn("mislinked", 3)
    same, clean, _ = script.drawn("clean", 3)
    assert (same == X).all()
    assert (y != clean).sum() == len(y) // 10
    assert sorted(y) == sorted(clean)


@pytest.mark.parametrize("way", ["plain", "MAD", "trusted"])
def test_every_way_is_fitted_to_the_rows_it_says(way: str) -> None:
    X, y, _ = script.drawn("shift_y", 1)
    model = script.fitted("ridge", way, X, y, False)
    assert np.isfinite(script.predicted(model, X, False)).all()
    if way == "trusted":
        assert (~model.trusted_).sum() >= 15


def errors(ratio: float) -> pd.Series:
    """Errors of one line in which trusted rows have this share of the error after the filter."""
    value = {"plain": 4.0, "MAD": 2.0, "trusted": 2.0 * ratio, "alone": 1.0}
    index = pd.MultiIndex.from_tuples(
        [("one", *pair) for pair in script.pairs()], names=["attack", "estimator", "way"]
    )
    return pd.Series([value[way] for *_, way in index], index=index)


@pytest.mark.parametrize(("ratio", "word"), [(0.5, "better"), (1.0, "as good"), (1.5, "WORSE")])
def test_the_verdict_follows_the_numbers(ratio: float, word: str) -> None:
    text = script.gains({"clean": errors(ratio)})
    assert f"beside the MAD filter: {word} for lasso, ridge, boosting" in text
    assert f"| lasso | {ratio:.2f} | {ratio / 2:.2f} |" in text


def test_a_line_is_measured_by_its_best_method() -> None:
    table = script.wide(errors(0.25))
    assert table.min(axis=1).tolist() == [1.0]
    assert table["lasso, plain"].tolist() == [8.0]
