"""
Exact against greedy, and what a certificate says
=================================================

The greedy selection is fast and good; the exact one comes with a proof that nothing is
better. Here both choose prototypes for the same points, so that one sees what the
difference looks like, and what each can prove.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp

from protocover import PVMClassifier
from protocover.plotting import BallsDisplay

# %%
# Three classes of points in the plane. A selection is the better, the smaller its *objective*:
# points left uncovered, plus points covered by prototypes of another class (once for each
# such prototype), plus ``prototype_cost`` for every prototype. At a cost of 1 a prototype pays
# for itself once it covers more than one further point.


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


plane = Mixtures(9)
X, y = plane.sample(100, plane.seed)

settings = {"radii": "shared", "eps": 1.0, "prototype_cost": 1}
greedy = PVMClassifier(solver="greedy", **settings).fit(X, y)
exact = PVMClassifier(solver="exact", **settings).fit(X, y)

# %%
# Hollow points are covered by no prototype of their own class.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
for ax, name, model in [(axes[0], "greedy", greedy), (axes[1], "exact", exact)]:
    BallsDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(
        f"{name}: objective {model.objective_:g}, {len(model.prototype_labels_)} prototypes"
    )

# %%
# Every fit tells how good it is at least. ``lower_bound_`` is proved: no selection whatsoever
# has a smaller objective. ``gap_`` is the largest share of the objective that a better
# selection could save. Greedy's own bound is valid but loose; the exact solver closes it.

for name, model in [("greedy", greedy), ("exact", exact)]:
    print(
        f"{name:7} objective {model.objective_:g}, at least {model.lower_bound_:g} "
        f"for anybody, gap {model.gap_:.1%}, certificate {model.certificate_!r}"
    )

# %%
# The classes are solved one by one, and each has a certificate of its own. A *verified* bound
# rests on dual variables that :func:`protocover.solvers.verify` rechecks without the solver.
# A *solver* bound is a claim of branch and bound that cannot be rechecked.

for label, solution in zip(exact.classes_, exact.solution_.solutions, strict=True):
    print(f"class {label}: objective {solution.objective:g}, {solution.certificate}")

# %%
# What a certificate does *not* say: that this selection is the only best one, or that it
# classifies new points better. Here are 3000 new points from the same law.

X_new, y_new = plane.sample(1000, seed=1)
for name, rule in [("greedy", greedy), ("exact", exact), ("Bayes rule", plane)]:
    print(f"{name:10} {np.mean(rule.predict(X_new) == y_new):.1%} of new points right")

plt.show()
