"""Models have the densities of their docstrings; rankings and orders of ties are enumerated."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from model_values import UNOPTIMISED, some_point, terms, values_at
from scipy import stats
from simulated_tournaments import simulate_tournament

from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.models import build_design, build_model, order_rounds, ranking_log_likelihood

TABLE = simulate_tournament([1, 0, -1, 0.3], 6, random_seed=1, players=list("abcd"))
OTHER = simulate_tournament(
    [1, 0, -1], 4, missing=0.2, random_seed=2, players=list("aeb"), tournament="other"
)
CLEAR = simulate_tournament([2, 0, -2, 0.5], 30, random_seed=1)
BATTLES = Matches(list("aabbcda"), list("bcccdab"), [1, 0.5, 0, 1, 1, 0.5, 0])
MORE_BATTLES = Matches(list("aeb"), list("eba"), [1, 0, 0], tournament="other")


def ranking(scores: np.ndarray, skills: np.ndarray) -> float:
    """Of one round, player by player from the best."""
    order = [i for i in np.argsort(-scores) if np.isfinite(scores[i])]
    odds = np.exp(skills)
    return float(sum(np.log(odds[i] / odds[order[k:]].sum()) for k, i in enumerate(order)))


@pytest.mark.slow
@pytest.mark.parametrize("table", [TABLE, CLEAR], ids=["in units of the sd", "centred"])
def test_rankings_of_one_tournament(table: ScoreTable) -> None:
    model = build_model(table)
    point = some_point(model)
    (epp,) = values_at(model, point, model["epp"])
    assert epp.sum() == pytest.approx(0, abs=1e-12)
    expected = [ranking(row, epp) for row in table.scores]
    assert terms(model, point) == pytest.approx(expected, rel=1e-10)
    gradient = model.compile_dlogp(**UNOPTIMISED)(point)
    assert np.isfinite(gradient).all()
    # the prior of the skills, on the coordinates of the plane of mean zero
    spread = np.exp(point["skill_sd_log__"])
    prior = model.compile_logp(vars=model.free_RVs, jacobian=False, **UNOPTIMISED)(point)
    name, sd = ("own_skill", spread) if table is CLEAR else ("skill_offset", 1.0)
    coordinates = point[f"{name}_zerosum__"]
    density = stats.norm.logpdf(coordinates, 0, sd).sum() + stats.halfnorm.logpdf(spread, 0, 2)
    assert prior == pytest.approx(density, abs=1e-7)


@pytest.mark.slow
def test_tournaments_share_skills_and_covariates_have_effects() -> None:
    values = pd.DataFrame({"size": [1, 2, 3, 4, 5], "family": list("xxyyz")}, list("abcde"))
    model = build_model([TABLE, OTHER], player_covariates=values)
    assert model.coords["player"] == tuple("abcde")
    assert model.coords["round"][0] == "simulated: 1"
    point = some_point(model)
    names = ("epp", "epp_tournament", "covariate_effect")
    epp, own, effect = values_at(model, point, *(model[name] for name in names))
    assert effect.shape == (4,)
    assert epp.sum() == pytest.approx(0, abs=1e-12)
    assert own.sum(axis=1) == pytest.approx(np.zeros(2), abs=1e-12)
    skills = own[[0] * 6 + [1] * 4]
    scores = np.full((10, 5), np.nan)
    scores[:6, :4], scores[6:, [0, 4, 1]] = TABLE.oriented, OTHER.oriented
    expected = [ranking(*row) for row in zip(scores, skills, strict=True)]
    assert terms(model, point) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("tables", [[BATTLES], [BATTLES, MORE_BATTLES]], ids=["one", "two"])
def test_listed_matches(tables: list[Matches]) -> None:
    model = build_model(tables)
    point = some_point(model)
    (skills,) = values_at(model, point, model["epp_tournament" if len(tables) > 1 else "epp"])
    expected = 0.0
    for table, own in zip(tables, np.atleast_2d(skills), strict=True):
        epp = dict(zip(model.coords["player"], own, strict=True))
        names = [[table.players[k] for k in side] for side in (table.first, table.second)]
        for i, j, outcome in zip(*names, table.outcomes, strict=True):
            won, lost = -np.logaddexp(0, epp[j] - epp[i]), -np.logaddexp(0, epp[i] - epp[j])
            expected += outcome * won + (1 - outcome) * lost
    assert terms(model, point).sum() == pytest.approx(expected, rel=1e-10)


@pytest.mark.slow
def test_dependent_matches_count_less() -> None:
    clustered = replace(BATTLES, groups=[0, 0, 1, 1, 2, 2, 3])
    plain, weighted = build_model(BATTLES), build_model(clustered)
    weight = 1 / fit_epp(clustered, penalty=1e-6).inflation
    point = some_point(plain)
    assert terms(weighted, point) == pytest.approx(weight * terms(plain, point), rel=1e-5)


def test_groups_and_overlapping_splits_weigh_rankings() -> None:
    skills = [0.5, 0.0, -0.5]
    table = simulate_tournament(skills, 200, random_seed=3)
    thrice = ScoreTable(
        np.repeat(table.scores, 3, axis=0), groups=[str(g) for g in np.repeat(np.arange(200), 3)]
    )
    weight = build_model(thrice)["likelihood_weight"].get_value()
    assert weight == pytest.approx([1 / 3], rel=0.15)
    splits = build_model(table, test_fraction=0.2)["likelihood_weight"].get_value()
    assert splits == pytest.approx([1 / (1 + 200 * 0.2 / 0.8)])


NAMES = ["a", "b", "c", "d"]


def test_columns_have_mean_zero_and_numbers_unit_spread() -> None:
    given = {"size": [1, 2, 3, 10], "deep": [True, False, True, True], "family": list("xyyx")}
    columns, labels = build_design(pd.DataFrame(given, NAMES), NAMES)
    assert labels == ["size", "deep", "family: x", "family: y"]
    assert columns.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    assert columns[:, :2].std(axis=0) == pytest.approx([1, 1])
    assert np.ptp(columns[:, 2:], axis=0).tolist() == [1, 1]
    # rows of a frame are found by name
    frame = pd.DataFrame({"size": [4.0, 3, 2, 1, 0]}, index=["d", "c", "b", "a", "unused"])
    same = build_design(pd.DataFrame({"size": [1, 2, 3, 4]}, NAMES), NAMES)[0]
    assert np.array_equal(build_design(frame, NAMES)[0], same)


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
