"""Scores of repeated cross-validation: what they are, and what is refused."""

import numpy as np
import pytest

import bayes_sota as bs
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


def test_whole_iterations_say_how_many_folds_they_had() -> None:
    assert FoldScores(some_scores()[..., :1], folds=10).test_share == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        (lambda s: s[0, 0], {}, "have the shape"),
        (lambda s: s[:, :0], {}, "have the shape"),
        (lambda s: s[..., :1], {}, "folds is the number of parts of a partition"),
        (lambda s: s, {"folds": 4}, "folds is the number of parts of a partition"),
        (lambda s: s, {"learners": ["a", "a", "b"]}, "a"),
        (lambda s: s, {"tasks": ["a"]}, "data set"),
        (lambda s: np.where(s == s[1, 2, 3, 4], np.inf, s), {}, "learner '3', iteration 3, fold 4"),
        (lambda s: np.where(np.arange(3)[:, None, None] == 1, np.nan, s), {}, "no score at all"),
    ],
)
def test_what_is_refused(change, settings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FoldScores(change(some_scores()), **settings)


def test_folds_are_the_rounds_of_a_tournament() -> None:
    scores = np.random.default_rng(0).random((1, 3, 4, 2))
    scores[0, 1, 2, 0] = np.nan
    scores[0, :, 3] = np.nan  # an iteration that nobody finished
    runs = FoldScores(scores, learners=list("abc"), tasks=["vote"])
    table = runs.score_table()
    assert (table.players, table.scheme, table.tournament) == (("a", "b", "c"), "model/cv", "vote")
    assert table.rounds == ("0.0", "0.1", "1.0", "1.1", "2.0", "2.1")
    assert table.groups is None
    np.testing.assert_array_equal(table.scores, scores[0, :, :3].reshape(3, 6).T)
    several = FoldScores(np.random.default_rng(1).random((2, 3, 4, 1)), folds=5).score_table()
    assert several.rounds[:2] == ("1: 0", "1: 1")
    assert several.groups == ("1",) * 4 + ("2",) * 4
    assert several.scheme == "model/task"


@pytest.mark.parametrize(("columns", "folds"), [(5, 5), (1, 5)])
def test_the_test_fraction_is_the_variance_of_correlated_folds(columns: int, folds: int) -> None:
    """R q / (1 - q) is what fold scores with the correlation 1 / k have in common."""
    rng = np.random.default_rng(2)
    common = rng.normal(0, np.sqrt(1 / folds), (20_000, 1, 1))
    scores = common + rng.normal(0, np.sqrt(1 - 1 / folds), (20_000, 6, folds))
    rounds = scores if columns > 1 else scores.mean(axis=2, keepdims=True)
    naive = rounds.reshape(len(rounds), -1).var(axis=1, ddof=1).mean() / (6 * columns)
    q = FoldScores(rounds[:2], folds=folds).test_fraction
    expected = naive * (1 + 6 * columns * q / (1 - q))
    assert rounds.mean(axis=(1, 2)).var() == pytest.approx(expected, rel=0.03)


def test_equal_learners_are_equal_in_a_tournament_that_allows_for_overlap() -> None:
    """Rounds of one data set: as if independent they tell equal learners apart."""
    rng, naive, allowed = np.random.default_rng(3), [], []
    for _ in range(50):
        scores = rng.normal(0, 5**-0.5, (2, 1, 1)) + rng.normal(0, 0.8**0.5, (2, 8, 5))
        runs = FoldScores(scores)
        table = runs.score_table()
        naive.append(bs.fit_epp(table).test("1", "2").p_value)
        fit = bs.fit_epp(table, test_fraction=runs.test_fraction)
        allowed.append(fit.test("1", "2").p_value)
    assert np.mean(np.less(naive, 0.05)) > 0.35
    assert np.mean(np.less(allowed, 0.05)) <= 0.05
