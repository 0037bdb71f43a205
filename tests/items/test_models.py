"""The PyMC model of answers has the likelihood of SciPy; NUTS agrees with the exact route."""

import numpy as np
import pymc as pm
import pytest
from scipy import integrate, special, stats

from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.models import build_model
from bayes_sota.leaderboard.posterior import board_posterior

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:DeprecationWarning")
    for message in (
        "RandomVariable Ops will stop hiding the rng output",
        "Calling a RandomVariable without an explicit rng",
    )
]
UNOPTIMISED = {"mode": "FAST_COMPILE"}  # no compilation: a few evaluations only


def simulate(n, m, seed, loading=0.85):
    rng = np.random.default_rng(seed)
    skills = special.expit(1.8 + 0.3 * rng.standard_normal(m))
    own = np.sqrt(1 - loading**2) * rng.standard_normal((n, m))
    return loading * rng.standard_normal((n, 1)) + own < special.ndtri(skills)


def test_likelihood_of_answers_against_adaptive_quadrature():
    answers = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, -1, 1], [1, 1, 0]])
    model = build_model(Outcomes(answers))
    point = model.initial_point()
    compiled = model.compile_logp(vars=model.observed_RVs, sum=True, **UNOPTIMISED)
    outputs = model.replace_rvs_by_values([model["skill"], model["loading"]])
    evaluate = model.compile_fn(
        outputs, inputs=model.value_vars, on_unused_input="ignore", **UNOPTIMISED
    )
    rng = np.random.default_rng(0)
    for _ in range(3):
        point = {k: np.asarray(v + 0.5 * rng.standard_normal(v.shape)) for k, v in point.items()}
        skill, loading = evaluate(point)
        expected = sum(np.log(pattern_probability(row, skill, loading)) for row in answers)
        assert compiled(point) == pytest.approx(expected, rel=1e-6)


def test_replicated_answers_have_the_skills_and_the_correlation_of_the_model():
    answers = np.ones((4000, 2), dtype=np.int8)
    answers[7, 1] = -1
    model = build_model(Outcomes(answers, names=["a", "b"]))
    skill, loading = np.array([0.9, 0.7]), np.array([0.8, 0.6])
    draw = type(model["items"].owner.op)._random_fn
    rng = np.random.default_rng(1)
    found = draw(skill, loading, np.arange(4000), rng=rng, size=(4000,))
    assert found[7, 1] == -1 == found.min()
    kept = np.delete(found, 7, axis=0)
    np.testing.assert_allclose(kept.mean(axis=0), skill, atol=4 * 0.5 / np.sqrt(4000))
    both = stats.multivariate_normal(cov=[[1, 0.48], [0.48, 1]]).cdf(special.ndtri(skill))
    assert np.mean(kept.all(axis=1)) == pytest.approx(both, abs=4 * 0.5 / np.sqrt(4000))


def pattern_probability(row, skill, loading):
    def integrand(u):
        p = special.ndtr((special.ndtri(skill) - loading * u) / np.sqrt(1 - loading**2))
        return stats.norm.pdf(u) * np.prod(np.where(row == 1, p, np.where(row == 0, 1 - p, 1)))

    return integrate.quad(integrand, -9, 9, epsabs=1e-12, limit=200)[0]


def compare(answers, draws, seed):
    """Standardised difference of means and ratio of sds of theta_sota, ours over PyMC's."""
    responses = Outcomes(answers)
    priors = BoardPriors(families=("normal",))
    with build_model(responses):
        trace = pm.sample(
            draws, tune=draws, chains=2, cores=1, random_seed=seed, progressbar=False,
            target_accept=0.9, compute_convergence_checks=False,
        )  # fmt: skip
    fast = board_posterior(responses, priors, draws=4000, random_seed=seed)
    slow = {name: trace.posterior[name].values for name in ("theta_sota", "winner_skill", "rho")}
    halves = slow["theta_sota"]
    assert abs(halves[0].mean() - halves[1].mean()) < 0.5 * halves.std()
    result = {}
    for name in ("theta_sota", "winner_skill"):
        ours, theirs = fast.draws[name], slow[name].ravel()
        result[name] = (ours.mean() - theirs.mean()) / theirs.std(), ours.std() / theirs.std()
    return result, slow["rho"].mean() - fast.correlation.rho


@pytest.mark.slow
def test_answers_agree_with_the_exact_route():
    """Larger matrices: ``calibration/nuts_against_exact.py``."""
    result, difference = compare(simulate(300, 6, 1), 400, 0)
    for shift, ratio in result.values():
        assert abs(shift) < 0.35
        assert 0.8 < ratio < 1.25
    assert abs(difference) < 0.08
