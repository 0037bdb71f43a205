r"""Whether finite skills explain a tournament: the graph of who won or tied against whom.

The maximum of the likelihood is finite if and only if the graph is strongly connected (Ford 1957):
from every player wins lead to every other. Where every pair has as many matches it falls apart
exactly between two places of the order of win totals whose upper part won everything there was to
win against the lower one. ``tests/epp/test_win_graph.py`` compares the two ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InfiniteEstimateError
from bayes_sota.epp.match_counts import MatchCounts

__all__ = ["WinGraph", "check_connected", "win_graph"]

_SHOWN = 4  # names of a group in a message


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
    >>> from bayes_sota.epp.match_counts import count_matches
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
