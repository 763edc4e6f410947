"""Sequences: kernels against explicit features and a published matrix, and FASTA files."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, cross_val_score

import naive
from paper import PAPER
from protocover import PVMClassifier, PVMSelector, find_label_issues, suggest_eps
from protocover.dissimilarity import RankDissimilarity, _kmers
from protocover.dissimilarity._sequences import FastaRecord, read_fasta
from protocover.dissimilarity._strings import (
    MismatchDistance,
    SpectrumDistance,
    mismatch_kernel,
    spectrum_kernel,
)

PROTEIN = "ACDEFGHIKLMNPQRSTVWYBXZ"
DNA = ["ACGTACGT", "ACGTTCGA", "TTTTGGGG", "CATCATCAT", "GGGGTTTT", "ACGTACGTA"]


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_kernel_is_the_inner_product_of_explicit_features(data):
    alphabet = data.draw(st.sampled_from(["a", "ab", "abc", "abcd"]))
    k = data.draw(st.integers(1, 4))
    m = data.draw(st.integers(0, k - 1))
    sequence = st.text(alphabet, min_size=k, max_size=9)
    A = data.draw(st.lists(sequence, min_size=1, max_size=4))
    B = data.draw(st.lists(sequence, min_size=1, max_size=4))
    expected = naive.mismatch_kernel(A, B, k, m, alphabet)
    kernel = mismatch_kernel(A, B, k=k, m=m, alphabet=alphabet, normalize=False)
    np.testing.assert_array_equal(kernel, expected)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_dense_and_sparse_products_agree(monkeypatch, share):
    """All features in the dense product, or none, give the same integers."""
    monkeypatch.setattr(_kmers, "_DENSE_SHARE", share)
    kernel = mismatch_kernel(DNA, DNA[:2], k=3, m=1, alphabet="ACGT", normalize=False)
    np.testing.assert_array_equal(kernel, naive.mismatch_kernel(DNA, DNA[:2], 3, 1, "ACGT"))


def test_published_matrix_is_met_entry_for_entry(data_folder):
    """Proteins of Leslie et al.: k=4, m=1, 20 amino acids and B, X, Z."""
    folder = data_folder / "protein"
    records = read_fasta(folder / "leslie1708_identified.fasta")
    rows = [int(record.header.split("|")[0]) for record in records]
    published = np.load(folder / "leslie1708_kernel.npz")["K"][np.ix_(rows, rows)]
    sequences = [record.sequence for record in records]
    kernel = mismatch_kernel(sequences, k=4, m=1, alphabet=PROTEIN, normalize=False)
    assert len(rows) == 619
    np.testing.assert_array_equal(kernel, published)


def test_words_too_many_to_number_are_still_told_apart():
    """16 letters at 17 places pass 2^64, where a first letter would no longer count."""
    letters = "abcdefghijklmnop"
    kernel = spectrum_kernel(["a" + letters, "b" + letters], k=17, normalize=False)
    np.testing.assert_array_equal(kernel, np.eye(2))


def test_equal_sequences_are_at_distance_zero_exactly():
    copies = ["".join(letters) for letters in DNA]
    table = MismatchDistance(k=3, m=1).fit(DNA).pairwise(DNA, copies)
    np.testing.assert_array_equal(np.diagonal(table), 0.0)


def test_spectrum_is_mismatch_without_mismatches():
    expected = MismatchDistance(k=3, m=0).fit(DNA).pairwise(DNA, DNA)
    np.testing.assert_array_equal(SpectrumDistance(k=3).fit(DNA).pairwise(DNA, DNA), expected)
    np.testing.assert_array_equal(spectrum_kernel(DNA, k=3), mismatch_kernel(DNA, k=3, m=0))


def _containers():
    return {
        "tuple": tuple(DNA),
        "array": np.array(DNA),
        "object array": np.array(DNA, dtype=object),
        "column": np.array(DNA, dtype=object).reshape(-1, 1),
        "pandas series": pd.Series(DNA, index=range(10, 16)),
        "pandas frame": pd.DataFrame({"dna": DNA}),
        "polars series": pl.Series(DNA),
        "polars frame": pl.DataFrame({"dna": DNA}),
        "bytes": [sequence.encode() for sequence in DNA],
        "lists of letters": [list(sequence) for sequence in DNA],
        "lists of words": [[{"A": "ade"}.get(a, a) for a in sequence] for sequence in DNA],
        "arrays of numbers": [np.array([ord(a) for a in sequence]) for sequence in DNA],
    }


@pytest.mark.parametrize("name", list(_containers()))
def test_container_of_the_sequences_does_not_matter(name):
    X = _containers()[name]
    expected = MismatchDistance(k=3, m=1).fit(DNA).pairwise(DNA, DNA)
    np.testing.assert_array_equal(MismatchDistance(k=3, m=1).fit(X).pairwise(X, X), expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spectrum_kernel(DNA, k=0), "k must be an integer of at least 1.*got 0"),
        (lambda: spectrum_kernel(DNA, k=2.0), r"k must be an integer .*got 2\.0"),
        (
            lambda: mismatch_kernel(DNA, k=3, m=3),
            "m must be an integer from 0 to k - 1 = 2, got 3",
        ),
        (lambda: mismatch_kernel(DNA, k=3, m=-1), "m must be .* got -1"),
        (
            lambda: mismatch_kernel(["ACGT", "ACXT"], k=2, m=1, alphabet="ACGT"),
            "letter 'X' at position 2 of row 1 is not in the alphabet A C G T; pass alphabet=",
        ),
        (lambda: mismatch_kernel(DNA, k=2, m=1, alphabet="ACGTA"), "different letters.*'ACGTA'"),
        (lambda: mismatch_kernel(DNA, k=2, m=1, alphabet=""), "alphabet must be .* got ''"),
        (
            lambda: spectrum_kernel(["ACGT", "AC"], k=3),
            "at least k=3 letters, got 2 at row 1: 'AC'; leave short sequences out or lower k",
        ),
        (lambda: spectrum_kernel("ACGT", k=2), r"several sequences, got the one string 'ACGT'"),
        (lambda: spectrum_kernel(["ACGT", None], k=2), "got None at row 1"),
        (
            lambda: spectrum_kernel(pd.DataFrame({"a": DNA, "b": DNA}), k=2),
            "X must have one column, of sequences, got 2",
        ),
        (lambda: SpectrumDistance(k=9).fit(DNA), "at least k=9 letters, got 8 at row 0"),
        (lambda: MismatchDistance(k=3, m=4).fit(DNA), "m must be .* got 4"),
        (
            lambda: MismatchDistance(k=3, alphabet="ACGT").fit(DNA).pairwise(["ACGN"], DNA),
            "letter 'N' at position 3 of row 0 .* pass alphabet= with every letter",
        ),
        (
            lambda: MismatchDistance(k=3, m=1).fit(DNA).pairwise(["ACGT", "ANNTNNA"], DNA),
            "sequence at row 1 has more than m letters in each of its k-mers that do not occur",
        ),
    ],
)
def test_bad_input_is_refused_with_the_way_out(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.fixture
def fasta(tmp_path):
    path = tmp_path / "reads.fasta"
    path.write_text("".join(f">r{i}\n{sequence}\n" for i, sequence in enumerate(DNA)))
    return path


def test_a_selector_and_suspects_take_the_path_of_a_fasta_file(fasta):
    y = np.arange(len(DNA)) % 2
    selector = PVMSelector(eps=0.9, metric=SpectrumDistance(k=2), **PAPER)
    few, labels = selector.fit_resample(fasta, y)
    expected, expected_labels = selector.fit_resample(DNA, y)
    assert list(few) == list(expected)
    np.testing.assert_array_equal(labels, expected_labels)
    model = PVMClassifier(eps=0.9, metric=SpectrumDistance(k=2), **PAPER).fit(
        DNA, y, unlabeled=DNA
    )
    again = PVMClassifier(eps=0.9, metric=SpectrumDistance(k=2), **PAPER).fit(
        fasta, y, unlabeled=fasta
    )
    np.testing.assert_array_equal(again.candidate_indices_, model.candidate_indices_)
    np.testing.assert_array_equal(
        find_label_issues(model, fasta, y).row, find_label_issues(model, DNA, y).row
    )


@pytest.mark.parametrize(
    "metric",
    [MismatchDistance(3, 1), SpectrumDistance(2), RankDissimilarity(SpectrumDistance(2))],
    ids=str,
)
def test_a_model_is_fitted_on_the_path_of_a_fasta_file(fasta, metric):
    y = [0, 0, 1, 1, 1, 0]
    eps = 3.0 if isinstance(metric, RankDissimilarity) else "auto"
    from_file = PVMClassifier(eps=eps, metric=metric, **PAPER).fit(fasta, y)
    from_list = PVMClassifier(eps=eps, metric=metric, **PAPER).fit(DNA, y)
    assert list(from_file.prototypes_) == list(from_list.prototypes_)
    np.testing.assert_array_equal(from_file.predict(fasta), from_list.predict(DNA))
    np.testing.assert_array_equal(
        from_file.coverage(fasta, y).balls.toarray(), from_list.coverage(DNA, y).balls.toarray()
    )
    np.testing.assert_array_equal(
        suggest_eps(fasta, y, metric=metric), suggest_eps(DNA, y, metric=metric)
    )


def test_the_name_of_a_file_is_no_list_of_sequences(fasta):
    with pytest.raises(ValueError, match=r"or pathlib\.Path\(name\) for a FASTA file"):
        PVMClassifier(metric=SpectrumDistance(2), **PAPER).fit(str(fasta), [0] * 6)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_letters_that_come_later_mismatch_every_word(data):
    """Queries with unknown letters against explicit features over the training letters."""
    alphabet = data.draw(st.sampled_from(["a", "ab", "abc"]))
    k = data.draw(st.integers(1, 4))
    m = data.draw(st.integers(0, k - 1))
    train = data.draw(st.lists(st.text(alphabet, min_size=k, max_size=9), min_size=1, max_size=3))
    known = "".join(sorted(set("".join(train))))
    later = st.text(alphabet + "xy", min_size=k, max_size=9)
    queries = data.draw(st.lists(later, min_size=1, max_size=3))
    metric = MismatchDistance(k=k, m=m, normalize=False).fit(train)
    for A, B in ((queries, train), (train, queries), (queries, queries), (queries, list(queries))):
        K = naive.mismatch_kernel(A, B, k, m, known)
        rows = [naive.mismatch_kernel([a], [a], k, m, known)[0, 0] for a in A]
        columns = [naive.mismatch_kernel([b], [b], k, m, known)[0, 0] for b in B]
        expected = np.sqrt(np.add.outer(rows, columns) - 2.0 * K)
        np.testing.assert_allclose(metric.pairwise(A, B), expected, rtol=1e-12)


def test_a_query_is_as_far_alone_as_with_others():
    metric = MismatchDistance(k=3, m=1).fit(DNA)
    queries = ["ACGNACGT", "ACGTTCGA", "NACGTN"]
    whole = metric.pairwise(queries, DNA)
    for i, query in enumerate(queries):
        np.testing.assert_array_equal(metric.pairwise([query], DNA), whole[[i]])
    np.testing.assert_array_equal(metric.pairwise(DNA, queries), whole.T)


def test_words_of_any_length_may_hold_unknown_letters():
    """70 positions do not fit the bits of a machine word."""
    train = ["ab" * 50, "ba" * 50]
    query = "ab" * 36 + "z" + "ab" * 36
    metric = MismatchDistance(k=70, m=0, normalize=False).fit(train)
    kernel = spectrum_kernel([query], train, k=70, normalize=False)
    own = 4.0**2 + 2.0**2  # k-mers from a and from b on, before and after the unknown letter
    squares = own + np.array([16.0**2 + 15.0**2] * 2) - 2 * kernel
    np.testing.assert_allclose(metric.pairwise([query], train) ** 2, squares)


def test_cross_validation_without_an_alphabet():
    """A letter of a held-out fold need not be in the folds that are learned from."""
    words = [*DNA, "ACGTACGN", "TTTTGGGR"] * 2
    y = np.array([0, 0, 1, 1, 1, 0, 0, 1] * 2)
    order = np.argsort([("N" in word) + 2 * ("R" in word) for word in words], kind="stable")
    words, y = [words[i] for i in order], y[order]
    scores = cross_val_score(
        PVMClassifier(metric=MismatchDistance(3, 1), **PAPER), words, y, cv=KFold(4)
    )
    assert np.isfinite(scores).all()


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
