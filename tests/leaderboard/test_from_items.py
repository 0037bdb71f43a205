"""Posterior from answers and item scores: linear algebra, the paired comparison, real matrices."""

from dataclasses import replace

import numpy as np
import pytest
from calibration.judged_boards import draw_real_board
from scipy import special, stats

from bayes_sota import Outcomes
from bayes_sota.core.inference import Parameters
from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.examples import load_responses_example
from bayes_sota.items.correlation import response_correlation
from bayes_sota.leaderboard import board_posterior, from_items
from bayes_sota.leaderboard.skills import draw_skills

WIDE = BoardPriors(typical=(0.001, 0.999), spread=(0.9, 4.0))
NORMAL = BoardPriors(families=("normal",))


def correlated(rng, n, skills, loading=0.8):
    """One-factor probit answers with given skills."""
    threshold = special.ndtri(np.asarray(skills))
    own = np.sqrt(1 - loading**2) * rng.standard_normal((n, len(skills)))
    return Outcomes(loading * rng.standard_normal((n, 1)) + own < threshold)


def field(m=20, n=1000, seed=0):
    rng = np.random.default_rng(seed)
    return correlated(rng, n, special.expit(2 + 0.3 * rng.standard_normal(m)))


@pytest.mark.slow
def test_draws_are_exact_where_skills_are_normal():
    """Normal skills, correlated as the errors are, and normal errors: linear algebra."""
    rng = np.random.default_rng(1)
    correct = correlated(rng, 4000, [0.9, 0.895, 0.89, 0.9, 0.9, 0.895], loading=0.8).correct.copy()
    correct[:, 1] = np.where(rng.random(4000) < 0.9, correct[:, 0], correct[:, 1])  # relatives
    answers = Outcomes(correct)
    posterior = board_posterior(answers, NORMAL, draws=1, random_seed=0)
    fit, evidence = posterior.skills.fit, posterior.skills.fit.evidence
    assert fit.rho.size == 1
    place, spread, rng = 2.1, 0.04, np.random.default_rng(2)  # as narrow as the errors
    vars(fit)["outliers"] = 0.0, 0 * evidence.y, fit.outliers[2]
    scale, log_width = fit.scale, 0.5 * np.log(spread**2 - evidence.step**2)
    point = [
        (place - scale.location) / scale.location_sd,
        (log_width - scale.log_spread) / scale.log_spread_sd,
    ]
    zero = np.zeros(12_000, np.int64)
    psi = draw_skills(fit, Parameters(zero, zero, np.tile(point, (12_000, 1))), rng).psi
    score = evidence.scores[evidence.of_row]
    own = evidence.own(fit.rho[0], evidence.of_row) / evidence.ratio[evidence.of_row] ** 2
    own /= 4000 * score * (1 - score)  # of log odds
    correlation = evidence.factor @ evidence.factor.T
    noise = correlation * np.sqrt(np.outer(own, own))
    prior = correlation * spread**2
    gain = prior @ np.linalg.inv(prior + noise)
    mean = place + gain @ (special.logit(score) - place)
    covariance = prior - gain @ prior
    drawn = special.logit(psi)
    assert np.triu(covariance, 1).max() > 0.3 * covariance[0, 0]
    assert drawn.mean(axis=0) == pytest.approx(mean, abs=0.15 * np.sqrt(covariance[0, 0]))
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.07 * covariance[0, 0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_two_leaders_agree_with_the_exact_paired_comparison(seed):
    """Skills spread widely, so that P(psi) says nothing of neighbours."""
    rng = np.random.default_rng(seed)
    skills = [0.9, 0.89, 0.8, 0.7, 0.55, 0.4]
    answers = correlated(rng, 2000, skills)
    posterior = board_posterior(answers, WIDE, draws=8000, random_seed=seed)
    first, second = answers.correct[:, 0] == 1, answers.correct[:, 1] == 1
    only_first, only_second = np.sum(first & ~second), np.sum(second & ~first)
    exact = special.betainc(only_second + 1, only_first + 1, 0.5)
    assert np.mean(posterior.entries.skill[:, 0] > posterior.entries.skill[:, 1]) == pytest.approx(
        exact, abs=0.035
    )


def test_missing_answers():
    answers = field(m=15, n=1500, seed=6)
    holes = answers.correct.astype(float)
    holes[np.random.default_rng(6).random(holes.shape) < 0.1] = np.nan
    a, b = (
        board_posterior(data, NORMAL, draws=2000, random_seed=0).draws["theta_sota"]
        for data in (answers, Outcomes(holes))
    )
    assert b.mean() == pytest.approx(a.mean(), abs=a.std())
    assert 0.9 < b.std() / a.std() < 1.3


def test_the_order_of_classifiers_and_items_makes_no_difference():
    """Equal scores; of 60 classifiers some are too weak to be modelled."""
    correct = field(m=60, n=80, seed=9).correct
    correct = np.where(np.arange(60) < 10, correct[:, ::-1] * (np.arange(80) % 2)[:, None], correct)
    names = [f"model {j}" for j in range(60)]
    settings = {"priors": NORMAL, "draws": 100, "random_seed": 0}
    first = board_posterior(Outcomes(correct, names=names), **settings)
    assert not first.skills.fit.evidence.modelled.all()
    assert np.unique(first.skills.fit.evidence.scores).size < 60
    rng = np.random.default_rng(1)
    p, q = rng.permutation(60), rng.permutation(80)
    found = board_posterior(Outcomes(correct[q][:, p], names=[names[j] for j in p]), **settings)
    np.testing.assert_allclose(found.entries.skill, first.entries.skill[:, p], rtol=1e-6)
    np.testing.assert_array_equal(found.entries.p_best, first.entries.p_best[p])
    for name, draws in first.draws.items():
        np.testing.assert_allclose(found.draws[name], draws, rtol=1e-8)


def test_the_shift_of_a_perfect_leader_is_removed_too():
    """The shift is most of what is uncertain about the best, with or without mistakes."""
    rng, boards = np.random.default_rng(12), 0
    while boards < 4:
        answers = correlated(rng, 100, np.full(8, 0.97), 0.95)
        if answers.scores.max() < 1:
            continue
        boards += 1
        draws = board_posterior(answers, NORMAL, draws=1000, random_seed=rng).draws
        assert stats.spearmanr(draws["theta_sota"], draws["shift"])[0] < -0.5


def test_too_few_mistakes_are_a_reason():
    answers = np.ones((30, 6), int)
    answers[0, :4] = 0
    posterior = board_posterior(Outcomes(answers), NORMAL, draws=100, random_seed=0)
    assert any("too few" in reason for reason in posterior.reasons)
    assert np.isfinite(posterior.entries.skill).all()


@pytest.mark.slow
def test_a_leader_unlike_the_others_does_not_pull_the_field_below_the_cut(monkeypatch):
    """The law of being in the modelled part is each classifier's own."""
    matrix = load_responses_example("digits").held_out
    rng = np.random.default_rng([777, *b"digits", 200, 24])
    drawn, skills, _ = draw_real_board(matrix, 200, 24, rng)
    leader, found = int(np.argmax(drawn.scores)), response_correlation(drawn)
    alike = np.minimum(1.25 * found.loadings, 0.95)
    unlike = np.where(np.arange(drawn.n_classifiers) == leader, 0.2, alike)
    known = replace(found, loadings=unlike)
    monkeypatch.setattr(from_items, "response_correlation", lambda *_: known)
    ours = board_posterior(drawn, random_seed=1)
    assert (
        ours.skills.fit.evidence.loadings.loadings[leader]
        < ours.skills.fit.evidence.loadings.rho - 0.4
    )
    assert ours.skills.fit.evidence.is_cut
    winner = ours.draws["winner_skill"]
    # with one law for all the mean is .94, and .71 the lower end
    assert winner.mean() == pytest.approx(skills[leader], abs=0.02)
    assert np.quantile(winner, 0.025) > 0.92


def test_independent_items_of_a_mean_give_the_normal_posterior():
    """Two classifiers far from all others: their difference has the law of the paired test."""
    rng = np.random.default_rng(3)
    shared = rng.standard_normal((400, 1))
    values = 0.3 * shared + 0.2 * rng.standard_normal((400, 2)) + [0.52, 0.50]
    posterior = board_posterior(Outcomes(values, metric="mean"), random_seed=0, draws=8000)
    difference = values[:, 0] - values[:, 1]
    z = difference.mean() / (difference.std(ddof=1) / 20)
    assert np.mean(posterior.entries.skill[:, 0] > posterior.entries.skill[:, 1]) == pytest.approx(
        stats.norm.cdf(z), abs=0.08
    )


@pytest.mark.slow
def test_twenty_data_sets_give_student_intervals_of_every_classifier():
    """The leader's numbers vary least by far, and say nothing of the others' errors."""
    spread = np.array([0.02, *[0.1] * 7])
    values = spread * np.random.default_rng(4).standard_normal((20, 8)) - np.arange(8)
    data = Outcomes(values, metric="mean")
    found = board_posterior(data, random_seed=0, draws=4000).entries.skill.std(axis=0)
    expected = data.standard_errors * stats.t.ppf(0.975, 19) / stats.norm.ppf(0.975)
    # errors are drawn together: log ratios of 19 degrees of freedom have sd .16, of 4,000 draws .01
    np.testing.assert_allclose(np.log(found[1:] / expected[1:]), 0, atol=4 * 0.16)
    assert np.mean(np.log(found[1:] / expected[1:])) == pytest.approx(0, abs=0.1)


def test_new_scores_of_clustered_items_are_no_sharper_than_those_of_the_clusters():
    """Every item six times says as much as the items once, also of scores on fresh items."""
    answers = correlated(np.random.default_rng(3), 150, [0.9, 0.85, 0.85, 0.8, 0.8, 0.75], 0.4)
    six = Outcomes(np.repeat(answers.correct, 6, axis=0), clusters=np.repeat(answers.items, 6))
    one, copies = (board_posterior(data, random_seed=0).draws for data in (answers, six))
    for name in ("theta_sota", "winner_new_score", "best_new_score"):
        assert copies[name].std() == pytest.approx(one[name].std(), rel=0.1), name


def test_one_task_is_the_same_as_no_tasks():
    answers = correlated(np.random.default_rng(5), 300, [0.9, 0.87, 0.85, 0.8, 0.78, 0.7], 0.4)
    task = Outcomes(answers.correct, tasks=["all"] * 300)
    one, other = (board_posterior(data, random_seed=0, draws=8000) for data in (answers, task))
    for name in ("theta_sota", "winner_skill", "winner_new_score", "rho"):
        ours, theirs = one.draws[name], other.draws[name]
        assert ours.mean() == pytest.approx(theirs.mean(), abs=0.12 * ours.std()), name
        assert ours.std() == pytest.approx(theirs.std(), rel=0.12), name
    assert other.notes[0].startswith("scores are averages over 1 task")
