"""Scores of players in rounds, battles, and scores of cross-validation, from any table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import Range, check_choice
from bayes_sota.core.errors import InputError, listed, located, quoted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.battles import find_battles
from bayes_sota.data.fold_scores import FoldScores
from bayes_sota.data.matches import Matches
from bayes_sota.data.opening import read_table
from bayes_sota.data.reading import Direction, read_tidy
from bayes_sota.data.score_table import Scheme, ScoreTable
from bayes_sota.data.tables import Table, parse_cell
from bayes_sota.data.tidy import Labels, Tidy
from bayes_sota.data.words import NAMELESS, UNITS, key, place_in

type Orientation = Literal["auto", "rows", "columns"]

_COARSE_TO_FINE = ("cluster", "task", "metric", "iteration", "run", "fold", "unit")
_DISPENSABLE = ("cluster", "metric", "unit", "fold", "run", "iteration", "task")  # the first most
_SHARED = ("cluster", "task", "iteration", "run")  # what dependent rounds have in common
_MOST_BATTLES = 20_000_000
_FOLDS = Range(2, 10_000, whole=True)


def read_scores(
    source: Any,
    *,
    players: Orientation = "auto",
    scheme: Scheme | None = None,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> ScoreTable | Matches | dict[str, ScoreTable | Matches]:
    """Scores of players in the rounds of a tournament, or battles between players.

    Parameters
    ----------
    source : path, list of paths, data frame, or mapping
        A table of scores, wide or long; battles; ``cv_results_`` of a scikit-learn search as it is
        or saved; or results of lm-evaluation-harness, one file per model. Whatever tells rounds
        apart names them: the rounds "1" of data set d and of data set e are "d/1" and "e/1", and
        rounds of one data set, or one ``group``, depend on each other.
    players : {"auto", "rows", "columns"}
        Where the players of a wide table are; "auto": in the rows where a column names models,
        methods, players, ...; else in the columns.
    scheme : {"model/cv", "model/task", "dataset/model"}, optional
        Default: "model/cv" where rounds are folds or splits, else "model/task".
    use, leave_out, direction, **roles
        As of ``read_tidy``: ``entry`` names the players, ``unit`` the rounds, ``tournament`` the
        tournaments, ``group`` or ``cluster`` what dependent rounds or battles have in common.

    Returns
    -------
    ScoreTable or Matches
        A dict of them by tournament where a column names tournaments. ``notes`` say what was read.

    Raises
    ------
    InputError
        A player with two scores in one round, fewer than two players or rounds, shares of wins
        without numbers, a table that could be two things; by file, line and column.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     [("a", 1, 0.9), ("b", 1, 0.8), ("a", 2, 0.7), ("b", 2, 0.6)],
    ...     columns=["model", "fold", "auc"],
    ... )
    >>> table = read_scores(frame)
    >>> table.players, table.rounds, table.scheme
    (('a', 'b'), ('1', '2'), 'model/cv')
    >>> table.notes[0]
    'Read: entries from "model", folds from "fold", scores from "auc".'
    """
    check_choice("players", players, Orientation.__value__)
    table = read_table(source, roles.get("score"))
    if table.origin:  # the log of a tool, whose metric it is
        roles.pop("score", None)
    if players != "auto" and find_battles(table, roles) is None:
        table, roles = _turned(table, players, roles)
    of_rounds = {name for name in table.columns if place_in("direction", name) is not None}
    by_round = direction is None and bool(of_rounds.difference(leave_out))
    tidy = read_tidy(table, use, leave_out, "higher" if by_round else direction, **roles)
    lower = np.full(len(tidy), float(tidy.lower_is_better))
    if by_round and "direction" in tidy.labels:
        lower = np.isin([word.lower() for word in tidy.labels["direction"]], ("false", "0")) * 1.0
    tidy = replace(tidy, numbers=tidy.numbers | {"lower": lower})
    grouped = bool(roles.keys() & {"group", "cluster"})
    if "tournament" in tidy.labels:
        names, codes = tidy.names("tournament")
        parts = {name: tidy.take(np.flatnonzero(codes == i)) for i, name in enumerate(names)}
        return {name: _tournament(part, name, scheme, grouped) for name, part in parts.items()}
    name = "tournament" if tidy.where == "the data frame" else tidy.name
    return _tournament(tidy, name, scheme, grouped)


def _turned(table: Table, players: str, roles: dict[str, str]) -> tuple[Table, dict[str, str]]:
    """Table and roles by which its rows are players, or rounds."""
    role = "entry" if players == "rows" else "unit"
    if role in roles:
        return table, roles
    models = [name for name in table.columns if place_in("entry", name) is not None]
    rounds = [name for name in table.columns if any(place_in(r, name) is not None for r in UNITS)]
    nameless = [name for name in table.columns if key(name) in NAMELESS]
    texts = [name for name in table.columns if set(map(parse_cell, table.columns[name])) == {None}]
    if players == "columns" and rounds and not models:
        return table, roles
    found = [*models, *nameless, *rounds, *texts[:1]]
    if found:
        return table, roles | {role: found[0]}
    if players == "columns":
        return table, roles
    numbers: list[Any] = [str(row) for row in range(1, len(table) + 1)]
    return replace(table, columns={"player": numbers, **table.columns}), roles | {role: "player"}


def _tournament(
    tidy: Tidy, name: str, scheme: Scheme | None, grouped: bool
) -> ScoreTable | Matches:
    try:
        if tidy.layout == "battles":
            return _matches(tidy, name, grouped)
        return _score_table(tidy, name, scheme, grouped)
    except InputError as error:
        error.where, error.fix = error.where or tidy.where, error.fix or tidy.sentence.rstrip(".")
        raise


def _matches(tidy: Tidy, name: str, grouped: bool) -> Matches:
    """Battles, each as often as it was counted."""
    if tidy.numbers["count"].sum() > _MOST_BATTLES:
        total = f"{tidy.numbers['count'].sum():,.0f} battles"
        raise InputError(f"{total} are more than the {_MOST_BATTLES:,} that are read")
    if not np.isin(tidy.value, (0.0, 0.5, 1.0)).all():
        raise InputError(
            "shares of wins do not say how many battles there were: give their numbers"
        )
    rows = np.repeat(np.arange(len(tidy)), tidy.numbers["count"].astype(np.intp))
    clusters = tidy.labels["cluster"][rows].tolist() if "cluster" in tidy.labels else None
    if clusters and not grouped and len(set(clusters)) < 2:
        clusters = None  # called so, and the same everywhere
    return Matches.from_names(
        tidy.labels["entry"][rows].tolist(),
        tidy.labels["opponent"][rows].tolist(),
        tidy.value[rows],
        clusters=clusters,
        tournament=name,
        notes=(tidy.sentence, *tidy.notes),
    )


def _score_table(tidy: Tidy, name: str, scheme: Scheme | None, grouped: bool) -> ScoreTable:
    if tidy.layout in ("board", "pair"):
        raise InputError(
            f"each entry has {'one score' if tidy.layout == 'board' else 'two scores'}, and a "
            "tournament needs rounds; bayes-sota board and paired read leaderboards"
        )
    tidy, used = _with_rounds(tidy)
    try:
        grid, (rounds, players) = tidy.pivot("round", "entry")
    except InputError as error:
        if tidy.layout == "wide":
            error.parameter = "group"
            error.fix = "if rows of one name are its folds or runs, name the column with {option}"
        raise
    present = ~np.isnan(grid)
    kept_rounds, kept_players = present.any(axis=1), present.any(axis=0)
    notes = [tidy.sentence, *tidy.notes]
    for what, names, kept in (("round", rounds, kept_rounds), ("player", players, kept_players)):
        if not kept.all():
            empty = listed(label for label, keep in zip(names, kept, strict=True) if not keep)
            notes.append(f"dropped {what}s without any score: {empty}")
    if np.isin(grid[present], (0.0, 1.0)).all():
        notes.append(
            "all scores are 0 or 1, like answers to items: a skill is then about which items two "
            "players differ on, not an accuracy; bayes-sota board reads answers"
        )
    first = np.unique(tidy.names("round")[1], return_index=True)[1][kept_rounds]
    return ScoreTable(
        grid[np.ix_(kept_rounds, kept_players)],
        players=[label for label, keep in zip(players, kept_players, strict=True) if keep],
        rounds=[label for label, keep in zip(rounds, kept_rounds, strict=True) if keep],
        lower_is_better=tidy.numbers["lower"][first] > 0,
        groups=_groups(tidy, first, grouped),
        scheme=scheme or ("model/cv" if {"fold", "iteration", "run"} & set(used) else "model/task"),
        tournament=name,
        notes=notes,
    )


def _with_rounds(tidy: Tidy) -> tuple[Tidy, list[str]]:
    """Scores with the label ``round``, and the roles that it is made of."""
    entries, of_entry = tidy.names("entry")
    codes = {role: tidy.names(role)[1] for role in _COARSE_TO_FINE if role in tidy.labels}
    labels, notes, used = dict(tidy.labels), list(tidy.notes), list(codes)
    for role in [role for role in _DISPENSABLE if role in used and len(used) > 1]:
        others = [codes[other] for other in used if other != role]
        if role == "cluster" and len(entries) == _count([of_entry, codes[role]]) < len(tidy):
            del labels[role]
            notes += ["clusters say something of players, not of rounds"] * bool(codes[role].any())
        elif not others or _count(others) < _count([*others, codes[role]]):
            continue
        used.remove(role)
    names: Labels = labels[used[0]]
    for role in used[1:]:
        names = names + "/" + labels[role]
    if used == ["cluster"] and tidy.layout == "wide":
        names = _numbered(names, of_entry)
    return replace(tidy, labels=labels | {"round": names}, notes=tuple(notes)), used


def _count(codes: Sequence[Any]) -> int:
    """How many combinations of names there are."""
    return len(set(zip(*(code.tolist() for code in codes), strict=True)))


def _numbered(names: Labels, entries: Any) -> Labels:
    """Names with a number, counted for every entry."""
    seen: Counter[Any] = Counter()
    numbered = []
    for pair in zip(names, entries.tolist(), strict=True):
        seen[pair] += 1
        numbered.append(f"{pair[0]}/{seen[pair]}")
    return np.array(numbered, object)


def _groups(tidy: Tidy, first: Any, asked: bool) -> list[str] | None:
    """What dependent rounds have in common, by the first row of every round."""
    for role in _SHARED:
        if role in tidy.labels:
            shared = tidy.labels[role][first].tolist()
            if (asked and role == "cluster") or 1 < len(set(shared)) < len(shared):
                return shared
    return None


def read_fold_scores(
    source: Any,
    *,
    folds: int | None = None,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> FoldScores:
    """Scores of repeated cross-validation that were computed elsewhere.

    Parameters
    ----------
    source : path, data frame or mapping
        A long table (learner, task, iteration, fold, score: one row per fit), a wide one (the
        learners in its columns, one row per fold or iteration), ``cv_results_`` of a scikit-learn
        search as it is or saved. A score is empty where a fit failed.
    folds : int, optional
        k, where there is one score per iteration; and where parts are numbered through all
        iterations, as in ``cv_results_``, of which k after each other are one iteration.
    use, leave_out, direction, **roles
        As of ``read_tidy``. Of losses (``direction="lower"``) the result has minus them.

    Returns
    -------
    FoldScores
        Larger is better. ``notes`` say what was read.

    Raises
    ------
    InputError
        What cannot be told; a fit with two scores or, where other learners have it, without a row.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(m, i, f, 0.8 + 0.1 * f) for m in "ab" for i in range(3) for f in range(2)]
    >>> frame = pd.DataFrame(rows, columns=["learner", "iteration", "fold", "roc_auc"])
    >>> read_fold_scores(frame)
    <FoldScores: 2 learners x 1 data set, 3 iterations of 2 folds>
    """
    if folds is not None:
        _FOLDS.check(folds, "folds")
    tidy = _with_task(read_tidy(source, use, leave_out, direction, **roles))
    tidy = _with_parts(tidy, folds)
    axes = ("task", "entry", "iteration", "fold")
    grid, names = tidy.pivot(*axes)
    there, _ = tidy.pivot(*axes, of=1.0)
    for axis in (2, 3):
        order = _order(names[axis])
        names[axis] = [names[axis][i] for i in order]
        grid, there = np.take(grid, order, axis), np.take(there, order, axis)
    _refuse_gaps(tidy.where, there == 1, names)
    single = grid.shape[3] == 1
    if single and folds is None:
        problem = "there is one score per iteration, and nothing says of how many folds"
        raise InputError(problem, where=tidy.where, parameter="folds", fix="give {option}")
    name = tidy.score or "score"
    with located(tidy.where):
        return FoldScores(
            -grid if tidy.lower_is_better else grid,
            learners=names[1],
            tasks=names[0],
            folds=folds if single else None,
            scorer=f"-{name}" if tidy.lower_is_better else name,
            notes=(tidy.sentence, *tidy.notes),
        )


def _with_task(tidy: Tidy) -> Tidy:
    """Scores of learners, with the data set, which may be the file's only one."""
    if tidy.layout in ("battles", "pair"):
        problem = f"this is a table of {tidy.layout}, and no cross-validation"
        raise InputError(problem, where=tidy.where)
    if tidy.lower_is_better and tidy.score.startswith(("-", "neg_")):
        problem = f"of {quoted(tidy.score)} larger is better already, by its name"
        raise InputError(problem, where=tidy.where, parameter="direction", fix="leave it out")
    if "task" in tidy.labels:
        return tidy
    return replace(tidy, labels=tidy.labels | {"task": np.full(len(tidy), tidy.name, object)})


def _with_parts(tidy: Tidy, k: int | None) -> Tidy:
    """Scores with iteration and fold; parts that are numbered through are split."""
    labels = tidy.labels
    part = next((role for role in ("fold", "unit") if role in labels), "")
    repeat = next((role for role in ("iteration", "run") if role in labels), "")
    if repeat:
        folds = labels[part] if part else np.full(len(tidy), "1", object)
        number = len(set(folds))
        if part and k not in (None, number):
            raise InputError(f"there are {number} folds, not folds={k}", where=tidy.where)
        return replace(tidy, labels=labels | {"iteration": labels[repeat], "fold": folds})
    if part != "fold" and k is None:
        problem = "no column names the iterations or the folds"
        fix = "say which with iteration and fold, or with {option} that rows are folds in order"
        raise InputError(problem, where=tidy.where, parameter="folds", fix=fix)
    if part:
        names, codes = tidy.names(part)
        numbers = np.argsort(_order(names))[codes]
    else:
        fits = tidy.labels["task"] + "\n" + tidy.labels["entry"]
        numbered = _numbered(fits, np.zeros(len(tidy), int))
        numbers = np.array([int(name.rpartition("/")[2]) - 1 for name in numbered])
    size = int(numbers.max()) + 1
    k = k or size
    if size % k:
        problem = f"{size} folds are no whole number of iterations of {k} folds"
        raise InputError(problem, where=tidy.where, parameter="folds", fix="give {option}")
    made = {"iteration": numbers // k, "fold": numbers % k}
    return replace(tidy, labels=labels | {r: n.astype(str).astype(object) for r, n in made.items()})


def _order(names: Sequence[str]) -> list[int]:
    """Places of names that are numbers in their order; others stay as they are."""
    try:
        return np.argsort([float(name) for name in names], kind="stable").tolist()
    except ValueError:
        return list(range(len(names)))


def _refuse_gaps(where: str, there: Any, names: Sequence[Sequence[str]]) -> None:
    """Every learner has a row for every partition of its task; later iterations may be missing."""
    counts = there.any(axis=(1, 3)) * np.arange(1, there.shape[2] + 1)
    needed = np.arange(there.shape[2]) < counts.max(axis=1)[:, None]
    gaps = np.argwhere(needed[:, None, :, None] & ~there)
    if gaps.size:
        kinds = ("data set", "learner", "iteration", "fold")
        parts = zip(kinds, names, gaps[0], strict=True)
        place = [f"{kind} {quoted(known[i])}" for kind, known, i in parts]
        problem = f"{', '.join(place)} has no row, and others have: all learners are needed on the "
        fix = "an empty score says that a fit failed"
        raise InputError(problem + "same partitions", where=where, fix=fix)


def read_test_scores(
    source: Any,
    like: FoldScores,
    *,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> FloatArray:
    """Scores of learners on true test sets, in the order of scores of cross-validation.

    Parameters
    ----------
    source : path or data frame
        A long table (learner, data set, score), or a wide one with the learners in its columns;
        without a column of data sets where there is one.
    like : FoldScores
        Whose learners and data sets are needed.
    use, leave_out, direction, **roles
        As of ``read_tidy``.

    Returns
    -------
    ndarray, shape (n_tasks, n_learners)
        Larger is better.

    Raises
    ------
    InputError
        A learner or data set that is missing or not known, two scores for one, no number.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = FoldScores([[[0.8, 0.9]], [[0.7, 0.8]]], learners=["nb", "tree"])
    >>> test = pd.DataFrame({"learner": ["tree", "nb"], "score": [0.78, 0.86]})
    >>> read_test_scores(test, runs).tolist()
    [[0.86, 0.78]]
    """
    tidy = _with_task(read_tidy(source, use, leave_out, direction, **roles))
    grid, (tasks, learners) = tidy.pivot("task", "entry")
    several = len(like.tasks) > 1 or len(tasks) > 1
    needed = {"learner": like.learners, "data set": like.tasks if several else tasks}
    for (kind, names), found in zip(needed.items(), (learners, tasks), strict=True):
        for odd in sorted(set(names) ^ set(found)):
            known = "is not among those of cross-validation"
            problem = known if odd in found else "has no test score"
            raise InputError(f"{kind} {quoted(odd)} {problem}", where=tidy.where)
    rows = [tasks.index(task) for task in needed["data set"]]
    grid = grid[np.ix_(rows, [learners.index(name) for name in like.learners])]
    if np.isnan(grid).any():
        task, learner = np.argwhere(np.isnan(grid))[0]
        problem = f"learner {quoted(like.learners[learner])} has no score on data set "
        raise InputError(problem + quoted(tasks[rows[task]]), where=tidy.where)
    return -grid if tidy.lower_is_better else grid
