"""Who beat whom how often, and whether finite skills explain it.

A match compares two scores of one round or, where rounds are replicates, of any two rounds
(Gosiewska et al. 2022, Sec. 4.1); a tie is half a win. The likelihood has a finite maximum if and
only if the graph of wins and ties is strongly connected (Ford 1957). ``tests/epp/test_counts.py``
counts by hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InfiniteEstimateError, InputError, listed
from bayes_sota.core.text import nearest
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable

Compared = Literal["same-round", "all-rounds"]
MatchKind = Compared | Literal["listed"]
Wins = NDArray[np.signedinteger]
ABSENT = -1  # rank of a player without a score
_FEW = 100  # players, each of whom is compared with all scores at once
_MOST_PLAYERS = 5_000  # whose pairs fit into 2 GiB with their standard errors


@dataclass(frozen=True, eq=False, repr=False)
class MatchCounts:
    """Twice the wins of row over column, (..., m, m), a tie once; matches of each pair, (m, m)."""

    doubled_wins: Wins
    n_matches: FloatArray

    @cached_property
    def totals(self) -> FloatArray:
        """Wins of each player, a tie as half, (m,) or (B, m)."""
        return self.doubled_wins.sum(axis=-1, dtype=np.int64) / 2

    def with_ties(self, kind: MatchKind, penalty: float) -> tuple[FloatArray, FloatArray]:
        """Win totals and matches after adding rounds of ties."""
        if not penalty:
            return self.totals, self.n_matches
        if kind == "all-rounds":  # a round plays against all others
            penalty = penalty * float(np.sqrt(np.max(self.n_matches)))
        others = len(self.n_matches) - 1
        return self.totals + penalty * others / 2, _without_own(self.n_matches + penalty)


def _without_own[T: np.ndarray](matches: T) -> T:
    np.fill_diagonal(matches, 0)
    return matches


def count_matches(data: ScoreTable | Matches, kind: MatchKind = "same-round") -> MatchCounts:
    """Count the matches of a tournament; ``kind`` does not matter for listed ones.

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
            f"at most {_MOST_PLAYERS:,} players can be compared with each other, got "
            f"{data.n_players:,}; leave out players, or turn the table if rounds are columns"
        )
    if isinstance(data, Matches):
        return _listed(data)
    check_choice("matches", kind, Compared)
    if kind == "all-rounds" and np.unique(data.lower_is_better).size > 1:
        raise InputError(
            "all-rounds matches compare scores of different rounds, but lower is better in "
            "some rounds only: use same-round matches"
        )
    return count_scores(data.oriented, kind)


def all_tied(data: ScoreTable | Matches, kind: MatchKind) -> bool:
    """Whether nobody beat anybody."""
    if isinstance(data, Matches):
        return bool(np.all(data.outcomes == 0.5))
    scores, axis = data.oriented, None if kind == "all-rounds" else 1
    return bool(np.all(np.nanmax(scores, axis) == np.nanmin(scores, axis)))


def count_scores(scores: FloatArray, kind: MatchKind) -> MatchCounts:
    """Count the matches of scores, (R, m) or (B, R, m) with the same gaps; larger is better."""
    if kind == "same-round":
        return _same_round(scores)
    if scores.ndim == 2:
        return _all_rounds(scores)
    each = [_all_rounds(one) for one in scores]
    doubled = np.stack([one.doubled_wins for one in each])
    return MatchCounts(doubled, each[0].n_matches)


def ranks_of_rounds(scores: FloatArray) -> NDArray[np.int32]:
    """Rank of every score in its round from 0 (worst), equal for ties, -1 where missing, (R, m)."""
    ranks = ranks_of(scores, dense=True) - 1
    return np.nan_to_num(ranks, nan=ABSENT).astype(np.int32)


def _same_round(scores: FloatArray) -> MatchCounts:
    *_, rounds, m = scores.shape
    small = np.min_scalar_type(-2 * rounds - 1)  # for memory and time
    own = ranks_of_rounds(scores).astype(np.int16)
    other = np.where(own == ABSENT, np.iinfo(np.int16).max, own)  # nobody beats who is absent
    wins = np.zeros((*scores.shape[:-2], m, m), small)
    for row, column in zip(np.moveaxis(own, -2, 0), np.moveaxis(other, -2, 0), strict=True):
        wins += row[..., :, None] > column[..., None, :]
    met = (~np.isnan(scores)).reshape(-1, rounds, m)[0].astype(np.float64)
    n_matches = _without_own(np.full((m, m), 1.0 * rounds) if met.all() else met.T @ met)
    doubled = wins - wins.swapaxes(-1, -2) + n_matches.astype(small)
    return MatchCounts(doubled, n_matches)


def _all_rounds(scores: FloatArray) -> MatchCounts:
    present = ~np.isnan(scores)
    played, owner = present.sum(axis=0), np.nonzero(present)[1]
    doubled = _without_own(doubled_scores_below(scores, owner))
    return MatchCounts(doubled, _without_own(np.outer(played, played) * 1.0))


def doubled_scores_below(scores: FloatArray, groups: NDArray[np.intp]) -> Wins:
    """Twice the scores of each player below those of a group, equal ones once, (n_groups, m).

    ``groups`` are of the observed scores, row by row.
    """
    rounds, m = scores.shape
    players, flat = np.nonzero(~np.isnan(scores))[1], scores[~np.isnan(scores)]
    if m < _FEW:
        level = np.unique(flat, return_inverse=True)[1]
        equal = [np.bincount(level[players == k], minlength=level.max() + 1) for k in range(m)]
        below = [(2 * np.cumsum(each) - each)[level] for each in equal]
        return np.array([np.bincount(groups, found) for found in below]).T.astype(np.int64)
    order = np.argsort(flat, kind="stable")
    sizes = np.bincount(groups)
    small = np.min_scalar_type(-2 * rounds * int(sizes.max()) - 1)  # for memory and time
    found, passed = np.zeros((sizes.size, m), small), np.zeros(m, small)
    owners, keys = players[order].tolist(), groups[order].tolist()
    rows = list(found)  # views, which are quicker to add to
    ends = np.flatnonzero(np.diff(flat[order], append=np.inf) > 0) + 1
    for start, end in pairwise([0, *ends.tolist()]):  # passed: twice the scores below
        if end == start + 1:
            passed[owners[start]] += 1
            rows[keys[start]] += passed
            passed[owners[start]] += 1
            continue
        here = np.bincount(owners[start:end], minlength=m).astype(small)
        reached, times = np.unique(keys[start:end], return_counts=True)
        found[reached] += np.outer(times, passed + here).astype(small)
        passed += 2 * here
    return found


def _listed(matches: Matches) -> MatchCounts:
    m = matches.n_players
    doubled = np.rint(2 * matches.outcomes).astype(np.int64)
    wins = np.zeros((m, m), np.int64)
    n_matches = np.zeros((m, m), dtype=np.float64)
    np.add.at(wins, (matches.first, matches.second), doubled)
    np.add.at(wins, (matches.second, matches.first), 2 - doubled)
    np.add.at(n_matches, (matches.first, matches.second), 1)
    return MatchCounts(wins, n_matches + n_matches.T)


def unbeaten_players(doubled_wins: Wins) -> BoolArray | None:
    """Players who never lost to the others, (m,); None if wins are strongly connected."""
    won = doubled_wins > 0
    for graph, is_ahead in ((won, False), (won.T, True)):
        reached, new = np.arange(len(won)) == 0, np.zeros(1, np.intp)
        while new.size:
            new = np.flatnonzero(graph[new].any(axis=0) & ~reached)
            reached[new] = True
        if not reached.all():
            return np.asarray(reached == is_ahead)
    return None


def infinite_estimates(
    doubled_wins: Wins, unbeaten: BoolArray, players: Sequence[str]
) -> InfiniteEstimateError:
    """Error that names the players."""
    first, second = (listed(np.array(players)[x]) for x in (unbeaten, ~unbeaten))
    met = doubled_wins[np.ix_(unbeaten, ~unbeaten)].any()
    what = f"{first} never lost to {second}" if met else f"{second} and {first} never meet"
    return InfiniteEstimateError(
        f"{what}, so that some differences of skill have no finite estimate",
        parameter="penalty",
        fix="{option} (half a round of ties) or --bayes (in Python sample_epp) gives finite ones"
        + ", but the data do not compare these groups" * (not met),
    )


def ranks_of(scores: FloatArray, *, dense: bool = False) -> FloatArray:
    """Ranks along the last axis, NaN where there is no score; ties share their mean."""
    order = np.argsort(scores, axis=-1)
    ordered = np.take_along_axis(scores, order, axis=-1)
    ends = np.ones((*scores.shape[:-1], scores.shape[-1] + 1), bool)  # of runs of equal scores
    ends[..., 1:-1] = ordered[..., 1:] != ordered[..., :-1]
    if dense:
        places = np.cumsum(ends[..., :-1], axis=-1)
    else:
        index = np.arange(scores.shape[-1])
        first = np.maximum.accumulate(np.where(ends[..., :-1], index, 0), axis=-1)
        last = np.where(ends[..., 1:], index, index[-1])[..., ::-1]
        places = 1 + (first + np.minimum.accumulate(last, axis=-1)[..., ::-1]) / 2
    ranks = np.full(scores.shape, np.nan)
    np.put_along_axis(ranks, order, places, axis=-1)
    return np.where(np.isnan(scores), np.nan, ranks)


def two_players(players: Sequence[str], a: str, b: str) -> tuple[int, int]:
    """Positions of two different players; an ``InputError`` suggests the nearest names."""
    for player in (a, b):
        if player not in players:
            raise InputError(f"there is no player {player!r}{nearest(player, players)}")
    if a == b:
        raise InputError(f"a comparison needs two different players, got {a!r} twice")
    return list(players).index(a), list(players).index(b)
