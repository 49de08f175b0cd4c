"""The line that says how far a long run is."""

from typing import Any

import pytest

from robustsparse.base.progress import progress


@pytest.mark.parametrize("show", [False, True])
def test_items_pass_unchanged_and_in_order(show: bool) -> None:
    assert list(progress(iter("abc"), 3, "letters", show)) == ["a", "b", "c"]


def test_nothing_is_written_unless_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    list(progress(range(3), 3, "steps", show=False))
    assert capsys.readouterr() == ("", "")


def test_the_bar_names_what_is_counted_on_the_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    list(progress(range(3), 3, "steps", show=True))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "steps: 100%" in shown.err
    assert "3/3" in shown.err


def test_a_notebook_gets_a_bar_of_its_own_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """`tqdm.auto` knows where it is; what it is there is what is used."""
    used = []

    def bar(items: Any, **how: Any) -> Any:
        used.append(how["desc"])
        return items

    monkeypatch.setattr("tqdm.auto.tqdm", bar)
    assert list(progress(range(2), 2, "steps", show=True)) == [0, 1]
    assert used == ["steps"]
