"""New data are coded as in training, also after storing, and code is kept in check."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.errors import DataError, FormulaError, UnseenLevelError
from robustsparse.design.build import DesignSpec, build_design

N = 24


def restored(spec: DesignSpec, context: dict[str, Any] | None = None) -> DesignSpec:
    text = json.dumps(spec.to_dict(), allow_nan=False)
    return DesignSpec.from_dict(json.loads(text), context)


# New data


TERMS = [
    "a",
    "center(a)",
    "scale(b) + g",
    "poly(a, 3)",
    "bs(a, df=5)",
    "cr(b, df=3)",
    "g*a",
    "C(n)",
]
TERMS += [
    "standardize(a):C(g, contr.sum)",
    "log(b) + {a**2}",
    "cut",
    "Q('a') + I(b)",
    "2:a + lag(b)",
]


@pytest.mark.parametrize("terms", TERMS)
def test_stored_designs_predict_the_same_bits(data: pd.DataFrame, terms: str) -> None:
    data["n"] = pd.Series([3, 1, 2] * (N // 3), index=data.index, dtype="int8")
    data["cut"] = pd.cut(data["b"], 3)
    data["a"] = data["a"].astype("float32")
    spec = build_design(f"y ~ {terms}", data).spec
    part = data.iloc[5:15]
    np.testing.assert_array_equal(restored(spec).matrix(part)[0], spec.matrix(part)[0])
    assert restored(spec).to_dict() == spec.to_dict()
    assert restored(spec).names == spec.names
    assert restored(spec).references == spec.references


@pytest.mark.parametrize(
    ("terms", "learned"),
    [
        ("center(a)", "mean"),
        ("scale(a)", "scale"),
        ("bs(a, df=4)", "knots"),
        ("poly(a, 2)", "norm"),
    ],
)
def test_transforms_keep_what_they_learned(data: pd.DataFrame, terms: str, learned: str) -> None:
    design = build_design(f"y ~ {terms}", data)
    one, _ = design.spec.matrix(data.iloc[[7]])
    np.testing.assert_array_equal(one[0], design.X[7], err_msg=learned)


def test_unseen_levels_raise(data: pd.DataFrame) -> None:
    for terms in ("g", "C(g)", "g:a", "C(g, contr.sum)"):
        spec = build_design(f"y ~ {terms}", data).spec
        for new in (data.assign(g="z"), data.assign(g=pd.Categorical(["z"] * N))):
            with pytest.raises(UnseenLevelError, match=r"column 'g'.*'z'; known are 'u', 'v', 'w'"):
                spec.matrix(new)
    number = build_design("y ~ C(n)", data.assign(n=[1, 2] * (N // 2))).spec
    with pytest.raises(UnseenLevelError, match=r"column 'n'.*3"):
        number.matrix({"n": [1, 3]})


def test_levels_may_be_fewer_in_new_data(data: pd.DataFrame) -> None:
    spec = build_design("y ~ g", data).spec
    assert spec.matrix({"g": ["w", "w"]})[0].tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert spec.matrix({"g": "u"})[0].tolist() == [[0.0, 0.0]]


def test_length_and_index_survive_missing_inputs(data: pd.DataFrame) -> None:
    spec = build_design("y ~ a + g + log(b)", data).spec
    new = data.iloc[:6].copy()
    new.index = pd.Index([9, 9, 7, 7, 5, 5], name="key")
    new.iloc[0, 1] = np.nan
    new.iloc[1, 3] = None
    new.iloc[2, 2] = np.inf
    new.iloc[3, 2] = 0.0
    matrix, index = spec.matrix(new)
    assert index.equals(new.index)
    assert index.name == "key"
    assert matrix.shape == (6, 4)
    assert np.isnan(matrix[:4]).all()
    np.testing.assert_array_equal(matrix[4:], build_design("y ~ a + g + log(b)", data).X[4:6])


def test_new_data_of_missing_values_only(data: pd.DataFrame) -> None:
    spec = build_design("y ~ a + g + bs(b, df=4)", data).spec
    new = pd.DataFrame({"a": [None, 1.0], "g": ["u", None], "b": [None, None]})
    assert np.isnan(spec.matrix(new)[0]).all()
    assert spec.matrix(data.head(0))[0].shape == (0, len(spec.names))


def test_kinds_of_new_columns(data: pd.DataFrame) -> None:
    data["t"] = ["1", "2"] * (N // 2)
    spec = build_design("y ~ a + t + center(b)", data).spec
    with pytest.raises(DataError, match="'a' must be numeric"):
        spec.matrix(data.assign(a="high"))
    with pytest.raises(DataError, match="'b' must be numeric"):
        spec.matrix(data.assign(b="high"))
    with pytest.raises(UnseenLevelError, match="column 't'"):
        spec.matrix(data.assign(t=1))
    as_objects = data.assign(a=data["a"].astype(object), b=data["b"].astype(object))
    np.testing.assert_array_equal(spec.matrix(as_objects)[0], spec.matrix(data)[0])


def test_absent_columns_are_named(data: pd.DataFrame) -> None:
    spec = build_design("y ~ a + log(b)", data).spec
    with pytest.raises(DataError, match=r"needs: 'a'"):
        spec.matrix(data[["b"]])
    with pytest.raises(DataError, match=r"needs: 'b'; did you mean bb"):
        spec.matrix(data.rename(columns={"b": "bb"}))


def test_part_of_the_columns_needs_part_of_the_inputs(data: pd.DataFrame) -> None:
    design = build_design("y ~ a + b + g + poly(b, 2) + a:g", data)
    wanted = [5, 0, 2]
    matrix, _ = design.spec.matrix(data, wanted)
    np.testing.assert_array_equal(matrix, design.X[:, wanted])
    only, _ = design.spec.matrix(data[["a"]], [0])
    np.testing.assert_array_equal(only[:, 0], data["a"])
    hole = data.assign(b=np.nan)
    assert np.isfinite(design.spec.matrix(hole, [0, 2])[0]).all()
    assert design.spec.matrix(data, [])[0].shape == (N, 0)
    mask = np.arange(len(design.names)) % 2 == 0
    np.testing.assert_array_equal(design.spec.matrix(data, mask)[0], design.X[:, mask])
    np.testing.assert_array_equal(design.spec.matrix(data, [2, 2])[0], design.X[:, [2, 2]])


def test_a_spec_holds_no_training_data() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 3)), columns=["y", "a", "b"])
    frame["g"] = rng.choice(["u", "v"], 2000)
    spec = build_design("y ~ a + scale(b) + g + bs(a, df=5)", frame).spec
    assert len(json.dumps(spec.to_dict())) < 5000


def test_unknown_format_is_refused(data: pd.DataFrame) -> None:
    stored = build_design("y ~ a", data).spec.to_dict() | {"format": 99}
    with pytest.raises(DataError, match="format 99"):
        DesignSpec.from_dict(stored)


# Context and security


def test_context_gives_names(data: pd.DataFrame) -> None:
    def double(x: pd.Series) -> pd.Series:
        return 2 * x

    design = build_design("y ~ double(a) + {b * k}", data, context={"double": double, "k": 3.0})
    np.testing.assert_array_equal(design.X, np.c_[2 * data["a"], 3 * data["b"]])
    again = restored(design.spec, {"double": double})
    np.testing.assert_array_equal(again.matrix(data)[0], design.X)
    with pytest.raises(FormulaError, match=r"'double'.*context="):
        restored(design.spec).matrix(data)


def test_the_callers_names_are_not_visible(data: pd.DataFrame) -> None:
    secret = 3.0
    assert secret
    with pytest.raises(FormulaError, match="'secret'"):
        build_design("y ~ {a * secret}", data)


@pytest.mark.parametrize(
    "code",
    [
        "open('x')",
        "eval('1')",
        "__import__('os').getcwd()",
        "a.__class__.mro()",
        "I(a.__class__)",
        "sorted(a, key=print)",
        "[exec for i in a]",
        "a._mgr.nblocks()",
    ],
)
def test_code_that_reaches_outside_is_refused(data: pd.DataFrame, code: str) -> None:
    with pytest.raises(FormulaError):
        build_design(f"y ~ {{{code}}}", data)
    stored = build_design("y ~ I(a)", data).spec.to_dict()
    stored["coding"]["terms"][1]["pieces"] = [[code, "python"]]
    stored["coding"]["terms"][1]["scopes"] = [[[[code, False]], 1]]
    with pytest.raises(FormulaError):
        DesignSpec.from_dict(stored).matrix(data)
