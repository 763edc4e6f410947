"""Representatives without labels: a few points whose balls cover the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._cover import Verification, relative_gap
from .._resources import limited_threads, row_count
from .._selection.covering import choose_cover
from .._selection.parameters import check_parameter, check_target, unchanged_on_error
from .._selection.radii import propose_cover_eps
from .._selection.training import Training, after_candidates, check_cutoff, completed, side_by_side
from ..data._points import check_estimator_points
from ..dissimilarity._resolve import input_tags
from .answers import warn_without_diagonal
from .cover_parts import CoverTerms, Kept, nearest_within
from .display import ShowsChosen, describe_cover
from .fitting import Settings, check_training_points, prepare
from .recheck_cover import recheck_cover


class BallCover(
    ShowsChosen, ClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Choose a few points that stand for all: a cover by balls, proved to be near the best.

    Every point within `eps` of a representative is covered by it. Asked for nothing more, it
    finds the fewest representatives that cover everything; with `max_representatives` the best
    so many, with `coverage` the fewest that cover a share of it, and with `cost` those that
    are worth what they cost. Known elsewhere as representative sampling, exemplars, a core
    set, or the removal of near duplicates.

    Parameters
    ----------
    eps : float or "auto", default="auto"
        Radius of the balls: how far from its representative a point may be. ``"auto"`` takes
        the smallest radius at which `max_representatives`, or else as many as the root of the
        number of points, cover `coverage`, or else 95 %, of the weight; of more than 2000
        points it is that of a sample, always the same.
    max_representatives : int or None, default=None
        At most so many, which leave as little uncovered as possible.
    coverage : float or None, default=None
        The share of the points, or of their weight, that must be covered, above 0 and up
        to 1, by as few representatives as possible. It may be missed by what rounding adds to
        weights that are not integers, about ``n_points`` times 2e-16 of their sum.
    cost : float or None, default=None
        What a representative costs, in points left uncovered: one is chosen only if it
        covers more than that. None for a cost that only breaks ties.
    must_include : array-like of int or None, default=None
        Rows of `X` that are representatives in any case: labelled already, bought already.
        They count in `max_representatives`.
    candidate_cost : array-like of float or None, default=None
        The price of each candidate, in place of 1: the cheapest test, the longest
        sequence. `cost` is multiplied by it, and `coverage` is reached at the least sum of
        prices. Prices of up to nine decimal places, such as 0.1, are compared as decimals.
    candidates, metric, metric_params, solver, solver_options, closed_ball, n_jobs, \
random_state, verbose
        As in :class:`PVMClassifier`.

    Attributes
    ----------
    candidate_indices_ : ndarray of int, shape (n_representatives,)
        Position among the candidates: first those of `must_include`, then by what each
        adds; where every column of a table is one, in the order of the columns.
    representative_indices_ : ndarray of int, shape (n_representatives,)
        Row of `X`, -1 if the representative is not a row of `X`.
    representative_sources_ : ndarray of str, shape (n_representatives,)
        Where each comes from, as `prototype_sources_` in :class:`PVMClassifier`.
    representatives_ : array, sparse table or list
        The representatives themselves.
    labels_ : ndarray of int, shape (n_points,)
        The number of the nearest representative, counted in their order, where it covers the
        point; -1 for a point in no ball.
    counts_ : ndarray of int, shape (n_representatives,)
        How many points have that label.
    coverage_ : float
        Share of the points, or of their weight, that is covered.
    objective_ : float
        What was made small: uncovered weight plus the cost of the representatives; with
        `coverage` their number, or the sum of their prices.
    lower_bound_ : float
        No other choice has a smaller objective; -inf if nothing is proved.
    gap_ : float
        Largest share of `objective_` that a better choice could save, 0 for an optimum.
    certificate_ : str
        What that rests on, as in :class:`PVMClassifier`.
    eps_ : float
        The radius, given or proposed.
    solution_ : CoverSolution
        What was chosen beside `must_include`, with the vector that proves its bound.
    dissimilarity_ : dissimilarity
        Fitted.
    n_features_in_ : int
        Number of features, where points are rows of numbers.
    feature_names_in_ : ndarray of str
        Their names, where `X` had any.

    See Also
    --------
    PVMClassifier : Prototypes of labelled points, which keep off the other classes.

    Notes
    -----
    Balls may overlap, and a point is labelled by the nearest representative whose ball holds
    it. Of equally good choices one with few representatives is taken.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import BallCover
    >>> X, _ = load_iris(return_X_y=True)
    >>> cover = BallCover(eps=1.0).fit(X)
    >>> len(cover.candidate_indices_), cover.coverage_, cover.gap_
    (7, 1.0, 0.0)
    >>> three = BallCover(eps=1.0, max_representatives=3).fit(X)
    >>> three.coverage_
    0.88
    >>> len(BallCover(eps=1.0, coverage=0.95).fit(X).candidate_indices_)
    4
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
        solver: Any = "auto",
        solver_options: dict[str, Any] | None = None,
        closed_ball: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
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
        self.solver = solver
        self.solver_options = solver_options
        self.closed_ball = closed_ball
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the representatives.

        Parameters
        ----------
        X : array-like, CSR table or data frame, shape (n_points, n_features)
            The points, or the points x candidates table of dissimilarities.
        y : ignored
            There for scikit-learn's conventions.
        sample_weight : array-like, shape (n_points,), or None, default=None
            What covering each point is worth; a whole number is a repetition, and a point of
            weight zero is as if it were not there.

        Returns
        -------
        self
            The fitted cover.
        """
        with unchanged_on_error(self), limited_threads(self.n_jobs):
            check_parameter("eps of a cover", self.eps)
            settings = Settings.of(self._as_classifier())
            check_target(self.max_representatives, self.coverage, self.cost)
            points = check_training_points(self, X)
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
            nobody = np.zeros(row_count(points), dtype=np.intp)
            training = prepare(self, points, nobody, sample_weight, rng=rng)
            rng = after_candidates(self.random_state, rng)
            terms = CoverTerms.of(self, training)
            eps = self._radius(training, settings)
            chosen = choose_cover(
                side_by_side(settings.build(training, eps, rng)),  # held by nobody else
                training.weights,
                terms.target,
                settings.solver,
                price=terms.price,
                forced=terms.forced,
                rng=rng,
                options=settings.options,
            )
            every_point = completed(points, training.dissimilarity)
            self._keep(Kept.of(chosen, training, every_point, eps=eps, settings=settings))
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the number of the representative that stands for each query.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Queries; for precomputed dissimilarities their table, with a column for each
            candidate or just for each representative.

        Returns
        -------
        ndarray of int, shape (n_queries,)
            The nearest one, in the order of `candidate_indices_`; -1 for a query that
            lies in no ball.
        """
        points = self._check_queries(X)
        return nearest_within(
            self._representatives,
            points,
            eps=self.eps_,
            closed=self.closed_ball,
            n_jobs=self.n_jobs,
        )

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the dissimilarity of each query from each representative.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Queries, as for `predict`.

        Returns
        -------
        ndarray, shape (n_queries, n_representatives)
            In the order of `candidate_indices_`.
        """
        points = self._check_queries(X)
        return self._representatives.distances(points, n_jobs=self.n_jobs)

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Recheck everything that is said of the fitted cover against its data.

        The balls are built again, and objective, coverage, labels, counts and bound computed
        anew, sums in whole numbers and by none of the solvers' code. Whoever gets a cover and
        its data need not believe the machine that made it.

        Parameters
        ----------
        X, sample_weight
            What the cover was fitted on.

        Returns
        -------
        Verification
            With `ok`, the bound that could be rechecked, and every fault by name.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from protocover import BallCover
        >>> X, _ = load_iris(return_X_y=True)
        >>> cover = BallCover(eps=1.0, max_representatives=3).fit(X)
        >>> cover.verify(X).ok
        True
        >>> cover.coverage_ = 1.0
        >>> cover.verify(X).faults
        ('coverage_ is 0.88, not 1.0',)
        """
        check_is_fitted(self)
        with limited_threads(self.n_jobs):
            return recheck_cover(self, X, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        for name, value in input_tags(self.metric, self.metric_params).items():
            setattr(tags.input_tags, name, value)
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        """The number of columns of `transform`."""
        return len(self.candidate_indices_)

    def _as_classifier(self) -> SimpleNamespace:
        """Return the parameters that a classifier has too, by its names."""
        return SimpleNamespace(**self.get_params(deep=False), radii="shared")

    def _radius(self, training: Training, settings: Settings) -> float:
        """Return the radius, given or proposed."""
        if settings.eps is None:
            eps = propose_cover_eps(
                training,
                number=self.max_representatives,
                coverage=self.coverage,
                closed=settings.closed,
            )
        else:
            eps = settings.eps
        check_cutoff(training, eps)
        return eps

    def _keep(self, kept: Kept) -> None:
        """Set the fitted attributes."""
        self.eps_ = kept.eps
        self.representatives_ = kept.representatives
        self.candidate_indices_ = kept.indices
        self.representative_indices_ = kept.rows
        self.representative_sources_ = kept.sources
        self.labels_, self.counts_, self.coverage_ = kept.labels, kept.counts, kept.coverage
        self.objective_, self.lower_bound_ = kept.objective, kept.lower_bound
        self.gap_ = relative_gap(kept.objective, kept.lower_bound)
        self.solution_ = kept.solution
        self.certificate_, self.status_ = kept.solution.certificate, kept.solution.status
        self.dissimilarity_ = kept.dissimilarity
        self._representatives = kept.representative_set()

    def _describe(self) -> str:
        return describe_cover(self)

    def _check_queries(self, X: Any) -> Any:
        """Check queries."""
        check_is_fitted(self)
        points = check_estimator_points(self, X, self.dissimilarity_, reset=False)
        if self._representatives.is_graph(points):
            warn_without_diagonal(self, points)
        return points
