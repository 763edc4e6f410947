"""
Unbalanced classes: what the rare class gets
============================================

If one class has twenty times as many points, prototypes go where most points are, and the
rare class gets few. Class weights, or a budget for each class, change that. ``coverage`` counts
what every class got.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import recall_score

from protocover import PVMClassifier
from protocover.plotting import BallsDisplay

# %%
# The common class is a broad cloud, the rare class two small groups at its edge.


def make_points(n_common, n_rare, seed):
    """Draw a broad cloud, and two small groups that overlap its edge."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n_common, 2)) * [1.6, 1.0]
    rare = rng.normal(size=(n_rare, 2)) * 0.5
    rare += np.where(np.arange(n_rare)[:, None] % 2, [2.6, 1.6], [-2.4, -1.7])
    y = np.repeat(["common", "rare"], [n_common, n_rare])
    return np.vstack([common, rare]), y


X, y = make_points(600, 30, seed=0)
X_new, y_new = make_points(20_000, 1000, seed=1)

# %%
# Three models with the same radius:
#
# - *plain*: every point counts the same, and the budget is twelve prototypes;
# - *weighted*: every class counts the same in total. ``class_weight`` scales what an
#   uncovered point costs, and what covering it wrongly costs;
# - *budget*: points count the same, but each class may have six prototypes.

options = {
    "plain": {"max_prototypes": 12},
    "weighted": {"max_prototypes": 12, "class_weight": "balanced"},
    "budget": {"max_prototypes": {"common": 6, "rare": 6}},
}
models = {
    name: PVMClassifier(radii="shared", eps=0.8, **given).fit(X, y)
    for name, given in options.items()
}

# %%
# ``coverage`` counts by class; the last column is the share of *new* points of the class that get
# their right name. A budget is a limit, not a wish: a class stops earlier where a further
# prototype would cover more of the others than of its own.

print(
    f"{'points':>26}{'prototypes':>12}{'covered':>9}{'wrongly':>9}{'new points right':>18}"
)
for name, model in models.items():
    counts = model.coverage(X, y).by_class()
    recall = recall_score(y_new, model.predict(X_new), average=None)
    for k, label in enumerate(model.classes_):
        print(
            f"{name:10} {label:8} {counts['points'][k]:6} {counts['prototypes'][k]:11}"
            f"{counts['covered'][k]:9}{counts['wrongly_covered'][k]:9} {recall[k]:17.1%}"
        )

# %%
# Hollow points are covered by no prototype of their class; the line is the boundary of the
# nearest prototype rule.

figure, axes = plt.subplots(
    1, 3, figsize=(11, 3.9), sharex=True, sharey=True, layout="constrained"
)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    BallsDisplay.from_estimator(model, X, y, boundary=True, fill=True, ax=ax)
    rare = np.sum(model.prototype_labels_ == "rare")
    ax.set_title(
        f"{name}: {rare} of {len(model.prototype_labels_)} prototypes are rare"
    )
plt.show()
