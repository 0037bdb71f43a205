"""The PyMC model of tasks, clusters and runs has the likelihood and the skills of SciPy."""

import numpy as np
import pymc as pm
import pytest
from scipy import integrate, special, stats

from bayes_sota.core.errors import InputError
from bayes_sota.data.responses import Responses
from bayes_sota.items.models import build_model

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:DeprecationWarning")
    for message in (
        "RandomVariable Ops will stop hiding the rng output",
        "Calling a RandomVariable without an explicit rng",
    )
]
UNOPTIMISED = {"mode": "FAST_COMPILE"}  # no compilation: a few evaluations only
TASKS = ["art"] * 5 + ["law"] * 4 + ["tax"] * 3
CLUSTERS = [str(number // 2) for number in range(12)]


def answers(runs, clusters=CLUSTERS, **options):
    """Shares of right runs; as many for all, or different numbers for each."""
    rng = np.random.default_rng(0)
    shares = rng.integers(0, runs, (12, 3), endpoint=True) / runs
    return Responses(shares, n_runs=runs, tasks=TASKS, clusters=clusters, **options)


def at_some_point(model, *outputs):
    """Log probability of the data, and these variables, at one random point."""
    rng = np.random.default_rng(1)
    point = {
        name: np.asarray(value + 0.5 * rng.standard_normal(value.shape))
        for name, value in model.initial_point().items()
    }
    logp = model.compile_logp(vars=model.observed_RVs, sum=True, **UNOPTIMISED)(point)
    values = model.compile_fn(
        model.replace_rvs_by_values(list(outputs)), inputs=model.value_vars,
        on_unused_input="ignore", **UNOPTIMISED,
    )  # fmt: skip
    return logp, values(point)


@pytest.mark.parametrize(
    "runs", [3, np.random.default_rng(2).integers(1, 6, (12, 3))], ids=["equal", "different"]
)
def test_likelihood_of_counts_against_scipy(runs):
    responses = answers(runs)
    model = build_model(responses)
    log_odds, concentration, _ = model["right"].owner.op.dist_params(model["right"].owner)
    found, (odds, phi) = at_some_point(model, log_odds, concentration)
    right, p = np.rint(responses.values * runs), special.expit(odds)
    expected = stats.betabinom.logpmf(right, runs, p * phi, (1 - p) * phi).sum()
    assert found == pytest.approx(expected, rel=1e-9)


def test_likelihood_of_single_answers_against_scipy():
    correct = np.random.default_rng(3).random((12, 3)) < 0.7
    model = build_model(Responses(correct, tasks=TASKS))
    log_odds = model["right"].owner.op.dist_params(model["right"].owner)[0]
    found, (odds,) = at_some_point(model, log_odds)
    assert found == pytest.approx(stats.bernoulli.logpmf(correct, special.expit(odds)).sum())


def test_skills_against_adaptive_quadrature():
    model = build_model(answers(3, average={"art": 1, "law": 2, "tax": 5}))
    names = (
        "location", "task_sd", "task_offset", "interaction_sd", "interaction_offset",
        "log_spread", "skill_offset", "item_sd", "cluster_sd", "cluster_interaction_sd",
    )  # fmt: skip
    outputs = [model[name] for name in (*names, "skill_of_task", "skill")]
    _, (*effects, by_task, skill) = at_some_point(model, *outputs)
    place, task_sd, task, extra_sd, extra, spread, entry, *sds, cluster_extra_sd = effects
    level = place + task_sd * task + np.exp(spread) * entry[:, None] + extra_sd * extra.T
    sd = np.sqrt(np.sum(np.square(sds)) + cluster_extra_sd**2 * 2 / 3)

    def mean(middle):
        return integrate.quad(
            lambda z: special.expit(middle + sd * z) * stats.norm.pdf(z), -10, 10, limit=200
        )[0]

    expected = np.vectorize(mean)(level)
    np.testing.assert_allclose(by_task, expected, atol=1e-5)
    np.testing.assert_allclose(skill, expected @ [1 / 8, 2 / 8, 5 / 8], atol=1e-5)


def test_prior_predictive_counts_lie_between_none_and_all_runs():
    runs = np.random.default_rng(2).integers(1, 6, (12, 3))
    with build_model(answers(runs)):
        tree = pm.sample_prior_predictive(30, random_seed=0, compile_kwargs=UNOPTIMISED)
    drawn = tree["prior_predictive"]["right"]
    assert drawn.dims == ("chain", "draw", "item", "classifier")
    assert drawn.min() == 0
    assert np.all(drawn.values.max(axis=(0, 1)) == runs)


def test_what_is_no_count_is_refused():
    with pytest.raises(InputError, match=r"'2' has the share 0\.25 for item '1', no multiple of"):
        build_model(Responses([[0.5, 0.25], [1.0, 0.5]], n_runs=2))
    with pytest.raises(InputError, match="without passes"):
        build_model(answers(3, passes=(2, False)))
