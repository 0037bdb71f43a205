"""Leaderboards and averages over tasks, from files and frames."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.errors import InputError, listed, located, quoted
from bayes_sota.data.checks import Metric, Tries
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.printed_scores import RoundingChoice, parse_scores
from bayes_sota.data.reading import Direction, read_tidy
from bayes_sota.data.tasks import Averaging, New, average_tasks
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import measure

_INSTEAD = {
    "pair": "columns {} are two boards: choose one with {{option}}, or read both with "
    "read_paired_boards (bayes-sota paired)",
    "battles": "the rows are battles, which bayes-sota epp reads, not entries",
}
_PRIVATE = "submissions are not used: a private board shows what was chosen elsewhere"


def read_leaderboard(
    source: Any,
    *,
    n_test: Any = None,
    metric: Metric | None = None,
    standard_error: float | None = None,
    n_positive: int | None = None,
    spread_ratio: float | None = None,
    n_classifiers: Tries | None = None,
    submissions: Tries | None = None,
    rounding: RoundingChoice = "auto",
    percent: bool | None = None,
    average: Averaging | None = None,
    new: New | None = None,
    name: str | None = None,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> Leaderboard:
    """Leaderboard of a table with a row for each entry, or averages of scores in several tasks.

    Parameters
    ----------
    source : path, data frame, Table or Tidy
        As of ``read_tidy``, or what it gave. Tasks are columns of a row for each entry, rows of a
        column for each entry, or have a row for each entry and task.
    n_test : int, "infer", sequence or mapping of int, optional
        As of ``Leaderboard`` and ``average_tasks``. Default: the column of numbers of items, if
        there is one, or those beside tasks (``law_n`` beside ``law``).
    metric : {"accuracy", "auc", "score"}, optional
        As of ``Leaderboard``. Default: by the name of the column of scores; one that holds no
        accuracies needs ``metric`` or a standard error.
    standard_error : float, optional
        Of every score. Default: the column of standard errors beside the scores, or those beside
        tasks (``law_stderr``), where the number of items is not known; a column that is asked for
        (``se="..."``) always counts.
    n_positive, spread_ratio, n_classifiers, percent
        As of ``Leaderboard``.
    submissions : int, (int, int) or TriesPrior, optional
        Submissions behind every entry. Default: the column that is called so, but not of a private
        board: what it shows was chosen on other items. 1 for none.
    rounding : {"auto", "nearest", "floor", "exact"}
        As of ``Leaderboard``; of a Kaggle download "auto" tries floor first.
    average, new
        As of ``average_tasks``, for tasks only.
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
        Something else than a row for each entry, or tasks; what ``read_tidy``, ``Leaderboard`` and
        ``average_tasks`` refuse.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a", "b"], "acc": ["91.0%", "90.5%"], "size": [7, 13]})
    >>> board = read_leaderboard(frame, n_test=200)
    >>> board.scores.tolist(), board.notes
    ([0.91, 0.905], ('Read: entries from "model", scores from "acc"; not used: "size".',))
    >>> exam = pd.DataFrame({"model": ["a", "b"], "law": [0.9, 0.8], "art": [0.5, 0.7]})
    >>> read_leaderboard(exam, n_test={"law": 50, "art": 200}).scores.tolist()
    [0.7, 0.75]
    """
    known: dict[str, Any] = {
        "n_classifiers": n_classifiers,
        "n_positive": n_positive,
        "spread_ratio": spread_ratio,
    }
    tidy = source
    if not isinstance(source, Tidy):
        tidy = read_tidy(source, use, leave_out, direction, **roles).with_items()
    name = tidy.name if name is None else name
    if tidy.layout != "board":
        if "task" not in tidy.labels or tidy.unit != "task":
            problem = _INSTEAD.get(tidy.layout, "rows are scores of single units, not of entries")
            fix = problem.format(listed(tidy.titles))
            raise InputError("is no leaderboard", where=tidy.where, parameter="score", fix=fix)
        known |= {"standard_error": standard_error, "submissions": submissions}
        known["rounding"] = None if rounding == "auto" else rounding
        refuse_unused("averages over tasks", known)
        return _average(tidy, n_test, metric, average=average, new=new, name=name, percent=percent)
    refuse_unused("a leaderboard", {"average": average, "new": new})
    kind = metric or ("score" if tidy.lower_is_better else measure(tidy.titles[0]))
    told = []
    if n_test is None and standard_error is None and kind == "accuracy" and "n" in tidy.numbers:
        n_test = tidy.numbers["n"]
    if standard_error is None and "se" in tidy.numbers:
        if "se" in tidy.asked or kind == "score" or (kind == "accuracy" and n_test is None):
            standard_error = tidy.numbers["se"]
        else:
            told.append("standard errors are not used: they follow from the number of items")
    if submissions is None and "submissions" in tidy.numbers:
        texts = [text.lower() for text in (tidy.name, *tidy.titles)]
        if any("private" in text and "public" not in text for text in texts):
            told.append(_PRIVATE)
        else:
            submissions = tidy.numbers["submissions"]
    if rounding == "auto" and tidy.is_competition:
        rounding = ("floor", "nearest")
    if metric is None:
        metric = _metric_of_column(tidy, kind, standard_error)
    with located(tidy.where):
        places = [f"{line}, column {quoted(tidy.titles[0])}" for line in tidy.lines]
        parse_scores(tidy.texts, percent=percent, bounded=metric != "score", subjects=places)
        board = Leaderboard(
            tidy.texts,
            n_test=n_test,
            metric=metric,
            standard_error=standard_error,
            lower_is_better=tidy.lower_is_better,
            names=tidy.labels["entry"],
            submissions=submissions,
            rounding=rounding,
            percent=percent,
            name=name,
            notes=[tidy.sentence, *tidy.notes, *told],
            **known,
        )
    return board._copy(is_competition=tidy.is_competition)


def _metric_of_column(tidy: Tidy, kind: Metric, standard_error: Any) -> Metric:
    """Metric of the scores, by the name of their column and what is known of their errors."""
    if tidy.lower_is_better or (kind != "auc" and isinstance(standard_error, int | float)):
        return "score"
    if kind == "accuracy" or (kind == "score" and standard_error is not None):
        return kind
    fix = {
        "auc": "AUCs need metric auc with the numbers of items and of positive ones ({option})",
        "score": "give the standard error of a score; for shares of right answers metric accuracy "
        "({option})",
    }
    raise InputError(
        f"column {quoted(tidy.titles[0])} holds no accuracies by its name",
        where=tidy.where,
        parameter="metric",
        fix=fix[kind],
    )


def _average(tidy: Tidy, n_test: Any, metric: Metric | None, **options: Any) -> Leaderboard:
    """Averages over tasks of the entries that have a score in each."""
    if len({word.lower() for word in tidy.labels.get("direction", ())} - {""}) > 1:
        raise InputError(
            "lower is better in some tasks, higher in others",
            where=tidy.where,
            parameter="leave_out",
            fix="leave out one kind with {option}",
        )
    grid, (names, tasks) = tidy.pivot("entry", "task")
    whole = ~np.isnan(grid).any(axis=1)
    if not whole.any():
        raise InputError("no entry has a score in every task", where=tidy.where)
    notes = [tidy.sentence, *tidy.notes]
    if not whole.all():
        left_out = [names[row] for row in np.flatnonzero(~whole)]
        notes.append(f"left out entries without a score in some task: {listed(left_out)}")
    accuracies = {measure(title) for title in tidy.titles} == {"accuracy"}
    chosen: Any = metric or ("accuracy" if accuracies and not tidy.lower_is_better else "score")
    beside = {
        role: tidy.pivot("entry", "task", of=tidy.numbers[role])[0][whole]
        for role in ("n", "se")
        if role in tidy.numbers
    }
    sizes = beside.get("n") if n_test is None else n_test
    errors = beside.get("se") if sizes is None or chosen == "score" else None
    with located(tidy.where):
        return average_tasks(
            grid[whole],
            n_test=sizes,
            standard_errors=errors,
            tasks=tasks,
            names=[names[row] for row in np.flatnonzero(whole)],
            metric=chosen,
            lower_is_better=tidy.lower_is_better,
            notes=notes,
            **options,
        )
