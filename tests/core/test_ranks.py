"""Sets of ranks against enumeration, and what simulation says of how often they hold."""

from itertools import permutations

import numpy as np
import pytest

from bayes_sota.core.ranks import (
    joint_rank_sets,
    separated_neighbours,
    stepwise_rank_sets,
    stepwise_rank_sets_of_equal_errors,
    tiers,
)


def ranks_of(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(-values, axis=-1), axis=-1) + 1


def apart(m: int, error: float = 2**0.5) -> np.ndarray:
    return error * (1 - np.eye(m))


def test_joint_sets_are_those_of_the_deepest_draws() -> None:
    """Depths and sets of four entries, one draw and one entry after the other."""
    rng = np.random.default_rng(0)
    rank = ranks_of(np.array([1.5, 0.7, 0.5, -1]) + rng.standard_normal((400, 4)))
    depths = []
    for draw in rank:
        tails = [
            min(np.mean(rank[:, j] <= draw[j]), np.mean(rank[:, j] >= draw[j])) for j in range(4)
        ]
        depths.append(min(tails))
    kept = rank[np.array(depths) >= sorted(depths)[int(0.1 * 399)]]
    expected = np.column_stack([kept.min(axis=0), kept.max(axis=0)])
    np.testing.assert_array_equal(joint_rank_sets(rank, 0.9), expected)
    inside = (rank >= expected[:, 0]) & (rank <= expected[:, 1])
    assert inside.all(axis=1).mean() >= 0.9


def test_entries_that_are_alike_share_their_sets() -> None:
    rng = np.random.default_rng(1)
    rank = ranks_of(np.array([1.0, 1.0, 0.0]) + rng.standard_normal((500, 3)))
    sets = joint_rank_sets(rank, 0.8, [np.array([[0, 1]]), np.array([[2]])])
    np.testing.assert_array_equal(sets[0], sets[1])


def test_a_certain_order_has_sets_of_one_rank() -> None:
    for order in permutations(range(3)):
        rank = np.array([order] * 20) + 1
        assert joint_rank_sets(rank, 0.95).tolist() == [[r, r] for r in rank[0]]
        score = -100.0 * rank[0]
        noise = np.random.default_rng(0).standard_normal((500, 3))
        found = stepwise_rank_sets(score, apart(3), noise, 0.95)
        assert found.tolist() == [[r, r] for r in rank[0]]


def stepwise_by_pairs(
    scores: np.ndarray, errors: np.ndarray, noise: np.ndarray, prob: float
) -> np.ndarray:
    m = scores.size
    left = [(j, k) for j in range(m) for k in range(m) if j != k]
    above: list[tuple[int, int]] = []
    while left:
        largest = np.max([(noise[:, j] - noise[:, k]) / errors[j, k] for j, k in left], axis=0)
        critical = np.quantile(largest, prob)
        told = [(j, k) for j, k in left if (scores[j] - scores[k]) / errors[j, k] > critical]
        if not told:
            break
        above += told
        left = [pair for pair in left if pair not in told]
    better, worse = [j for j, _ in above], [k for _, k in above]
    return np.array([[1 + worse.count(j), m - better.count(j)] for j in range(m)])


@pytest.mark.parametrize("seed", range(6))
def test_stepwise_sets_are_those_of_all_pairs(seed: int) -> None:
    """The loops over pairs, blocks of entries, and neighbours give the same sets."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, [1, 3, 6][seed % 3], size=7)
    noise = rng.standard_normal((300, 7)).astype(np.float32)
    expected = stepwise_by_pairs(scores, apart(7), noise, 0.9)
    np.testing.assert_array_equal(stepwise_rank_sets(scores, apart(7), noise, 0.9), expected)
    np.testing.assert_array_equal(
        stepwise_rank_sets_of_equal_errors(scores, 2**-0.5 * noise, 0.9),
        stepwise_rank_sets(scores, apart(7), 2**-0.5 * noise, 0.9),
    )
    errors = np.hypot(*np.meshgrid(own := rng.uniform(0.5, 2, 7), own))
    np.fill_diagonal(errors, 0)
    np.testing.assert_array_equal(
        stepwise_rank_sets(scores, errors, own * noise, 0.9),
        stepwise_by_pairs(scores, errors, own * noise, 0.9),
    )


@pytest.mark.parametrize("m", [2, 6, 40])
def test_equal_entries_are_rarely_told_apart(m: int) -> None:
    """A single rejection among equal entries is an error: its chance is 1 - prob."""
    rng = np.random.default_rng(m)
    wrong = 0
    for _ in range(1000):
        noise = rng.standard_normal((400, m))
        sets = stepwise_rank_sets_of_equal_errors(rng.standard_normal(m), noise, 0.9)
        wrong += not (sets == [1, m]).all()
    assert wrong / 1000 == pytest.approx(0.1, abs=4 * (0.1 * 0.9 / 1000) ** 0.5)


def test_tiers_and_neighbours() -> None:
    sets = np.array([[1, 2], [1, 3], [2, 4], [3, 4], [5, 6], [5, 6]])
    assert tiers(sets).tolist() == [1, 1, 2, 2, 3, 3]
    assert separated_neighbours(sets) == 1
    assert tiers(np.array([[1, 3], [2, 3], [4, 4], [4, 4]])).tolist() == [1, 2, 3, 3]
