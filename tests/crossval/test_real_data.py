"""Real repeated cross-validation: what the source found on the vote data, found again."""

from pathlib import Path

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.crossval.learners import read_task
from bayes_sota.crossval.run import repeated_cross_validation
from bayes_sota.crossval.summary import judge_runs

LEARNERS = {
    "naive Bayes": GaussianNB(),
    "5-NN": KNeighborsClassifier(5),
    "entropy tree": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2),
    "Gini tree": DecisionTreeClassifier(min_samples_leaf=2),
}


@pytest.mark.slow
def test_vote(data_directory: Path) -> None:
    rows, labels, *_ = read_task(data_directory / "binary_tasks" / "vote.csv.gz", "y")
    runs = repeated_cross_validation(LEARNERS, rows, labels, random_seed=0)
    report = judge_runs(runs.fold_scores, runs.probabilities, random_seed=0)
    assert report.content["learners"][0]["steady"] > 0.97
    rows = {row["rule"]: row for row in report.content["rules"]}
    taken = dict(zip(LEARNERS, rows["Spearman 0.9999"]["iterations_by_learner"], strict=True))
    # A stricter threshold takes more iterations. That trees take several times as many as naive
    # Bayes is not so on these data, once its probabilities near 0 are told apart.
    assert max(taken["entropy tree"], taken["Gini tree"]) < 2 * taken["naive Bayes"]
    costs = [rows[f"Spearman {t}"]["iterations"] for t in (0.999, 0.9999, 0.99999)]
    assert costs == sorted(costs)
    # One run is less reproducible than the rule's steady state; .1 is out of reach of 50.
    assert rows["fixed 1"]["reproducibility"] < rows["Spearman 0.9999"]["reproducibility"]
    assert rows["Kolmogorov-Smirnov 0.1"]["ran_out"] > 0.5
    # Two trees of one kind are tied, whatever the naive test says of the others.
    pairs = report.content["pairs"]
    trees = {"entropy tree", "Gini tree"}
    (tied,) = (pair for pair in pairs if {pair["first"], pair["second"]} == trees)
    assert tied["order_kept"] < 0.95
    first = pairs[0]
    assert first["first"] == "naive Bayes"
    naive, corrected = (test["p_value"] for test in first["tests"])
    assert naive < 0.05 < corrected
