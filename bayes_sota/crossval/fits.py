"""One iteration of repeated cross-validation: every learner on every fold of one partition.

An iteration depends on the data, the learners, the seed and its number alone, so that it is the
same whichever process computes it (``tests/crossval/test_workers.py``). Its partition is the same
for all learners: that of scikit-learn's ``StratifiedKFold`` with the seed of the iteration.
"""

import pickle
import re
import warnings
from collections import Counter
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
_RESPONSES = ("predict_proba", "decision_function")
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
    number : int
        From 0.
    scores : ndarray, shape (n_learners, n_folds)
        NaN where a fit failed.
    probabilities : ndarray, shape (n_learners, n_items)
        Of the positive class, of several classes of the item's own, from the fit that did not see
        the item.
    messages : tuple of Message
    """

    number: int
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
        return Iteration(iteration, scores, probabilities, tuple(messages))

    def _fitted(
        self, name: str, draw: np.random.SeedSequence, places: tuple[IntArray, IntArray]
    ) -> tuple[float, FloatArray | float, list[tuple[str, str]]]:
        """Score and probabilities of one fit, NaN where it failed, and what it said."""
        from sklearn.model_selection import cross_validate

        said = list[tuple[str, str]]()
        tested: dict[str, Any] = {"score": np.nan, "values": np.nan}

        def measure(fitted: Any, rows: Any, labels: Any) -> float:
            tested.update(self._scored(fitted, rows, labels))
            if not hasattr(fitted, "predict_proba"):
                said.append(("decision function", ""))
            return float(tested["score"])

        once: Any = {"cv": [places], "scoring": measure, "error_score": "raise"}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                learner = seeded(self.learners[name], self.without_state[name], draw)
                cross_validate(learner, self.rows, self.labels, **once)
            except Exception as error:  # an estimator may raise anything; the others go on
                said.append(("error", _first_line(type(error).__name__, error)))
        texts = (_first_line(w.category.__name__, w.message) for w in warned)
        said += [("warning", text) for text in dict.fromkeys(texts)]
        return tested["score"], tested["values"], said

    def _scored(self, fitted: Any, rows: Any, labels: Any) -> dict[str, Any]:
        """Score and probabilities of test items, for which an estimator is asked once."""
        from sklearn.metrics import check_scoring, make_scorer

        response = next((name for name in _RESPONSES if hasattr(fitted, name)), None)
        if response is None:
            raise TypeError("it has neither predict_proba nor decision_function")
        values = make_scorer(_finite, response_method=response, response=response)
        measure = check_scoring(fitted, {"values": values, "score": self.score})
        tested: dict[str, Any] = measure(fitted, rows, labels)
        if not np.isfinite(tested["score"]):
            raise ValueError(f"the score is {tested['score']}")
        return tested

    @property
    def scorer(self) -> str:
        """Name of the score, without addresses of this process."""
        if isinstance(self.scoring, str):
            return self.scoring
        name = getattr(self.scoring, "__qualname__", None)
        if name is None:
            return _ADDRESS.sub("", " ".join(repr(self.scoring).split()))
        return f"{self.scoring.__module__}.{name}"

    @cached_property
    def score(self) -> Callable[..., float]:
        """The scorer itself."""
        return scorer_of(self.scoring)

    @cached_property
    def without_state(self) -> dict[str, list[str]]:
        """Every ``random_state`` of each learner that is None."""
        return {
            name: sorted(
                parameter
                for parameter, value in learner.get_params().items()
                if value is None and parameter.rpartition("__")[2] == "random_state"
            )
            for name, learner in self.learners.items()
        }

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
        versions = {name: version(name) for name in _LIBRARIES}
        parts = [list(self.learners.items()), self.rows, self.labels, self.scoring, versions]
        try:
            key = hash([*parts, self.folds, self.seed])
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            reason = plain_text(f"{error}", _LONGEST)
            raise InputError(
                f"iterations cannot be kept: a learner or the score cannot be pickled ({reason}); "
                "define it in a module of its own"
            ) from None
        kept = Memory(folder, verbose=0).cache(_run_iteration, ignore=["study"])
        return partial(kept, key, self)


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
    classes = np.asarray(labels)
    table = rows if is_frame(rows) or hasattr(rows, "tocsr") else np.asarray(rows)
    table = table.tocsr() if hasattr(table, "tocsr") else table
    if len(table.shape) != 2 or classes.ndim != 1:
        raise InputError(
            "X is a table of items and attributes and y one label per item, got the shapes "
            f"{table.shape} and {classes.shape}"
        )
    if table.shape[0] != classes.size:
        raise InputError(f"X has {table.shape[0]:,} items, y has {classes.size:,} labels")
    _check_learners(estimators)
    scorer_of(scoring)
    learners = {str(name): learner for name, learner in estimators.items()}
    truth = _checked_classes(classes, folds)
    if truth.dtype != bool and scoring in _OF_TWO_CLASSES:
        raise InputError(
            f"the score {shown(scoring)} is of two classes, and labels are of {truth.max() + 1}: "
            "roc_auc_ovr (one class against the rest), accuracy or balanced_accuracy would do"
        )
    return Study(learners, table, truth, classes, folds, scoring, seed)


def _checked_classes(labels: Any, folds: int) -> BoolArray | IntArray:
    """Where a label is the larger of two, or places of classes; each has a member per fold."""
    missing = [i for i, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise InputError(f"the label of item {missing[0] + 1:,} is missing: leave such items out")
    counts = Counter(labels.tolist())
    if len(counts) < 2:
        some = listed(list(map(_named, counts))) or "none"
        count = counted(len(counts), "class", "classes")
        raise InputError(f"labels are of at least two classes, got {count}: {some}")
    rare, members = min(counts.items(), key=lambda pair: pair[1])
    if members < folds:
        hint = "" if members > 1 else ", which is no partition"
        hint += "; or leave the class out" if len(counts) > 2 else ""
        raise InputError(
            f"class {_named(rare)} has {counted(members, 'member')}, fewer than the {folds} folds: "
            f"folds can be at most {members}{hint}"
        )
    try:
        classes = sorted(counts)
    except TypeError:
        some = listed(list(map(_named, counts)))
        raise InputError(f"labels are of one type, got {some}") from None
    place = {label: number for number, label in enumerate(classes)}
    places = np.array([place[label] for label in labels.tolist()])
    return places if len(classes) > 2 else places == 1


def _named(label: Any) -> str:
    """A class as people write it: 0 for 0.0."""
    whole = isinstance(label, float) and label.is_integer()
    return shown(int(label) if whole else label)


def _check_learners(estimators: Any) -> None:
    from sklearn.base import clone

    if not isinstance(estimators, Mapping) or not estimators:
        raise InputError("estimators are a dict of names and scikit-learn estimators")
    names = [str(name) for name in estimators]
    if len(set(names)) < len(names):
        raise InputError("two learners have the same name")
    for name, estimator in estimators.items():
        try:
            if isinstance(estimator, type) or not hasattr(clone(estimator), "fit"):
                raise TypeError
        except TypeError:
            raise InputError(
                f"learner {shown(name)} is no scikit-learn estimator: {shown(estimator)}"
            ) from None


def scorer_of(scoring: str | Callable[..., float]) -> Callable[..., float]:
    """Scorer of scikit-learn by its name; a callable ``scorer(estimator, X, y)`` is one itself.

    Examples
    --------
    >>> scorer_of("roc_auk")
    Traceback (most recent call last):
    bayes_sota.core.errors.InputError: there is no score 'roc_auk'; did you mean 'roc_auc'?
    """
    from sklearn.metrics import get_scorer, get_scorer_names

    names = get_scorer_names()
    if not callable(scoring) and scoring not in names:
        raise InputError(f"there is no score {shown(scoring)}{nearest(scoring, names, 1)}")
    scorer: Callable[..., float] = scoring if callable(scoring) else get_scorer(scoring)
    return scorer


def seeded(estimator: Any, names: list[str], draw: np.random.SeedSequence) -> Any:
    """A clone, whose parameters of these names, its random states, have numbers of their own.

    Without that two runs would differ; a number that the user gave stays.
    """
    from sklearn.base import clone

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


def _first_line(kind: str, message: object) -> str:
    lines = [line.strip() for line in str(message).splitlines() if line.strip()]
    return plain_text(f"{kind}: {_ADDRESS.sub('', lines[0])}" if lines else kind, _LONGEST)
