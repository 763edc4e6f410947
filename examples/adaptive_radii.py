"""
Per-prototype radii: large balls inside a class, small at its edge
==================================================================

The paper gives every ball the same radius. In the middle of a class a larger one would stand
for more points, and at its edge a smaller one would wrongly cover fewer. With ``radii="adaptive"``
each prototype takes the radius that serves it best. We look at both on the paper's mixture of
Gaussians.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp

from protocover import PVMClassifierCV
from protocover.plotting import BallsDisplay

# %%
# Three classes in the plane, each a mixture of ten Gaussians, and new points of the same law to
# count errors on. Two of the classes overlap, the third one is mostly on its own.


class Mixtures:
    """Classes of equal size, each an even mixture of round Gaussians."""

    def __init__(self, seed):
        rng = np.random.default_rng(np.random.RandomState(seed).randint(2**31))
        classes = rng.normal(scale=4.0, size=(3, 1, 2))
        self.centers = classes + rng.normal(size=(3, 10, 2))
        self.seed = int(rng.integers(2**31))

    def sample(self, n_per_class, seed):
        """Draw points of each class."""
        rng = np.random.default_rng(np.random.RandomState(seed).randint(2**31))
        y = np.repeat(np.arange(3), n_per_class)
        means = self.centers[y, rng.integers(10, size=len(y))]
        return means + rng.normal(scale=0.2**0.5, size=(len(y), 2)), y

    def predict(self, X):
        """Return the most probable class: the Bayes rule, which no classifier can beat."""
        squares = ((X[:, None, None] - self.centers) ** 2).sum(axis=-1)
        return logsumexp(-2.5 * squares, axis=2).argmax(axis=1)


drawn = Mixtures(7)
X, y = drawn.sample(100, drawn.seed)
X_new, y_new = drawn.sample(2000, seed=0)

# %%
# Cross-validation chooses the one radius for all or, where each prototype has its own, the
# largest allowed and what a prototype costs.

shared = PVMClassifierCV(radii="shared", cv=5, random_state=0).fit(X, y).best_estimator_
own = PVMClassifierCV(radii="adaptive", cv=5, random_state=0).fit(X, y).best_estimator_

for name, model in (("one radius for all", shared), ("per-prototype radii", own)):
    error = np.mean(model.predict(X_new) != y_new)
    print(f"{name:<20}{len(model.prototypes_):3} prototypes, error {error:.1%}")
print(f"{'Bayes rule':<34}  error {np.mean(drawn.predict(X_new) != y_new):.1%}")

# %%
# The balls, and in black the boundary between the classes. A new point gets the class of the
# prototype of whose radius its distance is the smallest multiple, so that a large ball reaches
# farther, and the boundary is bent.

_, axes = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained")
for ax, (title, model) in zip(
    axes,
    {"one radius for all": shared, "per-prototype radii": own}.items(),
    strict=True,
):
    BallsDisplay.from_estimator(model, X, y, boundary=True, ax=ax)
    ax.set_title(f"{title}: {len(model.prototypes_)} prototypes")

# %%
# The prototypes with the radius of each, and the points of its class and of others in its ball.

print("class  radius  covered  wrongly")
for row in zip(
    own.prototype_labels_,
    own.prototype_radii_,
    own.covered_count_,
    own.miscovered_count_,
    strict=True,
):
    print("{:5}  {:6.2f}  {:7}  {:7}".format(*row))

# %%
# What decides on a point in the middle: which prototype, how far away it is, the radius, and
# the first as a multiple of the second, beside those of the nearest prototype of another class.

why = own.explain(X.mean(axis=0, keepdims=True))
print(f"class {why.label[0]}: {why.distance[0]:.2f} away, radius {why.radius[0]:.2f}")
print(f"{why.relative_distance[0]:.2f} of a radius, inside: {why.inside[0]}")
print(
    f"class {why.runner_up_label[0]}: {why.runner_up_relative_distance[0]:.2f} of a radius"
)

plt.show()
