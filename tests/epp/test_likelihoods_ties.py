"""Models of ties, against their formulas; weights, against the sandwich and simulation."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.counts import count_matches, ranks_of_rounds
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.likelihoods import (
    _slopes,
    checked_ties,
    cluster_weight,
    count_cells,
    log_outcomes,
    rows_of_matches,
    rows_of_rounds,
    tie_parameter,
)
from bayes_sota.epp.simulate import simulate_tournament


def test_davidson_by_its_formula() -> None:
    a, b, nu = 2.0, 1.0, 0.5
    total = a + b + nu * np.sqrt(a * b)
    won, tied, lost = np.exp(log_outcomes(np.log(a / b), nu / (2 + nu), "davidson"))
    assert (won, tied, lost) == pytest.approx((a / total, nu * np.sqrt(a * b) / total, b / total))
    assert won / (won + lost) == pytest.approx(2 / 3, abs=1e-12)  # Bradley–Terry given no tie


def test_rao_kupper_by_its_formula_is_not_bradley_terry_given_no_tie() -> None:
    """.696 where Bradley and Terry have .667: skills 2:1, theta 1.5."""
    a, b, theta = 2.0, 1.0, 1.5
    p_tie = (theta - 1) / (theta + 1)
    assert tie_parameter(p_tie, "rao-kupper") == pytest.approx(theta)
    won, tied, lost = np.exp(log_outcomes(np.log(a / b), p_tie, "rao-kupper"))
    assert (won, lost) == pytest.approx((a / (a + theta * b), b / (b + theta * a)))
    assert won + tied + lost == pytest.approx(1, abs=1e-12)
    assert won / (won + lost) == pytest.approx(0.696, abs=5e-4)


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_probabilities_add_up_and_equal_players_tie_as_often_as_said(ties: str) -> None:
    difference = np.array([-30.0, -1.0, 0.0, 0.5, 30.0])
    won, tied, lost = np.exp(log_outcomes(difference, 0.3, ties))
    assert won + tied + lost == pytest.approx(np.ones(5), abs=1e-12)
    assert tied[2] == pytest.approx(0.3, abs=1e-12)
    assert won[::-1] == pytest.approx(np.exp(log_outcomes(-difference[::-1], 0.3, ties)[2]))


def test_a_tie_as_half_is_the_mean_of_a_win_and_a_loss() -> None:
    won, tied, lost = log_outcomes(np.array([0.7]))
    assert np.exp(won) + np.exp(lost) == pytest.approx(1)
    assert tied == pytest.approx((won + lost) / 2)


@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_slopes_are_derivatives(ties: str) -> None:
    difference, step = np.array([-1.5, 0.0, 2.0]), 1e-6
    up, down = (np.stack(log_outcomes(difference + h, 0.2, ties), axis=1) for h in (step, -step))
    assert _slopes(difference, 0.2, ties) == pytest.approx((up - down) / (2 * step), abs=1e-8)


def test_matches_of_rounds_are_those_that_are_counted() -> None:
    table = simulate_tournament([1, 0, -1, 0.5], 12, step=0.8, missing=0.2, random_seed=4)
    rows = rows_of_rounds(ranks_of_rounds(table))
    pairs, cells = rows.pairs(np.zeros(rows.first.size, np.intp))
    counts = count_cells(cells, len(pairs))
    expected = count_matches(table)
    assert counts[:, 1].sum() == expected.n_ties > 0
    wins = 2 * counts[:, 0] + counts[:, 1]
    assert np.array_equal(wins, expected.doubled_wins[pairs[:, 1], pairs[:, 2]])


def test_listed_matches_keep_their_direction_and_tournament() -> None:
    one = Matches.from_names(["b", "a"], ["a", "b"], [1, 1])
    two = Matches.from_names(["c", "a"], ["a", "c"], [0.5, 0], tournament="two")
    rows = rows_of_matches([one, two], ["a", "b", "c"])
    pairs, cells = rows.pairs(np.array([0, 0, 1, 1]))
    assert pairs.tolist() == [[0, 0, 1], [1, 0, 2]]
    assert count_cells(cells, 2).tolist() == [[1, 0, 1], [0, 1, 1]]
    assert rows.unit.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weight_is_that_of_the_sandwich(missing: float) -> None:
    """Another route: covariances of the maximum-likelihood fit, on the space of mean zero."""
    table = simulate_tournament([1, 0, -1, 0.5, 0], 30, missing=missing, random_seed=2)
    rows = rows_of_rounds(ranks_of_rounds(table))
    fit = fit_epp(table)
    product = np.linalg.pinv(fit.covariance_model) @ fit.covariance
    expected = (table.n_players - 1) / np.trace(product)
    assert cluster_weight(rows, rows.unit) == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("m", [5, 16])
def test_weight_of_equal_players(m: int) -> None:
    table = simulate_tournament(np.zeros(m), 1500, random_seed=m)
    rows = rows_of_rounds(ranks_of_rounds(table))
    for ties in ("half", "davidson"):
        assert cluster_weight(rows, rows.unit, ties) == pytest.approx(3 / (m + 1), rel=0.06)


@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_weight_of_independent_matches(ties: str) -> None:
    """Near 1 where the model has the right ties; ties as half are cautious by their share."""
    rng = np.random.default_rng(1)
    skills = np.array([0.6, 0.2, -0.2, -0.6])
    first, second = np.triu_indices(4, 1)
    first, second = np.tile(first, 800), np.tile(second, 800)
    kind = "davidson" if ties == "half" else ties
    p = np.exp(np.stack(log_outcomes(skills[first] - skills[second], 0.3, kind), axis=1))
    drawn = (rng.random((len(p), 1)) > np.cumsum(p, axis=1)).sum(axis=1)
    matches = Matches(first, second, 1 - drawn / 2, players=list("abcd"))
    weight = cluster_weight(rows_of_matches([matches], "abcd"), np.arange(len(p)), ties)
    # ties as half would have 1 / 0.7, which is held at that of independent matches
    assert weight <= 1
    assert weight == pytest.approx(1, abs=0.12)


def test_what_is_refused() -> None:
    rows = rows_of_rounds(ranks_of_rounds(ScoreTable([[1, 2], [2, 1]])))
    with pytest.raises(InputError, match="one cluster"):
        cluster_weight(rows, np.zeros(2, int))
    with pytest.raises(InputError, match="half, davidson, rao-kupper"):
        checked_ties("bradley")


def test_rounds_that_all_agree_weigh_no_more_than_independent_matches() -> None:
    rows = rows_of_rounds(np.tile(np.arange(4), (10, 1)))
    for ties in ("half", "davidson", "rao-kupper"):
        assert cluster_weight(rows, rows.unit, ties) == 1
