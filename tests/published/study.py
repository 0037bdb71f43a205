r"""Raeder, Hoens and Chawla's study of repeated cross-validation (2010), run again.

Six learners on many data sets, cut into 2, 5 and 10 folds again and again; every data set gets the
same seeds. Tasks are those that scikit-learn brings along and those of a directory. The learners
are the nearest that well-kept libraries have, and differ from WEKA's:

- naive Bayes with kernel densities: WEKA's formula, codes of categories taken as numbers; WEKA
  rounds values to multiples of the precision, and adds 1 to the counts of the classes;
- perceptron: three layers of 10 ReLU units by 100 steps of L-BFGS, for WEKA's backpropagation;
- 5 nearest neighbours: standardised attributes, for WEKA's between 0 and 1;
- C4.5: binary splits by entropy and cost-complexity pruning, for the gain ratio and error-based
  pruning;
- Hellinger distance tree: thresholds only;
- linear support vector machine: ranked by its decision function, where WEKA's SMO gives labels.

``tests/published/test_study.py`` runs it on small tasks.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from published.estimators import HellingerTree, KernelNaiveBayes
from sklearn import datasets
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.auc.estimate import auc_std
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.text import plain_text, shown_path
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.crossval.fits import Study, checked_study, seeded
from bayes_sota.crossval.learners import named_learners, prepared, read_task
from bayes_sota.crossval.rules import FixedNumber
from bayes_sota.crossval.run import CrossValidation, pooled_score, repeated_cross_validation
from bayes_sota.data.fold_scores import FoldScores

LEARNERS = ("nb-kernel", "mlp", "5nn", "tree-pruned", "hellinger", "svm")
FOLDS = (2, 5, 10)
_TARGET = "y"


@dataclass(frozen=True, eq=False)
class Task:
    """A data set of two classes.

    Attributes
    ----------
    name : str
    rows : ndarray, shape (n_items, n_attributes)
    labels : ndarray, shape (n_items,)
    categories : list of int
        Columns that are codes of words.
    test : (ndarray, ndarray), optional
        Rows and labels of a true test set.
    """

    name: str
    rows: FloatArray
    labels: Any
    categories: list[int]
    test: tuple[FloatArray, Any] | None = None


@dataclass(frozen=True, eq=False)
class StudyRuns:
    """What the study measured.

    Attributes
    ----------
    scores : dict of int to FoldScores
        By the number of folds; the same tasks and learners in each.
    probabilities : dict of int to list of ndarray
        By the number of folds and task, (n_learners, n_iterations, n_items).
    truth, truth_error : dict of str to ndarray, shape (n_learners,)
        By tasks with a true test set, the AUROC there of a fit to all items, and the standard error
        of its difference from an estimate, if other items had been drawn for both.
    """

    scores: dict[int, FoldScores]
    probabilities: dict[int, list[FloatArray]]
    truth: dict[str, FloatArray]
    truth_error: dict[str, FloatArray]

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return self.scores[FOLDS[0]].tasks

    @property
    def n_iterations(self) -> int:
        """Iterations of each number of folds."""
        return int(self.scores[FOLDS[0]].scores.shape[2])


def bundled_tasks() -> dict[str, tuple[FloatArray, Any]]:
    """Attributes and labels of small tasks of two classes that scikit-learn brings along.

    Wines and irises give several tasks, one class against the rest (of irises the two that
    overlap), which share their items; progress of diabetes is above its median or not.

    Examples
    --------
    >>> [len(labels) for _, labels in bundled_tasks().values()]
    [569, 442, 178, 178, 178, 150, 150]
    """
    progress, kind, species = (
        load(return_X_y=True)
        for load in (datasets.load_diabetes, datasets.load_wine, datasets.load_iris)
    )
    return {
        "tumours": datasets.load_breast_cancer(return_X_y=True),
        "diabetes-progress": (progress[0], (progress[1] > np.median(progress[1])).astype(int)),
        **{f"wine-{c}": (kind[0], (kind[1] == c).astype(int)) for c in range(3)},
        **{f"iris-{c}": (species[0], (species[1] == c).astype(int)) for c in (1, 2)},
    }


def read_tasks(data: Path | None) -> list[Task]:
    """Tasks of scikit-learn, and of a directory, the smallest first.

    Parameters
    ----------
    data : Path, optional
        Directory with one table per task (.csv, .csv.gz), or with a folder ``binary_tasks`` of
        them. Column ``y`` is the label, all others are attributes. ``NAME_test.csv`` is a true test
        set of the task ``NAME``.

    Raises
    ------
    InputError
        A directory without tasks, a table that is none, a test set without its task or with
        words for attributes.

    Examples
    --------
    >>> [task.name for task in read_tasks(None)][:3]
    ['iris-1', 'iris-2', 'wine-0']
    """
    found = [Task(name, *given, []) for name, given in bundled_tasks().items()]
    if data is not None:
        found += _tasks_of(data)
    names = [task.name for task in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two tasks are named {plain_text(twice)}: rename a file")
    for task in found:
        _checked(task)
    return sorted(found, key=lambda task: len(task.labels))


def _tasks_of(data: Path) -> Iterator[Task]:
    folder = data / "binary_tasks" if (data / "binary_tasks").is_dir() else data
    paths = {p.name.partition(".csv")[0]: p for p in sorted(folder.glob("*.csv*")) if p.is_file()}
    tests = {name.removesuffix("_test"): paths.pop(name) for name in [*paths] if "_test" in name}
    if not paths:
        raise InputError(f"{shown_path(folder)}: no tasks, tables NAME.csv with a column {_TARGET}")
    lonely = sorted(set(tests) - set(paths))
    if lonely:
        raise InputError(f"{shown_path(tests[lonely[0]])}: a test set without its task")
    for name, path in paths.items():
        rows, labels, categories = read_task(path, _TARGET)
        test = _test_set(tests[name], rows, labels) if name in tests else None
        yield Task(plain_text(name), rows, labels, categories, test)


def _test_set(path: Path, rows: FloatArray, labels: Any) -> tuple[FloatArray, Any]:
    found, truth, words = read_task(path, _TARGET)
    if words or found.shape[1] != rows.shape[1] or set(truth) != set(labels):
        raise InputError(
            f"{shown_path(path)}: a true test set has the attributes of its task, all numbers, "
            "and both of its classes"
        )
    return found, truth


def study_learners(task: Task) -> dict[str, Any]:
    """The six learners for the table of a task."""
    own = {
        "nb-kernel": KernelNaiveBayes(),
        "mlp": MLPClassifier((10, 10, 10), solver="lbfgs", max_iter=100),
        "tree-pruned": DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=2, ccp_alpha=0.005
        ),
        "hellinger": HellingerTree(),
    }
    found = named_learners(("5nn", "svm"), task.categories)
    found |= {name: prepared(learner, task.categories) for name, learner in own.items()}
    return {name: found[name] for name in LEARNERS}


def _checked(task: Task) -> Study:
    """The task as cross-validation takes it; what it would refuse after hours, at once."""
    try:
        return checked_study(
            study_learners(task), task.rows, task.labels,
            folds=max(FOLDS), scoring="roc_auc", seed=0,
        )  # fmt: skip
    except InputError as error:
        raise InputError(f"task {task.name}: {error}") from None


def run_study(
    tasks: list[Task],
    *,
    iterations: int = 10,
    random_seed: int = 0,
    checkpoint: Path | None = None,
    cores: int = 1,
    progressbar: bool = False,
) -> StudyRuns:
    """Run every learner on every task, with each number of folds.

    Parameters
    ----------
    tasks : list of Task
    iterations : int
        Random partitions of each task into each number of folds.
    random_seed : int
    checkpoint : Path, optional
        Folder that keeps finished iterations, in a folder for each task and number of folds.
    cores : int
        Processes; results are the same.
    progressbar : bool
    """
    found: dict[int, list[CrossValidation]] = {k: [] for k in FOLDS}
    total = len(tasks) * len(FOLDS) * iterations
    with shown_progress(total, "iterations", show=progressbar) as advance:
        for task in tasks:
            for k in FOLDS:
                folder = None if checkpoint is None else checkpoint / f"{task.name}-{k}"
                found[k].append(
                    repeated_cross_validation(
                        study_learners(task), task.rows, task.labels, folds=k, cores=cores,
                        iterations=iterations, rule=_Counted(iterations, advance),
                        random_seed=random_seed, checkpoint=folder, task=task.name,
                    )
                )  # fmt: skip
    tested = [task for task in tasks if task.test is not None]
    truth = {task.name: _on_test_set(task, random_seed) for task in tested}
    return StudyRuns(
        {k: joined_scores([one.fold_scores for one in runs]) for k, runs in found.items()},
        {k: [one.probabilities for one in runs] for k, runs in found.items()},
        {name: scores for name, (scores, _) in truth.items()},
        {name: errors for name, (_, errors) in truth.items()},
    )


@dataclass(frozen=True)
class _Counted(FixedNumber):
    """A fixed number of iterations, which move the bar of the whole study."""

    advance: Callable[[], None] = lambda: None

    def decided(self, runs: CrossValidation) -> bool:
        self.advance()
        return super().decided(runs)


def joined_scores(scores: list[FoldScores]) -> FoldScores:
    """Scores of one task each, of the same learners and iterations, as those of all."""
    return FoldScores(
        np.concatenate([one.scores for one in scores]),
        learners=scores[0].learners,
        tasks=[name for one in scores for name in one.tasks],
        folds=scores[0].folds,
        scorer=scores[0].scorer,
    )


def _on_test_set(task: Task, seed: int) -> tuple[FloatArray, FloatArray]:
    """AUROC of fits to all items, and its standard error beside an estimate from those items."""
    assert task.test is not None
    (rows, labels), study = task.test, _checked(task)
    positive = labels == max(set(labels))
    found = np.empty(len(study.learners))
    for j, (name, learner) in enumerate(study.learners.items()):
        fitted = seeded(learner, study.without_state[name], np.random.SeedSequence([seed, j]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as cross-validation keeps them for itself
            fitted.fit(task.rows, task.labels)
        both = hasattr(fitted, "predict_proba")
        values = fitted.predict_proba(rows)[:, 1] if both else fitted.decision_function(rows)
        found[j] = pooled_score(values, positive)
    n, n_trained = _class_sizes(positive), _class_sizes(task.labels == max(set(task.labels)))
    least = 0.5 / (n[0] * n[1])  # half a pair: a perfect AUROC is not without error
    within = np.clip(found, least, 1 - least)
    return found, np.hypot(auc_std(within, *n), auc_std(within, *n_trained))


def _class_sizes(positive: BoolArray) -> tuple[int, int]:
    return int(positive.sum()), int((~positive).sum())
