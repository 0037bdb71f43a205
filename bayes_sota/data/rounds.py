"""Scores of players in rounds, battles, and scores of cross-validation, from any table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import Range, check_choice
from bayes_sota.core.errors import InputError, listed
from bayes_sota.data.battles import find_battles
from bayes_sota.data.cells import parse_cell
from bayes_sota.data.opening import read_table
from bayes_sota.data.reading import Direction, read_tidy
from bayes_sota.data.roles import NAMELESS, UNITS
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Labels, Tidy
from bayes_sota.data.tournaments import Matches, Scheme, ScoreTable
from bayes_sota.data.words import key, place_in

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
        groups=clusters,
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
