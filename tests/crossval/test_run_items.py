"""Items of runs as responses and item scores: what scikit-learn says of the same fits."""

import csv
from pathlib import Path

import numpy as np
import pytest
from crossval_runs import LEARNERS, X, Y, run
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.crossval.run import CrossValidation
from bayes_sota.data.formats.fold_tables import write_items


@pytest.fixture(scope="module")
def runs() -> CrossValidation:
    learners = {"nb": LEARNERS["nb"], "margin": LinearSVC(random_state=0)}
    return run(learners, X=X / X.max(axis=0), iterations=2, task="tumours")


@pytest.mark.parametrize("iteration", [0, 1])
def test_answers_are_those_of_scikit_learn(runs: CrossValidation, iteration: int) -> None:
    answers = runs.responses(iteration)
    assert (answers.names, answers.name, answers.n_items) == (("nb", "margin"), "tumours", 240)
    seed = runs.partition_seeds[iteration]
    splits = StratifiedKFold(3, shuffle=True, random_state=seed)
    for column, learner in zip(
        answers.correct.T, (LEARNERS["nb"], LinearSVC(random_state=0)), strict=True
    ):
        predicted = cross_val_predict(learner, X / X.max(axis=0), Y, cv=splits)
        assert (column == (predicted == Y)).all()


def test_item_scores_have_the_pooled_auroc(runs: CrossValidation) -> None:
    found = runs.item_scores(-1)
    assert found.metric == "auc"
    assert found.scores == pytest.approx(runs.pooled_scores[:, 1])
    assert found.scores[1] == pytest.approx(roc_auc_score(Y, runs.probabilities[1, 1]))


def test_missing_predictions_are_missing_answers(runs: CrossValidation) -> None:
    probabilities = runs.probabilities.copy()
    probabilities[0, 0, :5] = np.nan
    fewer = CrossValidation(**{**vars(runs), "probabilities": probabilities})
    assert (fewer.responses().correct[:5, 0] == -1).all()
    assert fewer.responses(1) == runs.responses(1)
    with pytest.raises(InputError, match="is a finite number"):
        fewer.item_scores()
    with pytest.raises(InputError, match="iteration is one of 2 iterations, counted from 0, got 2"):
        runs.responses(2)


def test_tables_of_items_are_read_back(runs: CrossValidation, tmp_path: Path) -> None:
    answers, numbers = runs.responses(), runs.item_scores()
    write_items(answers, tmp_path / "tumours.csv")
    assert bs.read_responses(tmp_path / "tumours.csv") == answers
    write_items(numbers, tmp_path / "tumours.csv")
    assert bs.read_item_scores(tmp_path / "tumours.csv") == numbers
    odd = bs.Responses([[1, 0], [None, 1]], names=["=a", "b"])
    write_items(odd, tmp_path / "odd.csv")
    with (tmp_path / "odd.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["item", "'=a", "b"], ["1", "1", "0"], ["2", "", "1"]]
