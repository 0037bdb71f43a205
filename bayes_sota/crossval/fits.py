"""One iteration of repeated cross-validation: every learner on every fold of one partition.

An iteration depends on the data, the learners, the seed and its number alone, so that it is the
same whichever process computes it (``tests/crossval/test_kept_iterations.py``). Its partition, that
of scikit-learn's ``StratifiedKFold`` with the seed of the iteration, is the same for all learners.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.files import make_directory
from bayes_sota.core.text import digest_of, listed, nearest, plain_text
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data.tables import is_frame

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_STATE = re.compile(r"(^|__)random_state$")
_LIBRARIES = ("bayes-sota", "numpy", "scipy", "scikit-learn")
_LONGEST = 200  # characters of an error


class Message(NamedTuple):
    """An error that ended a fit, a warning, or a note that there are no probabilities.

    Attributes
    ----------
    kind : str
        "error", "warning", or "decision function".
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


class Iteration(NamedTuple):
    """Results of one partition.

    Attributes
    ----------
    scores : ndarray, shape (n_learners, n_folds)
        NaN where a fit failed.
    probabilities : ndarray, shape (n_learners, n_items)
        Of the positive class, of several classes of the item's own, from the fit that did not see
        the item.
    messages : list of Message
    """

    scores: FloatArray
    probabilities: FloatArray
    messages: list[Message]


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

    def run(self, iteration: int) -> Iteration:
        """Fit and score every learner on every fold."""
        from sklearn.model_selection import StratifiedKFold

        seed = self.partition_seed(iteration)
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=seed)
        scores = np.full((len(self.learners), self.folds), np.nan)
        probabilities = np.full((len(self.learners), self.truth.size), np.nan)
        messages: list[Message] = []
        for fold, places in enumerate(folds.split(self.truth, self.truth)):
            for j, (name, learner) in enumerate(self.learners.items()):
                own = int(digest_of(name), 16)  # whoever else takes part
                draw = np.random.SeedSequence([self.seed, iteration, fold, own])
                found, said = self._fit(learner, draw, places)
                scores[j, fold], probabilities[j, places[1]] = found["score"], found["values"]
                messages += [Message(kind, name, iteration, fold, text) for kind, text in said]
        return Iteration(scores, probabilities, messages)

    def _fit(
        self, learner: Any, draw: np.random.SeedSequence, places: tuple[IntArray, IntArray]
    ) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """Score and values of one fit, NaN where it failed, and its messages."""
        from sklearn.metrics import check_scoring, get_scorer, make_scorer
        from sklearn.model_selection import cross_validate

        said, found = list[tuple[str, str]](), dict[str, Any](score=np.nan, values=np.nan)
        score = self.scoring if callable(self.scoring) else get_scorer(self.scoring)

        def measure(fitted: Any, rows: Any, labels: Any) -> float:
            response = "predict_proba" if hasattr(fitted, "predict_proba") else "decision_function"
            both = {"values": make_scorer(_own_class, response_method=response), "score": score}
            found.update(check_scoring(fitted, both)(fitted, rows, labels))  # which asks it once
            if not np.isfinite(found["score"]):
                raise ValueError(f"the score is {found['score']}")
            if response == "decision_function":
                said.append(("decision function", ""))
            return float(found["score"])

        once: Any = {"cv": [places], "scoring": measure, "error_score": "raise"}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                cross_validate(seeded(learner, draw), self.rows, self.labels, **once)
            except Exception as error:  # an estimator may raise anything; the others go on
                said.append(("error", _first_line(type(error), error)))
                found.update(score=np.nan, values=np.nan)
        texts = dict.fromkeys(_first_line(w.category, w.message) for w in warned)
        return found, said + [("warning", text) for text in texts]

    def kept_in(self, folder: Path) -> Callable[[int], Iteration]:
        """``run``, which keeps its results in a folder, and reads them there the next time.

        joblib finds an iteration by a digest of all that it depends on: the data, the learners, the
        settings, the seed, and the versions of the libraries.

        Raises
        ------
        InputError
            A folder that cannot be written to.
        PicklingError
            A learner or a score that cannot be pickled, such as a class of a notebook.
        """
        from joblib import Memory, hash

        make_directory(folder)
        parts = [[*self.learners.items()], self.rows, self.labels, self.scoring]
        key = hash([*parts, [*map(version, _LIBRARIES)], self.folds, self.seed])
        return partial(Memory(folder, verbose=0).cache(_run_iteration, ignore=["study"]), key, self)


def _run_iteration(key: str, study: Study, iteration: int) -> Iteration:
    """An iteration of the study that the key stands for."""
    return study.run(iteration)


def checked_study(
    estimators: Any,
    rows: Any,
    labels: Any,
    *,
    folds: int,
    scoring: str | Callable[..., float],
    seed: int,
) -> Study:
    """The study, if it can be run.

    Raises
    ------
    InputError
        One class, fewer members of a class than folds, rows and labels of different number, missing
        labels, an unknown score.
    """
    from sklearn.metrics import get_scorer_names

    classes = np.asarray(labels)
    table = rows.tocsr() if hasattr(rows, "tocsr") else rows if is_frame(rows) else np.asarray(rows)
    if len(table.shape) != 2 or classes.shape != table.shape[:1]:
        shapes = f"{table.shape} and {classes.shape}"
        raise InputError(f"X is (items, attributes) and y one label per item, got {shapes}")
    if not callable(scoring) and scoring not in get_scorer_names():
        near = nearest(scoring, get_scorer_names(), 1)
        raise InputError(f"there is no score {quoted(scoring)}{near}")
    missing = np.flatnonzero(classes != classes)
    if missing.size:
        raise InputError(f"the label of item {missing[0] + 1:,} is missing: leave such items out")
    known, places, counts = np.unique(classes, return_inverse=True, return_counts=True)
    if len(known) < 2 or counts.min() < folds:
        got = [f"{n:,} of {quoted(name)}" for name, n in zip(known.tolist(), counts, strict=True)]
        raise InputError(
            f"each of at least two classes needs {folds} items, one for each fold, got "
            f"{listed(got)}: take fewer folds, or leave a class out"
        )
    learners = {str(name): learner for name, learner in estimators.items()}
    truth = places if len(known) > 2 else places == 1
    return Study(learners, table, truth, classes, folds, scoring, seed)


def seeded(estimator: Any, draw: np.random.SeedSequence) -> Any:
    """A clone, of which every ``random_state`` that is None has a number of its own.

    Without that two runs would differ; a number that the user gave stays.
    """
    from sklearn.base import clone

    parameters = sorted(estimator.get_params().items())
    names = [key for key, value in parameters if value is None and _STATE.search(key)]
    states = draw.generate_state(len(names)) >> 1  # 31 bits
    return clone(estimator).set_params(**dict(zip(names, states.tolist(), strict=True)))


def _own_class(labels: Any, values: FloatArray) -> FloatArray:
    """Of several classes that of the item's own: every fold has members of all."""
    classes, own = np.unique(labels, return_inverse=True)
    if not np.isfinite(values).all() or values.shape[1:] not in ((), classes.shape):
        raise ValueError("probabilities are not finite numbers, one for each class")
    return values if values.ndim == 1 else values[np.arange(own.size), own]


def _first_line(kind: type, message: object) -> str:
    lines = [line.strip() for line in str(message).splitlines() if line.strip()]
    return plain_text(_ADDRESS.sub("", ": ".join([kind.__name__, *lines[:1]])), _LONGEST)
