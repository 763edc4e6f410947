"""
Exact against greedy, and what a certificate says
=================================================

The greedy selection is fast and good; the exact one comes with a proof that nothing is
better. Here both choose prototypes for the same points, so that one sees what the
difference looks like, and what each can prove.
"""

import matplotlib.pyplot as plt
import numpy as np

from protocover import PVMClassifier
from protocover.datasets import make_gaussian_mixture
from protocover.plotting import BallsDisplay

# %%
# Three classes of points in the plane. A selection is the better, the smaller its *objective*:
# points left uncovered, plus points covered by prototypes of another class (once for each
# such prototype), plus ``prototype_cost`` for every prototype. At a cost of 1 a prototype pays
# for itself once it covers more than one further point.

plane = make_gaussian_mixture(random_state=9)
X, y = plane.data, plane.target

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

X_new, y_new = plane.law.sample(1000, random_state=1)
for name, rule in [("greedy", greedy), ("exact", exact), ("Bayes rule", plane.law)]:
    print(f"{name:10} {np.mean(rule.predict(X_new) == y_new):.1%} of new points right")

plt.show()
