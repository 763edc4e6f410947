import gzip
import json
import os
import threading
from pathlib import Path

import pandas as pd
import pytest

from protocover._cli import main
from protocover._cli.console import CommandError, Console
from protocover._cli.tables import read_table


def read(path, content=None, **how):
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, console=Console(), **how)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path, separator):
    text = 'a,b,c\n1,"2;3|4",x\n5,6,y\n'.replace(",", separator)
    frame = read(tmp_path / "t.csv", text)
    assert list(frame.columns) == ["a", "b", "c"]
    assert frame["c"].tolist() == ["x", "y"]


def test_decimal_commas_do_not_pass_for_separators(tmp_path):
    frame = read(tmp_path / "t.csv", "a;b\n1,5;2,5\n3,5;4,5\n")
    assert frame["b"].tolist() == ["2,5", "4,5"]


def test_a_tsv_file_is_separated_by_tabs_whatever_its_cells_hold(tmp_path):
    frame = read(tmp_path / "t.tsv", "a,b\tc\n1,2\t3\n")
    assert list(frame.columns) == ["a,b", "c"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_is_found(tmp_path, encoding):
    frame = read(tmp_path / "t.csv", "größe,b\ncafé,2\n".encode(encoding))
    assert frame["größe"].tolist() == ["café"]


def test_a_given_encoding_that_does_not_fit_is_an_error(tmp_path):
    with pytest.raises(CommandError, match="--encoding ascii"):
        read(tmp_path / "t.csv", "größe\n1\n", encoding="ascii")


def test_gzipped_and_parquet_files_hold_the_same_table(tmp_path):
    table = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    table.to_csv(tmp_path / "t.csv.gz", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.csv.gz")["a"].tolist() == ["1.5", ""]
    pd.testing.assert_frame_equal(read(tmp_path / "t.parquet"), table)


def test_cells_are_kept_as_they_are_in_the_file(tmp_path):
    frame = read(tmp_path / "t.csv", 'a,b\n007,"=1+1"\n1e3,NA\n')
    assert frame.to_numpy().tolist() == [["007", "=1+1"], ["1e3", "NA"]]


@pytest.fixture
def pipe(tmp_path):
    """Return a function that gives a named pipe from which bytes can be read once."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")

    def make(content, name="pipe"):
        path = tmp_path / name
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
        return path

    return make


def test_a_pipe_is_read_once_and_whole(pipe):
    text = "a,b\n" + "".join(f"{k},x\n" for k in range(50_000))
    assert read(pipe(text.encode()))["a"].tolist() == [str(k) for k in range(50_000)]
    assert len(read(pipe(gzip.compress(text.encode()), "packed"))) == 50_000


def test_a_fit_and_a_check_read_a_pipe(pipe, flowers):
    content = flowers.to_csv(index=False).encode()
    words = ["--target", "kind", "--quiet"]
    assert main(["fit", str(pipe(content, "one")), *words, "--eps", "auto", "-o", "out"]) == 0
    assert json.loads(Path("out/summary.json").read_text())["data"]["cases"] == len(flowers)
    assert main(["check", str(pipe(content, "two")), *words]) == 0
    assert main(["predict", "out", str(pipe(content, "three")), "-o", "new.csv", *words]) == 0
    assert len(pd.read_csv("new.csv")) == len(flowers)


def test_a_pipe_with_a_parquet_file_or_without_an_end_is_refused(pipe, monkeypatch):
    with pytest.raises(CommandError, match="pipe with a Parquet file; save it to a file"):
        read(pipe(b"PAR1....", "t.parquet"))
    monkeypatch.setattr("protocover._cli.tables.available_memory", lambda: 1 << 20)
    with pytest.raises(CommandError, match="contains more than"):
        read(Path("/dev/zero"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "a,b,a\n1,2,3\n", "several columns named 'a'"),
        ("t.csv", "", "is empty"),
        ("t.csv", "\n\n", "is empty"),
        ("t.csv", "a,b\n", "no rows"),
        ("t.csv", "a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("t.csv", b"\x00\x01\x02", "not a text file"),
        ("t.xlsx", b"PK\x03\x04....", "save the table as CSV"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:20], "damaged or truncated"),
        ("t.parquet", b"PAR1 but not really", "cannot be read as Parquet"),
        ("t.csv", ",\n1,2\n", "no column names"),
    ],
)
def test_files_that_are_no_tables_get_one_clear_error(tmp_path, name, content, message):
    with pytest.raises((CommandError, ValueError), match=message):
        read(tmp_path / name, content)


def test_parquet_with_a_name_twice_is_refused(tmp_path):
    import pyarrow
    import pyarrow.parquet

    column = pyarrow.array([1, 2])
    table = pyarrow.Table.from_arrays([column, column], names=["a", "a"])
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(CommandError, match="several columns named 'a'"):
        read(tmp_path / "t.parquet")


def test_what_short_rows_lack_is_empty(tmp_path):
    frame = read(tmp_path / "t.csv", "a,b\n1,2\n3\n")
    assert frame["b"].tolist() == ["2", ""]


def test_an_index_that_pandas_wrote_along_is_no_column(tmp_path):
    table = pd.DataFrame({"a": [1.5, 2.5]}, index=[7, 9])
    table.to_parquet(tmp_path / "t.parquet")
    assert list(read(tmp_path / "t.parquet").columns) == ["a"]


def test_columns_without_a_name_are_left_out_and_told(tmp_path, capsys):
    frame = read(tmp_path / "t.csv", ",a\n0,x\n1,y\n")
    assert list(frame.columns) == ["a"]
    assert "without a name" in capsys.readouterr().err


def test_a_small_file_that_unpacks_to_more_than_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("protocover._cli.tables.available_memory", lambda: 1 << 20)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000))
    with pytest.raises(CommandError, match="decompresses to more than"):
        read(tmp_path / "t.csv.gz")
