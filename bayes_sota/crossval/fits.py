"""One iteration of repeated cross-validation: every learner on every fold of one partition.

An iteration depends on the data, the learners, the seed and its number alone, so that it is the
same whichever process computes it (``tests/crossval/test_kept_iterations.py``). Its partition, that
of scikit-learn's ``StratifiedKFold`` with the seed of the iteration, is the same for all learners.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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


# Scores (learner, fold) of one partition, NaN where a fit failed; probabilities (learner, item) of
# the positive class, of several classes of the item's own, from the fit that did not see the item.
type Iteration = tuple[FloatArray, FloatArray, list[Message]]


@dataclass(eq=False)
class Study:
    """Data, learners and seed of repeated cross-validation.

    Attributes
    ----------
    learners : dict of str to estimator
    rows : array, sparse matrix, pandas or polars frame, shape (n_items, n_attributes)
    labels : ndarray, shape (n_items,)
    folds : int
    scoring : str or callable
    seed : int
    truth : ndarray of bool or int, shape (n_items,)
        Where the item is of the positive class; of several classes the place of its class.

    Raises
    ------
    InputError
        One class, fewer members of a class than folds, rows and labels of different number, missing
        labels, an unknown score.
    """

    learners: Mapping[str, Any]
    rows: Any
    labels: Any
    folds: int
    scoring: str | Callable[..., float]
    seed: int
    truth: BoolArray | IntArray = field(init=False)

    def __post_init__(self) -> None:
        """Check everything once."""
        import pandas as pd
        from sklearn.metrics import get_scorer_names

        if not isinstance(self.learners, Mapping) or not self.learners:
            problem = f"learners are a dict of their names, got {plain_text(self.learners, 40)}"
            raise InputError(problem, fix='such as {"nb": GaussianNB()}')
        self.learners = {str(name): learner for name, learner in self.learners.items()}
        for name, learner in self.learners.items():
            if isinstance(learner, type) or not hasattr(learner, "get_params"):
                problem = f"learner {quoted(name)} is not an estimator of scikit-learn"
                raise InputError(f"{problem}, got {plain_text(learner, 40)}")
        self.labels = np.asarray(self.labels)
        if hasattr(self.rows, "tocsr"):
            self.rows = self.rows.tocsr()
        elif not is_frame(self.rows):
            self.rows = np.asarray(self.rows)
        if len(self.rows.shape) != 2 or self.labels.shape != self.rows.shape[:1]:
            shapes = f"{self.rows.shape} and {self.labels.shape}"
            raise InputError(f"X is (items, attributes) and y one label per item, got {shapes}")
        if not callable(self.scoring) and self.scoring not in get_scorer_names():
            near = nearest(self.scoring, get_scorer_names(), 1)
            raise InputError(f"scikit-learn has no score {quoted(self.scoring)}{near}")
        missing = np.flatnonzero(pd.isna(self.labels))
        if missing.size:
            problem = f"the label of item {missing[0] + 1:,} is missing"
            raise InputError(f"{problem}: leave such items out")
        known, places, counts = np.unique(self.labels, return_inverse=True, return_counts=True)
        if len(known) < 2 or counts.min() < self.folds:
            classes = zip(known.tolist(), counts, strict=True)
            got = listed([f"{n:,} of {quoted(name)}" for name, n in classes])
            need = f"each of at least two classes needs {self.folds} items, one for each fold"
            raise InputError(f"{need}, got {got}: take fewer folds, or leave a class out")
        self.truth = places if len(known) > 2 else places == 1

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
                scores[j, fold], values, said = self._fit(learner, draw, places)
                probabilities[j, places[1]] = values
                messages += [Message(kind, name, iteration, fold, text) for kind, text in said]
        return scores, probabilities, messages

    def _fit(
        self, learner: Any, draw: np.random.SeedSequence, places: tuple[IntArray, IntArray]
    ) -> tuple[Any, Any, list[tuple[str, str]]]:
        """Score and values of one fit, NaN where it failed, and its messages."""
        from sklearn.metrics import check_scoring, make_scorer
        from sklearn.utils import _safe_indexing as take

        (train, test), said = places, list[tuple[str, str]]()
        score = values = np.nan
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                fitted = seeded(learner, draw).fit(take(self.rows, train), self.labels[train])
                gives_p = hasattr(fitted, "predict_proba")
                response = "predict_proba" if gives_p else "decision_function"
                own = make_scorer(_own_class, response_method=response)
                measure = check_scoring(fitted, {"values": own, "score": self.scoring})
                found = measure(fitted, take(self.rows, test), self.labels[test])  # asks it once
                if not np.isfinite(found["score"]):
                    raise ValueError(f"the score is {found['score']}")
                score, values = found["score"], found["values"]
                said += [("decision function", "")] * (not gives_p)
            except Exception as error:  # an estimator may raise anything; the others go on
                said.append(("error", _first_line(type(error), error)))
        texts = dict.fromkeys(_first_line(w.category, w.message) for w in warned)
        return score, values, said + [("warning", text) for text in texts]

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


def seeded(estimator: Any, draw: np.random.SeedSequence) -> Any:
    """A clone, of which every ``random_state`` that is None has a number of its own.

    Without that two runs would differ; a number that the user gave stays.
    """
    from sklearn.base import clone

    parameters = sorted(estimator.get_params().items())
    names = [k for k, v in parameters if v is None and k.split("__")[-1] == "random_state"]
    states = draw.generate_state(len(names)) >> 1  # 31 bits
    return clone(estimator).set_params(**dict(zip(names, states.tolist(), strict=True)))


def _own_class(labels: Any, values: FloatArray) -> FloatArray:
    """Probability of the item's own class, of several: every fold has members of all."""
    classes, own = np.unique(labels, return_inverse=True)
    if not np.isfinite(values).all() or values.shape[1:] not in ((), classes.shape):
        raise ValueError("probabilities are not finite numbers, one for each class")
    return values if values.ndim == 1 else values[np.arange(own.size), own]


def _first_line(kind: type, message: object) -> str:
    lines = [line.strip() for line in str(message).splitlines() if line.strip()]
    return plain_text(_ADDRESS.sub("", ": ".join([kind.__name__, *lines[:1]])), _LONGEST)
