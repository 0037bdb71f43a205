"""The PyMC model has the exact likelihood, its gradient, and its predictive draws."""

from functools import cache

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
    MaximumPriors,
    SkillPrior,
    UniformSkill,
    UniformTries,
)
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.likelihood import BoardLikelihood
from bayes_sota.maximum.models import _random, build_observed_maximum
from bayes_sota.maximum.posterior import draw_prior, sota_posterior

# What PyTensor says of PyMC's own random variables when a model is built.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:DeprecationWarning")
    for message in (
        "RandomVariable Ops will stop hiding the rng output",
        "Calling a RandomVariable without an explicit rng",
    )
]

UNOPTIMISED = {"mode": "FAST_COMPILE"}  # no compilation: a few evaluations only
FAMILIES = (LogitNormalSkill, BetaSkill, UniformSkill)
BOARD = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
LARGE = Leaderboard.from_maximum("0.9116", n_test=13_840, n_classifiers=3_558)


def unconstrained(model, location, spread, rho):
    """Point of the model with these hyperparameters, whatever constant it adds to the level."""
    point = model.initial_point()
    values = {}
    if "log_spread" in point:
        values["log_spread"] = np.log(spread)
    if "level" in point:
        known = {name: v for name, v in values.items() if name in point}
        at_start = evaluate(model, model["location"], point | known)
        values["level"] = point["level"] + location - at_start
    if "rho_logodds__" in point:
        values["rho_logodds__"] = np.log(rho / (1 - rho))
    return point | {name: np.asarray(v, dtype=np.float64) for name, v in values.items()}


def evaluate(model, variable, point):
    """Value of a variable of the model at a point."""
    outputs = model.replace_rvs_by_values([variable])
    compiled = model.compile_fn(
        outputs, inputs=model.value_vars, on_unused_input="ignore", **UNOPTIMISED
    )
    return float(compiled(point)[0])


@cache
def slope(family, board):
    """Model of a board, and the gradient of its log density; several tests ask for it."""
    model = build_observed_maximum(board, MaximumPriors(family()))
    return model, model.compile_dlogp(**UNOPTIMISED)


def observed_log_likelihood(model):
    return model.compile_logp(vars=model.observed_RVs, sum=True, **UNOPTIMISED)


def exact_log_likelihood(board, priors, location, spread, rho):
    likelihood = BoardLikelihood(board, np.array([rho]), refinement=2)
    field = priors.skill.distribution(np.array([location]), np.array([spread]))
    return likelihood.log_likelihood(likelihood.hat_weights(field), 0)[0]


def below_top(family, board, top, spread):
    """Location of a field whose best skill is near ``top``."""
    quantile = stats.norm.isf(0.6 / board.tries)
    return top - (np.sqrt(3) if family is UniformSkill else quantile) * spread


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("board", "points"),
    [
        (BOARD, [(3.6, 0.4, 0.75), (3.4, 0.1, 0.6), (3.2, 0.2, 0.88), (4.0, 0.05, 0.7)]),
        (LARGE, [(2.33, 0.1, 0.75), (2.30, 0.02, 0.6), (2.36, 0.15, 0.85)]),
    ],
    ids=["small", "large"],
)
def test_log_density_agrees_with_the_exact_likelihood(family, board, points):
    priors = MaximumPriors(family())
    model = build_observed_maximum(board, priors)
    log_likelihood = observed_log_likelihood(model)
    for top, spread, rho in points:
        point = below_top(family, board, top, spread), spread, rho
        exact = exact_log_likelihood(board, priors, *point)
        assert exact > -16
        assert float(log_likelihood(unconstrained(model, *point))) == pytest.approx(
            exact, abs=0.03 + 0.003 * abs(exact)
        )


@pytest.mark.parametrize("family", FAMILIES)
def test_log_prior_is_the_stated_one(family):
    """The level is the location moved by a constant times the spread: no Jacobian is missing."""
    priors = MaximumPriors(family())
    model = build_observed_maximum(BOARD, priors)
    skill, rho = priors.skill, priors.correlation
    free = model.compile_logp(vars=model.free_RVs, jacobian=False, sum=True, **UNOPTIMISED)
    for location, spread, r in ((2.5, 0.4, 0.75), (0.3, 0.05, 0.5)):
        expected = (
            stats.norm.logpdf(location, skill.location_mean, skill.location_sd)
            + stats.norm.logpdf(np.log(spread), skill.log_spread_mean, skill.log_spread_sd)
            + stats.beta.logpdf(r, rho.a, rho.b)
        )
        assert float(free(unconstrained(model, location, spread, r))) == pytest.approx(
            expected, abs=1e-5
        )


@pytest.mark.parametrize(
    ("family", "board"), [(LogitNormalSkill, LARGE), (BetaSkill, BOARD), (UniformSkill, BOARD)]
)
def test_gradient_is_finite_and_agrees_with_differences(family, board):
    model, gradient = slope(family, board)
    log_density = model.compile_logp(**UNOPTIMISED)
    names = [v.name for v in model.value_vars]
    top, spread = (3.5, 0.3) if board is BOARD else (2.33, 0.11)
    for shift in (-0.02, 0.0, 0.02):
        location = below_top(family, board, top + shift, spread)
        point = unconstrained(model, location, spread, 0.7 + shift)
        found = gradient(point)
        assert np.all(np.isfinite(found))
        step = 1e-5
        for i, name in enumerate(names):
            up, down = (
                float(log_density(point | {name: point[name] + sign * step})) for sign in (1, -1)
            )
            difference = (up - down) / (2 * step)
            assert found[i] == pytest.approx(difference, rel=1e-3, abs=1e-3), name


@pytest.mark.parametrize("family", FAMILIES)
def test_gradient_is_finite_far_from_the_posterior(family):
    """A sampler starts somewhere: no point may give NaN."""
    model, gradient = slope(family, BOARD)
    for point in ((-2.0, 0.1, 0.5), (6.0, 0.1, 0.9), (0.0, 2.0, 0.2), (3.0, 0.01, 0.99)):
        assert np.all(np.isfinite(gradient(unconstrained(model, *point)))), point


def test_two_boards_add_their_log_likelihoods():
    other = Leaderboard.from_maximum("0.97", n_test=400, n_classifiers=(20, 80), name="other")
    joint, one, two = (
        build_observed_maximum(boards, MaximumPriors()) for boards in ((BOARD, other), BOARD, other)
    )
    values = [
        float(np.sum(observed_log_likelihood(m)(unconstrained(m, 2.5, 0.3, 0.7))))
        for m in (joint, one, two)
    ]
    assert values[0] == pytest.approx(values[1] + values[2], abs=1e-8)
    assert joint.named_vars_to_dims["observed_maximum"] == ("board",)


def test_known_quantities_are_constants():
    priors = MaximumPriors(LogitNormalSkill(0.9, 0.2), FixedCorrelation(0.6))
    model = build_observed_maximum(BOARD, priors)
    assert model.free_RVs == []
    assert evaluate(model, model["location"], {}) == pytest.approx(np.log(9))
    exact = exact_log_likelihood(BOARD, priors, np.log(9), 0.2, 0.6)
    assert float(observed_log_likelihood(model)({})) == pytest.approx(exact, abs=0.02)


def test_prior_draws_come_from_the_stated_prior():
    board = Leaderboard.from_maximum("0.9", n_test=300, n_classifiers=UniformTries(5, 40))
    priors = MaximumPriors(LogitNormalSkill((0.7, 0.95), (0.05, 0.6)))
    with build_observed_maximum(board, priors):
        drawn = pm.sample_prior_predictive(200, random_seed=1)
    exact, predicted = draw_prior((board,), priors, np.random.default_rng(2), 20_000)
    for name in ("location", "spread", "rho"):
        ours = drawn["prior"][name].values.ravel()
        assert stats.ks_2samp(ours, exact[name]).pvalue > 1e-4, name
    ours = drawn["prior_predictive"]["observed_maximum"].values.ravel()
    assert stats.ks_2samp(ours, predicted["observed_maximum"][:, 0]).pvalue > 1e-4


@pytest.mark.parametrize("family", FAMILIES)
def test_fresh_maxima_follow_the_exact_prior_predictive(family):
    """The function behind ``observed_maximum``, all draws in one call."""
    board = Leaderboard.from_maximum("0.9", n_test=300, n_classifiers=UniformTries(5, 40))
    priors = MaximumPriors(family(typical=(0.7, 0.95), spread=(0.05, 0.6)))
    rng = np.random.default_rng(1)
    location, spread = priors.skill.draw(rng, 10_000)
    rho = priors.correlation.quantile(rng.random(10_000))
    likelihoods = [BoardLikelihood(board, np.array([0.5, 0.9]))]
    ours = _random(priors.skill, likelihoods, False)(location, spread, rho, rng=rng)
    _, predicted = draw_prior((board,), priors, np.random.default_rng(2), 10_000)
    assert stats.ks_2samp(ours, predicted["observed_maximum"][:, 0]).pvalue > 1e-4


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route():
    priors = MaximumPriors(LogitNormalSkill((0.7, 0.98), (0.05, 0.6)))
    with build_observed_maximum(BOARD, priors):
        sampled = pm.sample(
            1000,
            tune=500,
            chains=2,
            cores=1,
            random_seed=1,
            progressbar=False,
            nuts_sampler="nutpie",
        )
    assert int(sampled["sample_stats"]["diverging"].sum()) <= 5
    exact = sota_posterior(BOARD, priors, draws=40_000, random_seed=1).draws
    for name in ("location", "spread", "rho"):
        ours, reference = sampled["posterior"][name].values.ravel(), exact[name]
        # 2,000 draws with an effective size of at least 400
        assert ours.mean() == pytest.approx(reference.mean(), abs=0.2 * reference.std())
        assert ours.std() == pytest.approx(reference.std(), rel=0.15)


def test_unknown_priors_are_refused():
    class Other(SkillPrior):
        def distribution(self, location, spread):
            return LogitNormalSkill().distribution(location, spread)

    class OtherCorrelation(CorrelationPrior):
        def quantile(self, q):
            return np.asarray(q)

    with pytest.raises(InputError, match="at least one"):
        build_observed_maximum([])
    with pytest.raises(InputError, match="skill prior Other"):
        build_observed_maximum(BOARD, MaximumPriors(Other()))
    with pytest.raises(InputError, match="correlation prior OtherCorrelation"):
        build_observed_maximum(BOARD, MaximumPriors(correlation=OtherCorrelation()))
