"""Matches counted one by one against the counts; strong parts against powers of matrices."""

import re
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata
from simulated_tournaments import simulate_tournament

from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import (
    MatchCounts,
    count_matches,
    count_scores,
    infinite_estimates,
    is_connected,
    ranks_of_rounds,
)

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
    np.testing.assert_array_equal(counts.n_matches, n_matches)
    assert counts.n_ties == ties


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
        assert_same(count_matches(table, kind), by_hand(table, kind))


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


NAN = float("nan")


def parts(wins: np.ndarray) -> set[frozenset[int]]:
    """Players who can reach each other along wins, by the powers of the matrix."""
    reach = np.linalg.matrix_power((wins > 0) + np.eye(len(wins), dtype=np.int64), len(wins)) > 0
    return {frozenset(np.flatnonzero(row).tolist()) for row in reach & reach.T}


def test_who_reaches_whom_decides_and_the_message_names_the_best() -> None:
    """Of complete tournaments, and of listed matches that may fall apart."""
    rng, sizes, apart = np.random.default_rng(1), set(), 0
    for seed in range(160):
        m = 6
        if seed % 2:
            scores = np.rint(4 * rng.random((int(rng.integers(2, 4)), m)) + np.arange(m))
            wins = count_matches(ScoreTable(scores), ("same-round", "all-rounds")[seed % 4 // 2])
        else:
            first = np.concatenate([np.arange(m), rng.integers(m, size=int(rng.integers(3, 12)))])
            second = (first + rng.integers(1, m, size=first.size)) % m
            if rng.random() < 0.5:
                second = first // 3 * 3 + (first + 1 + second % 2) % 3
            outcomes = np.where(rng.random(first.size) < 0.8, first < second, 0.5)
            wins = count_matches(Matches(first, second, outcomes, players=list("abcdef")))
        wins = wins.doubled_wins
        expected = parts(wins)
        assert is_connected(wins) == (len(expected) == 1)
        sizes.add(len(expected))
        if len(expected) == 1:
            continue
        said = str(infinite_estimates(wins, list("abcdef")))
        assert f"({len(expected)} groups of players" in said
        if " never meet" in said:
            apart += len(parts(wins + wins.T)) > 1
            continue
        named = said.split(" never")[0]
        best = ["abcdef".index(name) for name in re.findall('"(.)"', named)]
        assert frozenset(best) in expected
        assert not np.delete(wins, best, axis=0)[:, best].any()
    assert {1, 2, 3, 4} <= sizes
    assert 3 < apart < 60


@pytest.mark.parametrize("decided", [False, True])
def test_the_message_names_who_never_meets(decided: bool) -> None:
    """Also where a player of one half never lost to the others of it, whom it did meet."""
    half = [[2, 1], [2, 1] if decided else [1, 2]]
    scores = [[*half[0], NAN, NAN], [*half[1], NAN, NAN], [NAN, NAN, 1, 2], [NAN, NAN, 2, 1]]
    found = str(infinite_estimates(count_matches(ScoreTable(scores)).doubled_wins, list("abcd")))
    sides = found.split(" never meet")[0].split(" and ")
    assert sides == ['"a", "b"', '"c", "d"']


@pytest.mark.parametrize("kind", ["same-round", "all-rounds"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_many_tournaments_are_counted_at_once(kind, missing) -> None:
    tables = [
        simulate_tournament(np.zeros(5), 9, step=0.5, missing=missing, random_seed=seed).scores
        for seed in range(4)
    ]
    tables = [np.where(np.isnan(tables[0]), np.nan, np.nan_to_num(one)) for one in tables]
    together, alone = count_scores(np.stack(tables), kind), [count_scores(t, kind) for t in tables]
    np.testing.assert_array_equal(together.doubled_wins, [one.doubled_wins for one in alone])
    assert all(np.array_equal(together.n_matches, one.n_matches) for one in alone)
    assert together.n_ties == sum(one.n_ties for one in alone)
