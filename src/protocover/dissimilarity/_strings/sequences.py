"""Sequences of letters, in whatever they are handed over, as one array of letter numbers."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .fasta import read_fasta


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
