"""Who beat whom how often, and whether finite skills explain it.

A match compares two players' scores: of the same round, or of any two rounds of a tournament whose
rounds are replicates (the OpenML study of Gosiewska et al. 2022, Sec. 4.1). A tie counts as half a
win. With R rounds a pair has R matches or R^2; the latter are counted by walking once through the
pooled order, never one by one. ``tests/epp/test_match_counts.py`` counts by hand.

The maximum of the likelihood is finite if and only if the graph of who won or tied against whom is
strongly connected (Ford 1957): from every player wins lead to every other. Where every pair has as
many matches it falls apart exactly between two places of the order of win totals whose upper part
won everything there was to win against the lower one. ``tests/epp/test_win_graph.py`` compares the
two ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable

MatchKind = Literal["same-round", "all-rounds", "listed"]
ABSENT = -1  # rank of a player without a score
_SHOWN = 4  # names of a group in a message
_MOST_PLAYERS = 5_000  # whose pairs fit into 2 GiB with their standard errors


@dataclass(frozen=True, eq=False, repr=False)
class MatchCounts:
    """Matches and wins of every pair of players.

    Attributes
    ----------
    doubled_wins : ndarray of int, shape (m, m)
        Twice the wins of the row over the column, a tie counted once; 0 on the diagonal.
    n_matches : int, or ndarray, shape (m, m)
        Matches of each pair: one number where all pairs have as many.
    n_ties : int
        Ties among all matches.
    """

    doubled_wins: NDArray[np.signedinteger]
    n_matches: int | FloatArray
    n_ties: int

    @property
    def n_players(self) -> int:
        """Number of players."""
        return len(self.doubled_wins)

    @property
    def complete(self) -> bool:
        """Whether every pair has as many matches."""
        return isinstance(self.n_matches, int)

    @cached_property
    def totals(self) -> FloatArray:
        """Wins of each player, ties as half, shape (m,)."""
        return np.asarray(self.doubled_wins.sum(axis=1, dtype=np.int64) / 2)

    @cached_property
    def matches_of_players(self) -> FloatArray:
        """Matches of each player, shape (m,)."""
        if isinstance(self.n_matches, int):
            return np.full(self.n_players, float(self.n_matches * (self.n_players - 1)))
        return np.asarray(self.n_matches.sum(axis=1))

    @property
    def n_pairs(self) -> int:
        """Number of pairs with at least one match."""
        if isinstance(self.n_matches, int):
            return self.n_players * (self.n_players - 1) // 2
        return int(np.count_nonzero(self.n_matches)) // 2

    @property
    def win_shares(self) -> FloatArray:
        """Share of its matches against the column that the row won, NaN without any, (m, m)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = self.doubled_wins / (2 * np.asarray(self.n_matches, np.float64))
        np.fill_diagonal(shares, np.nan)
        return np.asarray(shares)


def count_matches(data: ScoreTable | Matches, kind: MatchKind = "same-round") -> MatchCounts:
    """Count the matches of a tournament.

    Parameters
    ----------
    data : ScoreTable or Matches
        Matches are counted as they are listed, whatever the kind.
    kind : {"same-round", "all-rounds"}
        Which scores of a table are compared.

    Raises
    ------
    InputError
        More than 5,000 players; all-rounds matches of rounds whose scores have opposite directions.

    Examples
    --------
    >>> table = ScoreTable([[0.9, 0.8, 0.7], [0.9, 0.9, 0.6]], players=["a", "b", "c"])
    >>> count_matches(table).totals.tolist()
    [3.5, 2.5, 0.0]
    >>> count_matches(table, "all-rounds").totals.tolist()
    [7.0, 5.0, 0.0]
    """
    if data.n_players > _MOST_PLAYERS:
        raise InputError(
            f"a tournament of {data.n_players:,} players: at most {_MOST_PLAYERS:,} are compared, "
            "every one with every other; leave out players, or turn "
            "the table if its rounds are in columns"
        )
    if isinstance(data, Matches):
        return _listed(data)
    if kind == "same-round":
        return _same_round(data)
    if kind == "all-rounds":
        if data.lower_is_better.any() and not data.lower_is_better.all():
            raise InputError(
                "all-rounds matches compare scores of different rounds, but lower is better in "
                "some rounds only: use same-round matches"
            )
        return _all_rounds(data)
    raise InputError(f'matches are "same-round" or "all-rounds", got {kind!r}')


def penalised_totals(
    counts: MatchCounts, kind: MatchKind, penalty: float
) -> tuple[FloatArray, float | FloatArray]:
    """Win totals and matches with some rounds of ties added."""
    if not penalty:
        n = counts.n_matches
        return counts.totals, float(n) if isinstance(n, int) else n
    if kind == "all-rounds":  # a round plays against all others
        penalty = penalty * float(np.sqrt(np.max(counts.n_matches)))
    totals = counts.totals + penalty * (counts.n_players - 1) / 2
    if isinstance(counts.n_matches, int):
        return totals, counts.n_matches + penalty
    n_matches = counts.n_matches + penalty
    np.fill_diagonal(n_matches, 0)
    return totals, n_matches


def ranks_of_rounds(table: ScoreTable) -> NDArray[np.int32]:
    """Rank of every score in its round from 0 (worst), equal for ties, -1 where missing, (R, m).

    Examples
    --------
    >>> ranks_of_rounds(ScoreTable([[0.9, 0.8, 0.8], [0.1, float("nan"), 0.3]])).tolist()
    [[1, 0, 0], [0, -1, 1]]
    """
    scores = table.oriented
    order = np.argsort(scores, axis=1, kind="stable")  # missing ones last
    ordered = np.take_along_axis(scores, order, axis=1)
    steps = np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1)
    places = np.concatenate([np.zeros((len(scores), 1), np.int64), steps], axis=1)
    ranks = np.empty(scores.shape, np.int32)
    np.put_along_axis(ranks, order, places.astype(np.int32), axis=1)
    ranks[np.isnan(scores)] = ABSENT
    return ranks


def _same_round(table: ScoreTable) -> MatchCounts:
    ranks, present = ranks_of_rounds(table), table.present
    m = table.n_players
    small = np.int16 if m < 32_000 and table.n_rounds < 16_000 else np.int32
    low = ranks.astype(small)
    wins = np.zeros((m, m), small)
    if present.all():
        for rank in low:
            wins += rank[:, None] > rank
        doubled = wins - wins.T
        doubled += small(table.n_rounds)
        np.fill_diagonal(doubled, 0)
        n_matches: int | FloatArray = table.n_rounds
        decided = int(wins.sum(dtype=np.int64))
        return MatchCounts(doubled, n_matches, table.n_rounds * m * (m - 1) // 2 - decided)
    high = np.where(present, low, np.iinfo(small).max)  # nobody beats a player who is absent
    for own, other in zip(low, high, strict=True):
        wins += own[:, None] > other
    shared = present.astype(np.float64).T @ present.astype(np.float64)
    np.fill_diagonal(shared, 0)
    doubled = wins - wins.T + shared.astype(small)
    return MatchCounts(doubled, shared, int(shared.sum()) // 2 - int(wins.sum(dtype=np.int64)))


def _all_rounds(table: ScoreTable) -> MatchCounts:
    """Walk through the pooled order with the number of scores passed so far of each player."""
    present = table.present
    scores, owners = table.oriented[present], np.nonzero(present)[1]
    order = np.argsort(scores)
    owners, scores = owners[order], scores[order]
    starts = np.flatnonzero(np.diff(scores, prepend=-np.inf))
    ends = np.append(starts[1:], scores.size)
    m = table.n_players
    wide = np.dtype(np.int32 if table.n_rounds**2 < 2**30 else np.int64)
    by_score = _doubled_by_score if table.n_rounds < m else _doubled_by_player
    level = np.repeat(np.arange(starts.size), ends - starts)
    tied = np.flatnonzero((ends - starts)[level] > 1)
    doubled = by_score(_Pooled(owners, starts, ends, level, tied), m, wide)
    np.fill_diagonal(doubled, 0)
    counts = present.sum(axis=0).astype(np.float64)
    cells = np.sort(level[tied] * m + owners[tied])  # equal scores of one player are no match
    own = np.diff(np.flatnonzero(np.diff(cells, prepend=-1, append=-1)))
    shared = np.diff(np.append(starts, scores.size))
    shared = shared[shared > 1]
    n_ties = (int(shared @ shared) - int(own @ own)) // 2
    if present.all():
        return MatchCounts(doubled, table.n_rounds**2, n_ties)
    n_matches = np.outer(counts, counts)
    np.fill_diagonal(n_matches, 0)
    return MatchCounts(doubled, n_matches, n_ties)


class _Pooled(NamedTuple):
    """Scores of all rounds in ascending order: owners, and the levels of equal scores."""

    owners: NDArray[np.intp]
    starts: NDArray[np.intp]  # of each level
    ends: NDArray[np.intp]
    level: NDArray[np.intp]  # of each score
    tied: NDArray[np.intp]  # places of scores that share their level


def _doubled_by_score(pooled: _Pooled, m: int, wide: Any) -> NDArray[np.signedinteger]:
    """Twice the wins of every pair, with what each player has passed so far, score by score."""
    owners = pooled.owners
    passed: NDArray[np.signedinteger] = np.zeros(m, wide)  # twice the scores below
    doubled: NDArray[np.signedinteger] = np.zeros((m, m), wide)
    for start, end in zip(pooled.starts.tolist(), pooled.ends.tolist(), strict=True):
        if end == start + 1:
            owner = owners[start]
            doubled[owner] += passed
            passed[owner] += 2
            continue
        level: NDArray[np.signedinteger] = np.bincount(owners[start:end], minlength=m)
        level = level.astype(wide)
        for owner in np.flatnonzero(level):
            doubled[owner] += level[owner] * (passed + level)
        passed += 2 * level
    return doubled


def _doubled_by_player(pooled: _Pooled, m: int, wide: Any) -> NDArray[np.signedinteger]:
    """The same player by player: few of them, with many scores each."""
    owners, starts, ends, level, tied = pooled
    first, last = starts[level[tied]], ends[level[tied]]
    doubled: NDArray[np.signedinteger] = np.empty((m, m), wide)
    passed = np.zeros(owners.size + 1)
    for loser in range(m):
        passed[0] = 0
        np.cumsum(owners == loser, out=passed[1:])
        passed[tied] = (passed[first] + passed[last]) / 2
        doubled[:, loser] = 2 * np.bincount(owners, weights=passed[:-1], minlength=m)
    return doubled


def _listed(matches: Matches) -> MatchCounts:
    m = matches.n_players
    doubled = np.rint(2 * matches.outcomes).astype(np.int64)
    wins = np.zeros((m, m), np.int64)
    n_matches = np.zeros((m, m), dtype=np.float64)
    np.add.at(wins, (matches.first, matches.second), doubled)
    np.add.at(wins, (matches.second, matches.first), 2 - doubled)
    np.add.at(n_matches, (matches.first, matches.second), 1)
    return MatchCounts(wins, n_matches + n_matches.T, int(np.sum(doubled == 1)))


@dataclass(frozen=True, eq=False)
class WinGraph:
    """How a tournament falls apart.

    Attributes
    ----------
    components : tuple of ndarray of int
        Players of each strongly connected part, none beaten by a later one: if all meet, the first
        never lost to the others.
    pieces : tuple of ndarray of int
        Players that matches link, whoever won.
    """

    components: tuple[NDArray[np.intp], ...]
    pieces: tuple[NDArray[np.intp], ...]

    @property
    def connected(self) -> bool:
        """Whether all estimates are finite."""
        return len(self.components) == 1


def win_graph(counts: MatchCounts) -> WinGraph:
    """Strongly connected parts of the graph of wins, a tie being an edge in both directions.

    Examples
    --------
    >>> from bayes_sota.data.matches import Matches
    >>> matches = Matches.from_names(["a", "b", "a"], ["b", "c", "c"], [1, 0.5, 1])
    >>> graph = win_graph(count_matches(matches))
    >>> graph.connected, [part.tolist() for part in graph.components]
    (False, [[0], [1, 2]])
    """
    return _complete(counts) if counts.complete else _general(counts)


def check_connected(graph: WinGraph, players: Sequence[str]) -> None:
    """Name the players whose estimates are infinite.

    Raises
    ------
    InfiniteEstimateError
        If the graph is not strongly connected.
    """
    if graph.connected:
        return
    apart = len(graph.pieces) > 1
    one = graph.pieces[0] if apart else graph.components[0]
    rest = np.setdiff1d(np.arange(len(players)), one)
    first, second = _named(one, players), _named(rest, players)
    what = f"{first} and {second} never meet" if apart else f"{first} never lost to {second}"
    parts = len(graph.components)
    raise InfiniteEstimateError(
        f"{what}, so that some differences of skill have no finite estimate ({parts} groups of "
        "players that results do not link both ways); a penalty of half a round of ties, or the "
        "Bayesian model, gives finite ones"
    )


def _named(chosen: NDArray[np.intp], players: Sequence[str]) -> str:
    shown = ", ".join(repr(players[i]) for i in chosen[:_SHOWN])
    more = len(chosen) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _complete(counts: MatchCounts) -> WinGraph:
    m, n = counts.n_players, counts.n_matches
    order = np.argsort(-counts.totals, kind="stable")
    size = np.arange(1, m)
    most = n * (size * (size - 1) / 2 + size * (m - size))
    cuts = size[np.cumsum(counts.totals[order])[:-1] >= most]
    return WinGraph(tuple(np.sort(part) for part in np.split(order, cuts)), (np.arange(m),))


def _general(counts: MatchCounts) -> WinGraph:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    wins = csr_array(counts.doubled_wins > 0)
    number, labels = connected_components(wins, directed=True, connection="strong")
    number_of_pieces, piece = connected_components(wins, directed=False)
    between = np.zeros((number, number), bool)  # which part won against which
    rows, columns = wins.nonzero()
    between[labels[rows], labels[columns]] = True
    np.fill_diagonal(between, False)
    parts = [np.flatnonzero(labels == k) for k in _from_the_top(between)]
    pieces = [np.flatnonzero(piece == k) for k in range(number_of_pieces)]
    return WinGraph(tuple(parts), tuple(pieces))


def _from_the_top(beats: NDArray[np.bool_]) -> list[int]:
    """Parts in an order in which none is beaten by a later one (Kahn 1962)."""
    beaten_by = beats.sum(axis=0)
    free, order = list(np.flatnonzero(beaten_by == 0)[::-1]), []
    while free:
        top = int(free.pop())
        order.append(top)
        beaten_by[beats[top]] -= 1
        free += list(np.flatnonzero(beats[top] & (beaten_by == 0))[::-1])
    return order
