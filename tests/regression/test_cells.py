"""Missing and wrong cells: the row is kept, the cell is mended, and what was done is told."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import robustsparse as rs
from robustsparse.regression.cells import Imputation

N, D = 150, 60


def holed(data: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """The data with cells of the predictors missing at random."""
    mask = np.random.default_rng(seed).random((len(data), data.shape[1])) < share
    mask[:, data.columns.get_loc("y")] = False
    return data.mask(mask)


def spoiled(
    data: pd.DataFrame, share: float, seed: int, by: float = 10.0
) -> tuple[pd.DataFrame, np.ndarray]:
    """The data with cells of the predictors shifted, and which."""
    mask = np.random.default_rng(seed).random((len(data), data.shape[1])) < share
    mask[:, data.columns.get_loc("y")] = False
    return data + by * mask, mask


def simulated(seed: int, **changes: Any) -> Any:
    return rs.simulate.linear(**({"n": N, "d": D, "k": 4, "epsilon": 0.0, "rng": seed} | changes))


def error(fit: rs.RHTResult, sim: Any) -> float:
    return float(np.linalg.norm(fit.params.to_numpy()[1:] - sim.beta))


@pytest.fixture(scope="module")
def fit_with_holes() -> tuple[rs.RHTResult, pd.DataFrame, Any]:
    sim = simulated(5, correlation=0.9)
    data = holed(sim.data, 0.04, 1)
    return rs.rht("y ~ .", data, na_action="impute"), data, sim


class TestMissing:
    @pytest.mark.parametrize("share", [0.005, 0.02, 0.05])
    def test_little_is_lost_and_no_row(self, share: float) -> None:
        errors, complete, right = [], [], []
        for seed in range(6):
            sim = simulated(seed, d=300, k=5)
            fit = rs.rht("y ~ .", holed(sim.data, share, seed), na_action="impute")
            assert fit.nobs == len(sim.data)
            errors.append(error(fit, sim))
            complete.append(error(rs.rht("y ~ .", sim.data), sim))
            right.append(set(fit.support()) == set(sim.support()))
        assert np.mean(right) >= 0.8
        # The bar of a single run is 1.3; six runs vary.
        assert np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(complete))) < 1.4

    def test_dropping_many_rows_warns_with_the_remedy(self) -> None:
        data = holed(simulated(0).data, 0.005, 0)
        with pytest.warns(rs.DataWarning, match=r"rows were dropped .* na_action='impute'"):
            rs.rht("y ~ .", data)

    def test_dropping_few_does_not(self) -> None:
        data = simulated(0).data
        data.loc[[3, 4], "x1"] = np.nan
        assert rs.rht("y ~ .", data).dropped.missing == 2

    def test_the_response_is_never_imputed(self) -> None:
        data = simulated(0).data
        data.loc[[3, 8], "y"] = np.nan
        fit = rs.rht("y ~ .", data, na_action="impute")
        assert fit.nobs == N - 2
        assert list(fit.dropped.labels) == [3, 8]
        assert fit.cells().empty

    def test_the_data_are_left_alone(self) -> None:
        data = holed(simulated(0).data, 0.02, 0)
        before = data.copy()
        rs.rht("y ~ .", data, na_action="impute")
        pd.testing.assert_frame_equal(data, before)

    def test_infinite_cells_are_missing_cells(self) -> None:
        data = simulated(0).data
        data.loc[7, "x2"] = np.inf
        cells = rs.rht("y ~ .", data, na_action="impute").cells()
        assert cells.index.tolist() == [7]
        assert cells["column"].tolist() == ["x2"]
        assert np.isfinite(cells["new"]).all()

    def test_a_column_without_values_is_named(self) -> None:
        data = simulated(0).data.assign(x3=np.nan)
        with pytest.raises(rs.DataError, match="'x3' has no finite value"):
            rs.rht("y ~ .", data, na_action="impute")

    def test_nothing_missing_changes_nothing(self) -> None:
        data = simulated(0).data
        plain, ready = rs.rht("y ~ .", data), rs.rht("y ~ .", data, na_action="impute")
        pd.testing.assert_series_equal(plain.params, ready.params, check_exact=True)

    def test_rows_count_for_less_where_the_model_rests_on_filled_cells(
        self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]
    ) -> None:
        fit, _, _ = fit_with_holes
        cells = fit.cells()
        on_them = cells.index[cells["column"].isin(fit.support())].unique()
        rest = fit.row_weights.drop(on_them)
        assert fit.row_weights[on_them].mean() < 0.8 * rest.mean()

    def test_members_are_those_of_the_automatic_path(
        self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]
    ) -> None:
        fit, data, _ = fit_with_holes
        for k in (1, 2, 6):
            given = rs.rht("y ~ .", data, na_action="impute", k=k)
            pd.testing.assert_series_equal(given.coef(), fit.coef(k=k), check_exact=True)

    def test_factors_and_transforms(self) -> None:
        rng = np.random.default_rng(3)
        n = 200
        data = pd.DataFrame(
            {"a": rng.lognormal(size=n), "b": rng.normal(size=n), "g": rng.choice(list("pqr"), n)}
        )
        data["y"] = (
            2 * np.log(data["a"]) + data["b"] + 3.0 * (data["g"] == "q") + 0.3 * rng.normal(size=n)
        )
        data.loc[:9, "a"] = np.nan
        data.loc[10:19, "g"] = None
        data.loc[20:24, "b"] = np.nan
        fit = rs.rht("y ~ log(a) + g + bs(b, df=4) + b", data, na_action="impute", k=3)
        assert fit.nobs == n
        assert fit.params["log(a)"] == pytest.approx(2.0, abs=0.15)
        assert fit.params["g[T.q]"] == pytest.approx(3.0, abs=0.3)
        mended = fit.cells()
        assert set(mended.loc[mended["column"] == "log(a)"].index) == set(range(10))
        assert set(mended.loc[mended["column"] == "g[T.q]"].index) == set(range(10, 20))

    def test_a_fill_of_the_users_own_stays(self) -> None:
        data = simulated(0).data
        data.loc[:5, "x1"] = np.nan
        fit = rs.rht("y ~ x1.fillna(0.0) + x2 + x3", data, na_action="impute")
        assert fit.cells().empty
        assert fit.nobs == N

    def test_two_classes(self) -> None:
        sim = rs.simulate.logistic(n=300, d=30, k=2, epsilon=0.0, rng=1)
        fit = rs.rht("y ~ .", holed(sim.data, 0.05, 2), family="binomial", na_action="impute")
        assert fit.nobs == 300
        whole = rs.rht("y ~ .", sim.data, family="binomial")
        assert set(fit.support()) == set(whole.support())


class TestArrays:
    def test_missing_values_are_refused_by_default(self) -> None:
        sim = simulated(0)
        sim.X[3, 1] = np.nan
        with pytest.raises(rs.DataError, match="'x2'"):
            rs.rht_fit(sim.X, sim.y)

    def test_they_can_be_dropped_or_imputed(self) -> None:
        sim = simulated(0)
        sim.X[3, 1] = np.nan
        sim.y[9] = np.nan
        dropped = rs.rht_fit(sim.X, sim.y, na_action="drop")
        assert 3 not in dropped.diagnostics.index
        assert dropped.nobs == N - 2
        kept = rs.rht_fit(sim.X, sim.y, na_action="impute")
        assert kept.nobs == N - 1
        assert kept.cells().index.tolist() == [3]

    def test_the_same_as_by_formula(self) -> None:
        data = holed(simulated(2).data, 0.03, 2)
        X = data.drop(columns="y").to_numpy()
        arrays = rs.rht_fit(X, data["y"].to_numpy(), na_action="impute")
        formula = rs.rht("y ~ .", data, na_action="impute")
        np.testing.assert_array_equal(arrays.params, formula.params)

    def test_sparse_matrices_are_not_imputed(self) -> None:
        sim = simulated(0)
        sim.X[3, 1] = np.nan
        with pytest.raises(rs.DataError, match="make it dense"):
            rs.rht_fit(sparse.csc_matrix(sim.X), sim.y, na_action="impute")

    def test_single_precision(self) -> None:
        sim = simulated(0)
        X = sim.X.astype(np.float32)
        X[3, 1] = np.nan
        assert rs.rht_fit(X, sim.y, na_action="impute").cells().shape[0] == 1


class TestWrong:
    @pytest.mark.parametrize("attack", [None, "leverage"])
    def test_wrong_cells_are_found_and_cost_little(self, attack: str | None) -> None:
        ratios, found = [], []
        for seed in range(4):
            sim = simulated(seed, n=270, d=100, epsilon=0.1 if attack else 0.0, attack=attack)
            data, mask = spoiled(sim.data, 0.05, seed)
            fit = rs.rht("y ~ .", data)
            ratios.append(error(fit, sim) / error(rs.rht("y ~ .", sim.data), sim))
            wrong = {(row, data.columns[j]) for row, j in np.argwhere(mask & ~sim.outlier[:, None])}
            told = set(zip(fit.cells("wrong").index, fit.cells("wrong")["column"], strict=True))
            found.append(len(told & wrong) / len(wrong))
            assert len(told - wrong) <= 0.02 * len(wrong)
            assert set(sim.support()) <= set(fit.support())
        assert np.mean(found) > 0.9
        assert np.median(ratios) < 1.6

    def test_old_values_are_those_of_the_data(self) -> None:
        data, _ = spoiled(simulated(1).data, 0.05, 1)
        cells = rs.rht("y ~ .", data).cells()
        assert len(cells) > 100
        old = [
            data.loc[row, column] for row, column in zip(cells.index, cells["column"], strict=True)
        ]
        np.testing.assert_array_equal(cells["old"], old)

    def test_cells_can_be_left_as_they_are(self) -> None:
        data, _ = spoiled(simulated(1).data, 0.05, 1)
        assert rs.rht("y ~ .", data, cells=False).cells().empty

    def test_few_errors_need_to_be_suspected(self) -> None:
        sim = simulated(1, n=400)
        X = sim.X.copy()
        X[:6, 3] += 12.0
        quiet, told = rs.rht_fit(X, sim.y), rs.rht_fit(X, sim.y, cells=True)
        assert quiet.cells().empty or set(quiet.cells()["column"]) == {"x4"}
        assert told.cells().index.tolist() == list(range(6))

    @pytest.mark.parametrize("kind", ["gaussian", "t2", "pareto", "log-normal", "counts", "0/1"])
    def test_sound_cells_are_left_alone(self, kind: str) -> None:
        rng = np.random.default_rng(8)
        made = {
            "gaussian": lambda: rng.normal(size=(200, 50)),
            "t2": lambda: rng.standard_t(2, size=(200, 50)),
            "pareto": lambda: rng.pareto(1.5, size=(200, 50)),
            "log-normal": lambda: rng.lognormal(sigma=1.5, size=(200, 50)),
            "counts": lambda: rng.poisson(1.0, size=(200, 50)).astype(float),
            "0/1": lambda: (rng.random((200, 50)) < 0.1).astype(float),
        }
        X = made[kind]()
        fit = rs.rht_fit(X, X[:, 0] / X[:, 0].std() + 0.3 * rng.normal(size=200))
        assert fit.cells().empty

    @pytest.mark.parametrize("cells", ["yes", 2, None])
    def test_other_words_are_refused(self, cells: Any) -> None:
        with pytest.raises(rs.ParameterError, match="cells"):
            rs.rht_fit(np.eye(20), np.arange(20.0), cells=cells)

    def test_two_classes(self) -> None:
        sim = rs.simulate.logistic(n=300, d=40, k=2, epsilon=0.0, rng=1)
        data, mask = spoiled(sim.data, 0.05, 3, by=20.0)
        fit = rs.rht("y ~ .", data, family="binomial")
        assert len(fit.cells()) > 0.9 * mask.sum()
        assert set(fit.support()) == set(rs.rht("y ~ .", sim.data, family="binomial").support())


class TestPredictions:
    def test_new_rows(self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]) -> None:
        fit, _, sim = fit_with_holes
        new = simulated(77, correlation=0.9, beta=sim.beta).data
        truth = fit.predict(new)
        gap = fit.support()[0]
        holes = new.assign(**{gap: np.nan}).drop(columns="y")
        got = fit.predict(holes, na_action="impute")
        assert (got["imputed"] == 1).all()
        # Neighbors of a correlation of 0.9 tell most of the cell.
        mean_fill = fit.predict(new.assign(**{gap: new[gap].mean()}))
        assert ((got["prediction"] - truth) ** 2).mean() < 0.4 * ((mean_fill - truth) ** 2).mean()
        assert fit.predict(holes).isna().all()

    def test_rows_without_holes_are_as_ever(
        self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]
    ) -> None:
        fit, _, sim = fit_with_holes
        got = fit.predict(sim.data, na_action="impute")
        np.testing.assert_allclose(got["prediction"], fit.predict(sim.data), rtol=1e-12)
        assert (got["imputed"] == 0).all()

    def test_columns_that_only_help_may_be_absent(
        self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]
    ) -> None:
        fit, _, sim = fit_with_holes
        new = sim.data[fit.support()].copy()
        new.iloc[0, 0] = np.nan
        got = fit.predict(new, na_action="impute")
        assert got["imputed"].tolist()[:2] == [1, 0]
        assert np.isfinite(got["prediction"]).all()
        with pytest.raises(rs.DataError, match="lack columns"):
            fit.predict(new.drop(columns=fit.support()[1]), na_action="impute")

    def test_training_rows(self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]) -> None:
        fit, data, _ = fit_with_holes
        got = fit.predict(na_action="impute")
        expected = data[fit.support()].isna().sum(axis=1)
        np.testing.assert_array_equal(got["imputed"], expected)
        np.testing.assert_array_equal(got["prediction"], fit.fittedvalues)

    def test_training_rows_by_labels_of_several_parts(
        self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]
    ) -> None:
        plain, data, _ = fit_with_holes
        expected = data[plain.support()].isna().sum(axis=1)
        assert expected.any()
        two = pd.MultiIndex.from_arrays([np.arange(len(data)) % 3, np.arange(len(data))])
        got = rs.rht("y ~ .", data.set_index(two), na_action="impute").predict(na_action="impute")
        np.testing.assert_array_equal(got["imputed"], expected)
        shared = rs.rht("y ~ .", data.set_index(np.arange(len(data)) % 3), na_action="impute")
        with pytest.raises(rs.DataError, match="share labels"):
            shared.predict(na_action="impute")

    def test_files(
        self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any], tmp_path: Any
    ) -> None:
        fit, data, _ = fit_with_holes
        fit.save(tmp_path / "fit.zip")
        again = rs.load(tmp_path / "fit.zip")
        pd.testing.assert_frame_equal(again.cells(), fit.cells())
        new = data.head(20)
        pd.testing.assert_frame_equal(
            again.predict(new, na_action="impute"), fit.predict(new, na_action="impute")
        )

    def test_files_with_forged_places_are_refused(
        self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]
    ) -> None:
        stored = fit_with_holes[0].made.imputation.to_dict()
        with pytest.raises(ValueError, match="names columns"):
            Imputation.from_dict({**stored, "columns": [10**6, *stored["columns"][1:]]})

    def test_arrays_and_classes(self) -> None:
        sim = rs.simulate.logistic(n=200, d=20, k=2, epsilon=0.0, rng=1)
        X = sim.X.copy()
        X[4, 2] = np.nan
        fit = rs.rht_fit(X, sim.y, family="binomial", na_action="impute")
        X[:, :] = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
        got = fit.predict(X, type="class", na_action="impute")
        assert set(got["prediction"]) <= set(sim.y)

    def test_a_fit_that_did_not_learn_it_says_so(self) -> None:
        sim = simulated(0)
        with pytest.raises(rs.ParameterError, match="fit with na_action='impute'"):
            rs.rht("y ~ .", sim.data).predict(sim.data, na_action="impute")


class TestTold:
    def test_the_summary_counts_by_column(
        self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]
    ) -> None:
        fit, data, _ = fit_with_holes
        text = " ".join(str(fit.summary()).split())
        assert f"Cells mended: {int(data.isna().sum().sum())} missing" in text
        worst = data.isna().sum().sort_values(ascending=False)
        assert f"({worst.iloc[0]})" in text

    def test_a_summary_of_one_cell(self) -> None:
        data = simulated(0).data
        data.loc[5, "x3"] = np.nan
        text = " ".join(str(rs.rht("y ~ .", data, na_action="impute").summary()).split())
        assert "1 cell was missing and is imputed from the nearest columns, in x3 (1);" in text

    def test_reasons(self, fit_with_holes: tuple[rs.RHTResult, pd.DataFrame, Any]) -> None:
        fit, _, _ = fit_with_holes
        assert len(fit.cells("missing")) == len(fit.cells())
        assert fit.cells("wrong").empty
        with pytest.raises(rs.ParameterError, match="reason"):
            fit.cells("bad")


class TestRepeated:
    def test_cross_validation_and_bootstrap(self) -> None:
        data = holed(simulated(4).data, 0.02, 4)
        fit = rs.rht("y ~ .", data, na_action="impute")
        crossed = fit.cross_validate(folds=4)
        assert len(crossed.predictions) == N
        table = fit.conf_int(method="bootstrap", resamples=10)
        assert np.isfinite(table.to_numpy(dtype=float)).any()
        assert len(fit.conf_int(method="split", splits=2)) > 0


def test_an_exact_fit_has_no_noise_beside_that_of_the_cells() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"])
    data["y"] = 2.0 * data["a"] + 0.3 * data["b"]
    data.loc[:5, "y"] += 20.0
    data["copy"] = data["y"]
    fit = rs.rht("y ~ b + copy", data)
    np.testing.assert_allclose(fit.params[["b", "copy"]], [0.0, 1.0], atol=1e-12)
