"""Terms of several columns enter and leave a model together: factors, splines, and what a user calls a group."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from docs.extending.poisson import Poisson
from robustsparse.inference import bootstrap, split
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.spine import fit_arrays

# Fitted values of the same model in another coding.
ROUNDING = 1e-6
NUMBERS = " + ".join(f"z{j}" for j in range(1, 9))


def frame(seed: int, n: int = 160, bad: float = 0.1) -> tuple[pd.DataFrame, set[int]]:
    """A factor with rare levels, a curve and two numbers matter; a factor, a curve and six numbers do not."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"z{j}" for j in range(1, 9)])
    data["g"] = rng.choice(list("abcdef"), n, p=[0.3, 0.25, 0.2, 0.15, 0.06, 0.04])
    data["h"] = rng.choice(list("uvwxy"), n)
    data["x"], data["w"] = rng.uniform(-2, 2, n), rng.uniform(-2, 2, n)
    effect = data["g"].map({"a": 0.0, "b": 1.0, "c": -1.0, "d": 0.8, "e": 2.0, "f": -2.0})
    y = effect + 1.5 * np.sin(1.5 * data["x"]) + data["z1"] - data["z2"]
    data["y"] = y + 0.5 * rng.normal(size=n)
    rows = rng.choice(n, int(bad * n), replace=False)
    data.loc[rows, "y"] += 8 * data["y"].std()
    return data, set(rows.tolist())


def formula(reference: str = "a") -> str:
    factor = f"C(g, contr.treatment('{reference}'))"
    return f"y ~ {factor} + C(h) + bs(x, df=4) + bs(w, df=4) + {NUMBERS}"


def drawn(seed: int, n: int = 200, count: int = 25, true: int = 3, **how: Any) -> Any:
    """Groups of one to five normal columns, some of which explain the response; a share of the rows is bad."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([f"g{j}" for j in range(count)], rng.integers(1, 6, count))
    X = rng.normal(size=(n, len(labels)))
    chosen = [f"g{j}" for j in rng.choice(count, true, replace=False)]
    eta = np.zeros(n)
    for name in chosen:
        direction = rng.normal(size=(labels == name).sum())
        eta += X[:, labels == name] @ (direction / np.linalg.norm(direction))
    rows = rng.choice(n, n // 20, replace=False)
    if how.get("family") == "binomial":
        y = (rng.random(n) < 1 / (1 + np.exp(-3 * eta))).astype(float)
        y[rows], X[rows] = 1 - y[rows], 4 * X[rows]
    else:
        y = eta + 0.5 * rng.normal(size=n)
        y[rows] += 8 * y.std()
    return X, y, labels, set(chosen)


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return frame(3)[0]


@pytest.fixture(scope="module")
def fit(data: pd.DataFrame) -> rs.RHTResult:
    return rs.rht(formula(), data, n_jobs=1)


def test_the_reference_level_decides_nothing() -> None:
    found, flagged = [], []
    for seed in range(6):
        data, bad = frame(seed)
        fits = {one: rs.rht(formula(one), data, n_jobs=1) for one in "abf"}
        first = fits["a"]
        for reference, other in fits.items():
            terms = {term.replace(f"'{reference}'", "'a'") for term in other.terms()}
            assert terms == set(first.terms())
            assert other.k == first.k
            assert np.abs(other.fittedvalues - first.fittedvalues).max() < ROUNDING
            assert other.outliers() == first.outliers()
        true = {"C(g, contr.treatment('a'))", "bs(x, df=4)", "z1", "z2"}
        found.append(set(first.terms()) == true)
        flagged.append(len(set(first.outliers("response")) ^ bad) <= 2)
    assert np.mean(found) >= 0.8
    assert np.mean(flagged) >= 0.8


@pytest.mark.parametrize(
    "arguments", [{"n": 200}, {"n": 300, "true": 2, "family": "binomial"}], ids=["numbers", "classes"]
)  # fmt: skip
def test_true_groups_are_found_among_bad_rows(arguments: Any) -> None:
    right = []
    family = arguments.get("family", "gaussian")
    for seed in range(6):
        X, y, labels, true = drawn(seed, **arguments)
        fit = rs.rht_fit(X, y, groups=labels, family=family, n_jobs=1)
        right.append(set(fit.terms()) == true)
        assert fit.k == len(fit.terms())
        assert len(fit.support()) == np.isin(labels, fit.terms()).sum()
    assert np.mean(right) >= 0.8


def test_counts_of_a_family_from_outside() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    y = rng.poisson(np.exp(1.0 + 0.4 * X[:, 3] - 0.4 * X[:, 4] + 0.3 * X[:, 5]))
    y[:10] = 90
    counts = rs.rht_fit(X, y, family=Poisson(), groups=np.repeat(np.arange(10), 3))
    assert counts.terms() == ["1"]
    assert sorted(counts.support()) == ["x4", "x5", "x6"]


@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_k_counts_groups_and_is_a_member_of_the_path(family: Any) -> None:
    X, y, labels, _ = drawn(1, family=family)
    automatic = rs.rht_fit(X, y, groups=labels, family=family)
    for k in (1, 2, 4):
        given = rs.rht_fit(X, y, groups=labels, family=family, k=k)
        assert given.k == len(given.terms()) == k
        assert given.terms() == automatic.terms(k=k)
        pd.testing.assert_series_equal(given.coef(), automatic.coef(k=k))


@pytest.mark.parametrize(
    "arguments",
    [
        {"select": "cv"}, {"select": "ebic"}, {"select": "gic"}, {"refit": False}, {"loss": "huber"},
        {"refit": False, "step": 0.3, "k": 4}, {"epsilon": "auto"}, {"keep": "C(h)"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Robust Hard Thresholding did not settle")
def test_every_way_to_fit_keeps_terms_whole(data: pd.DataFrame, arguments: Any) -> None:
    fit = rs.rht(formula(), data, n_jobs=1, **arguments)
    assert {"bs(x, df=4)", "z1", "z2"} <= set(fit.terms())
    for term, columns in fit.groups.items():
        selected = [name for name in columns if name in fit.support()]
        assert selected == (list(columns) if term in fit.terms() else [])


def test_support_lists_columns_and_terms_lists_groups(fit: rs.RHTResult) -> None:
    assert fit.k == len(fit.terms()) == 4
    assert len(fit.support()) == 11
    assert (fit.params[fit.support()] != 0).all()
    size = fit.path[fit.k].reindex(fit.support()) ** 2
    strengths = []
    for term in fit.terms():
        columns = list(fit.groups.get(term, (term,)))
        at = [fit.support().index(name) for name in columns]
        assert at == list(range(at[0], at[0] + len(at)))
        strengths.append(size[columns].mean())
    assert strengths == sorted(strengths, reverse=True)
    assert "k = 4 (" in repr(fit)
    assert "[T." not in repr(fit).split("k = 4")[1]


def test_the_summary_counts_terms_and_columns(fit: rs.RHTResult, data: pd.DataFrame) -> None:
    head = dict(fit.summary().head)
    assert head["Selected (k)"] == "4 (11 columns), robust criterion"
    assert head["Candidates"] == "12 (25 columns)"
    assert list(fit.summary().table.index[1:]) == fit.support()
    assert dict(fit.summary(k=2).head)["Selected (k)"].startswith("2")
    plain = dict(rs.rht(f"y ~ {NUMBERS}", data).summary().head)
    assert "columns" not in plain["Selected (k)"] + plain["Candidates"]


def test_columns_that_repeat_others_are_told() -> None:
    X, y, _, _ = drawn(0)
    X = np.column_stack([X[:, :6], 2.0 * X[:, 0]])
    y = X[:, 0] + X[:, 1] + 0.3 * np.random.default_rng(0).normal(size=len(X))
    fit = rs.rht_fit(X, y, groups={"three": [0, 1, 6]})
    assert fit.terms() == ["three"]
    assert fit.support() == ["x1", "x2"]
    assert "add nothing to the other columns of their term: x7" in " ".join(fit.summary().notes)
    assert np.isfinite(fit.conf_int().to_numpy()).all()


def test_single_columns_are_selected_on_request(data: pd.DataFrame) -> None:
    alone = rs.rht(formula(), data, group_terms=False, n_jobs=1)
    assert alone.groups == {}
    assert alone.terms() == alone.support()
    assert alone.k == len(alone.support())
    # The columns of the same design without the names of its terms, rows judged by the variables of its splines.
    design = rs.design.build.build_design(formula(), data)
    given = fit_arrays(
        design.X, data["y"], Arguments(n_jobs=1), names=design.names, bases=design.bases
    )
    pd.testing.assert_series_equal(alone.params, given.params)


def test_groups_of_one_column_change_nothing_but_names() -> None:
    X, y, _, _ = drawn(2)
    plain = rs.rht_fit(X, y)
    named = rs.rht_fit(X, y, groups=[f"n{j}" for j in range(X.shape[1])])
    pd.testing.assert_series_equal(plain.params, named.params)
    assert named.terms() == [f"n{int(name[1:]) - 1}" for name in plain.support()]


def test_a_level_of_few_rows_is_no_harm() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        data = pd.DataFrame(rng.normal(size=(100, 4)), columns=list("abcd"))
        data["level"] = ["one", "two", "two"] + ["many"] * 57 + ["more"] * 40
        data["y"] = data["a"] + 2 * (data["level"] == "more") + 0.3 * rng.normal(size=100)
        fit = rs.rht("y ~ .", data)
        assert set(fit.terms()) == {"a", "level"}
        assert np.isfinite(fit.fittedvalues).all()
        # Half of the rows have lost two levels.
        part = rs.rht("y ~ .", data, weights=np.r_[np.zeros(3), np.ones(97)])
        assert set(part.terms()) == {"a", "level"}


@pytest.mark.parametrize("goal", ["select", "predict"])
def test_a_factor_with_too_many_levels_cannot_be_selected_and_is_told(goal: Any) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    data["id"] = [f"i{j % 45}" for j in range(60)]
    data["y"] = data["a"] + 0.3 * rng.normal(size=60)
    with pytest.warns(rs.SelectionWarning, match=r"'id' has 44 columns.*group_terms=False"):
        fit = rs.rht("y ~ .", data, goal=goal)
    assert fit.terms()[0] == "a"
    assert not any(term.startswith("id") for term in fit.terms())


def test_a_term_counts_once_in_stability_selection(data: pd.DataFrame) -> None:
    result = rs.stability(formula(), data, resamples=4, n_jobs=1)
    assert result.candidates == 12
    assert {"bs(x, df=4)", "z1", "z2"} <= set(result.selected())
    assert not any("[" in term for term in result.frequencies.index)


@pytest.mark.parametrize(("method", "own"), [(bootstrap, "resamples"), (split, "splits")])
def test_intervals_have_all_columns_of_a_term_together(
    data: pd.DataFrame, method: Any, own: str
) -> None:
    table = method(formula(), data, n_jobs=1, **{own: 2})
    spline = [f"bs(x, df=4)[{j}]" for j in range(1, 5)]
    at = [list(table.index).index(name) for name in spline]
    assert at == list(range(at[0], at[0] + 4))
    assert (table.loc[spline, "frequency"] == 1).all()


def test_a_file_keeps_the_groups(fit: rs.RHTResult, data: pd.DataFrame, tmp_path: Path) -> None:
    fit.save(tmp_path / "model.rs")
    again = rs.load(tmp_path / "model.rs")
    assert again.groups == fit.groups
    assert again.terms() == fit.terms()
    assert again.terms(k=2) == fit.terms(k=2)
    assert str(again.summary()) == str(fit.summary())
    table = again.conf_int(method="split", data=data)
    assert set(fit.support()) <= set(table.index)


def rewritten(path: Path, change: Any) -> None:
    """Change the contents of a stored model."""
    with zipfile.ZipFile(path) as archive:
        stored = json.loads(archive.read("result.json"))
    change(stored["result"])
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("result.json", json.dumps(stored))


def test_older_files_have_no_groups_and_repeat_as_they_were(
    fit: rs.RHTResult, tmp_path: Path
) -> None:
    def older(meta: dict[str, Any]) -> None:
        del meta["groups"]
        for name in ("groups", "group_terms"):
            del meta["call"]["arguments"][name]

    fit.save(tmp_path / "model.rs")
    rewritten(tmp_path / "model.rs", older)
    old = rs.load(tmp_path / "model.rs")
    assert old.terms() == old.support()
    assert old._call is not None
    assert old._call.arguments["group_terms"] is False


@pytest.mark.parametrize(
    "groups",
    [
        {"!": "dict", "items": [["p", {"!": "tuple", "items": ["nobody"]}]]},
        {"!": "dict", "items": [["p", {"!": "tuple", "items": []}]]},
        {"!": "dict", "items": [[3, {"!": "tuple", "items": ["z1"]}]]},
        "p",
    ],
)
def test_changed_groups_are_refused(fit: rs.RHTResult, groups: Any, tmp_path: Path) -> None:
    fit.save(tmp_path / "model.rs")
    rewritten(tmp_path / "model.rs", lambda meta: meta.update(groups=groups))
    with pytest.raises(rs.DataError, match="damaged or was changed"):
        rs.load(tmp_path / "model.rs")


def test_curves_and_plots_go_by_term(fit: rs.RHTResult) -> None:
    true = [term for term in fit.terms() if term.startswith(("C(g", "bs(x", "z"))]
    assert fit.support_roc(true).auc == 1.0
    assert fit.support_roc(fit.support()).auc == 1.0
    with pytest.raises(rs.ParameterError, match="'nobody' is not a candidate"):
        fit.support_roc(["nobody"])
    axes = fit.plot_path()
    assert "root mean square" in axes.get_ylabel()
    drawn = [line for line in axes.get_lines() if len(line.get_xdata()) == fit.path.shape[1]]
    assert len(drawn) <= 13
