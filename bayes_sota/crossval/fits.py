"""One iteration of repeated cross-validation: every learner on every fold of one partition.

An iteration depends on the data, the learners, the seed and its number alone, so that it is the
same whichever process computes it (``tests/crossval/test_workers.py``). Its partition is the same
for all learners: that of scikit-learn's ``StratifiedKFold`` with the seed of the iteration.
"""

import pickle
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import make_directory
from bayes_sota.core.text import counted, digest_of, listed, nearest, plain_text, shown
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data.tables import is_frame

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_OF_TWO_CLASSES = ("roc_auc", "f1", "precision", "recall", "jaccard")
_LIBRARIES = ("bayes-sota", "numpy", "scipy", "scikit-learn")
_LONGEST = 200  # characters of an error


@dataclass(frozen=True)
class Message:
    """What a fit said: the error that ended it, or a warning.

    Attributes
    ----------
    kind : str
        "error", "warning", or "decision function" where there are no probabilities.
    learner : str
    iteration, fold : int
        From 0.
    text : str
        Type and first line.
    """

    kind: str
    learner: str
    iteration: int
    fold: int
    text: str


@dataclass(frozen=True, eq=False)
class Iteration:
    """What one partition gave.

    Attributes
    ----------
    scores : ndarray, shape (n_learners, n_folds)
        NaN where a fit failed.
    probabilities : ndarray, shape (n_learners, n_items)
        Of the positive class, of several classes of the item's own, from the fit that did not see
        the item.
    messages : tuple of Message
    """

    scores: FloatArray
    probabilities: FloatArray
    messages: tuple[Message, ...]


@dataclass(frozen=True, eq=False)
class Study:
    """Data, learners and seed of repeated cross-validation.

    Attributes
    ----------
    learners : dict of str to estimator
    rows : array, sparse matrix, pandas or polars frame, shape (n_items, n_attributes)
    truth : ndarray of bool or int, shape (n_items,)
        Where the item is of the positive class; of several classes the place of its class.
    labels : ndarray, shape (n_items,)
        As given.
    folds : int
    scoring : str or callable
    seed : int

    Raises
    ------
    InputError
        One class, fewer members of a class than folds, rows and labels of different number, missing
        labels, a score of two classes for more, no learners, objects that are no estimators.
    """

    learners: Mapping[str, Any]
    rows: Any
    truth: BoolArray | IntArray
    labels: Any
    folds: int
    scoring: str | Callable[..., float]
    seed: int

    def partition_seed(self, iteration: int) -> int:
        """The ``random_state`` of the iteration's ``StratifiedKFold``."""
        return int(np.random.SeedSequence([self.seed, iteration]).generate_state(1)[0])

    def partition(self, iteration: int) -> Iterator[tuple[IntArray, IntArray]]:
        """Training and test items of each fold."""
        from sklearn.model_selection import StratifiedKFold

        seed = self.partition_seed(iteration)
        splits = StratifiedKFold(self.folds, shuffle=True, random_state=seed)
        return iter(splits.split(np.zeros(self.truth.size), self.truth))

    def run(self, iteration: int) -> Iteration:
        """Fit and score every learner on every fold."""
        scores = np.full((len(self.learners), self.folds), np.nan)
        probabilities = np.full((len(self.learners), self.truth.size), np.nan)
        messages: list[Message] = []
        for fold, places in enumerate(self.partition(iteration)):
            for j, name in enumerate(self.learners):
                own = int(digest_of(name), 16)  # whoever else takes part
                draw = np.random.SeedSequence([self.seed, iteration, fold, own])
                scores[j, fold], probabilities[j, places[1]], said = self._fitted(
                    name, draw, places
                )
                messages += [Message(kind, name, iteration, fold, text) for kind, text in said]
        return Iteration(scores, probabilities, tuple(messages))

    def _fitted(
        self, name: str, draw: np.random.SeedSequence, places: tuple[IntArray, IntArray]
    ) -> tuple[float, FloatArray | float, list[tuple[str, str]]]:
        """Score and probabilities of one fit, NaN where it failed, and what it said."""
        from sklearn.metrics import check_scoring, make_scorer
        from sklearn.model_selection import cross_validate

        said = list[tuple[str, str]]()
        tested: dict[str, Any] = {"score": np.nan, "values": np.nan}

        def measure(fitted: Any, rows: Any, labels: Any) -> float:
            response = "predict_proba" if hasattr(fitted, "predict_proba") else "decision_function"
            if not hasattr(fitted, response):
                raise TypeError("it has neither predict_proba nor decision_function")
            values = make_scorer(_finite, response_method=response, response=response)
            both = {"values": values, "score": self.score}  # an estimator is asked once
            found = check_scoring(fitted, both)(fitted, rows, labels)
            if not np.isfinite(found["score"]):
                raise ValueError(f"the score is {found['score']}")
            tested.update(found)
            if response == "decision_function":
                said.append((response.replace("_", " "), ""))
            return float(found["score"])

        once: Any = {"cv": [places], "scoring": measure, "error_score": "raise"}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                learner = seeded(self.learners[name], draw)
                cross_validate(learner, self.rows, self.labels, **once)
            except Exception as error:  # an estimator may raise anything; the others go on
                said.append(("error", _first_line(type(error), error)))
        texts = dict.fromkeys(_first_line(w.category, w.message) for w in warned)
        said += [("warning", text) for text in texts]
        return tested["score"], tested["values"], said

    @property
    def scorer(self) -> str:
        """Name of the score."""
        return self.scoring if isinstance(self.scoring, str) else self.scoring.__name__

    @cached_property
    def score(self) -> Callable[..., float]:
        """The scorer itself."""
        from sklearn.metrics import get_scorer

        scorer: Callable[..., float]
        scorer = self.scoring if callable(self.scoring) else get_scorer(self.scoring)
        return scorer

    def kept_in(self, folder: Path) -> Callable[[int], Iteration]:
        """``run``, which keeps what it returned in a folder, and reads it there the next time.

        joblib finds an iteration by a digest of all that it depends on: the data, the learners, the
        settings, the seed, and the versions of the libraries.

        Raises
        ------
        InputError
            A learner or a score that cannot be pickled, a folder that cannot be written to.
        """
        from joblib import Memory, hash

        make_directory(folder)
        versions = [version(name) for name in _LIBRARIES]
        parts = [[*self.learners.items()], self.rows, self.labels, self.scoring, versions]
        try:
            key = hash([*parts, self.folds, self.seed])
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            problem = "iterations cannot be kept: a learner or the score cannot be pickled"
            fix = f"({plain_text(error, _LONGEST)}); define it in a module of its own"
            raise InputError(f"{problem} {fix}") from None
        return partial(Memory(folder, verbose=0).cache(_run_iteration, ignore=["study"]), key, self)


def _run_iteration(key: str, study: Study, iteration: int) -> Iteration:
    """An iteration of the study that the key stands for."""
    return study.run(iteration)


def checked_study(
    estimators: Mapping[str, Any],
    rows: Any,
    labels: Any,
    *,
    folds: int,
    scoring: str | Callable[..., float],
    seed: int,
) -> Study:
    """The study, if it can be run; errors as ``Study`` says."""
    from sklearn.metrics import get_scorer_names

    classes = np.asarray(labels)
    table = rows.tocsr() if hasattr(rows, "tocsr") else rows if is_frame(rows) else np.asarray(rows)
    if len(table.shape) != 2 or classes.shape != table.shape[:1]:
        raise InputError(
            "X is a table of items and attributes and y one label per item, got the shapes "
            f"{table.shape} and {classes.shape}"
        )
    if not callable(scoring) and scoring not in get_scorer_names():
        near = nearest(scoring, get_scorer_names(), 1)
        raise InputError(f"there is no score {shown(scoring)}{near}")
    learners = _checked_learners(estimators)
    truth = _checked_classes(classes, folds)
    if truth.dtype != bool and scoring in _OF_TWO_CLASSES:
        raise InputError(
            f"the score {shown(scoring)} is of two classes, and labels are of {truth.max() + 1}: "
            "roc_auc_ovr (one class against the rest), accuracy or balanced_accuracy would do"
        )
    return Study(learners, table, truth, classes, folds, scoring, seed)


def _checked_classes(labels: Any, folds: int) -> BoolArray | IntArray:
    """Where a label is the larger of two, or places of classes; each has a member per fold."""
    missing = np.flatnonzero(labels != labels)
    if missing.size:
        raise InputError(f"the label of item {missing[0] + 1:,} is missing: leave such items out")
    try:
        classes, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    except TypeError:
        raise InputError("labels are of one type, and none is missing") from None
    names = [shown(label).removesuffix(".0") for label in classes.tolist()]
    if len(names) < 2:
        raise InputError(f"labels are of at least two classes, got {listed(names)}")
    rare = counts.argmin()
    if counts[rare] < folds:
        raise InputError(
            f"class {names[rare]} has {counted(counts[rare], 'member')}, fewer than the {folds} "
            "folds: take fewer folds, or leave the class out"
        )
    return places if len(names) > 2 else places == 1


def _checked_learners(estimators: Any) -> dict[str, Any]:
    from sklearn.base import clone

    if not isinstance(estimators, Mapping) or not estimators:
        raise InputError("estimators are a dict of names and scikit-learn estimators")
    learners = {str(name): learner for name, learner in estimators.items()}
    if len(learners) < len(estimators):
        raise InputError("two learners have the same name")
    for name, estimator in learners.items():
        try:
            clone(estimator)
        except TypeError:
            problem = f"is no scikit-learn estimator: {shown(estimator)}"
            raise InputError(f"learner {shown(name)} {problem}") from None
    return learners


def seeded(estimator: Any, draw: np.random.SeedSequence) -> Any:
    """A clone, of which every ``random_state`` that is None has a number of its own.

    Without that two runs would differ; a number that the user gave stays.
    """
    from sklearn.base import clone

    names = sorted(
        name
        for name, value in estimator.get_params().items()
        if value is None and name.rpartition("__")[2] == "random_state"
    )
    states = draw.generate_state(len(names)) >> 1  # 31 bits
    return clone(estimator).set_params(**dict(zip(names, states.tolist(), strict=True)))


def _finite(labels: Any, values: FloatArray, response: str) -> FloatArray:
    """Of several classes that of the item's own: every fold has members of all."""
    if not np.isfinite(values).all():
        raise ValueError(f"{response} gave numbers that are not finite")
    if values.ndim == 1:
        return values
    classes, own = np.unique(labels, return_inverse=True)
    if values.shape[1] != classes.size:
        raise ValueError(f"{response} gave {values.shape[1]} columns for {classes.size} classes")
    chosen: FloatArray = np.take_along_axis(values, own[:, None], axis=1)[:, 0]
    return chosen


def _first_line(kind: type, message: object) -> str:
    lines = [line.strip() for line in str(message).splitlines() if line.strip()]
    name = kind.__name__
    return plain_text(f"{name}: {_ADDRESS.sub('', lines[0])}" if lines else name, _LONGEST)
