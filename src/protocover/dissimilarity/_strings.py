"""Spectrum and mismatch kernels of sequences, and the distances they induce."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._balls import Pairs, TablePairs
from .._typing import Floats
from ..data._fields import refuse
from ._kmers import distance_tiles, kernel_matrix, kernel_tiles
from ._sequences import check_alphabet, encode, list_sequences, refuse_unknown_letters


def mismatch_kernel(
    A: Any,
    B: Any = None,
    *,
    k: int,
    m: int,
    alphabet: Sequence[Hashable] | None = None,
    normalize: bool = True,
) -> Floats:
    """Compute the (k, m)-mismatch kernel of Leslie et al. between sequences.

    A sequence is described by one number for each of the possible words of k letters:
    how many of its own k-mers differ from that word in at most m places. The kernel is
    the inner product of two such descriptions.

    Parameters
    ----------
    A, B : list, array or series of sequences, or path of a FASTA file
        A sequence is a string, or a list of letters that may be anything hashable.
        Without `B`, the kernel of A with itself.
    k : int
        Length of the words.
    m : int
        Mismatches allowed, from 0 to k - 1.
    alphabet : str, sequence of letters, or None, default=None
        The letters words are made of: more letters, more words. None for the letters
        that occur in A and B.
    normalize : bool, default=True
        Whether to divide by ``sqrt(K(a, a) K(b, b))``.

    Returns
    -------
    ndarray of float, shape (n_a, n_b)
        If not normalised, integers, exact as long as all counts stay below 2^53.

    See Also
    --------
    MismatchDistance : The distance it induces.
    spectrum_kernel : The case of no mismatch.

    Notes
    -----
    The kernel depends only on how many pairs of k-mers differ in how many places, and
    that follows by inclusion and exclusion from the counts of gapped k-mers, which are
    sparse and do not grow with the alphabet.

    References
    ----------
    C. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble (2004). Mismatch string
    kernels for discriminative protein classification. Bioinformatics 20(4), 467-476.

    Examples
    --------
    Of the words of two letters, AC and AG have AA, AC, AG and AT within one mismatch of
    both.

    >>> from protocover.dissimilarity import mismatch_kernel
    >>> mismatch_kernel(["AC"], ["AG"], k=2, m=1, alphabet="ACGT", normalize=False)
    array([[4.]])
    """
    left = list_sequences(A)
    right = left if B is None or B is A else list_sequences(B)
    letters = check_alphabet(alphabet, [*left, *right])
    for sequences in (left, right):
        refuse_unknown_letters(sequences, letters)
    kernel, _, _ = kernel_tiles(left, right, _check_words(k, m), letters, normalize=normalize)
    return kernel_matrix(kernel, (len(left), len(right)), symmetric=right is left)


def spectrum_kernel(A: Any, B: Any = None, *, k: int, normalize: bool = True) -> Floats:
    """Compute the k-spectrum kernel: the inner product of the counts of k-mers.

    Parameters
    ----------
    A, B : list, array or series of sequences, or path of a FASTA file
        A sequence is a string, or a list of letters that may be anything hashable.
        Without `B`, the kernel of A with itself.
    k : int
        Length of the words.
    normalize : bool, default=True
        Whether to divide by ``sqrt(K(a, a) K(b, b))``.

    Returns
    -------
    ndarray of float, shape (n_a, n_b)

    See Also
    --------
    mismatch_kernel : Words that differ in a few places count too.

    References
    ----------
    C. Leslie, E. Eskin and W. S. Noble (2002). The spectrum kernel: a string kernel for
    SVM protein classification. Pacific Symposium on Biocomputing 7, 564-575.

    Examples
    --------
    AT occurs twice in the first and once in the second, TA once in each.

    >>> from protocover.dissimilarity import spectrum_kernel
    >>> spectrum_kernel(["ATAT"], ["TATT"], k=2, normalize=False)
    array([[3.]])
    """
    return mismatch_kernel(A, B, k=k, m=0, normalize=normalize)


class _WordDistance(BaseEstimator):
    """Base of both distances: samples are sequences, and the kernel is that of (k, m)-words.

    Each has k, m, alphabet and normalize, as parameters or as what they always are, and
    ``_letters(left, right)``, the letters that words are made of.
    """

    requires_array = False
    accepts_sparse = False
    input_tags: ClassVar[dict[str, bool]] = {
        "one_d_array": True,
        "two_d_array": False,
        "string": True,
    }
    symmetric = True

    def check_examples(self, X: Any) -> Any:
        """Return the sequences of a FASTA file as a list; leave others as they are."""
        return list_sequences(X) if isinstance(X, (str, bytes, os.PathLike)) else X

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the sequences of A from those of B."""
        return self.bind(A, B).table(slice(None), slice(None))

    def bind(self, A: Any, B: Any, **search: Any) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        left = list_sequences(A)
        right = left if B is A else list_sequences(B)
        letters, words = self._letters(left, right), _check_words(self.k, self.m)
        kernel = kernel_tiles(left, right, words, letters, normalize=self.normalize)
        return TablePairs(distance_tiles(*kernel))

    def _check_training(self, X: Any) -> tuple[Hashable, ...]:
        """Return the alphabet after checking the parameters and the training sequences."""
        k, _ = _check_words(self.k, self.m)
        sequences = list_sequences(X)
        letters = check_alphabet(self.alphabet, sequences)
        refuse_unknown_letters(sequences, letters)
        encode(sequences, letters, k=k)
        return letters


class MismatchDistance(_WordDistance):
    """The distance between sequences that the (k, m)-mismatch kernel induces.

    Parameters
    ----------
    k : int, default=4
        Length of the words that sequences are described by.
    m : int, default=1
        Mismatches allowed, from 0 to k - 1.
    alphabet : str, sequence of letters, or None, default=None
        The letters words are made of; a letter outside of it is an error. None for the
        letters that occur in the training sequences.
    normalize : bool, default=True
        Whether the kernel is divided by ``sqrt(K(a, a) K(b, b))``; distances are then
        from 0 to sqrt(2), whatever the lengths of the sequences.

    Attributes
    ----------
    alphabet_ : tuple of letters
        The letters words are made of.

    See Also
    --------
    mismatch_kernel : The kernel matrix itself.
    SpectrumDistance : The case of no mismatch, which needs no alphabet.

    Notes
    -----
    The points are a list, array or series of sequences, each a string or a list of
    letters, or the path of a FASTA file. A sequence of fewer than k letters has no
    description and is an error.

    If the alphabet is learned, a letter that comes later is in none of the words: it is a
    mismatch with each of them, like a letter of the alphabet that happens to be wrong. The
    words that describe a sequence, and so K(x, x), are those of the training letters. The
    distance of two sequences thus does not depend on what else comes with them. A sequence
    with more than m such letters in each of its k-mers has no description and is an error.

    Examples
    --------
    >>> from protocover.dissimilarity import MismatchDistance
    >>> distance = MismatchDistance(k=3, m=1, alphabet="ACGT").fit(["ACGTA", "TTTTT"])
    >>> distance.pairwise(["ACGTA"], ["ACGTA", "ACGTT", "TTTTT"]).round(2)
    array([[0.  , 0.61, 1.24]])
    """

    saved_state: ClassVar[tuple[str, ...]] = ("alphabet_",)

    def __init__(
        self,
        k: int = 4,
        m: int = 1,
        alphabet: Sequence[Hashable] | None = None,
        normalize: bool = True,
    ) -> None:
        self.k = k
        self.m = m
        self.alphabet = alphabet
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the alphabet, if it is not given, and check the sequences."""
        self.alphabet_ = self._check_training(X)
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check the alphabet that a model file has."""
        if not isinstance(self.alphabet_, tuple) or len(set(self.alphabet_)) < len(self.alphabet_):
            refuse("alphabet_ must be a tuple of different letters")

    def _letters(self, left: list[Any], right: list[Any]) -> tuple[Hashable, ...]:
        check_is_fitted(self)
        if self.alphabet is not None:
            for sequences in (left, right):
                refuse_unknown_letters(sequences, self.alphabet_)
        return self.alphabet_


class SpectrumDistance(_WordDistance):
    """The distance between sequences that the k-spectrum kernel induces.

    Parameters
    ----------
    k : int, default=3
        Length of the words that sequences are described by.
    normalize : bool, default=True
        Whether the kernel is divided by ``sqrt(K(a, a) K(b, b))``; distances are then
        from 0 to sqrt(2), whatever the lengths of the sequences.

    See Also
    --------
    spectrum_kernel : The kernel matrix itself.
    MismatchDistance : Words that differ in a few places count too.

    Notes
    -----
    The points are a list, array or series of sequences, each a string or a list of
    letters, or the path of a FASTA file. Any letter may occur. A sequence of fewer than k
    letters has no description and is an error.

    Examples
    --------
    >>> from protocover.dissimilarity import SpectrumDistance
    >>> SpectrumDistance(k=2).fit(["banana"]).pairwise(["banana"], ["bananas", "cherry"]).round(2)
    array([[0.32, 1.41]])
    """

    saved_state: ClassVar[tuple[str, ...]] = ()
    # The mismatch distance of no mismatch, with whatever letters there are.
    m = 0
    alphabet = None

    def __init__(self, k: int = 3, normalize: bool = True) -> None:
        self.k = k
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the sequences; there is nothing to learn."""
        self._check_training(X)
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check nothing: nothing was learned."""

    def _letters(self, left: list[Any], right: list[Any]) -> tuple[Hashable, ...]:
        return check_alphabet(None, [*left, *right])


def _check_words(k: Any, m: Any) -> tuple[int, int]:
    """Return the length of the words and the mismatches allowed, checked."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k must be an integer of at least 1, the length of a word, got {k!r}")
    if not isinstance(m, (int, np.integer)) or isinstance(m, bool) or not 0 <= m < k:
        raise ValueError(f"m must be an integer from 0 to k - 1 = {k - 1}, got {m!r}")
    return int(k), int(m)
