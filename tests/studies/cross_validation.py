r"""Raeder, Hoens and Chawla's study of repeated cross-validation (2010), run again.

Eight learners on many data sets, cut into 2, 5 and 10 folds again and again; every data set gets
the same seeds. The learners are the nearest that well-kept libraries have, and differ from WEKA's:

- naive Bayes with kernel densities: WEKA's formula, codes of categories taken as numbers; WEKA
  rounds values to multiples of the precision, and adds 1 to the counts of the classes;
- perceptron: three layers of 10 ReLU units by 100 steps of L-BFGS, for WEKA's backpropagation;
- 5 nearest neighbours: standardised attributes, for WEKA's between 0 and 1;
- C4.5 as WEKA has it by default, pruned and with shares in leaves; categories are numbers;
- Hellinger distance tree, not pruned, with Laplace's shares; thresholds only;
- linear support vector machine: ranked by its decision function, where WEKA's SMO gives labels;
- each tree with the leaves of the other: ``c45-laplace`` and ``hellinger-pruned``.

Most fits take less time than scikit-learn's way to a score, so that the folds are walked here and
not by ``repeated_cross_validation``; ``tests/published/test_study.py`` compares both. What is found
goes into ``tests/published/study.npz``, by which ``reproduce.py`` judges.

    python tests/studies/cross_validation.py --data DIR --kept FOLDER --cores 2
"""

import os

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import argparse
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from published.agreement import orders_of, stops_at_both_ends
from published.estimators import DecisionTree, KernelNaiveBayes, TwoClasses
from published.study import (
    ADAPTIVE_RULES,
    FOLDS,
    KEPT,
    LEARNERS,
    StudyRuns,
    save_runs,
)
from published.tasks import Task, read_tasks
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier

from bayes_sota.auc.estimate import auc_std
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.run import Study, named_learners, prepared, seeded

SLOW = ("mlp",)  # fewer iterations
QUICK = tuple(name for name in LEARNERS if name not in SLOW)
CHUNK = 50  # iterations that are kept together
FIRST = 10  # iterations of which the scores of folds are kept


def study_learners(names: Iterable[str]) -> dict[str, Any]:
    """Learners by their names, for attributes that are prepared."""
    own = {
        "nb-kernel": KernelNaiveBayes(),
        "mlp": MLPClassifier((10, 10, 10), solver="lbfgs", max_iter=100),
        "c45": DecisionTree("gain ratio", pruned=True, laplace=False),
        "c45-laplace": DecisionTree("gain ratio"),
        "hellinger": DecisionTree("hellinger"),
        "hellinger-pruned": DecisionTree("hellinger", pruned=True, laplace=False),
    }
    own |= {name: learner[-1] for name, learner in named_learners(("5nn", "svm")).items()}
    return {name: own[name] for name in names}


def checked_task(task: Task, names: Iterable[str] = LEARNERS, seed: int = 0) -> Study:
    """The task as cross-validation takes it; what it would refuse after hours, at once."""
    if len(classes := set(task.labels)) != 2:
        raise InputError(f"task {task.name}: labels are of two classes, got {len(classes)}")
    own = study_learners(names).items()
    learners = {name: prepared(learner, task.categories) for name, learner in own}
    try:
        return Study(learners, task.rows, task.labels, max(FOLDS), "roc_auc", seed)
    except InputError as error:
        raise InputError(f"task {task.name}: {error}") from None


def run_iteration(study: Study, iteration: int) -> tuple[FloatArray, FloatArray]:
    """Scores and probabilities of one partition, as ``Study.run`` gives them.

    Returns
    -------
    scores : ndarray, shape (n_learners, n_folds)
    probabilities : ndarray, shape (n_learners, n_items)
    """
    scores = np.empty((len(study.learners), study.folds))
    values = np.empty((len(study.learners), study.truth.size))
    first = next(iter(study.learners.values()))
    seed = study.partition_seed(iteration)
    splits = StratifiedKFold(study.folds, shuffle=True, random_state=seed)
    for fold, (train, test) in enumerate(splits.split(study.truth, study.truth)):
        prepare = first[:-1].fit(study.rows[train])  # the same for all learners
        rows, new = prepare.transform(study.rows[train]), prepare.transform(study.rows[test])
        for j, (name, learner) in enumerate(study.learners.items()):
            if isinstance(learner[-1], TwoClasses):  # without checks, which take longer than a fit
                values[j, test] = learner[-1].learnt(rows, study.truth[train]).positive(new)
            else:
                draw = np.random.SeedSequence([
                    study.seed, iteration, fold, int(digest_of(name), 16)
                ])  # fmt: skip
                fitted = seeded(learner[-1], draw).fit(rows, study.labels[train])
                values[j, test] = predicted(fitted, new)
            scores[j, fold] = area(values[j, test], study.truth[test])
    return scores, values


def predicted(fitted: Any, rows: FloatArray) -> FloatArray:
    """Probability of the positive class, or the decision function."""
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(rows)[:, 1])
    return np.asarray(fitted.decision_function(rows))


def area(values: FloatArray, truth: BoolArray) -> float:
    """AUROC: the share of pairs in order, ties by half."""
    low, high = np.sort(values[~truth]), values[truth]
    below = low.searchsorted(high, "left").sum() + low.searchsorted(high, "right").sum()
    return float(below / (2 * low.size * high.size))


type Job = tuple[Task, int, tuple[str, ...], int]
"""Task, folds, learners, first iteration."""


def place_of(folder: Path, job: Job) -> Path:
    """File of a job."""
    task, k, names, start = job
    return folder / f"{task.name}-{k}-{'-'.join(names)}-{start}.npz"


def run_job(folder: Path, seed: int, job: Job) -> None:
    """Iterations from one on, kept in a file, unless they are there."""
    task, k, names, start = job
    path = place_of(folder, job)
    if path.exists():
        return
    study = replace(checked_task(task, names, seed), folds=k)
    fast = config_context(assume_finite=True, skip_parameter_validation=True)
    with warnings.catch_warnings(), fast:
        warnings.simplefilter("ignore")  # of learners that do not converge, as they are
        found = [run_iteration(study, n) for n in range(start, start + CHUNK)]
    scores, values = (np.stack(part, axis=1) for part in zip(*found, strict=True))
    hidden = path.with_suffix(".part.npz")
    np.savez(hidden, scores=scores, probabilities=values)
    hidden.replace(path)


def read_jobs(folder: Path, jobs: list[Job]) -> tuple[FloatArray, FloatArray]:
    """Scores (learners, iterations, folds) and probabilities (learners, iterations, items)."""
    files = [np.load(place_of(folder, job)) for job in jobs]
    scores, values = ([f[part] for f in files] for part in ("scores", "probabilities"))
    return np.concatenate(scores, axis=1), np.concatenate(values, axis=1)


def jobs_of(task: Task, k: int, names: tuple[str, ...], iterations: int) -> list[Job]:
    """Pieces of the study, by the iteration that they begin with."""
    return [(task, k, names, start) for start in range(0, iterations, CHUNK)]


def finished(folder: Path, task: Task, k: int, names: tuple[str, ...], most: int) -> list[Job]:
    """The pieces that are kept, up to the first that is not."""
    jobs = jobs_of(task, k, names, most)
    return list(takewhile(lambda job: place_of(folder, job).exists(), jobs))


def stops_of_task(folder: Path, orders: IntArray, task_and_folds: tuple[Task, int]) -> IntArray:
    """Where rules stop the quick learners, (rules, orders, 2, learners), kept in a file."""
    task, k = task_and_folds
    path = folder / f"{task.name}-{k}-stops-{len(orders)}-{orders.shape[1]}.npy"
    if not path.exists():
        jobs = finished(folder, task, k, QUICK, orders.shape[1])
        scores, probabilities = read_jobs(folder, jobs)
        given = FoldScores(scores[None], learners=QUICK, tasks=[task.name], folds=k)
        found = [
            stops_at_both_ends(rule, given, [probabilities], orders)[:, :, 0]
            for rule in ADAPTIVE_RULES.values()
        ]
        np.save(path, np.array(found, np.uint16))
    return np.asarray(np.load(path), np.int64)


def on_test_set(task: Task, seed: int) -> tuple[FloatArray, FloatArray]:
    """AUROC of fits to all items, and its standard error beside an estimate from those items."""
    assert task.test is not None
    (rows, labels), study = task.test, checked_task(task, seed=seed)
    positive = labels == max(set(labels))
    found = np.empty(len(study.learners))
    for j, learner in enumerate(study.learners.values()):
        fitted = seeded(learner, np.random.SeedSequence([seed, j]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as cross-validation keeps them for itself
            fitted.fit(task.rows, task.labels)
        found[j] = area(predicted(fitted, rows), positive)
    n, n_trained = _class_sizes(positive), _class_sizes(study.truth)
    least = 0.5 / (n[0] * n[1])  # half a pair: a perfect AUROC is not without error
    within = np.clip(found, least, 1 - least)
    return found, np.hypot(auc_std(within, *n), auc_std(within, *n_trained))


def _class_sizes(positive: BoolArray) -> tuple[int, int]:
    return int(positive.sum()), int((~positive).sum())


def scores_of(folder: Path, task: Task, k: int, iterations: int, folds: bool = False) -> FloatArray:
    """Means, or scores of the folds, of all learners, NaN where they have fewer iterations."""
    found = np.full((len(LEARNERS), iterations, k), np.nan)
    for names in (QUICK, SLOW):
        scores, _ = read_jobs(folder, finished(folder, task, k, names, iterations))
        at = [LEARNERS.index(name) for name in names]
        found[at, : scores.shape[1]] = scores
    return found[:, :FIRST] if folds else found.mean(axis=2, keepdims=True)


def collected(
    folder: Path, tasks: list[Task], iterations: int, orderings: int, seed: int, cores: int
) -> StudyRuns:
    """What is kept in a folder, as findings need it."""
    names: dict[str, Any] = {"learners": LEARNERS, "tasks": [task.name for task in tasks]}
    orders = orders_of(iterations, orderings, seed)
    places = [(task, k) for k in FOLDS for task in tasks]
    of_each: dict[int, IntArray] = {}
    with shown_progress(len(places), "tasks and folds, of stopping rules", show=True) as advance:
        for n, found in run_each(partial(stops_of_task, folder, orders), places, cores=cores):
            of_each[n] = found
            advance()
    stops = np.zeros((len(places), len(ADAPTIVE_RULES), orderings, 2, len(LEARNERS)), np.int64)
    stops[..., [LEARNERS.index(name) for name in QUICK]] = [of_each[n] for n in sorted(of_each)]
    by_folds = np.moveaxis(stops.reshape(len(FOLDS), len(tasks), *stops.shape[1:]), 1, -2)
    truth = {task.name: on_test_set(task, seed) for task in tasks if task.test is not None}
    return StudyRuns(
        {
            k: FoldScores(np.array([scores_of(folder, t, k, iterations) for t in tasks]),
                          folds=k, **names)
            for k in FOLDS
        },
        FoldScores(np.array([scores_of(folder, t, 10, iterations, True) for t in tasks]),
                   folds=10, **names),
        orders,
        dict(zip(FOLDS, by_folds, strict=True)),
        {name: scores for name, (scores, _) in truth.items()},
        {name: errors for name, (_, errors) in truth.items()},
    )  # fmt: skip


def run(
    folder: Path, tasks: list[Task], most: dict[tuple[str, ...], int], seed: int, cores: int
) -> None:
    """Run what is not kept yet; ``most`` says how many iterations learners get."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [
        job
        for task in tasks
        for names, iterations in most.items()
        for k in FOLDS
        for job in jobs_of(task, k, names, iterations)
    ]
    with shown_progress(len(jobs), f"pieces of {CHUNK} iterations", show=True) as advance:
        for _ in run_each(partial(run_job, folder, seed), jobs, cores=cores):
            advance()


def main() -> None:
    """Run the study from where it was ended, and write its file."""
    parser = argparse.ArgumentParser(description="Run the study of repeated cross-validation.")
    parser.add_argument("--data", type=Path, help="folder of further tasks, NAME.csv")
    parser.add_argument("--kept", type=Path, required=True, help="folder of finished pieces")
    parser.add_argument("--output", type=Path, default=KEPT, help="file that findings read")
    parser.add_argument("--iterations", type=int, default=500, help="a multiple of 50")
    parser.add_argument("--slow", type=int, default=100, help=f"iterations of {', '.join(SLOW)}")
    parser.add_argument("--orderings", type=int, default=20, help="that rules are judged by")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cores", type=int, default=1)
    asked = parser.parse_args()
    tasks = read_tasks(asked.data)
    for task in tasks:
        checked_task(task)
    run(asked.kept, tasks, {QUICK: asked.iterations, SLOW: asked.slow}, asked.seed, asked.cores)
    runs = collected(asked.kept, tasks, asked.iterations, asked.orderings, asked.seed, asked.cores)
    save_runs(runs, asked.output)
    print(f"{asked.output}: {asked.output.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
