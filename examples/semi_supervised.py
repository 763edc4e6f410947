"""
Unlabelled points as candidates
===============================

Labels are dear, points are cheap. The few labelled points are what must be covered, but any
unlabelled point may stand for them: ``fit(X, y, unlabeled=Z)`` lets it become a prototype.
"""

import matplotlib.pyplot as plt
import numpy as np

from protocover import PVMClassifier
from protocover.plotting import BallsDisplay

# %%
# Three classes, of which we are told the labels of six points each; hundreds more have none. This
# draw was picked because it shows the effect well; the last table is about draws in general.


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


plane = Mixtures(9)
X, y = plane.sample(6, seed=11)
Z, _ = plane.sample(200, seed=1)
print(f"{len(X)} labelled and {len(Z)} unlabelled points")

# %%
# The same settings, with and without the unlabelled candidates. A prototype costs as much as an
# uncovered point, so one that covers only itself is not worth having, and ``min_per_class=0``
# allows classes without any. If labelled points lie too far apart to cover each other, an
# unlabelled point between them can cover both.

settings = {"radii": "shared", "eps": 1.2, "prototype_cost": 1, "min_per_class": 0}
alone = PVMClassifier(**settings).fit(X, y)
helped = PVMClassifier(**settings).fit(X, y, unlabeled=Z)

for name, model in [("labelled only", alone), ("with unlabelled", helped)]:
    free = np.sum(model.prototype_sources_ == "unlabeled")
    covered = model.coverage(X, y).covered.sum()
    print(f"{name}: objective {model.objective_:g}")
    print(f"  {len(model.prototype_labels_)} prototypes, {free} of them unlabelled,")
    print(f"  cover {covered} of the {len(X)} labelled points")

# %%
# Unlabelled points are grey, labelled ones coloured, and hollow where no ball of their class
# reaches them. A white star marks a prototype that had no label; its colour is the class that
# it stands for.

low, high = Z.min(axis=0) - 1, Z.max(axis=0) + 1
figure, axes = plt.subplots(
    1, 2, figsize=(9.5, 5), sharex=True, sharey=True, layout="constrained"
)
for ax, title, model in [
    (axes[0], "labelled candidates only", alone),
    (axes[1], "with unlabelled candidates", helped),
]:
    BallsDisplay.from_estimator(model, X, y, ax=ax)
    ax.scatter(*Z.T, s=6, color="0.8", zorder=0)
    free = model.prototypes_[model.prototype_sources_ == "unlabeled"]
    ax.scatter(*free.T, s=60, marker="*", color="white", edgecolor="black", zorder=10)
    ax.set_title(
        f"{title}: {len(model.prototype_labels_)} prototypes", fontsize="medium"
    )
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))

# %%
# Does it help to classify? One draw tells little, so here is the mean of fifteen, with fewer and
# with more labelled points, judged on new ones. With more labels there is little left to gain.

X_new, y_new = plane.sample(300, seed=2)
print(f"{'labels a class':15}{'labeled only':>15}{'with unlabeled':>17}")
for n_labels in (6, 10, 15):
    right = []
    for seed in range(15):
        X, y = plane.sample(n_labels, seed=100 + seed)
        model = PVMClassifier(**settings)
        right.append(
            [model.fit(X, y, unlabeled=more).score(X_new, y_new) for more in (None, Z)]
        )
    alone, helped = np.mean(right, axis=0)
    print(f"{n_labels:<15}{alone:15.1%}{helped:17.1%}")
plt.show()
