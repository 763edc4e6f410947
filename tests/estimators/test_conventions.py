"""scikit-learn's own checks of its conventions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from protocover import PVMClassifier

# Each exception says why the check's premise does not hold here.
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [PVMClassifier(), PVMClassifier(metric="precomputed"), PVMClassifier(solver="ratio-greedy")],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
