"""Damaged and forged files: read as they stand, or refused with an error of ours."""

import copy
import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import robustsparse as rs
from tests.memory import at_most

# Peak above the start that a file may cause.
MOST_MEMORY = 100 << 20
SLOW = settings(suppress_health_check=list(HealthCheck))

# What a forger would write in the place of anything.
FORGED: list[Any] = [
    None, True, 0, -1, 10**12, 10**30, 1.5, 1e308, "", "x", "nan", [], {}, [[]], [None], {"!": "x"},
    {"!": "array", "dtype": "<U1000000000", "shape": [1], "items": ["a"]},
    {"!": "array", "dtype": "<f8", "shape": [10**6, 10**6], "items": [1.0]},
    {"!": "array", "dtype": "O", "shape": [2], "items": [[1], {}]},
    {"!": "scalar", "dtype": "V1000000000", "value": 10**9}, {"!": "scalar", "dtype": "S", "value": 10**10},
    {"!": "float", "value": "inf"}, {"!": "float", "value": []}, {"!": "time", "value": "now"},
    {"!": "dict", "items": [[[], 1]]}, {"!": "tuple", "items": 3}, {"!": "interval", "items": [1, 0], "closed": "x"},
    {"range": [0, 10**12, 1], "name": None}, {"range": [0, 1, 0], "name": None},
    {"values": ["a"], "dtype": "V1000000000", "name": None}, {"values": [1], "dtype": "interval", "name": None},
    {"levels": [{"range": [0, 10**12, 1], "name": None}] * 2, "names": [None, None]},
    {"codes": [9], "ordered": 1, "categories": {"range": [0, 10**12, 1], "name": None}, "name": None},
    {"times": [10**30], "dtype": "M8[ns]", "zone": "x", "name": None}, {"times": [1], "period": "x", "name": None},
    ["np.f2py.os.system('true')", "python"], "np.f2py.os.system('true')", "int64", "object", "U1000000000",
]  # fmt: skip


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A model of a formula, one of arrays and a graph."""
    folder = tmp_path_factory.mktemp("saved")
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_arrays(
        [rng.choice(list("ab"), 30), pd.date_range("2020", periods=30)]
    )
    data = pd.DataFrame(
        {"y": rng.normal(size=30), "a": rng.normal(size=30), "g": rng.choice(list("uvw"), 30)},
        index,
    )
    data.iloc[3, 1] = np.nan
    rs.rht("y ~ bs(a, df=4) + C(g) + center(a):g", data, k=2).save(folder / "formula.rs")
    # Of noise a given k is not doubted.
    rs.rht_fit(rng.normal(size=(30, 3)), rng.normal(size=30) > 0, family="binomial", k=1).save(
        folder / "arrays.rs"
    )
    rs.robust_ns(pd.DataFrame(rng.normal(size=(30, 4))), k=2).save(folder / "graph.rs")
    return sorted(folder.iterdir())


def read(path: Path) -> None:
    with warnings.catch_warnings(), at_most(MOST_MEMORY):
        warnings.simplefilter("ignore")
        try:
            rs.load(path)
        except rs.DataError as error:
            text = str(error)
        else:
            text = "read"
    assert 0 < len(text) < 1000


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes with some of them changed, left out, doubled or cut off."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 5))):
        if not changed:
            break
        place = draw(st.integers(0, len(changed) - 1))
        # Directories and headers are short, and most is known of them at the ends.
        if draw(st.booleans()):
            place = max(0, len(changed) - 1 - place % 120)
        what = draw(st.sampled_from(["flip", "set", "cut", "insert", "remove", "zero"]))
        if what == "flip":
            changed[place] ^= 1 << draw(st.integers(0, 7))
        elif what == "set":
            changed[place] = draw(st.integers(0, 255))
        elif what == "cut":
            del changed[place:]
        elif what == "insert":
            changed[place:place] = draw(st.binary(min_size=1, max_size=8))
        elif what == "remove":
            del changed[place : place + draw(st.integers(1, 64))]
        else:
            changed[place : place + 8] = bytes(len(changed[place : place + 8]))
    return bytes(changed)


@SLOW
@given(data=st.data())
def test_damaged_archives(data: st.DataObject, saved: list[Path]) -> None:
    path = data.draw(st.sampled_from(saved))
    target = path.parent.parent / "damaged.rs"
    target.write_bytes(data.draw(damaged(path.read_bytes())))
    read(target)


@SLOW
@given(data=st.data())
def test_damaged_members(data: st.DataObject, saved: list[Path]) -> None:
    members = contents(data.draw(st.sampled_from(saved)))
    name = data.draw(st.sampled_from(sorted(members)))
    members[name] = data.draw(damaged(members[name]))
    target = saved[0].parent.parent / "members.rs"
    target.write_bytes(packed(members))
    read(target)


@SLOW
@given(data=st.data())
def test_forged_values(data: st.DataObject, saved: list[Path]) -> None:
    members = contents(data.draw(st.sampled_from(saved)))
    stored = json.loads(members["result.json"])
    for _ in range(data.draw(st.integers(1, 3))):
        forge(data, stored["result"] if isinstance(stored.get("result"), dict) else stored)
    members["result.json"] = json.dumps(stored).encode()
    target = saved[0].parent.parent / "forged.rs"
    target.write_bytes(packed(members))
    read(target)


def packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def forge(data: st.DataObject, tree: Any) -> None:
    """Walk down to some place in a tree of JSON, and write there what does not belong."""
    while True:
        keys = sorted(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        below = tree[key]
        deeper = isinstance(below, dict | list) and len(below) > 0
        if deeper and data.draw(st.integers(0, 4)):
            tree = below
            continue
        what = data.draw(st.sampled_from(["forged", "forged", "remove", "another"]))
        if what == "remove":
            del tree[key]
        else:
            other = data.draw(
                st.sampled_from(FORGED if what == "forged" else [tree[k] for k in keys])
            )
            tree[key] = copy.deepcopy(other)
        return
