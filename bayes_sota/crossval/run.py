"""Repeated cross-validation: random partitions, the same for all learners, until a rule is met.

One partition of the data gives one estimate of how good a learner is, another partition another
one. After many the mean is steady: it no longer depends on the seed (Raeder, Hoens & Chawla 2010).
It still depends on the items, of which repetition adds none.
``tests/crossval/test_run.py`` compares with scikit-learn's ``cross_validate``.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, FOLDS, ITERATIONS, check_choice, generator_of
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.text import counted
from bayes_sota.core.types import BoolArray, FloatArray, IntArray, Seed
from bayes_sota.crossval.fits import Message, Study
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import RULES, Rule, fixed

if TYPE_CHECKING:
    import xarray as xr

_KINDS = {  # of messages
    "error": "failed and were left out",
    "decision function": "gave no probabilities, for which the decision function stands",
    "warning": "warned",
}


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """Iterations of repeated cross-validation of one data set.

    Attributes
    ----------
    fold_scores : FoldScores
        One data set; larger is better; NaN where a fit failed.
    probabilities : ndarray, shape (n_learners, n_iterations, n_items)
        Probability of the positive class (with several classes, of the item's own) by the fit that
        did not see the item; the decision function for learners of which ``messages`` says so.
    truth : ndarray of bool or int, shape (n_items,)
        Where the item is of the positive class, the larger of the two labels; of several classes
        the place of the item's class among the sorted labels.
    partition_seeds : tuple of int
        ``StratifiedKFold(folds, shuffle=True, random_state=seed)`` is the partition.
    random_seed : int
    rule : str
        Name of the rule that was to be met.
    decided : bool
        Whether it was met.
    messages : tuple of Message
        Errors and warnings of fits, in order.
    """

    fold_scores: FoldScores
    probabilities: FloatArray
    truth: BoolArray | IntArray
    partition_seeds: tuple[int, ...]
    random_seed: int
    rule: str
    decided: bool
    messages: tuple[Message, ...]

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners."""
        return tuple(self.fold_scores.learners)

    @property
    def n_iterations(self) -> int:
        """Number of iterations."""
        return len(self.partition_seeds)

    @property
    def notes(self) -> tuple[str, ...]:
        """Failures, missing probabilities and warnings of fits, one sentence for each learner."""
        fits, notes = counted(self.n_iterations * self.fold_scores.folds, "fit"), []
        for (kind, happened), name in product(_KINDS.items(), self.learners):
            said = [m for m in self.messages if (m.kind, m.learner) == (kind, name)]
            if said:
                number, first = len({(m.iteration, m.fold) for m in said}), said[0]
                where = f"the first in iteration {first.iteration}, fold {first.fold}"
                text = f": {first.text}" if first.text else ""
                notes.append(f"{name}: {number:,} of {fits} {happened}, {where}{text}")
        return tuple(notes)

    def to_datatree(self) -> "xr.DataTree":
        """Scores and probabilities as ``observed_data`` of a DataTree."""
        import xarray as xr

        each = ("learner", "iteration")
        observed = {
            "fold_score": ((*each, "fold"), self.fold_scores.scores[0]),
            "probability": ((*each, "item"), self.probabilities),
        }
        constant = {
            "item_class": ("item", self.truth.astype(int)),
            "partition_seed": ("iteration", np.array(self.partition_seeds)),
        }
        data = xr.Dataset(observed, {"learner": list(self.learners)})
        tree = xr.DataTree.from_dict({"observed_data": data, "constant_data": xr.Dataset(constant)})
        tree.attrs.update(scorer=self.fold_scores.scorer, task=self.fold_scores.tasks[0])
        return tree


def runs_of_tree(tree: "xr.DataTree") -> tuple[FoldScores, FloatArray]:
    """Scores and probabilities of a result of ``bayes-sota cv run`` (``CrossValidation``).

    Raises
    ------
    InputError
        Another result.
    """
    observed = dataset_of(tree, "observed_data")
    if "fold_score" not in observed or "probability" not in observed:
        raise InputError("this is not a result that bayes-sota cv run --save FILE.nc has written")
    names, about = observed["learner"].values.tolist(), tree.attrs
    scores = observed["fold_score"].values
    found = FoldScores(scores, learners=names, tasks=[about["task"]], scorer=str(about["scorer"]))
    return found, np.asarray(observed["probability"].values, np.float64)


def repeated_cross_validation(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    scoring: str | Callable[..., float] = "roc_auc",
    iterations: int = 50,
    rule: str | Rule | Callable[[CrossValidation], bool] = "fixed",
    random_seed: Seed = DEFAULT_SEED,
    cores: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    progressbar: bool | None = None,
    task: str = "data",
) -> CrossValidation:
    """Fit and score learners on many random partitions of the same data.

    Parameters
    ----------
    estimators : dict of str to estimator
        Classifiers of scikit-learn, or of its interface; cloned for every fit. Every
        ``random_state`` that is None gets a number that depends on the seed, the learner, the
        iteration and the fold.
    X : array, sparse matrix, pandas or polars frame, shape (n_items, n_attributes)
    y : array-like, shape (n_items,)
        Labels of classes; of two the larger label is the positive class.
    folds : int
        k: each item is tested once in every iteration, by a fit to the other k - 1 parts.
        Partitions are random and stratified.
    scoring : str or callable
        A score of scikit-learn by its name, or ``scorer(estimator, X, y)``; larger is better. Of
        more than two classes such as "roc_auc_ovr" (mean AUROC of each class against the rest),
        "accuracy", "balanced_accuracy"; for unbalanced classes "balanced_accuracy" or
        "average_precision".
    iterations : int
        The number of partitions, with another rule than "fixed" the most.
    rule : "fixed", "spearman", "ks", "posterior", Rule or callable
        "fixed" runs all iterations; the others stop where they hold for all learners. A ``Rule``,
        such as ``kolmogorov_smirnov(0.1)``, has another threshold. A callable is asked after
        each iteration, in their order, whether the iterations so far (a ``CrossValidation``) are
        enough.
    random_seed : int, SeedSequence, Generator or None
        Results are the same for the same seed, whatever the number of workers; None
        draws one.
    cores : int
        Processes on this machine.
    checkpoint : path, optional
        Folder that keeps finished iterations (``joblib.Memory``); a run that was ended goes on from
        there, and gives the same bits as one that was not. Runs of other data, learners, settings
        or seeds may share it. It holds pickles, which can run any program when they are read: use
        no folder that others can write to.
    progressbar : bool, optional
        Whether to show a bar with the time left; the command line shows one on a terminal.
    task : str
        Name of the data.

    Returns
    -------
    CrossValidation

    Raises
    ------
    InputError
        One class, fewer members of a class than folds; no estimators; an unknown score or rule; a
        learner that fails in all folds of the first iteration (in
        some folds: its ``messages`` say so, and the rest is kept); with a checkpoint, a learner or
        a score that cannot be pickled, a folder that cannot be written to.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> learners = {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)}
    >>> runs = repeated_cross_validation(
    ...     learners, *load_breast_cancer(return_X_y=True), folds=2, iterations=3, random_seed=0
    ... )
    >>> runs.n_iterations, runs.rule, runs.decided
    (3, 'fixed 3', True)
    >>> runs.fold_scores.iteration_means()[0].mean(axis=1).round(2).tolist()
    [0.99, 0.92]
    """
    FOLDS.check(folds, "folds")
    ITERATIONS.check(iterations, "iterations")
    if not callable(rule):
        check_choice("rule", rule, RULES)
    chosen = rule if callable(rule) else fixed(iterations) if rule == "fixed" else RULES[rule]()
    rng = generator_of(random_seed)
    seed = random_seed if isinstance(random_seed, int) else int(rng.integers(2**63))
    study = Study(estimators, X, y, folds, scoring, seed)
    names = list(study.learners)
    scores = np.full((len(names), iterations, folds), np.nan)
    probabilities = np.full((*scores.shape[:2], study.truth.size), np.nan)
    work = study.run if checkpoint is None else study.kept_in(Path(checkpoint))
    scorer, messages = str(getattr(scoring, "__name__", scoring)), list[Message]()
    with (
        closing(run_each(work, range(iterations), cores=cores)) as coming,
        shown_progress(iterations, f"iterations of {folds} folds", show=progressbar) as advance,
    ):
        for i, done in coming:
            n = i + 1
            scores[:, i], probabilities[:, i], said = done
            if not i:
                _check_first(study, scores[:, 0], said)
            messages += said
            result = CrossValidation(
                FoldScores(scores[:, :n], learners=names, tasks=[task], scorer=scorer),
                probabilities=probabilities[:, :n],  # no copy
                truth=study.truth,
                partition_seeds=tuple(map(study.partition_seed, range(n))),
                random_seed=seed,
                rule=getattr(chosen, "name", getattr(chosen, "__name__", "rule")),
                decided=False,
                messages=tuple(messages),
            )
            # Where all iterations are asked for, those in which a learner failed count as well.
            decided = n == iterations if rule == "fixed" else bool(chosen(result))
            result = replace(result, decided=decided)
            advance()
            if decided:
                break
    return result


def _check_first(study: Study, scores: FloatArray, messages: list[Message]) -> None:
    """Refuse a learner that cannot learn from these data."""
    for name, failed in zip(study.learners, np.isnan(scores).all(axis=1), strict=True):
        if failed:
            said = next(m.text for m in messages if (m.kind, m.learner) == ("error", name))
            hint = " (of more than two classes take a score such as roc_auc_ovr or accuracy)"
            hint *= study.truth.dtype != bool
            raise InputError(f"learner {quoted(name)} failed in every fold: {said}{hint}")
