"""Rankings against enumeration of all rankings and of all orders of ties.

Weights against the sandwich and simulation.
"""

from itertools import combinations, permutations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import stats
from scipy.special import expit

from bayes_sota.data.tournaments import Matches
from bayes_sota.epp.counts import count_matches, ranks_of_rounds
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.likelihoods import (
    _slopes,
    balanced_orders,
    cluster_weight,
    count_cells,
    group_weight,
    log_outcomes,
    order_rounds,
    ranking_log_likelihood,
    rows_of_matches,
    rows_of_rounds,
)
from bayes_sota.epp.simulate import simulate_tournament

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


def test_first_places_of_balanced_orders_are_balanced() -> None:
    for size in (2, 3, 4, 5, 7, 30):
        orders = balanced_orders(size)
        assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(size), (len(orders), 1)))
        counts = np.bincount(orders[:, 0], minlength=size)
        assert counts.max() <= counts[counts > 0].min()


@pytest.mark.parametrize("decimals", [12, 0], ids=["no ties", "many ties"])
def test_weight_compares_the_spread_of_gradients_with_the_information(decimals: int) -> None:
    """By finite differences of the likelihood."""
    skills, step = np.array([0.5, 0.0, -0.5, 0.2]), 1e-3
    scores = simulate_tournament(skills, 20, missing=0.2, random_seed=1).oriented
    ranks = ranks_of_rounds(np.round(scores, decimals))
    tied = [len(set(row)) < len(row) for row in ([r for r in row if r >= 0] for row in ranks)]
    assert any(tied) == (decimals == 0)
    ranks = np.concatenate([ranks, ranks, ranks])  # rounds of a group are the same

    def value(shift: np.ndarray) -> np.ndarray:
        return log_likelihood(ranks, skills + step * shift)

    unit = np.eye(4)
    gradients = np.stack([(value(e) - value(-e)) / (2 * step) for e in unit], axis=1)
    mixed = [
        [value(a + b) - value(a - b) - value(b - a) + value(-a - b) for a in unit] for b in unit
    ]
    information = -np.sum(mixed, axis=2) / (2 * step) ** 2
    groups = np.arange(60) % 20
    summed = np.stack([gradients[groups == g].sum(axis=0) for g in range(20)])
    outer = 20 * np.cov(summed.T)
    expected = 3 / np.trace(np.linalg.pinv(information, rcond=1e-4, hermitian=True) @ outer)
    assert group_weight(ranks, groups, skills) == pytest.approx(expected, rel=2e-3)
    assert expected < 0.6
    one_by_one = group_weight(ranks, np.arange(60), skills)
    assert one_by_one == pytest.approx(1, abs=0.35)


def test_groups_that_agree_weigh_no_more_than_independent_rounds() -> None:
    two = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    assert group_weight(two, np.array([0, 0, 1, 1]), np.zeros(2)) == 1
    same = np.tile(np.arange(4), (6, 1))
    assert group_weight(same, np.array([0, 0, 0, 1, 1, 1]), np.arange(4.0)) == 1


def test_slopes_are_derivatives() -> None:
    difference, step = np.array([-1.5, 0.0, 2.0]), 1e-6
    up, down = (np.stack(log_outcomes(difference + h), axis=1) for h in (step, -step))
    assert _slopes(difference) == pytest.approx((up - down) / (2 * step), abs=1e-8)


def test_matches_of_rounds_are_those_that_are_counted() -> None:
    table = simulate_tournament([1, 0, -1, 0.5], 12, step=0.8, missing=0.2, random_seed=4)
    rows = rows_of_rounds(ranks_of_rounds(table.oriented))
    pairs, cells = rows.pairs(np.zeros(rows.first.size, np.intp))
    counts = count_cells(cells, len(pairs))
    expected = count_matches(table)
    assert counts[:, 1].sum() == expected.n_ties > 0
    wins = 2 * counts[:, 0] + counts[:, 1]
    assert np.array_equal(wins, expected.doubled_wins[pairs[:, 1], pairs[:, 2]])


def test_listed_matches_keep_their_direction_and_tournament() -> None:
    one = Matches(["b", "a"], ["a", "b"], [1, 1])
    two = Matches(["c", "a"], ["a", "c"], [0.5, 0], tournament="two")
    rows = rows_of_matches([one, two], ["a", "b", "c"])
    pairs, cells = rows.pairs(np.array([0, 0, 1, 1]))
    assert pairs.tolist() == [[0, 0, 1], [1, 0, 2]]
    assert count_cells(cells, 2).tolist() == [[1, 0, 1], [0, 1, 1]]
    assert rows.unit.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weight_is_that_of_the_sandwich(missing: float) -> None:
    """Another route: covariances of the maximum-likelihood fit, on the space of mean zero."""
    table = simulate_tournament([1, 0, -1, 0.5, 0], 30, missing=missing, random_seed=2)
    rows = rows_of_rounds(ranks_of_rounds(table.oriented))
    fit = fit_epp(table)
    sandwich = fit.influence.T @ fit.influence * 30 / 29
    product = np.linalg.pinv(fit.covariance_model) @ sandwich
    expected = (table.n_players - 1) / np.trace(product)
    assert cluster_weight(rows, rows.unit) == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("m", [5, 16])
def test_weight_of_equal_players(m: int) -> None:
    table = simulate_tournament(np.zeros(m), 1500, random_seed=m)
    rows = rows_of_rounds(ranks_of_rounds(table.oriented))
    assert cluster_weight(rows, rows.unit) == pytest.approx(3 / (m + 1), rel=0.06)


def test_weight_of_independent_matches() -> None:
    """Three in ten are ties, which as half would have 1 / 0.7: held at that without ties."""
    rng = np.random.default_rng(1)
    skills = np.array([0.6, 0.2, -0.2, -0.6])
    first, second = np.triu_indices(4, 1)
    first, second = np.tile(first, 800), np.tile(second, 800)
    won = rng.random(first.size) < expit(skills[first] - skills[second])
    outcomes = np.where(rng.random(first.size) < 0.3, 0.5, won)
    for given, expected in ((won * 1.0, pytest.approx(1, abs=0.12)), (outcomes, 1.0)):
        matches = Matches(first, second, given, players=list("abcd"))
        weight = cluster_weight(rows_of_matches([matches], "abcd"), np.arange(first.size))
        assert weight <= 1
        assert weight == expected


def test_rounds_that_all_agree_weigh_no_more_than_independent_matches() -> None:
    rows = rows_of_rounds(np.tile(np.arange(4), (10, 1)))
    assert cluster_weight(rows, rows.unit) == 1


def test_the_formula_of_rankings_enters_another_model() -> None:
    """Skills with a prior by hand: the density of the model, and its gradient, are finite."""
    orders = order_rounds(np.array([[2, 1, 0], [0, 2, 1], [1, 1, 0]]))
    rounds = np.zeros(3, int)
    with pm.Model() as model:
        skills = pm.StudentT("skills", 4, shape=3)
        pm.Potential("rounds", ranking_log_likelihood(skills[None], rounds, orders, pt).sum())
    point = {"skills": np.array([0.5, -0.2, 0.1])}
    expected = ranking_log_likelihood(point["skills"][None], rounds, orders).sum()
    prior = stats.t.logpdf(point["skills"], 4).sum()
    assert model.compile_logp(mode="FAST_COMPILE")(point) == pytest.approx(expected + prior)
    assert np.isfinite(model.compile_dlogp(mode="FAST_COMPILE")(point)).all()
