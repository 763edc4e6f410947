"""Representatives of unlabelled samples on Dask collections and pair lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy.sparse import csc_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._cover import CoverSolution
from .._estimators import BallCover
from .._estimators.fitting import CoverTerms, Terms
from .._estimators.model import ONE_CLASS, Assignment, CoverModel, copy_features, one_class
from .._prototypes import column_order
from .._selection.covering import (
    Chosen,
    ResidualProblem,
    as_complete,
    choose_cover,
    describe_enough,
    finish_coverage,
    is_complete,
)
from .._selection.parameters import (
    check_parameter,
    check_target,
    is_whole,
    unchanged_on_error,
)
from .._selection.radii import propose_cover_eps, sample_rows
from .._selection.training import Training
from ..candidates._pool import Pool, numbers
from ..data._pairs import PairFormat, as_numpy
from ..dissimilarity import Precomputed, resolve_metric
from ..solvers._coverage import Incumbent, enough_of, slack_of
from ..solvers._registry import find_solver
from ._blocks import ClassCover, join_covers, keep_blocks
from ._chunks import (
    Chunk,
    ChunkedPoints,
    as_rows,
    as_values,
    find_source,
    read_points,
    take_points,
)
from ._cluster import Cluster, OnCluster, as_task, ask_lazily, describe_cluster, find_client
from ._fitting import Job, folder_for_blocks
from ._pairs import PairBlocks
from ._rounds import begin
from ._selection import check_selection, choose_tiers, run_rounds, weights_of

# The radius that eps="auto" proposes is that of a sample of so many.
_SAMPLE = 2000

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class DaskBallCover(OnCluster, ClusterMixin, BaseEstimator):
    """The :class:`~protocover.BallCover` on Dask collections and on lists of near pairs.

    It chooses the same representatives in the same order as ``BallCover(solver="greedy")`` on
    one machine, for any chunks and any number of workers.

    Parameters
    ----------
    eps, max_representatives, coverage, cost, must_include, candidate_cost, closed_ball, \
random_state
        As in :class:`protocover.BallCover`.
    candidates : "train", int, float or array, default="train"
        As in :class:`DaskPVMClassifier`.
    metric, metric_params
        As in :class:`DaskPVMClassifier`; "precomputed" or ``Precomputed(cutoff=...)`` for
        `fit_pairs`.
    client, cache_dir
        As in :class:`DaskPVMClassifier`.
    selection : {"auto", "whole", "rounds"}, default="auto"
        "whole" selects in one task; "rounds" in rounds in which no task holds more than a
        block; "auto" in rounds if the cover would fill more than half of a worker's memory.
        Both give the same representatives in the same order; only "whole" gives a lower bound.

    Attributes
    ----------
    labels_ : dask array of int, shape (n_samples,)
        As in the plain cover; computed on demand.
    ids_ : ndarray, shape (n_samples,)
        Identifiers of the samples, after `fit_pairs` with identifiers.
    client_ : distributed.Client
        The client in use.
    representatives_, representative_indices_, counts_, coverage_, ...
        As in the plain cover.

    See Also
    --------
    protocover.BallCover : The same on one machine.
    protocover.pairs_to_graph : Pair lists on one machine.

    Notes
    -----
    In rounds nothing is proved: `lower_bound_` is -inf and `certificate_` "none". A partial
    `coverage` with `candidate_cost` is not available in rounds.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from protocover.distributed import DaskBallCover
    >>> X, _ = load_iris(return_X_y=True)
    >>> pairs = {"i": ["a", "a"], "j": ["b", "c"], "distance": [0.1, 0.2]}
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     cover = DaskBallCover(eps=1.0).fit(da.from_array(X, chunks=(50, 4)))
    ...     labels = cover.labels_[:3].compute()
    ...     of_pairs = DaskBallCover(eps=0.15, metric="precomputed").fit_pairs(pairs)
    >>> cover.representative_indices_
    array([126,   0,  53, 102, 105,   1,   5,  57])
    >>> labels
    array([1, 5, 5])
    >>> of_pairs.ids_[of_pairs.representative_indices_].tolist()
    ['a', 'c']
    """

    def __init__(
        self,
        *,
        eps: float | str = "auto",
        max_representatives: int | None = None,
        coverage: float | None = None,
        cost: float | None = None,
        must_include: Any = None,
        candidate_cost: Any = None,
        candidates: Any = "train",
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        closed_ball: bool = False,
        random_state: Any = None,
        client: Any = None,
        cache_dir: Any = None,
        selection: str = "auto",
    ) -> None:
        self.eps = eps
        self.max_representatives = max_representatives
        self.coverage = coverage
        self.cost = cost
        self.must_include = must_include
        self.candidate_cost = candidate_cost
        self.candidates = candidates
        self.metric = metric
        self.metric_params = metric_params
        self.closed_ball = closed_ball
        self.random_state = random_state
        self.client = client
        self.cache_dir = cache_dir
        self.selection = selection

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the representatives.

        Parameters
        ----------
        X : dask array or data frame, shape (n_samples, n_features)
            Samples, with all columns in one chunk and chunks of known length.
        y : ignored
            There for scikit-learn's conventions.
        sample_weight : dask array or series, shape (n_samples,), or None, default=None
            As in the plain cover.

        Returns
        -------
        self
            The fitted cover.
        """
        with unchanged_on_error(self):
            self._check_parameters()
            job = Job.of(self._as_classifier())
            rows = as_rows(X, job.client)
            self._check_features(X, reset=True)
            points = self._read(job, rows, sample_weight)
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
            for_sample, for_forecast = rng.spawn(2)
            source = find_source(
                job.client, self.candidates, points, n_features=self.n_features_in_, rng=rng
            )
            pool = Pool(None, source.source, source.rows(job.client), source.extent)
            prize = weights_of(job.client, points, 0)
            weights = np.ones(len(points)) if prize is None else prize.result()
            task = _Task.of(self, job.client, job.cluster, pool, weights, prize)
            sample = job.learn(points, for_sample)
            eps = self._radius(job, points, task.weights)
            density = job.density(sample, eps, for_forecast)
            no_cost = Terms(0.0, None, None, 0, points.classes)
            with folder_for_blocks(job.client, self.cache_dir) as folder:
                cover = job.build(points, source, no_cost, eps=eps, density=density, folder=folder)
                chosen = task.choose(cover.shares(job.client, 0), cover.memberships.sum(axis=0))
            fetched = source.fetch(job.client, chosen.columns)
            self._set_model(chosen, pool, fetched, job.dissimilarity, eps)
            labels = ask_lazily(self._local, "predict", rows, dtype=np.dtype(np.intp), width=None)
            self._count(job.client, labels, points.chunks)
        return self

    def fit_pairs(
        self,
        pairs: Any,
        *,
        n_samples: int | None = None,
        ids: Any = None,
        columns: tuple[str, str, str] = ("i", "j", "distance"),
        directed: bool = False,
        similarity: bool = False,
    ) -> Self:
        """Choose the representatives from a list of near pairs.

        Parameters
        ----------
        pairs : path, Dask, pandas or polars data frame, Arrow table or mapping of arrays
            A table with one row per pair, or the Parquet file, or the folder of such files, that
            contains it.
        n_samples, ids, columns, directed, similarity
            As in :func:`protocover.pairs_to_graph`. With neither `n_samples` nor `ids` the
            samples are the identifiers that occur in the list, sorted.

        Returns
        -------
        self
            The fitted cover.
        """
        with unchanged_on_error(self):
            self._check_parameters()
            dissimilarity = resolve_metric(self.metric, self.metric_params)
            if not isinstance(dissimilarity, Precomputed) or self.eps == "auto":
                raise ValueError(
                    "fit_pairs needs metric='precomputed' and a number for eps, got "
                    f"metric={self.metric!r} and eps={self.eps!r}"
                )
            if not (isinstance(self.candidates, str) and self.candidates == "train"):
                raise ValueError(f"candidates must be 'train' for pairs, got {self.candidates!r}")
            client, eps = find_client(self.client), float(self.eps)
            cluster = describe_cluster(client)
            form = PairFormat(columns, directed, similarity)
            graph = PairBlocks.of(client, pairs, form, cluster, n_samples=n_samples, ids=ids)
            n, cutoff = graph.form.n_samples, dissimilarity.cutoff
            _check_listed(eps, graph.largest if cutoff is None else cutoff)
            pool = Pool(None, "train", np.arange(n), n)
            task = _Task.of(self, client, cluster, pool, np.ones(n), None)
            blocks = graph.covers(client, eps=eps, closed=self.closed_ball)
            with folder_for_blocks(client, self.cache_dir) as folder:
                cover = keep_blocks(client, blocks, folder)
                chosen = task.choose(cover.shares(client, 0), cover.memberships.sum(axis=0))
            order = column_order(chosen.columns, n)
            at = chosen.columns if order is None else chosen.columns[order]
            dissimilarity.n_candidates_ = self.n_features_in_ = n
            self._set_model(chosen, pool, Pool(at, "train", at, n), dissimilarity, eps)
            if graph.form.ids is not None:
                self.ids_ = as_numpy(graph.form.ids)
            labels = graph.labels(at, eps=eps, closed=self.closed_ball)
            none = np.empty(0, dtype=np.intp)
            chunks = [
                Chunk(none, none, np.ones(size), np.arange(size)) for size in labels.chunks[0]
            ]
            self._count(client, labels, chunks)
        return self

    def predict(self, X: Any) -> Any:
        """Return the number of the representative that covers each new sample, lazily.

        Parameters
        ----------
        X : dask array or data frame, shape (n_queries, n_features)
            New samples.

        Returns
        -------
        dask array of int, shape (n_queries,)
            As in the plain cover; nothing is computed yet.
        """
        queries = self._queries(X)
        return ask_lazily(self._local, "predict", queries, dtype=np.dtype(np.intp), width=None)

    def to_local(self) -> BallCover:
        """Return the plain cover with these representatives, and compute its labels.

        Returns
        -------
        BallCover
            Fitted, and independent of the cluster.
        """
        check_is_fitted(self)
        local: BallCover = copy(self._local)
        model, labels = local._model, self.client_.compute(self.labels_).result()
        assert model.assignment is not None
        local._set_model(replace(model, assignment=replace(model.assignment, labels=labels)))
        return local

    def _check_parameters(self) -> None:
        """Check the parameters that do not depend on the data."""
        check_parameter("eps of a cover", self.eps)
        check_target(self.max_representatives, self.coverage, self.cost)
        check_selection(self.selection, whole="whole", adaptive_radii=False)
        check_parameter("closed_ball", self.closed_ball)

    def _as_classifier(self) -> SimpleNamespace:
        """Return the parameters of the classifier whose one class has all samples."""
        params = self.get_params(deep=False)
        if self.selection == "whole":
            params["selection"] = "classes"
        return SimpleNamespace(**params, radii="shared", cross_class=True)

    def _read(self, job: Job, rows: Any, sample_weight: Any) -> ChunkedPoints:
        """Have the workers hold the samples, all of one class."""
        one_class = da.zeros(rows.shape[0], chunks=(rows.chunks[0],), dtype=np.intp)
        if sample_weight is not None:
            sample_weight = as_values(sample_weight, job.client, like=rows, name="sample_weight")
        return read_points(job.client, rows, one_class, sample_weight, job.dissimilarity)

    def _radius(self, job: Job, points: ChunkedPoints, weights: Floats) -> float:
        """Return the radius, given or proposed as on one machine."""
        if job.eps is not None:
            return job.eps
        number = self.max_representatives
        if number is None:
            size = float(weights.sum()) if is_whole(weights) else len(weights)
            number = math.ceil(math.sqrt(size))
        rows = sample_rows(len(points), _SAMPLE, np.random.default_rng(0))
        few = take_points(job.client, points, rows)
        training = Training(
            few.points, few.codes, few.weights, points.classes, job.dissimilarity, []
        )
        return propose_cover_eps(
            training, number=number, coverage=self.coverage, closed=job.closed
        )

    def _set_model(
        self, chosen: Chosen, pool: Pool, fetched: Pool, dissimilarity: Any, eps: float
    ) -> None:
        """Make the plain cover of fetched representatives, without labels so far."""
        own = ("client", "cache_dir", "selection")
        params = self.get_params(deep=False)
        self._local = BallCover(
            **{name: params[name] for name in params if name not in own}, solver="greedy"
        )
        none = np.zeros(len(fetched), dtype=np.intp)
        self._local._model = CoverModel.of_pools(
            one_class(fetched.rows, none, (chosen.numbered(numbers([pool])),)),
            [fetched],
            np.arange(len(fetched)),
            classes=np.array([ONE_CLASS]),
            class_count=np.array([pool.extent]),
            eps=eps,
            prototype_cost=0.0,
            outlier_label=None,
            dissimilarity=dissimilarity,
            assignment=Assignment(none[:0], 0.0, chosen.objective, chosen.lower_bound),
        )
        self._local.eps_ = eps
        self._local.dissimilarity_ = self._local._model.dissimilarity
        copy_features(self, self._local)

    def _count(self, client: Any, labels: Any, chunks: Sequence[Any]) -> None:
        """Count the samples of each label, and set the fitted attributes."""
        model = self._local._model
        parts, tally = zip(labels.to_delayed(), chunks, strict=True), delayed(_tally)
        found = client.compute([tally(*pair, len(model.rows)) for pair in parts])
        counts, covered, total = zip(*client.gather(found), strict=True)
        assert model.assignment is not None
        coverage = float(np.sum(covered) / np.sum(total))
        selection = model.selection
        self._local._set_model(
            replace(
                model,
                selection=one_class(
                    selection.candidates, np.sum(counts, axis=0), selection.solutions
                ),
                class_count=np.array([labels.shape[0]]),
                assignment=replace(model.assignment, coverage=coverage),
            )
        )
        names = [name for name in vars(self._local) if name.endswith("_")]
        self.__dict__.update({name: getattr(self._local, name) for name in names})
        self.labels_ = labels


@dataclass(frozen=True, eq=False)
class _Task:
    """What to choose, on which cluster."""

    client: Any
    cluster: Cluster
    selection: str
    terms: CoverTerms
    weights: Floats  # of the samples
    prize: Any  # a future of them, None if all are 1
    n_candidates: int

    @classmethod
    def of(
        cls,
        cover: DaskBallCover,
        client: Any,
        cluster: Cluster,
        pool: Pool,
        weights: Floats,
        prize: Any,
    ) -> Self:
        """Check the parameters of a cover against its samples and candidates."""
        given: Any = SimpleNamespace(pools=[pool], weights=weights)
        terms = CoverTerms.of(cover, given)
        return cls(client, cluster, cover.selection, terms, weights, prize, len(pool))

    def choose(self, shares: list[Any], memberships: NDArray[np.intp]) -> Chosen:
        """Choose representatives as :func:`choose_cover` does with the greedy solver."""
        if choose_tiers(self.selection, memberships, cluster=self.cluster)[0]:
            return self._choose_in_rounds(shares)
        task = self.client.submit(_choose_whole, shares, self.prize, self.n_candidates, self.terms)
        chosen: Chosen = task.result()
        return chosen

    def _choose_in_rounds(self, shares: list[Any]) -> Chosen:
        """Choose in rounds, and describe the choice by the chosen columns alone."""
        terms, target = self.terms, self.terms.target
        forced, price = terms.forced, terms.price
        first = self._fetch(shares, forced)
        residual = ResidualProblem.of(first, self.weights, price, forced)
        complete, slack = False, -1.0
        problem = residual.problem(target.cost)
        if target.coverage is not None:
            demand, limit = residual.coverage(target.coverage, self.weights)
            complete = is_complete(demand, limit, target.cost)
            if not complete:
                if price is not None:
                    raise ValueError(
                        "coverage below 1 with candidate_cost is not available in rounds; pass "
                        "selection='whole', or leave out one of them"
                    )
                problem, slack = demand.free, slack_of(demand, limit)
        if price is not None or len(forced):
            wrong = np.zeros(self.n_candidates)
            wrong[residual.columns] = problem.wrong
            # Dask would name large keyword arguments of map after the keyword.
            given = as_task(self.client, wrong), as_task(self.client, forced)
            shares = [self.client.submit(_priced, share, *given) for share in shares]
        start = begin(
            self.weights,
            prototype_cost=problem.prototype_cost,
            max_prototypes=None if target.number is None else target.number - len(forced),
            covered=np.diff(first.tocsr().indptr) > 0,
            slack=slack,
        )
        done = run_rounds(self.client, [shares], [self.prize], {0: start})[0]
        picked = [cover.numbers for cover in done.chosen]
        selected = np.concatenate([np.empty(0, dtype=np.intp), *picked])
        residual = ResidualProblem.of(
            self._fetch(shares, selected) + first, self.weights, price, forced
        )
        own = np.searchsorted(residual.columns, selected)
        solution = CoverSolution.of(residual.problem(target.cost), own, score=np.array(done.score))
        if target.coverage is None:
            return residual.chosen(solution, target.cost)
        demand, limit = residual.coverage(target.coverage, self.weights)
        found: Incumbent | None
        if complete:
            found = as_complete(demand, limit, target.cost, solution)
            if found is not None:
                return residual.chosen(describe_enough(demand, limit, found), None)
        else:
            enough = demand.uncovered(own) <= (limit.uncovered or 0)
            found = Incumbent(enough_of(demand, limit, own)) if enough else None
        return finish_coverage(
            residual, demand, limit, found, coverage=target.coverage, weights=self.weights
        )

    def _fetch(self, shares: list[Any], columns: Indices) -> csc_array:
        """Return the table of neighbourhoods with only some columns filled."""
        if len(columns) == 0:
            return csc_array((len(self.weights), self.n_candidates), dtype=bool)
        given = as_task(self.client, columns)
        parts = [self.client.submit(_columns, share, given) for share in shares]
        return _table(join_covers(self.client.gather(parts)), self.n_candidates)


def _choose_whole(
    shares: Sequence[ClassCover], prize: Floats | None, n_candidates: int, terms: CoverTerms
) -> Chosen:
    """Choose from a cover that is held in one place."""
    table, solver = _table(join_covers(shares), n_candidates), find_solver("greedy")
    weights = np.ones(table.shape[0]) if prize is None else prize
    return choose_cover(
        table,
        weights,
        terms.target,
        solver,
        price=terms.price,
        forced=terms.forced,
        rng=np.random.default_rng(0),
        options={},
    )


def _table(cover: ClassCover, n_candidates: int) -> csc_array:
    """Return the columns of a cover at their places among all candidates."""
    sizes = np.zeros(n_candidates, dtype=np.int64)
    sizes[cover.numbers] = np.diff(cover.cover.indptr)
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    shape = (cover.cover.shape[0], n_candidates)
    return csc_array((cover.cover.data, cover.cover.indices, indptr), shape=shape)


def _columns(share: ClassCover, columns: Indices) -> ClassCover:
    """Return some candidates of a block."""
    return share.taken(np.flatnonzero(np.isin(share.numbers, columns)))


def _priced(share: ClassCover, wrong: Floats, forced: Indices) -> ClassCover:
    """Set what the candidates of a block cost, and leave out those that are forced."""
    left = share.taken(np.flatnonzero(~np.isin(share.numbers, forced)))
    return replace(left, wrong=wrong[left.numbers])


def _tally(labels: Indices, chunk: Chunk, k: int) -> tuple[Indices, float, float]:
    """Count the samples of each label; return the covered weight and the total."""
    covered = labels[chunk.rows] >= 0
    counts = np.bincount(labels[labels >= 0], minlength=k)
    return counts, float(chunk.weights[covered].sum()), float(chunk.weights.sum())


def _check_listed(eps: float, cutoff: float) -> None:
    """Raise an error if the radius is larger than what a pair list contains."""
    if eps > cutoff:
        raise ValueError(
            f"eps must not be above {cutoff:g}, the largest distance of the pairs, got {eps:g}: "
            "pairs farther apart are not listed; search for pairs within a larger radius, lower "
            f"eps, or pass metric=Precomputed(cutoff={eps:g}) if the list has all pairs up to it"
        )
