"""Repeated cross-validation is scikit-learn's, and says what failed."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from crossval_runs import LEARNERS, Countdown, Odd, X, Y, run, same
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.core.errors import InputError
from bayes_sota.crossval.summary_runs import describe_runs


@pytest.mark.slow
@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy"])
def test_scores_and_probabilities_are_those_of_scikit_learn(scoring: str) -> None:
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    learners = {"nb": GaussianNB(), "5nn": KNeighborsClassifier(), "logistic": logistic}
    runs = run(learners, scoring=scoring)
    assert runs.fold_scores.scorer == scoring
    for j, learner in enumerate(learners.values()):
        for i, seed in enumerate(runs.partition_seeds):
            folds = StratifiedKFold(3, shuffle=True, random_state=seed)
            expected = cross_validate(learner, X, Y, scoring=scoring, cv=folds)["test_score"]
            assert runs.fold_scores.scores[0, j, i].tolist() == expected.tolist()
            p = cross_val_predict(learner, X, Y, cv=folds, method="predict_proba")[:, 1]
            assert runs.probabilities[j, i].tolist() == p.tolist()
            assert runs.pooled_scores[j, i] == pytest.approx(roc_auc_score(Y, p), abs=1e-12)


@pytest.mark.slow
def test_partitions_and_fits_depend_on_the_seed_and_on_nobody_else() -> None:
    both, other = run(), run(random_seed=1)
    assert both.partition_seeds != other.partition_seeds
    alone = run({"tree": LEARNERS["tree"]})
    assert np.array_equal(alone.probabilities[0], both.probabilities[1])
    fewer = run(iterations=2)
    assert np.array_equal(fewer.probabilities, both.probabilities[:, :2])
    rng = np.random.default_rng(5)
    assert run(random_seed=rng).random_seed == run(random_seed=np.random.default_rng(5)).random_seed


def test_a_random_state_of_the_user_stays() -> None:
    fixed = DecisionTreeClassifier(max_features=3, random_state=7)
    runs = run({"tree": fixed}, iterations=1)
    folds = StratifiedKFold(3, shuffle=True, random_state=runs.partition_seeds[0])
    expected = cross_validate(fixed, X, Y, scoring="roc_auc", cv=folds)["test_score"]
    assert runs.fold_scores.scores[0, 0, 0].tolist() == expected.tolist()


def test_tables_of_every_kind_give_the_same() -> None:
    plain = run({"nb": KNeighborsClassifier()})
    frame = pd.DataFrame(X, columns=[f"a{j}" for j in range(X.shape[1])])
    words = np.where(Y == 1, "yes", "no")
    assert same(run({"nb": KNeighborsClassifier()}, X=frame, y=words), plain)
    assert same(run({"nb": KNeighborsClassifier()}, X=pl.DataFrame(frame), y=words), plain)
    assert same(run({"nb": KNeighborsClassifier()}, X=X.tolist(), y=Y.tolist()), plain)
    dense = run({"nb": KNeighborsClassifier()}, X=sparse.coo_array(X))
    assert np.allclose(dense.probabilities, plain.probabilities)


@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("fail", "error", "RuntimeError: no convergence"),
        ("nan", "error", "ValueError: probabilities are not finite numbers, one for each class"),
        ("warn", "warning", "RuntimeWarning: slow convergence"),
    ],
)
def test_a_fit_that_fails_or_warns_is_named_and_the_rest_kept(
    how: str, kind: str, text: str
) -> None:
    odd = {"nb": GaussianNB(), "odd": Odd(how, float(X[0, 0]))}  # item 0 trains 2 of 3 folds
    runs = run(odd, iterations=2)
    failed = np.isnan(runs.fold_scores.scores[0, 1])
    assert failed.any() == (kind == "error")
    assert not failed.all()
    assert not np.isnan(runs.fold_scores.scores[0, 0]).any()
    assert {(m.kind, m.learner, m.text) for m in runs.messages} == {(kind, "odd", text)}
    if kind == "error":
        places = {(m.iteration, m.fold) for m in runs.messages}
        assert places == set(map(tuple, np.argwhere(failed).tolist()))
        assert np.isnan(runs.pooled_scores[1]).all()
    assert runs.notes[0].startswith("odd: 4 of 6 fits ")
    assert runs.notes[0].endswith(text)


def test_a_decision_function_stands_for_probabilities() -> None:
    runs = run({"svm": SVC(kernel="linear"), "nb": GaussianNB()}, iterations=1)
    assert {m.learner for m in runs.messages} == {"svm"}
    assert runs.notes[0].startswith("svm: 3 of 3 fits gave no probabilities")
    assert runs.probabilities[0].min() < 0


def test_a_rule_sees_the_iterations_in_order_and_ends_the_run() -> None:
    rule = Countdown(2)
    runs = run(iterations=5, rule=rule)
    assert [(n, shape) for n, shape, _ in rule.seen] == [(1, (2, 1, 240)), (2, (2, 2, 240))]
    assert (runs.n_iterations, runs.rule, runs.decided) == (2, "countdown", True)
    full = run(iterations=5)
    assert np.array_equal(runs.fold_scores.scores, full.fold_scores.scores[:, :, :2])
    assert full.decided
    never = run(iterations=2, rule=Countdown(9))
    assert (never.n_iterations, never.decided) == (2, False)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"y": np.ones(240)}, "at least two classes needs 3 items, .* got 240 of 1.0"),
        ({"y": np.arange(240) % 3}, "of more than two classes take a score such as roc_auc_ovr"),
        ({"folds": 200}, "take fewer folds"),
        ({"folds": 1}, "folds must be a whole number from 2"),
        ({"y": Y[:9]}, "one label per item, got"),
        ({"y": np.where(np.arange(240) == 3, np.nan, Y)}, "the label of item 4 is missing"),
        ({"scoring": "roc_auk"}, 'no score "roc_auk"; did you mean "roc_auc"'),
        ({"rule": "speerman"}, "rule is one of spearman, ks, posterior, .* got .speerman."),
        ({"scoring": lambda *_: float("nan")}, ".nb. failed in every .* the score is nan"),
        ({"estimators": {"odd": Odd(at=-1.0)}}, ".odd. failed .* RuntimeError: no convergence"),
    ],
)
def test_input_that_cannot_be_meant_is_refused(settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(**settings)


@pytest.mark.parametrize("scoring", ["roc_auc_ovr", "average_precision"])
def test_several_classes_of_unlike_size_have_the_scores_of_scikit_learn(scoring: str) -> None:
    rng = np.random.default_rng(2)
    y = np.repeat(["a", "b", "c"], [100, 15, 40])
    rows = rng.normal(size=(155, 3)) + (y == "a")[:, None] + 2 * (y == "b")[:, None]
    runs = run({"nb": GaussianNB()}, X=rows, y=y, iterations=3, scoring=scoring)
    for seed, found, own in zip(
        runs.partition_seeds, runs.fold_scores.scores[0, 0], runs.probabilities[0], strict=True
    ):
        folds = StratifiedKFold(3, shuffle=True, random_state=seed)
        # As numbers: average_precision takes no words below scikit-learn 1.9.
        codes = np.unique(y, return_inverse=True)[1]
        scores = cross_validate(GaussianNB(), rows, codes, cv=folds, scoring=scoring)["test_score"]
        np.testing.assert_array_equal(found, scores)
        p = cross_val_predict(GaussianNB(), rows, y, cv=folds, method="predict_proba")
        np.testing.assert_array_equal(own, p[np.arange(155), runs.truth])
    assert (runs.n_classes, runs.truth[[0, 100, 115]].tolist()) == (3, [0, 1, 2])
    assert "pooled" not in describe_runs(runs).frame
