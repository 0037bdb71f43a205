"""AUCs and scores with a standard error in the posterior routes."""

import numpy as np
import pytest

from bayes_sota.auc.estimate import auc_scores
from bayes_sota.auc.laws import auc_law
from bayes_sota.core.priors import FixedCorrelation, LogitNormalSkill, MaximumPriors
from bayes_sota.core.skills import expit
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.score_laws import score_law


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_the_posterior_of_a_best_auc_agrees_with_rejection(rho: float) -> None:
    """Whole fields from the prior, kept where the best score prints as the observed one."""
    priors = MaximumPriors(LogitNormalSkill((0.85, 0.95), (0.1, 0.5)), FixedCorrelation(rho))
    board = BestScore("0.95", n_test=3000, n_positive=51, n_classifiers=40, metric="auc")
    posterior = sota_posterior(board, priors, draws=8000, random_seed=1)
    assert posterior.reasons == ()
    rng, fields, m = np.random.default_rng(2), 24_000, 40
    location, spread = priors.skill.draw(rng, fields)
    scores = auc_scores(51, 2949, 0.7, 0.98)
    kept: list[list[float]] = []
    for block in np.split(np.arange(fields), 12):
        skills = expit(
            location[block, None] + spread[block, None] * rng.standard_normal((block.size, m))
        )
        normal = rho * rng.standard_normal((block.size, 1))
        normal = normal + np.sqrt(1 - rho**2) * rng.standard_normal(skills.shape)
        seen = scores.estimate(normal, skills)
        best, first = seen.max(axis=1), seen.argmax(axis=1)
        some = np.abs(best - 0.95) <= 0.005
        winner = skills[np.arange(block.size), first]
        kept += np.column_stack([skills.max(axis=1), winner])[some].tolist()
    expected = np.array(kept)
    assert len(expected) > 500
    for index, name in enumerate(("theta_sota", "winner_skill")):
        ours = posterior.draws[name][:, 0]
        error = expected[:, index].std() * np.sqrt(1 / len(expected) + 1 / 8000)
        assert ours.mean() == pytest.approx(expected[:, index].mean(), abs=4.5 * error)
        assert ours.std() == pytest.approx(expected[:, index].std(), rel=0.08)


@pytest.mark.parametrize(
    ("rounding", "ends"), [("nearest", (0.905, 0.915)), ("floor", (0.91, 0.92))]
)
def test_a_printed_auc_is_every_auc_that_prints_as_it(rounding: str, ends: tuple) -> None:
    given = {"n_test": 350, "n_positive": 50, "metric": "auc", "rounding": rounding}
    law, psi = score_law(Leaderboard(["0.91", "0.87"], **given)), np.array([0.86, 0.9])
    found = law.log_kernel(law.prepared(np.array([0.91]), np.log(psi / (1 - psi))), 1.0)[0]
    exact = [np.diff(auc_law(x, 50, 300).cdf(ends))[0] for x in psi]
    assert np.exp(found) == pytest.approx(exact, rel=0.01)


@pytest.mark.slow
def test_a_perfect_auc_among_near_perfect_ones_is_not_a_leak() -> None:
    """A higher best score must not lower the answer, nor must the rest be left out."""
    found = []
    for top in (0.9999, 1.0):
        aucs = np.append(0.9985 + np.linspace(0, 0.0004, 29), top)
        board = Leaderboard(aucs, n_test=200, n_positive=20, metric="auc")
        posterior = board_posterior(board, random_seed=1, draws=1000)
        assert not any("leaked" in reason for reason in posterior.reasons)
        assert posterior.skills.fit.evidence.modelled.all()
        found.append(posterior.draws["theta_sota"].mean())
    assert found[1] > found[0] - 0.002


@pytest.mark.slow
@pytest.mark.parametrize(("auc", "a", "b"), [(0.97, 15, 285), (0.9, 30, 570), (0.99, 15, 285)])
def test_an_interval_of_one_auc_does_not_depend_on_rho(auc: float, a: int, b: int) -> None:
    """What is not the entry's own is in the shift: a flat prior gives one posterior."""
    board = Leaderboard([auc, auc - 0.1], n_test=a + b, n_positive=a, metric="auc")
    law, rng = score_law(board), np.random.default_rng(0)
    table = law.normal_scores
    places = np.linspace(table.stabilized(0.6), table.stabilized(1 - 1e-6), 1500)
    psi = table.from_stabilized(places)
    prepared = law.prepared(np.array([auc]), np.log(psi / (1 - psi)))
    limits = []
    for rho in (0.0, 0.8, 0.95):
        p = np.exp(law.log_kernel(prepared, 1 - rho**2)[0])
        drawn = rng.choice(psi, 60_000, p=p / p.sum())
        theta = law.remove_shift(drawn, rho * rng.standard_normal(60_000))
        limits.append(np.quantile(theta, [0.025, 0.5, 0.975]))
    error = float(table.standard_error(auc))
    np.testing.assert_allclose(limits[1], limits[0], atol=0.2 * error)
    np.testing.assert_allclose(limits[2], limits[0], atol=0.2 * error)
