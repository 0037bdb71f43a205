r"""Matches of two players each, as arenas of language models list them: won, lost or tied.

``tests/data/test_score_table.py`` checks what is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, codes_of, digest_of
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import Observed
from bayes_sota.data.score_table import nearest_player


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Matches(Observed):
    """Matches between two players, each won, lost or tied.

    Parameters
    ----------
    first, second : array-like of int, shape (n_matches,)
        Places of the two players among ``players``.
    outcomes : array-like, shape (n_matches,)
        1 if the first won, 0 if the second, 0.5 for a tie.
    players : sequence of str
    clusters : sequence, shape (n_matches,), optional
        Label of the round, prompt, judge or user that a match belongs to; matches of one cluster
        depend on each other. Default: all matches are independent.
    tournament : str
    notes : sequence of str
        How the matches were read.

    Attributes
    ----------
    first, second, outcomes, players, tournament, notes
    clusters : ndarray of int, shape (n_matches,)
        Numbered from 0.
    clustered : bool
        Whether clusters were given.

    Raises
    ------
    InputError
        Other outcomes, a player against itself, players without a match, lengths that differ.

    Examples
    --------
    >>> Matches.from_names(["a", "b", "a"], ["b", "c", "c"], [1, 0.5, 1])
    <Matches 'tournament': 3 matches of 3 players, 1 tie>
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    outcomes: FloatArray
    players: tuple[str, ...]
    clusters: NDArray[np.intp]
    clustered: bool
    tournament: str
    notes: tuple[str, ...]

    def __init__(
        self,
        first: ArrayLike,
        second: ArrayLike,
        outcomes: ArrayLike,
        *,
        players: Sequence[str],
        clusters: Sequence[Any] | None = None,
        tournament: str = "tournament",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything once."""
        names = checked_labels(players, len(players), "player")
        if len(names) < 2:
            raise InputError(f"a tournament needs at least 2 players, got {len(names)}")
        a, b = _as_places(first), _as_places(second)
        y = np.array(outcomes, np.float64)
        if not (a.ndim == b.ndim == y.ndim == 1 and a.size == b.size == y.size):
            raise InputError(
                f"matches have a first and a second player and an outcome each, got {a.size}, "
                f"{b.size} and {y.size}"
            )
        _check_matches(a, b, y, names)
        if clusters is not None and (isinstance(clusters, str) or len(clusters) != y.size):
            raise InputError(f"there are {y.size:,} matches and {len(clusters):,} clusters")
        labels = np.arange(y.size) if clusters is None else codes_of(list(map(str, clusters)))[1]
        if clusters is not None and labels.max() == 0:
            raise InputError(
                "all matches are of one cluster: at least two independent ones are needed to see "
                "how results vary"
            )
        self._set(
            first=a,
            second=b,
            outcomes=y,
            players=names,
            clusters=labels,
            clustered=clusters is not None,
            tournament=str(tournament),
            notes=tuple(notes),
        )

    @classmethod
    def from_names(
        cls,
        first: Sequence[str],
        second: Sequence[str],
        outcomes: ArrayLike,
        **options: Any,
    ) -> "Matches":
        """Matches of players by their names, in the order in which they first appear.

        Options are those of the constructor.
        """
        if len(first) != len(second):
            raise InputError(f"{len(first):,} first players and {len(second):,} second ones")
        sides = [[str(name) for name in names] for names in (first, second)]
        places = {name: place for place, name in enumerate(dict.fromkeys(sides[0] + sides[1]))}
        one, other = ([places[name] for name in names] for names in sides)
        return cls(one, other, outcomes, players=list(places), **options)

    def __repr__(self) -> str:
        """Size."""
        ties = int(np.sum(self.outcomes == 0.5))
        told = f", {ties:,} tie{'s' if ties > 1 else ''}" if ties else ""
        size = f"{self.n_matches:,} matches of {self.n_players:,} players"
        return f"<Matches {self.tournament!r}: {size}{told}>"

    @property
    def n_matches(self) -> int:
        """Number of matches."""
        return int(self.outcomes.size)

    @property
    def n_players(self) -> int:
        """Number of players."""
        return len(self.players)

    @property
    def n_clusters(self) -> int:
        """Number of clusters: of matches, where none were given."""
        return int(self.clusters.max()) + 1

    def player_index(self, player: str) -> int:
        """Place of a player, as in ``ScoreTable``."""
        return nearest_player(self.players, player)

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        arrays = (self.first, self.second, self.outcomes, self.clusters)
        return digest_of((self.players, self.clustered, self.tournament), *arrays)


def _as_places(players: ArrayLike) -> NDArray[np.intp]:
    places = np.asarray(players)
    if places.size and not np.issubdtype(places.dtype, np.integer):
        raise InputError(
            f"players of matches are whole numbers, their places, got {places.dtype}; by their "
            "names it is Matches.from_names"
        )
    return places.astype(np.intp)


def _check_matches(
    first: NDArray[np.intp], second: NDArray[np.intp], outcomes: FloatArray, players: Sequence[str]
) -> None:
    if outcomes.size < 2:
        raise InputError(f"a tournament needs at least 2 matches, got {outcomes.size}")
    bad = np.flatnonzero(~np.isin(outcomes, (0.0, 0.5, 1.0)))
    if bad.size:
        raise InputError(
            f"match {bad[0] + 1}: an outcome is 1 (the first won), 0 (the second) or 0.5 (a tie), "
            f"got {outcomes[bad[0]]}"
        )
    for places in (first, second):
        if places.min() < 0 or places.max() >= len(players):
            raise InputError(f"players are numbered from 0 to {len(players) - 1}")
    same = np.flatnonzero(first == second)
    if same.size:
        raise InputError(f"match {same[0] + 1}: {players[first[same[0]]]!r} plays against itself")
    seen = np.zeros(len(players), bool)
    seen[first] = seen[second] = True
    if not seen.all():
        raise InputError(f"player {players[int(np.argmin(seen))]!r} has no match")
