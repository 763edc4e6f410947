"""Files that were damaged or made up give a clean error or a harmless model, never more.

Whoever makes up a file can make up its checksum as well, so most tests here do.
"""

import copy
import json
import struct
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_models import examples, other_models

from paper import PAPER
from protocover import ModelFileError, PVMClassifier, load_model, save_model
from protocover._persistence import container
from protocover._persistence.container import pack, unpack

NAMES = (
    "euclidean",
    "mahalanobis",
    "sparse array",
    "precomputed kernel",
    "rank of precomputed",
    "DANN",
    "tangent",
    "Gower of a frame",
    "Gower of a polars frame",
    "mismatch of list",
    "cross-validated",
    "standardised",
    "leaves",
    "own radii",
    "forced",
)
SELECTION = ("fitted", "solution_", "object", 1)
SOLUTION = ("model", *SELECTION, "solutions", "tuple", 0, "object", 1)
in_any_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25
)


class Files(dict):
    """Bytes and queries by name, too long to be printed when a test fails."""

    def __repr__(self):
        return "files"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a file and queries for its model, by name."""
    folder = tmp_path_factory.mktemp("saved")
    files = Files()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, example in (examples() | other_models()).items():
            if name in NAMES:
                save_model(example.fitted(), folder / "m")
                files[name] = ((folder / "m").read_bytes(), example.queries)
    return files


def load(data, folder):
    path = folder / "model.pvm"
    path.write_bytes(data)
    return load_model(path)


def forge(document, arrays):
    """The bytes of a file with these contents and a checksum that fits."""
    return b"".join(pack(document, list(arrays)))


def refused(data, folder):
    with pytest.raises(ModelFileError):
        load(data, folder)


@in_any_folder
@given(where=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
def test_a_file_with_any_byte_altered_is_refused(saved, tmp_path, where, change):
    data = bytearray(saved["euclidean"][0])
    data[int(where * len(data))] ^= change
    refused(bytes(data), tmp_path)


@in_any_folder
@given(where=st.floats(0, 1, exclude_max=True))
def test_a_truncated_file_is_refused(saved, tmp_path, where):
    data = saved["euclidean"][0]
    refused(data[: int(where * len(data))], tmp_path)


@in_any_folder
@given(where=st.floats(0, 1), inserted=st.binary(min_size=1, max_size=20))
def test_a_file_with_bytes_inserted_is_refused(saved, tmp_path, where, inserted):
    data = saved["euclidean"][0]
    at = int(where * len(data))
    refused(data[:at] + inserted + data[at:], tmp_path)


@in_any_folder
@given(data=st.binary(max_size=300))
def test_any_other_file_is_refused(tmp_path, data):
    refused(data, tmp_path)
    refused(container._MAGIC + data, tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x05cos\nsystem\n", b"\x93NUMPY"])
def test_the_error_names_the_file_and_says_that_it_is_no_model(content, tmp_path):
    with pytest.raises(ModelFileError, match=r"model\.pvm: not a protocover model file"):
        load(content, tmp_path)


def test_a_damaged_file_is_called_damaged(saved, tmp_path):
    data = saved["euclidean"][0]
    with pytest.raises(ModelFileError, match="damaged: it should have"):
        load(data[:-1], tmp_path)
    with pytest.raises(ModelFileError, match="damaged: its checksum"):
        load(data[:-1] + bytes([data[-1] ^ 1]), tmp_path)


@pytest.mark.parametrize(
    ("version", "remedy"),
    [(0, "fit the model again"), (2, "upgrade protocover"), (2**31, "upgrade protocover")],
)
def test_another_version_is_refused_as_such(version, remedy, saved, tmp_path, monkeypatch):
    contents = unpack(saved["euclidean"][0])
    with monkeypatch.context() as patch:
        patch.setattr(container, "VERSION", version)
        data = forge(contents.document, contents.arrays)
    message = rf"has version {version} .* reads version 1; {remedy}"
    with pytest.raises(ModelFileError, match=message):
        load(data, tmp_path)


LEAVES = (*SOLUTION, "proof", "object", 1)
MADE_UP_LEAVES = {
    "no steps": {"vectors": np.zeros((0, 15))},
    "steps as fractions": {"steps": np.array([-2.0]), "vectors": np.zeros((0, 15))},
    "steps in a table": {"steps": np.full((2, 2), -2), "vectors": np.zeros((0, 15))},
    "steps that are none": {"steps": np.array([-3]), "vectors": np.zeros((0, 15))},
    "too many steps": {"steps": np.full(4097, -2), "vectors": np.zeros((0, 15))},
    "vectors in a row": {"steps": np.array([-1, -2]), "vectors": np.zeros(15)},
    "vectors as words": {"steps": np.array([-1, -2]), "vectors": np.array([["a"]])},
    "fewer vectors than steps": {"steps": np.array([-1, -1, -2]), "vectors": np.zeros((1, 15))},
    "too many numbers": {"steps": np.array([-1, -2]), "vectors": np.zeros((1, 2**20 + 1))},
    "more than leaves": {"steps": np.array([-2]), "vectors": np.zeros((0, 9)), "more": np.ones(1)},
}


@pytest.mark.parametrize("name", MADE_UP_LEAVES)
def test_made_up_leaves_are_refused(name, saved, tmp_path):
    contents = unpack(saved["leaves"][0])
    arrays, record = list(contents.arrays), {}
    for part, array in MADE_UP_LEAVES[name].items():
        record[part] = {"array": len(arrays)}
        arrays.append(array)
    refused(forge(changed(contents.document, LEAVES, record), arrays), tmp_path)


def raw(text, body=b"", text_length=None):
    """A file of any document and bytes, with a checksum that fits."""
    length = container._BODY + len(text) + len(body)
    stated = len(text) if text_length is None else text_length
    prelude = container._PRELUDE.pack(container._MAGIC, 1, stated, length)
    return prelude + container._digest(prelude, [text, body]) + text + body


HOSTILE = {
    "deep lists": raw(b"[" * 100_000),
    "deep objects": raw(b'{"a":' * 100_000),
    "deep and closed": raw(b'{"arrays":[],"model":' + b"[" * 9999 + b"]" * 9999 + b"}"),
    "brackets after an open quote": raw(b'"' + b"[" * 100_000),
    "huge whole number": raw(b'{"arrays":[["|u1",[' + b"9" * 100_000 + b'],"C"]]}'),
    "document beyond the file": raw(b"{}", text_length=2**63),
    "not JSON": raw(b"{'arrays': []}"),
    "not UTF-8": raw(b'{"arrays": ["\xff\xfe"]}'),
    "NaN": raw(b'{"arrays": [], "model": NaN}'),
    "a list": raw(b"[]"),
    "no arrays": raw(b"{}"),
    "array of 10^15": raw(b'{"arrays":[["<f8",[1000000000000000],"C"]]}'),
    "array of 10^40": raw(
        b'{"arrays":[["<f8",[100000000000000000000,100000000000000000000],"C"]]}'
    ),
    "array of many dimensions": raw(
        json.dumps({"arrays": [["<f8", [1] * 40, "C"]]}).encode(), b"0" * 8
    ),
    "array of negative size": raw(b'{"arrays":[["<f8",[-1],"C"]]}'),
    "array of half a size": raw(b'{"arrays":[["<f8",[0.5],"C"]]}'),
    "array of truth": raw(b'{"arrays":[["|u1",[true],"C"]]}', b"0"),
    "array of objects": raw(b'{"arrays":[["|O",[1],"C"]]}', b"0" * 8),
    "array of records": raw(b'{"arrays":[["<f8,<f8",[1],"C"]]}', b"0" * 16),
    "array of nothing": raw(b'{"arrays":[["<U0",[1000000000000],"C"]]}'),
    "array of no order": raw(b'{"arrays":[["<f8",[1],"K"]]}', b"0" * 8),
    "array that is no entry": raw(b'{"arrays":[7]}'),
    "too few bytes": raw(b'{"arrays":[["<f8",[2],"C"]]}', b"0" * 15),
    "too many bytes": raw(b'{"arrays":[["<f8",[2],"C"]]}', b"0" * 17),
    "no character": raw(b'{"arrays":[["<U1",[1],"C"]]}', struct.pack("<I", 0x110000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_are_refused_without_much_memory(name, tmp_path):
    path = tmp_path / "model.pvm"
    path.write_bytes(HOSTILE[name])
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            load_model(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000 + 20 * len(HOSTILE[name])


def test_reading_takes_a_small_multiple_of_the_file(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 500))
    save_model(PVMClassifier(eps=1e-9, **PAPER).fit(X, np.arange(400) % 2), tmp_path / "m")
    size = (tmp_path / "m").stat().st_size
    tracemalloc.start()
    load_model(tmp_path / "m")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 400 * 500 * 8
    assert peak < 5 * size


def changed(document, path, value):
    """A copy of a document with another value in one place."""
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


def column(number):
    """A column of a pandas frame that is an array of the file."""
    return [None, {"type": "numpy", "values": {"array": number}}]


REPEATED = {
    "list": lambda k: [{"array": k}] * 400,
    "tuple": lambda k: {"tuple": [{"array": k}] * 400},
    "dict": lambda k: {"dict": [[i, {"array": k}] for i in range(400)]},
    "objects": lambda k: {"objects": [[400], [{"array": k}] * 400]},
    "nested": lambda k: [[{"tuple": [{"array": k}]}] * 20] * 20,
    "sparse": lambda k: [{"sparse": ["csr_array", [1, 1], [k, k, k]]}] * 400,
    "frame": lambda k: {
        "frame": {
            "library": "pandas",
            "single": False,
            "columns": [column(k)] * 400,
            "index": [column(k)],
        }
    },
    "object": lambda k: [{"object": ["KMeansCandidates", {"n_clusters": {"array": k}}]}] * 400,
}
PLACES = {
    "parameter": ("model", "parameters", "solver_options"),
    "detail": (*SOLUTION, "details"),
    "feature names": ("model", "fitted", "feature_names_in_"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", REPEATED)
def test_references_that_repeat_are_refused_without_much_memory(value, place, saved, tmp_path):
    """A file of 800 kB cannot ask for 400 times that by naming one array 400 times."""
    contents = unpack(saved["euclidean"][0])
    arrays = [*contents.arrays, np.zeros(100_000)]
    document = changed(contents.document, PLACES[place], REPEATED[value](len(arrays) - 1))
    data = forge(document, arrays)
    tracemalloc.start()
    try:
        refused(data, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * len(data)


def test_attributes_of_a_loaded_model_share_no_memory_and_can_be_changed(saved, tmp_path):
    model = load(saved["euclidean"][0], tmp_path)
    found = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    assert all(array.flags.writeable for array in found)
    assert not any(
        np.shares_memory(one, other) for i, one in enumerate(found) for other in found[:i]
    )


@pytest.mark.parametrize(
    "value",
    [
        {"object": ["os.system", {"command": "echo"}]},
        {"object": ["Function", {"function": "print"}]},
        {"object": ["Euclidean", {"function": 1}]},
        {"object": ["Euclidean", {}], "tuple": []},
        {"solver": "exit"},
        {"missing": "DataFrame"},
        {"python": "print()"},
        {"frame": {"library": "os", "single": False, "columns": [], "index": []}},
        {"array": 10**9},
        {"array": -1},
        {"array": True},
        {"scalar": 0},
        {"sparse": ["csr_array", [1, 1], [0, 0, 0]]},
        {"sparse": ["object", [1, 1], [0, 0, 0]]},
        {"objects": [[10**12], []]},
        {"float": "1e400"},
        {"bytes": "zz"},
        {"dict": [[[], 1]]},
    ],
)
def test_values_that_no_model_holds_are_refused(value, saved, tmp_path):
    contents = unpack(saved["euclidean"][0])
    document = copy.deepcopy(contents.document)
    document["model"]["parameters"]["metric_params"] = value
    refused(forge(document, contents.arrays), tmp_path)


@pytest.mark.parametrize(
    ("name", "path", "change"),
    [
        ("sparse array", ("fitted", "prototypes_", "sparse", 2, 1), lambda a: a + 1000),
        ("sparse array", ("fitted", "prototypes_", "sparse", 2, 1), lambda a: a - 1000),
        ("sparse array", ("fitted", "prototypes_", "sparse", 2, 2), lambda a: a + 1),
        ("sparse array", ("fitted", "prototypes_", "sparse", 2, 2), lambda a: a[::-1].copy()),
        ("euclidean", (*SELECTION, "classes", "array"), lambda a: a + 1000),
        ("euclidean", (*SELECTION, "classes", "array"), lambda a: a - 1000),
        ("euclidean", (*SELECTION, "covered", "array"), lambda a: a[1:]),
        ("euclidean", ("fitted", "prototypes_", "array"), lambda a: a[:, 1:]),
        ("euclidean", ("fitted", "prototypes_", "array"), lambda a: a[1:]),
        ("euclidean", ("fitted", "classes_", "array"), lambda a: a[1:]),
        ("euclidean", ("fitted", "prototype_indices_", "array"), lambda a: a - 1000),
        ("precomputed kernel", ("fitted", "prototypes_", "array"), lambda a: a + 1000),
        (
            "precomputed kernel",
            ("fitted", "dissimilarity_", "state", "diagonal_", "array"),
            lambda a: a[1:],
        ),
        (
            "mahalanobis",
            ("fitted", "dissimilarity_", "state", "params_", "dict", 0, 1, "array"),
            np.ravel,
        ),
        ("DANN", ("fitted", "dissimilarity_", "state", "mean_", "array"), lambda a: a[1:]),
        ("tangent", ("fitted", "dissimilarity_", "state", "center_", "array"), lambda a: a[1:]),
    ],
)
def test_what_leads_outside_of_an_array_is_refused(name, path, change, saved, tmp_path):
    contents = unpack(saved[name][0])
    place = contents.document["model"]
    for key in path:
        place = place[key]
    arrays = list(contents.arrays)
    arrays[place] = change(arrays[place])
    refused(forge(contents.document, arrays), tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a - 10.0, "radii must be finite numbers from 0 to eps_, which is 2, got -"),
        (lambda a: a * np.nan, "radii must be finite .* got nan"),
        (lambda a: a * np.inf, "radii must be finite .* got inf"),
        (lambda a: a + 2.0, r"radii must be finite numbers from 0 to eps_, which is 2, got \d"),
        (lambda a: a[1:], "radii must have the shape"),
        (lambda a: a[:, None], "radii must have the shape"),
        (lambda a: a.astype(int), "radii must not be of type int64"),
        (lambda a: a.astype(str), "radii must not be of type <U"),
    ],
)
def test_radii_that_no_prototype_can_have_are_refused(change, message, saved, tmp_path):
    contents = unpack(saved["own radii"][0])
    place = contents.document["model"]["fitted"]["solution_"]["object"][1]["radii"]["array"]
    arrays = list(contents.arrays)
    arrays[place] = change(arrays[place])
    with pytest.raises(ModelFileError, match=message):
        load(forge(contents.document, arrays), tmp_path)


def test_radii_must_be_finite_where_there_is_no_limit(saved, tmp_path):
    contents = unpack(saved["own radii"][0])
    document = put(contents.document, ("model", "fitted", "eps_"), {"float": "inf"})
    arrays = list(contents.arrays)
    assert np.isinf(load(forge(document, arrays), tmp_path).eps_)
    place = document["model"]["fitted"]["solution_"]["object"][1]["radii"]["array"]
    arrays[place] = arrays[place] * np.inf
    with pytest.raises(ModelFileError, match=r"radii must be finite .* which is inf, got inf"):
        load(forge(document, arrays), tmp_path)


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        (
            "euclidean",
            ("parameters", "radii"),
            "adaptive",
            "'adaptive', but the prototypes share one",
        ),
        ("own radii", ("parameters", "radii"), "shared", "'shared', but .* have radii of their"),
        ("own radii", ("parameters", "radii"), "each", "radii must be 'shared'.*got 'each'"),
        ("own radii", ("parameters", "radii"), 7, "radii must be 'shared'.*got 7"),
        ("own radii", (*SELECTION, "radii"), None, "'adaptive', but the prototypes share one"),
        ("own radii", (*SELECTION, "radii"), [1.0, 2.0], "radii must be an array"),
        ("own radii", ("fitted", "eps_"), 0.0, "eps_ must be a number above 0, or infinite"),
        ("own radii", ("fitted", "eps_"), -1.0, "eps_ must be a number above 0, or infinite"),
        ("own radii", ("fitted", "eps_"), {"float": "nan"}, "eps_ must be a number above 0"),
        ("own radii", ("fitted", "eps_"), None, "eps_ must be a number, got None"),
        ("euclidean", ("fitted", "eps_"), {"float": "inf"}, "eps_ must be a finite number"),
    ],
)
def test_a_choice_of_radii_that_does_not_fit_the_prototypes_is_refused(
    name, path, value, message, saved, tmp_path
):
    contents = unpack(saved[name][0])
    document = put(contents.document, ("model", *path), value)
    with pytest.raises(ModelFileError, match=message):
        load(forge(document, contents.arrays), tmp_path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("own radii", (*SELECTION, "radii")),
        ("euclidean", (*SELECTION, "covered")),
        ("euclidean", ("parameters", "min_per_class")),
        ("euclidean", ("fitted", "prototype_indices_")),
        ("forced", (*SOLUTION[1:], "limit", "object", 1, "at_least")),
        ("leaves", (*SOLUTION[1:], "proof")),
        ("cross-validated", ("parameters", "n_eps")),
        ("cross-validated", ("fitted", "search_rows_")),
        ("Gower of a frame", ("fitted", "dissimilarity_", "parameters", "feature_types")),
    ],
)
def test_a_file_without_one_of_its_fields_is_refused(name, path, saved, tmp_path):
    contents = unpack(saved[name][0])
    document = copy.deepcopy(contents.document)
    place = document["model"]
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    with pytest.raises(ModelFileError, match=r"arguments of|must have the fields"):
        load(forge(document, contents.arrays), tmp_path)


def places(value, path=()):
    """The paths of all values within a JSON document."""
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def put(document, path, value):
    """A copy of a document with a value replaced."""
    if not path:
        return value
    changed = copy.deepcopy(document)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.sampled_from([2**31, 2**63, -(2**63), 10**30, 1e308, -1.5, "", "os", "Euclidean", "1"]),
    st.text(max_size=3),
)
hostile = st.one_of(
    plain,
    st.lists(plain, max_size=3),
    st.builds(lambda n: {"array": n}, st.integers(0, 30)),
    st.builds(lambda n: {"scalar": n}, st.integers(0, 30)),
    st.builds(lambda v: {"tuple": v}, st.lists(plain, max_size=3)),
    st.builds(lambda v: {"objects": [[len(v)], v]}, st.lists(plain, max_size=3)),
    st.dictionaries(st.sampled_from(["float", "dict", "frame", "type", "values"]), plain),
    st.just({"object": ["RankDissimilarity", {"base": "cosine"}]}),
)


def load_and_ask(data, queries, folder):
    """Load a forged file; a model that comes of it may be wrong but must not do harm."""
    try:
        model = load(data, folder)
    except ModelFileError:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model.predict(queries)
        except (MemoryError, RecursionError, SystemError):
            raise
        except Exception:
            return


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(draw=st.data())
def test_forged_documents_give_clean_errors_or_harmless_models(name, saved, tmp_path, draw):
    data, queries = saved[name]
    contents = unpack(data)
    document = contents.document
    for _ in range(draw.draw(st.integers(1, 2))):
        every = list(places(document))
        document = put(document, draw.draw(st.sampled_from(every)), draw.draw(hostile))
        if not isinstance(document, dict):
            return
    load_and_ask(forge(document, contents.arrays), queries, tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(draw=st.data())
def test_forged_arrays_give_clean_errors_or_harmless_models(name, saved, tmp_path, draw):
    data, queries = saved[name]
    contents = unpack(data)
    arrays = list(contents.arrays)
    i, j = (draw.draw(st.integers(0, len(arrays) - 1)) for _ in range(2))
    how = draw.draw(st.sampled_from(["swap", "type", "shape", "values", "empty", "cut"]))
    if how == "swap":
        arrays[i], arrays[j] = arrays[j], arrays[i]
    elif how == "type":
        size = arrays[i].nbytes
        kind = draw.draw(st.sampled_from(["|u1", "<i8", "<f8", "<f4", "<U1", "<M8[s]", "|b1"]))
        itemsize = np.dtype(kind).itemsize
        flat = np.frombuffer(arrays[i].tobytes()[: size // itemsize * itemsize], dtype=kind)
        arrays[i] = np.where(flat.astype(str) != "", "a", "b") if kind == "<U1" else flat.copy()
    elif how == "shape":
        arrays[i] = arrays[i].reshape(-1, 1) if draw.draw(st.booleans()) else arrays[i].ravel()
    elif how == "empty":
        arrays[i] = (
            arrays[i].ravel()[:0].reshape(draw.draw(st.sampled_from([(0,), (0, 3), (9, 0)])))
        )
    elif how == "cut":
        arrays[i] = arrays[i][: len(arrays[i]) // 2] if arrays[i].ndim else arrays[j]
    elif arrays[i].dtype.kind in "iuf" and arrays[i].size:
        flat = arrays[i].copy().ravel()
        numbers = [np.nan, -np.inf, 1e308, -1.0]
        if flat.dtype.kind == "i":
            numbers = [-1, min(2**31 - 1, np.iinfo(flat.dtype).max), 7]
        if flat.dtype.kind != "u":
            flat[draw.draw(st.integers(0, len(flat) - 1))] = draw.draw(st.sampled_from(numbers))
        arrays[i] = flat.reshape(arrays[i].shape)
    load_and_ask(forge(contents.document, arrays), queries, tmp_path)
