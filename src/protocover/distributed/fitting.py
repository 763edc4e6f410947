"""The steps of a fit on a cluster, and the parameters that they follow, each checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..balls import traits_of
from ..balls.forecast import estimate_memberships
from ..dissimilarity import KernelDistance, Metric, TangentDistance, resolve_metric
from ..estimators.fitted import Fitted
from ..estimators.fitting import Terms
from ..selection.by_class import Selection
from ..selection.parameters import (
    check_closed_ball,
    check_eps,
    check_n_prototypes,
    check_outlier_label,
    check_prototype_cost,
)
from ..selection.radius import draw_rows
from .blocks import count_blocks
from .chunks import Chunk, ChunkedPoints, take_points
from .cluster import Cluster, describe_cluster, find_client
from .cover import BlockCover, build_cover
from .radius import propose_eps_on_cluster
from .selection import check_selection, choose_tiers, select_on_cluster
from .sources import Candidates

__all__ = ["Job", "terms_of"]

# Points from which a dissimilarity learns; where there are fewer it learns from all.
_SAMPLE = 20_000

# These learn a few numbers (variances, a covariance, a background) that a sample tells as well.
_FROM_SAMPLE = (KernelDistance, Metric, TangentDistance)


@dataclass(frozen=True, eq=False)
class Job:
    """Whose workers are used, and parameters that mean the same whatever the data are."""

    client: Any
    cluster: Cluster
    dissimilarity: Any  # fitted once there is a sample to learn from
    eps: float | None  # None for one that is proposed
    closed: bool
    selection: str

    @classmethod
    def of(cls, classifier: Any) -> Self:
        """Check the parameters of a classifier, and that its cluster is there."""
        eps, closed = check_eps(classifier.eps), check_closed_ball(classifier.closed_ball)
        check_selection(classifier.selection)
        dissimilarity = _resolve(classifier.metric, classifier.metric_params)
        client = find_client(classifier.client)
        cluster = describe_cluster(client)
        return cls(client, cluster, dissimilarity, eps, closed, classifier.selection)

    def learn(self, points: ChunkedPoints, rng: np.random.Generator) -> Chunk:
        """Fit the dissimilarity to a sample of the points, and return that."""
        sample = take_points(self.client, points, draw_rows(len(points), _SAMPLE, rng))
        self.dissimilarity.fit(sample.points)
        return sample

    def radius(self, points: ChunkedPoints, sample: Chunk, rng: np.random.Generator) -> float:
        """Return the radius, given or proposed."""
        if self.eps is not None:
            return self.eps
        return propose_eps_on_cluster(
            self.client, points, self.dissimilarity, rng=rng, sample=sample
        )

    def density(self, sample: Chunk, eps: float, rng: np.random.Generator) -> float:
        """Return the share of pairs that lie within the radius, as far as a sample tells."""
        few = sample.points
        expected = estimate_memberships(self.dissimilarity, few, few, eps=eps, rng=rng)
        return expected.memberships / expected.n_pairs

    def build(
        self,
        points: ChunkedPoints,
        candidates: Candidates,
        terms: Terms,
        *,
        eps: float,
        density: float,
        folder: str | None,
    ) -> BlockCover:
        """Build the cover in as many blocks as the cluster wants of one of this density."""
        n_blocks = count_blocks(
            len(points),
            len(candidates),
            len(points.classes),
            memberships=density * len(points) * len(candidates),
            cluster=self.cluster,
        )
        return build_cover(
            self.client,
            points,
            candidates,
            self.dissimilarity,
            eps=eps,
            closed=self.closed,
            prototype_cost=terms.prototype_cost,
            n_blocks=n_blocks,
            folder=folder,
        )

    def select(self, points: ChunkedPoints, cover: BlockCover, terms: Terms) -> Selection:
        """Select for all classes within the budget, those that are large in rounds."""
        memberships = cover.memberships.sum(axis=0)
        return select_on_cluster(
            self.client,
            points,
            cover,
            prototype_cost=terms.prototype_cost,
            n_prototypes=terms.n_prototypes,
            in_rounds=choose_tiers(self.selection, memberships, cluster=self.cluster),
        )

    def keep(
        self,
        selection: Selection,
        points: ChunkedPoints,
        candidates: Candidates,
        terms: Terms,
        *,
        eps: float,
    ) -> Fitted:
        """Return what a model keeps of a selection."""
        return Fitted.of_pools(
            selection,
            [candidates.fetch(self.client, selection.candidates)],
            np.arange(len(selection.candidates)),  # only the chosen were fetched, in order
            classes=points.classes,
            class_count=points.class_count,
            eps=eps,
            prototype_cost=terms.prototype_cost,
            outlier_label=terms.outlier_label,
            dissimilarity=self.dissimilarity,
        )


def terms_of(classifier: Any, points: ChunkedPoints) -> Terms:
    """Check the parameters of a classifier whose meaning depends on its training points."""
    cost = points.default_cost
    if classifier.prototype_cost is not None:
        cost = check_prototype_cost(classifier.prototype_cost, np.ones(1))
    budget = check_n_prototypes(classifier.n_prototypes, points.classes)
    label = check_outlier_label(classifier.outlier_label, points.classes, points.class_count)
    return Terms(cost, budget, label)


def _resolve(metric: Any, params: dict[str, Any] | None) -> Any:
    """Return an unfitted dissimilarity, if a sample of the points is enough to fit it on."""
    dissimilarity = resolve_metric(metric, params)
    if traits_of(dissimilarity).pairwise:
        raise ValueError(
            "a table of values between points is not supported on Dask; pass the points and "
            "a metric, or use PVMClassifier on the table"
        )
    if traits_of(dissimilarity).learns_nothing or isinstance(dissimilarity, _FROM_SAMPLE):
        return dissimilarity
    raise ValueError(
        f"{type(dissimilarity).__name__} needs all training points at once and is not supported "
        "on Dask; use a metric by name, a function of two points, KernelDistance, "
        "TangentDistance or an object whose attribute learns_nothing is true"
    )
