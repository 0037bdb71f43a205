"""Results of a tournament, in the names of the Unified Benchmark Ontology.

A *player* gets a *score* in a *round*; a *match* compares two players; the rounds or matches that
belong together are a *tournament*; the *scheme* says what players and rounds stand for (Tables 1
and 2 of Gosiewska, Woźnica & Biecek 2022). Only the order of the scores of one round matters.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import compress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError, listed, located
from bayes_sota.core.text import checked_clusters, checked_labels, codes_of
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import Observed
from bayes_sota.data.printed_scores import check_scores
from bayes_sota.data.reading import read_all, read_tidy
from bayes_sota.data.tables import check_columns, labelled_matrix
from bayes_sota.data.tidy import Tidy

Orientation = Literal["rows", "columns"]
Scheme = Literal["model/cv", "model/task", "dataset/model"]

_COARSE_TO_FINE = ("cluster", "task", "metric", "iteration", "run", "fold", "unit")
_SHARED = ("cluster", "task", "iteration", "run")  # what dependent rounds have in common
_MOST_BATTLES = 20_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Tournament(Observed):
    """Base of score tables and matches; ``clusters`` are numbered in the order of their names."""

    _: KW_ONLY
    players: Sequence[str] = ()
    groups: Sequence[Any] | None = None
    tournament: str = "tournament"
    notes: Sequence[str] = ()
    clusters: NDArray[np.intp] = field(init=False)

    _kind = "rounds"

    def __repr__(self) -> str:
        size = f"{self.n_players:,} players, {self.clusters.size:,} {self._kind}"
        return f"<{type(self).__name__} {self.tournament!r}: {size}>"

    @property
    def n_players(self) -> int:
        return len(self.players)

    @property
    def n_clusters(self) -> int:
        return int(self.clusters.max(initial=-1)) + 1

    def _set_shared(self, players: tuple[str, ...], clusters: NDArray[np.intp]) -> None:
        groups = checked_clusters(self.groups, clusters.size, "group", self._kind)
        clusters = codes_of(groups)[1] if groups else clusters
        self._set(players=players, groups=groups, clusters=clusters, notes=tuple(self.notes))
        if self.n_players < 2 or self.n_clusters < 2:
            problem = f"a tournament needs at least 2 players and 2 independent {self._kind}"
            raise InputError(f"{problem}, got {self.n_players} and {self.n_clusters}")


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Tournament):
    """Scores of players in the rounds of one tournament.

    Parameters
    ----------
    scores : array-like, shape (n_rounds, n_players)
        NaN where a player has no score. The columns of a data frame name the players, a pandas
        index the rounds.
    players, rounds : sequence of str, optional
    lower_is_better : bool or sequence of bool
        For all rounds, or for each.
    groups : sequence of str, optional
        One label per round; rounds of one group depend on each other, such as folds of one
        repetition, and count as one cluster.
    scheme : {"model/cv", "model/task", "dataset/model"}
        What players and rounds are: models and splits of one data set; models and tasks; data sets
        and models.
    tournament : str
    notes : sequence of str

    Attributes
    ----------
    lower_is_better : ndarray of bool, shape (n_rounds,)
    clusters : ndarray of int, shape (n_rounds,)
        The group of each round, or the round itself, numbered from 0.
    scores, players, rounds, groups, scheme, tournament, notes

    Raises
    ------
    InputError
        One player or one round, numbers that are infinite, a player or a round without any score,
        names that repeat or do not match.

    Examples
    --------
    >>> table = ScoreTable(
    ...     [[0.91, 0.90, 0.85], [0.31, 0.33, 0.40]],
    ...     players=["a", "b", "c"], rounds=["accuracy", "error"], lower_is_better=[False, True],
    ... )
    >>> table, table.oriented[1].tolist()
    (<ScoreTable 'tournament': 3 players, 2 rounds>, [-0.31, -0.33, -0.4])
    """

    scores: Any
    _: KW_ONLY
    rounds: Sequence[str] = ()
    lower_is_better: Any = False
    scheme: Scheme = "model/task"

    def __post_init__(self) -> None:
        meaning = "scores are a matrix of numbers, rounds x players, NaN where one is missing"
        scores, columns, rows = labelled_matrix(self.scores, meaning)
        check_columns(() if self.players else columns or (), "player", "read_scores")
        lower = np.asarray(self.lower_is_better)
        if lower.dtype != bool or lower.shape not in ((), scores.shape[:1]):
            raise InputError(f"lower_is_better is a bool, or one for each of {len(scores)} rounds")
        players = checked_labels(list(self.players) or columns, scores.shape[1], "player")
        rounds = checked_labels(list(self.rounds) or rows, len(scores), "round")
        self._set_shared(players, codes_of(rounds)[1])
        check_scores(scores, {"round": rounds, "player": players})
        check_scores(scores.T, {"player": players, "round": rounds})
        self._set(scores=scores, rounds=rounds, lower_is_better=np.full(len(scores), lower))

    @property
    def n_rounds(self) -> int:
        return len(self.rounds)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a score, (n_rounds, n_players)."""
        return ~np.isnan(self.scores)

    @property
    def oriented(self) -> FloatArray:
        """Scores with the sign that makes larger better, (n_rounds, n_players)."""
        return np.where(self.lower_is_better[:, None], -self.scores, self.scores)


@dataclass(frozen=True, eq=False, repr=False)
class Matches(Tournament):
    """Matches between two players, each won, lost or tied.

    Parameters
    ----------
    first, second : array-like of int, shape (n_matches,)
        Places of the two players among ``players``.
    outcomes : array-like, shape (n_matches,)
        1 if the first won, 0 if the second, 0.5 for a tie.
    players : sequence of str
    groups : sequence, shape (n_matches,), optional
        Round, prompt, judge or user of each match; matches of one group count as one cluster.
    tournament : str
    notes : sequence of str

    Attributes
    ----------
    clusters : ndarray of int, shape (n_matches,)
        The group of each match, or the match itself, numbered from 0.
    first, second, outcomes, players, groups, tournament, notes

    Raises
    ------
    InputError
        Other outcomes, a player against itself, lengths that differ.

    Examples
    --------
    >>> Matches(["a", "b", "a"], ["b", "c", "c"], [1, 0.5, 1])
    <Matches 'tournament': 3 players, 3 matches>
    """

    first: Any
    second: Any
    outcomes: Any
    _kind = "matches"

    def __post_init__(self) -> None:
        first, second, players = self.first, self.second, self.players
        if not len(players):  # these are names
            players = list(dict.fromkeys(map(str, [*first, *second])))
            place = {name: i for i, name in enumerate(players)}
            first, second = ([place[str(name)] for name in names] for names in (first, second))
        first, second, outcomes = np.array(first), np.array(second), np.array(self.outcomes, float)
        sizes = first.size, second.size, outcomes.size
        if len(set(sizes)) > 1:
            raise InputError(
                f"first, second and outcomes have {sizes} values: each match needs one of each"
            )
        players = checked_labels(players, len(players), "player")
        self._set_shared(players, np.arange(outcomes.size))
        known = np.isin([first, second], range(len(players))).all(axis=0)
        bad = ~known | (first == second) | ~np.isin(outcomes, (0, 0.5, 1))
        if bad.any():
            row = bad.argmax()
            match = f"match {row + 1}, {first[row]} against {second[row]}, {outcomes[row]:g}"
            needed = f"two places among {len(players)} players that differ, and 1, 0 or 0.5 (a tie)"
            raise InputError(f"{match}: a match needs {needed}", fix="give no players beside names")
        self._set(first=first, second=second, outcomes=outcomes)


def read_scores(
    source: Any, *, players: Orientation | None = None, scheme: Scheme | None = None, **reading: Any
) -> ScoreTable | Matches | dict[str, ScoreTable | Matches]:
    """Scores of players in the rounds of a tournament, or battles between players.

    Parameters
    ----------
    source : path, list of paths, or data frame
        A table of scores, wide or long; battles; or results of lm-evaluation-harness, one file per
        model. The rounds "1" of data sets d and e are "d/1" and "e/1", and rounds of one data set,
        or one ``group``, depend on each other.
    players : {"rows", "columns"}, optional
        Where the players of a wide table are. Default: by the names of columns.
    scheme : {"model/cv", "model/task", "dataset/model"}, optional
        Default: "model/cv" where rounds are folds or splits, else "model/task".
    **reading
        ``use``, ``leave_out``, ``direction`` and columns by their roles, as in ``read_tidy``:
        ``entry`` names the players, ``unit`` the rounds, ``tournament`` the tournaments, ``group``
        what dependent rounds or battles have in common.

    Returns
    -------
    ScoreTable or Matches
        A dict of them by tournament where a column names tournaments.

    Raises
    ------
    InputError
        A player with two scores in one round, fewer than two players or rounds, shares of wins
        without numbers, a table that could be two things.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("a", 1, 0.9), ("b", 1, 0.8), ("a", 2, 0.7), ("b", 2, 0.6)]
    >>> table = read_scores(pd.DataFrame(rows, columns=["model", "fold", "auc"]))
    >>> table.players, table.rounds, table.scheme
    (('a', 'b'), ('1', '2'), 'model/cv')
    """
    if players is not None:
        check_choice("players", players, Orientation)
        source = read_all(source, reading.get("score"))
        reading.setdefault("entry" if players == "rows" else "unit", source[0].first_text())
    tidy = read_tidy(source, **reading)
    if reading.get("direction"):  # which wins over what the table says of a round
        tidy = replace(tidy, labels={r: tidy.labels[r] for r in tidy.labels if r != "direction"})
    with located(tidy.where, "this file was read as " + tidy.sentence[6:].rstrip(".")):
        if "tournament" not in tidy.labels:
            return _tournament(tidy, scheme)
        names, codes = tidy.names("tournament")
        parts = {name: tidy.take(np.flatnonzero(codes == i)) for i, name in enumerate(names)}
        return {of: _tournament(replace(part, name=of), scheme) for of, part in parts.items()}


def _tournament(tidy: Tidy, scheme: Scheme | None) -> ScoreTable | Matches:
    if tidy.layout == "battles":
        return _matches(tidy)
    tidy, used = _with_rounds(tidy)
    grid, (rounds, players) = tidy.pivot("round", "entry")
    has_round, has_player = (~np.isnan(grid).all(axis=axis) for axis in (1, 0))
    empty = [*compress(rounds, ~has_round), *compress(players, ~has_player)]
    note = f"dropped rounds and players without any score: {listed(empty)}"
    low = (grid > 0) & (grid <= 1) & (np.mean(grid >= 10, axis=1, keepdims=True) > 0.5)
    low_in = listed(compress(rounds, low.any(axis=1)))
    mixed = f"check the units of round {low_in}: a score of at most 1 is among scores above 10"
    first = np.unique(tidy.names("round")[1], return_index=True)[1][has_round]
    told = tidy.labels.get("direction")
    lower = told is not None and [word.lower() in ("false", "0") for word in told[first]]
    return ScoreTable(
        grid[np.ix_(has_round, has_player)],
        players=list(compress(players, has_player)),
        rounds=list(compress(rounds, has_round)),
        lower_is_better=lower or tidy.lower_is_better,
        groups=_groups(tidy, first),
        scheme=scheme or ("model/cv" if {"fold", "iteration", "run"} & set(used) else "model/task"),
        tournament=tidy.name,
        notes=(tidy.sentence, *tidy.notes, *[note] * bool(empty), *[mixed] * bool(low_in)),
    )


def _matches(tidy: Tidy) -> Matches:
    number = tidy.numbers["count"]
    is_right = (number >= 0) & (number % 1 == 0) & (np.cumsum(number) <= _MOST_BATTLES)
    if not is_right.all():
        row = is_right.argmin()
        problem = f"numbers of battles must be whole and at most {_MOST_BATTLES:,} in all"
        raise InputError(f"{problem}, got {number[row]:g}", line=tidy.lines[row])
    played = tidy.take(np.repeat(np.arange(len(tidy)), number.astype(np.intp)))
    return Matches(
        played.labels["entry"],
        played.labels["opponent"],
        played.value,
        groups=_groups(played, slice(None)),
        tournament=tidy.name,
        notes=(tidy.sentence, *tidy.notes),
    )


def _with_rounds(tidy: Tidy) -> tuple[Tidy, list[str]]:
    """Scores with the label ``round``, and the roles that it is made of."""
    labels, notes = dict(tidy.labels), list(tidy.notes)
    used = sorted(tidy.units, key=_COARSE_TO_FINE.index)
    of_players = tidy.count("entry", used[0]) == tidy.count("entry") < len(tidy)
    if used[0] == "cluster" and len(used) > 1 and of_players:
        used.pop(0)
        del labels["cluster"]
        notes.append("clusters are groups of players, not of rounds")
    for role in reversed(used):
        others = [other for other in used if other != role]
        if others and tidy.count(*others) == tidy.count(*used):
            used = others
    names = ["/".join(parts) for parts in zip(*(labels[role] for role in used), strict=True)]
    labels["round"] = np.array(names, object)
    return replace(tidy, labels=labels, notes=tuple(notes)), used


def _groups(tidy: Tidy, rows: Any) -> list[str] | None:
    """Groups of dependent rounds, by one row of each round."""
    for role in _SHARED:
        if role in tidy.labels:
            shared = tidy.labels[role][rows].tolist()
            asked = role == "cluster" and role in tidy.asked
            if asked or 1 < len(set(shared)) < len(shared):
                return shared
    return None
