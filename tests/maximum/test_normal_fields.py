"""Best scores of fields whose normal scores share one factor, against whole fields."""

import numpy as np
import pytest

from bayes_sota.auc.estimate import AucScores
from bayes_sota.core.skills import LogitNormal, Uniform, expit
from bayes_sota.maximum.simulate import NormalFields
from bayes_sota.maximum.walk import GaussianScores, NormalTestSet, best_count

DRAWS = 40_000


@pytest.mark.parametrize("scores", [GaussianScores(0.01), AucScores.of(51, 949, 0.6, 0.95)])
@pytest.mark.parametrize("rho", [0.0, 0.75, 0.98])
@pytest.mark.parametrize("spread", [0.02, 0.3])
def test_the_best_score_agrees_with_whole_fields(scores, rho: float, spread: float) -> None:
    rng, m = np.random.default_rng(3), 60
    test_set = NormalTestSet.draw(rng, scores, np.full(DRAWS, rho))
    field = LogitNormal(np.full(DRAWS, 1.8), np.full(DRAWS, spread))
    theta, best = best_count(rng, test_set, field, np.full(DRAWS, m))
    skills = expit(rng.normal(1.8, spread, (DRAWS // 4, m)))
    normal = rho * rng.standard_normal((DRAWS // 4, 1))
    normal = normal + np.sqrt(1 - rho**2) * rng.standard_normal(skills.shape)
    whole = scores.estimate(normal, skills)
    pairs = (
        (theta, skills.max(1)),
        (best, whole.max(1)),
        (best - theta, whole.max(1) - skills.max(1)),
    )
    for ours, theirs in pairs:
        error = theirs.std() / len(theirs) ** 0.5
        assert ours.mean() == pytest.approx(theirs.mean(), abs=4.5 * error)
        assert ours.std() == pytest.approx(theirs.std(), rel=0.04)


@pytest.mark.parametrize("rho", [0.0, 0.74])
def test_simulated_winners_agree_with_whole_fields(rho: float) -> None:
    rng, m, scores = np.random.default_rng(4), 200, GaussianScores(0.01)
    field = Uniform(np.full(DRAWS, 0.7), np.full(DRAWS, 0.8))
    tail = -np.expm1(-rng.standard_exponential(DRAWS) / m)
    theta = field.skill(field.isf(tail))
    shift = rng.standard_normal(DRAWS)
    best, holder = NormalFields(scores, np.full(DRAWS, m), field, rho, shift, theta).draw(rng)
    skills = rng.uniform(0.7, 0.8, (DRAWS // 4, m))
    normal = rho * rng.standard_normal((DRAWS // 4, 1))
    whole = skills + 0.01 * (normal + np.sqrt(1 - rho**2) * rng.standard_normal(skills.shape))
    first = whole.argmax(axis=1)
    winner = skills[np.arange(first.size), first]
    for ours, theirs in (
        (best, whole.max(1)),
        (holder, winner),
        (best - holder, whole.max(1) - winner),
    ):
        error = theirs.std() / theirs.size**0.5
        assert ours.mean() == pytest.approx(theirs.mean(), abs=4.5 * error)
        assert ours.std() == pytest.approx(theirs.std(), rel=0.04)


def test_a_winner_given_the_best_score_is_drawn_by_acceptance() -> None:
    """Given the best score in a narrow interval, the accepted winners are those of all fields."""
    rng, m, scores = np.random.default_rng(6), 50, GaussianScores(0.02)
    size = 4000
    field = LogitNormal(np.full(size, 1.0), np.full(size, 0.2))
    theta = np.full(size, 0.80)
    parts = NormalFields(scores, np.full(size, m), field, 0.5, np.zeros(size), theta)
    winner, attempts = parts.draw_winner(rng, (0.82, 0.83), 1e-6, 100_000)
    assert np.all(attempts > 0)
    repeated = NormalFields(
        scores, np.full(100_000, m), LogitNormal(np.full(100_000, 1.0), np.full(100_000, 0.2)),
        0.5, np.zeros(100_000), np.full(100_000, 0.80),
    )  # fmt: skip
    best, holder = repeated.draw(rng)
    kept = holder[(best >= 0.82) & (best <= 0.83)]
    assert winner.mean() == pytest.approx(kept.mean(), abs=4.5 * kept.std() / size**0.5)
    assert winner.std() == pytest.approx(kept.std(), rel=0.06)
