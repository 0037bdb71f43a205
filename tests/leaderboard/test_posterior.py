"""Posterior of a whole leaderboard: a second route, limits, ties, hidden entries, bad boards."""

from dataclasses import replace

import numpy as np
import pytest
from boards import evidence_of
from data.files import refused
from scipy import stats

from bayes_sota.core.numerics import cluster_mcse
from bayes_sota.core.priors import BetaCorrelation, BoardPriors, FixedCorrelation
from bayes_sota.core.skills import expit
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import fit_field
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.leaderboard.sample import compare_boards
from bayes_sota.leaderboard.skills import draw_posterior, fresh_scores
from bayes_sota.maximum.score_laws import score_law

SMALL = Leaderboard([0.90, 0.93, 0.945], n_test=200, rounding="exact")
NORMAL = BoardPriors(families=("normal",))


def board_of(counts, n) -> Leaderboard:
    return Leaderboard(np.asarray(counts) / n, n_test=n, rounding="exact")


def weighted_simulation(board: Leaderboard, rho: float, family: str, size: int) -> tuple:
    """Likelihood weighting: skills of three entries from the prior, (3, size), and weights."""
    rng = np.random.default_rng(8)
    priors = BoardPriors()
    (location, location_sd), (log_spread, spread_sd) = priors.location, priors.log_spread
    t = rng.standard_normal((3, size))
    place, width = location + location_sd * t[0], np.exp(log_spread + spread_sd * t[1])
    if family == "normal":
        y = place + width * rng.standard_normal((3, size))
    else:
        tail, soft, edge = width, width * np.exp(-1.2 + t[2]), place + location_sd / 2
        y = edge + soft * rng.standard_normal((3, size)) - tail * rng.exponential(size=(3, size))
    stranger = rng.random((3, size)) < 0.5 / 3
    y = np.where(stranger, location + location_sd * rng.standard_normal((3, size)), y)
    n = np.rint(board.sizes)[:, None]
    fit = stats.binom.logpmf(np.rint(board.scores[:, None] * n), n, expit(y)).sum(axis=0)
    weights = np.exp((fit - fit.max()) / (1 - rho**2))
    theta = score_law(board).remove_shift(expit(y), rho * rng.standard_normal(size))
    return theta, weights / weights.sum()


OF_OWN_SIZES = board_of([86, 160, 29], np.array([100, 200, 30]))


@pytest.mark.parametrize(
    ("board", "rho", "family"),
    [
        (OF_OWN_SIZES, 0.0, "normal"),
        *(
            pytest.param(SMALL, rho, family, marks=pytest.mark.slow)
            for rho in (0.0, 0.8)
            for family in ("normal", "ex-gaussian")
        ),
    ],
)
def test_agrees_with_likelihood_weighting(board, rho: float, family: str) -> None:
    priors = BoardPriors(correlation=FixedCorrelation(rho), families=(family,))
    found = board_posterior(board, priors, draws=20_000, random_seed=1)
    theta, weights = weighted_simulation(board, rho, family, 400_000)
    assert 1 / np.sum(weights**2) > 500
    winner = int(np.argmax(board.scores))
    for ours, theirs in (
        (found.draws["theta_sota"], theta.max(axis=0)),
        (found.draws["winner_skill"], theta[winner]),
        *zip(found.entries.skill.T, theta, strict=True),
    ):
        mean = weights @ theirs
        sd = np.sqrt(weights @ (theirs - mean) ** 2)
        error = sd * np.sqrt(np.sum(weights**2))
        own = cluster_mcse(ours, *found.skills.parameters.behind)
        assert ours.mean() == pytest.approx(mean, abs=4 * np.hypot(error, own))
        assert ours.std() == pytest.approx(sd, rel=0.1)
    share = np.bincount(theta.argmax(axis=0), weights)
    np.testing.assert_allclose(found.entries.p_best, share, atol=0.04)


def test_rho_and_shift_keep_their_priors_and_the_best_is_the_best() -> None:
    draws = board_posterior(SMALL, draws=20_000, random_seed=2).draws
    rho, shift, theta = (draws[name] for name in ("rho", "shift", "theta_sota"))
    prior = BoardPriors().correlation.quantile(np.array([0.05, 0.5, 0.95]))
    np.testing.assert_allclose(np.quantile(rho, [0.05, 0.5, 0.95]), prior, atol=0.01)
    assert abs(shift.mean()) < 0.03
    assert shift.std() == pytest.approx(1, abs=0.03)
    assert abs(np.corrcoef(rho, shift)[0, 1]) < 0.03
    assert np.all(theta >= draws["winner_skill"])
    assert np.all((theta > 0) & (theta < 1))
    above = (np.asarray(SMALL.scores)[:, None] > theta).sum(axis=0)
    np.testing.assert_array_equal(draws["n_above_sota"], above)


def test_rho_learnt_from_the_shape_of_a_narrow_board() -> None:
    """Scores closer than luck allows: learnt jointly, rho leaves its prior."""
    board = board_of(9000 + np.arange(60) // 3, 10_000)
    fit = board_posterior(board, NORMAL, draws=1, random_seed=1).skills.fit
    fit = replace(fit, learns="rho")
    assert draw_posterior(fit, 4000, np.random.default_rng(1)).rho.mean() > 0.88


def test_a_lone_leader_is_not_pulled_into_the_crowd() -> None:
    counts = np.append(np.random.default_rng(1).binomial(5000, np.full(60, 0.85)), 4650)
    draws = board_posterior(board_of(counts, 5000), random_seed=1).draws
    assert draws["winner_skill"].mean() == pytest.approx(0.93, abs=0.002)


def test_spikes_of_identical_submissions_count_as_one() -> None:
    rng = np.random.default_rng(2)
    regular = rng.binomial(5000, expit(2.0 + 0.1 * rng.standard_normal(200)))
    spiked = np.append(regular, np.full(120, np.sort(regular)[-20]))
    evidence = evidence_of(board_of(spiked, 5000))
    fit = fit_field(evidence, NORMAL, np.random.default_rng(0))
    assert fit.copies.max() < 20 < evidence.copies.max()
    with_spike = draw_posterior(fit, 4000, np.random.default_rng(1)).best
    alone = board_posterior(board_of(regular, 5000), NORMAL, random_seed=1)
    alone = alone.draws["theta_sota"]
    assert abs(with_spike.mean() - alone.mean()) < 0.35 * alone.std()


@pytest.mark.slow
def test_scores_that_share_a_bin_are_no_copies_but_equal_ones_are() -> None:
    """Of more than 400 distinct scores those that are near are taken together."""
    rng = np.random.default_rng(1)
    scores = np.round(0.8 + 0.002 * rng.standard_normal(900), 6)
    smooth = Leaderboard(scores, metric="score", standard_error=0.005)
    fit = fit_field(evidence_of(smooth), BoardPriors(), np.random.default_rng(0))
    assert fit.evidence.values.size <= 400 < np.unique(scores).size
    assert fit.evidence.copies.max() > 5
    np.testing.assert_array_equal(fit.copies, fit.evidence.copies)
    notebook = np.append(scores, np.full(60, np.sort(scores)[-30]))
    spiked = Leaderboard(notebook, metric="score", standard_error=0.005)
    fit = fit_field(evidence_of(spiked), BoardPriors(), np.random.default_rng(0))
    assert fit.evidence.copies.sum() - fit.copies.sum() == pytest.approx(60, abs=3)


CROWD = [*np.random.default_rng(1).binomial(4000, np.full(50, 0.8))]


@pytest.mark.parametrize(
    ("counts", "n", "reason"),
    [
        ([*CROWD, 4000, 4000], 4000, "2 perfect scores among 52 entries"),
        (CROWD, 4000, None),
        ([200, 199, 199, 198, 200, 197], 200, None),
    ],
    ids=["leaked", "clean", "easy"],
)
def test_leaked_answers_are_found(counts, n: int, reason: str | None) -> None:
    posterior = board_posterior(board_of(counts, n), random_seed=1)
    assert [reason in text for text in posterior.reasons] == [True] * (reason is not None)
    assert posterior.draws["theta_sota"].mean() < 1


def test_all_scores_equal() -> None:
    draws = board_posterior(board_of([900] * 12, 1000), random_seed=1).draws
    assert 0.87 < draws["theta_sota"].mean() < 0.93


def test_replicated_boards_look_like_the_board_unless_the_model_cannot() -> None:
    rng = np.random.default_rng(10)
    smooth = rng.binomial(100_000, expit(2 + 0.2 * rng.standard_normal(100)))
    clumps = np.repeat([80_000, 90_000, 90_500], [60, 20, 20]) + rng.integers(-200, 200, 100)
    priors = BoardPriors(families=("normal",), correlation=FixedCorrelation(0.0))
    for counts, wrong in ((smooth, False), (clumps, True)):
        fit = fit_field(evidence_of(board_of(counts, 100_000)), priors, np.random.default_rng(0))
        boards = fresh_scores(fit, fit.choose(400, rng), rng)
        p = compare_boards(fit.evidence.seen[fit.evidence.entries], boards)["p_value"]
        assert (np.minimum(p, 1 - p).min() < 0.01) == wrong


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: board_posterior(SMALL, draws=0), "draws must be a whole number from 1"),
        (lambda: board_posterior(SMALL.maximum_only()), "all scores are needed"),
        (lambda: evidence_of(Leaderboard([0.9, 0.91], metric="score")), "standard_error"),
    ],
)
def test_errors(call, message: str) -> None:
    refused(message, call)


@pytest.mark.slow
def test_evidence_does_not_depend_on_where_the_search_began() -> None:
    rng = np.random.default_rng(0)
    skill = expit(2.3 - rng.exponential(0.25, 1500))
    board = board_of(rng.binomial(11_072, skill), 11_072)
    priors = BoardPriors(families=("ex-gaussian",))
    fits = [board_posterior(board, priors, draws=10, random_seed=i).skills.fit for i in (0, 6, 10)]
    evidence = np.array([fit.log_evidence[:, 3] for fit in fits])
    points = np.array([[family.effective_size[3] for family in fit.points] for fit in fits])
    # a fit of few effective points has the error of so few
    gap = np.abs(evidence - np.median(evidence, axis=0))
    assert np.all(gap < 0.3 + 3 / np.sqrt(points))


@pytest.mark.parametrize(
    ("typical", "excluded"),
    [((0.3, 0.4), True), ((0.5, 0.7), True), ((0.85, 0.9), False), ((0.2, 0.99), False)],
)
def test_priors_that_the_scores_contradict_are_a_reason(typical, excluded) -> None:
    """Whether all entries become outliers, which moves expected_sota, or the field widens."""
    board = Leaderboard([0.92, 0.91, 0.905, 0.9, 0.895, 0.89, 0.88], n_test=1000)
    priors = BoardPriors(typical=typical, spread=(0.05, 0.2))
    found = board_posterior(board, priors, random_seed=1, draws=100)
    assert any("contradict the prior" in reason for reason in found.reasons) == excluded


@pytest.mark.parametrize(
    ("correlation", "noted"), [(BetaCorrelation(), 1), (FixedCorrelation(0.9), 0)]
)
def test_scores_such_as_dice_have_no_measured_rho(correlation, noted) -> None:
    board = Leaderboard([0.9, 0.91, 0.93], metric="score", standard_error=0.01)
    notes = board_posterior(board, BoardPriors(correlation=correlation), draws=10).notes
    assert sum("Dice" in note for note in notes) == noted


def test_entries_below_the_cut_keep_errors_of_their_own() -> None:
    """Three with one score and different sizes, which nothing but the score has in common."""
    scores = [*np.round(np.linspace(1800, 1900, 12)) / 2000, 0.6, 0.6, 0.6]
    board = Leaderboard(scores, n_test=[*[2000] * 12, 50, 1000, 100_000])
    low, high = board_posterior(board, random_seed=1).entries.interval()[-3:].T
    assert np.all(np.diff(high - low) < 0)


def test_the_best_of_a_fresh_field_may_lie_above_the_grid() -> None:
    """Of few classifiers on many items, against simulation from the same parameters."""
    rng = np.random.default_rng(2)
    scores = expit(2 + 0.4 * rng.standard_normal(20))
    board = Leaderboard(np.round(scores, 5), n_test=100_000)
    priors = BoardPriors(correlation=FixedCorrelation(0.0), families=("normal",))
    skills = draw_posterior(board_posterior(board, priors, random_seed=1).skills.fit, 400, rng)
    place = skills.fit.location(skills.parameters.coordinates)
    width = skills.fit.spread(skills.parameters.coordinates)
    fresh = expit(place[:, None, None] + width[:, None, None] * rng.standard_normal((400, 400, 20)))
    expected = fresh.max(axis=2).mean(axis=1)
    found = skills.estimands()["expected_sota"]
    assert found.mean() == pytest.approx(expected.mean(), abs=0.05 * expected.std() + 0.0005)
    assert found.std() == pytest.approx(expected.std(), rel=0.1)
