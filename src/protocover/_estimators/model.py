"""What is fitted, whether chosen by `fit`, a search, a path or Dask, or read from a file."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverSolution, relative_gap
from .._prototypes import PrototypeSet, column_order
from .._prototypes.fitted_rule import FittedRule
from .._selection.covering import Chosen
from .._selection.selection import Selection
from .._selection.training import Training
from .._typing import Floats, Indices
from ..candidates._pool import Pool, numbers, source_names, take, training_rows

# The class of all samples of a cover.
ONE_CLASS = "all cases"

_FEATURES = ("n_features_in_", "feature_names_in_")


@dataclass(frozen=True, eq=False)
class Assignment:
    """What is known of the samples of a cover, which have no classes.

    Parameters
    ----------
    labels : ndarray of int, shape (n_samples,)
        The nearest representative of each sample that one covers, else -1.
    coverage : float
        Fraction of the weight that is covered.
    objective, lower_bound : float
        With what the representatives cost that had to be chosen.
    """

    labels: Indices
    coverage: float
    objective: float
    lower_bound: float


@dataclass(frozen=True, eq=False)
class CoverModel:
    """A selection of prototypes with all that predictions need; a cover has one class.

    Parameters
    ----------
    selection : Selection
        Candidates by their numbers among all that were given.
    prototypes : rows, or column numbers of a distance matrix
        In order of selection.
    rows, sources : ndarray, shape (n_prototypes,)
        Row of `X` of each prototype, -1 if it is not one, and the name of its source.
    classes : ndarray, shape (n_classes,)
        Labels, sorted.
    class_count : ndarray of int, shape (n_classes,)
        Number of training samples of each class.
    eps, prototype_cost : float
        The radius, or the maximum radius, and the cost of a prototype.
    outlier_label : label or None
        What to predict for samples in no neighbourhood.
    dissimilarity : dissimilarity
        Fitted, with no more of the training data than these prototypes need.
    assignment : Assignment or None
        Only for a cover of samples without classes.
    rule : FittedRule or None
        Predicts instead of the nearest prototype, with ``decision="fitted"``.
    """

    selection: Selection
    prototypes: Any
    rows: Indices
    sources: NDArray[np.str_]
    classes: NDArray[Any]
    class_count: Indices
    eps: float
    prototype_cost: float
    outlier_label: Any
    dissimilarity: Any
    assignment: Assignment | None = None
    rule: FittedRule | None = None

    @classmethod
    def of_training(
        cls,
        selection: Selection,
        training: Training,
        *,
        eps: float,
        prototype_cost: float,
        outlier_label: Any = None,
    ) -> Self:
        """Keep a selection from a training set, candidates by their columns in its balls."""
        selection = by_column(selection, training)
        return cls.of_pools(
            selection,
            training.pools,
            selection.candidates,
            classes=training.classes,
            class_count=training.class_count,
            eps=eps,
            prototype_cost=prototype_cost,
            outlier_label=outlier_label,
            dissimilarity=training.dissimilarity,
        )

    @classmethod
    def of_pools(
        cls, selection: Selection, pools: list[Pool], chosen: Indices, **kept: Any
    ) -> Self:
        """Keep the candidates `chosen` from pools, and what the dissimilarity needs for them."""
        model = cls(
            selection=selection.renumbered(numbers(pools)[chosen]),
            prototypes=take(pools, chosen),
            rows=training_rows(pools)[chosen],
            sources=source_names(pools)[chosen],
            **kept,
        )
        if not hasattr(model.dissimilarity, "for_prototypes"):
            return model
        by_class = model.prototype_set.points
        return replace(model, dissimilarity=model.dissimilarity.for_prototypes(by_class))

    @classmethod
    def of_cover(
        cls,
        chosen: Chosen,
        training: Training,
        samples: Any,
        *,
        eps: float,
        closed: bool,
        n_jobs: int | None,
    ) -> Self:
        """Keep the choice of a cover, and assign each of all `samples` to a representative."""
        n = len(chosen.columns)
        uncounted = one_class(chosen.columns, np.zeros(n, dtype=np.intp))
        model = cls.of_training(uncounted, training, eps=eps, prototype_cost=0.0)
        labels = model.prototype_set.covering(
            samples, radii=model.radii, closed=closed, n_jobs=n_jobs
        )
        covered = labels >= 0
        kept = covered if training.rows is None else covered[training.rows]
        coverage = float(training.weights[kept].sum() / training.weights.sum())
        counts = np.bincount(labels[covered], minlength=n)
        solution = chosen.numbered(numbers(training.pools))
        return replace(
            model,
            selection=one_class(model.selection.candidates, counts, (solution,)),
            classes=np.array([ONE_CLASS]),
            class_count=np.array([len(labels)]),
            assignment=Assignment(labels, coverage, chosen.objective, chosen.lower_bound),
        )

    @cached_property
    def prototype_set(self) -> PrototypeSet:
        """The prototypes, ready to be searched for the nearest."""
        return PrototypeSet.of(
            self.prototypes,
            self.selection.classes,
            n_classes=len(self.classes),
            dissimilarity=self.dissimilarity,
            radii=self.selection.radii,
        )

    @property
    def radii(self) -> Floats:
        """The radius of each prototype, its own or the one that all share."""
        own = self.selection.radii
        return np.full(len(self.rows), self.eps) if own is None else own

    @property
    def labels(self) -> NDArray[Any]:
        """The class of each prototype."""
        return self.classes[self.selection.classes]

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of a classifier by their names."""
        selection = self.selection
        return {
            "eps_": self.eps,
            "prototype_cost_": self.prototype_cost,
            "outlier_label_": self.outlier_label,
            "classes_": self.classes,
            "class_count_": self.class_count,
            "prototypes_": self.prototypes,
            "n_prototypes_": len(self.rows),
            "candidate_indices_": selection.candidates,
            "prototype_indices_": self.rows,
            "prototype_sources_": self.sources,
            "prototype_labels_": self.labels,
            "prototype_radii_": self.radii,
            "covered_count_": selection.covered,
            "newly_covered_count_": selection.newly_covered,
            "miscovered_count_": selection.miscovered,
            "objective_": selection.objective,
            "lower_bound_": selection.lower_bound,
            "gap_": selection.gap,
            "certificate_": selection.certificate,
            "solution_": selection,
            "dissimilarity_": self.dissimilarity,
            "decision_rule_": self.rule,
        }

    def cover_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of a `BallCover` by their names."""
        samples, (solution,) = self.assignment, self.selection.solutions
        assert samples is not None
        return {
            "eps_": self.eps,
            "representatives_": self.prototypes,
            "candidate_indices_": self.selection.candidates,
            "representative_indices_": self.rows,
            "representative_sources_": self.sources,
            "labels_": samples.labels,
            "counts_": self.selection.covered,
            "coverage_": samples.coverage,
            "objective_": samples.objective,
            "lower_bound_": samples.lower_bound,
            "gap_": relative_gap(samples.objective, samples.lower_bound),
            "certificate_": solution.certificate,
            "status_": solution.status,
            "solution_": solution,
            "dissimilarity_": self.dissimilarity,
        }

    def __getstate__(self) -> dict[str, Any]:
        # The prototype set is made again when needed.
        return {part.name: getattr(self, part.name) for part in fields(self)}


def one_class(
    candidates: Indices, counts: Indices, solutions: tuple[CoverSolution, ...] = ()
) -> Selection:
    """Return a selection of one class whose prototypes cover these numbers of samples."""
    zeros = np.zeros(len(candidates), dtype=np.intp)
    return Selection(
        candidates=candidates,
        classes=zeros,
        newly_covered=counts,
        covered=counts,
        miscovered=zeros,
        score=counts.astype(np.float64),
        solutions=solutions,
    )


def by_column(selection: Selection, training: Training) -> Selection:
    """Put prototypes that are all columns of a matrix in the order of the columns."""
    if not training.is_table:
        return selection
    order = column_order(take(training.pools, selection.candidates), training.points.shape[1])
    return selection if order is None else selection._rearranged(order)


def copy_features(source: Any, target: Any) -> None:
    """Copy the number and names of features from an estimator that has checked them."""
    forget_features(target)
    vars(target).update({name: vars(source)[name] for name in _FEATURES if name in vars(source)})


def forget_features(estimator: Any) -> None:
    """Delete the number and names of features: the next samples may have none."""
    for name in _FEATURES:
        vars(estimator).pop(name, None)
