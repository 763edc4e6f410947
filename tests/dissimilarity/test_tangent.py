"""Tangent distance against a least squares solver, and its promises about blocks and bits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import naive
import tangent_digest
from protocover._balls import build_balls
from protocover._selection.balls import formulate
from protocover._selection.selection import select
from protocover.dissimilarity._tangent import TangentDistance
from protocover.dissimilarity._tangent_vectors import TRANSFORMATIONS
from protocover.solvers import greedy

# Those of `tangent_digest`. They change when the arithmetic does, and at no other time.
RECORDED_DIGESTS = [
    "9a35a748686984bf",
    "5ee8879bf6424de1",
    "05cbe76a7cfc062f",
    "4b69489dde1eb68a",
]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def by_least_squares(distance, A, B):
    """The table of `distance`, fitted, pair by pair in full."""
    names = TRANSFORMATIONS if distance.transformations == "all" else distance.transformations

    def planes(rows, side):
        moves = names if distance.sides in ("both", side) else ()
        return [
            naive.tangent_plane(
                row.reshape(distance.image_shape),
                pad=distance.pad,
                smoothing=distance.smoothing,
                derivative=distance.derivative,
                background=distance.background_,
                transformations=moves,
            )
            for row in rows
        ]

    left, right = planes(A, "point"), planes(B, "candidate")
    return np.array([[naive.tangent_distance(x, z, distance.spring) for z in right] for x in left])


SETTINGS = [
    {},
    {"pad": 0, "smoothing": 0.0},
    {"derivative": 1.1, "smoothing": 0.0, "pad": 1},
    {"spring": 0.0},
    {"spring": 0.01},
    {"spring": 1.0},
    {"sides": "point"},
    {"sides": "candidate"},
    {"transformations": ["shift_x", "shift_y", "thickness"], "spring": 0.2},
    {"background": 0.5},
]


SETTINGS += [{"transformations": [name]} for name in ("shift_x", "stretch", "thickness")]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_agrees_with_least_squares(digits, setting):
    """All settings give what a least squares solver finds, to 1e-4."""
    X, _ = digits
    distance = TangentDistance((8, 8), **setting).fit(X)
    np.testing.assert_allclose(
        distance.pairwise(X[:15], X[10:40]),
        by_least_squares(distance, X[:15], X[10:40]),
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    ("spring", "size"),
    [
        (0.0, 1e-2),
        (0.0, 1e-3),
        (0.0, 1e-4),
        (0.0, 3e-6),
        (0.01, 1e-1),
        (0.05, 1e-2),
        (0.05, 1e-3),
        (0.05, 1e-7),
    ],
)
def test_close_images_are_told_apart_as_well(digits, spring, size):
    """Products of single precision would lose the distance of images that hardly differ."""
    X = digits[0][:40]
    near = X + size * np.random.default_rng(0).normal(size=X.shape)
    distance = TangentDistance((8, 8), spring=spring).fit(X)
    found = np.diagonal(distance.pairwise(X, near))
    np.testing.assert_allclose(found, np.diagonal(by_least_squares(distance, X, near)), rtol=1e-4)


def test_an_image_is_at_no_distance_from_itself(digits):
    """Exactly 0, wherever the copies stand, with images that have no tangent vectors, too."""
    X = np.vstack((digits[0][:5], np.zeros((1, 64)), np.full((1, 64), 3.0)))
    table = TangentDistance((8, 8)).fit(X).pairwise(X, X.copy())
    assert (np.diagonal(table) == 0.0).all()
    assert (table[~np.eye(7, dtype=bool)] > 0.0).all()


def moved(image, name, amount):
    """The image after a little of one transformation."""
    if name == "thickness":
        dy, dx = np.gradient(image)
        return image + amount * (dx**2 + dy**2)
    generators = {
        "rotation": [[0, 1], [-1, 0]],
        "scaling": [[1, 0], [0, 1]],
        "stretch": [[-1, 0], [0, 1]],
        "shear": [[0, 1], [1, 0]],
    }
    matrix = np.eye(2) + amount * np.array(generators.get(name, np.zeros((2, 2))))
    middle = (np.array(image.shape) - 1) / 2
    offset = middle - matrix @ middle
    offset += {"shift_y": (amount, 0), "shift_x": (0, amount)}.get(name, (0, 0))
    return ndimage.affine_transform(image, matrix, offset=offset, order=3)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_each_transformation_is_nearly_free_when_it_is_on(name):
    """A blob moved by one transformation comes back along its tangent vector, and no other's."""
    y, x = np.indices((16, 16)) - 7.5
    image = np.exp(-(((x - 1) / 2.0) ** 2) - ((y + 0.5) / 3.5) ** 2 - 0.3 * np.sin(x + y))
    X = np.stack((image, moved(image, name, 0.05))).reshape(2, -1)

    def distance(transformations):
        metric = TangentDistance(
            (16, 16), transformations=transformations, spring=0.001, background=0.0
        )
        return metric.fit(X).pairwise(X[:1], X[1:])[0, 0]

    others = [distance([other]) for other in TRANSFORMATIONS if other != name]
    assert distance([name]) < 0.5 * min(others)
    assert distance("all") <= distance([name])


@pytest.mark.parametrize("spring", [0.0, 0.05])
def test_a_pair_has_one_distance_wherever_it_stands(digits, spring):
    """Not a bit changes with the block, the side, the company or the number of threads."""
    X = np.ascontiguousarray(digits[0][:600])
    distance = TangentDistance((8, 8), spring=spring).fit(X)
    table = distance.pairwise(X, X)
    assert (table == table.T).all()
    assert (table == distance.pairwise(X, X.copy())).all()
    assert (table[37:59, 401:] == distance.pairwise(X[37:59], X[401:])).all()
    assert (table[401:, 37:59] == distance.pairwise(X[401:], X[37:59])).all()
    for i, j in ((3, 522), (60, 61), (599, 0), (7, 300)):
        assert table[i, j] == distance.pairwise(X[[i]], X[[j]])[0, 0]
        assert (table[i : i + 3, j : j + 5] == distance.pairwise(X[i : i + 3], X[j : j + 5])).all()
    tile = distance.bind(X, X).table
    assert (table[5:90, 60:600] == tile(slice(5, 90), slice(60, 600))).all()
    assert (table[30:580, 30:580] == tile(slice(30, 580), slice(30, 580))).all()


def test_distances_are_those_of_any_other_machine():
    """Recorded once, for processors, systems and libraries that no process can imitate."""
    digests = [tangent_digest.digest(**setting) for setting in tangent_digest.SETTINGS]
    assert digests == RECORDED_DIGESTS


@pytest.mark.parametrize("spring", [0.0, 0.02])
@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e300])
def test_pixels_may_be_of_any_size(digits, spring, size):
    """Neither single precision's range nor that of squares is a limit."""
    X = digits[0][:60]
    table = TangentDistance((8, 8), spring=spring).fit(X).pairwise(X, X)
    scaled = TangentDistance((8, 8), spring=spring).fit(size * X).pairwise(size * X, size * X)
    np.testing.assert_allclose(scaled / size, table, rtol=1e-5)
    assert (scaled == scaled.T).all()


@pytest.mark.parametrize("spring", [0.0, 0.02])
def test_the_company_of_much_larger_images_changes_nothing(digits, spring):
    """An image's own size sets the grid that it is rounded to."""
    X = digits[0][:12]
    distance = TangentDistance((8, 8), spring=spring).fit(X)
    mixed = np.vstack((X, 1e9 * X, 1e200 * X, np.zeros((1, 64)), np.full((1, 64), 1e100)))
    table = distance.pairwise(mixed, mixed)
    assert (table[:12, :12] == distance.pairwise(X, X)).all()
    assert (table == table.T).all()
    for i in range(0, len(mixed), 5):
        assert (table[i] == distance.pairwise(mixed[[i]], mixed)[0]).all()
        assert all(
            table[i, j] == distance.pairwise(mixed[[i]], mixed[[j]])[0, 0] for j in range(38)
        )
    np.testing.assert_allclose(
        table[12:16, :12], by_least_squares(distance, mixed[12:16], X), rtol=1e-4
    )


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 2), (3, 1)])
@pytest.mark.parametrize("pad", [0, 1])
def test_images_may_be_tiny(shape, pad):
    """A few pixels are images, too, and the same promises hold."""
    X = np.random.default_rng(0).uniform(size=(20, shape[0] * shape[1]))
    X[7] = X[3]
    distance = TangentDistance(shape, pad=pad).fit(X)
    table = distance.pairwise(X, X)
    assert (table == table.T).all()
    assert (np.diagonal(table) == 0.0).all()
    assert table[3, 7] == 0.0
    np.testing.assert_allclose(table, by_least_squares(distance, X, X), rtol=1e-4, atol=1e-12)


def test_the_order_of_the_training_images_does_not_matter(digits):
    """The mean image, which the arithmetic is relative to, is the same to the last bit."""
    X = digits[0][:300]
    shuffled = X[np.random.default_rng(0).permutation(300)]
    one, other = (TangentDistance((8, 8)).fit(rows) for rows in (X / 3, shuffled / 3))
    assert (one.pairwise(X, X) == other.pairwise(X, X)).all()
    np.testing.assert_allclose(
        one.center_, one.maps_.points(X.mean(axis=0).reshape(1, 8, 8) / 3)[0], atol=1e-7
    )


def test_one_sided_distances_mirror_each_other(digits):
    """Moving the point from here is moving the candidate from there; both do no worse."""
    A, B = digits[0][:20], digits[0][20:50]
    point, candidate, both = (
        TangentDistance((8, 8), sides=sides).fit(A) for sides in ("point", "candidate", "both")
    )
    np.testing.assert_array_equal(point.pairwise(A, B), candidate.pairwise(B, A).T)
    assert (
        both.pairwise(A, B) <= np.minimum(point.pairwise(A, B), candidate.pairwise(A, B))
    ).all()
    assert both.symmetric
    assert not point.symmetric


def test_a_stiff_spring_gives_the_euclidean_distance(digits):
    """Without padding and smoothing and with a price on moving nothing moves."""
    X = digits[0][:30]
    stiff = TangentDistance((8, 8), pad=0, smoothing=0.0, spring=1e9).fit(X)
    np.testing.assert_allclose(stiff.pairwise(X, X), cdist(X, X), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"image_shape": (8, 9)}, r"image_shape must multiply out.*8 x 9 = 72.*\(20, 64\)"),
        ({"image_shape": 8}, "image_shape must be a height and a width.*got 8"),
        ({"image_shape": (8, -8)}, "image_shape must be a height and a width"),
        ({"transformations": ["turn"]}, "transformations must be 'all' or a list of some of"),
        ({"transformations": "rotation"}, "transformations must be 'all' or a list"),
        ({"transformations": []}, "at least one"),
        ({"transformations": ["shear", "shear"]}, "none of them twice"),
        ({"sides": "left"}, "sides must be one of both, point, candidate, got 'left'"),
        ({"pad": -1}, "pad must be a whole number of pixels, 0 or more, got -1"),
        ({"pad": 1.5}, "pad must be a whole number"),
        ({"smoothing": -0.1}, "smoothing must be a finite number, 0 or more, got -0.1"),
        ({"derivative": float("inf")}, "derivative must be a finite number"),
        ({"spring": None}, "spring must be a finite number, 0 or more, got None"),
    ],
)
def test_refuses_parameters_that_make_no_sense(digits, parameters, message):
    """Errors name the parameter, the rule and what it got."""
    with pytest.raises(ValueError, match=message):
        TangentDistance(**{"image_shape": (8, 8), **parameters}).fit(digits[0][:20])


@pytest.fixture(scope="module")
def usps(data_folder):
    path = data_folder / "usps.npz"
    if not path.exists():
        pytest.skip("usps.npz is absent from the data folder")
    data = np.load(path)
    return data["X_train"], data["y_train"].astype(int), data["X_test"], data["y_test"]


@pytest.mark.slow
def test_usps_prototypes_of_the_paper(usps):
    """About 3,400 prototypes are shared out among the digits as in the paper's table."""
    X, y, _, _ = usps
    distance = TangentDistance((16, 16)).fit(X, y)
    sample = distance.pairwise(X[::5], X[::5])
    eps = float(np.quantile(sample[np.triu_indices(len(sample), 1)], 0.0175))
    balls = build_balls(distance, X, X, eps=eps)
    problems = formulate(balls, y, np.ones(len(y)), n_classes=10, prototype_cost=1 / len(y))
    counts = np.bincount(select(problems, greedy).classes, minlength=10)
    paper = np.array([493, 7, 661, 551, 324, 486, 217, 101, 378, 154])
    many = paper > 50
    assert 3300 <= counts.sum() <= 3500
    assert (abs(counts - paper)[many] <= 0.2 * paper[many]).all()
    assert counts[1] <= 15
