"""What code in a formula may do, and what a model file may make a prediction do."""

import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.special

import robustsparse as rs
from robustsparse.base.errors import DataError, FormulaError
from robustsparse.design.build import build_design
from robustsparse.design.formulas import allowed
from robustsparse.design.spec import DesignSpec

GOOD = [
    "np.log(b)",
    "np.exp(a)",
    "np.sqrt(b)",
    "np.where(a > 0, a, 0)",
    "np.clip(a, -1, 1)",
    "np.maximum(a, 0.5)",
    "np.log(np.abs(a) + np.pi)",
    "log(b) + exp(a)",
    "I(a**2)",
    "{a > 0}",
    "{(a > 0) & ~(b < 1.5) | (a == b)}",
    "{a if 1 > 0 else b}",
    "poly(a, 2)",
    "bs(b, df=4)",
    "cc(b, df=4)",
    "cr(b, df=4)",
    "scale(a) + center(b)",
    "C(g)",
    "C(g, contr.treatment('v'))",
    "C(g, contr.sum)",
    "C(g, Treatment('w'))",
    "C(g, levels=['u', 'v', 'w'])",
    "Q('a')",
    "`a`",
    "{round(a) + abs(b)}",
    "a.fillna(0)",
    "a.clip(0, 1)",
    "g.str.upper()",
    "a.astype('float32') + {b.astype(int) + a.astype(np.float32) + b.astype(dtype=a.dtype)}",
    "{g.isin(['u', 'v'])}",
    "{a.fillna(a.mean())}",
    "{a - a.shift(1).fillna(0)}",
    "{a.rank() / len(a)}",
    "{np.array([1, 2, 3])[0] * a}",
]

# Each of these ran before, or would if only names were looked at.
BAD = [
    "np.f2py.os.system('true')",
    "np.lib.npyio.os.getcwd()",
    "np.load('x')",
    "np.save('x', a)",
    "np.fromfile('x')",
    "np.random.normal(size=len(a))",
    "np.linalg.norm(a)",
    "np.vectorize(a)",
    "np.log.reduce(a)",
    "np.testing",
    "a.to_csv('x')",
    "a.to_pickle('x')",
    "a.values.tofile('x')",
    "a.values.dump('x')",
    "a.map(abs)",
    "a.apply('to_csv')",
    "a.pipe(abs)",
    "a.agg('to_pickle', path='x')",
    "a.str.format(1)",
    "'{0.real}'.format(a)",
    "contr.mro()",
    "log.reduce(a)",
    "(lambda: a)()",
    "[a for i in range(3)]",
    "{i: a for i in range(3)}",
    "sum(i for i in a)",
    "f'{a}'",
    "(b := a)",
    "b'bytes'",
    "center(a, **{'_state': {}})",
    "center(a, _state={})",
    "max(*a)",
    "`__import-_`('os')",
    "`__import__`('os')",
    'center(a, \'"] or __import__("os").system("true") or ["\')',
    "I(a + len('\"'))",
    "g + '\ud800'",
    "``",
    "(" * 300 + "a" + ")" * 300,
    "a" + " + a" * 20_000,
    "-" * 20_000 + "a",
]


@pytest.mark.parametrize("code", GOOD)
def test_code_that_computes_is_run(code: str, data: pd.DataFrame) -> None:
    design = build_design(f"y ~ {code}", data)
    stored = json.loads(json.dumps(design.spec.to_dict()))
    matrix, _ = DesignSpec.from_dict(stored).matrix(data)
    np.testing.assert_array_equal(matrix, design.X)


@pytest.mark.parametrize("code", BAD, ids=lambda code: code[:40])
def test_code_that_does_more_is_refused(code: str, data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError):
        build_design(f"y ~ {{{code}}}", data)
    with pytest.raises(FormulaError):
        DesignSpec.from_dict(with_term(data, code)).matrix(data)


@pytest.mark.parametrize(
    "code",
    [
        "a.astype('datetime64[ns, dateutil//etc/hostname]')",
        "a.astype('datetime64[ns, date' + 'util//etc/hostname]')",
        "a.astype(dtype={'a': 'float'})",
        "a.astype('float', errors='ignore')",
        "[a.astype][0]('float')",
        "max(['float'], key=a.astype)",
    ],
)
def test_a_type_that_could_name_a_file_is_refused(code: str, data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError, match="not written out"):
        build_design(f"y ~ {{{code}}}", data)
    with pytest.raises(FormulaError, match="not written out"):
        DesignSpec.from_dict(with_term(data, code)).matrix(data)


@pytest.mark.parametrize(
    "piece", [["a", "unknown"], ["a", None], [5, "python"], [["a"], "lookup"], ["a", ["python"]]]
)
def test_a_stored_term_that_is_none_is_refused(piece: list[Any], data: pd.DataFrame) -> None:
    stored = build_design("y ~ I(a)", data).spec.to_dict()
    with pytest.raises(DataError, match="a stored term is none"):
        DesignSpec.from_dict({**stored, "response": piece})
    stored["coding"]["terms"][1]["pieces"] = [piece]
    with pytest.raises(DataError, match="a stored term is none"):
        DesignSpec.from_dict(stored)


def with_term(data: pd.DataFrame, code: str) -> dict[str, Any]:
    """A stored design whose only term was replaced by code."""
    stored = build_design("y ~ I(a)", data).spec.to_dict()
    stored["coding"]["terms"][1]["pieces"] = [[code, "python"]]
    stored["coding"]["terms"][1]["scopes"] = [[[[code, False]], 1]]
    return stored


def test_a_stored_name_is_no_grant(data: pd.DataFrame) -> None:
    names = ("_formulaic___import__", "__import-_", "text", "open", "float", "np")
    calls = ("`__import-_`('os')", "text.format(a)", "open('x')")
    for code in (*calls, "a.astype(text)", "a.astype(float)", "a.astype(np.float32)"):
        stored = with_term(data, code)
        stored["context"] = {"!": "dict", "items": [[name, "{0.real}"] for name in names]}
        with pytest.raises(FormulaError):
            DesignSpec.from_dict(stored).matrix(data)


def test_the_response_of_a_file_is_checked_too(data: pd.DataFrame) -> None:
    stored = build_design("y ~ I(a)", data).spec.to_dict()
    stored["response"] = ["np.f2py.os.getcwd()", "python"]
    with pytest.raises(FormulaError, match=r"np\.f2py"):
        DesignSpec.from_dict(stored).response(data)


def test_what_the_user_gives_may_be_used(data: pd.DataFrame) -> None:
    context = {"special": scipy.special, "half": lambda x: x / 2, "math": math}
    design = build_design("y ~ special.expit(a) + half(b):{b * math.pi}", data, context=context)
    again = DesignSpec.from_dict(design.spec.to_dict(), context)
    np.testing.assert_array_equal(again.matrix(data)[0], design.X)
    assert build_design("y ~ {np.linalg.norm(a) * b}", data, context={"np": np}).names


@pytest.mark.parametrize("code", ["tools.os.getcwd()", "tools.inner.os.getcwd()", "tools.np.e"])
def test_a_module_of_the_user_is_no_way_to_others(code: str, data: pd.DataFrame) -> None:
    class Inner:
        os = os

    class Tools:
        os, np, inner = os, np, Inner

    with pytest.raises(FormulaError, match="tools"):
        build_design(f"y ~ {{a + len({code})}}", data, context={"tools": Tools})


def test_what_is_private_to_the_users_tools_stays_so(data: pd.DataFrame) -> None:
    class Tools:
        @staticmethod
        def _hidden(x: Any) -> Any:
            return x

    with pytest.raises(FormulaError, match="private"):
        build_design("y ~ tools._hidden(a)", data, context={"tools": Tools})


def test_there_is_no_module_behind_np() -> None:
    kinds = {type(value).__name__ for value in vars(allowed.numpy_namespace()).values()}
    assert "module" not in kinds
    assert {"log", "where", "clip", "pi", "maximum"} <= vars(allowed.numpy_namespace()).keys()
    for name in ("load", "save", "fromfile", "memmap", "vectorize", "savetxt", "genfromtxt"):
        assert not hasattr(allowed.numpy_namespace(), name)


def test_the_second_wall_holds_without_the_first(
    data: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robustsparse.design.formulas.coding.check_code", lambda *given: None)
    for code in ("open('x')", "eval('1')", "np.f2py", "np.load('x')"):
        with pytest.raises(FormulaError, match="cannot be evaluated"):
            DesignSpec.from_dict(with_term(data, code)).matrix(data)


def test_a_model_file_runs_nothing_at_predict(tmp_path: Path, data: pd.DataFrame) -> None:
    path, mark = tmp_path / "fit.rs", tmp_path / "mark"
    rs.rht("y ~ I(a) + b", data, keep=["a", "b"]).save(path)
    with zipfile.ZipFile(path) as archive:
        text = archive.read("result.json").decode()
    code = f"I(a if np.f2py.os.mkdir('{mark}') else a)"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("result.json", text.replace('"I(a)"', json.dumps(code)))
    back = rs.load(path)
    with pytest.raises(FormulaError, match="trusted=True"):
        back.predict(data)
    assert not mark.exists()


def test_a_trusted_file_may_do_what_it_likes(data: pd.DataFrame) -> None:
    stored = with_term(data, "a.map(lambda v: 2 * v)")
    stored["coding"]["terms"][1]["columns"] = ["a.map(lambda v: 2 * v)"]
    with pytest.raises(FormulaError, match="lambda"):
        DesignSpec.from_dict(stored).matrix(data)
    matrix, _ = DesignSpec.from_dict(stored, trusted=True).matrix(data)
    np.testing.assert_array_equal(matrix[:, 0], 2 * data["a"])


def test_load_passes_trust_on(tmp_path: Path, data: pd.DataFrame) -> None:
    path = tmp_path / "fit.rs"
    fit = rs.rht("y ~ I(a) + b", data, keep=["a", "b"])
    fit.save(path)
    with zipfile.ZipFile(path) as archive:
        text = archive.read("result.json").decode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("result.json", text.replace('"I(a)"', '"a.map(lambda v: v)"'))
    with pytest.raises(FormulaError, match="map"):
        rs.load(path).predict(data)
    trusted = rs.load(path, trusted=True).predict(data)
    pd.testing.assert_series_equal(trusted, fit.predict(data), check_exact=True)
