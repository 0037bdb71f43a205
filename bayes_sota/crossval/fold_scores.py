"""Scores of learners over repeated cross-validation of one or more data sets.

A *task* is a data set; a *learner* is trained and tested on it in every *fold* of every
*iteration*; one iteration is one random partition, the same for all learners.
``tests/crossval/test_fold_scores.py`` checks reading, ``test_models.py`` relative scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np

from bayes_sota.core.arguments import FOLDS, check_kind
from bayes_sota.core.errors import InputError, located, quoted
from bayes_sota.core.text import checked_labels, counted
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.data.observed import Observed
from bayes_sota.data.printed_scores import check_scores
from bayes_sota.data.reading import read_tidy
from bayes_sota.data.tidy import Tidy


@dataclass(frozen=True, eq=False, repr=False)
class FoldScores(Observed):
    """Scores of learners over repeated cross-validation, larger is better.

    Parameters
    ----------
    scores : array-like, shape (n_tasks, n_learners, n_iterations, n_folds)
        NaN where a fit failed, and after the last iteration of a task that has fewer than others.
        The scores of one task may be (n_learners, n_iterations, n_folds). With n_folds = 1 a value
        is the score of a whole iteration.
    learners, tasks : sequence of str, optional
    folds : int, optional
        k, needed where ``scores`` holds one value per iteration.
    scorer : str
        Name of the score.
    notes : sequence of str
        How the scores were read; incomplete iterations are added.

    Raises
    ------
    InputError
        Another shape, fewer than 2 folds, infinite numbers, a learner without any score on a task.

    Examples
    --------
    >>> runs = FoldScores([[[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]]], learners=["a", "b"])
    >>> runs
    <FoldScores: 2 learners x 1 data set, 2 iterations of 2 folds>
    >>> runs.iteration_means()[0].round(2).tolist()
    [[0.85, 0.8], [0.75, 0.7]]
    """

    scores: Any
    _: KW_ONLY
    learners: Sequence[str] = ()
    tasks: Sequence[str] = ()
    folds: int = 0
    scorer: str = "score"
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        meaning = "scores must be numbers of the shape (data sets, learners, iterations, folds)"
        try:
            scores = np.array(self.scores, np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{meaning}, got text, or rows of several lengths") from None
        if scores.ndim not in (3, 4) or not scores.size:
            raise InputError(f"{meaning}, got {scores.shape}")
        scores = scores.reshape(-1, *scores.shape[-3:])
        n_tasks, n_learners, n_iterations, columns = scores.shape
        folds = FOLDS.check(self.folds, "folds") if self.folds else columns
        if folds < 2 or columns not in (1, folds):
            got = f"got {columns} for {folds} folds"
            problem = f"an iteration has one score, or one for each of at least 2 folds; {got}"
            raise InputError(problem, parameter="folds", fix="give their number with {option}")
        tasks = checked_labels(self.tasks, n_tasks, "data set")
        learners = checked_labels(self.learners, n_learners, "learner")
        names: dict[str, Sequence[Any]] = {"data set": tasks, "learner": learners}
        names |= {"iteration": range(n_iterations), "fold": range(columns)}
        check_scores(scores, names, needed=2)
        known = np.isfinite(scores)
        torn = int((known.any(axis=(1, 3)) & ~known.all(axis=(1, 3))).sum())
        said = [f"{counted(torn, 'iteration')} that not all learners completed"] * (torn > 0)
        notes = (*self.notes, *said)
        self._set(scores=scores, learners=learners, tasks=tasks, folds=folds, notes=notes)

    def __repr__(self) -> str:
        n_tasks, n_learners, n_iterations, _ = self.scores.shape
        fits = f"{n_learners} learners x {counted(n_tasks, 'data set')}"
        return f"<FoldScores: {fits}, {n_iterations} iterations of {self.folds} folds>"

    def iteration_means(self) -> FloatArray:
        """Mean over folds, (n_tasks, n_learners, n_iterations), NaN where a fold is missing."""
        return self.scores.mean(axis=3)

    def completed(self, needed: int = 0) -> BoolArray:
        """Whether all learners completed an iteration, (n_tasks, n_iterations).

        Raises ``InputError`` for a data set with fewer of them than needed.
        """
        complete = np.isfinite(self.scores).all(axis=(1, 3))
        for name, n in zip(self.tasks, complete.sum(axis=1), strict=True):
            if n < needed:
                only = f"all learners completed only {counted(n, 'iteration')} of {quoted(name)}"
                fix = "run more random partitions, or leave out learners that fail; one partition "
                fix += "compares two learners by bs.crossval.correlated_t"
                raise InputError(f"{only}, and {needed} are needed", fix=fix)
        return complete


def read_fold_scores(source: Any, *, folds: int | None = None, **reading: Any) -> FoldScores:
    """Scores of repeated cross-validation that were computed elsewhere.

    Parameters
    ----------
    source : path or data frame
        A long table (learner, task, iteration, fold, score: one row per fit), or a wide one (the
        learners in its columns, one row per fold or iteration); empty where a fit failed.
    folds : int, optional
        k, where there is one score per iteration, or folds are numbered through all iterations.
    **reading
        ``use``, ``leave_out``, ``direction`` and columns by their roles, as in ``read_tidy``.
        Losses (``direction="lower"``) change sign.

    Returns
    -------
    FoldScores
        Larger is better. ``notes`` say what was read.

    Raises
    ------
    InputError
        Columns whose roles are not clear; a fit with two scores, or without a row.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(m, i, f, 0.8 + 0.1 * f) for m in "ab" for i in range(3) for f in range(2)]
    >>> frame = pd.DataFrame(rows, columns=["learner", "iteration", "fold", "roc_auc"])
    >>> read_fold_scores(frame)
    <FoldScores: 2 learners x 1 data set, 3 iterations of 2 folds>
    """
    tidy = _read_learners(source, reading)
    with located(tidy.where):
        grid, names = _with_parts(tidy, folds).pivot("task", "entry", "iteration", "fold")
        return FoldScores(
            grid[:, :, _order(names[2])][..., _order(names[3])],
            learners=names[1],
            tasks=names[0],
            folds=folds or 0,
            scorer=tidy.score,
            notes=(tidy.sentence, *tidy.notes),
        )


def _read_learners(source: Any, reading: Mapping[str, Any]) -> Tidy:
    tidy = read_tidy(source, **reading)
    score, labels = tidy.score or "score", {"task": np.full(len(tidy), tidy.name, object)}
    if tidy.lower_is_better:
        if score.startswith(("-", "neg_")):
            problem = f"the name {quoted(score)} says that larger is better already"
            raise InputError(problem, where=tidy.where, fix="give no direction")
        tidy, score = replace(tidy, value=-tidy.value), f"-{score}"
    return replace(tidy, score=score, labels=labels | tidy.labels)


def _with_parts(tidy: Tidy, k: int | None) -> Tidy:
    """Folds numbered across iterations are split into both."""
    labels: dict[str, Any] = tidy.labels
    parts = labels.get("fold", labels.get("unit"))
    repeats = labels.get("iteration", labels.get("run"))
    if repeats is not None:
        folds = np.full(len(tidy), "1", object) if parts is None else parts
        return replace(tidy, labels=labels | {"iteration": repeats, "fold": folds})
    if parts is None or ("fold" not in labels and k is None):
        problem = "no column names the iterations or the folds"
        in_order = ", or give --folds K (in Python folds=K) where each row is one fold, in order"
        fix = "say which with {option}" + in_order * (tidy.layout == "wide")
        raise InputError(problem, parameter="parts", fix=fix)
    names, codes = replace(tidy, labels={"fold": parts}).names("fold")
    numbers, k = np.argsort(_order(names))[codes], k or len(names)
    if len(names) % k:
        problem = f"{len(names)} folds are not a whole number of iterations of {k} folds"
        raise InputError(problem, parameter="folds", fix="give {option}")
    return replace(tidy, labels=labels | {"iteration": numbers // k, "fold": numbers % k})


def _order(names: Sequence[Any]) -> list[int]:
    """Positions in the order of numbers; other names keep theirs."""
    try:
        return np.argsort([float(name) for name in names], kind="stable").tolist()
    except ValueError:
        return list(range(len(names)))


def read_test_scores(source: Any, like: FoldScores, **reading: Any) -> FloatArray:
    """Scores of learners on true test sets, in the order of scores of cross-validation.

    Parameters
    ----------
    source : path or data frame
        A long table (learner, data set, score), or a wide one with the learners in its columns.
    like : FoldScores
    **reading
        As in ``read_fold_scores``.

    Returns
    -------
    ndarray, shape (n_tasks, n_learners)
        Larger is better.

    Raises
    ------
    InputError
        A learner or data set without a score, or with two.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = FoldScores([[[0.8, 0.9]], [[0.7, 0.8]]], learners=["nb", "tree"])
    >>> test = pd.DataFrame({"learner": ["tree", "nb"], "score": [0.78, 0.86]})
    >>> read_test_scores(test, runs).tolist()
    [[0.86, 0.78]]
    """
    import pandas as pd

    tidy = _read_learners(source, reading)
    grid, (tasks, learners) = tidy.pivot("task", "entry")
    rows, columns = list(like.tasks), list(like.learners)
    tasks = rows if len(tasks) == len(rows) == 1 else tasks  # whatever the name of the only one
    found = pd.DataFrame(grid, tasks, learners).reindex(rows, columns=columns).to_numpy()
    with located(tidy.where):
        check_scores(found, {"data set": rows, "learner": columns}, needed=2)
    return found


def place_of(name: int | str, names: Sequence[str], what: str) -> int:
    """Position of a learner or a data set."""
    if name not in (*names, *range(len(names))):
        raise InputError(f"there is no {what} {name!r}; there are {', '.join(names)}")
    return names.index(name) if isinstance(name, str) else int(name)


def pair_names(learners: Sequence[str]) -> list[str]:
    """Names A - B, in the order of ``np.triu_indices``."""
    return [f"{a} - {b}" for a, b in combinations(learners, 2)]


def relative_scores(fold_scores: FoldScores) -> SimpleNamespace:
    r"""Scores relative to the mean over the learners, in the iterations that all completed.

    :math:`x_{ifj} = y_{ifj} - \bar y_{if}` as ``values`` (n_iterations, n_folds, n_learners), the
    iterations of all data sets one after the other, with one fold where scores are of whole
    iterations; ``task``, the position of each iteration's data set, and its ``labels``;
    ``iterations`` (n_tasks,), their numbers; ``task_means`` (n_tasks, n_learners); ``unit``, the
    typical standard deviation of a learner's own part of a fold score.
    """
    check_kind(fold_scores, FoldScores, "read_fold_scores")
    n_learners = len(fold_scores.learners)
    if n_learners < 2:
        raise InputError("a comparison needs at least 2 learners, got 1")
    scores = np.moveaxis(fold_scores.scores, 1, -1)  # (task, iteration, fold, learner)
    complete = fold_scores.completed(needed=1)
    task, number = np.nonzero(complete)
    values = scores[task, number]
    values = values - values.mean(axis=-1, keepdims=True)
    iterations, means = complete.sum(axis=1), values.mean(axis=1)
    task_means = np.stack([means[task == t].mean(axis=0) for t in range(len(iterations))])
    folds = values.shape[1]
    # Of fold scores within iterations, else of iterations within data sets.
    middle = means if folds > 1 else task_means[task]
    factor = folds / (folds - 1) if folds > 1 else fold_scores.folds
    square = ((values - middle[:, None]) ** 2).mean() * factor
    if square < 1e-24:
        problem = "the differences of the learners never vary"
        raise InputError(f"{problem}: no model is needed to order them, and none can be fitted")
    return SimpleNamespace(
        values=values,
        task=task,
        labels=[f"{fold_scores.tasks[t]}: {i}" for t, i in np.argwhere(complete).tolist()],
        iterations=iterations,
        task_means=task_means,
        unit=float(np.sqrt(square * n_learners / (n_learners - 1))),
    )
