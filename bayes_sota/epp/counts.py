"""Who beat whom how often, and whether finite skills explain it.

A match compares two players' scores: of the same round, or of any two rounds of a tournament whose
rounds are replicates (the OpenML study of Gosiewska et al. 2022, Sec. 4.1). A tie counts as half a
win. With R rounds a pair has R matches or R^2; the latter are counted by walking once through the
pooled order, never one by one. ``tests/epp/test_counts.py`` counts by hand.

The maximum of the likelihood is finite if and only if the graph of who won or tied against whom is
strongly connected (Ford 1957): from every player wins lead to every other. Where every pair has as
many matches it falls apart exactly between two places of the order of win totals whose upper part
won everything there was to win against the lower one. ``tests/epp/test_counts.py`` compares the
two ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.core.types import BoolArray, FloatArray
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
        Twice the wins of the row over the column, a tie counted once; 0 on the diagonal. Of many
        tournaments with as many matches (B, m, m), for ``totals``.
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
        return int(self.doubled_wins.shape[-1])

    @property
    def complete(self) -> bool:
        """Whether every pair has as many matches."""
        return isinstance(self.n_matches, int)

    @cached_property
    def totals(self) -> FloatArray:
        """Wins of each player, ties as half, shape (m,)."""
        return np.asarray(self.doubled_wins.sum(axis=-1, dtype=np.int64) / 2)

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
    if kind not in ("same-round", "all-rounds"):
        raise InputError(f'matches are "same-round" or "all-rounds", got {kind!r}')
    if kind == "all-rounds" and np.unique(data.lower_is_better).size > 1:
        raise InputError(
            "all-rounds matches compare scores of different rounds, but lower is better in "
            "some rounds only: use same-round matches"
        )
    return count_scores(data.oriented, kind)


def count_scores(scores: FloatArray, kind: MatchKind) -> MatchCounts:
    """The same of scores of which the larger one is better, (R, m), NaN where missing."""
    return (_same_round if kind == "same-round" else _all_rounds)(scores)


def wins_of_rounds(scores: FloatArray) -> NDArray[np.int32]:
    """Wins of the row over the column in same-round matches of many tournaments, (B, m, m).

    Parameters
    ----------
    scores : ndarray, shape (B, R, m)
        The larger one is better, NaN where missing.

    Examples
    --------
    >>> wins_of_rounds(np.array([[[0.9, 0.8], [0.1, 0.3], [0.4, float("nan")]]])).tolist()
    [[[0, 1], [1, 0]]]
    """
    number, _, m = scores.shape
    wins = np.zeros((number, m, m), np.int32)
    for each in scores.swapaxes(0, 1):
        wins += each[:, :, None] > each[:, None, :]
    return wins


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


def ranks_of_rounds(scores: FloatArray) -> NDArray[np.int32]:
    """Rank of every score in its round from 0 (worst), equal for ties, -1 where missing, (R, m).

    Examples
    --------
    >>> ranks_of_rounds(np.array([[0.9, 0.8, 0.8], [0.1, float("nan"), 0.3]])).tolist()
    [[1, 0, 0], [0, -1, 1]]
    """
    order = np.argsort(scores, axis=1, kind="stable")  # missing ones last
    ordered = np.take_along_axis(scores, order, axis=1)
    places = np.zeros(scores.shape, np.int32)
    places[:, 1:] = np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1)
    ranks = np.empty_like(places)
    np.put_along_axis(ranks, order, places, axis=1)
    ranks[np.isnan(scores)] = ABSENT
    return ranks


def _same_round(scores: FloatArray) -> MatchCounts:
    (rounds, m), present = scores.shape, ~np.isnan(scores)
    small = np.int16 if m < 32_000 and rounds < 16_000 else np.int32
    low = ranks_of_rounds(scores).astype(small)
    high = np.where(present, low, np.iinfo(small).max)  # nobody beats a player who is absent
    wins = np.zeros((m, m), small)
    for own, other in zip(low, high, strict=True):
        wins += own[:, None] > other
    n_matches: int | FloatArray = rounds
    total = rounds * m * (m - 1)
    if not present.all():
        n_matches = present.T.astype(np.float64) @ present
        np.fill_diagonal(n_matches, 0)
        total = int(n_matches.sum())
    doubled = wins - wins.T + np.asarray(n_matches).astype(small)
    np.fill_diagonal(doubled, 0)
    return MatchCounts(doubled, n_matches, total // 2 - int(wins.sum(dtype=np.int64)))


def _all_rounds(scores: FloatArray) -> MatchCounts:
    """From the levels of equal scores among those of all rounds."""
    (rounds, m), present = scores.shape, ~np.isnan(scores)
    owners = np.nonzero(present)[1]
    _, level, sizes = np.unique(scores[present], return_inverse=True, return_counts=True)
    doubled: NDArray[np.signedinteger]
    doubled = np.zeros((m, m), np.int32 if rounds**2 < 2**30 else np.int64)
    (_add_by_score if rounds < m else _add_by_player)(doubled, owners, level, sizes)
    np.fill_diagonal(doubled, 0)
    own = np.unique(level * m + owners, return_counts=True)[1]  # equal ones of a player: no match
    n_ties = (int(sizes @ sizes) - int(own @ own)) // 2
    if present.all():
        return MatchCounts(doubled, rounds**2, n_ties)
    played = present.sum(axis=0).astype(np.float64)
    n_matches = np.outer(played, played)
    np.fill_diagonal(n_matches, 0)
    return MatchCounts(doubled, n_matches, n_ties)


def _add_by_score(
    doubled: NDArray[np.signedinteger],
    owners: NDArray[np.intp],
    level: NDArray[np.intp],
    sizes: NDArray[np.intp],
) -> None:
    """Twice the wins of every pair, with what each player has passed so far, level by level."""
    owners, ends = owners[np.argsort(level, kind="stable")], np.cumsum(sizes)
    passed = np.zeros_like(doubled[0])  # twice the scores below
    for start, end in zip((ends - sizes).tolist(), ends.tolist(), strict=True):
        if end == start + 1:
            owner = owners[start]
            doubled[owner] += passed
            passed[owner] += 2
            continue
        here = np.bincount(owners[start:end], minlength=passed.size).astype(passed.dtype)
        for owner in np.flatnonzero(here):
            doubled[owner] += here[owner] * (passed + here)
        passed += 2 * here


def _add_by_player(
    doubled: NDArray[np.signedinteger],
    owners: NDArray[np.intp],
    level: NDArray[np.intp],
    sizes: NDArray[np.intp],
) -> None:
    """The same player by player: few of them, with many scores each."""
    for loser in range(len(doubled)):
        here = np.bincount(level[owners == loser], minlength=sizes.size)
        passed = 2 * np.cumsum(here) - here
        doubled[:, loser] = np.bincount(owners, passed[level], len(doubled))


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


def strongly_connected(wins: BoolArray) -> BoolArray:
    """Whether wins lead from every player to every other, of many graphs (B, m, m) at once.

    Examples
    --------
    >>> cycle = np.roll(np.eye(3, dtype=bool), 1, axis=1)
    >>> strongly_connected(np.stack([cycle, np.triu(cycle)])).tolist()
    [True, False]
    """
    return _all_reached(wins) & _all_reached(wins.swapaxes(1, 2))


def _all_reached(links: BoolArray) -> BoolArray:
    """Whether links lead from the first player to all others, (B,)."""
    reached = np.zeros(links.shape[:2], bool)
    reached[:, 0] = True
    while True:
        further = reached | np.any(reached[:, :, None] & links, axis=1)
        if np.array_equal(further, reached):
            return np.asarray(reached.all(axis=1))
        reached = further


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
        "players that results do not link both ways); penalty=0.5 (half a round of ties) gives "
        "finite ones, and so does the Bayesian model (--bayes, sample_epp)"
    )


def _named(chosen: NDArray[np.intp], players: Sequence[str]) -> str:
    shown = ", ".join(repr(players[i]) for i in chosen[:_SHOWN])
    return f"{shown} and {len(chosen) - _SHOWN} more" if len(chosen) > _SHOWN else shown


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
