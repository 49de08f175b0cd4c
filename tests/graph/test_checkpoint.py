"""Parts of a run on disk."""

import numpy as np
import pytest

from robustsparse.base.errors import ParameterError
from robustsparse.graph.checkpoint import Checkpoint, fingerprint


def test_a_part_comes_back_as_it_was(tmp_path):
    store = Checkpoint.open(tmp_path / "run", "abc")
    assert store.read("nodes-0") is None
    store.write("nodes-0", {"value": np.array([0.1, np.pi]), "node": np.array([1, 2])})
    again = Checkpoint.open(tmp_path / "run", "abc").read("nodes-0")
    assert again["value"].tolist() == [0.1, np.pi]
    assert again["node"].tolist() == [1, 2]


def test_without_a_folder_nothing_is_kept():
    store = Checkpoint.open(None, "")
    store.write("nodes-0", {"value": np.zeros(1)})
    assert store.read("nodes-0") is None


def test_another_run_is_refused(tmp_path):
    Checkpoint.open(tmp_path, "abc")
    with pytest.raises(ParameterError, match="other data or with other arguments"):
        Checkpoint.open(tmp_path, "abd")


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(ParameterError, match="other files"):
        Checkpoint.open(tmp_path, "abc")
    assert (tmp_path / "thesis.txt").read_text() == "precious"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="cannot be used"):
        Checkpoint.open(tmp_path / "file", "abc")


def test_half_a_part_is_no_part(tmp_path):
    store = Checkpoint.open(tmp_path, "abc")
    (tmp_path / "nodes-0.17.part").write_bytes(b"half")
    assert store.read("nodes-0") is None
    # A run that was killed while it wrote goes on.
    assert Checkpoint.open(tmp_path, "abc").read("nodes-0") is None


@pytest.mark.parametrize("content", [b"", b"PK", b"not an archive"])
def test_a_damaged_part_is_made_again(tmp_path, content):
    store = Checkpoint.open(tmp_path, "abc")
    (tmp_path / "nodes-0.npz").write_bytes(content)
    assert store.read("nodes-0") is None
    store.write("nodes-0", {"value": np.ones(2)})
    assert store.read("nodes-0")["value"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_damaged_folder_is_named(tmp_path, content):
    Checkpoint.open(tmp_path, "abc")
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ParameterError, match="checkpoint="):
        Checkpoint.open(tmp_path, "abc")


def test_what_is_no_path_is_named():
    with pytest.raises(ParameterError, match="checkpoint=3"):
        Checkpoint.open(3, "abc")


def test_hidden_files_and_left_overs_do_not_matter(tmp_path):
    (tmp_path / ".DS_Store").write_text("")
    (tmp_path / "run.json.17.part").write_text("")
    Checkpoint.open(tmp_path, "abc")
    assert not list(tmp_path.glob("*.part"))


def test_fingerprints_tell_data_and_settings_apart():
    data = {"X": np.arange(6.0)}
    base = fingerprint(data, {"k": 3})
    assert base == fingerprint({"X": np.arange(6.0)}, {"k": 3})
    assert base != fingerprint({"X": np.arange(6.0).reshape(2, 3)}, {"k": 3})
    assert base != fingerprint({"X": np.arange(6)}, {"k": 3})
    assert base != fingerprint({"X": np.nextafter(np.arange(6.0), 9)}, {"k": 3})
