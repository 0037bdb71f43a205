"""Estimates of learners are the means and spreads that one computes by hand."""

import numpy as np
import pytest
from crossval_runs import Countdown, Odd, X, run
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.crossval.summary_runs import describe_runs


def test_numbers_are_those_of_the_scores() -> None:
    learners = {"tree": DecisionTreeClassifier(max_depth=1), "nb": GaussianNB()}
    runs = run(learners, folds=2, iterations=6)
    report = describe_runs(runs)
    assert report.frame["learner"].tolist() == ["nb", "tree"]
    assert report.content["canonical_iterations"] == 5
    means = runs.fold_scores.scores[0].mean(axis=2)
    for row, j in zip(report.frame.to_dict("records"), (1, 0), strict=True):
        assert row["steady"] == pytest.approx(np.mean(means[j]))
        assert row["canonical"] == pytest.approx(np.mean(means[j, :5]))
        assert row["share_best"] == np.mean(means[j] > means[1 - j])
        assert row["failed_fits"] == 0
    assert list(report.reasons) == []
    assert report.content["n_of_classes"][1] == int(runs.truth.sum())


def test_one_iteration_has_no_spread_and_a_tie_is_divided() -> None:
    same = {"a": GaussianNB(), "b": GaussianNB()}
    report = describe_runs(run(same, folds=2, iterations=1))
    assert report.frame["share_best"].tolist() == [0.5, 0.5]
    assert report.frame[["sd", "standard_error", "canonical"]].isna().all(axis=None)
    assert "0.5 of 1 random partition" in " ".join(report.sentences)


def test_what_failed_and_what_was_not_met_is_a_reason() -> None:
    odd = {"nb": GaussianNB(), "odd": Odd("fail", float(X[0, 0]))}
    report = describe_runs(run(odd, iterations=2, rule=Countdown(9)))
    assert report.reasons == [
        "fits of odd failed", "countdown was not met in 2 iterations"
    ]  # fmt: skip
    assert report.frame.set_index("learner").loc["odd", "failed_fits"] == 4
    assert np.isfinite(report.frame["steady"]).all()
    assert report.notes[0].startswith("odd: 4 of 6 fits failed and were left out")
