"""The models have the stated priors, the exact likelihood and predictive draws.

The simulating model has the kernel of the observed interval instead of a likelihood.
"""

import numpy as np
import pymc as pm
import pytest
from data.files import refused
from scipy import stats

from bayes_sota import BestScore, Leaderboard, LogitNormalSkill, maximum_law
from bayes_sota.core import BetaCorrelation, BetaSkill, UniformSkill
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.maximum import build_model, build_simulated_maximum, observe_maximum
from bayes_sota.maximum.likelihood import BoardLikelihood
from bayes_sota.maximum.models import fresh_maxima
from bayes_sota.maximum.posterior import Maxima, several

BOARD = BestScore("0.98", n_test=200, n_classifiers=50)
LARGE = BestScore("0.9116", n_test=13_840, n_classifiers=3_558)
FIRST = BestScore("0.912", n_test=3000, n_classifiers=200)


def log_likelihood(board, *parameters, **options):
    with pm.Model():
        variable = observe_maximum(board, *parameters, **options)
    observed = [one.maximum for one in several(board)]
    return float(pm.logp(variable, observed).sum().eval(mode="FAST_COMPILE"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "top", "spread", "a", "b"),
    [(BOARD, 3.5, 0.3, 14, 5), (LARGE, 2.33, 0.1, 14, 5), (BOARD, 3.5, 0.3, 1, 1)],
)
def test_log_likelihood_is_that_of_tables_made_for_this_rho(board, top, spread, a, b):
    """Where the prior of rho is wide there are more nodes; ``top`` is near the best skill."""
    priors = MaximumPriors(correlation=BetaCorrelation(a, b))
    location = top - stats.norm.isf(0.6 / board.n_classifiers) * spread
    field = priors.skill.distribution(np.array([location]), np.array([spread]))
    for rho in (0.4, 0.55, 0.7, 0.85, 0.95) if a > 1 else (0.03, 0.2, 0.45, 0.7, 0.93):
        found = log_likelihood(board, location, spread, rho, priors=priors)
        exact = BoardLikelihood(board, np.array([rho])).at_nodes(field)[0, 0]
        assert found == pytest.approx(exact, abs=0.02 + 0.003 * abs(exact)), rho


def test_log_prior_is_the_stated_one():
    """The level is the location moved by a constant times the spread: no Jacobian is missing."""
    priors, model = MaximumPriors(), build_model(BOARD)
    skill, rho = priors.skill, priors.correlation
    free = model.compile_logp(vars=model.free_RVs, jacobian=False, sum=True, mode="FAST_COMPILE")
    for location, spread, r in ((2.5, 0.4, 0.75), (0.3, 0.05, 0.5)):
        level = location + np.sqrt(2 * np.log(BOARD.n_classifiers + 1)) * spread
        point = {"log_spread": np.log(spread), "level": level, "rho_logodds__": np.log(r / (1 - r))}
        expected = (
            stats.norm.logpdf(location, *skill.location)
            + stats.norm.logpdf(np.log(spread), *skill.log_spread)
            + stats.beta.logpdf(r, rho.a, rho.b)
        )
        found = free({name: np.asarray(value) for name, value in point.items()})
        assert float(found) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("family", [LogitNormalSkill, UniformSkill, BetaSkill])
def test_fresh_maxima_follow_the_exact_law(family):
    """Of models and of their simulator, all draws in one call; the law shares no code."""
    prior, boards = family(typical=0.9, spread=0.2), (FIRST, BOARD)
    location, count = prior.location[0], 4000
    draw, rng = fresh_maxima(Maxima(boards, MaximumPriors(prior))), np.random.default_rng(1)
    scores = draw(rng, location, 0.2, 0.6, (count, 2))
    assert scores.shape == (count, 2)
    assert draw(rng, np.full((3, 1), location), 0.2, 0.6, None).shape == (3, 2)
    for board, drawn in zip(boards, scores.T, strict=True):
        law = maximum_law(
            n_test=board.n_test,
            skill=prior.distribution(location, 0.2),
            n_classifiers=board.n_classifiers,
            correlation=0.6,
            reference_skill=board.maximum,
            cap_correlation=True,
        )
        assert drawn.mean() == pytest.approx(law.mean(), abs=4 * law.std() / np.sqrt(count))
        assert drawn.std() == pytest.approx(law.std(), rel=0.05)


@pytest.mark.parametrize(("right", "distance"), [(2736, 0.0), (2734, 1 / 3000), (2760, 22 / 3000)])
def test_kernel_is_zero_inside_the_printed_interval(right, distance):
    low, high = FIRST.counts
    expected = max(low - right, right - high, 0) / 3000
    model = build_simulated_maximum([FIRST], MaximumPriors(), epsilon=0.002)
    op = model["best_score"].owner.op
    value = op.distance(0.002, FIRST.maximum, right / 3000)
    assert float(value.eval()[0]) == pytest.approx(-0.5 * (expected / 0.002) ** 2)
    assert expected == pytest.approx(distance, abs=1.1 / 3000)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0.9, "a BestScore is needed, got float"),
        (Leaderboard([0.9, 0.8], n_test=100), "take bs.leaderboard.build_model"),
    ],
)
def test_what_is_no_best_score_is_refused(given, message):
    refused(message, build_model, given)
