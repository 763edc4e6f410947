"""Representatives of samples without labels."""

from __future__ import annotations

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

from .._cover import Verification
from .._resources import limited_threads, row_count
from .._selection.covering import choose_cover
from .._selection.parameters import check_parameter, check_target, unchanged_on_error
from .._selection.radii import propose_cover_eps
from .._selection.training import Training, after_candidates, check_cutoff, completed, side_by_side
from ..dissimilarity._resolve import input_tags
from .answers import check_queries
from .display import ShowsChosen, describe_cover
from .fitting import CoverTerms, Settings, check_training_points, prepare
from .model import CoverModel
from .recheck import recheck_cover


class BallCover(
    ShowsChosen, ClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Select few representatives of unlabelled samples, with a proven optimality gap.

    A representative covers all samples within `eps`. By default the estimator finds the fewest
    representatives that cover everything. With `max_representatives` it finds the best k, with
    `coverage` the fewest that cover a fraction of the samples, and with `cost` those that are
    worth their cost. The task is also known as representative sampling, exemplars, core sets,
    or near-duplicate removal.

    Parameters
    ----------
    eps : float or "auto", default="auto"
        Radius of the neighbourhoods. ``"auto"`` takes the smallest radius at which
        `max_representatives` (by default the square root of the number of samples) cover
        `coverage` (by default 95 %) of the weight. With more than 2000 samples it is computed
        on a fixed sample of them.
    max_representatives : int or None, default=None
        Maximum number of representatives, which leave as little uncovered as possible.
    coverage : float or None, default=None
        Fraction of the samples, or of their weight, that must be covered, above 0 and up
        to 1, by as few representatives as possible. It may be missed by what rounding adds to
        weights that are not integers, about ``n_points`` times 2e-16 of their sum.
    cost : float or None, default=None
        Cost of a representative, in units of one uncovered sample. None for a cost that only
        breaks ties.
    must_include : array-like of int or None, default=None
        Rows of `X` that are representatives in any case, for instance because they are
        labelled already. They count in `max_representatives`.
    candidate_cost : array-like of float or None, default=None
        Relative cost of each candidate instead of 1. `cost` is multiplied by it, and
        `coverage` is reached at the least total cost. Costs of up to nine decimal places, such
        as 0.1, are compared as decimals.
    candidates, metric, metric_params, solver, solver_options, closed_ball, n_jobs, \
random_state, verbose
        As in :class:`PVMClassifier`.

    Attributes
    ----------
    candidate_indices_ : ndarray of int, shape (n_representatives,)
        Position among the candidates: first those of `must_include`, then by what each
        adds; if every column of a distance matrix is one, in the order of the columns.
    representative_indices_ : ndarray of int, shape (n_representatives,)
        Row of `X`, -1 if the representative is not a row of `X`.
    representative_sources_ : ndarray of str, shape (n_representatives,)
        Where each comes from, as `prototype_sources_` in :class:`PVMClassifier`.
    representatives_ : array, sparse table or list
        The representatives themselves.
    labels_ : ndarray of int, shape (n_points,)
        Index of the nearest representative if it covers the sample, else -1.
    counts_ : ndarray of int, shape (n_representatives,)
        Number of samples with that label.
    coverage_ : float
        Fraction of the samples, or of their weight, that is covered.
    objective_ : float
        The minimised value: uncovered weight plus the cost of the representatives; with
        `coverage` their number, or the sum of their costs.
    lower_bound_ : float
        No other choice has a smaller objective; -inf if nothing is proved.
    gap_ : float
        Relative optimality gap, 0 for an optimum.
    certificate_ : str
        What that rests on, as in :class:`PVMClassifier`.
    eps_ : float
        The radius, given or proposed.
    solution_ : CoverSolution
        What was chosen besides `must_include`, with the dual vector that proves its bound.
    dissimilarity_ : dissimilarity
        Fitted.
    n_features_in_ : int
        Number of features, where points are rows of numbers.
    feature_names_in_ : ndarray of str
        Their names, where `X` had any.

    See Also
    --------
    PVMClassifier : Prototypes of labelled samples, which cover few samples of other classes.

    Notes
    -----
    Neighbourhoods may overlap. A sample is labelled by the nearest representative that covers
    it. Ties are broken in favour of fewer representatives.

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
            Weight of each sample. An integer weight is a repetition, and samples of weight zero
            are ignored.

        Returns
        -------
        self
            The fitted cover.
        """
        with unchanged_on_error(self), limited_threads(self.n_jobs):
            check_parameter("eps of a cover", self.eps)
            settings = Settings.of(self)
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
            self._set_model(
                CoverModel.of_cover(
                    chosen,
                    training,
                    every_point,
                    eps=eps,
                    closed=settings.closed,
                    n_jobs=settings.n_jobs,
                )
            )
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the index of the nearest representative that covers each query.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Queries; for precomputed dissimilarities their table, with a column for each
            candidate or just for each representative.

        Returns
        -------
        ndarray of int, shape (n_queries,)
            In the order of `candidate_indices_`; -1 for a query that none covers.
        """
        check_is_fitted(self)
        model = self._model
        return model.prototype_set.covering(
            check_queries(self, X),
            radii=model.radii,
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
        check_is_fitted(self)
        queries = check_queries(self, X)
        return self._model.prototype_set.distances(queries, n_jobs=self.n_jobs)

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Recheck all fitted attributes against the data.

        Neighbourhoods, objective, coverage, labels, counts and bound are recomputed in exact
        integer arithmetic, independently of the solver code.

        Parameters
        ----------
        X, sample_weight
            What the cover was fitted on.

        Returns
        -------
        Verification
            With `ok`, the rechecked bound, and every fault by name.

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

    def _set_model(self, model: CoverModel) -> None:
        """Set the fitted attributes."""
        self._model = model
        self.__dict__.update(model.cover_attributes())

    def _describe(self) -> str:
        return describe_cover(self)
