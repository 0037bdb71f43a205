"""Shrinking and cropping against simulation; ``tests/published`` has the numbers of the paper."""

import numpy as np
import pytest
from data.files import refused
from scipy.special import ndtri

from bayes_sota.maximum.dependence import conditional_probabilities, feasible_skills
from bayes_sota.maximum.shrinkage import crop_scores, shrink_aucs, shrink_scores

N = 1500


def board(m: int = 60, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    skills = 1 / (1 + np.exp(-(2.0 - 0.5 * rng.exponential(size=m))))
    return rng.binomial(N, skills) / N


def redrawn_best(
    skills: np.ndarray, m: int, rho: float, repeats: int, seed: int, n: int = N
) -> np.ndarray:
    """Best scores of m skills drawn with replacement in every repetition; the reference stays."""
    rng, theta0 = np.random.default_rng(seed), float(skills.max())
    drawn = rng.choice(skills, (repeats, m))
    a, b = conditional_probabilities(drawn.ravel(), rho, theta0)
    right = rng.binomial(n, theta0, repeats)[:, None]
    scores = rng.binomial(right, a.reshape(drawn.shape))
    scores += rng.binomial(n - right, b.reshape(drawn.shape))
    return scores.max(axis=1) / n


@pytest.mark.parametrize(
    ("rho", "criterion"),
    [(0.0, "expected"), (0.6, "expected"), pytest.param(0.6, "upper", marks=pytest.mark.slow)],
)
def test_the_shrunk_field_gives_the_observed_maximum(rho: float, criterion: str) -> None:
    """In the mean, or at the upper limit."""
    scores = board()
    found = shrink_scores(scores, n_test=N, chance=0.1, correlation=rho, criterion=criterion)
    skills = found.weight * scores + (1 - found.weight) * 0.1
    if rho:
        skills = skills[skills >= feasible_skills(rho, skills.max())[0]]
    assert found.scores.size - found.law.n_classifiers == scores.size - skills.size
    assert found.estimate == pytest.approx(skills.max(), abs=1e-12)
    simulated = redrawn_best(skills, skills.size, rho, 20_000, seed=1)
    if criterion == "upper":
        assert found.interval[1] == pytest.approx(scores.max(), abs=1e-12)
        assert np.mean(simulated > scores.max() - 0.5 / N) == pytest.approx(0.025, abs=0.005)
        return
    error = simulated.std() / np.sqrt(simulated.size)
    assert simulated.mean() == pytest.approx(scores.max(), abs=4 * error)
    assert found.expected_maximum == pytest.approx(scores.max(), abs=1e-8)


@pytest.mark.slow
def test_cropped_fields_are_drawn_with_replacement() -> None:
    scores = board()
    found = crop_scores(scores, n_test=N, chance=0.1)
    feasible = scores[scores >= feasible_skills(0.6, found.estimate)[0]]
    assert found.scores.size - found.law.n_classifiers == scores.size - feasible.size > 0
    remaining = feasible[feasible <= found.estimate]
    simulated = redrawn_best(remaining, feasible.size, 0.6, 20_000, seed=3)
    error = simulated.std() / np.sqrt(simulated.size)
    assert simulated.mean() == pytest.approx(found.expected_maximum, abs=4 * error)


def test_a_lone_leader_is_not_corrected() -> None:
    scores = [0.6, 0.62, 0.61, 0.9]
    for estimate in (shrink_scores, crop_scores):
        found = estimate(scores, n_test=2000, chance=0.1, correlation=0)
        assert (found.estimate, bool(found.reason)) == (0.9, True)
        simulated = redrawn_best(np.array(scores), 4, 0.0, 20_000, seed=7, n=2000)
        error = simulated.std() / np.sqrt(20_000)
        assert simulated.mean() < 0.83  # missing in (3 / 4)^4 of the fields
        assert found.expected_maximum == pytest.approx(simulated.mean(), abs=4 * error)


def simulated_best_aucs(skills: np.ndarray) -> np.ndarray:
    """Best estimate of every row of AUCs, on 40 positive and 100 negative binormal scores."""
    rng, shape = np.random.default_rng(4), skills.shape
    x = ndtri(skills)[..., None] * np.sqrt(2) + rng.standard_normal((*shape, 40))
    ranks = np.concatenate([x, rng.standard_normal((*shape, 100))], axis=2).argsort(axis=2)
    places = np.sum(np.where(ranks < 40, np.arange(140), 0), axis=2)  # of the positives
    return ((places - 40 * 39 / 2) / 4000).max(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["expected", "upper"])
def test_redrawn_aucs_give_the_observed_maximum(criterion: str) -> None:
    aucs = np.repeat(0.6 + 0.3 * np.linspace(0, 1, 5) ** 0.4, 2)
    found = shrink_aucs(aucs, n_positive=40, n_negative=100, criterion=criterion)
    skills = found.weight * aucs + (1 - found.weight) / 2
    assert found.estimate == pytest.approx(skills.max(), abs=1e-12)
    best = simulated_best_aucs(np.random.default_rng(5).choice(skills, (4000, 10)))
    if criterion == "expected":
        assert best.mean() == pytest.approx(0.9, abs=4 * best.std() / np.sqrt(best.size) + 2e-4)
    else:
        assert np.mean(best >= 0.9) == pytest.approx(0.025, abs=0.01)


@pytest.mark.parametrize("method", [shrink_scores, crop_scores])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [0.5, 1.0]}, "a perfect score"),
        ({"scores": [0.5, 1.2]}, "at least 0 and below 1"),
        ({"scores": [0.05, 0.1]}, "no score is above chance"),
        ({"chance": 1.0}, "chance must be a number of at least 0 and below 1"),
        ({"criterion": "median"}, "criterion must be one of expected, upper"),
    ],
)
def test_bad_input(method, changes: dict, message: str) -> None:
    given = {"scores": [0.8, 0.9], "n_test": 100, "chance": 0.1, **changes}
    refused(message, method, given.pop("scores"), **given)
    refused("no score is above chance", shrink_aucs, [0.4, 0.5], n_positive=20, n_negative=20)
