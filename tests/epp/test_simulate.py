"""Simulated tournaments follow their models; resampled rounds agree with the sandwich."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.further_fits import bootstrap_epp
from bayes_sota.epp.simulate import simulate_tournament

SKILLS = np.array([1.0, 0.2, -0.3, -1.5])
LAWS = ("gumbel", "normal", "student", "reversed-gumbel")
ROUNDS = 40_000


def test_pairs_follow_bradley_terry_and_rounds_plackett_luce() -> None:
    scores = simulate_tournament(SKILLS, ROUNDS, random_seed=0).scores
    wins = (scores[:, :, None] > scores[:, None, :]).mean(axis=0)
    expected = expit(SKILLS[:, None] - SKILLS)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(wins, expected, rtol=0, atol=4 * 0.5 / np.sqrt(ROUNDS))
    odds = np.exp(SKILLS)
    first = odds[1] / odds.sum()
    then = odds[0] / (odds.sum() - odds[1])
    order = np.argsort(-scores, axis=1)
    share = np.mean((order[:, 0] == 1) & (order[:, 1] == 0))
    assert share == pytest.approx(first * then, abs=4 * 0.5 / np.sqrt(ROUNDS))


@pytest.mark.parametrize("law", LAWS)
def test_every_law_has_the_spread_of_the_gumbel_law(law) -> None:
    scores = simulate_tournament(np.zeros(4), ROUNDS, law=law, random_seed=1).scores
    assert scores.std() == pytest.approx(np.pi / np.sqrt(6), rel=0.02)
    skew = np.mean((scores - scores.mean()) ** 3) / scores.std() ** 3
    expected = {"gumbel": 1.14, "reversed-gumbel": -1.14}.get(law)
    if expected is not None:
        assert skew == pytest.approx(expected, abs=0.1)
    assert np.abs(np.corrcoef(scores.T)[np.triu_indices(4, 1)]).max() < 0.02
    half = np.mean(scores[:, 0] > scores[:, 1])  # equal players win half of their matches
    assert half == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(ROUNDS))


def test_normal_scores_follow_a_probit_instead() -> None:
    """Near the logistic curve, and not on it: at one logit of difference, .709 for .731."""
    scores = simulate_tournament([1.0, 0.0], ROUNDS, law="normal", random_seed=2).scores
    wins = np.mean(scores[:, 0] > scores[:, 1])
    expected = norm.cdf(1 / (np.pi / np.sqrt(3)))
    assert wins == pytest.approx(expected, abs=4 * 0.46 / np.sqrt(ROUNDS))
    assert wins < expit(1) - 0.01


@pytest.mark.parametrize("law", LAWS)
def test_overlap_correlates_a_players_rounds(law) -> None:
    tables = [
        simulate_tournament(np.zeros(200), 3, law=law, overlap=0.4, random_seed=seed).scores
        for seed in range(40)
    ]
    scores = np.concatenate(tables, axis=1)
    scores = scores - scores.mean()
    assert np.corrcoef(scores)[np.triu_indices(3, 1)] == pytest.approx(0.4, abs=0.06)
    assert scores.std() == pytest.approx(np.pi / np.sqrt(6), rel=0.05)


def test_skills_may_change_from_round_to_round() -> None:
    skills = np.array([[40.0, 0.0], [-40.0, 0.0], [40.0, 0.0]])
    scores = simulate_tournament(skills, 3, random_seed=3).scores
    assert (scores[:, 0] > scores[:, 1]).tolist() == [True, False, True]


def test_steps_make_ties_and_gaps_leave_something() -> None:
    scores = simulate_tournament(np.zeros(30), 200, step=0.25, random_seed=4).scores
    np.testing.assert_allclose(scores * 4, np.rint(scores * 4), atol=1e-12)
    assert np.mean(scores[:, 0] == scores[:, 1]) > 0.02
    gaps = simulate_tournament(np.zeros(30), 200, missing=0.6, random_seed=4)
    assert np.isnan(gaps.scores).mean() == pytest.approx(0.6, abs=0.03)
    for seed in range(20):  # every player and every round keeps a score
        few = simulate_tournament(np.zeros(5), 4, missing=0.95, random_seed=seed).present
        assert few.any(axis=0).all()
        assert few.any(axis=1).all()


def test_a_seed_decides_everything() -> None:
    one, same, other = (
        simulate_tournament(SKILLS, 5, random_seed=seed, players=list("abcd"), tournament="t")
        for seed in (7, np.random.default_rng(7), 8)
    )
    np.testing.assert_array_equal(one.scores, same.scores)
    assert not np.array_equal(one.scores, other.scores)
    assert one.players == ("a", "b", "c", "d")
    assert one.tournament == "t"


@pytest.mark.parametrize(
    "settings",
    [{"law": "cauchy"}, {"overlap": 1.0}, {"overlap": -0.1}, {"missing": 1.0}, {"missing": np.nan}],
)
def test_impossible_settings_are_refused(settings) -> None:
    with pytest.raises(InputError, match=r"must be one of|shares below 1"):
        simulate_tournament(SKILLS, 5, **settings)
    with pytest.raises(InputError, match="at least 2 repetitions"):
        bootstrap_epp(fit_epp([[2, 1], [1, 2]]), 1)


@pytest.mark.parametrize("kind", ["same-round", "all-rounds"])
def test_standard_errors_are_those_of_the_sandwich(kind: str) -> None:
    fit = fit_epp(simulate_tournament(np.linspace(1.5, -1.5, 6), 50, random_seed=0), kind)
    found = bootstrap_epp(fit, 200)
    assert found.n_infinite == 0
    assert found.se == pytest.approx(fit.se, rel=0.25)
    assert np.max(np.abs(found.interval() - fit.interval())) < 0.3
    assert found.epp.mean(axis=1) == pytest.approx(0, abs=1e-9)


def test_whole_groups_are_drawn() -> None:
    # Every round five times over, in one group: the bootstrap must not see five times the rounds.
    table = simulate_tournament([0.5, 0.0, -0.5], 30, random_seed=1)
    once = bootstrap_epp(fit_epp(table), 150).se
    groups = [str(r) for r in range(30) for _ in range(5)]
    repeated = ScoreTable(np.repeat(table.scores, 5, axis=0), groups=groups)
    assert bootstrap_epp(fit_epp(repeated), 150).se == pytest.approx(once, rel=0.3)


def test_resamples_without_finite_skills_are_counted() -> None:
    table = simulate_tournament([2.0, 0.0, -2.0], 8, random_seed=3)
    found = bootstrap_epp(fit_epp(table), 100)
    assert 0 < found.n_infinite < 100
    assert np.all(np.isfinite(found.epp))


def test_players_who_are_not_drawn_have_no_skill() -> None:
    matches = Matches.from_names(
        ["a", "b", "a", "b", "a", "b", "c"], ["b", "a", "b", "a", "b", "a", "a"],
        [1, 1, 0.5, 0, 1, 1, 0.5],
    )  # fmt: skip
    found = bootstrap_epp(fit_epp(matches), 200)
    assert np.isnan(found.epp[:, 2]).any()
    assert np.isfinite(found.interval()).all()


def test_resamples_of_ties_only_tell_nothing() -> None:
    scores = np.ones((5, 3))
    scores[0], scores[1] = [1, 2, 3], [3, 2, 1]
    found = bootstrap_epp(fit_epp(scores), 100)
    assert (found.epp == 0).all(axis=1).sum() >= 3
    assert found.n_infinite > 3


def test_overlapping_splits_widen_it() -> None:
    table = simulate_tournament([0.5, 0, -0.5], 20, random_seed=0)
    plain = bootstrap_epp(fit_epp(table), 50)
    wide = bootstrap_epp(fit_epp(table, test_fraction=0.2), 50)
    assert wide.se == pytest.approx(np.sqrt(1 + 20 / 4) * plain.se)
