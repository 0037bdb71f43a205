"""Scores of players in rounds, or battles, from any table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError, listed
from bayes_sota.data.battles import read_battles
from bayes_sota.data.opening import read_table
from bayes_sota.data.reading import read_tidy
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Tidy, numbered
from bayes_sota.data.tournaments import Matches, Scheme, ScoreTable
from bayes_sota.data.words import NAMELESS, UNITS, is_role_word, key

type Orientation = Literal["auto", "rows", "columns"]

_COARSE_TO_FINE = ("cluster", "task", "metric", "iteration", "run", "fold", "unit")
_DISPENSABLE = ("cluster", "metric", "unit", "fold", "run", "iteration", "task")  # the first most
_SHARED = ("cluster", "task", "iteration", "run")  # what dependent rounds have in common
_MOST_BATTLES = 20_000_000


def read_scores(
    source: Any, *, players: Orientation = "auto", scheme: Scheme | None = None, **reading: Any
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
    **reading
        ``use``, ``leave_out``, ``direction`` and columns by their roles, as of ``read_tidy``:
        ``entry`` names the players, ``unit`` the rounds, ``tournament`` the tournaments, ``group``
        or ``cluster`` what dependent rounds or battles have in common.

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
    table = read_table(source, reading.get("score"))
    if table.origin:  # the log of a tool, whose metric it is
        reading.pop("score", None)
    if players != "auto" and read_battles(table, reading) is None:
        table, reading = _turned(table, "entry" if players == "rows" else "unit", reading)
    tidy = read_tidy(table, **reading)
    if reading.get("direction"):  # which wins over what the table says of a round
        tidy = replace(tidy, labels={r: tidy.labels[r] for r in tidy.labels if r != "direction"})
    grouped = bool(reading.keys() & {"group", "cluster"})
    if "tournament" in tidy.labels:
        names, codes = tidy.names("tournament")
        parts = {name: tidy.take(np.flatnonzero(codes == i)) for i, name in enumerate(names)}
        return {name: _tournament(part, name, scheme, grouped) for name, part in parts.items()}
    name = "tournament" if tidy.where == "the data frame" else tidy.name
    return _tournament(tidy, name, scheme, grouped)


def _turned(table: Table, role: str, reading: dict[str, Any]) -> tuple[Table, dict[str, Any]]:
    """Table and options by which its rows are of a role: players or rounds."""
    models = [name for name in table.columns if is_role_word(name, "entry")]
    rounds = [name for name in table.columns if is_role_word(name, *UNITS)]
    if role in reading or (role == "unit" and rounds and not models):
        return table, reading
    nameless = [name for name in table.columns if key(name) in NAMELESS]
    texts = [name for name in table.columns if not table.parsed(name).is_numeric]
    names = [*models, *nameless, *rounds, *texts]
    if role == "entry" and not names:
        rows: list[Any] = [str(row) for row in range(1, len(table) + 1)]
        table, names = replace(table, columns={"player": rows, **table.columns}), ["player"]
    return table, reading | dict(zip([role], names, strict=False))


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
    number = tidy.numbers["count"]
    bad = np.flatnonzero(~((number >= 0) & (number % 1 == 0)))
    if bad.size:
        problem = f"a whole number of battles is needed, got {number[bad[0]]:g}"
        fix = "shares of wins do not say how many battles there were"
        raise InputError(problem, where=tidy.where, line=tidy.lines[bad[0]], fix=fix)
    if number.sum() > _MOST_BATTLES:
        raise InputError(f"{number.sum():,.0f} battles are more than {_MOST_BATTLES:,}")
    played = tidy.take(np.repeat(np.arange(len(tidy)), number.astype(np.intp)))
    groups = played.labels["cluster"].tolist() if "cluster" in played.labels else None
    if groups and not grouped and len(set(groups)) < 2:
        groups = None  # called so, and the same everywhere
    return Matches.from_names(
        played.labels["entry"].tolist(),
        played.labels["opponent"].tolist(),
        played.value,
        groups=groups,
        tournament=name,
        notes=(tidy.sentence, *tidy.notes),
    )


def _score_table(tidy: Tidy, name: str, scheme: Scheme | None, grouped: bool) -> ScoreTable:
    if tidy.layout in ("board", "pair"):
        problem = "a tournament needs scores of several rounds, and this is a leaderboard"
        raise InputError(problem, fix="bayes-sota board and paired read leaderboards")
    tidy, used = _with_rounds(tidy)
    grid, axes = tidy.pivot("round", "entry")
    rounds, players = (np.array(names, object) for names in axes)
    present = ~np.isnan(grid)
    has_round, has_player = present.any(axis=1), present.any(axis=0)
    notes, empty = [tidy.sentence, *tidy.notes], [*rounds[~has_round], *players[~has_player]]
    if empty:
        notes.append(f"dropped rounds and players without any score: {listed(empty)}")
    if np.isin(grid[present], (0.0, 1.0)).all():
        notes.append(
            "all scores are 0 or 1, like answers to items: a skill is then about which items two "
            "players differ on, not an accuracy; bayes-sota board reads answers"
        )
    first = np.unique(tidy.names("round")[1], return_index=True)[1][has_round]
    told = tidy.labels.get("direction")
    lower = told is not None and [word.lower() in ("false", "0") for word in told[first]]
    return ScoreTable(
        grid[np.ix_(has_round, has_player)],
        players=players[has_player],
        rounds=rounds[has_round],
        lower_is_better=lower or tidy.lower_is_better,
        groups=_groups(tidy, first, grouped),
        scheme=scheme or ("model/cv" if {"fold", "iteration", "run"} & set(used) else "model/task"),
        tournament=name,
        notes=notes,
    )


def _with_rounds(tidy: Tidy) -> tuple[Tidy, list[str]]:
    """Scores with the label ``round``, and the roles that it is made of."""
    labels, notes = dict(tidy.labels), list(tidy.notes)
    used = [role for role in _COARSE_TO_FINE if role in labels]
    of_players = _count(tidy, ["entry", *used[:1]]) == _count(tidy, ["entry"]) < len(tidy)
    if used[0] == "cluster" and len(used) > 1 and of_players:
        used = used[1:]
        del labels["cluster"]
        notes.append("clusters say something of players, not of rounds")
    for role in [role for role in _DISPENSABLE if role in used]:
        others = [other for other in used if other != role]
        if others and _count(tidy, others) == _count(tidy, used):
            used = others
    names = ["/".join(parts) for parts in zip(*(labels[role] for role in used), strict=True)]
    if tidy.layout == "wide" and _count(tidy, ["entry", *used]) < len(tidy):
        number = numbered(zip(names, labels["entry"], strict=True))
        names = [f"{name}/{i}" for name, i in zip(names, number, strict=True)]
        labels["cluster"] = labels[used[0]]
        notes.append("rows of one name are numbered, and depend on each other")
    labels["round"] = np.array(names, object)
    return replace(tidy, labels=labels, notes=tuple(notes)), used


def _count(tidy: Tidy, roles: Sequence[str]) -> int:
    """How many combinations of names there are."""
    return len(set(zip(*(tidy.labels[role].tolist() for role in roles), strict=True)))


def _groups(tidy: Tidy, first: Any, asked: bool) -> list[str] | None:
    """What dependent rounds have in common, by the first row of every round."""
    for role in _SHARED:
        if role in tidy.labels:
            shared = tidy.labels[role][first].tolist()
            if (asked and role == "cluster") or 1 < len(set(shared)) < len(shared):
                return shared
    return None
