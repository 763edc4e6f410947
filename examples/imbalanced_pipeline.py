"""
In an imbalanced-learn pipeline
===============================

``PVMSelector`` thins a training set before any other classifier is fitted. It follows the
protocol of imbalanced-learn's samplers: here it stands in front of nearest neighbours and of
a support vector machine, beside a random choice of as many points.

Needs ``pip install imbalanced-learn``.
"""

import matplotlib.pyplot as plt
import numpy as np
from imblearn.pipeline import Pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from protocover import PVMSelector
from protocover.plotting import BoundaryDisplay

# %%
# Two interleaving crescents; the lower one is rare.


def make_crescents(n_common, n_rare, seed):
    """Draw two crescents of different size."""
    X, y = make_moons((n_common, n_rare), noise=0.25, random_state=seed)
    return X, np.array(["common", "rare"])[y]


X, y = make_crescents(1500, 150, seed=0)
X_new, y_new = make_crescents(5000, 5000, seed=1)

# %%
# In imbalanced-learn's pipeline a sampler changes the training set and is left out at
# prediction. :class:`~protocover.PVMSelector` keeps prototypes. A ball that holds more points of
# other classes than it newly covers is never taken, so the border is cleaned as well.

selector = PVMSelector(eps=0.3, max_prototypes={"common": 20, "rare": 20})
_, y_few = selector.fit_resample(StandardScaler().fit_transform(X), y)
budget = {label: int(np.sum(y_few == label)) for label in ("common", "rare")}
print("kept by PVMSelector:", budget)

# %%
# Three training sets, two classifiers. Random choices differ, so there are ten of them.

randoms = [
    RandomUnderSampler(sampling_strategy=budget, random_state=seed)
    for seed in range(10)
]
samplers = {"all points": ["passthrough"], "PVMSelector": [selector], "random": randoms}
classifiers = {"1-NN": KNeighborsClassifier(1), "SVC": SVC(C=10)}


def fit(sampler, classifier):
    """Scale, select and classify."""
    steps = [("scale", StandardScaler()), ("select", sampler), ("classify", classifier)]
    return clone(Pipeline(steps)).fit(X, y)


# %%
# What counts is balanced accuracy: the mean, over the two classes, of the share told right.

fitted = {}
for kind, classifier in classifiers.items():
    for name, choices in samplers.items():
        fitted[kind, name] = [fit(sampler, classifier) for sampler in choices]
        right = [
            balanced_accuracy_score(y_new, p.predict(X_new)) for p in fitted[kind, name]
        ]
        print(f"{kind:5} on {name:11} {np.mean(right):.1%}", end="")
        print(f" ({min(right):.1%} to {max(right):.1%})" if len(right) > 1 else "")

# %%
# The boundaries, with the points that were kept drawn large; of the random choices the first is
# shown.

figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), layout="constrained")
for ax, ((kind, name), pipelines) in zip(axes.flat, fitted.items(), strict=True):
    kept = getattr(pipelines[0]["select"], "sample_indices_", [])
    BoundaryDisplay.from_estimator(
        pipelines[0], X, y, prototypes=X[kept], prototype_labels=y[kept], ax=ax
    )
    ax.set_title(f"{kind} on {name}", fontsize="medium")
plt.show()
