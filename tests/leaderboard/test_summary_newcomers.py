"""One more classifier: against simulated fields and scores, and bad input."""

import numpy as np
import pytest
from data.files import refused

import bayes_sota as bs
from bayes_sota.core.skills import expit
from bayes_sota.leaderboard import newcomer
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.leaderboard.summary_sota import reasons_of_answer, sentence_of
from bayes_sota.maximum.dependence import conditional_probabilities, feasible_correlation


@pytest.fixture(scope="module")
def maximum():
    board = bs.BestScore("0.94", n_test=200, n_classifiers=50)
    return bs.estimate_sota(board, random_seed=3)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    skill = expit(rng.normal(2.2, 0.25, 60))
    board = bs.Leaderboard(rng.binomial(1000, skill) / 1000, n_test=1000)
    return board_posterior(board, random_seed=0, draws=2000)


def draws_of(tree, *names: str) -> list[np.ndarray]:
    return [tree["posterior"][name].values.ravel()[:, None] for name in names]


def scores_on_these_items(skill, rho, shift, n, theta0, rng):  # type: ignore[no-untyped-def]
    """Right answers by the paper's law (Eq. 6 and 7), given those of the reference classifier."""
    right = np.clip(np.round(n * theta0 + shift * np.sqrt(n * theta0 * (1 - theta0))), 0, n)
    rho = np.minimum(rho, feasible_correlation(skill, theta0))
    a, b = conditional_probabilities(skill, rho, theta0)
    counts = rng.binomial(right.astype(int), np.clip(a, 0, 1))
    return counts + rng.binomial(n - right.astype(int), np.clip(b, 0, 1))


@pytest.mark.slow
def test_beside_a_maximum_as_simulated_newcomers_with_that_score(maximum) -> None:
    """Newcomers are drawn from P(theta) of each draw; those with the score are counted."""
    location, spread, theta, rho, shift = draws_of(
        maximum, "location", "spread", "theta_sota", "rho", "shift"
    )
    rng = np.random.default_rng(5)
    skill = expit(location + spread * rng.standard_normal((location.size, 500)))
    counts = scores_on_these_items(skill, rho, shift, 200, 0.94, rng)
    better = (skill > theta)[counts == 188]
    assert better.size > 5_000
    found, share = newcomer(maximum, score=188 / 200), better.mean()
    error = np.hypot(found["mcse"], np.sqrt(share * (1 - share) / better.size))
    assert abs(found["probability"] - share) < 5 * error
    assert 0.05 < share < 0.95


def test_on_a_board_as_simulated_newcomers_with_that_score(found) -> None:
    """Psi by inversion of each draw's P(psi), scores with the variance of the model."""
    rng, fit = np.random.default_rng(2), found.skills.fit
    psi = np.empty((2000, 1000))
    for _, f, rows in found.skills.parameters.cells(fit, 100):
        density = fit.density(fit.families[f], found.skills.parameters.points(fit, rows))
        cdf = np.cumsum(density, axis=1)
        for row, sums in zip(rows, cdf, strict=True):
            y = np.interp(rng.random(1000) * sums[-1], sums, fit.evidence.y + fit.evidence.step / 2)
            psi[row] = expit(y)
    rho, shift, theta = (found.draws[name][:, None] for name in ("rho", "shift", "theta_sota"))
    skill = fit.evidence.law.remove_shift(psi, rho * shift)
    error = np.sqrt((1 - rho**2) * psi * (1 - psi) / 1000)
    counts = np.round(1000 * (psi + error * rng.standard_normal(psi.shape)))
    better = (skill > theta)[counts == 945]
    assert better.size > 700
    # the law is a double binomial, the simulated error normal
    result = newcomer(found, score=0.945)
    assert result["probability"] == pytest.approx(better.mean(), abs=0.05)


def test_a_gap_shows_as_often_as_in_simulated_scores(maximum) -> None:
    theta, rho, shift = draws_of(maximum, "theta_sota", "rho", "shift")
    rng, skill = np.random.default_rng(7), np.repeat(theta + 0.01, 200, axis=1)
    shown = scores_on_these_items(skill, rho, shift, 200, 0.94, rng) >= 188
    found = newcomer(maximum, gap=0.01)
    assert found["probability"] == pytest.approx(shown.mean(), abs=0.01)
    assert found["best_score"] == 0.94


def test_better_scores_and_wider_gaps_are_surer(found) -> None:
    p = [newcomer(found, score=x)["probability"] for x in (0.92, 0.94, 0.95, 0.96, 0.99)]
    assert np.all(np.diff(p) > 0)
    assert p[0] < 0.01
    assert p[-1] > 0.99
    shown = [newcomer(found, gap=gap)["probability"] for gap in (0.001, 0.01, 0.03)]
    assert np.all(np.diff(shown) > 0)


@pytest.mark.slow
def test_every_kind_of_result_answers() -> None:
    rng = np.random.default_rng(1)
    common = rng.random((300, 1)) < 0.7
    answers = np.where(rng.random((300, 12)) < 0.6, common, rng.random((300, 12)) < 0.8)
    labels = np.arange(300) < 90
    numbers = labels[:, None] * 1.5 + rng.standard_normal((300, 1)) + rng.normal(size=(300, 9))
    data = (
        bs.Outcomes(answers),
        bs.Outcomes(numbers, labels=labels),
        bs.Leaderboard(np.linspace(0.8, 0.9, 12), n_test=300, n_positive=90, metric="auc"),
        bs.BestScore("0.9", n_test=300, n_classifiers=9, n_positive=90,
                                    metric="auc"),
        bs.BestScore("0.9", n_classifiers=9, metric="score", standard_error=0.01),
    )  # fmt: skip
    for one in data:
        if type(one) is bs.BestScore:
            result = bs.estimate_sota(one, draws=400, random_seed=0)
        else:
            result = board_posterior(one, draws=1600, random_seed=0)
        best = float(one.scores.max() if hasattr(one, "scores") else one.maximum)
        low, high = (newcomer(result, score=best + x)["probability"] for x in (-0.06, 0.06))
        assert low < 0.2, one
        assert high > low + 0.15, one
        assert 0 < newcomer(result, gap=0.02)["probability"] < 1


def test_an_answer_in_words_and_one_that_cannot_be_trusted(found) -> None:
    answer = newcomer(found, score=0.945)
    assert 0.005 < answer["mcse"] < 0.05  # which leaves two digits
    said = sentence_of(answer)
    assert "with a score of 0.945 on the same items" in said
    assert said.endswith(f"with probability {answer['probability']:.2f}.")
    assert reasons_of_answer(answer) == []
    assert "only 3 draws support it" in reasons_of_answer(answer | {"effective_draws": 3.0})[0]


def test_refusals(found, maximum) -> None:
    whole = bs.estimate_sota(bs.Leaderboard([0.9, 0.8], n_test=99), draws=25, groups="estimands")
    for result, given, message in (
        (maximum, {"score": 98.0}, "percent"),
        (found, {"gap": 0.0}, "gap must be"),
        (found, {"score": 0.9, "gap": 0.1}, "either the score"),
        (whole, {"score": 0.9}, "board_posterior"),
    ):
        refused(message, newcomer, result, **given)
