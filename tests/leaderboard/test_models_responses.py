"""The item model has the right likelihood, and agrees with the exact route."""

import numpy as np
import pymc as pm
import pytest
from scipy import integrate, special, stats

from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.responses import Responses
from bayes_sota.leaderboard.from_items import items_posterior
from bayes_sota.leaderboard.models import build_responses

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:DeprecationWarning")
    for message in (
        "RandomVariable Ops will stop hiding the rng output",
        "Calling a RandomVariable without an explicit rng",
    )
]


def simulate(n, m, seed, loading=0.85):
    rng = np.random.default_rng(seed)
    skills = special.expit(1.8 + 0.3 * rng.standard_normal(m))
    own = np.sqrt(1 - loading**2) * rng.standard_normal((n, m))
    return rng, loading * rng.standard_normal((n, 1)) + own < special.ndtri(skills)


def test_likelihood_against_adaptive_quadrature():
    answers = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, -1, 1], [1, 1, 0]])
    model = build_responses(Responses(answers))
    point = model.initial_point()
    compiled = model.compile_logp(vars=model.observed_RVs, sum=True, mode="FAST_COMPILE")
    outputs = model.replace_rvs_by_values([model["skill"], model["loading"]])
    evaluate = model.compile_fn(
        outputs, inputs=model.value_vars, on_unused_input="ignore", mode="FAST_COMPILE"
    )
    rng = np.random.default_rng(0)
    for _ in range(3):
        point = {k: np.asarray(v + 0.5 * rng.standard_normal(v.shape)) for k, v in point.items()}
        skill, loading = evaluate(point)
        expected = sum(np.log(pattern_probability(row, skill, loading)) for row in answers)
        assert compiled(point) == pytest.approx(expected, rel=1e-6)


def pattern_probability(row, skill, loading):
    def integrand(u):
        p = special.ndtr((special.ndtri(skill) - loading * u) / np.sqrt(1 - loading**2))
        return stats.norm.pdf(u) * np.prod(np.where(row == 1, p, np.where(row == 0, 1 - p, 1)))

    return integrate.quad(integrand, -9, 9, epsabs=1e-12, limit=200)[0]


def compare(answers, draws, seed):
    """Standardised difference of means and ratio of sds of theta_sota, ours over PyMC's."""
    responses = Responses(answers)
    priors = BoardPriors(families=("normal",))
    with build_responses(responses, priors):
        trace = pm.sample(
            draws, tune=draws, chains=2, cores=1, random_seed=seed, progressbar=False,
            target_accept=0.9, compute_convergence_checks=False,
        )  # fmt: skip
    fast = items_posterior(responses, priors, draws=4000, random_seed=seed)
    slow = {name: trace.posterior[name].values for name in ("theta_sota", "winner_skill", "rho")}
    halves = slow["theta_sota"]
    assert abs(halves[0].mean() - halves[1].mean()) < 0.5 * halves.std()
    result = {}
    for name in ("theta_sota", "winner_skill"):
        ours, theirs = fast.draws[name], slow[name].ravel()
        result[name] = (ours.mean() - theirs.mean()) / theirs.std(), ours.std() / theirs.std()
    return result, slow["rho"].mean() - fast.correlation.rho


@pytest.mark.slow
def test_small_matrix_agrees_with_the_exact_route():
    _, answers = simulate(300, 6, 1)
    result, difference = compare(answers, 400, 0)
    for shift, ratio in result.values():
        assert abs(shift) < 0.35
        assert 0.8 < ratio < 1.25
    assert abs(difference) < 0.08


@pytest.mark.slow
def test_thirty_classifiers_and_a_thousand_items():
    _, answers = simulate(1000, 30, 2)
    result, difference = compare(answers, 500, 0)
    for shift, ratio in result.values():
        assert abs(shift) < 0.3
        assert 0.85 < ratio < 1.2
    assert abs(difference) < 0.04
