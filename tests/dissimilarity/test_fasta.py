"""The FASTA reader: what it reads, and the line it names when it refuses."""

from __future__ import annotations

import io

import pytest

from protocover.dissimilarity._sequences import FastaRecord, read_fasta


def test_lines_of_a_sequence_are_joined_and_empty_lines_between_records_skipped(tmp_path):
    path = tmp_path / "some.fasta"
    path.write_bytes(b"\n>one the first\r\nMKV\r\nla*\r\n\r\n>two\nA-C\n\n\n")
    records = read_fasta(path)
    assert records == [FastaRecord("one the first", "MKVla*"), FastaRecord("two", "A-C")]
    assert [record.name for record in records] == ["one", "two"]
    assert read_fasta(str(path)) == records


def test_real_files_are_read_whole(data_folder):
    records = read_fasta(data_folder / "protein" / "scop153.fasta")
    assert len(records) == 4352
    assert records[0].name == "d3sdha_"
    assert records[0].sequence.startswith("SVYDAAAQLTADVKKDL")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MKV\n", "line 1: a header, which starts with '>', must come first, got 'MKV'"),
        ("\n\nMKV\n>a\nMKV\n", "line 3: a header, .* must come first"),
        (">a\nMKV\n>\nMKV\n", "line 3: a header must name its sequence"),
        (">a\n>b\nMKV\n", "line 1: no sequence follows the header 'a'"),
        (">a\nMKV\n>b\n", "line 3: no sequence follows the header 'b'"),
        (">a\nMK1V\n", "line 2: '1' at position 3 is not a letter"),
        (">a\nMKV\nMK V\n", "line 3: ' ' at position 3"),
        (">a\nMKV\n; remark\n", "line 3: ';' at position 1"),
        (">a\nMKé\n", "line 2: 'é' at position 3"),
        (">a\nMK\n\nVV\n", "line 3: an empty line within the sequence 'a'"),
        ("", "holds no FASTA record"),
        ("\n\n", "holds no FASTA record"),
    ],
)
def test_malformed_text_is_refused_with_its_line(text, message):
    with pytest.raises(ValueError, match=message):
        read_fasta(io.StringIO(text))


def test_an_error_names_the_file(tmp_path):
    path = tmp_path / "broken.fasta"
    path.write_bytes(b">a\nMKV\n>b \xff\nMKV\n")
    with pytest.raises(ValueError, match=r"broken\.fasta, line 3: not UTF-8 text"):
        read_fasta(path)
