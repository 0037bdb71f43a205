"""Posterior from two boards: what it learns on simulated teams, and which teams it is about."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import beta

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.priors import FixedCorrelation
from bayes_sota.data.observed import PairedBoards
from bayes_sota.paired import posterior
from bayes_sota.paired.posterior import (
    PairedPosterior,
    paired_posterior,
    predict_from_public,
    predict_private,
)
from bayes_sota.paired.teams import Selection

ERRORS = (0.012, 0.008)


@pytest.fixture(autouse=True)
def two_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the simulated fields need; ``tests/test_arviz.py`` averages over all families."""
    families = ("normal", "ex-gaussian")
    monkeypatch.setattr(posterior, "fit_pairs", partial(posterior.fit_pairs, families=families))


def simulated(
    seed: int, rho: float = 0.75, m: int = 120, offset: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Skills (left-skewed), public and private scores of the model itself."""
    rng = np.random.default_rng(seed)
    theta = 0.85 - 0.03 * rng.exponential(size=m) + 0.005 * rng.standard_normal(m)
    scores = [
        theta + s * (rho * rng.standard_normal() + np.sqrt(1 - rho**2) * rng.standard_normal(m))
        for s in ERRORS
    ]
    return theta, scores[0] + offset, scores[1]


def fitted(x: np.ndarray, y: np.ndarray, errors=None, seed=0, **options) -> PairedPosterior:
    boards, rng = PairedBoards(x, y, standard_errors=errors), np.random.default_rng(seed)
    return paired_posterior(boards, rng=rng, draws=400, **{"points": 400} | options)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.6, 0.9])
def test_rho_is_learnt_where_the_noise_is_known(rho: float) -> None:
    _, x, y = simulated(3, rho, m=400)
    result = fitted(x, y, ERRORS)
    assert result.draws["rho"].mean() == pytest.approx(rho, abs=0.07)
    assert result.draws["rho"].std() < 0.05
    assert result.reasons == ()


@pytest.mark.slow
def test_rho_keeps_its_prior_where_the_noise_is_unknown() -> None:
    _, x, y = simulated(3, 0.3, m=400)
    draws = fitted(x, y).draws
    prior = beta(5.7, 2.6)
    assert draws["rho"].mean() == pytest.approx(prior.mean(), abs=prior.std() / 2)
    assert draws["rho"].std() == pytest.approx(prior.std(), rel=0.25)
    true = np.hypot(*ERRORS) * np.sqrt(1 - 0.3**2)
    assert draws["residual_sd"].mean() == pytest.approx(true, rel=0.12)


@pytest.mark.slow
def test_an_offset_of_the_public_board_is_found_and_kept_out_of_the_skills() -> None:
    theta, x, y = simulated(5, m=400, offset=0.06)
    draws = fitted(x, y, ERRORS).draws
    assert draws["score_shift"].mean() == pytest.approx((y - x).mean(), abs=0.003)
    low, high = np.quantile(draws["winner_skill"], [0.005, 0.995])
    assert low < theta[x.argmax()] < high


@pytest.mark.slow
def test_failed_runs_do_not_move_the_rest() -> None:
    _, x, y = simulated(6, m=200)
    clean = fitted(x, y, points=800).draws["residual_sd"].mean()
    y = y.copy()
    y[np.argsort(x)[:-160:-20]] = 0.1
    broken = fitted(x, y, points=800).draws["residual_sd"].mean()
    assert broken == pytest.approx(clean, rel=0.15)


def test_copies_count_once() -> None:
    _, x, y = simulated(7, m=60)
    boards = PairedBoards(np.r_[x, np.full(40, x[0])], np.r_[y, np.full(40, y[0])])
    merged = Selection.of_boards(boards, top=1.0)
    assert (merged.kept.size, merged.teams.x.size) == (100, 60)
    assert Selection.of_boards(boards, top=1.0, merge=False).teams.x.size == 100


def test_selection_keeps_the_top_of_either_board() -> None:
    x = np.arange(100.0)
    y = x.copy()
    y[3] = 200.0
    selection = Selection.of_boards(PairedBoards(x, y))
    assert set(selection.kept) == {3, *range(50, 100)}
    assert Selection.of_boards(PairedBoards(x[:20], y[:20])).teams.threshold is None
    large = np.arange(10_000.0)
    kept = [Selection.of_boards(PairedBoards(large, large), top).kept.size for top in (None, 0.5)]
    assert kept == [1_500, 5_000]


@pytest.mark.slow
def test_held_out_private_scores_are_covered() -> None:
    _, x, y = simulated(8, m=400)
    half = np.arange(400) < 200
    result = fitted(x[half], y[half])
    threshold = result.selection.teams.threshold
    assert threshold is not None
    held = ~half & (x >= threshold[0])
    draws = predict_private(result.fit, x[held], 400, np.random.default_rng(8))
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    assert np.mean((low <= y[held]) & (y[held] <= high)) > 0.88
    raw = y[held] - x[held] - np.median((y - x)[half])
    assert np.std(y[held] - draws.mean(axis=0)) < 1.02 * raw.std()


@pytest.mark.slow
def test_public_scores_alone_cover_private_ones() -> None:
    """All teams of a board share one shift, so that several boards are needed."""
    covered = []
    for seed in range(9, 13):
        _, x, y = simulated(seed, m=100)
        boards = PairedBoards(x, y, standard_errors=ERRORS)
        rng, top = np.random.default_rng(0), np.flatnonzero(x >= np.median(x))
        draws = predict_from_public(boards, rng=rng, entries=top, draws=300, points=300)
        low, high = np.quantile(draws, [0.01, 0.99], axis=0)
        covered.append(np.mean((low <= y[top]) & (y[top] <= high)))
    assert np.mean(covered) > 0.85  # two of these four boards have a shift of more than 2 sd


@pytest.mark.slow
def test_known_rho_is_not_learnt_and_noise_that_cannot_be_is_a_reason() -> None:
    _, x, y = simulated(11, m=60)
    priors = PairedPriors(FixedCorrelation(0.6))
    result = fitted(x, y, (0.002, 0.002), priors=priors, points=200)
    assert result.draws["rho"] == pytest.approx(0.6)
    assert result.reasons[-1].startswith("differences of the teams have the robust standard dev")


@pytest.mark.slow
def test_coverage_on_boards_of_the_model() -> None:
    """Twenty boards: intervals of 95 % of the winner's and the best skill, and of rho."""
    inside = np.zeros(3)
    for seed in range(20):
        rho = float(np.random.default_rng([12, seed]).beta(5.7, 2.6))
        theta, x, y = simulated(100 + seed, rho)
        draws = fitted(x, y, ERRORS, seed, points=800).draws
        truth = {"winner_skill": theta[x.argmax()], "theta_sota": theta.max(), "rho": rho}
        for i, (name, value) in enumerate(truth.items()):
            low, high = np.quantile(draws[name], [0.025, 0.975])
            inside[i] += low <= value <= high
    assert np.all(inside >= 16)  # binomial(20, 0.95) is below 16 with probability 0.003
