"""Rankings against enumeration of all rankings and of all orders of ties."""

from itertools import combinations, permutations

import numpy as np
import pytest

from bayes_sota.epp.rankings import order_rounds, ranking_log_likelihood

SKILLS = np.array([0.8, -0.3, 1.9, -2.4])


def log_likelihood(ranks: np.ndarray, skills: np.ndarray) -> np.ndarray:
    """Of rounds with the same skills."""
    setting = np.zeros(len(ranks), np.intp)
    return ranking_log_likelihood(skills[None], setting, order_rounds(ranks))


def by_hand(order: tuple[int, ...], skills: np.ndarray) -> float:
    """Players from the best to the worst: each is chosen among those that are left."""
    odds = np.exp(skills)
    chances = [odds[i] / sum(odds[j] for j in order[place:]) for place, i in enumerate(order)]
    return float(np.sum(np.log(chances)))


def ranks_of_order(order: tuple[int, ...], m: int) -> list[int]:
    ranks = [-1] * m
    for place, player in enumerate(reversed(order)):
        ranks[player] = place
    return ranks


def test_all_rankings_add_up_to_one_and_their_pairs_are_bradley_terry() -> None:
    orders = list(permutations(range(4)))
    ranks = np.array([ranks_of_order(order, 4) for order in orders])
    found = log_likelihood(ranks, SKILLS)
    assert found == pytest.approx([by_hand(order, SKILLS) for order in orders], rel=1e-12)
    p = np.exp(found)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    for i, j in combinations(range(4), 2):
        wins = p[ranks[:, i] > ranks[:, j]].sum()
        assert wins == pytest.approx(1 / (1 + np.exp(SKILLS[j] - SKILLS[i])), abs=1e-12)


def test_players_without_a_score_take_no_part() -> None:
    orders = list(permutations([0, 2, 3]))
    found = log_likelihood(np.array([ranks_of_order(order, 4) for order in orders]), SKILLS)
    assert found == pytest.approx([by_hand(order, SKILLS) for order in orders], rel=1e-12)
    alone = np.array([[-1, -1, 0, -1]])
    assert log_likelihood(alone, SKILLS) == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize("groups", [[2], [1, 3], [2, 2, 1], [4, 1], [1, 5], [3, 2]])
def test_ties_average_over_all_orders(groups: list[int]) -> None:
    """Exactly, for up to five players tied with each other."""
    ranks = np.repeat(np.arange(len(groups)), groups)[None]
    skills = np.random.default_rng(3).normal(0, 1.5, ranks.size)
    possible = [
        order
        for order in permutations(range(ranks.size))
        if np.all(np.diff(ranks[0, list(order)]) <= 0)
    ]
    expected = np.mean([by_hand(order, skills) for order in possible])
    assert log_likelihood(ranks, skills)[0] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(("tied", "most"), [(6, 0.2), (8, 0.3), (12, 0.6)])
def test_orders_of_many_tied_players_come_close(tied: int, most: float) -> None:
    """All subsets are averaged: the same sum as over all orders."""
    rng = np.random.default_rng(tied)
    errors = []
    for _ in range(3):
        skills = rng.normal(0, 0.7, tied)
        odds = np.exp(skills)
        sums = (
            np.mean([np.log(odds[list(some)].sum()) for some in combinations(range(tied), k)])
            for k in range(1, tied + 1)
        )
        exact = skills.sum() - sum(sums)
        errors.append(log_likelihood(np.zeros((1, tied), int), skills)[0] - exact)
    assert np.max(np.abs(errors)) < most
    assert np.max(np.abs(errors)) > 0
