"""`protocover fit --stream` gives what `protocover fit` does, without holding the rows."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from protocover import load_model
from protocover.cli import main, stream
from protocover.data import parquet
from protocover.estimators import on_disk


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Rows come in batches that fit neither the row groups nor the table."""
    monkeypatch.setattr(parquet, "_ROWS", 37)


@pytest.fixture
def blobs():
    """400 rows of three classes, with an identifier, a constant and some labels missing."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["ash", "birch", "cedar"], 400)
    table = pd.DataFrame(
        {
            "tree": [f"T{k:03d}" for k in rng.permutation(400)],
            "height": rng.normal(20, 3, 400).astype(np.float32) + 4 * (kind == "ash"),
            "girth": rng.integers(50, 200, 400),
            "leaves": rng.normal(size=400) * 1e4 + 2e4 * (kind == "cedar"),
            "planet": 3.0,
            "kind": kind,
        }
    )
    table.loc[[0, 7, 399], "kind"] = None
    return table


def save(table, name="t.parquet", size=60):
    table.to_parquet(name, row_group_size=size)


def fit(*words, out="out"):
    return main(["fit", "t.parquet", "--target", "kind", "-o", out, *map(str, words)])


def figures(out):
    return json.loads(Path(out, "summary.json").read_text())


@pytest.mark.parametrize(
    "words",
    [
        "--eps 0.9 --id tree",
        "--eps 0.7 --id tree --candidates 80 --seed 5",
        "--eps 0.8 --drop tree --candidates 0.25 --test-size 0 --prototype-cost 2",
        "--eps 3000 --drop tree --no-scale --n-prototypes 9 --outlier-label none",
        "--eps 0.6 --id tree --metric sqeuclidean --closed-ball --solver local-search",
        "--eps 0.7 --id tree --radii shared --cross-class --min-per-class 0",
        "--eps 0.9 --id tree --balance --prototype-cost 40",
    ],
)
def test_a_streamed_fit_is_that_in_memory(blobs, words, capsys):
    """With the same solver, which is the greedy for a stream that is not told otherwise."""
    save(blobs)
    solver = () if "--solver" in words else ("--solver", "greedy")
    assert fit(*words.split(), *solver, out="held") == 0
    before = capsys.readouterr()
    assert fit(*words.split(), "--stream", out="streamed") == 0
    after = capsys.readouterr()
    rows = [pd.read_csv(f"{out}/prototypes.csv", dtype=str) for out in ("held", "streamed")]
    # Columns are scaled by sums of batches, so radii differ in their last digits.
    radii = [table.pop("radius").astype(float) for table in rows if "radius" in table]
    assert len(radii) == (0 if "shared" in words else 2)
    if radii:
        np.testing.assert_allclose(*radii, rtol=1e-9)
    pd.testing.assert_frame_equal(*rows)
    held, streamed = (pd.read_csv(f"{out}/predictions.csv") for out in ("held", "streamed"))
    pd.testing.assert_frame_equal(streamed, held, rtol=1e-9, atol=1e-9)
    assert "Left out: 'planet'" in before.err
    assert "left out 3 rows without a value of 'kind'" in after.err
    for name in ("Left out: 'planet'", "kept back"):
        said = [next(line for line in x.err.splitlines() if name in line) for x in (before, after)]
        assert said[0] == said[1]
    here, there = figures("held"), figures("streamed")
    for name in ("eps", "prototypes", "covered", "wrongly_covered", "objective", "classes"):
        assert there[name] == here[name]
    assert there["held_out_rows"] == here["held_out_rows"]
    assert there["data"]["cases"] == here["data"]["cases"] == 397
    assert there["evaluation"] == here["evaluation"]
    if here["error"] is not None:
        assert there["error"]["value"] == here["error"]["value"]
        assert there["error"]["low"] == pytest.approx(here["error"]["low"], abs=1e-6)


@pytest.mark.parametrize("eps", [(), ("--eps", "auto"), ("--eps", "0.4,0.8,1.6")])
def test_the_radius_is_that_of_the_usual_search_if_the_sample_is_everything(blobs, eps, capsys):
    save(blobs)
    words = ("--radii", "shared", "--drop", "tree", "--grid", 4, "--cv", 3, *eps)
    assert fit(*words, out="held") == 0
    assert fit(*words, "--stream", out="streamed") == 0
    said = capsys.readouterr()
    assert figures("streamed")["eps"] == pytest.approx(figures("held")["eps"], rel=1e-9)
    assert "Finding the radius with 318 of them" in said.err
    assert "on 318 cases" in said.out
    assert figures("streamed")["eps_sample"] == 318


def test_samples_are_stated_and_the_counts_are_of_all_rows(blobs, monkeypatch, capsys):
    monkeypatch.setattr(stream, "_SAMPLE", 90)
    monkeypatch.setattr(on_disk, "_MOST", 120)
    monkeypatch.setattr(on_disk, "_FEWEST", 50)
    monkeypatch.setattr(stream, "_SHOWN", 150)
    monkeypatch.setattr(stream, "_FEWEST_SHOWN", 20)
    save(blobs)
    assert fit("--id", "tree", "--grid", 4, "--cv", 3, "--stream", "--radii", "shared") == 0
    said = capsys.readouterr()
    assert "with 90 of them" in said.err
    assert "120 of them, drawn by chance, may become prototypes" in said.err
    assert re.search(r"3-fold cross-validation \(4 radii, rule 1se\) on 90 cases", said.out)
    assert re.search(r"\(\d+ of \d+ cases\s+were\s+compared\.\)", said.out)
    found = figures("out")
    assert found["settings"]["candidates"] == 120
    assert found["eps_sample"] == 90
    assert 0 < found["data"]["shown"] < 318
    assert found["training_cases"] == sum(entry["points"] for entry in found["classes"]) == 318
    again = (
        "--eps",
        found["eps"],
        "--candidates",
        120,
        "--id",
        "tree",
        "--solver",
        "greedy",
        "--radii",
        "shared",
    )
    assert fit(*again, out="held") == 0
    for name in ("covered", "wrongly_covered", "classes", "objective"):
        assert found[name] == figures("held")[name]
    page = Path("out/report.html").read_text()
    assert "a sample of" in page
    assert "drawn by chance from each class, the prototypes among them" in page
    assert "318 cases of 3 classes, 3 features" in page


def test_a_prototype_with_company_is_shown_with_some_of_it(blobs, monkeypatch):
    """Alone in the sample it would pass for one that confirms its own label."""
    monkeypatch.setattr(stream, "_SHOWN", 3)
    monkeypatch.setattr(stream, "_FEWEST_SHOWN", 3)
    save(blobs)
    shown = []
    fetch = stream._fetch_cases

    def keep(*args):
        shown.append(fetch(*args))
        return shown[0]

    monkeypatch.setattr(stream, "_fetch_cases", keep)
    assert fit("--drop", "tree", "--eps", 0.8, "--stream", "--test-size", 0) == 0
    model = load_model("out/model.protocover")
    features = ["height", "girth", "leaves"]
    labelled = blobs.dropna(subset="kind")
    few = model[:-1].transform(shown[0].X)
    everyone = model[:-1].transform(labelled[features].astype(float))
    company = []
    for X, y, rows in (
        (few, shown[0].y, shown[0].rows - 1),
        (everyone, labelled["kind"].to_numpy(), labelled.index),
    ):
        balls = model[-1].coverage(X, y).balls.toarray()
        own = y[:, None] == model[-1].prototype_labels_
        others = np.asarray(rows)[:, None] != model[-1].prototype_rows_
        company.append((balls & own & others).sum(axis=0))
    assert (company[0] < company[1]).any()
    np.testing.assert_array_equal(company[0] > 0, company[1] > 0)


def test_the_model_answers_new_cases(blobs, capsys):
    save(blobs)
    assert fit("--id", "tree", "--eps", 0.8, "--stream") == 0
    capsys.readouterr()
    assert main(["predict", "out", "t.parquet", "--id", "tree"]) == 0
    answers = pd.read_csv(pd.io.common.StringIO(capsys.readouterr().out)).set_index("row")
    written = pd.read_csv("out/predictions.csv").set_index("row")
    pd.testing.assert_frame_equal(
        written.drop(columns=["used", "label"]), answers.loc[written.index]
    )
    assert main(["report", "out", "t.parquet"]) == 0


def test_unscaled_rows_stay_on_disk_and_name_their_columns(blobs, monkeypatch):
    on_disk = []
    work = stream._fit

    def see(X, *rest):
        values = X.to_numpy()
        while not isinstance(values, np.memmap) and values.base is not None:
            values = values.base
        on_disk.append(isinstance(values, np.memmap))
        return work(X, *rest)

    monkeypatch.setattr(stream, "_fit", see)
    save(blobs)
    assert fit("--drop", "tree", "--eps", 3000, "--no-scale", "--stream") == 0
    assert on_disk == [True]
    model = load_model("out/model.protocover")
    assert model.feature_names_in_.tolist() == ["height", "girth", "leaves"]


def test_whole_numbers_name_classes_even_if_some_are_missing(blobs):
    blobs["kind"] = blobs["kind"].map({"ash": 1, "birch": 2, "cedar": 10})
    save(blobs)
    assert fit("--drop", "tree", "--eps", 0.8, "--stream") == 0
    assert load_model("out/model.protocover").classes_.tolist() == [1, 2, 10]


def test_a_column_that_numbers_the_rows_is_noticed_across_batches(blobs, capsys):
    blobs["number"] = np.arange(400) + 1000
    blobs["nearly"] = np.arange(400) + (np.arange(400) >= 37)
    blobs["batch"] = np.arange(400) // 37
    blobs["kind"] = blobs["kind"].fillna("ash")
    save(blobs)
    assert fit("--drop", "tree", "--eps", 0.8, "--stream") == 0
    said = capsys.readouterr().err
    assert "column 'number' numbers the rows" in said
    assert "'nearly'" not in said
    assert "batch" in figures("out")["data"]["columns"]  # one value in each batch only


@pytest.mark.parametrize(
    ("change", "words", "code", "message"),
    [
        ({}, "", 2, "'tree' holds none; leave them out with --drop tree"),
        ({"on": [True, False] * 200}, "--drop tree", 2, "yes/no columns as 0 and 1"),
        ({"height": [1.0] * 250 + [None] * 150}, "--drop tree", 1, "lacks 149 of 397.*row 251"),
        ({"height": [1.0] * 299 + [np.inf] * 101}, "--drop tree", 1, "got inf in row 300"),
        ({"kind": "ash"}, "--drop tree", 1, "one class only"),
        ({}, "--drop tree --metric cityblock", 2, "--metric euclidean or sqeuclidean"),
        ({}, "--drop tree --candidates kmeans", 2, "--candidates train"),
        ({}, "--drop tree --prototype-cost 1,2", 2, "one --prototype-cost"),
        ({}, "--drop tree --kind girth=categorical", 2, "--kind"),
        ({}, "--drop leafs", 1, "did you mean 'leaves'"),
    ],
)
def test_what_cannot_be_streamed_ends_in_one_line(blobs, change, words, code, message, capsys):
    save(blobs.assign(**change))
    assert fit("--eps", 1, "--stream", *words.split()) == code
    errors = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert len(errors) == 1
    assert re.search(message, errors[0])
    assert [path.name for path in Path().iterdir()] == ["t.parquet"]


def test_truths_are_numbers_if_the_metric_is_asked_for(blobs):
    save(blobs.assign(tree=np.arange(400) % 3 == 0))
    assert fit("--eps", 1, "--metric", "euclidean", "--solver", "greedy", out="held") == 0
    assert fit("--eps", 1, "--metric", "euclidean", "--stream") == 0
    assert figures("out")["objective"] == figures("held")["objective"]
    assert "tree" in figures("out")["data"]["columns"]


def test_only_parquet_files_are_streamed(blobs, capsys):
    blobs.to_csv("t.parquet", index=False)
    assert fit("--stream") == 2
    assert "--stream goes with a Parquet file" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["end", "middle"])
def test_a_damaged_file_gets_one_line_and_leaves_nothing(blobs, part, capsys):
    blobs["leaves"] = np.random.default_rng(1).normal(size=400)
    save(blobs)
    content = Path("t.parquet").read_bytes()
    half = len(content) // 2
    hole = content[:4] + bytes(half) + content[half + 4 :]
    Path("t.parquet").write_bytes(content[:half] if part == "end" else hole)
    assert fit("--drop", "tree", "--eps", 1, "--stream") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "t.parquet cannot be read as Parquet" in said.err
    assert [path.name for path in Path().iterdir()] == ["t.parquet"]


@pytest.mark.parametrize(
    ("error", "code"), [(None, 0), (ValueError("bad"), 1), (KeyboardInterrupt(), 130)]
)
@pytest.mark.parametrize("step", ["_count_coverage", "_write_predictions"])
def test_no_rows_are_left_on_disk_however_it_ends(blobs, monkeypatch, tmp_path, step, error, code):
    work = getattr(stream, step)
    folders = []

    def see(*args):
        folders.append({path.name for path in tmp_path.iterdir()})
        if error is not None:
            raise error
        return work(*args)

    monkeypatch.setattr(stream, step, see)
    save(blobs)
    assert fit("--drop", "tree", "--eps", 0.8, "--stream") == code
    assert len(folders) == 1
    left = {"t.parquet", "out"} if error is None else {"t.parquet"}
    assert {path.name for path in tmp_path.iterdir()} == left
    if error is None:
        assert set(figures("out")["files"]) == {path.name for path in Path("out").iterdir()}


def test_a_disk_without_room_is_noticed_before_the_work(blobs, monkeypatch, capsys):
    monkeypatch.setattr(
        "protocover.cli.stream.shutil.disk_usage", lambda _: type("", (), {"free": 99})
    )
    save(blobs)
    assert fit("--drop", "tree", "--eps", 0.8, "--stream") == 1
    assert "GB are free; choose another with --output" in capsys.readouterr().err


@pytest.mark.parametrize(("share", "code"), [(8, 0), (2, 0), (0.5, 1)])
def test_streaming_is_proposed_for_large_files(blobs, share, code, monkeypatch, capsys):
    save(blobs)
    memory = share * parquet.unpacked_size(Path("t.parquet"))
    monkeypatch.setattr("protocover.cli.fit.available_memory", lambda: memory)
    assert fit("--drop", "tree", "--eps", 1) == code
    assert ("--stream" in capsys.readouterr().err) == (share < 4)


@pytest.mark.parametrize(("memory", "size"), [(1 << 40, 318), (5_000_000, 279), (0, 100)])
def test_the_sample_is_smaller_where_memory_is_short(blobs, memory, size, monkeypatch, capsys):
    """All pairs of a sample of 279 take half of 5 MB; 318 cases are to be learned from."""
    monkeypatch.setattr(stream, "available_memory", lambda: memory)
    monkeypatch.setattr(stream, "_FEWEST_SAMPLED", 100)
    save(blobs)
    assert fit("--drop", "tree", "--grid", 4, "--cv", 3, "--stream") == 0
    said = capsys.readouterr().err
    assert f"Finding the radius with {size} of them" in said
    warning = f"searched for with {size} cases and not 318, since {memory / 1e6:.0f} MB of memory"
    assert (warning in said) == (size < 318)


def test_fewer_candidates_are_proposed_where_memory_is_short(blobs, monkeypatch, capsys):
    monkeypatch.setattr(on_disk, "_FEWEST", 20)
    monkeypatch.setattr(stream, "available_memory", lambda: 60_000)
    save(blobs)
    assert fit("--drop", "tree", "--eps", 0.9, "--stream") == 0
    assert re.search(r"\d\d of them, drawn by chance, may become prot", capsys.readouterr().err)


_WITHIN = """
import re, resource, sys
from pathlib import Path
import jinja2, pandas, pyarrow.parquet, scipy.stats, protocover.estimators
from protocover.cli import main, fit, stream

used = int(re.search(r"VmData:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + (300 << 20),) * 2)
sys.exit(main(["fit", "wide.parquet", *"--target kind --n-jobs 1 --stream".split()]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read memory from")
def test_a_search_keeps_within_the_memory_that_ulimit_leaves():
    """5,000 rows need twice the 300 MB if all of them are searched in."""
    write_wide("wide.parquet", 5_000, n_columns=4)
    ran = subprocess.run([sys.executable, "-c", _WITHIN], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "MB of memory are free" in ran.stderr


@pytest.mark.parametrize("words", [[], ["--stream"]], ids=["memory", "stream"])
def test_a_full_disk_does_not_lose_the_result(blobs, words, tmp_path):
    """No file may be longer than 12 kB here, less than the report takes, or all answers."""
    save(blobs)
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000));"
        "import sys; from protocover.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    asked = ["fit", "t.parquet", "--target", "kind", "--drop", "tree", "--eps", "0.9", *words]
    ran = subprocess.run([sys.executable, "-c", limited, *asked], capture_output=True, text=True)
    assert ran.returncode == 1
    assert re.search(r"accuracy +\d", ran.stdout)
    assert "Wrote" not in ran.stdout
    assert "protocover: error: t-protocover cannot be written (File too large)" in ran.stderr
    assert "--output" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


_MEASURE = """
import re, sys, threading, time
from pathlib import Path
import jinja2, pandas, pyarrow.parquet, scipy.stats
from protocover.cli import main, stream

stream._SHOWN, stream._FEWEST_SHOWN = 300, 100
peak, done = [0], threading.Event()

def anonymous():
    return int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], anonymous())

watcher = threading.Thread(target=watch)
watcher.start()
words = "--target kind --eps 19 --candidates 40 --n-jobs 1 --stream --quiet --force".split()
code = main(["fit", sys.argv[1], *words])
done.set()
watcher.join()
print(code, peak[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read memory from")
def test_memory_does_not_grow_with_the_rows():
    """What 55,000 more rows of 256 numbers add is less than their 56 MB in the file, once."""
    peaks, sizes = [], []
    for n_rows in (5_000, 60_000):
        name = f"{n_rows}.parquet"
        write_wide(name, n_rows)
        sizes.append(Path(name).stat().st_size)
        ran = subprocess.run(
            [sys.executable, "-c", _MEASURE, name], capture_output=True, text=True, check=True
        )
        code, peak = map(int, ran.stdout.split())
        assert code == 0
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 0.7 * (sizes[1] - sizes[0])


def write_wide(path, n_rows, n_columns=256):
    rng = np.random.default_rng(0)
    schema = pa.schema(
        [*((f"x{j}", pa.float32()) for j in range(n_columns)), ("kind", pa.string())]
    )
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for _ in range(0, n_rows, 5_000):
            code = np.arange(5_000) % 3
            X = rng.normal(size=(5_000, n_columns), scale=0.1).astype(np.float32)
            X[:, :50] += code[:, None]
            labels = np.array(["a", "b", "c"])[code]
            file.write_table(pa.table([*X.T, labels], schema=schema))
