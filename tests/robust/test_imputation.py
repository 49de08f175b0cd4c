"""Imputed cells: nearer to what they were than the mean, with an honest error, from sound cells alone."""

import numpy as np
import pytest

from robustsparse.base.types import Array, Mask
from robustsparse.robust import imputation
from robustsparse.robust.imputation import Imputer

SEEDS = range(5)
# Sums are ordered differently where a product has another shape.
ROUNDING = 1e-6


def chain(seed: int, rho: float = 0.7, d: int = 40, n: int = 500) -> tuple[Array, Mask]:
    """Columns (d, n), each correlated with the next, and 10% of the cells."""
    rng = np.random.default_rng(seed)
    XT = rng.normal(size=(d, n))
    for j in range(1, d):
        XT[j] = rho * XT[j - 1] + np.sqrt(1 - rho**2) * XT[j]
    return XT, rng.random((d, n)) < 0.1


def learned(XT: Array, doubtful: Mask) -> Imputer:
    return Imputer.of(XT, doubtful, np.arange(len(XT)))


def root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


@pytest.fixture(params=["all pairs", "screened"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbors found among all pairs, and among those that stand out in a hundred rows."""
    if request.param == "screened":
        monkeypatch.setattr(imputation, "_MULTIPLICATIONS", 1.0)


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("rho", [0.5, 0.7, 0.9])
def test_cells_are_nearer_than_the_mean_and_the_error_says_how_near(rho: float) -> None:
    for seed in SEEDS:
        XT, doubtful = chain(seed, rho)
        column, row, filled, error = learned(XT, doubtful).fill(XT, doubtful)
        assert len(row) == doubtful.sum()
        assert doubtful[column, row].all()
        off = root_mean_square(filled - XT[column, row])
        # Between its two neighbors a cell has this variance; some of them are doubtful too.
        best = np.sqrt((1 - rho**2) / (1 + rho**2))
        assert off < 1.2 * best < root_mean_square(XT[column, row])
        assert root_mean_square(error) == pytest.approx(off, rel=0.15)


@pytest.mark.usefixtures("search")
def test_neighbors_are_the_columns_beside() -> None:
    for seed in SEEDS:
        XT, doubtful = chain(seed)
        near = learned(XT, doubtful).neighbors
        inner = np.arange(1, len(XT) - 1)
        beside = np.sort(near[inner, :2], axis=1)
        assert (beside == np.c_[inner - 1, inner + 1]).mean() > 0.9
        assert not (near == np.arange(len(XT))[:, None]).any()


def test_screening_finds_the_neighbors_of_some_columns_too(monkeypatch: pytest.MonkeyPatch) -> None:
    XT, doubtful = chain(0, 0.9)
    columns = np.array([3, 4, 17, 30])
    whole = Imputer.of(XT, doubtful, columns)
    monkeypatch.setattr(imputation, "_MULTIPLICATIONS", 1.0)
    some = Imputer.of(XT, doubtful, columns)
    assert np.array_equal(some.neighbors[:, :2], whole.neighbors[:, :2])


def test_many_copies_are_imputed_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imputation, "_MULTIPLICATIONS", 1.0)
    XT = np.tile(np.clip(np.random.default_rng(0).normal(size=(1, 300)), -2, 2), (200, 1))
    doubtful = np.random.default_rng(1).random(XT.shape) < 0.05
    column, row, filled, _ = learned(XT, doubtful).fill(XT, doubtful)
    assert root_mean_square(filled - XT[column, row]) < 0.1


@pytest.mark.usefixtures("search")
def test_columns_without_neighbors_get_their_mean() -> None:
    for seed in SEEDS:
        XT, doubtful = chain(seed, 0.0)
        imputer = learned(XT, doubtful)
        column, row, filled, error = imputer.fill(XT, doubtful)
        assert (imputer.neighbors >= 0).sum() <= 0.2 * len(XT)
        assert (np.abs(filled - imputer.mean[column]) < 1e-9).mean() > 0.9
        assert root_mean_square(error) == pytest.approx(
            root_mean_square(filled - XT[column, row]), rel=0.15
        )


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("held", [np.nan, np.inf, -1e300, 0.0])
def test_what_doubtful_cells_hold_is_not_looked_at(held: float) -> None:
    for seed in SEEDS:
        XT, doubtful = chain(seed)
        other = np.where(doubtful, held, XT)
        one, two = learned(XT, doubtful), learned(other, doubtful)
        assert np.array_equal(one.neighbors, two.neighbors)
        for a, b in zip(one.fill(XT, doubtful), two.fill(other, doubtful), strict=True):
            assert np.array_equal(a, b)


def test_cells_without_sound_neighbors_get_their_mean() -> None:
    XT, doubtful = chain(0)
    imputer = learned(XT, doubtful)
    everything = np.ones_like(doubtful)
    column, _, filled, error = imputer.fill(XT, everything)
    assert np.array_equal(filled, imputer.mean[column])
    assert np.array_equal(error, imputer.sd[column])


def test_columns_that_are_missing_in_the_same_rows_are_correlated_as_in_the_others() -> None:
    for seed in SEEDS:
        XT, doubtful = chain(seed, 0.5)
        whole = learned(XT, np.zeros_like(doubtful))
        doubtful[:, 250:] = True
        half = learned(XT, doubtful)
        first = whole.cross[:, 0].mean()
        assert half.cross[:, 0].mean() == pytest.approx(first, rel=0.2)


def test_rows_that_are_not_trusted_teach_nothing() -> None:
    for seed in SEEDS:
        XT, doubtful = chain(seed)
        rows = np.arange(XT.shape[1]) >= 50
        one = Imputer.of(XT, doubtful, np.arange(len(XT)), rows)
        XT[:, ~rows] = 3.0
        two = Imputer.of(XT, doubtful, np.arange(len(XT)), rows)
        assert np.array_equal(one.correlations, two.correlations)
        alone = learned(XT[:, rows], doubtful[:, rows])
        assert np.array_equal(one.neighbors, alone.neighbors)
        assert np.allclose(one.cross, alone.cross, atol=ROUNDING)


def test_values_far_out_count_as_if_they_were_nearer() -> None:
    for seed in SEEDS:
        XT, doubtful = chain(seed)
        imputer = learned(XT, doubtful)
        _, _, filled, _ = imputer.fill(1e6 * XT, doubtful)
        assert np.abs(filled).max() < 2 * imputation._CLIP


def test_a_part_fills_as_the_whole_does() -> None:
    XT, doubtful = chain(0)
    imputer = learned(XT, doubtful)
    columns = np.array([0, 7, 8, 39])
    few, read = imputer.part(columns)
    column, row, filled, error = few.fill(XT[read], doubtful[read])
    whole = imputer.fill(XT, doubtful)
    chosen = np.isin(whole[0], columns)
    assert np.array_equal(read[column], whole[0][chosen])
    assert np.array_equal(row, whole[1][chosen])
    assert np.allclose(filled, whole[2][chosen], atol=ROUNDING)
    assert np.allclose(error, whole[3][chosen], atol=ROUNDING)


def test_units_change_nothing_but_the_units() -> None:
    XT, doubtful = chain(0)
    rng = np.random.default_rng(0)
    location, scale = rng.normal(size=len(XT)), rng.uniform(0.1, 10, len(XT))
    imputer = learned(XT, doubtful)
    column, _, filled, error = imputer.fill(XT, doubtful)
    own = imputer.in_units(location, scale)
    _, _, value, said = own.fill(location[:, None] + scale[:, None] * XT, doubtful)
    assert np.allclose(value, location[column] + scale[column] * filled, atol=ROUNDING)
    assert np.allclose(said, scale[column] * error, atol=ROUNDING)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_columns_are_enough(d: int) -> None:
    XT, doubtful = chain(0, d=d)
    column, row, filled, error = learned(XT, doubtful).fill(XT, doubtful)
    assert len(row) == doubtful.sum()
    assert np.isfinite(filled).all()
    assert (error > 0).all()
    assert root_mean_square(filled - XT[column, row]) < 1.2


@pytest.mark.usefixtures("search")
def test_a_column_of_which_nothing_is_known_gets_zero_with_the_error_of_its_units() -> None:
    XT, doubtful = chain(0)
    XT[5], XT[9] = np.nan, 0.0
    doubtful[5] = True
    column, _, filled, error = learned(XT, doubtful).fill(XT, doubtful)
    assert (filled[column == 5] == 0).all()
    assert (error[column == 5] == 1).all()
    # A constant column is what it always is.
    assert np.allclose(filled[column == 9], 0.0)
    assert (error[column == 9] < ROUNDING).all()
    assert np.isfinite(filled).all()


def test_no_columns_and_no_cells_are_no_trouble() -> None:
    XT, doubtful = chain(0)
    none = Imputer.of(XT, doubtful, np.arange(0))
    assert all(len(part) == 0 for part in none.fill(XT, doubtful))
    assert all(len(part) == 0 for part in learned(XT, doubtful).fill(XT, np.zeros_like(doubtful)))
