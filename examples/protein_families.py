"""
Protein families: prototypes of sequences
=========================================

Sequences that descend from common ancestors are told apart without aligning them. Two
sequences are alike if they share many short words, a letter changed here and there; the
prototypes are the family members that are closest to most of the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from protocover import PVMClassifier, pvm_path
from protocover.dissimilarity import MismatchDistance
from protocover.plotting import PrototypeMapDisplay

# %%
# Evolution in twenty lines
# -------------------------
# Each family has an ancestor of 80 amino acids, and two or three branches that have drifted
# from it. The members drift from their branch: letters change, and now and then one is lost
# or inserted, so that positions no longer match. All families share some ancestry, too.

AMINO_ACIDS = list("ACDEFGHIKLMNPQRSTVWY")


def mutate(sequence, rng, changes, gaps=0.0):
    """Change, drop and insert letters at these rates."""
    letters = []
    for letter in sequence:
        if rng.random() < gaps:
            continue
        letters.append(
            str(rng.choice(AMINO_ACIDS)) if rng.random() < changes else letter
        )
        if rng.random() < gaps:
            letters.append(str(rng.choice(AMINO_ACIDS)))
    return "".join(letters)


def make_families(seed, n_each=12):
    """Draw sequences of four families, with the family and the branch of each."""
    rng = np.random.default_rng(seed)
    origin = "".join(rng.choice(AMINO_ACIDS, 80))
    sequences, families, branches = [], [], []
    for family, n_branches in {
        "globin": 3,
        "kinase": 3,
        "lectin": 2,
        "lipase": 2,
    }.items():
        ancestor = mutate(origin, rng, changes=0.8)
        for branch in range(n_branches):
            parent = mutate(ancestor, rng, changes=0.2)
            sequences += [
                mutate(parent, rng, changes=0.12, gaps=0.02) for _ in range(n_each)
            ]
            families += [family] * n_each
            branches += [f"{family} {'ABC'[branch]}"] * n_each
    return np.array(sequences), np.array(families), np.array(branches)


sequences, families, branches = make_families(seed=3)
for row in (0, 1, 40, 80):
    print(f"{branches[row]}  {sequences[row][:60]}...")

# %%
# The mismatch distance
# ---------------------
# :class:`~protocover.dissimilarity.MismatchDistance` describes a sequence by its words of
# ``k`` letters, counting also words that differ in up to ``m`` places. A third of the
# sequences is kept aside to see whether the prototypes tell the families of new ones.

aside = np.random.default_rng(0).random(len(sequences)) < 1 / 3
X, y = sequences[~aside], families[~aside]
metric = MismatchDistance(k=3, m=1)

# %%
# Families, or branches
# ---------------------
# The radius decides how closely one looks. The default shared radius is the median distance of a
# sequence from the nearest one of another family. A path over radii shows how many prototypes
# smaller ones need; we take the largest radius with at least ten. Either way the model is told
# the families only, never the branches.

path = pvm_path(X, y, metric=metric)
eps = path.eps[(path.n_prototypes[:, 0] >= 10).nonzero()[0][-1]]
coarse = PVMClassifier(radii="shared", metric=metric).fit(X, y)
fine = PVMClassifier(radii="shared", eps=eps, metric=metric).fit(X, y)

for model in (coarse, fine):
    chosen = branches[~aside][model.prototype_indices_]
    right = model.score(sequences[aside], families[aside])
    print(
        f"radius {model.eps_:.2f}: {len(chosen)} prototypes, in {len(set(chosen))} "
        f"of {len(set(branches))} branches; {right:.0%} of {aside.sum()} new sequences right"
    )

# %%
# Two pictures
# ------------
# On the left the distances of all training sequences, family by family; dark is near, and the
# darkest blocks along the diagonal are the branches. The dots are the ten prototypes. On the
# right a map of them, where near means alike.

order = np.argsort(branches[~aside], kind="stable")
table = metric.fit(X).pairwise(X, X)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
image = left.imshow(
    table[np.ix_(order, order)], cmap="magma", vmin=np.quantile(table, 0.02)
)
figure.colorbar(image, ax=left, label="mismatch distance", shrink=0.8)
places = np.flatnonzero(np.isin(order, fine.prototype_indices_))
left.plot(places, places, "o", color="white", markeredgecolor="black", markersize=6)
names, starts = np.unique(y[order], return_index=True)
left.set(xticks=[], yticks=starts, yticklabels=names, title="all pairs of sequences")
PrototypeMapDisplay.from_estimator(fine, names=chosen, ax=right, fontsize=8)
plt.show()
