r"""Results of a tournament, in the names of the Unified Benchmark Ontology.

A *player* gets a *score* in a *round*; a *match* compares two players' scores, or is all that is
known, as in arenas of language models; the rounds or matches that belong together are a
*tournament*; the *scheme* says what players and rounds stand for (Tables 1 and 2 of Gosiewska,
Woźnica & Biecek 2022). Only the order of the scores of one round matters, so that rounds may have
different metrics, some of them lower is better. ``tests/data/test_tournaments.py`` checks what is
refused.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError, listed
from bayes_sota.core.text import checked_labels, codes_of, nearest
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import Observed
from bayes_sota.data.printed_scores import check_finite
from bayes_sota.data.tables import labelled_matrix

Scheme = Literal["model/cv", "model/task", "dataset/model"]


@dataclass(frozen=True, eq=False, repr=False)
class Tournament(Observed):
    """What score tables and matches have in common.

    Attributes
    ----------
    clusters : ndarray of int, shape (n_rounds,) or (n_matches,)
        Which rounds or matches depend on each other: those of one group. Clusters are numbered from
        0 in the order of their names, so that random draws for them do not depend on the order of
        the rounds. Without groups, every round or match is a cluster.
    """

    _: KW_ONLY
    players: Sequence[str] = ()
    groups: Sequence[Any] | None = None
    tournament: str = "tournament"
    notes: Sequence[str] = ()
    clusters: NDArray[np.intp] = field(init=False)

    @property
    def n_players(self) -> int:
        """Number of players."""
        return len(self.players)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.clusters.max()) + 1

    def _set_shared(self, players: tuple[str, ...], size: int, kind: str) -> None:
        """Check and set what both have; results of one group alone do not show how they vary."""
        if len(players) < 2 or size < 2:
            got = f"got {len(players)} and {size}"
            raise InputError(f"a tournament needs at least 2 players and 2 {kind}, {got}")
        groups = None if self.groups is None else tuple(map(str, self.groups))
        if groups is not None and (len(groups) != size or len(set(groups)) < 2):
            got = f"got {len(groups):,} labels, {len(set(groups)):,} different"
            raise InputError(f"groups label each of {size:,} {kind}, and differ; {got}")
        self._set(players=players, groups=groups, notes=tuple(self.notes))


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Tournament):
    """Scores of players in the rounds of one tournament.

    Parameters
    ----------
    scores : array-like, shape (n_rounds, n_players)
        NaN where a player has no score in a round. A data frame brings the players'
        names, a pandas index the rounds'.
    players, rounds : sequence of str, optional
    lower_is_better : bool or sequence of bool
        Of all rounds, or of each.
    groups : sequence of str, optional
        One label per round; rounds of one group depend on each other (folds of one repetition,
        data sets of one family) and count as one cluster.
    scheme : {"model/cv", "model/task", "dataset/model"}
        What players and rounds are: models and splits of one data set; models and tasks; data sets
        and models.
    tournament : str
        Name of the tournament.
    notes : sequence of str
        How the scores were read.

    Attributes
    ----------
    scores : ndarray, shape (n_rounds, n_players)
        As given.
    lower_is_better : ndarray of bool, shape (n_rounds,)
    clusters : ndarray of int, shape (n_rounds,)
        The group of each round, or the round itself, numbered from 0.
    players, rounds, groups, scheme, tournament, notes

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
    >>> table
    <ScoreTable 'tournament': 3 players x 2 rounds>
    >>> table.oriented[1].tolist()
    [-0.31, -0.33, -0.4]
    """

    scores: Any
    _: KW_ONLY
    rounds: Sequence[str] = ()
    lower_is_better: Any = False
    scheme: Scheme = "model/task"

    def __post_init__(self) -> None:
        """Check everything once."""
        meaning = "scores are a matrix of numbers, rounds x players, NaN where one is missing"
        scores, columns, rows = labelled_matrix(self.scores, meaning)
        n_rounds, n_players = scores.shape
        check_choice("scheme", self.scheme, Scheme)
        lower = np.asarray(self.lower_is_better)
        if lower.dtype != bool or lower.shape not in ((), (n_rounds,)):
            raise InputError(f"lower_is_better is one bool, or one for each of {n_rounds} rounds")
        names = self.players if len(self.players) else columns
        players = checked_labels(names, n_players, "player")
        rounds = checked_labels(self.rounds if len(self.rounds) else rows, n_rounds, "round")
        self._set_shared(players, n_rounds, "rounds")
        check_finite(scores, (("round", rounds), ("player", players)))
        for axis, kind, names in ((1, "round", rounds), (0, "player", players)):
            empty = np.isnan(scores).all(axis=axis)
            if empty.any():
                raise InputError(f"{kind} {names[np.argmax(empty)]!r} has no score at all")
        clusters = codes_of(self.groups or rounds)[1]
        lower = np.full(n_rounds, lower)
        self._set(scores=scores, rounds=rounds, lower_is_better=lower, clusters=clusters)

    def __repr__(self) -> str:
        """Size."""
        size = f"{self.n_players:,} players x {self.n_rounds:,} rounds"
        return f"<ScoreTable {self.tournament!r}: {size}>"

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.rounds)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a score, shape (n_rounds, n_players)."""
        return ~np.isnan(self.scores)

    @property
    def oriented(self) -> FloatArray:
        """Scores with the sign that makes larger better, shape (n_rounds, n_players)."""
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
        Label of the round, prompt, judge or user that a match belongs to; matches of one group
        depend on each other and count as one cluster. Default: all matches are independent.
    tournament : str
    notes : sequence of str
        How the matches were read.

    Attributes
    ----------
    clusters : ndarray of int, shape (n_matches,)
        The group of each match, or the match itself, numbered from 0.
    first, second, outcomes, players, groups, tournament, notes

    Raises
    ------
    InputError
        Other outcomes, a player against itself, players without a match, lengths that differ.

    Examples
    --------
    >>> Matches.from_names(["a", "b", "a"], ["b", "c", "c"], [1, 0.5, 1])
    <Matches 'tournament': 3 matches of 3 players>
    """

    first: Any
    second: Any
    outcomes: Any

    def __post_init__(self) -> None:
        """Check everything once."""
        players = checked_labels(self.players, len(self.players), "player")
        first, second = np.asarray(self.first), np.asarray(self.second)
        outcomes = np.array(self.outcomes, np.float64)
        if not first.shape == second.shape == outcomes.shape == (outcomes.size,):
            got = f"got {first.size}, {second.size} and {outcomes.size}"
            raise InputError(f"every match has two players and an outcome, {got} of them")
        self._set_shared(players, outcomes.size, "matches")
        places = set(np.unique([first, second]).tolist())
        if odd := places.symmetric_difference(range(len(players))):
            problem = f"places of players are 0 to {len(players) - 1}, each at least once, not"
            raise InputError(f"{problem} {listed(odd)}", fix="Matches.from_names takes names")
        bad = np.flatnonzero((first == second) | ~np.isin(outcomes, (0, 0.5, 1)))
        if bad.size:
            one, other, outcome = (values[bad[0]] for values in (first, second, outcomes))
            match = f"match {bad[0] + 1}, {players[one]!r} against {players[other]!r}, {outcome:g}"
            raise InputError(f"{match}: two players differ, an outcome is 1, 0 or 0.5 (a tie)")
        clusters = codes_of(self.groups)[1] if self.groups else np.arange(outcomes.size)
        first, second = first.astype(np.intp), second.astype(np.intp)
        self._set(first=first, second=second, outcomes=outcomes, clusters=clusters)

    @classmethod
    def from_names(
        cls, first: Iterable[Any], second: Iterable[Any], outcomes: ArrayLike, **options: Any
    ) -> "Matches":
        """Matches of players by their names, in the order in which they first appear.

        Options are those of the constructor.
        """
        places: dict[str, int] = defaultdict(count().__next__)
        one, other = ([places[str(name)] for name in names] for names in (first, second))
        return cls(one, other, outcomes, players=list(places), **options)

    def __repr__(self) -> str:
        """Size."""
        size = f"{self.n_matches:,} matches of {self.n_players:,} players"
        return f"<Matches {self.tournament!r}: {size}>"

    @property
    def n_matches(self) -> int:
        """Number of matches."""
        return int(self.outcomes.size)


def nearest_player(players: Sequence[str], player: str) -> int:
    """Place of a player among names.

    Raises
    ------
    InputError
        If there is none of that name; the nearest names are given.

    Examples
    --------
    >>> nearest_player(["resnet", "vit"], "vit")
    1
    """
    try:
        return list(players).index(player)
    except ValueError:
        raise InputError(f"there is no player {player!r}{nearest(player, players)}") from None
