import numpy as np
import pytest

from paper import PAPER
from protocover import PVMClassifier
from protocover.data import parquet
from protocover.data.parquet import parquet_to_memmap

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(0)


def write(path, columns, size=7):
    pq.write_table(pa.table(columns), path, row_group_size=size)
    return path


def test_rows_and_labels_come_out_as_they_went_in(tmp_path):
    a, b = RNG.normal(size=(2, 20))
    kinds = RNG.choice(["x", "y"], size=20)
    path = write(tmp_path / "t.parquet", {"kind": kinds, "a": a, "b": b})
    X, y = parquet_to_memmap(path, tmp_path / "rows", label="kind")
    assert isinstance(X, np.memmap)
    np.testing.assert_array_equal(X, np.column_stack((a, b)))
    np.testing.assert_array_equal(y, kinds)
    X, y = parquet_to_memmap(path, tmp_path / "rows", features=["b"])
    np.testing.assert_array_equal(X, b[:, None])
    assert y is None
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, kinds)
    np.testing.assert_array_equal(
        model.prototype_indices_,
        PVMClassifier(eps=1.0, **PAPER).fit(b[:, None], kinds).prototype_indices_,
    )


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["float32", "float32"], "float32"),
        (["float32", "int16"], "float32"),
        (["float32", "int32"], "float64"),
        (["uint8"], "float32"),
        (["float64", "float32"], "float64"),
    ],
)
def test_precision_is_the_narrowest_that_keeps_the_values(tmp_path, kinds, expected):
    columns = {str(k): np.arange(5).astype(kind) for k, kind in enumerate(kinds)}
    X, _ = parquet_to_memmap(write(tmp_path / "t.parquet", columns), tmp_path / "rows")
    assert X.dtype == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": ["c"]}, r"has no columns \['c'\]; it has \['a', 'word'\]"),
        ({"label": "c"}, r"has no columns \['c'\]"),
        ({}, r"columns \['word'\] are not numbers; leave them out with features="),
        ({"features": []}, "must hold rows and features, got 3 x 0"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(tmp_path, arguments, message):
    path = write(tmp_path / "t.parquet", {"a": [1.0, 2.0, 3.0], "word": ["x", "y", "z"]})
    with pytest.raises(ValueError, match=message):
        parquet_to_memmap(path, tmp_path / "rows", **arguments)


def test_batches_need_not_be_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_ROWS", 3)
    a, b = RNG.normal(size=(2, 20))
    path = write(tmp_path / "t.parquet", {"a": a, "b": b, "kind": np.arange(20) % 2})
    X, y = parquet_to_memmap(path, tmp_path / "rows", label="kind")
    np.testing.assert_array_equal(X, np.column_stack((a, b)))
    np.testing.assert_array_equal(y, np.arange(20) % 2)


def test_a_file_that_is_not_there_or_damaged_is_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError):
        parquet_to_memmap(tmp_path / "t.parquet", tmp_path / "rows")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(ValueError, match=r"t\.parquet cannot be read as Parquet .*write it anew"):
        parquet_to_memmap(tmp_path / "t.parquet", tmp_path / "rows")
    assert not (tmp_path / "rows").exists()
