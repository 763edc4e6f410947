"""The prototype vector machine as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._balls import traits_of
from .._cover import ModelVerification
from .._exceptions import warn_caller
from .._resources import limited_threads
from .._selection.batches import Growth
from .._selection.parameters import check_parameter, unchanged_on_error
from .._selection.training import after_candidates
from .answers import PrototypeAnswers
from .fitted_decision import with_rule
from .fitting import (
    Settings,
    Terms,
    check_training_points,
    prepare,
    take_in,
    warn_of_selection,
)
from .recheck import recheck_model


def _takes_batches(estimator: Any) -> bool:
    """Whether samples can come in batches."""
    table = isinstance(estimator.metric, str) and estimator.metric == "precomputed"
    if table or traits_of(estimator.metric).precomputed:
        raise AttributeError(
            "partial_fit needs points, not a table of dissimilarities: new points would need "
            "new columns in the rows of old ones; call fit with the whole table"
        )
    if estimator.decision != "nearest":
        raise AttributeError(
            f"partial_fit needs decision='nearest', got {estimator.decision!r}: the rule is "
            "fitted on all samples, which a model of batches need not keep; call fit"
        )
    return True


class PVMClassifier(PrototypeAnswers, BaseEstimator):
    """Prototype selection: classify by the nearest of a few representative samples.

    The prototype vector machine (Bien & Tibshirani, 2009). For each class it selects as few
    prototypes as possible, also called exemplars, whose neighbourhoods cover many samples of
    that class and few of the others. By default each prototype has its own radius. A new
    sample gets the class of its nearest prototype.

    Parameters
    ----------
    eps : float, "auto" or None, default="auto"
        With ``radii="adaptive"`` the largest radius allowed, None for no limit; "auto" takes the
        0.9 quantile of the distances of training samples to the nearest sample of another
        class. With ``radii="shared"`` the radius of all neighbourhoods; "auto" takes the
        median of these distances.
    radii : {"adaptive", "shared"}, default="adaptive"
        "adaptive" selects a radius up to `eps` for each prototype: large inside a class, small at
        its boundary. A new sample is assigned to the prototype with the smallest scaled
        distance ``d(x, z) / r_z``. "shared" gives all prototypes the radius `eps`, as in the
        paper.
    metric : str, callable or dissimilarity, default="euclidean"
        The name of a metric of SciPy or scikit-learn, "precomputed", a function of two
        points, or an object such as ``KernelDistance("rbf")`` from
        :mod:`protocover.dissimilarity`. With "precomputed", `X` is the table of
        dissimilarities of points (rows) from candidates (columns). If sparse it is a
        neighbour graph: a pair without an entry is farther apart than any radius, and `eps`
        must not be above the largest entry.
    metric_params : dict or None, default=None
        Parameters of a named metric, further arguments of a callable.
    candidates : str, int, float, array, generator or list of these, default="train"
        What may become a prototype: "train" for the training points, a whole number or
        a share between 0 and 1 of them, drawn from each class in proportion, "kmeans"
        and "hull" or a generator object from :mod:`protocover.candidates`, an array of
        rows, or a list for the union of several.
    cross_class : bool, default=False
        Whether a training sample may become a prototype of another class than its own, as in
        the paper. Candidates without a class (arrays, `unlabeled`, "kmeans", "hull", columns
        of a rectangular matrix) may serve every class in any case.
    solver : str or callable, default="auto"
        "auto", near the optimum with a bound that says how near, in a few times what
        "greedy" takes, the same on every machine; "greedy", the paper's, whose order of
        selection has prefixes that mean something; "ratio-greedy", least cost per newly
        covered point; "lp-rounding", the paper's relaxation and rounding; "local-search",
        both greedies improved by removals and swaps; "exact", the optimum with a proof; or a
        function of a :class:`~protocover._cover.CoverProblem` like those of
        :mod:`protocover.solvers`.
    solver_options : dict or None, default=None
        Further arguments of the solver, such as ``{"time_limit": 30}``, in seconds for
        all classes together.
    prototype_cost : float or "auto", default="auto"
        Penalty per prototype, lambda in the paper, in units of one uncovered or miscovered
        sample. "auto" is 1 with per-prototype radii and 1/n, which only breaks ties, with one
        radius (see Notes for weighted samples).
    max_prototypes : int, dict or None, default=None
        Maximum number of prototypes, in total (int) or per class (dict). ``solver="greedy"``
        keeps the first ones it selects; all other solvers optimise under this constraint.
    min_per_class : {1, 0}, default=1
        1 if every class must have a prototype. If none is worth its cost, the class gets the
        best single one, and `fit` warns. 0 allows classes without prototypes, as in the paper.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, which multiply `sample_weight`. "balanced" gives all classes
        the same total weight. The default `prototype_cost` does not depend on it.
    closed_ball : bool, default=False
        Whether a point at distance eps exactly lies in the ball.
    outlier_label : label, "most_frequent" or None, default=None
        What to answer for a query that lies in no ball. None for the class of the
        nearest prototype, and an error where a graph of the queries does not tell it.
    decision : {"nearest", "fitted"}, default="nearest"
        "nearest" predicts the class of the nearest prototype. "fitted" adds class probabilities:
        the selection stays, and a scale and an offset per prototype are fitted to the training
        samples (see Notes). It predicts the most probable class.
    feature_weights : "learned" or None, default=None
        "learned" also fits a weight for each feature, with ``decision="fitted"`` and
        ``metric="euclidean"``. It changes predictions only, not the selection.
    n_jobs : int or None, default=None
        Threads for building balls and finding nearest prototypes; -1 for all processors.
        None, here and everywhere, starts no processes and takes as many threads as the
        linear algebra library does. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed for drawn candidates, for the sample behind ``eps="auto"`` and for the solvers that
        use chance. With None only drawn candidates differ from one fit to the next.
    verbose : int, default=0
        Above 0, progress bars and what was found.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of int, shape (n_classes,)
        Training points of each class, those of weight zero left out.
    prototypes_ : array, sparse table or list, of length n_prototypes
        The prototypes in order of selection; for precomputed dissimilarities the
        numbers of their columns, and in that order if every column is chosen once.
    n_prototypes_ : int
        Number of prototypes.
    candidate_indices_ : ndarray of int, shape (n_prototypes,)
        Position among the candidates.
    prototype_labels_ : ndarray, shape (n_prototypes,)
        The class each stands for.
    covered_count_, miscovered_count_ : ndarray of int, shape (n_prototypes,)
        Training points of its class, and of the other classes, in its ball.
    newly_covered_count_ : ndarray of int, shape (n_prototypes,)
        Of the points of its class those that no prototype of the class chosen before covers.
    prototype_sources_ : ndarray of str, shape (n_prototypes,)
        Where each comes from: "train", "unlabeled", "given", "kmeans", "hull".
    prototype_indices_ : ndarray of int, shape (n_prototypes,)
        Row of `X`, -1 if the prototype is not a row of `X`.
    prototype_radii_ : ndarray of float, shape (n_prototypes,)
        The radius of each: `eps_` unless ``radii="adaptive"``.
    eps_ : float
        The radius used, or the largest allowed, inf for no limit.
    prototype_cost_ : float
        The cost of a prototype used.
    objective_ : float
        Uncovered plus wrongly covered weight plus the cost of the prototypes.
    lower_bound_ : float
        No choice of prototypes has a smaller objective; -inf if nothing is proved.
    gap_ : float
        Largest share of `objective_` that a better choice could save, 0 for an optimum.
    certificate_ : str
        What `lower_bound_` rests on: "verified" if `verify` can recheck it, "solver" if the
        solver only claims it for at least one class, "none" if there is no bound. The
        selection is optimal if ``gap_ == 0``.
    solution_ : Selection
        All of this by class, candidates by their numbers in `candidate_indices_`.
    dissimilarity_ : dissimilarity
        Fitted.
    decision_rule_ : FittedRule or None
        Scales, offsets and feature weights of ``decision="fitted"``.
    n_features_in_ : int
        Number of features, where points are rows of numbers.
    feature_names_in_ : ndarray of str
        Their names, where `X` had any.

    See Also
    --------
    PVMSelector : The same selection as a resampler.
    suggest_eps : The paper's grid of radii to search.

    Notes
    -----
    The machine of the paper is ``PVMClassifier(radii="shared", cross_class=True,
    min_per_class=0)``.

    With many small classes (ten or more, with fewer than about 80 samples each) the default
    selects too few prototypes: the error was 11 points above that of 1-NN on seven such tables.
    ``prototype_cost=0.5`` or :class:`PVMClassifierCV` helps.

    If `sample_weight` holds integers, a weight is a repetition, and ``prototype_cost="auto"``
    with one radius is 1 over their sum. Otherwise it is the square of the smallest weight
    over their sum, so all prototypes together cost at most as much as leaving out the
    lightest sample. With per-prototype radii and weights that are not integers it is their
    mean.

    With ``decision="fitted"`` the probability of class c is proportional to the sum of
    ``exp(-(scale_j * d(x, z_j)**2 + offset_j))`` over its prototypes. Scales and offsets maximize
    the penalized likelihood of the training samples, where no prototype predicts itself. Logs
    of scales and offsets have standard normal priors. With more than 1.2 million (sample,
    prototype) pairs the fit uses samples evenly spaced within each class. A logistic regression
    on `transform`, the distances to the prototypes, is often as accurate, but its coefficients
    are not contributions of prototypes to a class.

    Prototypes are in the order of what they add: of those selected, each lowers the objective
    most once those before it are chosen. With ``solver="greedy"`` that is the order in which
    they were found, and the beginning of it is what greedy selects for a higher
    `prototype_cost`; of another solver's selection it is only the most useful part.

    Memory follows the number of (point, ball) memberships, not the number of pairs.
    Ties between equally good candidates go to the class first in `classes_`, then to
    the candidate of lower index.

    Queries of a model of precomputed dissimilarities may have a column for each candidate
    or just for each prototype. Where every candidate is chosen once, as by the nearest
    neighbour rule, these are as many: then all attributes of the prototypes are in the
    order of the columns, so that both mean the same, and ``solution_.score`` still tells
    which were chosen first.

    In a square neighbour graph that is fitted a point is its own neighbour, at 0 where the
    diagonal does not say; queries are taken for what they store. One with no entry for any
    prototype is an outlier: without an `outlier_label`, `predict` and `explain` refuse it.

    References
    ----------
    J. Bien and R. Tibshirani (2009). Classification by set cover: the prototype vector
    machine. arXiv:0908.2284.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifier().fit(X, y)
    >>> clf.candidate_indices_
    array([  0,  79, 109, 114,  58, 128])
    >>> clf.prototype_labels_
    array([0, 1, 2, 2, 1, 2])
    >>> clf.prototype_radii_.round(2)
    array([2.09, 1.46, 1.57, 0.79, 0.62, 0.81])
    >>> clf.covered_count_
    array([50, 39, 35, 11, 17, 29])
    >>> clf.miscovered_count_
    array([0, 0, 0, 0, 0, 0])
    >>> clf.newly_covered_count_
    array([50, 39, 35, 10,  9,  3])
    >>> clf.gap_  # no other choice is better
    0.0
    >>> clf.predict([[5.0, 3.4, 1.5, 0.2]])
    array([0])

    The machine of the paper, with one radius:

    >>> paper = {"radii": "shared", "cross_class": True, "min_per_class": 0}
    >>> clf = PVMClassifier(eps=1.0, **paper).fit(X, y)
    >>> clf.candidate_indices_
    array([ 29,  74, 144,  57, 114, 105,  16, 108,  64])
    >>> clf.miscovered_count_
    array([0, 5, 0, 0, 2, 0, 0, 1, 0])
    """

    _growth: Growth  # only after partial_fit

    def __init__(
        self,
        *,
        eps: float | str | None = "auto",
        radii: str = "adaptive",
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        candidates: Any = "train",
        cross_class: bool = False,
        solver: Any = "auto",
        solver_options: dict[str, Any] | None = None,
        prototype_cost: float | str = "auto",
        max_prototypes: int | dict[Any, int] | None = None,
        min_per_class: int = 1,
        class_weight: Any = None,
        closed_ball: bool = False,
        outlier_label: Any = None,
        decision: str = "nearest",
        feature_weights: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.eps = eps
        self.radii = radii
        self.metric = metric
        self.metric_params = metric_params
        self.candidates = candidates
        self.cross_class = cross_class
        self.solver = solver
        self.solver_options = solver_options
        self.prototype_cost = prototype_cost
        self.max_prototypes = max_prototypes
        self.min_per_class = min_per_class
        self.class_weight = class_weight
        self.closed_ball = closed_ball
        self.outlier_label = outlier_label
        self.decision = decision
        self.feature_weights = feature_weights
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, unlabeled: Any = None) -> Self:
        """Choose the prototypes.

        Parameters
        ----------
        X : array-like, CSR table or data frame, shape (n_points, n_features)
            Training points, or the points x candidates table of dissimilarities, or a sparse
            one, a neighbour graph.
        y : array-like, shape (n_points,)
            Their labels.
        sample_weight : array-like, shape (n_points,), or None, default=None
            Scales what leaving a point uncovered and what wrongly covering it cost. A
            whole number is a repetition, and a point of weight zero is as if it were not
            there.
        unlabeled : array-like, shape (n_unlabeled, n_features), or None, default=None
            Further candidates whose class is not known.

        Returns
        -------
        self
            The fitted classifier.
        """
        with unchanged_on_error(self), limited_threads(self.n_jobs):
            settings = Settings.of(self)
            points = check_training_points(self, X, unlabeled)
            self._fit_checked(points, y, sample_weight, unlabeled=unlabeled, settings=settings)
        return self

    def _fit_checked(
        self, points: Any, y: Any, sample_weight: Any, *, unlabeled: Any, settings: Settings
    ) -> None:
        """Choose the prototypes for points that `fit`, or a search, has checked."""
        rng = self._generator()
        training = prepare(self, points, y, sample_weight, unlabeled=unlabeled, rng=rng)
        rng = after_candidates(self.random_state, rng)
        terms = Terms.of(self, training)
        eps = settings.radius(training, rng)
        formulation = settings.formulate(training, terms, eps, rng)
        selection = settings.select(formulation, terms, rng)
        self._set_model(with_rule(terms.keep(selection, training, eps), training, self))
        self.__dict__.pop("_growth", None)
        warn_of_selection(self, len(training.codes))

    @available_if(_takes_batches)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take in further labelled points and choose the prototypes anew among all of them.

        Distances that are known already are not computed again. The prototypes are those
        of `fit` on all points so far, with `eps`, the candidates and the dissimilarity as
        the first batch made them.

        Parameters
        ----------
        X : array-like, CSR table or data frame, shape (n_points, n_features)
            The new points.
        y : array-like, shape (n_points,)
            Their labels.
        classes : array-like or None, default=None
            All labels that will ever come, for the first call. None to take them as they
            come; then `classes_` may grow.
        sample_weight : array-like, shape (n_points,), or None, default=None
            As for `fit`.

        Returns
        -------
        self
            The fitted classifier.

        Notes
        -----
        With ``candidates="train"`` every new point becomes a candidate, and the model
        keeps all points. Other candidates are made from the first batch and stay; then
        the points themselves are not kept. So do ``eps="auto"`` and what a dissimilarity
        learns in its `fit`: give a number and fix its parameters where the first batch
        is not like the rest. Either way the model keeps the cover, five bytes for each
        (point, ball) membership, until `fit` is called. `radii`, `closed_ball`, `metric` and
        `metric_params` must not change between batches, nor must numbers as labels be
        followed by text. A model that comes from `fit`
        has none: it starts over, with a warning.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from protocover import PVMClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> grown = PVMClassifier(eps=1.0)
        >>> for batch in np.array_split(np.arange(150), 3):
        ...     grown = grown.partial_fit(X[batch], y[batch])
        >>> whole = PVMClassifier(eps=1.0).fit(X, y)
        >>> bool((grown.candidate_indices_ == whole.candidate_indices_).all())
        True
        """
        if hasattr(self, "classes_") and not hasattr(self, "_growth"):
            warn_caller(
                "this model comes from fit, which keeps no cover to extend: partial_fit starts "
                "over with this batch; call partial_fit for the first batch too"
            )
        if self.class_weight is not None:
            raise ValueError(
                f"class_weight must be None for partial_fit, got {self.class_weight!r}: the "
                "counts of the classes are not known before all batches are; pass sample_weight"
            )
        with unchanged_on_error(self), limited_threads(self.n_jobs):
            rng = self._generator()
            settings = Settings.of(self)
            growth = take_in(self, settings, X, y, sample_weight, classes=classes, rng=rng)
            rng = after_candidates(self.random_state, rng)
            training, covers = growth.training(
                cross_class=check_parameter("cross_class", self.cross_class)
            )
            terms = Terms.of(self, training)
            formulation = settings.formulate(training, terms, growth.eps, rng, covers=covers)
            selection = settings.select(formulation, terms, rng)
            self._set_model(terms.keep(selection, training, growth.eps))
            self._growth = growth
        return self

    def verify(
        self, X: Any, y: Any, sample_weight: Any = None, *, unlabeled: Any = None
    ) -> ModelVerification:
        """Recheck the model against the data it was fitted on.

        The cover problems are written down again, and what the model says of them is
        recomputed in whole numbers by none of the solvers' code: that the prototypes are
        candidates, their order and its scores, what they cover, the objective, and the
        bounds that the solutions' vectors prove. What is said in several places must be
        the same, and what the parameters ask for.

        Parameters
        ----------
        X, y, sample_weight, unlabeled
            What `fit` was given; all batches together for a model of `partial_fit`.

        Returns
        -------
        ModelVerification
            With ``.ok``, every fault by name, and the verdict on each class.

        Notes
        -----
        It takes about twice as long as a greedy fit. The word of a branch and bound cannot be
        rechecked, nor what a solver of one's own ranks by, nor that ``eps="auto"`` stands
        for this very radius. Candidates that were drawn at random are made again if `random_state`
        is a number; else only the objective is rechecked, with a warning. A model
        file does not keep what `partial_fit` learned from the first batch alone, so that
        a model that did learn from it can be rechecked only before it is saved.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from protocover import PVMClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = PVMClassifier().fit(X, y)
        >>> clf.verify(X, y)
        Verified: objective 10, lower bound 10
          class 0: objective 1, lower bound 1
          class 1: objective 4, lower bound 4
          class 2: objective 5, lower bound 5
        >>> clf.verify(X + 1.0, y).faults[0]
        'prototypes_ are not the candidates of candidate_indices_'
        """
        check_is_fitted(self)
        return recheck_model(self, X, y, sample_weight, unlabeled=unlabeled)

    def _generator(self) -> np.random.Generator:
        """Return the source of randomness that `random_state` stands for."""
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))
