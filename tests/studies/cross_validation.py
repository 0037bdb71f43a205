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
import json
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
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
from sklearn.neural_network import MLPClassifier

from bayes_sota.auc.estimate import auc_std
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.crossval.fits import Study, checked_study, seeded
from bayes_sota.crossval.learners import named_learners, prepared
from bayes_sota.data.fold_scores import FoldScores

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
    own = study_learners(names).items()
    learners = {name: prepared(learner, task.categories) for name, learner in own}
    try:
        return checked_study(
            learners, task.rows, task.labels, folds=max(FOLDS), scoring="roc_auc", seed=seed
        )
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
    for fold, (train, test) in enumerate(study.partition(iteration)):
        prepare = first[:-1].fit(study.rows[train])  # the same for all learners
        rows, new = prepare.transform(study.rows[train]), prepare.transform(study.rows[test])
        for j, (name, learner) in enumerate(study.learners.items()):
            if isinstance(learner[-1], TwoClasses):  # without checks, which take longer than a fit
                values[j, test] = learner[-1].learnt(rows, study.truth[train]).positive(new)
            else:
                draw = np.random.SeedSequence([
                    study.seed, iteration, fold, int(digest_of(name), 16)
                ])  # fmt: skip
                states = [state.rpartition("__")[2] for state in study.without_state[name]]
                fitted = seeded(learner[-1], states, draw).fit(rows, study.labels[train])
                values[j, test] = predicted(fitted, new)
            scores[j, fold] = area(values[j, test], study.truth[test])
    return scores, values


def predicted(fitted: Any, rows: FloatArray) -> FloatArray:
    """Probability of the positive class, or the decision function."""
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(rows)[:, 1])
    return np.asarray(fitted.decision_function(rows))


def area(values: FloatArray, truth: BoolArray) -> float:
    """AUROC: the share of pairs in order, ties by half; ``pooled_score`` without its checks."""
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


def stops_of_task(folder: Path, seed: int, orderings: int, jobs: list[Job]) -> None:
    """Where the rules stop each learner on a task, kept in a file, (rules, orders, 2, learners)."""
    task, k, names, _ = jobs[0]
    path = folder / f"{task.name}-{k}-stops-{orderings}-{CHUNK * len(jobs)}.npy"
    if path.exists():
        return
    values, items = read_jobs(folder, jobs)
    scores = FoldScores(values[None], learners=names, tasks=[task.name], folds=k)
    orders = orders_of(values.shape[1], orderings, seed)
    found = [
        stops_at_both_ends(rule, scores, items, orders)[:, :, 0] for rule in ADAPTIVE_RULES.values()
    ]
    np.save(path, np.array(found, np.uint16))
