"""Whether estimates are finite: the order of win totals against SciPy's strong components."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.counts import MatchCounts, check_connected, count_matches, win_graph

NAN = float("nan")


def parts(graph) -> set[frozenset[int]]:
    return {frozenset(part.tolist()) for part in graph.components}


def by_scipy(wins: np.ndarray) -> set[frozenset[int]]:
    number, labels = connected_components(wins > 0, directed=True, connection="strong")
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in range(number)}


def test_both_ways_find_the_strong_components_of_complete_tournaments() -> None:
    rng = np.random.default_rng(0)
    sizes = []
    for _ in range(80):
        m = int(rng.integers(2, 8))
        scores = np.rint(4 * rng.random((int(rng.integers(2, 4)), m)) + np.arange(m))
        for kind in ("same-round", "all-rounds"):
            counts = count_matches(ScoreTable(scores), kind)
            every = np.full((m, m), float(counts.n_matches))
            np.fill_diagonal(every, 0)
            quick = win_graph(counts)
            general = win_graph(MatchCounts(counts.doubled_wins, every, counts.n_ties))
            assert parts(quick) == parts(general) == by_scipy(counts.doubled_wins)
            assert len(quick.pieces) == 1
            assert len(general.pieces) == 1
            order = [part.tolist() for part in quick.components]
            assert order == [part.tolist() for part in general.components]
            sizes.append(len(order))
    assert {1, 2, 3, 4} <= set(sizes)  # of every sort


def test_parts_of_incomplete_tournaments_come_from_the_best() -> None:
    rng = np.random.default_rng(1)
    apart = 0
    for _ in range(80):
        n, m = int(rng.integers(3, 12)), 6
        first = np.concatenate([np.arange(m), rng.integers(m, size=n)])
        own_half = rng.random() < 0.5
        second = (first + rng.integers(1, m, size=first.size)) % m
        if own_half:
            second = first // 3 * 3 + (first + 1 + second % 2) % 3
        outcomes = np.where(rng.random(first.size) < 0.8, first < second, 0.5)
        counts = count_matches(Matches(first, second, outcomes, players=list("abcdef")))
        graph = win_graph(counts)
        assert parts(graph) == by_scipy(counts.doubled_wins)
        for better in range(len(graph.components)):
            for worse in graph.components[better + 1 :]:
                assert not counts.doubled_wins[np.ix_(worse, graph.components[better])].any()
        assert len(graph.pieces) == connected_components(counts.doubled_wins, directed=False)[0]
        assert graph.connected == (len(graph.components) == 1)
        apart += len(graph.pieces) > 1
    assert 3 < apart < 60


def message(table: ScoreTable) -> str:
    with pytest.raises(InfiniteEstimateError) as caught:
        check_connected(win_graph(count_matches(table)), table.players)
    assert isinstance(caught.value, InputError)
    return str(caught.value)


def test_the_message_names_who_never_lost() -> None:
    table = ScoreTable([[3, 1, 2], [3, 2, 1]], players=["resnet", "vit", "mlp"])
    found = message(table)
    assert found.startswith("'resnet' never lost to 'vit', 'mlp', so that")
    assert "2 groups" in found
    assert "penalty" in found


def test_the_message_is_short_for_many_players() -> None:
    scores = np.tile(np.arange(9.0), (2, 1))
    scores[0, :8] = scores[0, 7::-1]
    table = ScoreTable(scores, players=[f"p{i}" for i in range(9)])
    assert message(table).startswith("'p8' never lost to 'p0', 'p1', 'p2', 'p3' and 4 more, so")


@pytest.mark.parametrize("decided", [False, True])
def test_the_message_names_who_never_meets(decided: bool) -> None:
    """Also where a player of one half never lost to the others of it, whom it did meet."""
    half = [[2, 1], [2, 1] if decided else [1, 2]]
    scores = [[*half[0], NAN, NAN], [*half[1], NAN, NAN], [NAN, NAN, 1, 2], [NAN, NAN, 2, 1]]
    found = message(ScoreTable(scores, players=list("abcd")))
    sides = {"'a', 'b'", "'c', 'd'"}
    assert "never meet" in found
    assert set(found.split(" never meet")[0].split(" and ")) == sides


def test_nothing_is_said_of_finite_estimates() -> None:
    graph = win_graph(count_matches(ScoreTable([[3, 1, 2], [1, 2, 3]])))
    assert graph.connected
    check_connected(graph, ["a", "b", "c"])


def test_many_parts_are_ordered_at_once() -> None:
    """As many parts as players, in an incomplete design: each beats all below."""
    scores = np.tile(np.arange(400.0, 0, -1), (3, 1))
    scores[0, 7] = np.nan
    graph = win_graph(count_matches(ScoreTable(scores)))
    assert [part.tolist() for part in graph.components] == [[i] for i in range(400)]
