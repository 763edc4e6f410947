"""Reading sequences from FASTA files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FastaRecord:
    """One entry of a FASTA file.

    Attributes
    ----------
    header : str
        The line above the sequence, without its ``>``.
    sequence : str
        The letters, lines joined, their case kept.
    """

    header: str
    sequence: str

    @property
    def name(self) -> str:
        """The first word of the header."""
        return self.header.split(maxsplit=1)[0]


def read_fasta(source: str | os.PathLike[str] | Iterable[str]) -> list[FastaRecord]:
    r"""Read all entries of a FASTA file.

    Parameters
    ----------
    source : str, path, or iterable of lines
        A path, or an open text file.

    Returns
    -------
    list of FastaRecord
        In the order of the file.

    Raises
    ------
    ValueError
        With the number of the line at which the file is malformed: letters before the
        first header, a header without a name or without letters, an empty line within a
        sequence, anything in a sequence but letters, ``*`` and ``-``, or bytes that are
        not UTF-8.

    Examples
    --------
    >>> import io
    >>> from protocover.dissimilarity import read_fasta
    >>> records = read_fasta(io.StringIO(">a first\nMKV\nLA\n>b\nMKI\n"))
    >>> [(record.name, record.sequence) for record in records]
    [('a', 'MKVLA'), ('b', 'MKI')]
    """
    if isinstance(source, (str, os.PathLike)):
        # Bytes that are not UTF-8 are kept as surrogates, to be refused with their line.
        with Path(source).open(encoding="utf-8", errors="surrogateescape") as lines:
            return list(_records(lines, str(source)))
    return list(_records(source, "FASTA input"))


def _records(lines: Iterable[str], place: str) -> Iterator[FastaRecord]:
    """Yield the records of `lines`, one at least, refusing what is malformed."""
    header, header_line, gap = "", 0, 0
    parts: list[str] = []
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        _check_line(line, place, number)
        if line.startswith(">"):
            if header:
                yield _record(header, parts, place, header_line)
            header, header_line, gap, parts = line[1:].strip(), number, 0, []
            if not header:
                raise ValueError(f"{place}, line {number}: a header must name its sequence")
        elif not line:
            gap = gap or number
        elif not header:
            raise ValueError(
                f"{place}, line {number}: a header, which starts with '>', must come first, got "
                f"{line[:30]!r}"
            )
        elif gap and parts:
            raise ValueError(f"{place}, line {gap}: an empty line within the sequence {header!r}")
        else:
            parts.append(line)
    if not header:
        raise ValueError(f"{place} holds no FASTA record: no line starts with '>'")
    yield _record(header, parts, place, header_line)


def _record(header: str, parts: list[str], place: str, number: int) -> FastaRecord:
    """Join the lines of one sequence."""
    if not parts:
        raise ValueError(f"{place}, line {number}: no sequence follows the header {header!r}")
    return FastaRecord(header, "".join(parts))


def _check_line(line: str, place: str, number: int) -> None:
    """Refuse bytes that are not text, and in a sequence what cannot be a letter."""
    if any("\ud800" <= character <= "\udfff" for character in line):
        raise ValueError(f"{place}, line {number}: not UTF-8 text")
    if line.startswith(">"):
        return
    for column, character in enumerate(line, start=1):
        if not (character.isascii() and character.isalpha()) and character not in "*-":
            raise ValueError(
                f"{place}, line {number}: {character!r} at position {column} is not a letter; a "
                "sequence holds letters, '*' and '-' only"
            )
