"""
Preprocessing and GridSearchCV
==============================

How should the features be scaled, and what should a prototype cost? A pipeline and
scikit-learn's grid search answer both at once. We also let the search count prototypes, and
choose the smallest model that is about as good as the best.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from protocover import PVMClassifier
from protocover.plotting import PrototypeTableDisplay

COSTS, N_FOLDS = [0.5, 1, 2, 4, 8, 16], 5

# %%
# Thirty measurements of cell nuclei, in different units; which tumours are malignant?

data = load_breast_cancer(as_frame=True)
labels = np.array(data.target_names)[data.target]
X, X_test, y, y_test = train_test_split(
    data.data, labels, train_size=0.7, stratify=labels, random_state=0
)

# %%
# Everything that learns from data sits in the pipeline, so that each fold scales with its own
# training part. The largest radius, ``eps="auto"``, follows the scaling. The cost of a prototype
# is counted in samples, so one grid of costs serves every scaling.

pipeline = Pipeline(
    [("scale", StandardScaler()), ("project", PCA(10)), ("pvm", PVMClassifier())]
)
scalers = {
    "no scaling": "passthrough",
    "standard": StandardScaler(),
    "quantiles": QuantileTransformer(n_quantiles=100),
}
grid = {"scale": list(scalers.values()), "pvm__prototype_cost": COSTS}

# %%
# A scorer may return several numbers, and ``refit`` may be a rule. Ours is the paper's: the
# fewest prototypes among all settings whose accuracy is within one standard error of the best.


def score(model, X, y):
    """Return the accuracy, and the number of prototypes it took."""
    return {"accuracy": model.score(X, y), "size": len(model["pvm"].prototype_labels_)}


def smallest_good(results):
    """Choose the fewest prototypes within one standard error of the best accuracy."""
    accuracy, spread = results["mean_test_accuracy"], results["std_test_accuracy"]
    best = accuracy.argmax()
    good = accuracy >= accuracy[best] - spread[best] / np.sqrt(N_FOLDS - 1)
    return np.where(good, results["mean_test_size"], np.inf).argmin()


search = GridSearchCV(
    pipeline, grid, scoring=score, refit=smallest_good, cv=N_FOLDS
).fit(X, y)
print("scaling   ", search.best_params_["scale"])
print("cost      ", search.best_params_["pvm__prototype_cost"])
model = search.best_estimator_
print(f"prototypes {len(model['pvm'].prototype_labels_)} of {len(X)} tumours")
print(
    f"accuracy   {model.score(X_test, y_test):.1%} on {len(X_test)} tumours kept aside"
)

# %%
# Every setting as a dot: size against error. The chosen one is ringed.

results = search.cv_results_
size, error = results["mean_test_size"], 1 - results["mean_test_accuracy"]
_, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, scaler in scalers.items():
    mine = results["param_scale"] == scaler
    order = np.argsort(size[mine])
    ax.plot(
        size[mine][order],
        error[mine][order],
        "o-",
        label=name,
        markersize=4,
        linewidth=1,
    )
chosen = search.best_index_
ax.plot(
    size[chosen], error[chosen], "o", markersize=14, fillstyle="none", color="black"
)
ax.set(xscale="log", xlabel="prototypes", ylabel="cross-validated error")
ax.yaxis.set_major_formatter("{x:.0%}")
_ = ax.legend(frameon=False)

# %%
# The prototypes are real tumours, so they can be shown in the units in which they were
# measured. ``prototype_indices_`` tells which rows they are.

cases = X.iloc[model["pvm"].prototype_indices_]
display = PrototypeTableDisplay.from_estimator(
    model["pvm"], X, y, rows=cases, n_features=6, max_prototypes=12
)
plt.show()
