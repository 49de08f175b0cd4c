"""Archives: what is read back, and files that ask for more than they hold."""

import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.base.errors import DataError
from robustsparse.base.zipped import opened_archive, write_archive

HEAD = '{"format": "robustsparse.RHTResult", "version": 2, "result": '
# Peak above the start that no file may cause, and seconds (the test asserts no wall time, the limit ends a hang).
MOST_MEMORY = 100 << 20
LONGEST = 60


def packed(path: Path, members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array))
    return buffer.getvalue()


def test_members_come_back(tmp_path: Path) -> None:
    big = np.random.default_rng(0).standard_normal((700, 1100))
    text = {"quote": 'a "b" \\', "nested": [[["["]]], "n": 1.5}
    members = {
        "text.json": json.dumps(text),
        "big.npy": npy(big),
        "columns.npy": npy(np.asfortranarray(big[:3])),
        "empty.npy": npy(np.zeros(0, dtype=np.int32)),
    }
    write_archive(tmp_path / "a", members)
    packed(tmp_path / "b", members, zipfile.ZIP_STORED)
    for name in ("a", "b"):
        with opened_archive(tmp_path / name) as archive:
            assert archive.json("text.json") == text
            np.testing.assert_array_equal(archive.array("big.npy"), big)
            assert archive.array("columns.npy").flags.f_contiguous
            assert archive.array("big.npy").flags.writeable
            assert archive.array("empty.npy").dtype == np.int32
            assert archive.names == set(members)


def test_brackets_in_texts_do_not_count(tmp_path: Path) -> None:
    labels = ["[0, 1)", "{", '"[', "\\[", '\\"['] * 1000
    write_archive(tmp_path / "a", {"t": json.dumps(labels)})
    with opened_archive(tmp_path / "a") as archive:
        assert archive.json("t") == labels


@pytest.mark.parametrize("split", range(1, 12))
def test_a_text_is_counted_alike_however_it_is_cut(split: int) -> None:
    from robustsparse.base.zipped import _Room

    text = json.dumps([["\\", '\\"[['], {"a": [1, 2, "]]"]}]).encode()
    whole, parts = _Room(), _Room()
    whole.add(text)
    for start in range(0, len(text), split):
        parts.add(text[start : start + split])
    assert (parts.bytes, parts.deepest, parts.depth) == (whole.bytes, 3, 0)


def header(text: str, data: bytes = b"") -> bytes:
    padded = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode() + data


FALSE_ARRAYS = {
    "shape": header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000,), }", bytes(8)
    ),
    "negative": header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", bytes(8)),
    "objects": header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", bytes(8)),
    "wide": header("{'descr': '<U1000000000', 'fortran_order': False, 'shape': (1,), }", bytes(8)),
    "nothing": b"",
    "version": b"\x93NUMPY\x02\x00\xff\xff\xff\x7f",
    "code": header("__import__('os')"),
}


@pytest.mark.parametrize("case", FALSE_ARRAYS)
def test_a_header_is_not_believed(case: str, tmp_path: Path) -> None:
    packed(tmp_path / "a", {"a.npy": FALSE_ARRAYS[case]})
    with opened_archive(tmp_path / "a") as archive, pytest.raises((ValueError, EOFError)):
        archive.array("a.npy")


def encrypted(path: Path) -> None:
    packed(path, {"result.json": HEAD + "{}}"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    content[6] |= 1
    path.write_bytes(content)


def long_directory(path: Path) -> None:
    others = {f"m{i}": b"" for i in range(40_000)}
    packed(path, {"result.json": HEAD + "{}}", **others})


def false_directory(path: Path) -> None:
    """The directory is said to be half a gigabyte long, in a file with a hole of that size."""
    with path.open("wb") as file:
        file.truncate(1 << 29)
        file.seek(0, 2)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 9, 9, 1 << 29, 0, 0))


def spec_of(path: Path, text: str) -> None:
    packed(path, {"result.json": text})


BOMBS: dict[str, Any] = {
    "spaces": lambda p: spec_of(p, HEAD + " " * 300_000_000 + "{}}"),
    "brackets": lambda p: spec_of(p, HEAD + "[" * 200_000 + "]" * 200_000 + "}"),
    "braces": lambda p: spec_of(p, HEAD + '{"a":' * 200_000 + "1" + "}" * 200_000 + "}"),
    "lists": lambda p: spec_of(p, HEAD + "[" + "[]," * 2_000_000 + "[]]}"),
    "dictionaries": lambda p: spec_of(p, HEAD + "[" + "{}," * 2_000_000 + "{}]}"),
    "numbers": lambda p: spec_of(p, HEAD + "[" + "1.5," * 20_000_000 + "1]}"),
    "digits": lambda p: spec_of(p, HEAD + "1" * 5_000_000 + "}"),
    "wide characters": lambda p: spec_of(p, HEAD + '"😀' + "a" * 8_000_000 + '"}'),
    "not a number": lambda p: spec_of(p, HEAD + "NaN}"),
    "another encoding": lambda p: packed(p, {"result.json": (HEAD + "{}}").encode("utf-16")}),
    "encrypted": encrypted,
    "many members": long_directory,
    "false directory": false_directory,
    "another method": lambda p: packed(p, {"result.json": HEAD + "{}}"}, zipfile.ZIP_LZMA),
    "arrays": lambda p: packed(p, {"result.json": HEAD + "{}}", "a": bytes(300_000_000)}),
}

_LOAD = """
import pathlib, re, sys
import robustsparse as rs
def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search("VmHWM:\\s+(\\d+) kB", status)[1]) * 1024
start = peak()
for path in sys.argv[1:]:
    try:
        rs.load(path)
    except rs.DataError:
        print(peak() - start)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured otherwise")
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    for name, write in BOMBS.items():
        write(tmp_path / name)
    paths = [str(tmp_path / name) for name in BOMBS]
    command = [sys.executable, "-c", _LOAD, *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True)
    peaks = [int(line) for line in done.stdout.split()]
    assert len(peaks) == len(BOMBS)
    assert max(peaks) < MOST_MEMORY


def test_a_trusted_file_may_be_packed_tightly(tmp_path: Path) -> None:
    text = json.dumps([0.0] * 3_000_000)
    write_archive(tmp_path / "a", {"t": text})
    with opened_archive(tmp_path / "a") as archive, pytest.raises(DataError, match="trusted=True"):
        archive.json("t")
    with opened_archive(tmp_path / "a", trusted=True) as archive:
        assert len(archive.json("t")) == 3_000_000


def test_large_models_and_graphs_are_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 100_000)).astype(np.float32)
    fit = rs.rht_fit(X, X[:, 0] + rng.standard_normal(30) / 9, k=1)
    fit.save(tmp_path / "fit.rs")
    assert rs.load(tmp_path / "fit.rs").support() == fit.support()
    graph = rs.robust_ns(rng.standard_normal((20_000, 3)), k=1)
    graph.save(tmp_path / "graph.rs")
    assert rs.load(tmp_path / "graph.rs").n_edges == graph.n_edges
