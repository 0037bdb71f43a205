"""Draws of all entries against quadrature, against counting, and against theta_sota."""

import numpy as np
import pytest
from boards import draw_entries

from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.posterior import BoardPosterior, EntryDraws, board_posterior, rank_sets

DRAWS = 4000
TWO = ("normal", "ex-gaussian")
type Fit = tuple[BoardPosterior, EntryDraws]


def draws_of(board: Leaderboard, draws: int = DRAWS, **options) -> tuple:
    priors = BoardPriors(**{"families": TWO} | options)
    posterior = board_posterior(board, priors, random_seed=1)
    return posterior, draw_entries(posterior.skills.fit, draws, np.random.default_rng(2))


def sd_of(entries: EntryDraws) -> np.ndarray:
    return entries.skill.std(axis=0, dtype=float)


@pytest.fixture(scope="module")
def field() -> Leaderboard:
    """Sixty entries, forty of them far below; two have the best score."""
    rng = np.random.default_rng(5)
    strong = rng.binomial(1000, 0.9 + 0.01 * rng.standard_normal(20))
    weak = rng.binomial(1000, 0.5, size=40)
    counts = np.concatenate([weak, strong, [strong.max()]])
    return Leaderboard(counts / 1000, n_test=1000, rounding="exact")


@pytest.fixture(scope="module")
def fitted(field: Leaderboard) -> Fit:
    return draws_of(field, families=BoardPriors().families)


def mean_by_quadrature(posterior: BoardPosterior) -> np.ndarray:
    """Mean skill of the modelled entries: sums over parameters, the grid and the shift."""
    fit, evidence = posterior.skills.fit, posterior.skills.fit.evidence
    z, weight = np.polynomial.hermite_e.hermegauss(31)
    total = np.zeros(evidence.values.size)
    for r, rho in enumerate(fit.rho):
        theta = evidence.law.remove_shift(evidence.psi[:, None], rho * z) @ (weight / weight.sum())
        table = evidence.at(rho).score
        for f, family in enumerate(fit.families):
            weights = fit.points[f].weights[:, r] / fit.points[f].weights[:, r].sum()
            kept = weights > 1e-7
            density = fit.density(family, fit.points[f].points[kept])
            means = (density @ (table * theta).T) / (density @ table.T)
            total += fit.family_weights[f, r] * (weights[kept] @ means) / fit.rho.size
    return total[evidence.row]


@pytest.mark.parametrize("metric", [pytest.param("accuracy", marks=pytest.mark.slow), "score"])
def test_means_agree_with_quadrature(request: pytest.FixtureRequest, metric: str) -> None:
    scores = 60 + 2 * np.random.default_rng(3).standard_normal(25)
    if metric == "score":
        found = draws_of(Leaderboard(scores, metric="score", standard_error=1.0))
    else:
        found = request.getfixturevalue("fitted")
    posterior, entries = found
    modelled = posterior.skills.fit.evidence.modelled
    expected = mean_by_quadrature(posterior)
    error = np.abs(entries.mean()[modelled] - expected) / sd_of(entries)[modelled]
    assert error.max() < 0.04


def test_probabilities_of_the_best_agree_with_counting(field: Leaderboard, fitted: Fit) -> None:
    _, entries = fitted
    counted = np.bincount(entries.skill.argmax(axis=1), minlength=field.n_entries) / DRAWS
    tied = np.flatnonzero(field.scores == field.maximum)
    counted[tied] = counted[tied].mean()
    assert np.abs(counted - entries.p_best).max() < 0.02
    assert entries.p_best.sum() == pytest.approx(1)


def test_ranks_are_permutations_and_equal_scores_share_everything(
    field: Leaderboard, fitted: Fit
) -> None:
    _, entries = fitted
    m = field.n_entries
    assert np.array_equal(np.sort(entries.rank[:50], axis=1), np.tile(np.arange(1, m + 1), (50, 1)))
    row = entries.skill[7]
    assert np.array_equal(entries.rank[7], np.argsort(np.argsort(-row)) + 1)
    first, second = np.flatnonzero(field.scores == field.maximum)[:2]
    for summary in (entries.mean(), entries.p_best, entries.interval(), entries.rank_interval()):
        assert np.array_equal(summary[first], summary[second])


def test_winners_are_shrunk_and_the_rest_keep_their_scores(field: Leaderboard, fitted: Fit) -> None:
    posterior, entries = fitted
    below = ~posterior.skills.fit.evidence.modelled
    assert below.sum() >= 30
    sd = sd_of(entries)
    assert np.abs(entries.mean() - field.scores)[below].max() < 0.1 * sd[below].max()
    assert np.allclose(sd[below], np.sqrt(0.25 / 1000), rtol=0.1)  # binomial, shift and all
    assert entries.p_best[below].sum() == 0
    assert entries.mean()[field.order[0]] < field.maximum
    low, high = entries.interval(0.95).T
    assert np.all((low < entries.mean()) & (entries.mean() < high) & (low < field.scores))
    inner = entries.interval(0.5)
    assert np.all((low < inner[:, 0]) & (inner[:, 1] < high))
    least, most = entries.rank_interval(0.95).T
    assert np.all((least >= 1) & (least <= most) & (most <= field.n_entries))


def test_identical_submissions_share_their_skill() -> None:
    rng = np.random.default_rng(0)
    counts = np.concatenate(
        [rng.binomial(2000, 0.8 + 0.02 * rng.standard_normal(150)), [1640] * 90]
    )
    posterior, entries = draws_of(Leaderboard(counts / 2000, n_test=2000, rounding="exact"), 200)
    evidence = posterior.skills.fit.evidence
    merged = np.flatnonzero(evidence.copies > posterior.skills.fit.copies)
    assert merged.size == 1
    spike = np.flatnonzero(evidence.modelled)[evidence.row == merged[0]]
    distinct = {np.unique(row).size for row in entries.skill[:, spike]}
    assert distinct == {int(np.ceil(posterior.skills.fit.copies[merged[0]]))}
    counted = np.mean(np.isin(entries.skill.argmax(axis=1), spike))
    assert entries.p_best[spike].sum() == pytest.approx(counted, abs=0.12)
    assert np.ptp(entries.rank_interval()[spike], axis=0).max() == 0


def test_perfect_and_empty_scores_stay_in_the_unit_interval() -> None:
    _, entries = draws_of(Leaderboard([1.0, 0.99, 0.97, 0.0, *[0.1] * 12], n_test=100), 400)
    assert np.all((entries.skill >= 0) & (entries.skill <= 1))
    assert np.all(np.isfinite(entries.interval()))


@pytest.mark.parametrize(("times", "apart"), [(0.85, False), (1.15, True)])
def test_confidence_sets_from_scores_take_the_error_that_is_not_shared(times, apart) -> None:
    rho = 0.8
    gap = times * 1.96 * np.sqrt(2 * (1 - rho**2))  # standard errors of a score
    board = Leaderboard([0.01 * gap, 0.0], metric="score", standard_error=0.01)
    known: tuple = board, None, np.full(10, rho), 0.95, "confidence", np.random.default_rng(0)
    assert (rank_sets(*known)[1][0, 1] == 1) == apart
