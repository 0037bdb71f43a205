"""Leaderboards and averages over tasks, from files and frames."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError, listed, located, quoted
from bayes_sota.core.priors import TriesPrior
from bayes_sota.data.averages import Averaging
from bayes_sota.data.checks import Metric
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.printed_scores import RoundingChoice, parse_scores
from bayes_sota.data.reading import Direction, read_tidy
from bayes_sota.data.task_scores import TaskScores
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import measure

_INSTEAD = {
    "tasks": "columns {} hold scores of several tasks: choose one with {{option}}, or use "
    "read_task_scores",
    "pair": "columns {} are two boards: choose one with {{option}}, or read both with "
    "read_paired_boards (bayes-sota paired)",
    "battles": "the rows are battles, which bayes-sota epp reads, not entries",
}


def read_leaderboard(
    source: Any,
    *,
    n_test: Any = None,
    metric: Metric | None = None,
    standard_error: float | None = None,
    n_positive: int | None = None,
    spread_ratio: float | None = None,
    n_classifiers: int | tuple[int, int] | TriesPrior | None = None,
    submissions: int | tuple[int, int] | TriesPrior | None = None,
    rounding: RoundingChoice = "auto",
    percent: bool | None = None,
    name: str | None = None,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> Leaderboard:
    """Leaderboard of a table with a row for each entry.

    Parameters
    ----------
    source : path, data frame or Table
        As of ``read_tidy``.
    n_test : int, "infer" or sequence of int, optional
        As of ``Leaderboard``. Default: the column of numbers of items, if there is one.
    metric : {"accuracy", "auc", "score"}, optional
        As of ``Leaderboard``. Default: by the name of the column of scores; one that holds no
        accuracies needs ``metric`` or a standard error.
    standard_error : float, optional
        Of every score. Default: the column of standard errors beside the scores, where the number
        of items is not known; a column that is asked for (``se="..."``) always counts.
    n_positive, spread_ratio, n_classifiers, percent
        As of ``Leaderboard``.
    submissions : int, (int, int) or TriesPrior, optional
        Submissions behind every entry. Default: the column that is called so, but not of a private
        board: what it shows was chosen on other items. 1 for none.
    rounding : {"auto", "nearest", "floor", "exact"}
        As of ``Leaderboard``; of a Kaggle download "auto" tries floor first.
    name : str, optional
        Default: the name of the file without its ending.
    use, leave_out, direction, **roles
        As of ``read_tidy``.

    Returns
    -------
    Leaderboard
        Entries in the order of the file; ``notes`` begin with what was read.

    Raises
    ------
    InputError
        Something else than a row for each entry; what ``read_tidy`` and ``Leaderboard`` refuse.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a", "b"], "acc": ["91.0%", "90.5%"], "size": [7, 13]})
    >>> board = read_leaderboard(frame, n_test=200)
    >>> board.scores.tolist(), board.notes
    ([0.91, 0.905], ('Read: entries from "model", scores from "acc"; not used: "size".',))
    """
    tidy = read_tidy(source, use, leave_out, direction, **roles)
    return leaderboard_of(
        tidy,
        n_test=n_test,
        metric=metric,
        standard_error=standard_error,
        n_positive=n_positive,
        spread_ratio=spread_ratio,
        n_classifiers=n_classifiers,
        submissions=submissions,
        rounding=rounding,
        percent=percent,
        name=name,
    )


def leaderboard_of(
    tidy: Tidy,
    *,
    n_test: Any = None,
    metric: Metric | None = None,
    standard_error: Any = None,
    submissions: Any = None,
    rounding: RoundingChoice = "auto",
    name: str | None = None,
    **known: Any,
) -> Leaderboard:
    """Leaderboard of a table that was read already; options are those of ``read_leaderboard``."""
    if tidy.layout != "board":
        problem = _INSTEAD.get(tidy.layout, "rows are scores of single units, not of entries")
        fix = problem.format(listed(tidy.titles))
        raise InputError("is no leaderboard", where=tidy.where, parameter="score", fix=fix)
    notes = [tidy.sentence, *tidy.notes]
    n_test, standard_error, told = _sizes_and_errors(tidy, n_test, metric, standard_error)
    if submissions is None and "submissions" in tidy.numbers:
        submissions, useless = _submissions(tidy)
        told += useless
    if rounding == "auto" and tidy.is_competition:
        rounding = ("floor", "nearest")
    chosen = _metric(tidy, metric, standard_error)
    with located(tidy.where):
        places = [f"{line}, column {quoted(tidy.titles[0])}" for line in tidy.lines]
        parse_scores(
            tidy.texts, percent=known.get("percent"), bounded=chosen != "score", subjects=places
        )
        board = Leaderboard(
            tidy.texts,
            n_test=n_test,
            metric=chosen,
            standard_error=standard_error,
            lower_is_better=tidy.lower_is_better,
            names=list(tidy.labels["entry"]),
            submissions=submissions,
            rounding=rounding,
            name=tidy.name if name is None else name,
            notes=[*notes, *told],
            **known,
        )
    return board._copy(is_competition=tidy.is_competition)


def _metric(tidy: Tidy, metric: Metric | None, standard_error: Any) -> Metric:
    """What the scores are: as asked for, else by the name of their column."""
    if metric is not None:
        return metric
    title = tidy.titles[0]
    kind = measure(title)
    if tidy.lower_is_better or (kind == "score" and standard_error is not None):
        return "score"
    if kind == "accuracy":
        return "accuracy" if standard_error is None or np.ndim(standard_error) else "score"
    names = f"column {quoted(title)} holds no accuracies by its name"
    fix = {
        "auc": "AUCs need metric auc with the numbers of items and of positive ones ({option})",
        "score": "give the standard error of a score; for shares of right answers metric accuracy "
        "({option})",
    }
    raise InputError(names, where=tidy.where, parameter="metric", fix=fix[kind])


def _sizes_and_errors(
    tidy: Tidy, n_test: Any, metric: Metric | None, standard_error: Any
) -> tuple[Any, Any, list[str]]:
    """Numbers of items and standard errors: as given, else of the columns that have them."""
    accuracies = metric == "accuracy" or (metric is None and measure(tidy.titles[0]) == "accuracy")
    accuracies &= not tidy.lower_is_better
    if n_test is None and standard_error is None and accuracies and "n" in tidy.numbers:
        n_test = tidy.numbers["n"].tolist()
    if standard_error is not None or "se" not in tidy.numbers:
        return n_test, standard_error, []
    if "se" not in tidy.asked and (metric == "auc" or (accuracies and n_test is not None)):
        return n_test, None, ["standard errors are not used: they follow from the number of items"]
    errors = [None if np.isnan(error) else str(error) for error in tidy.numbers["se"].tolist()]
    return n_test, errors, []


def _submissions(tidy: Tidy) -> tuple[Any, list[str]]:
    """Submissions of each entry; None and a note on a private board."""
    texts = [text.lower() for text in (tidy.name, *tidy.titles)]
    if any("private" in text and "public" not in text for text in texts):
        return None, ["submissions are not used: a private board shows what was chosen elsewhere"]
    counts = tidy.numbers["submissions"]
    return [None if np.isnan(count) else count for count in counts], []


def read_task_scores(
    source: Any,
    *,
    n_test: int | Sequence[int] | Mapping[str, int] | None = None,
    average: Averaging | None = None,
    metric: Metric | None = None,
    percent: bool | None = None,
    name: str | None = None,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> TaskScores:
    """Scores of entries in several tasks.

    Parameters
    ----------
    source : path, data frame or Table
        A row for each entry and a column for each task, a row for each task and a column for each
        entry, or a row for each entry and task; results of lm-evaluation-harness.
    n_test, average, metric
        As of ``TaskScores``. Default of ``n_test``: columns of numbers of items, such as
        ``law_n`` beside ``law``; else standard errors beside the scores (``law_stderr``) count.
    percent : bool, optional
        As of ``Leaderboard``.
    name, use, leave_out, direction, **roles
        As of ``read_leaderboard``.

    Returns
    -------
    TaskScores
        ``leaderboard()`` makes averages with their errors of it.

    Raises
    ------
    InputError
        No tasks; an entry without the score of a task; what ``TaskScores`` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a", "b"], "law": [0.9, 0.8], "art": [0.5, 0.7]})
    >>> read_task_scores(frame, n_test=[50, 200])
    <TaskScores 'table': 2 entries x 2 tasks>
    """
    tidy = read_tidy(source, use, leave_out, direction, **roles)
    settings: Any = {"n_test": n_test, "average": average, "metric": metric}
    return task_scores_of(tidy, percent=percent, name=name, **settings)


def task_scores_of(
    tidy: Tidy,
    *,
    n_test: Any = None,
    average: Averaging | None = None,
    metric: Metric | None = None,
    percent: bool | None = None,
    name: str | None = None,
) -> TaskScores:
    """Task scores of a table that was read already; options are those of ``read_task_scores``."""
    if tidy.unit != "task":
        raise InputError(
            "holds no scores of entries in several tasks",
            where=tidy.where,
            parameter="task",
            fix="name the column of tasks with {option}",
        )
    if len({word.lower() for word in tidy.labels.get("direction", ())} - {""}) > 1:
        raise InputError(
            "lower is better in some tasks, higher in others",
            where=tidy.where,
            parameter="leave_out",
            fix="leave out one kind with {option}",
        )
    grid, (names, tasks) = tidy.pivot("entry", "task")
    whole = ~np.isnan(grid).any(axis=1)
    left_out = [name for name, kept in zip(names, whole, strict=True) if not kept]
    if len(left_out) == len(names):
        raise InputError("no entry has a score in every task", where=tidy.where)
    notes = [tidy.sentence, *tidy.notes]
    if left_out:
        notes.append(f"left out entries without a score in some task: {listed(left_out)}")
    kinds = {measure(title) for title in tidy.titles}
    measured = metric or ("score" if tidy.lower_is_better or kinds != {"accuracy"} else "accuracy")
    beside = {
        role: tidy.pivot("entry", "task", of=tidy.numbers[role])[0][whole]
        for role in ("n", "se")
        if role in tidy.numbers
    }
    if n_test is None:
        n_test = beside.get("n")
    cells = grid[whole].ravel().tolist()
    with located(tidy.where):
        printed = parse_scores(cells, percent=percent, bounded=measured != "score")
        if printed.in_percent:
            notes.append("scores in percent were divided by 100")
        errors = beside.get("se") if n_test is None or measured == "score" else None
        return TaskScores(
            printed.values.reshape(-1, len(tasks)),
            n_test=n_test,
            standard_errors=errors
            if errors is None
            else errors / (100 if printed.in_percent else 1),
            tasks=tasks,
            names=[name for name, kept in zip(names, whole, strict=True) if kept],
            average=average,
            metric=measured,
            lower_is_better=tidy.lower_is_better,
            name=tidy.name if name is None else name,
            notes=notes,
        )
