"""
Misspelt words under the edit distance
======================================

The words that most misspellings are close to turn out to be the words spelt right. The number
of letters to change comes from another library, rapidfuzz, and there are three ways to hand
it over, all with the same result.

Needs ``pip install rapidfuzz``.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from sklearn.base import BaseEstimator

from protocover import PVMClassifier

EPS = 3.0
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
WORDS = ["harbour", "journey", "kitchen", "village", "weather", "library"]


# %%
# Careless writers
# ----------------
# Six words, each written forty times. Up to two letters are changed, dropped or added.


def misspell(word, rng):
    """Change, drop or add up to two letters of a word."""
    letters = list(word)
    for _ in range(rng.integers(3)):
        place, what = rng.integers(len(letters)), rng.integers(3)
        letters[place : place + (what > 0)] = rng.choice(
            LETTERS, size=1 if what < 2 else 0
        )
    return "".join(letters)


def make_words(n_each=40, seed=0):
    """Misspelt words, and the word that was meant."""
    rng = np.random.default_rng(seed)
    meant = np.repeat(WORDS, n_each)
    return [misspell(word, rng) for word in meant], meant


words, meant = make_words()
print(words[:8])

# %%
# A function
# ----------
# The shortest way: any function of two examples is a metric. It is called once a pair, which
# is the slowest way, too.


def fit_function(words, meant):
    """Hand over a function of two words: the shortest way, and the slowest."""
    return PVMClassifier(radii="shared", eps=EPS, metric=Levenshtein.distance).fit(
        words, meant
    )


# %%
# A matrix
# --------
# Where the library computes all pairs at once, hand over its table. For prediction the
# distances from the prototypes are enough.


def fit_matrix(words, meant):
    """Hand over a matrix."""
    table = cdist(
        words, words, scorer=Levenshtein.distance, dtype=np.float64, workers=-1
    )
    return PVMClassifier(radii="shared", eps=EPS, metric="precomputed").fit(
        table, meant
    )


def predict_matrix(model, words, queries):
    """Hand over the distances from the prototypes only."""
    prototypes = [words[i] for i in model.prototype_indices_]
    table = cdist(
        queries, prototypes, scorer=Levenshtein.distance, dtype=np.float64, workers=-1
    )
    return model.predict(table)


# %%
# An object
# ---------
# For large data: an object that is asked for one block at a time, so that no matrix of all
# pairs is ever held. It says that examples are not rows of numbers, and that each pair need be
# computed only once.


class EditDistance(BaseEstimator):
    """Levenshtein distance, asked block by block: no matrix of all pairs is ever held."""

    requires_array = False
    symmetric = True

    def fit(self, X, y=None):
        """Do nothing: there is nothing to learn."""
        return self

    def pairwise(self, A, B):
        """Return the distances of the words of A from those of B."""
        return cdist(list(A), list(B), scorer=Levenshtein.distance, dtype=np.float64)


def fit_blocks(words, meant):
    """Hand over an object."""
    return PVMClassifier(radii="shared", eps=EPS, metric=EditDistance()).fit(
        words, meant
    )


# %%
# One result
# ----------

model = fit_blocks(words, meant)
for other in (fit_function(words, meant), fit_matrix(words, meant)):
    print(
        "same prototypes:",
        np.array_equal(other.prototype_indices_, model.prototype_indices_),
    )

for word, label, covered in zip(
    model.prototypes_,
    model.prototype_labels_,
    model.newly_covered_count_,
    strict=True,
):
    print(f"{word:10} means {label:8} and covers {covered} words")

queries, truth = make_words(seed=1)
right = np.mean(model.predict(queries) == truth)
print(f"of {len(queries)} new words {right:.1%} are understood")

# %%
# Each prototype with the words in its ball: those one edit away on the inner disc, those two
# edits away round it.


def draw_ball(ax, center, around, color):
    """Write a word, and round it those at distance 1 and 2."""
    ax.text(
        0, 0, center, ha="center", va="center", weight="bold", color=color, fontsize=11
    )
    for edits, radius in [(1, 0.64), (2, 1.26)]:
        size = 2 * radius + 0.55
        ax.add_patch(
            Ellipse((0, 0), 1.5 * size, size, color=color, alpha=0.1, linewidth=0)
        )
        ring = [word for word in around if Levenshtein.distance(word, center) == edits]
        for place, word in enumerate(ring):
            angle = 2 * np.pi * (place + 0.5) / len(ring)
            out = radius + (0.1 if place % 2 else -0.1)
            x, y = 1.5 * out * np.cos(angle), out * np.sin(angle)
            ax.text(x, y, word, ha="center", va="center", fontsize=7)
    ax.set(xlim=(-2.4, 2.4), ylim=(-1.6, 1.6), aspect="equal")
    ax.axis("off")


figure, axes = plt.subplots(2, 3, figsize=(11, 5.2), layout="constrained")
for k, (word, label) in enumerate(
    zip(model.prototypes_, model.prototype_labels_, strict=True)
):
    mine = sorted(set(np.array(words)[meant == label]))
    draw_ball(axes.flat[k], word, mine, f"C{k}")

# As a script, the figure stays on screen; where functions are imported, nothing waits.
if __name__ == "__main__":
    plt.show()
