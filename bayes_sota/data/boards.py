"""Leaderboards and averages over tasks, from files and frames."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import check_choice, refuse_unused
from bayes_sota.core.errors import InputError, listed, located, quoted
from bayes_sota.core.text import checked_labels, counted
from bayes_sota.data import item_values
from bayes_sota.data.item_values import Averaging, of_new_tasks, task_weights, tasks_in_words
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.observed import BOARDS, PairedBoards, entry_names
from bayes_sota.data.printed_scores import of_errors, of_sizes
from bayes_sota.data.reading import Direction, read_tidy
from bayes_sota.data.tables import labelled_matrix
from bayes_sota.data.tidy import Tidy, joined
from bayes_sota.data.words import measure

_HIDDEN = ("n_classifiers", "submissions")
_ITEMS = ("n_test", "standard_error", "n_positive", "spread_ratio")
_OPTIONS = (*_HIDDEN, *_ITEMS, "metric", "rounding", "percent", "name")


def read_leaderboard(
    source: Any,
    *,
    average: Averaging | None = None,
    new: Literal["items", "tasks"] | None = None,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **known: Any,
) -> Leaderboard:
    """Leaderboard of a table with a row for each entry, or averages of scores in several tasks.

    Parameters
    ----------
    source : path or data frame
        Tasks are columns of a row for each entry, rows of a column for each entry, or have a row
        for each entry and task.
    average, new
        As in ``average_tasks``, for tasks only.
    use, leave_out, direction
        As in ``read_tidy``.
    **known
        Options of ``Leaderboard`` and ``average_tasks``, and columns by their roles. Defaults:

        - ``n_test``: the column of numbers of items, or those beside tasks (``law_n``);
        - ``metric``: by the name of the column of scores;
        - ``standard_error``: the column beside the scores, or those beside tasks (``law_stderr``),
          where the number of items is not known; one that you name (``se="..."``) always counts;
        - ``submissions``: the column of that name, except on a private board;
        - ``rounding`` of a Kaggle download: "kaggle";
        - ``name``: that of the file without its ending.

    Returns
    -------
    Leaderboard
        Entries in the order of the file; ``notes`` begin with what was read.

    Raises
    ------
    InputError
        Anything but a row for each entry, or tasks; what ``Leaderboard`` and ``average_tasks``
        refuse.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a", "b"], "acc": ["91.0%", "90.5%"], "size": [7, 13]})
    >>> board = read_leaderboard(frame, n_test=200)
    >>> board.scores.tolist(), board.notes
    ([0.91, 0.905], ('Read: entries from "model", scores from "acc"; not used: "size".',))
    """
    given = _taken(known, _OPTIONS)
    tidy = source
    if not isinstance(source, Tidy):
        tidy = read_tidy(source, use, leave_out, direction, **known)
    options: dict[str, Any] = {"name": tidy.name, "lower_is_better": tidy.lower_is_better}
    options |= {"notes": [tidy.sentence, *tidy.notes]} | given
    if tidy.layout == "board":
        refuse_unused("a leaderboard", {"average": average, "new": new})
        return _board(tidy, options)
    refuse_unused("averages over tasks", {name: given.get(name) for name in _HIDDEN})
    of_tasks, numbers = _scores_of_tasks(tidy, options["notes"])
    kind = _add_errors(tidy, numbers, options)
    options["metric"] = options.get("metric", "score" if kind == "auc" else kind)
    options["standard_errors"] = options.pop("standard_error", None)
    with located(tidy.where):
        return average_tasks(**of_tasks, average=average, new=new, **options)


def _taken(known: dict[str, Any], options: Sequence[str]) -> dict[str, Any]:
    """Move options out of ``known``, which keeps columns by their roles."""
    taken = {name: known.pop(name, None) for name in options}
    return {name: value for name, value in taken.items() if value is not None}


def _add_errors(tidy: Tidy, numbers: Mapping[str, Any], options: dict[str, Any]) -> str:
    """Add the table's numbers of items or errors to the options; return the kind of the scores."""
    kinds = {measure(title) for title in tidy.titles}
    kind = "score" if tidy.lower_is_better or len(kinds) > 1 else kinds.pop()
    kind = options.get("metric", kind)
    if "standard_error" in options:
        return kind
    if kind == "accuracy" and "n" in numbers:
        options.setdefault("n_test", numbers["n"])
    follow = kind == "auc" or (kind == "accuracy" and "n_test" in options)
    if "se" in numbers and follow and "se" not in tidy.asked:
        note = "standard errors are not used: they follow from the number of items"
        options["notes"].append(note)
    elif "se" in numbers:
        options["standard_error"] = numbers["se"]
    return kind


def _board(tidy: Tidy, options: dict[str, Any]) -> Leaderboard:
    is_typed = "standard_error" in options and np.ndim(options["standard_error"]) == 0
    kind = _add_errors(tidy, tidy.numbers, options)
    if "metric" not in options:
        kind = "score" if is_typed else kind
        if kind == "score" and "standard_error" not in options:
            problem = f"column {quoted(tidy.titles[0])} does not look like accuracies"
            fix = "write standard errors (an SD of n cases over sqrt(n)) in a column se or give "
            fix += "{option}, or metric accuracy if scores are shares of correct answers"
            raise tidy.error(problem, "standard_error", fix)
    if "submissions" not in options and "submissions" in tidy.numbers:
        texts = [text.lower() for text in (tidy.name, *tidy.titles)]
        if any("private" in text and "public" not in text for text in texts):
            options["notes"].append("submissions are not used: private scores were not selected")
        else:
            options["submissions"] = tidy.numbers["submissions"]
    if tidy.is_competition and options.get("rounding", "auto") == "auto":
        options["rounding"] = "kaggle"
    options |= {"metric": kind, "names": tidy.labels["entry"]}
    with located(tidy.where):
        return Leaderboard(tidy.texts, is_competition=tidy.is_competition, **options)


def _scores_of_tasks(tidy: Tidy, notes: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Scores of the entries that have one in every task, (m, T), and the numbers beside them."""
    if "task" not in tidy.labels or tidy.unit != "task":
        problem = "is not a leaderboard: rows are neither entries nor scores of entries in tasks"
        raise tidy.error(problem, "score", "name the column of the scores of entries with {option}")
    grid, (names, tasks) = tidy.pivot("entry", "task")
    whole, entries = ~np.isnan(grid).any(axis=1), np.array(names, object)
    if not whole.all():
        notes.append(f"left out entries without a score in some task: {listed(entries[~whole])}")
    beside = {of: tidy.pivot("entry", "task", of=x)[0][whole] for of, x in tidy.numbers.items()}
    return {"scores": grid[whole], "names": entries[whole], "tasks": tasks}, beside


def read_paired_boards(
    source: Any,
    private_source: Any = None,
    *,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **known: Any,
) -> PairedBoards:
    """Public and private scores of the same teams.

    Parameters
    ----------
    source : path or data frame
        A row for each team with both scores; or, with ``private_source``, the public leaderboard.
    private_source : path or data frame, optional
        The private leaderboard; teams on one board only are left out.
    leave_out, direction
        As in ``read_tidy``. Losses (``direction="lower"``) change their sign.
    **known
        Options of ``PairedBoards``, and columns by their roles, such as ``public`` and ``private``.

    Returns
    -------
    PairedBoards
        Teams in the order of their public scores, equal ones by name.

    Raises
    ------
    InputError
        One score for each team, no team on both boards; what ``PairedBoards`` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> public = [0.9, 0.8, 0.7, 0.6, 0.5]
    >>> both = pd.DataFrame({"team": list("abcde"), "public": public, "private": public[::-1]})
    >>> boards = read_paired_boards(both, n_test=(100, 300))
    >>> boards.names[0], float(boards.public[0]), float(boards.private[0])
    ('a', 0.9, 0.5)
    """
    options = _taken(known, ("n_test", "standard_errors", "submissions", "name"))
    sources = [source] if private_source is None else [source, private_source]
    tables = [read_tidy(one, None, leave_out, direction, **known) for one in sources]
    tidy = tables[0]
    if private_source is not None:
        for table, which in zip(tables, BOARDS, strict=True):
            table.labels["board"] = np.full(len(table), which, object)
        where = " and ".join(table.where for table in tables)
        tidy = replace(joined(tables), layout="pair", where=where)
    if tidy.layout != "pair":
        fix = "name them with --column public=A --column private=B (in Python public=, private=)"
        raise tidy.error("no columns are called public and private", fix=fix)
    if not len(tidy):
        raise tidy.error("no team is left", fix="leave out fewer")
    grid, (names, _) = tidy.pivot("entry", "board")
    grid, notes = -grid if tidy.lower_is_better else grid, [tidy.sentence, *tidy.notes]
    if tidy.lower_is_better:
        notes.append("lower is better: scores and all results are multiplied by -1")
    whole = ~np.isnan(grid).any(axis=1)
    kept = sorted(np.flatnonzero(whole), key=lambda row: (-grid[row, 0], names[row]))
    if not whole.all():
        alone = counted(int((~whole).sum()), "team")
        notes.append(f"left out {alone} without a score on both boards")
    known = {"name": tidy.name, "is_competition": tidy.is_competition, "notes": notes}
    known["names"] = [names[row] for row in kept]
    if "submissions" in tables[0].numbers:
        numbers = tables[0].numbers["submissions"]
        of = dict(zip(tables[0].labels["entry"], numbers, strict=True))
        known["submissions"] = [of[name] for name in known["names"]]
    with located(tidy.where):
        return PairedBoards(grid[kept, 0], grid[kept, 1], **known | options)


def average_tasks(
    scores: ArrayLike | Any,
    *,
    n_test: Any = None,
    standard_errors: ArrayLike | Any = None,
    tasks: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    average: Averaging | None = None,
    new: Literal["items", "tasks"] | None = None,
    metric: Literal["accuracy", "score"] = "accuracy",
    **options: Any,
) -> Leaderboard:
    r"""Averages of m entries over T tasks, each with its own error on new items, or on new tasks.

    Parameters
    ----------
    scores : array-like, shape (m, T)
        Accuracies in [0, 1], or anything else with ``metric="score"``. None may be missing.
    n_test : int, mapping of str to int, or array-like of int, shape (T,) or (m, T), optional
        Items of all tasks, of each task, or of each score. Not needed for new tasks, or with
        standard errors.
    standard_errors : float, mapping of str to float, or array-like, shape (T,) or (m, T), optional
        Standard errors of the scores; accuracies where they are 0 or NaN need ``n_test``.
    tasks, names : sequence of str, optional
        Default: the columns and the index of a frame, or "1", ... and "entry 1", ...
    average : {"tasks", "items"} or mapping of str to float, optional
        Which units have equal weight: tasks (default) or items; or tasks with these weights.
    new : {"items", "tasks"}, optional
        Default: items. For new tasks the variance of an average is :math:`\sum_t w_t (x_t - s)^2
        \sum_t w_t^2 / (1 - \sum_t w_t^2)`, half its own and half the mean over entries, and at
        least that of new items; with T - 1 degrees of freedom.
    metric : {"accuracy", "score"}
    **options
        As in ``Leaderboard``: ``lower_is_better``, ``percent``, ``name`` and ``notes``.

    Raises
    ------
    InputError
        Numbers or weights of other tasks, accuracies outside [0, 1]; neither numbers of items nor
        errors for new items, or fewer than three new tasks.

    Examples
    --------
    >>> board = average_tasks([[0.9, 0.5], [0.8, 0.7]], n_test={"law": 50, "art": 50},
    ...                       tasks=["law", "art"], names=["a", "b"])
    >>> board.scores.tolist(), board.sizes.round(1).tolist()
    ([0.7, 0.75], [119.5, 100.3])
    """
    x, columns, rows = labelled_matrix(scores, "scores are a matrix, entries x tasks")
    labels = checked_labels(columns if tasks is None else tasks, x.shape[1], "task")
    rows = None if np.all(np.char.isdigit(rows or ["0"])) else rows  # numbers are no names
    entries = entry_names(rows if names is None else names, len(x))
    new = new or "items"
    check_choice("new", new, Literal["items", "tasks"])
    places = [f"{entry} in task {task}" for entry in entries for task in labels]
    given = {"n_test": n_test, "standard_error": standard_errors}
    given = {k: _of_scores(of, k, labels, x.shape) for k, of in given.items() if of is not None}
    is_share, known = metric == "accuracy", given
    if is_share:  # without errors, by their numbers of items
        known = {"standard_error": np.zeros(x.size)} | (given or {"n_test": np.ones(x.size)})
    else:
        refuse_unused("scores that are not accuracies", {"n_test": n_test})
    each = Leaderboard(x.ravel(), names=places, metric=metric, **known, **options)
    x = each.scores.reshape(x.shape)
    sizes = each.sizes.reshape(x.shape) if is_share and given else None
    weights = np.broadcast_to(task_weights(average, labels, sizes), x.shape)
    if not given and new == "items":
        what = "number of items of every task" if is_share else "standard error of every score"
        name = "n_test" if is_share else "standard_error"
        fix = "give {option}; an average on new tasks (board --new tasks) needs none"
        raise InputError(f"the {what} is missing", parameter=name, fix=fix)
    averages = np.sum(weights * x, axis=1)
    how: Any = "weights" if isinstance(average, Mapping) else average or "tasks"
    found: dict[str, Any] = {"tasks": labels, "averaging": how, "new": new, "decimals": None}
    variance, worth = np.zeros(len(x)), np.full(len(x), np.inf)
    if new == "tasks":
        found["task_influence"], variance = of_new_tasks(x.T, weights.T)
        half = 0.5 / len(labels)
        middle = np.clip(averages, half, 1 - half)
        worth = middle * (1 - middle) / variance + 1
    if sizes is not None:
        of_items = item_values.worth_of_means(x.T, (x * (1 - x)).T, sizes.T, weights.T)[1]
        worth = np.minimum(worth, of_items)
        found["n_items"] = round(float(np.median(sizes.sum(axis=1))))
    if is_share:
        found |= of_sizes(worth, averages, tasks_in_words(len(labels), how)) | {"rounding": "exact"}
    else:
        errors = known.get("standard_error", np.zeros(x.size)).astype(np.float64).reshape(x.shape)
        variance = np.maximum(variance, np.sum((weights * errors) ** 2, axis=1))
        found |= of_errors(np.sqrt(variance), averages, entries)
    return each.copy_with(scores=averages, names=entries, **found).with_tries(len(x))


def _of_scores(given: Any, what: str, tasks: Sequence[str], shape: tuple[int, ...]) -> Any:
    """Number of each score, (m T,)."""
    if isinstance(given, Mapping):
        given = item_values.numbers_of_tasks(given, tasks, what)
    each = np.asarray(given, object)
    if each.shape not in ((), shape[1:], shape):
        allowed = f"one for all, one for each of {shape[1]} tasks, or one for each score"
        raise InputError(f"{{name}} has {each.size} numbers: give {allowed}", parameter=what)
    return np.broadcast_to(each, shape).ravel()
