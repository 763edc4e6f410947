"""Edit distance by hand-over from rapidfuzz: prototypes of misspelt words.

Three ways to hand a foreign distance over, all with the same result: a matrix, a function
of two examples, and an object whose `cross` is asked for one block at a time.

Run: python examples/edit_distance.py (needs rapidfuzz)
"""

from __future__ import annotations

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from sklearn.base import BaseEstimator

from protocover import PVMClassifier

EPS = 3.0
LETTERS = list("abcdefghijklmnopqrstuvwxyz")


def misspell(word, rng):
    """Change, drop or add up to two letters of a word."""
    letters = list(word)
    for _ in range(rng.integers(3)):
        place, what = rng.integers(len(letters)), rng.integers(3)
        letters[place : place + (what > 0)] = rng.choice(LETTERS, size=1 if what < 2 else 0)
    return "".join(letters)


def make_words(n_each=40, seed=0):
    """Misspelt words, and the word that was meant."""
    rng = np.random.default_rng(seed)
    meant = np.repeat(["harbour", "journey", "kitchen", "village", "weather"], n_each)
    return [misspell(word, rng) for word in meant], meant


def fit_matrix(words, meant):
    """Hand over a matrix."""
    table = cdist(words, words, scorer=Levenshtein.distance, dtype=np.float64, workers=-1)
    return PVMClassifier(eps=EPS, metric="precomputed").fit(table, meant)


def predict_matrix(model, words, queries):
    """Hand over the distances from the prototypes only."""
    prototypes = [words[i] for i in model.prototype_indices_]
    table = cdist(queries, prototypes, scorer=Levenshtein.distance, dtype=np.float64, workers=-1)
    return model.predict(table)


def fit_function(words, meant):
    """Hand over a function of two words: the shortest way, and the slowest."""
    return PVMClassifier(eps=EPS, metric=Levenshtein.distance).fit(words, meant)


class EditDistance(BaseEstimator):
    """Levenshtein distance, asked block by block: no matrix of all pairs is ever held."""

    accepts_anything = True
    symmetric = True

    def fit(self, X, y=None):
        """Do nothing: there is nothing to learn."""
        return self

    def cross(self, A, B):
        """Return the distances of the words of A from those of B."""
        return cdist(list(A), list(B), scorer=Levenshtein.distance, dtype=np.float64)


def fit_blocks(words, meant):
    """Hand over an object."""
    return PVMClassifier(eps=EPS, metric=EditDistance()).fit(words, meant)


def main():
    """Show the prototypes, and how well they understand new words."""
    words, meant = make_words()
    queries, truth = make_words(seed=1)
    model = fit_blocks(words, meant)
    for word, label, covered in zip(
        model.prototypes_, model.prototype_labels_, model.prototype_covered_, strict=True
    ):
        print(f"{word:10} means {label:8} and covers {covered:g} words")
    right = np.mean(model.predict(queries) == truth)
    print(f"of {len(queries)} new words {right:.1%} are understood")


if __name__ == "__main__":
    main()
