"""Matches counted one by one against the counts; strong components against SciPy."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from bayes_sota.core.errors import InfiniteEstimateError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.counts import (
    MatchCounts,
    check_connected,
    count_matches,
    count_scores,
    ranks_of_rounds,
    strongly_connected,
    win_graph,
    wins_of_rounds,
)
from bayes_sota.epp.simulate import simulate_tournament

LOWER = [False, True, True, False, False, True]


def drawn(*, levels: int, missing: float, lower: bool | list[bool], seed: int) -> ScoreTable:
    """Six rounds of five players; few levels make ties."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(levels, size=(6, 5)).astype(float)
    scores[(rng.random(scores.shape) < missing) & (np.arange(6)[:, None] != np.arange(5))] = np.nan
    return ScoreTable(scores, lower_is_better=lower)


def by_hand(table: ScoreTable, kind: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Twice the wins, the matches of each pair and all ties, match by match."""
    m, rounds = table.n_players, range(table.n_rounds)
    doubled, n_matches, ties = np.zeros((m, m), int), np.zeros((m, m), int), 0
    meetings = [(r, s) for r in rounds for s in rounds if r == s or kind == "all-rounds"]
    for i, j in combinations(range(m), 2):
        for r, s in meetings:
            a, b = table.scores[r, i], table.scores[s, j]
            if np.isnan(a) or np.isnan(b):
                continue
            if table.lower_is_better[r]:
                a, b = -a, -b
            n_matches[i, j] += 1
            n_matches[j, i] += 1
            doubled[i, j] += 2 * (a > b) + (a == b)
            doubled[j, i] += 2 * (a < b) + (a == b)
            ties += a == b
    return doubled, n_matches, int(ties)


def assert_same(counts: MatchCounts, expected: tuple[np.ndarray, np.ndarray, int]) -> None:
    doubled, n_matches, ties = expected
    np.testing.assert_array_equal(counts.doubled_wins, doubled)
    np.testing.assert_array_equal(counts.totals, doubled.sum(axis=1) / 2)
    np.testing.assert_array_equal(counts.matches_of_players, n_matches.sum(axis=1))
    assert counts.n_ties == ties
    assert counts.n_pairs == np.count_nonzero(np.triu(n_matches))
    others = ~np.eye(len(doubled), dtype=bool)
    assert counts.complete == isinstance(counts.n_matches, int)
    every = np.broadcast_to(np.asarray(counts.n_matches), doubled.shape)
    np.testing.assert_array_equal(every[others], n_matches[others])
    met = n_matches > 0
    shares = counts.win_shares
    np.testing.assert_allclose(shares[met], doubled[met] / (2 * n_matches[met]), rtol=1e-15)
    assert np.isnan(shares[~met]).all()


@pytest.mark.parametrize("levels", [2, 4, 10_000])
@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize(
    ("kind", "lower"),
    [
        ("same-round", False),
        ("same-round", True),
        ("same-round", LOWER),
        ("all-rounds", False),
        ("all-rounds", True),
    ],
)
def test_matches_of_scores_are_those_counted_by_hand(levels, missing, lower, kind) -> None:
    for seed in range(4):
        table = drawn(levels=levels, missing=missing, lower=lower, seed=seed)
        counts = count_matches(table, kind)
        assert counts.complete == table.complete
        assert_same(counts, by_hand(table, kind))


def test_zero_ties_with_minus_zero() -> None:
    table = ScoreTable([[0.0, -0.0], [1.0, 2.0]], lower_is_better=True)
    for kind, ties in (("same-round", 1), ("all-rounds", 1)):
        assert count_matches(table, kind).n_ties == ties


def test_ranks_are_dense_ranks() -> None:
    table = drawn(levels=4, missing=0.4, lower=LOWER, seed=3)
    found = ranks_of_rounds(table.oriented)
    for row, ranks in zip(table.oriented, found, strict=True):
        present = ~np.isnan(row)
        assert (ranks[~present] == -1).all()
        np.testing.assert_array_equal(ranks[present], rankdata(row[present], method="dense") - 1)


@pytest.mark.parametrize("levels", [3, None])
def test_counts_of_very_many_rounds_do_not_overflow(levels: int | None) -> None:
    """1.6e9 matches of one pair, twice which is beyond 32 bits."""
    rounds, rng = 40_000, np.random.default_rng(0)
    scores = rng.random((rounds, 2)) + np.array([0.9, 0.0])
    if levels:
        scores = np.floor(levels * scores)
    wins = np.searchsorted(np.sort(scores[:, 1]), scores[:, 0], side="left").sum()
    not_lost = np.searchsorted(np.sort(scores[:, 1]), scores[:, 0], side="right").sum()
    counts = count_matches(ScoreTable(scores), "all-rounds")
    expected = (float(wins) + float(not_lost)) / 2
    assert counts.totals.tolist() == [expected, float(rounds) ** 2 - expected]
    ahead = np.sign(scores[:, 0] - scores[:, 1])
    assert count_matches(ScoreTable(scores)).totals[0] == np.sum(1 + ahead) / 2


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_all_rounds_of_few_rounds_are_as_of_many(missing: float) -> None:
    """Counted score by score where there are fewer rounds than players, else player by player."""
    whole = drawn(levels=4, missing=missing, lower=False, seed=3)
    table = ScoreTable(whole.scores.T[:, :5])
    few = ScoreTable(np.hstack([table.scores, np.full((5, 1), 9.0)]))  # one who always wins
    found = count_matches(few, "all-rounds")
    assert_same(found, by_hand(few, "all-rounds"))
    before = count_matches(table, "all-rounds")
    np.testing.assert_array_equal(found.doubled_wins[:5, :5], before.doubled_wins)


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


@pytest.mark.parametrize("decided", [False, True])
def test_the_message_names_who_never_meets(decided: bool) -> None:
    """Also where a player of one half never lost to the others of it, whom it did meet."""
    half = [[2, 1], [2, 1] if decided else [1, 2]]
    scores = [[*half[0], NAN, NAN], [*half[1], NAN, NAN], [NAN, NAN, 1, 2], [NAN, NAN, 2, 1]]
    graph = win_graph(count_matches(ScoreTable(scores)))
    with pytest.raises(InfiniteEstimateError) as caught:
        check_connected(graph, list("abcd"))
    found = str(caught.value)
    sides = {"'a', 'b'", "'c', 'd'"}
    assert "never meet" in found
    assert set(found.split(" never meet")[0].split(" and ")) == sides


def test_many_parts_are_ordered_at_once() -> None:
    """As many parts as players, in an incomplete design: each beats all below."""
    scores = np.tile(np.arange(400.0, 0, -1), (3, 1))
    scores[0, 7] = np.nan
    graph = win_graph(count_matches(ScoreTable(scores)))
    assert [part.tolist() for part in graph.components] == [[i] for i in range(400)]


def test_many_graphs_of_wins_at_once() -> None:
    rng = np.random.default_rng(0)
    tables = (rng.random((400, 5, 5)) < rng.random((400, 1, 1))) & ~np.eye(5, dtype=bool)
    expected = [
        connected_components(wins, directed=True, connection="strong")[0] == 1 for wins in tables
    ]
    assert strongly_connected(tables).tolist() == expected
    assert 50 < sum(expected) < 350


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_wins_of_many_tournaments_at_once(missing: float) -> None:
    tables = [
        simulate_tournament(np.zeros(5), 9, step=0.5, missing=missing, random_seed=seed).scores
        for seed in range(4)
    ]
    for wins, scores in zip(wins_of_rounds(np.stack(tables)), tables, strict=True):
        counts = count_scores(scores, "same-round")
        matches = np.array(np.broadcast_to(counts.n_matches, (5, 5)))
        np.fill_diagonal(matches, 0)
        np.testing.assert_array_equal(wins - wins.T + matches, counts.doubled_wins)
