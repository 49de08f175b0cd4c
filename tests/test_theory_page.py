"""What the theory page measures is what it says, and its stored results are those of the code as it is."""

import importlib
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from robustsparse.simulate.rdc import toeplitz_times

FOLDER = Path(__file__).parents[1] / "vignettes"
# Stored with six digits; other libraries of linear algebra round otherwise, and iterations carry that on.
STORED = 1e-4


@pytest.fixture
def experiments(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(FOLDER))
    names = ("common", "contraction", "rates", "support", "gradient", "time", "figures")
    return {name: importlib.import_module(f"experiments.theory_{name}") for name in names}


@pytest.fixture
def common(experiments: dict[str, ModuleType]) -> ModuleType:
    return experiments["common"]


def stored(name: str, **setting: object) -> pd.Series:
    table = pd.read_csv(FOLDER / "results" / f"theory_{name}.csv")
    chosen = np.logical_and.reduce([table[key] == value for key, value in setting.items()])
    return table[chosen].iloc[-1]


class TestConstants:
    def test_eigenvalues_are_those_of_a_large_covariance(self, common: ModuleType) -> None:
        rows = np.arange(400)
        values = np.linalg.eigvalsh(common.PAPER ** np.abs(rows[:, None] - rows))
        assert values[-1] == pytest.approx(common.largest_eigenvalue(), rel=1e-3)
        assert values[-1] / values[0] == pytest.approx(common.condition(), rel=2e-3)

    def test_the_papers_k_is_larger_than_its_n(self, experiments: dict[str, ModuleType]) -> None:
        assert experiments["contraction"].theory_kept(5) == 438


class TestData:
    def test_pushed_rows_drag_all_coordinates_one_way_wherever_the_iterate_is(
        self, common: ModuleType
    ) -> None:
        rng = np.random.default_rng(0)
        X, beta = rng.normal(size=(50, 4)), np.array([1.0, 0.0, -1e4, 0.0])
        bad, y, mask = common.push(X, X @ beta, beta, 5, rng)
        for at in (np.zeros(4), beta, -beta):
            products = bad[mask] * (bad[mask] @ at - y[mask])[:, None]
            assert products.min() > np.abs(X * (X @ (at - beta))[:, None]).max()
        np.testing.assert_array_equal(bad[~mask], X[~mask])

    @pytest.mark.parametrize("theta", [0.1, 0.6])
    def test_a_ring_has_its_theta_and_unit_variances(
        self, experiments: dict[str, ModuleType], theta: float
    ) -> None:
        covariance = experiments["support"].ring(12, theta)
        precision = np.linalg.inv(covariance)
        np.testing.assert_allclose(np.diag(covariance), 1.0)
        neighbors = np.roll(np.eye(12, dtype=bool), 1, axis=1)
        neighbors |= neighbors.T
        np.testing.assert_allclose(precision[neighbors], theta, rtol=1e-9)
        assert np.abs(precision[~neighbors & ~np.eye(12, dtype=bool)]).max() < 1e-9

    def test_population_gradient_of_two_classes_is_the_mean_of_many_rows(
        self, experiments: dict[str, ModuleType]
    ) -> None:
        module, rng = experiments["gradient"], np.random.default_rng(1)
        beta = np.array([1.0, 0.0, -1.0, 0.0])
        X, y = module.two_classes(200_000, beta, 0.0, rng)
        at = np.array([0.2, 0.5, 0.0, 0.0])
        rows = X * (1 / (1 + np.exp(-X @ at)) - y)[:, None]
        standard_error = rows.std(axis=0) / math.sqrt(len(y))
        gap = rows.mean(axis=0) - module.population("logistic", at, beta)
        assert np.abs(gap / standard_error).max() < 4

    def test_population_gradient_of_numbers(self, experiments: dict[str, ModuleType]) -> None:
        module = experiments["gradient"]
        at, beta = np.array([1.0, 2.0, 0.0]), np.array([0.0, 1.0, 0.0])
        wanted = toeplitz_times(at - beta, module.PAPER)
        np.testing.assert_array_equal(module.population("squared", at, beta), wanted)


class TestFigures:
    def test_half_way_is_between_the_shares_around_one_half(
        self, experiments: dict[str, ModuleType]
    ) -> None:
        half_way = experiments["figures"].half_way
        assert half_way(pd.Series([1.0, 0.75, 0.25], index=[1.0, 2.0, 3.0])) == pytest.approx(2.5)
        assert half_way(pd.Series([0.0, 1.0], index=[1.0, 2.0])) == pytest.approx(1.5)
        assert math.isnan(half_way(pd.Series([1.0, 0.9], index=[1.0, 2.0])))

    def test_textbook_gradients_are_those_of_the_package(
        self, experiments: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module, rng = experiments["time"], np.random.default_rng(2)
        X, score = rng.normal(size=(93, 7)), rng.normal(size=93)
        gradients = module.ways(X, score)
        np.testing.assert_allclose(gradients["trim, by sorting"](), gradients["trim, package"]())
        # The package draws its blocks; with one block for each row nothing is left to draw.
        monkeypatch.setattr(module, "BLOCKS", len(score))
        products = np.median(X * score[:, None], axis=0)
        np.testing.assert_allclose(module.textbook_mom(X, score), products)


class TestStoredResults:
    def test_contraction(self, experiments: dict[str, ModuleType]) -> None:
        module = experiments["contraction"]
        row = module.trial("condition", 300, 0.2, 5, 0.1, 0.0, 7)[0]
        old = stored("contraction", part="condition", correlation=0.2, kept=5, seed=7)
        assert row["factor"] == pytest.approx(old["factor"], rel=STORED)

    @pytest.mark.parametrize(
        "case", ["clean, mean", "paper's outliers, trim", "pushed, trim", "t₅, MOM"]
    )
    def test_rates(self, experiments: dict[str, ModuleType], case: str) -> None:
        module = experiments["rates"]
        shares = module.CURVES["n"][2]
        row = module.any_trial("n", 250, case, shares[case], 3, {})[0]
        old = stored("rates", curve="n", value=250, case=case, seed=3)
        assert row["error"] == pytest.approx(old["error"], rel=STORED)

    def test_splits(self, experiments: dict[str, ModuleType]) -> None:
        row = experiments["rates"].any_trial("split", 1000, 10, 3)[0]
        old = stored("rates", curve="split", value=1000, parts=10, seed=3)
        assert row["error"] == pytest.approx(old["error"], rel=STORED)

    def test_supports(self, experiments: dict[str, ModuleType]) -> None:
        module = experiments["support"]
        rows = [
            module.any_trial("breakdown", "paper", 300, 200, 5, 0.25, seed)[0] for seed in range(8)
        ]
        old = [
            stored("support", part="breakdown", what="paper", d=200, k=5, epsilon=0.25, seed=seed)
            for seed in range(8)
        ]
        assert [row["right"] for row in rows] == [bool(row["right"]) for row in old]
        assert 0 < sum(row["right"] for row in rows) < 8

    @pytest.mark.parametrize("loss", ["squared", "logistic"])
    def test_gradients(self, experiments: dict[str, ModuleType], loss: str) -> None:
        module = experiments["gradient"]
        row = module.gradient_trial(loss, module.OUTLIERS, 300, 5)[-1]
        # The last of a data set's rows is the farthest from the truth.
        old = stored("gradient", loss=loss, case=module.OUTLIERS, n=300, seed=5)
        assert row["largest"] == pytest.approx(old["largest"], rel=STORED)
