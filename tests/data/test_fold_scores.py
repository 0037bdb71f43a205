"""Scores of repeated cross-validation: what they are, and what is refused."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.fold_scores import FoldScores


def some_scores() -> np.ndarray:
    return np.random.default_rng(0).uniform(0.7, 0.9, (2, 3, 4, 5))


def test_one_data_set_needs_no_dimension_of_its_own() -> None:
    scores = some_scores()
    alone = FoldScores(scores[0])
    assert (alone.tasks, alone.learners, alone.folds) == (("1",), ("1", "2", "3"), 5)
    np.testing.assert_array_equal(alone.iteration_means(), scores[:1].mean(axis=3))


def test_a_missing_fold_leaves_its_iteration_out_of_the_means() -> None:
    scores = some_scores()
    scores[1, 2, 3, 4] = np.nan
    means = FoldScores(scores).iteration_means()
    assert np.argwhere(np.isnan(means)).tolist() == [[1, 2, 3]]


def test_the_same_numbers_in_another_shape_are_other_data() -> None:
    scores = some_scores()
    whole = scores.reshape(2, 3, 20, 1)
    assert FoldScores(scores) != FoldScores(whole, folds=5)


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        (lambda s: s[0, 0], {}, "have the shape"),
        (lambda s: s[:, :0], {}, "have the shape"),
        (lambda s: s[..., :1], {}, "got 1 for 1 folds; give their number with folds="),
        (lambda s: s, {"folds": 4}, "got 5 for 4 folds"),
        (lambda s: s, {"learners": ["a", "a", "b"]}, "a"),
        (lambda s: s, {"tasks": ["a"]}, "data set"),
        (lambda s: np.where(s == s[1, 2, 3, 4], np.inf, s), {}, "learner '3', iteration 3, fold 4"),
        (lambda s: np.where(np.arange(3)[:, None, None] == 1, np.nan, s), {}, "no score at all"),
    ],
)
def test_what_is_refused(change, settings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FoldScores(change(some_scores()), **settings)
