"""Repeated cross-validation is scikit-learn's, and says what failed."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from crossval_runs import LEARNERS, Countdown, Odd, X, Y, run, same
from data.files import refused
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier


@pytest.mark.parametrize(
    ("n_classes", "scoring"),
    [(2, "roc_auc"), (2, "accuracy"), (3, "roc_auc_ovr"), (3, "average_precision")],
)
def test_scores_and_probabilities_are_those_of_scikit_learn(n_classes: int, scoring: str) -> None:
    rng, rows, y = np.random.default_rng(2), X, Y
    if n_classes == 3:  # of unlike size
        y = np.repeat(["a", "b", "c"], [100, 15, 40])
        rows = rng.normal(size=(155, 3)) + (y == "a")[:, None] + 2 * (y == "b")[:, None]
    codes = np.unique(y, return_inverse=True)[1]  # some scores take no words
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    learners = {"nb": GaussianNB(), "5nn": KNeighborsClassifier(), "logistic": logistic}
    if scoring == "average_precision":
        del learners["logistic"]  # whose words it takes from scikit-learn 1.9 on
    runs = run(learners, X=rows, y=y, scoring=scoring)
    for (j, learner), (i, seed) in product(
        enumerate(learners.values()), enumerate(runs.partition_seeds)
    ):
        folds = StratifiedKFold(3, shuffle=True, random_state=seed)
        expected = cross_validate(learner, rows, codes, scoring=scoring, cv=folds)["test_score"]
        assert runs.fold_scores.scores[0, j, i].tolist() == expected.tolist()
        p = cross_val_predict(learner, rows, codes, cv=folds, method="predict_proba")
        own = p[:, 1] if n_classes == 2 else p[np.arange(155), codes]
        assert runs.probabilities[j, i].tolist() == own.tolist()
    assert runs.truth.tolist() == codes.tolist()
    assert runs.fold_scores.scorer == scoring


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
        ({"rule": "speerman"}, "must be one of spearman, .* did you mean .spearman"),
        ({"estimators": [GaussianNB()]}, "learners must be a dict by name, got .GaussianNB"),
        (
            {"estimators": {"nb": GaussianNB}},
            '"nb" is not an estimator of scikit-learn, got <class',
        ),
        ({"y": np.where(Y == 1, "a", pd.NA)}, "the label of item . is missing"),
        ({"scoring": lambda *_: float("nan")}, ".nb. failed in every .* the score is nan"),
        ({"estimators": {"odd": Odd(at=-1.0)}}, ".odd. failed .* RuntimeError: no convergence"),
    ],
)
def test_input_that_cannot_be_meant_is_refused(settings, message: str) -> None:
    refused(message, run, **settings)
