"""
Neighbour graphs: only the distances that count
===============================================

A ball needs to know who is near, and nothing of pairs that are far apart. So a sparse table of
near pairs, a neighbour graph, is enough to choose prototypes from, whoever made it:
scikit-learn's transformers in a pipeline, an index of your own, or a search that is
approximate.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse import csr_array
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import (
    KNeighborsTransformer,
    RadiusNeighborsTransformer,
    radius_neighbors_graph,
)
from sklearn.pipeline import make_pipeline

from protocover import PVMClassifier

X, y = make_moons(800, noise=0.15, random_state=0)
X_new, y_new = make_moons(2000, noise=0.15, random_state=1)

# %%
# A graph cut at a radius
# -----------------------
# It holds the distances of all pairs up to a radius, which has to be a little larger than that
# of the balls. The prototypes are the same as from the points themselves.

graph = radius_neighbors_graph(X, radius=0.4, mode="distance")
model = PVMClassifier(radii="shared", eps=0.3, metric="precomputed").fit(graph, y)
same = PVMClassifier(radii="shared", eps=0.3).fit(X, y)
print(f"{graph.nnz} distances of {len(X) ** 2} pairs")
print(
    f"{len(model.prototype_indices_)} prototypes, the same as from the points:",
    np.array_equal(model.prototype_indices_, same.prototype_indices_),
)

# %%
# A radius that the graph cannot tell of is refused, with the ways out.

try:
    PVMClassifier(radii="shared", eps=0.6, metric="precomputed").fit(graph, y)
except ValueError as error:
    print(error)

# %%
# In a pipeline
# -------------
# The transformers make the graph of new points from the training points, too. A new point with
# no prototype in reach gets the ``outlier_label``. Where the radius of the graph is a step of
# its own, the radius of the balls can be searched for.

pipe = make_pipeline(
    RadiusNeighborsTransformer(radius=0.6),
    PVMClassifier(
        radii="shared", eps=0.3, metric="precomputed", outlier_label="most_frequent"
    ),
)
search = GridSearchCV(pipe, {"pvmclassifier__eps": [0.1, 0.2, 0.3, 0.4, 0.5]}, cv=5)
search.fit(X, y)
chosen = search.best_estimator_[-1]
print(
    f"eps = {chosen.eps_}: {len(chosen.prototype_indices_)} prototypes, "
    f"{search.score(X_new, y_new):.1%} of new points right"
)

# %%
# Nearest neighbours
# ------------------
# A graph of so many neighbours for each point knows all pairs up to the nearest of the last
# neighbours, and no farther. Within that nothing is missing; ``fit`` warns beyond it.

nearest = KNeighborsTransformer(n_neighbors=40).fit_transform(X)
complete = nearest.max(axis=1).toarray().min()
print(f"40 neighbours: complete up to {complete:.3f}")
few = PVMClassifier(radii="shared", eps=complete, metric="precomputed").fit(nearest, y)
exact = PVMClassifier(radii="shared", eps=complete).fit(X, y)
print("same objective:", few.objective_ == exact.objective_)

# %%
# An approximate search
# ---------------------
# Indexes such as pynndescent's and faiss's answer with two tables, of neighbours and of their
# distances, which two lines turn into a graph. Whom the index overlooks is missing from balls;
# ``Precomputed(cutoff=...)`` says that one knows.


def graph_of(neighbors, distances, n_columns):
    """Make a graph of the neighbours (n, k) of points and their distances (n, k)."""
    n, k = neighbors.shape
    rows = np.repeat(np.arange(n), k)
    return csr_array((distances.ravel(), (rows, neighbors.ravel())), (n, n_columns))


if find_spec("pynndescent"):
    from pynndescent import NNDescent

    from protocover.dissimilarity import Precomputed

    index = NNDescent(X, n_neighbors=60, random_state=0)
    found = graph_of(*index.neighbor_graph, len(X))
    loose = PVMClassifier(
        radii="shared", eps=0.3, metric=Precomputed(cutoff=0.3), outlier_label=0
    )
    loose.fit(found, y)
    queries = graph_of(*index.query(X_new, k=60), len(X))
    print(
        f"pynndescent: {len(loose.prototype_indices_)} prototypes, "
        f"{np.mean(loose.predict(queries) == y_new):.1%} of new points right"
    )
else:
    print("pip install pynndescent to see an approximate search")

# %%
# What the prototypes are chosen from: grey lines are the pairs within the radius of the balls.

near = graph.tocoo()
kept = (near.data < 0.3) & (near.row < near.col)
lines = np.stack([X[near.row[kept]], X[near.col[kept]]], axis=1)
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.add_collection(LineCollection(lines, colors="0.8", linewidths=0.2, zorder=0))
ax.scatter(*X.T, c=y, cmap="coolwarm", s=6)
for place, label in zip(
    X[model.prototype_indices_], model.prototype_labels_, strict=True
):
    color = plt.get_cmap("coolwarm")(float(label))
    ax.add_patch(plt.Circle(place, 0.3, fill=False, color=color))
    ax.plot(*place, "o", color=color, markeredgecolor="black")
ax.set_aspect("equal")
ax.set_title(
    f"{len(X)} points, {kept.sum()} pairs, {len(model.prototype_indices_)} prototypes"
)

if __name__ == "__main__":
    plt.show()
