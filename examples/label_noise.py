"""
Label noise: finding wrong labels
=================================

A point that lies among the prototypes of another class has a suspect label. We change some
labels of the handwritten digits on purpose, ask which labels look wrong, and see how many of
the changed ones come up.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from protocover import PVMClassifier, find_label_issues

# %%
# One label in twenty becomes another digit.

rng = np.random.default_rng(0)
X, true = load_digits(return_X_y=True)
flipped = rng.random(len(true)) < 0.05
y = np.where(flipped, (true + rng.integers(1, 10, len(true))) % 10, true)

# %%
# Fit on the noisy labels, then ask. Suspect is a point that lies in balls of other classes and in
# none of its own, or that is nearer to the prototypes of another class. No prototype counts for
# its own label. The most suspect come first, and as many are listed as are likely to be wrong.

model = PVMClassifier(random_state=0).fit(X, y)
listed = find_label_issues(model, X, y)
print(f"{flipped.sum()} of {len(y)} labels were changed; {len(listed)} are listed,")
print(f"{flipped[listed.row].sum()} of them changed")

# %%
# ``max_suspects=None`` lists every label that disagrees with nearby prototypes.

found = find_label_issues(model, X, y, max_suspects=None)

# %%
# Whoever checks labels looks at the head of this list.

hits = np.cumsum(flipped[found.row])
for n in (20, 50, 100, len(found)):
    print(f"among the first {n:3} suspects {hits[n - 1]:3} changed labels")

really = flipped[found.row]
restored = np.mean(found.suggested[really] == true[found.row[really]])
print(
    f"the class suggested is the true one for {restored:.1%} of the changed labels found"
)

# %%
# On the left the first suspects, each with the label it has and the one suggested. On the right
# the first suspects whose labels nobody changed: such digits are worth a look, too.


def draw_digits(figure, title, places):
    """Draw the suspects at these places of the list."""
    figure.suptitle(title, fontsize="medium")
    for ax, k in zip(figure.subplots(3, 5).flat, places, strict=True):
        ax.imshow(X[found.row[k]].reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{found.label[k]} → {found.suggested[k]}?", fontsize="medium")
        ax.set(xticks=[], yticks=[])


figure = plt.figure(figsize=(9.5, 4.2), layout="constrained")
left, right = figure.subfigures(1, 2, wspace=0.05)
draw_digits(left, "first on the list", range(15))
draw_digits(right, "on the list, though not changed", np.flatnonzero(~really)[:15])

# %%
# How many changed labels are found as one goes down the list, against a perfect list and against
# looking at points at random.

_, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
looked = np.arange(1, len(found) + 1)
ax.plot(looked, np.minimum(looked, flipped.sum()), color="0.6", label="a perfect list")
ax.plot(looked, hits, label="find_label_issues")
ax.plot(looked, looked * flipped.mean(), color="0.6", linestyle=":", label="at random")
ax.set(xlabel="labels looked at", ylabel="changed labels found")
ax.legend(frameon=False)
plt.show()
