"""The naive test over folds rejects equal learners far too often, the corrected one does not."""

import pytest
from calibration.fold_tests_size import LEARNERS, measure_size


@pytest.mark.slow
def test_rejection_of_equal_learners_over_ten_by_ten_folds() -> None:
    size = measure_size(LEARNERS["naive Bayes"], data_sets=30, iterations=10, folds=10)
    assert size.rates["naive"] > 0.3
    assert size.rates["corrected"] < 0.07 + 2 * size.error("corrected")
