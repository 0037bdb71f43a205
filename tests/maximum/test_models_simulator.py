"""The simulating model has the priors that it claims, and the kernel of the observed interval."""

import numpy as np
import pymc as pm
import pytest
from scipy import stats

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import (
    BetaSkill,
    CorrelationPrior,
    FixedCorrelation,
    LogitNormalSkill,
    LogNormalTries,
    MaximumPriors,
    TriesPrior,
    UniformSkill,
    UniformTries,
)
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.models import (
    ScoreSimulator,
    build_simulated_maximum,
    reference_skills,
)

# What PyMC's own Simulator triggers in PyTensor when a model is built.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:DeprecationWarning")
    for message in (
        "RandomVariable Ops will stop hiding the rng output",
        "Calling a RandomVariable without an explicit rng",
    )
]

BOARD = Leaderboard.from_maximum("0.912", n_test=3000, n_classifiers=200)
SECOND = Leaderboard.from_maximum("0.90", n_test=500, n_classifiers=(20, 80), name="second")


def prior_draws(model, names, size=4000, seed=1):
    with model:
        values = pm.draw([model[name] for name in names], draws=size, random_seed=seed)
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize("family", [LogitNormalSkill, BetaSkill, UniformSkill])
def test_parametrisation_leaves_the_prior_of_location_and_best_skill(family):
    prior = family(typical=(0.7, 0.95), spread=(0.1, 0.5))
    model = build_simulated_maximum([BOARD], MaximumPriors(skill=prior), epsilon=0.01)
    draws = prior_draws(model, ["location", "spread", "u", "theta_sota"])
    location = stats.norm(prior.location_mean, prior.location_sd)
    assert stats.kstest(draws["location"], location.cdf).pvalue > 1e-3
    assert abs(stats.spearmanr(draws["location"], draws["spread"]).statistic) < 0.05
    tail = -np.expm1(np.log(draws["u"]) / 200)
    distribution = prior.distribution(draws["location"], draws["spread"])
    expected = distribution.skill(distribution.isf(tail))
    np.testing.assert_allclose(draws["theta_sota"], expected, rtol=1e-9)


def test_simulated_scores_come_from_the_prior_predictive():
    """The law of the simulated score with everything fixed but theta_sota and the shift."""
    from bayes_sota.maximum.law import maximum_law

    priors = MaximumPriors(LogitNormalSkill(typical=0.9, spread=0.2), FixedCorrelation(0.6))
    model = build_simulated_maximum([BOARD], priors, epsilon=0.01)
    assert {v.name for v in model.free_RVs} == {"u", "shift"}
    theta, shift = prior_draws(model, ["theta_sota", "shift"], size=2000).values()
    simulator = ScoreSimulator((BOARD,), reference_skills([BOARD]), priors.skill)
    location, rng = priors.skill.location_mean, np.random.default_rng(1)
    scores = simulator(rng, theta, location, 0.2, 0.6, shift, 200.0, None)
    assert simulator(rng, 0.91, location, 0.2, 0.6, 0.0, 200.0, (3,)).shape == (3,)
    law = maximum_law(
        n_test=3000,
        skill=priors.skill.distribution(priors.skill.location_mean, 0.2),
        n_classifiers=200,
        correlation=0.6,
        reference_skill=0.912,
        cap_correlation=True,
    )
    assert scores.mean() == pytest.approx(law.mean(), abs=4 * law.std() / np.sqrt(2000))
    assert scores.std() == pytest.approx(law.std(), rel=0.07)


@pytest.mark.parametrize(("right", "distance"), [(2736, 0.0), (2734, 1 / 3000), (2760, 22 / 3000)])
def test_kernel_is_zero_inside_the_printed_interval(right, distance):
    low, high = BOARD.counts
    expected = max(low - right, right - high, 0) / 3000
    model = build_simulated_maximum([BOARD], MaximumPriors(), epsilon=0.002)
    op = model["best_score"].owner.op
    value = op.distance(op.epsilon, BOARD.maximum, right / 3000)
    assert float(value.eval()) == pytest.approx(-0.5 * (expected / 0.002) ** 2)
    assert expected == pytest.approx(distance, abs=1.1 / 3000)


@pytest.mark.parametrize("tries", [UniformTries(20, 80), LogNormalTries(50.0, 2.0)])
def test_uncertain_number_of_classifiers_follows_its_prior(tries):
    board = Leaderboard.from_maximum("0.90", n_test=500, n_classifiers=tries)
    model = build_simulated_maximum([board], MaximumPriors(), epsilon=0.01)
    draws = prior_draws(model, ["tries_quantile", "n_classifiers"], size=300)
    expected = np.maximum(np.round(tries.quantile(draws["tries_quantile"])), 1)
    np.testing.assert_allclose(draws["n_classifiers"], expected, atol=1e-9)


def test_several_boards_share_the_field():
    model = build_simulated_maximum([BOARD, SECOND], MaximumPriors(), epsilon=[0.01, 0.02])
    names = ["location", "rho", "theta_sota", "shift", "n_classifiers", "best_score"]
    draws = prior_draws(model, names, size=20)
    assert draws["location"].shape == draws["rho"].shape == (20,)
    assert all(draws[name].shape == (20, 2) for name in names[2:])
    assert np.all(draws["n_classifiers"][:, 0] == 200)
    counts = draws["best_score"] * [3000, 500]
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)


def test_reference_skill_is_the_maximum_kept_inside():
    perfect = Leaderboard.from_maximum("1.0", n_test=200, n_classifiers=5, rounding="exact")
    np.testing.assert_allclose(reference_skills([BOARD, perfect]), [0.912, 1 - 0.5 / 200])
    np.testing.assert_allclose(reference_skills([BOARD, perfect], 0.8), [0.8, 0.8])


class OtherTries(TriesPrior):
    """A prior that nobody wrote a simulator for."""


@pytest.mark.parametrize(
    ("boards", "priors", "change", "message"),
    [
        ([], MaximumPriors(), {}, "at least one board"),
        ([BOARD], MaximumPriors(), {"epsilon": 0.0}, "epsilon must be positive"),
        ([BOARD], MaximumPriors(), {"reference_skill": 1.0}, "reference skill"),
        ([BOARD], MaximumPriors(correlation=CorrelationPrior()), {}, "CorrelationPrior"),
        ([BOARD.with_tries(OtherTries())], MaximumPriors(), {}, "OtherTries"),
    ],
)
def test_what_cannot_be_simulated_is_refused(boards, priors, change, message):
    with pytest.raises(InputError, match=message):
        build_simulated_maximum(boards, priors, **({"epsilon": 0.01} | change))
