r"""Scores of players in the rounds of a tournament, in the names of the Unified Benchmark Ontology.

A *player* gets a *score* in a *round*; a *match* compares two players' scores; the rounds that
belong together are a *tournament*; the *scheme* says what players and rounds stand for (Tables 1
and 2 of Gosiewska, Woźnica & Biecek 2022). Only the order of the scores of one round matters, so
that rounds may have different metrics, some of them lower is better.
``tests/data/test_score_table.py`` checks what is refused.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, codes_of, digest_of, nearest
from bayes_sota.core.types import FloatArray
from bayes_sota.data.frames import labelled_values
from bayes_sota.data.observed import Observed
from bayes_sota.data.printed_scores import check_finite, plain_matrix

Scheme = Literal["model/cv", "model/task", "dataset/model"]
_MEANING = "scores are a matrix of numbers, rounds x players, NaN where one is missing"


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ScoreTable(Observed):
    """Scores of players in the rounds of one tournament.

    Parameters
    ----------
    scores : array-like, shape (n_rounds, n_players)
        NaN where a player has no score in a round. A data frame brings the players'
        names, a pandas index the rounds'.
    players, rounds : sequence of str, optional
    lower_is_better : bool, sequence of bool, or names of rounds
        Of all rounds, or of these.
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
    ...     players=["a", "b", "c"], rounds=["accuracy", "error"], lower_is_better=["error"],
    ... )
    >>> table
    <ScoreTable 'tournament': 3 players x 2 rounds>
    >>> table.oriented[1].tolist()
    [-0.31, -0.33, -0.4]
    """

    scores: FloatArray
    players: tuple[str, ...]
    rounds: tuple[str, ...]
    lower_is_better: NDArray[np.bool_]
    groups: tuple[str, ...] | None
    scheme: Scheme
    tournament: str
    notes: tuple[str, ...]

    def __init__(
        self,
        scores: ArrayLike | Any,
        *,
        players: Sequence[str] | None = None,
        rounds: Sequence[str] | None = None,
        lower_is_better: bool | Iterable[bool] | Iterable[str] = False,
        groups: Sequence[str] | None = None,
        scheme: Scheme = "model/task",
        tournament: str = "tournament",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything once."""
        cells, columns, rows = labelled_values(scores)
        numbers = plain_matrix(cells, _MEANING)
        n_rounds, n_players = numbers.shape
        if n_players < 2:
            raise InputError(f"a tournament needs at least 2 players, got {n_players}")
        if n_rounds < 2:
            raise InputError(
                f"a tournament needs at least 2 rounds, got {n_rounds}: one round gives an order, "
                "and nothing about how it would come out in another"
            )
        check_choice("scheme", scheme, Scheme)
        names = checked_labels(columns if players is None else players, n_players, "player")
        labels = checked_labels(rows if rounds is None else rounds, n_rounds, "round")
        _check_scores(numbers, names, labels)
        self._set(
            scores=numbers,
            players=names,
            rounds=labels,
            lower_is_better=_orientations(lower_is_better, labels),
            groups=_checked_groups(groups, n_rounds),
            scheme=scheme,
            tournament=str(tournament),
            notes=tuple(notes),
        )

    def __repr__(self) -> str:
        """Size, and what is missing."""
        size = f"{self.n_players:,} players x {self.n_rounds:,} rounds"
        gaps = int(np.isnan(self.scores).sum())
        missing = f", {gaps:,} scores missing" if gaps else ""
        return f"<ScoreTable {self.tournament!r}: {size}{missing}>"

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.rounds)

    @property
    def n_players(self) -> int:
        """Number of players."""
        return len(self.players)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a score, shape (n_rounds, n_players)."""
        return ~np.isnan(self.scores)

    @property
    def complete(self) -> bool:
        """Every player has a score in every round."""
        return bool(self.present.all())

    @property
    def oriented(self) -> FloatArray:
        """Scores with the sign that makes larger better, shape (n_rounds, n_players)."""
        return np.where(self.lower_is_better[:, None], -self.scores, self.scores)

    @property
    def clusters(self) -> NDArray[np.intp]:
        """Cluster of each round, (n_rounds,): its group, or the round itself.

        Clusters are numbered from 0 in the order of their names, so that random draws for them do
        not depend on the order of the rounds.
        """
        names = self.rounds if self.groups is None else self.groups
        return codes_of(names)[1]

    @property
    def n_clusters(self) -> int:
        """Number of clusters: of rounds, where there are no groups."""
        return self.n_rounds if self.groups is None else len(set(self.groups))

    def player_index(self, player: str) -> int:
        """Place of a player, as ``nearest_player`` finds it."""
        return nearest_player(self.players, player)

    def without_groups(self) -> "ScoreTable":
        """The same scores with every round on its own."""
        return self._copy(groups=None)

    def subset(self, players: Sequence[str]) -> "ScoreTable":
        """The same rounds with these players only; rounds without any of them are left out."""
        chosen = [self.player_index(player) for player in players]
        kept = np.flatnonzero(self.present[:, chosen].any(axis=1))
        return ScoreTable(
            self.scores[np.ix_(kept, chosen)],
            players=[self.players[i] for i in chosen],
            rounds=[self.rounds[r] for r in kept],
            lower_is_better=self.lower_is_better[kept],
            groups=None if self.groups is None else [self.groups[r] for r in kept],
            scheme=self.scheme,
            tournament=self.tournament,
            notes=self.notes,
        )

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        rest = (self.players, self.rounds, self.groups, self.scheme, self.tournament)
        return digest_of(self.scores.shape, self.scores, self.lower_is_better, rest)


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


def _check_scores(numbers: FloatArray, players: Sequence[str], rounds: Sequence[str]) -> None:
    check_finite(numbers, (("round", rounds), ("player", players)))
    present = ~np.isnan(numbers)
    for kind, names, counts in (
        ("player", players, present.sum(axis=0)),
        ("round", rounds, present.sum(axis=1)),
    ):
        empty = [name for name, count in zip(names, counts, strict=True) if not count]
        if empty:
            raise InputError(f"{kind} {empty[0]!r} has no score at all")


def _orientations(
    lower: bool | Iterable[bool] | Iterable[str], rounds: Sequence[str]
) -> NDArray[np.bool_]:
    if isinstance(lower, (bool, np.bool_)):
        return np.full(len(rounds), bool(lower))
    flags = [lower] if isinstance(lower, str) else list(lower)
    if all(isinstance(flag, str) for flag in flags):
        unknown = [flag for flag in flags if flag not in rounds]
        if unknown:
            raise InputError(f"lower_is_better names a round {unknown[0]!r} that is not there")
        return np.array([label in flags for label in rounds])
    if len(flags) != len(rounds) or not all(isinstance(flag, (bool, np.bool_)) for flag in flags):
        raise InputError(
            f"lower_is_better is one bool, one per round ({len(rounds)}) or names of rounds"
        )
    return np.array(flags, dtype=bool)


def _checked_groups(groups: Sequence[str] | None, n_rounds: int) -> tuple[str, ...] | None:
    if groups is None:
        return None
    labels = tuple(str(label) for label in groups)
    if len(labels) != n_rounds:
        raise InputError(f"there are {n_rounds} rounds and {len(labels)} groups of rounds")
    if len(set(labels)) < 2:
        raise InputError(
            f"all rounds are of one group {labels[0]!r}: at least two independent groups are "
            "needed to see how results vary"
        )
    return labels
