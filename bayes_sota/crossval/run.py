"""Repeated cross-validation: random partitions, the same for all learners, until a rule is met.

An iteration depends on the data, the learners, the seed and its number alone,
whichever process computes it (``tests/crossval/test_kept_iterations.py``).
``tests/crossval/test_run.py`` compares with scikit-learn's ``cross_validate``.

Categories of a file become columns of 0 and 1, missing numbers the median, and numbers are
standardised, by the training items of each fold (``test_learners.py``).
"""

import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, FOLDS, ITERATIONS, check_choice, generator_of
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.files import make_directory
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.text import counted, digest_of, listed, nearest, plain_text
from bayes_sota.core.types import BoolArray, FloatArray, IntArray, Seed
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import RULES, Rule, fixed
from bayes_sota.data.reading import read_table
from bayes_sota.data.tables import describe_parts, is_frame
from bayes_sota.data.words import place_in

if TYPE_CHECKING:
    import xarray as xr

_KINDS = {  # of messages
    "error": "failed and were left out",
    "decision function": "gave no probabilities, for which the decision function stands",
    "warning": "warned",
}
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LIBRARIES = ("bayes-sota", "numpy", "scipy", "scikit-learn")
_LONGEST = 200  # characters of an error


class Message(NamedTuple):
    """Message of a fit; ``kind`` is "error", "warning" or "decision function"."""

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
    """Data, learners and seed of repeated cross-validation; ``truth`` as in ``CrossValidation``."""

    learners: Mapping[str, Any]
    rows: Any
    labels: Any
    folds: int
    scoring: str | Callable[..., float]
    seed: int
    truth: BoolArray | IntArray = field(init=False)

    def __post_init__(self) -> None:
        import pandas as pd
        from sklearn.metrics import get_scorer_names

        if not isinstance(self.learners, Mapping) or not self.learners:
            problem = f"learners must be a dict by name, got {plain_text(self.learners, 40)}"
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
            raise InputError(f"X must be (items, attributes), y one label per item, got {shapes}")
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
        """``run`` with results kept by joblib, under a digest of all that they depend on."""
        from joblib import Memory, hash

        make_directory(folder)
        parts = [[*self.learners.items()], self.rows, self.labels, self.scoring]
        key = hash([*parts, [*map(version, _LIBRARIES)], self.folds, self.seed])
        return partial(Memory(folder, verbose=0).cache(_run_iteration, ignore=["study"]), key, self)


def _run_iteration(key: str, study: Study, iteration: int) -> Iteration:
    return study.run(iteration)


def seeded(estimator: Any, draw: np.random.SeedSequence) -> Any:
    """A clone in which every ``random_state`` that is None has a number of its own."""
    from sklearn.base import clone

    parameters = sorted(estimator.get_params().items())
    names = [k for k, v in parameters if v is None and k.split("__")[-1] == "random_state"]
    states = draw.generate_state(len(names)) >> 1  # 31 bits
    return clone(estimator).set_params(**dict(zip(names, states.tolist(), strict=True)))


def _own_class(labels: Any, values: FloatArray) -> FloatArray:
    """Probability of the item's own class; every fold has members of all."""
    classes, own = np.unique(labels, return_inverse=True)
    if not np.isfinite(values).all() or values.shape[1:] not in ((), classes.shape):
        raise ValueError("probabilities are not finite numbers, one for each class")
    return values if values.ndim == 1 else values[np.arange(own.size), own]


def _first_line(kind: type, message: object) -> str:
    lines = [line.strip() for line in str(message).splitlines() if line.strip()]
    return plain_text(_ADDRESS.sub("", ": ".join([kind.__name__, *lines[:1]])), _LONGEST)


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """Iterations of repeated cross-validation of one data set.

    Attributes
    ----------
    fold_scores : FoldScores
        Larger is better; NaN where a fit failed.
    probabilities : ndarray, shape (n_learners, n_iterations, n_items)
        Probability of the positive class (of several, of the item's own) by the fit that did not
        see the item; the decision function for learners of which ``messages`` says so.
    truth : ndarray of bool or int, shape (n_items,)
        Whether the item is of the positive class, the larger of the two labels; of several classes
        the position of the item's class among the sorted labels.
    partition_seeds : tuple of int
        ``StratifiedKFold(folds, shuffle=True, random_state=seed)`` is the partition.
    decided : bool
        Whether the rule was met.
    random_seed, rule, messages
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
        return tuple(self.fold_scores.learners)

    @property
    def n_iterations(self) -> int:
        return len(self.partition_seeds)

    @property
    def notes(self) -> tuple[str, ...]:
        """Failures, missing probabilities and warnings of fits, a sentence for each learner."""
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
    """Scores and probabilities of a result of ``bayes-sota cv run``; ``InputError`` for others."""
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
        Classifiers with scikit-learn's interface, cloned for every fit; a ``random_state`` of None
        comes from the seed.
    X : array, sparse matrix, pandas or polars frame, shape (n_items, n_attributes)
    y : array-like, shape (n_items,)
        Labels of classes; of two the larger label is the positive class.
    folds : int
        k, of random stratified partitions.
    scoring : str or callable
        A score of scikit-learn by its name, or ``scorer(estimator, X, y)``; larger is better.
    iterations : int
        Partitions, at most.
    rule : "fixed", "spearman", "ks", "posterior", Rule or callable
        "fixed" runs all iterations; the others stop where they hold for all learners. A callable
        gets the iterations so far, a ``CrossValidation``, and returns whether they are enough.
    random_seed : int, SeedSequence, Generator or None
    cores : int
        Results do not depend on it.
    checkpoint : path, optional
        Folder that keeps finished iterations (``joblib.Memory``), from which a run continues. It
        holds pickles: use no folder that others can write to.
    progressbar : bool, optional
    task : str
        Name of the data.

    Returns
    -------
    CrossValidation

    Raises
    ------
    InputError
        One class, fewer members of a class than folds; no estimators; an unknown score or rule; a
        learner that fails in all folds of the first iteration; a folder that cannot be written to.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> data = load_breast_cancer(return_X_y=True)
    >>> runs = repeated_cross_validation({"nb": GaussianNB()}, *data, folds=2, iterations=3)
    >>> runs.n_iterations, runs.rule, runs.decided
    (3, 'fixed 3', True)
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
    for name, failed in zip(study.learners, np.isnan(scores).all(axis=1), strict=True):
        if failed:
            said = next(m.text for m in messages if (m.kind, m.learner) == ("error", name))
            hint = " (of more than two classes take a score such as roc_auc_ovr or accuracy)"
            hint *= study.truth.dtype != bool
            raise InputError(f"learner {quoted(name)} failed in every fold: {said}{hint}")


_LAYERS = {"hidden_layer_sizes": (30, 30, 30), "max_iter": 500}
LEARNERS: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "nb": ("naive_bayes", "GaussianNB", {}),
    "5nn": ("neighbors", "KNeighborsClassifier", {"n_neighbors": 5}),
    "tree": ("tree", "DecisionTreeClassifier", {"criterion": "entropy", "min_samples_leaf": 2}),
    "svm": ("svm", "SVC", {"kernel": "linear"}),
    "mlp": ("neural_network", "MLPClassifier", _LAYERS),
    "logistic": ("linear_model", "LogisticRegression", {"max_iter": 1000}),
    "forest": ("ensemble", "RandomForestClassifier", {}),
}
"""Names of learners: module, class and settings in scikit-learn."""


def named_learners(names: Iterable[str], categories: Iterable[int] = ()) -> dict[str, Any]:
    """Learners by their names in ``LEARNERS``; ``categories`` are columns of codes of words.

    Examples
    --------
    >>> list(named_learners(["nb", "tree"]))
    ['nb', 'tree']
    """
    made = dict[str, Any]()
    for name in names:
        check_choice("learners", name, LEARNERS)
        module, kind, settings = LEARNERS[name]
        learner = getattr(import_module(f"sklearn.{module}"), kind)
        made[name] = prepared(learner(**settings), list(categories))
    return made


def prepared(learner: Any, categories: list[int]) -> Any:
    """Pipeline of imputation, scaling, coding of categories, and a learner."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    numbers = SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    if not categories:  # a ColumnTransformer takes longer than many fits, and gives the same bits
        return make_pipeline(FunctionTransformer(np.asfortranarray), *numbers, learner)
    coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [("categories", coded, categories)]
    return make_pipeline(ColumnTransformer(parts, remainder=make_pipeline(*numbers)), learner)


class Items(NamedTuple):
    """Items of a table: ``attributes`` (n_items, n_attributes), ``labels`` (n_items,).

    Missing numbers are NaN; columns of words are codes, and ``categories`` are their positions.
    ``sentence`` says which columns were read.
    """

    attributes: FloatArray
    labels: Any
    categories: list[int]
    sentence: str


def read_task(
    source: str | os.PathLike[str] | Any,
    target: str | None = None,
    use: Sequence[str] = (),
    leave_out: Sequence[str] = (),
) -> Items:
    """Attributes and labels of a table of items, for ``repeated_cross_validation``.

    Parameters
    ----------
    source : path or data frame
        One row per item.
    target : str, optional
        Column of the labels; default the one named label, target, y, ...
    use, leave_out : sequence of str
        Columns that are attributes (default all others), and columns that are none.

    Raises
    ------
    InputError
        No such column, no attributes, a missing label, a word among numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1, 2], "kind": ["a", "b"], "y": [0, 1]})
    >>> read_task(frame, "y").attributes.tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    table = read_table(source)
    named = [name for name in table.columns if place_in("label", name) is not None]
    if target is None and len(named) != 1:
        problem = f"{listed(named) if named else 'no column'} may hold the classes"
        raise table.error(problem, "target", "say which with {option}")
    target = table.find(named[0] if target is None else str(target), "target")
    left = {table.find(name, "leave_out") for name in leave_out} | {target}
    chosen = [table.find(name, "use") for name in use or table.columns]
    chosen = [name for name in chosen if name not in left]
    if not chosen:
        raise table.error(f"there are no attributes, only {quoted(target)}")
    columns, categories = [], []
    for place, name in enumerate(chosen):
        cells = [str(cell).strip() for cell in table.columns[name]]
        numbers = table.parsed(name)
        words = [row for row in numbers.bad if cells[row] != "?"]
        if not words:
            columns.append(numbers.value)
        elif np.isfinite(numbers.value).any():
            raise table.bad_cells(name, words, "the column has numbers, so this must be one")
        else:  # codes in alphabetical order; a missing word is one of its own
            columns.append(np.unique(cells, return_inverse=True)[1].astype(float))
            categories.append(place)
    names = table.names(target)
    try:
        labels = names.astype(float)  # 10 is larger than 9
    except ValueError:
        labels = names.astype(str)
    parts = [f"classes from {quoted(target)}", f"attributes from {listed(chosen)}"]
    sentence = describe_parts(table, parts, [target, *chosen])
    return Items(np.column_stack(columns), labels, categories, sentence)
