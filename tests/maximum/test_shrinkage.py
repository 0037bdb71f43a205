"""Shrinking and cropping: published numbers, simulation, and what must always hold."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri

from bayes_sota.auc.laws import auc_maximum_law
from bayes_sota.core.errors import InputError
from bayes_sota.data.read_boards import read_leaderboard
from bayes_sota.maximum.dependence import conditional_probabilities, feasible_skills
from bayes_sota.maximum.law import maximum_law, resampled_maximum_law
from bayes_sota.maximum.shrinkage import binomial_interval, crop_scores, shrink_aucs, shrink_scores

DATA = os.environ.get("BAYES_SOTA_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="BAYES_SOTA_DATA is not set")
N = 1500


def board(m: int = 60, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    skills = 1 / (1 + np.exp(-(2.0 - 0.5 * rng.exponential(size=m))))
    return rng.binomial(N, skills) / N


def best_scores(skills: np.ndarray, n: int, rho: float, repeats: int, seed: int) -> np.ndarray:
    """Simulated best scores, classifier by classifier (Eq. 6 and 7)."""
    rng = np.random.default_rng(seed)
    theta0 = float(skills.max())
    a, b = conditional_probabilities(skills, rho, theta0)
    right = rng.binomial(n, theta0, repeats)[:, None]
    return (rng.binomial(right, a) + rng.binomial(n - right, b)).max(axis=1) / n


def kaggle(name: str) -> np.ndarray:
    file = Path(str(DATA)) / "kaggle" / f"{name}__private.csv"
    scores = read_leaderboard(file, metric="score", standard_error=0.01).scores
    assert scores is not None
    return scores


@pytest.mark.slow
@needs_data
def test_obesity_shrunk_to_the_expected_maximum() -> None:
    found = shrink_scores(kaggle("playground-series-s4e2"), n_test=13_840, chance=1 / 7)
    assert found.estimate == pytest.approx(0.90707, abs=5e-6)
    assert (found.n_above(), found.n_above(4)) == (818, 818)  # it rounds to .9071; of .9070:
    assert int(np.sum(found.scores > 0.9070)) == 841
    assert found.n_above_single == 921
    assert found.scores.size == 3556
    assert np.round(found.interval, 4).tolist() == [0.9084, 0.9148]
    assert np.round(found.single, 4).tolist() == [0.9067, 0.9162]
    assert found.multiplicity
    as_is = maximum_law(
        n_test=13_840, skill=found.scores, correlation=0.6, cap_correlation=True, rough=True
    )
    assert as_is.mean() == pytest.approx(0.9159, abs=5e-5)
    assert found.excess == pytest.approx(as_is.mean() - found.observed_maximum, abs=1e-6)


@pytest.mark.slow
@needs_data
def test_obesity_shrunk_to_the_upper_limit() -> None:
    scores = kaggle("playground-series-s4e2")
    found = shrink_scores(scores, n_test=13_840, chance=1 / 7, criterion="upper")
    assert round(found.estimate, 4) == 0.9036
    assert found.n_above() == 1726
    assert round(found.expected_maximum, 4) == 0.9082
    assert found.interval == pytest.approx((0.9050, 0.9116), abs=5e-5)


@needs_data
def test_obesity_cropped() -> None:
    scores = kaggle("playground-series-s4e2")
    upper = crop_scores(scores, n_test=13_840, chance=1 / 7, criterion="upper")
    assert upper.n_above() == 1844  # printed, with .9026
    assert upper.estimate == pytest.approx(0.9026, abs=2e-4)
    assert upper.interval == pytest.approx((0.9050, 0.9116), abs=5e-5)
    expected = crop_scores(scores, n_test=13_840, chance=1 / 7)
    assert expected.estimate == pytest.approx(0.9063, abs=3e-4)
    # one step further the best score is expected above the observed one
    above = np.unique(scores[scores > expected.estimate])[0]
    remaining = expected.scores[expected.scores <= above]
    law = resampled_maximum_law(remaining, n_test=13_840, n_classifiers=3556, correlation=0.6)
    assert expected.expected_maximum <= expected.observed_maximum < law.mean()


@pytest.mark.slow
@needs_data
def test_cassava_has_no_multiplicity() -> None:
    scores = kaggle("cassava-leaf-disease-classification")
    found = shrink_scores(scores, n_test=15_000, chance=1 / 5)
    assert not found.multiplicity
    assert "no multiplicity to correct" in found.reason
    assert found.estimate == pytest.approx(0.9131996, abs=1e-7)
    assert "0.9131996" in found.reason


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_the_shrunk_field_gives_the_observed_maximum(rho: float) -> None:
    scores = board()
    found = shrink_scores(scores, n_test=N, chance=0.1, correlation=rho)
    skills = found.weight * scores + (1 - found.weight) * 0.1
    if rho:
        skills = skills[skills >= feasible_skills(rho, skills.max())[0]]
    assert found.n_infeasible == scores.size - skills.size
    simulated = best_scores(skills, N, rho, 20_000, seed=1)
    error = simulated.std() / np.sqrt(simulated.size)
    assert simulated.mean() == pytest.approx(scores.max(), abs=4 * error)
    assert found.expected_maximum == pytest.approx(scores.max(), abs=1e-8)
    assert found.estimate == pytest.approx(skills.max(), abs=1e-12)


@pytest.mark.slow
def test_the_upper_limit_of_the_shrunk_field_is_the_observed_maximum() -> None:
    scores = board()
    found = shrink_scores(scores, n_test=N, chance=0.1, criterion="upper")
    assert found.interval[1] == pytest.approx(scores.max(), abs=1e-12)
    skills = found.weight * scores + (1 - found.weight) * 0.1
    skills = skills[skills >= feasible_skills(0.6, skills.max())[0]]
    simulated = best_scores(skills, N, 0.6, 20_000, seed=2)
    assert np.mean(simulated > scores.max() - 0.5 / N) == pytest.approx(0.025, abs=0.005)


@pytest.mark.slow
def test_cropped_fields_are_drawn_with_replacement() -> None:
    scores = board()
    found = crop_scores(scores, n_test=N, chance=0.1)
    rng = np.random.default_rng(3)
    remaining = scores[scores <= found.threshold]
    simulated = [
        best_scores(rng.choice(remaining, scores.size), N, 0.6, 1, seed)[0] for seed in range(3000)
    ]
    # the reference is as good as the best that was drawn, nearly always the best that remains
    assert np.mean(simulated) == pytest.approx(found.expected_maximum, abs=5e-4)


def test_a_lone_leader_is_not_corrected() -> None:
    found = shrink_scores([0.6, 0.62, 0.61, 0.9], n_test=2000, chance=0.1)
    assert not found.multiplicity
    assert found.estimate == pytest.approx(0.9, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["expected", "upper"])
def test_shrunk_aucs_give_the_observed_maximum(criterion: str) -> None:
    aucs = np.repeat(0.6 + 0.3 * np.linspace(0, 1, 5) ** 0.4, 2)
    found = shrink_aucs(aucs, n_positive=40, n_negative=100, criterion=criterion)
    skills = found.weight * aucs + (1 - found.weight) / 2
    assert found.estimate == pytest.approx(skills.max(), abs=1e-12)
    law = auc_maximum_law(skills, n_positive=40, n_negative=100)  # another set of nodes
    observed = law.mean() if criterion == "expected" else law.interval()[1]
    assert observed == pytest.approx(0.9, abs=2e-5)
    rng, repeats = np.random.default_rng(4), 2000
    x = ndtri(skills)[:, None] * np.sqrt(2) + rng.standard_normal((repeats, 10, 40))
    ranks = np.concatenate([x, rng.standard_normal((repeats, 10, 100))], axis=2).argsort(axis=2)
    places = np.sum(np.where(ranks < 40, np.arange(140), 0), axis=2)  # of the positives
    best = ((places - 40 * 39 / 2) / 4000).max(axis=1)
    if criterion == "expected":
        assert best.mean() == pytest.approx(0.9, abs=4 * best.std() / np.sqrt(repeats) + 2e-4)
    else:
        assert np.mean(best >= 0.9) == pytest.approx(0.025, abs=0.012)


def test_clopper_pearson() -> None:
    from scipy.stats import binomtest

    expected = binomtest(47, 50).proportion_ci(0.9)
    assert binomial_interval(47, 50, 0.9) == pytest.approx((expected.low, expected.high))
    assert binomial_interval(50, 50)[1] == 1.0
    assert binomial_interval(0, 50)[0] == 0.0


@pytest.mark.parametrize("method", [shrink_scores, crop_scores])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [0.5, 1.0]}, "a perfect score"),
        ({"scores": [0.5, 1.2]}, "accuracies in"),
        ({"scores": []}, "1-dimensional"),
        ({"scores": [0.05, 0.1]}, "no score is above chance"),
        ({"n_test": 0}, "n_test must be at least 1"),
        ({"chance": 1.0}, "chance must lie"),
        ({"correlation": 1.0}, "correlation must lie"),
        ({"criterion": "median"}, "criterion must be one of expected, upper"),
        ({"ci_prob": 1.0}, "above 0 and below 1"),
    ],
)
def test_bad_input(method, changes: dict, message: str) -> None:
    given = {"scores": [0.8, 0.9], "n_test": 100, "chance": 0.1, **changes}
    with pytest.raises(InputError, match=message):
        method(given.pop("scores"), **given)
    with pytest.raises(InputError, match="no score is above chance"):
        shrink_aucs([0.4, 0.5], n_positive=20, n_negative=20)


@pytest.mark.slow
def test_point_estimates_are_a_method_of_estimate_sota() -> None:
    from bayes_sota.core.summary import summarize
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.leaderboard.sample_estimate import estimate_sota

    scores = np.round((0.8 + 0.1 * np.linspace(0, 1, 30) ** 0.3) * 500) / 500
    board = Leaderboard(scores, n_test=500, rounding="exact")
    for method, function in (("shrink", shrink_scores), ("crop", crop_scores)):
        tree = estimate_sota(board, method=method, n_classes=2)
        expected = function(scores, n_test=500, chance=0.5)
        assert float(tree["point_estimate"]["theta_sota"]) == expected.estimate
        with pytest.raises(InputError, match="no draws to summarize"):
            summarize(tree)
    upper = estimate_sota(board, method="shrink", n_classes=2, criterion="upper", correlation=0.3)
    assert upper.attrs["criterion"] == "upper"
    aucs = Leaderboard([0.8, 0.85, 0.9], n_test=500, n_positive=60, metric="auc")
    found = estimate_sota(aucs, method="shrink", correlation=0.5)
    assert 0.5 < float(found["point_estimate"]["theta_sota"]) < 0.9
    for wrong, settings, message in (
        (board, {"method": "shrink"}, "n_classes is the number of classes"),
        (board.maximum_only(), {"method": "crop", "n_classes": 2}, "all scores of a board"),
        (board, {"criterion": "upper"}, "criterion has no effect on any method but shrink"),
        (aucs, {"method": "crop"}, "AUCs take method"),
    ):
        with pytest.raises(InputError, match=message):
            estimate_sota(wrong, **settings)
