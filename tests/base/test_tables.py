"""Tables from files and to files."""

from pathlib import Path

import pandas as pd
import pytest

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.tables import WRITERS, read_table, write_table

FRAME = pd.DataFrame({"y": [1.5, -2.0, 3.25], "name": ["a", "b;c", "d,e"]})


@pytest.mark.parametrize("sep", [",", "\t", ";", "|"])
def test_the_separator_is_told_from_the_file(sep: str, tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.txt", sep=sep, index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.txt"), FRAME)


def test_a_file_of_one_column_stays_one(tmp_path: Path) -> None:
    FRAME[["y"]].to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), FRAME[["y"]])


def test_commas_for_points_only_beside_semicolons(tmp_path: Path) -> None:
    (tmp_path / "semi.csv").write_text("y;a\n1,5;2\n-3,25;4\n")
    assert read_table(tmp_path / "semi.csv")["y"].tolist() == [1.5, -3.25]
    assert read_table(tmp_path / "semi.csv", decimal=".")["y"].tolist() == ["1,5", "-3,25"]


def test_what_is_said_overrules_what_is_seen(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b;c\n1,2;3\n")
    assert list(read_table(tmp_path / "t.csv", sep=";").columns) == ["a,b", "c"]


def test_labels_of_rows(tmp_path: Path) -> None:
    FRAME.set_axis(["u", "v", "w"]).to_csv(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").index.tolist() == ["u", "v", "w"]
    named = read_table(tmp_path / "t.csv", index="name")
    assert named.index.tolist() == ["a", "b;c", "d,e"]
    with pytest.raises(DataError, match=r"no column 'nam' .*did you mean name"):
        read_table(tmp_path / "t.csv", index="nam")


@pytest.mark.parametrize("ending", WRITERS)
def test_what_is_written_can_be_read(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    write_table(FRAME, path)
    if ending == ".html":
        assert "<td>b;c</td>" in path.read_text()
        return
    got = pd.read_json(path) if ending == ".json" else read_table(path)
    pd.testing.assert_frame_equal(got.set_index("row").rename_axis(None), FRAME)


def test_an_ending_that_is_none_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"ends in none of \.csv, \.tsv"):
        write_table(FRAME, tmp_path / "t.doc")
    assert list(tmp_path.iterdir()) == []


def test_a_line_with_too_many_cells_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(DataError, match="Expected 2 fields in line 3, saw 3"):
        read_table(path)


@pytest.mark.parametrize("ending", [".xlsx", ".ods"])
def test_a_spreadsheet_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"book{ending}"
    path.write_bytes(b"PK")
    with pytest.raises(DataError, match="save the one with the data as CSV"):
        read_table(path)


def test_a_missing_file_stays_a_missing_file(tmp_path: Path) -> None:
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(FileNotFoundError):
            read_table(tmp_path / name)
