"""Ways to choose prototypes, each with the same number a class: what they err.

Every set is cut into ten folds five times. Features are standardised on the nine folds that
train, where all choices are made; a query is answered by its nearest prototype. Methods that
have no number are measured at the size they come out with, beside ours with as many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from experiments.parts import Parts

from ..budgets import N_FOLDS, Budget, Chosen, Grid, choose_settings, fit_default
from ..sets import FRESH, load_sets, names_of_halves
from ..shortening import shorten
from .at_most import choose_numbers
from .proset import PROSET, ask_proset
from .rivals import PER_CLASS, measure_rivals, sizeless
from .splits import Split, draw, splits_of

Told = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is measured, and how often; the default solver and fewer of others perhaps less so."""

    names: Sequence[str]
    n_repeats: int
    n_default: int
    n_fewer: int
    n_folds: int

    @classmethod
    def quick(cls) -> Plan:
        """Take little, only to see that it works."""
        return cls(("iris", "wine", "moons"), 1, 1, 1, 2)

    @classmethod
    def whole(cls) -> Plan:
        """Take sets that nothing was tuned on, without those of many classes, which take long."""
        many = ("USPS", "12 classes of 3 clusters", "blobs, 40 classes")
        names = [name for name in (*FRESH, *names_of_halves()["confirming"]) if name not in many]
        return cls(names, n_repeats=5, n_default=5, n_fewer=1, n_folds=10)


def run(quick: bool, parts: Parts) -> Told:
    """Measure all methods on all sets."""
    plan = Plan.quick() if quick else Plan.whole()
    # A table of distances has no means.
    sets = [name for name, one in load_sets(plan.names).items() if one.kind != "table"]
    trials = [
        {"name": name, "seed": seed, "n_folds": plan.n_folds}
        for name in sets
        for seed in range(plan.n_repeats)
    ]
    told = parts.keep_all("budgets", measure, trials)
    again = [
        trial | {"settings": one["settings"]}
        for trial, one in zip(trials, told, strict=True)
        if trial["seed"] < plan.n_default
    ]
    default = parts.keep_all("default solver", measure_default, again)
    first = [trial for trial in trials if trial["seed"] < plan.n_fewer]
    fewer = parts.keep_all("at most", choose_numbers, first)
    by_proset = trials if PROSET.exists() and not quick else []
    asked = parts.keep_all("proset", ask_proset, by_proset)
    return {
        "sets": {name: describe(name) for name in sets},
        "per_class": PER_CLASS,
        "n_repeats": plan.n_repeats,
        "trials": gather(trials, told),
        "default": gather(again, default),
        "at_most": gather(first, fewer),
        "proset": gather(by_proset, asked),
    }


def gather(trials: Sequence[Told], told: Sequence[Told]) -> dict[str, list[Told]]:
    """Put the repetitions of each set together, not so short that equal means differ."""
    found: dict[str, list[Told]] = {trial["name"]: [] for trial in trials}
    for trial, one in zip(trials, told, strict=True):
        found[trial["name"]].append(shorten(one, 10))
    return found


def describe(name: str) -> Told:
    """Return how large a set is."""
    data = draw(name)
    return {
        "n": len(data.y),
        "n_features": data.X.shape[1],
        "n_classes": int(data.y.max()) + 1,
        "fresh": name in FRESH,
        "tuned": name in names_of_halves()["tuning"],
    }


def measure(name: str, seed: int, n_folds: int) -> Told:
    """Measure all methods in the folds of one repetition, [what][method][fold]."""
    splits = splits_of(name, seed, n_folds)
    each = [measure_split(split, seed=1000 * seed + k) for k, split in enumerate(splits)]
    return {
        what: {method: [one[what][method] for one in each] for method in each[0][what]}
        for what in each[0]
    }


def measure_default(name: str, seed: int, n_folds: int, settings: Told) -> Told:
    """Measure the default solver with the settings that were chosen, [radii][fold][budget]."""
    splits = splits_of(name, seed, n_folds)
    found: Told = {}
    for radii in ("shared", "adaptive"):
        found[radii] = [
            [split.outcome(one) for one in fit_all(split, radii, numbers)]
            for split, numbers in zip(splits, settings[radii], strict=True)
        ]
    return found


def fit_all(split: Split, radii: str, settings: Sequence[int]) -> list[Chosen]:
    """Fit by the default solver with each number a class."""
    grid = Grid.of(radii, split.within, split.y)
    return [
        fit_default(grid, setting, split.within, split.y, Budget(k))
        for setting, k in zip(settings, PER_CLASS, strict=True)
    ]


def measure_split(split: Split, *, seed: int) -> Told:
    """Measure all methods once: error and size at each budget, and of those without one."""
    others = {
        name: (book.error(split.X_test, split.y_test), len(book))
        for name, book in sizeless(split, seed).items()
    }
    sizes = {name: size for name, (_, size) in others.items()}
    every = np.arange(len(split.y))
    ours = {
        radii: measure_ours(split, radii, sizes, seed=seed) for radii in ("shared", "adaptive")
    }
    return {
        "errors": {radii: one["errors"] for radii, one in ours.items()}
        | measure_rivals(split, seed=seed),
        "free": {radii: one["free"] for radii, one in ours.items()},
        "as_many": {radii: one["as_many"] for radii, one in ours.items()},
        "settings": {radii: one["settings"] for radii, one in ours.items()},
        "others": others | {"1-NN": (split.of_rows(every), len(every))},
    }


def measure_ours(split: Split, radii: str, sizes: dict[str, int], *, seed: int) -> Told:
    """Measure the greedy with k a class, with the same total shared out freely, and as many."""
    n_classes = int(split.y.max()) + 1
    each = [Budget(k) for k in PER_CLASS]
    free = [Budget(k * n_classes, each_class=False) for k in PER_CLASS]
    given = [Budget(size, each_class=False) for size in sizes.values()]
    # The folds have fewer points, and so would the other methods keep fewer there.
    in_folds = [Budget(round(b.number * (1 - 1 / N_FOLDS)), each_class=False) for b in given]
    grid = Grid.of(radii, split.within, split.y)
    tried = [*each, *free, *in_folds]
    settings = choose_settings(grid, split.within, split.y, tried, seed=seed)
    choices = grid.choices(split.within, split.y)
    found = [
        split.outcome(choices[setting].within(budget))
        for setting, budget in zip(settings, [*each, *free, *given], strict=True)
    ]
    n = len(PER_CLASS)
    return {
        "errors": found[:n],
        "free": found[n : 2 * n],
        "as_many": dict(zip(sizes, found[2 * n :], strict=True)),
        "settings": settings[:n],
    }
