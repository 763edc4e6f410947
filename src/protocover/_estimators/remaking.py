"""The training set of a fitted model made again, with the same candidates where that can be."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._selection.training import Training, prepare_training
from ..candidates._pool import Pool, numbers
from ..data._points import check_estimator_points

NOT_REMADE = (
    "its candidates were drawn at random and cannot be made again without the seed: the "
    "objective is rechecked, the bounds are not; fit with random_state=0, say, to have them "
    "rechecked too"
)


def prepare_again(
    model: Any, X: Any, y: Any, sample_weight: Any, *, unlabeled: Any = None
) -> tuple[Training, bool]:
    """Make the training set ready as the fit did; also tell if its candidates are the same."""
    seeded = isinstance(model.random_state, Integral)
    seed = check_random_state(model.random_state).randint(2**31) if seeded else 0
    rng = np.random.default_rng(seed)
    before = _state(rng)
    training = prepare_training(
        check_estimator_points(model, X, model.dissimilarity_, reset=False),
        y,
        sample_weight,
        metric=model.metric,
        metric_params=model.metric_params,
        candidates=model.candidates,
        rng=rng,
        unlabeled=unlabeled,
        cross_class=getattr(model, "cross_class", True),
        class_weight=getattr(model, "class_weight", None),
    )
    return training, seeded or _state(rng) == before


def among(training: Training, chosen: Any, indices: NDArray[np.intp]) -> Training:
    """Return a training set whose only candidates are those `chosen`, by their numbers."""
    extent = sum(pool.extent for pool in training.pools)
    return replace(training, pools=[Pool(chosen, "model", indices, extent)])


def columns_of(indices: NDArray[np.intp], training: Training) -> NDArray[np.intp]:
    """Return the places of candidates, given by their numbers, -1 where there is none."""
    place = {number: column for column, number in enumerate(numbers(training.pools).tolist())}
    return np.array([place.get(number, -1) for number in indices.tolist()], dtype=np.intp)


def _state(rng: np.random.Generator) -> tuple[str, int]:
    """Return what changes as soon as something is drawn from a generator."""
    bits = rng.bit_generator
    return str(bits.state), getattr(bits.seed_seq, "n_children_spawned", 0)
