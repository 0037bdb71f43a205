"""Matches counted one by one against the counts; strong parts against powers of matrices."""

import re
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata

from bayes_sota.data.tournaments import ScoreTable
from bayes_sota.epp import counts
from bayes_sota.epp.counts import (
    count_matches,
    count_scores,
    infinite_estimates,
    ranks_of,
    unbeaten_players,
)

LOWER = [False, True, True, False, False, True]


def drawn(*, levels: int, missing: float, lower: bool | list[bool], seed: int) -> ScoreTable:
    """Six rounds of five players; few levels make ties."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(levels, size=(6, 5)).astype(float)
    scores[(rng.random(scores.shape) < missing) & (np.arange(6)[:, None] != np.arange(5))] = np.nan
    return ScoreTable(scores, lower_is_better=lower)


@pytest.mark.parametrize(
    ("kind", "each", "added"), [("same-round", 3, 0.5), ("all-rounds", 9, 1.5)]
)
def test_a_penalty_adds_a_share_of_a_round_of_ties(kind: str, each: int, added: float) -> None:
    counts = count_scores(np.random.default_rng(0).normal(size=(3, 4)), kind)
    totals, matches = counts.with_ties(kind, 0.5)
    np.testing.assert_array_equal(matches, (each + added) * (1 - np.eye(4)))
    np.testing.assert_allclose(totals, counts.totals + 3 * added / 2)


def by_hand(table: ScoreTable, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Twice the wins and the matches of each pair, match by match."""
    m, rounds = table.n_players, range(table.n_rounds)
    doubled, n_matches = np.zeros((m, m), int), np.zeros((m, m), int)
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
    return doubled, n_matches


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
def test_matches_of_scores_are_those_counted_by_hand(
    levels, missing, lower, kind, monkeypatch
) -> None:
    """All-rounds matches by both ways, of few players and of many."""
    for seed in range(4):
        table = drawn(levels=levels, missing=missing, lower=lower, seed=seed)
        monkeypatch.setattr(counts, "_FEW", 100 * (seed % 2))
        found, (doubled, n_matches) = count_matches(table, kind), by_hand(table, kind)
        np.testing.assert_array_equal(found.doubled_wins, doubled)
        np.testing.assert_array_equal(found.totals, doubled.sum(axis=1) / 2)
        np.testing.assert_array_equal(found.n_matches, n_matches)


def test_counts_of_very_many_rounds_do_not_overflow() -> None:
    """1.6e9 matches of one pair, twice which is beyond 32 bits."""
    rounds = 40_000
    scores = np.floor(3 * np.random.default_rng(0).random((rounds, 2)) + [2.7, 0.0])
    first, second = np.sort(scores, axis=0).T
    wins, not_lost = (np.searchsorted(second, first, side).sum() for side in ("left", "right"))
    expected = (float(wins) + float(not_lost)) / 2
    counts = count_matches(ScoreTable(scores), "all-rounds")
    assert counts.totals.tolist() == [expected, float(rounds) ** 2 - expected]
    ahead = np.sign(scores[:, 0] - scores[:, 1])
    assert count_matches(ScoreTable(scores)).totals[0] == np.sum(1 + ahead) / 2


@pytest.mark.parametrize("rounds", [8, 128])
def test_the_smallest_integers_have_room_for_every_count(rounds: int, monkeypatch) -> None:
    """Twice the wins of who always wins, 128 and 32,768, are one too many for 8 and 16 bits."""
    monkeypatch.setattr(counts, "_FEW", 0)
    scores = np.arange(2.0 * rounds).reshape(2, rounds).T
    assert count_scores(scores, "all-rounds").doubled_wins.tolist() == [[0, 0], [2 * rounds**2, 0]]


NAN = float("nan")


def parts(wins: np.ndarray) -> set[frozenset[int]]:
    """Players who can reach each other along wins, by the powers of the matrix."""
    reach = np.linalg.matrix_power((wins > 0) + np.eye(len(wins), dtype=np.int64), len(wins)) > 0
    return {frozenset(np.flatnonzero(row).tolist()) for row in reach & reach.T}


def test_who_reaches_whom_decides_and_the_message_names_the_unbeaten() -> None:
    rng, sizes, m = np.random.default_rng(1), set(), 6
    for seed in range(80):
        scores = np.rint(4 * rng.random((int(rng.integers(2, 4)), m)) + np.arange(m))
        kind = ("same-round", "all-rounds")[seed % 2]
        wins = count_matches(ScoreTable(scores), kind).doubled_wins
        expected = parts(wins)
        unbeaten = unbeaten_players(wins)
        assert (unbeaten is None) == (len(expected) == 1)
        sizes.add(len(expected))
        if unbeaten is not None:
            said = str(infinite_estimates(wins, unbeaten, list("abcdef")))
            named = re.findall('"(.)"', said.split(" never")[0])
            assert named == [name for name, ahead in zip("abcdef", unbeaten, strict=True) if ahead]
            assert unbeaten.any()
            assert not unbeaten.all()
            assert not wins[~unbeaten][:, unbeaten].any()
    assert {1, 2, 3, 4} <= sizes


def test_the_message_names_who_never_meets() -> None:
    """Also where a player of one half never lost to the others of it, whom it did meet."""
    scores = [[2, 1, NAN, NAN], [2, 1, NAN, NAN], [NAN, NAN, 1, 2], [NAN, NAN, 2, 1]]
    wins = count_matches(ScoreTable(scores)).doubled_wins
    found = str(infinite_estimates(wins, unbeaten_players(wins), list("abcd")))
    sides = found.split(" never meet")[0].split(" and ")
    assert sides == ['"a", "b"', '"c", "d"']


def test_ranks_are_those_of_scipy():
    scores = drawn(levels=3, missing=0.2, lower=False, seed=0).scores
    for dense, method in ((False, "average"), (True, "dense")):
        expected = [rankdata(row, method=method, nan_policy="omit") for row in scores]
        np.testing.assert_array_equal(ranks_of(scores, dense=dense), expected)
