"""The loaders check what they load and say what to do; the mixture's law is what it claims."""

from __future__ import annotations

import gzip
import urllib.error

import numpy as np
import pandas as pd
import pytest
from experiments.datasets import images, sources, uci
from scipy.stats import multivariate_normal
from sklearn.utils import Bunch

from experiments import datasets


@pytest.fixture
def offline(monkeypatch):
    """OpenML cannot be reached."""

    def refuse(**options):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(sources, "fetch_openml", refuse)


@pytest.fixture
def openml(monkeypatch):
    """OpenML answers with what a test puts under the number of a set."""
    shelf = {}
    monkeypatch.setattr(sources, "fetch_openml", lambda *, data_id, **options: shelf[data_id])
    return shelf


@pytest.mark.parametrize("name", datasets.UCI_NAMES)
def test_uci_sets_have_the_shapes_of_the_paper(name, data_folder):
    got = datasets.load_uci(name, data_folder)
    n_features = {"diabetes": 8, "glass": 9, "heart": 13, "liver": 6, "vowel": 10, "wine": 13}
    n_train = {
        "diabetes": 512,
        "glass": 143,
        "heart": 180,
        "liver": 230,
        "vowel": 352,
        "wine": 119,
    }
    assert got.data.shape[1] == n_features[name] == len(got.feature_names)
    # The paper's 1-NN keeps the training two thirds.
    assert round(2 / 3 * len(got.data)) == n_train[name]
    assert got.data.dtype == np.float64


def test_local_and_bundled_wine_are_the_same(data_folder, tmp_path):
    local, bundled = datasets.load_uci("wine", data_folder), datasets.load_uci("wine", tmp_path)
    np.testing.assert_array_equal(local.data, bundled.data)
    np.testing.assert_array_equal(local.target, bundled.target)


def test_usps_has_the_paper_s_numbers_of_digits(data_folder):
    usps = datasets.load_usps(data_folder)
    expected = [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    np.testing.assert_array_equal(np.bincount(usps.target), expected)
    assert usps.test_data.shape == (2007, 256)
    assert usps.data.min() == -1.0
    assert usps.data.max() == 1.0


def test_proteins_kernel_is_normalized_and_symmetric(data_folder):
    proteins = datasets.load_proteins(data_folder)
    np.testing.assert_array_equal(np.diagonal(proteins.kernel), 1.0)
    np.testing.assert_array_equal(proteins.kernel, proteins.kernel.T)
    i, j = 3, 900
    raw = proteins.raw_kernel.astype(float)
    assert proteins.kernel[i, j] == pytest.approx(raw[i, j] / np.sqrt(raw[i, i] * raw[j, j]))
    assert (proteins.target == "Positive").sum() == 45


def test_scop_has_a_sequence_for_every_label(data_folder):
    scop = datasets.load_scop(data_folder)
    assert len(scop.data) == len(scop.family) == 4352
    assert all(f.startswith(s + ".") for f, s in zip(scop.family, scop.superfamily, strict=True))
    positive = scop.binary["1.27.1"] == "Positive"
    assert set(scop.superfamily[positive]) == {"1.27.1"}


def test_fashion_mnist_is_read_from_idx_files(data_folder):
    fashion = datasets.load_fashion_mnist(data_folder)
    assert fashion.data.shape == (60000, 784)
    assert fashion.test_data.shape == (10000, 784)
    # The first training image is an ankle boot.
    assert fashion.target_names[fashion.target[0]] == "boot"


def test_idx_files_are_read_row_by_row(tmp_path):
    header = bytes([0, 0, 8, 2]) + (2).to_bytes(4, "big") + (3).to_bytes(4, "big")
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(header + bytes(range(6))))
    np.testing.assert_array_equal(images._read_idx(path), [[0, 1, 2], [3, 4, 5]])


def test_folder_named_by_the_environment_is_the_only_one_looked_in(monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOCOVER_DATA", str(tmp_path))
    assert sources.data_folders() == [tmp_path]
    monkeypatch.delenv("PROTOCOVER_DATA")
    assert sources.data_folders() == []


def test_damaged_file_is_refused_and_named(tmp_path):
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "heart.csv").write_text("age,class\n1,absent\n")
    with pytest.raises(ValueError, match=r"heart\.csv is damaged or another version: its SHA-256"):
        datasets.load_uci("heart", tmp_path)


@pytest.mark.parametrize(
    ("load", "file"),
    [
        (datasets.load_usps, "usps.npz"),
        (datasets.load_fashion_mnist, "fashion-mnist/"),
        (lambda folder: datasets.load_uci("glass", folder), "uci/glass.csv"),
        (lambda folder: datasets.load_uci("vowel", folder), "uci/vowel.csv"),
    ],
)
def test_offline_the_error_says_which_file_to_put_where(load, file, tmp_path, offline):
    with pytest.raises(
        datasets.DataNotFoundError, match=f"put {file}.* and point PROTOCOVER_DATA at it"
    ):
        load(tmp_path)


@pytest.mark.parametrize("load", [datasets.load_proteins, datasets.load_scop])
def test_proteins_are_said_not_to_be_on_openml(load, tmp_path):
    with pytest.raises(datasets.DataNotFoundError, match=r"not on OpenML; put protein/"):
        load(tmp_path)


def test_unknown_uci_set_is_refused_with_the_known_names():
    with pytest.raises(ValueError, match=r"name must be one of diabetes, .* got 'iris'"):
        datasets.load_uci("iris")


def test_connection_timeout_is_put_back(offline, tmp_path):
    before = sources.socket.getdefaulttimeout()
    with pytest.raises(datasets.DataNotFoundError):
        datasets.load_usps(tmp_path)
    assert sources.socket.getdefaulttimeout() == before


def test_usps_of_openml_is_split_and_its_labels_start_at_zero(openml, tmp_path):
    train, test = (np.repeat(np.arange(1, 11), counts) for counts in images._USPS_COUNTS)
    openml[41082] = Bunch(
        data=np.arange(9298.0)[:, None].repeat(256, axis=1),
        target=np.concatenate((train, test)).astype(str),
    )
    usps = datasets.load_usps(tmp_path)
    assert usps.test_data[0, 0] == 7291
    assert usps.target.min() == 0


def test_vowel_of_openml_is_cut_down_to_the_training_speakers(openml, tmp_path):
    speakers = [*uci._SPEAKERS, "Mike", "Nick"]
    rows = [(s, v) for s in speakers for v in range(11) for _ in range(6)]
    frame = pd.DataFrame({"Speaker_Number": [s for s, _ in rows], "Sex": "Male"})
    frame = frame.assign(**{f"Feature_{k}": float(k) for k in range(10)})
    openml[307] = Bunch(data=frame, target=pd.Series([f"h{v}d" for _, v in rows]))
    got = datasets.load_uci("vowel", tmp_path)
    assert got.data.shape == (528, 10)
    assert got.feature_names[0] == "Feature_0"


def test_other_data_under_the_same_name_is_refused(openml, tmp_path):
    openml[37] = Bunch(data=pd.DataFrame(np.zeros((700, 8))), target=pd.Series(["a", "b"] * 350))
    with pytest.raises(ValueError, match=r"diabetes should have shape \(768, 8\), got \(700, 8\)"):
        datasets.load_uci("diabetes", tmp_path)
    openml[37] = Bunch(data=pd.DataFrame(np.zeros((768, 8))), target=pd.Series(["a", "b"] * 384))
    with pytest.raises(ValueError, match=r"classes of \(268, 500\) examples, got \(384, 384\)"):
        datasets.load_uci("diabetes", tmp_path)


def test_density_of_the_mixture_is_the_mean_of_its_gaussians():
    law = datasets.make_gaussian_mixture(5, random_state=3).law
    X = np.array([[0.0, 0.0], [1.0, -2.0]])
    for k, centers in enumerate(law.centers):
        parts = [multivariate_normal(c, 0.2 * np.eye(2)).pdf(X) for c in centers]
        np.testing.assert_allclose(np.exp(law.log_density(X)[:, k]), np.mean(parts, axis=0))


def test_mixture_has_the_spread_of_the_paper():
    """Centres of classes vary by 16, of components by 1, points by 1/5, in each direction."""
    laws = [datasets.make_gaussian_mixture(1, random_state=seed).law for seed in range(400)]
    centers = np.array([law.centers for law in laws])
    assert centers.shape == (400, 3, 10, 2)
    assert centers.mean(axis=2).var() == pytest.approx(16.1, rel=0.1)
    assert centers.var(axis=2, ddof=1).mean() == pytest.approx(1.0, rel=0.05)
    X, y = datasets.GaussianMixtures(np.zeros((2, 1, 2)), 0.2).sample(5000, random_state=0)
    assert X.var() == pytest.approx(0.2, rel=0.05)
    np.testing.assert_array_equal(np.bincount(y), [5000, 5000])


def test_no_shifted_rule_beats_the_bayes_rule():
    drawn = datasets.make_gaussian_mixture(random_state=1)
    X, y = drawn.law.sample(20000, random_state=2)
    bayes = np.mean(drawn.law.predict(X) == y)
    for shift in ([0.4, 0.0], [0.0, 0.4], [-0.4, 0.0]):
        assert np.mean(drawn.law.predict(X + shift) == y) < bayes


def test_same_seed_gives_the_same_mixture():
    one, two = (datasets.make_gaussian_mixture(random_state=5) for _ in range(2))
    np.testing.assert_array_equal(one.data, two.data)
    np.testing.assert_array_equal(one.law.centers, two.law.centers)
