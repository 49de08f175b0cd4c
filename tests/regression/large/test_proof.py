"""What looks name, and that runs stay exact when they cannot name all."""

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.design.stores.arrays import ArrayColumns
from robustsparse.design.stores.store import Blocks, Threads
from robustsparse.regression.fit.looks import CopyLook, MiddleLook
from robustsparse.regression.large import proof, rounds
from robustsparse.regression.large.proof import Named, strongest


def named(columns: list[int], sizes: list[float], changes: list[bool]) -> Named:
    return Named(np.array(columns), np.array(sizes), np.array(changes), sum(changes))


def test_a_look_names_the_strongest_of_all_blocks() -> None:
    look = MiddleLook(np.zeros(3), 1.0, count=1)
    both = [named([0, 4], [3.0, 0.9], [True, False]), named([7, 9], [5.0, 2.0], [True, True])]
    found = strongest(look, both)
    assert found.columns.tolist() == [7, 0]
    assert found.objections == 3
    # One that objects is not named, so that the look has to be asked again.
    assert not found.complete
    assert strongest(look, both[:1]).complete


def test_a_look_that_keeps_no_number_of_columns_names_all() -> None:
    none = np.zeros(0)
    many = named(list(range(50)), [1.0] * 50, [True] * 50)
    assert strongest(CopyLook(none, none, none, none), [many]).complete


@pytest.mark.filterwarnings("ignore")
def test_exact_though_looks_name_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_FIRST", 20)
    monkeypatch.setattr(proof, "NAMED", 1)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3000))
    y = X[:, [5, 700, 2500]] @ [2.0, -2.0, 2.0] + rng.normal(size=120)
    y[:10] = 30.0
    left_out: list[bool] = []
    judgment = rounds._judgment

    def noted(*given: object) -> dict[int, Named]:
        found = judgment(*given)  # type: ignore[arg-type]
        left_out.extend(not one.complete for one in found.values())
        return found

    monkeypatch.setattr(rounds, "_judgment", noted)
    fit = rs.rht_fit(Blocks(ArrayColumns(X), Threads(1), 700), y, k=5, refit=False)
    assert any(left_out)
    assert (fit.params == rs.rht_fit(X, y, k=5, refit=False).params).all()
