"""Sequences of letters: FASTA files, lists and columns, and their letters as numbers."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


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


def list_sequences(X: Any) -> list[Any]:
    """List the sequences of a list, array, series, one-column frame or FASTA file."""
    if isinstance(X, os.PathLike):
        return [record.sequence for record in read_fasta(X)]
    if isinstance(X, (str, bytes)):
        raise ValueError(
            f"X must hold several sequences, got the one string {X[:30]!r}; pass [sequence], or "
            "pathlib.Path(name) for a FASTA file"
        )
    sequences = list(_column(X))
    for i, sequence in enumerate(sequences):
        if not isinstance(sequence, (str, bytes, list, tuple, np.ndarray)):
            raise ValueError(
                f"each sequence must be a string or a list of letters, got {sequence!r} at row {i}"
            )
    return sequences


def check_alphabet(
    alphabet: Sequence[Hashable] | None, sequences: list[Any]
) -> tuple[Hashable, ...]:
    """Return the letters of `alphabet`, each once, or those of `sequences` where it is None."""
    if alphabet is None:
        return tuple(sorted(set(chain.from_iterable(sequences)), key=repr))
    letters = tuple(alphabet)
    if not letters or len(set(letters)) < len(letters):
        raise ValueError(f"alphabet must be a sequence of different letters, got {alphabet!r}")
    return letters


def encode(
    sequences: list[Any], alphabet: Sequence[Hashable], *, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the letters of all sequences, by their number in `alphabet`, and the lengths.

    A letter that is not in the alphabet is -1.
    """
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
    short = np.flatnonzero(lengths < k)
    if len(short):
        raise ValueError(
            f"each sequence must have at least k={k} letters, got {lengths[short[0]]} at row "
            f"{short[0]}: {sequences[short[0]]!r}; leave short sequences out or lower k"
        )
    number = {letter: i for i, letter in enumerate(alphabet)}
    letters = chain.from_iterable(sequences)
    codes = np.fromiter(
        (number.get(letter, -1) for letter in letters), dtype=np.int64, count=lengths.sum()
    )
    return codes, lengths


def refuse_unknown_letters(sequences: list[Any], alphabet: Sequence[Hashable]) -> None:
    """Raise an error that names the first letter that is not in the alphabet, if there is one."""
    unknown = set(chain.from_iterable(sequences)).difference(alphabet)
    if not unknown:
        return
    row, position, letter = next(
        (row, position, letter)
        for row, sequence in enumerate(sequences)
        for position, letter in enumerate(sequence)
        if letter in unknown
    )
    shown = " ".join(str(letter) for letter in alphabet)
    raise ValueError(
        f"letter {letter!r} at position {position} of row {row} is not in the "
        f"alphabet {shown}; pass alphabet= with every letter that may occur"
    )


def _column(X: Any) -> Any:
    """Return the only column of a frame or of an array of strings; anything else as it is."""
    if hasattr(X, "columns"):
        if X.shape[1] != 1:
            raise ValueError(
                f"X must have one column, of sequences, got {X.shape[1]} columns; pass "
                "X['name of the column']"
            )
        return X.to_numpy().ravel()
    is_column = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1
    return X.ravel() if is_column else X
