"""A family and an estimator from outside the package, one file each, are the equals of those in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from docs.extending.poisson import Poisson, PoissonLoss
from docs.extending.winsorized import Winsorized
from robustsparse.regression.family import Family

TERMS = {"x3", "x20", "x41"}


def counts(seed: int, n: int = 300, d: int = 60, bad: int = 20) -> tuple[pd.DataFrame, set[int]]:
    """Counts that three of d columns explain, and which rows were made bad."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = rng.poisson(np.exp(1.0 + X[:, [3, 20, 41]] @ [0.6, -0.5, 0.5]))
    rows = rng.permutation(n)[:bad]
    y[rows] = 60
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return frame.assign(y=y), set(rows.tolist())


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return counts(0)[0]


@pytest.fixture(scope="module")
def fit(data: pd.DataFrame) -> Any:
    return rs.rht("y ~ .", data, family=Poisson(), estimator=Winsorized(0.2))


def test_terms_and_bad_rows_are_found_over_seeds() -> None:
    right, flagged, false = [], [], []
    for seed in range(10, 16):
        data, bad = counts(seed)
        fit = rs.rht("y ~ .", data, family=Poisson(), estimator=Winsorized(0.2))
        right.append(set(fit.support()) >= TERMS and len(fit.support()) <= 4)
        flagged.append(len(bad & set(fit.outliers())) / len(bad))
        false.append(len(set(fit.outliers()) - bad))
    assert np.mean(right) >= 0.8
    assert np.mean(flagged) >= 0.9
    assert np.mean(false) <= 3


def test_the_summary_names_both(fit: Any) -> None:
    text = str(fit.summary())
    assert "Family:       poisson" in text
    assert "20% winsorized mean" in text
    assert "Loss:         Poisson" in text
    assert "Explained" in text


def test_predictions_are_means(fit: Any, data: pd.DataFrame) -> None:
    predicted = fit.predict(data)
    np.testing.assert_allclose(predicted, np.exp(fit.predict(data, "link")))
    np.testing.assert_allclose(predicted, fit.fittedvalues)
    assert fit.score(data) > 0.2
    with pytest.raises(rs.ParameterError, match="this is a poisson fit"):
        fit.predict(data, "class")


def test_files_hold_them(fit: Any, data: pd.DataFrame, tmp_path: Path) -> None:
    fit.save(tmp_path / "counts.rs")
    back = rs.load(tmp_path / "counts.rs")
    assert back.estimator == Winsorized(0.2)
    assert back.made.kind == Poisson()
    assert str(back.summary()) == str(fit.summary())
    pd.testing.assert_series_equal(back.predict(data), fit.predict(data))


def test_the_fit_can_be_repeated(fit: Any, data: pd.DataFrame) -> None:
    table = fit.conf_int(method="bootstrap", resamples=4, data=data)
    assert set(table.index) >= TERMS
    stable = rs.stability("y ~ .", data, resamples=4, family=Poisson(), estimator=Winsorized(0.2))
    assert set(stable.selected()) >= TERMS


def test_responses_that_are_no_counts_are_refused(data: pd.DataFrame) -> None:
    with pytest.raises(rs.DataError, match=r"must hold counts, but it holds -1"):
        rs.rht("y ~ .", data.assign(y=-1.0), family=Poisson())
    with pytest.raises(rs.ParameterError, match=r"loss='squared' does not fit family='poisson'"):
        rs.rht("y ~ .", data, family=Poisson(), loss="squared")


def test_graphs_take_the_estimator_and_resume_with_it(tmp_path: Path) -> None:
    sim = rs.simulate.graph(200, 12, kind="band", v=0.6, rng=1)
    runs = [
        rs.robust_ns(sim.data, k=2, estimator=Winsorized(0.1), checkpoint=tmp_path / "run")
        for _ in range(2)
    ]
    assert "10% winsorized mean" in str(runs[0].summary())
    assert (runs[0].adjacency != runs[1].adjacency).nnz == 0
    assert runs[0].roc(sim.adjacency).auc > 0.8


class Unfinished(Family):
    """An intermediate class without losses, as somebody may write one."""


def redefined() -> type[Winsorized]:
    """The same class once more, as a cell of a notebook that is run again defines it."""

    @dataclass(frozen=True)
    class Twice(Winsorized):
        pass

    return Twice


def test_other_classes_that_are_defined_do_no_harm(data: pd.DataFrame, tmp_path: Path) -> None:
    first, second = redefined(), redefined()
    fit = rs.rht("y ~ x3 + x20", data, estimator=second(0.3), k=2)
    fit.save(tmp_path / "fit.rs")
    assert rs.load(tmp_path / "fit.rs").estimator == second(0.3)
    assert first is not second

    class Huber(PoissonLoss):
        pass

    class Other(Poisson):
        losses = (Huber,)

    rs.rht("y ~ x3 + x20", data, loss="huber", k=2).save(tmp_path / "huber.rs")
    assert rs.load(tmp_path / "huber.rs").loss == rs.Huber()
    assert Other.losses == (Huber,)


def test_an_estimator_that_cannot_be_stored_leaves_its_text(
    data: pd.DataFrame, tmp_path: Path
) -> None:
    @dataclass(frozen=True)
    class Weighted(Winsorized):
        weigh: Any = np.abs

    fit = rs.rht("y ~ x3 + x20", data, estimator=Weighted(0.3), k=2)
    fit.save(tmp_path / "fit.rs")
    back = rs.load(tmp_path / "fit.rs")
    assert isinstance(back.estimator, str)
    pd.testing.assert_series_equal(back.predict(data), fit.predict(data))


def test_a_family_that_cannot_be_stored_is_refused_when_it_is_saved(
    data: pd.DataFrame, tmp_path: Path
) -> None:
    @dataclass(frozen=True)
    class Tuned(Poisson):
        tuning: Any = np.abs

    fit = rs.rht("y ~ .", data, family=Tuned(), k=2)
    with pytest.raises(rs.DataError, match=r"'poisson' cannot be stored"):
        fit.save(tmp_path / "fit.rs")
    assert not (tmp_path / "fit.rs").exists()


def test_an_estimator_is_told_of_an_estimated_share(data: pd.DataFrame) -> None:
    told = []

    @dataclass(frozen=True)
    class Listening(Winsorized):
        def enough_for(self, epsilon: float, n: int, d: int) -> Winsorized:
            told.append((epsilon, n, d))
            return self

    fit = rs.rht("y ~ .", data, estimator=Listening(0.2), k=2, epsilon="auto")
    assert told[-1] == (fit.epsilon, 300, 60)


def test_an_estimator_may_bind_without_knowing_of_others(data: pd.DataFrame) -> None:
    class Own(rs.Trimmed):
        def bind(self, XT: Any, threads: int = 1) -> Any:
            return super().bind(XT, threads)

    fit = rs.rht("y ~ x3 + x20", data, estimator=Own(0.2), k=2, refit=False)
    assert set(fit.support()) == {"x3", "x20"}


def test_a_class_in_the_place_of_a_family_is_named(data: pd.DataFrame) -> None:
    with pytest.raises(rs.ParameterError, match="is a class; call it"):
        rs.rht("y ~ .", data, family=Poisson)  # type: ignore[arg-type]
