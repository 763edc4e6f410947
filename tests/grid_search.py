"""scikit-learn's grid search, which judges ours, with weights that count in its scores."""

import sklearn
from sklearn import config_context
from sklearn.metrics import get_scorer
from sklearn.utils.fixes import parse_version

# Before 1.7 it passes weights on to scorers only where they are routed.
SCORES_WITH_WEIGHTS = parse_version(sklearn.__version__) >= parse_version("1.7")


def fit_grid(search, X, y, *, weights=None, **extra):
    """Fit a grid search, in which weights, if there are any, count in fits and scores."""
    if weights is None:
        return search.fit(X, y, **extra)
    if SCORES_WITH_WEIGHTS:
        return search.fit(X, y, sample_weight=weights, **extra)
    with config_context(enable_metadata_routing=True):
        search.estimator.set_fit_request(sample_weight=True)
        scorer = get_scorer(search.scoring or "accuracy").set_score_request(sample_weight=True)
        return search.set_params(scoring=scorer).fit(X, y, sample_weight=weights, **extra)
