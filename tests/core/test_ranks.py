"""Sets of ranks against enumeration, and what simulation says of how often they hold."""

import numpy as np
import pytest

from bayes_sota.core.ranks import (
    confidence_rank_sets,
    confidence_rank_sets_of_equal_errors,
    joint_rank_sets,
    separated_neighbours,
    tiers,
)


def ranks_of(values):
    return np.argsort(np.argsort(-values, axis=-1), axis=-1) + 1


def apart(m):
    return 2**0.5 * (1 - np.eye(m))


def test_joint_sets_are_those_of_the_deepest_draws():
    """Depths and sets of four entries, one draw and one entry after the other."""
    rng = np.random.default_rng(0)
    rank = ranks_of(np.array([1.5, 0.7, 0.5, -1]) + rng.standard_normal((400, 4)))
    depths = [
        min(min(np.mean(r <= x), np.mean(r >= x)) for r, x in zip(rank.T, draw, strict=True))
        for draw in rank
    ]
    kept = rank[np.array(depths) >= sorted(depths)[int(0.1 * 399)]]
    expected = np.column_stack([kept.min(axis=0), kept.max(axis=0)])
    np.testing.assert_array_equal(joint_rank_sets(rank, 0.9), expected)
    inside = (rank >= expected[:, 0]) & (rank <= expected[:, 1])
    assert inside.all(axis=1).mean() >= 0.9


def test_entries_that_are_alike_share_their_sets():
    rng = np.random.default_rng(1)
    rank = ranks_of(np.array([1.0, 1.0, 0.0]) + rng.standard_normal((500, 3)))
    sets = joint_rank_sets(rank, 0.8, [np.array([0, 1]), np.array([2])])
    np.testing.assert_array_equal(sets[0], sets[1])


def sets_by_pairs(scores, errors, noise, prob):
    """One pair after the other."""
    m = scores.size
    pairs = [(j, k) for j in range(m) for k in range(m) if j != k]
    largest = np.max([(noise[:, j] - noise[:, k]) / errors[j, k] for j, k in pairs], axis=0)
    critical = np.quantile(largest, prob)
    above = [(j, k) for j, k in pairs if (scores[j] - scores[k]) / errors[j, k] > critical]
    better, worse = [j for j, _ in above], [k for _, k in above]
    return np.array([[1 + worse.count(j), m - better.count(j)] for j in range(m)])


@pytest.mark.parametrize("seed", range(6))
def test_confidence_sets_are_those_of_all_pairs(seed, monkeypatch):
    """Blocks of entries, and the shortcut for equal errors, give the same sets."""
    monkeypatch.setattr("bayes_sota.core.ranks._BLOCK", 3)
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, [1, 3, 6][seed % 3], size=7)
    noise = rng.standard_normal((300, 7)).astype(np.float32)
    same = np.testing.assert_array_equal
    found, half = confidence_rank_sets(scores, apart(7), noise, 0.9), 2**-0.5 * noise
    same(found, sets_by_pairs(scores, apart(7), noise, 0.9))
    found = confidence_rank_sets_of_equal_errors(scores, half, 0.9)
    same(found, confidence_rank_sets(scores, apart(7), half, 0.9))
    errors = np.hypot(*np.meshgrid(own := rng.uniform(0.5, 2, 7), own))
    np.fill_diagonal(errors, 0)
    found = confidence_rank_sets(scores, errors, own * noise, 0.9)
    same(found, sets_by_pairs(scores, errors, own * noise, 0.9))


@pytest.mark.parametrize("m", [2, 6, 40])
def test_equal_entries_are_rarely_told_apart(m):
    """A single rejection among equal entries is an error: its chance is 1 - prob."""
    rng = np.random.default_rng(m)
    wrong = 0
    for _ in range(1000):
        noise = rng.standard_normal((400, m))
        sets = confidence_rank_sets_of_equal_errors(rng.standard_normal(m), noise, 0.9)
        wrong += not (sets == [1, m]).all()
    assert wrong / 1000 == pytest.approx(0.1, abs=4 * (0.1 * 0.9 / 1000) ** 0.5)


def test_tiers_and_neighbours():
    sets = np.array([[1, 2], [1, 3], [3, 4], [3, 4], [5, 6], [5, 6]])
    assert (tiers(sets).tolist(), separated_neighbours(sets)) == ([1, 1, 2, 2, 3, 3], 1)
    assert tiers(np.array([[1, 3], [2, 3], [4, 4], [4, 4]])).tolist() == [1, 2, 3, 3]
