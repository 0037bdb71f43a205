"""The PyMC model of answers has SciPy's likelihood and skills; NUTS agrees with the exact route."""

import numpy as np
import pymc as pm
import pytest
from data.files import refused
from model_values import some_point, terms, values_at
from scipy import integrate, special, stats

from bayes_sota.core.priors import BoardPriors, ItemPriors
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.models import build_model
from bayes_sota.leaderboard.posterior import board_posterior

TASKS = ["art"] * 5 + ["law"] * 4 + ["tax"] * 3
CLUSTERS = [str(number // 2) for number in range(12)]
RIGHT = np.random.default_rng(3).random((12, 3)) < 0.7


def answers(runs, clusters=CLUSTERS, **options):
    """Shares of right runs; as many for all, or different numbers for each."""
    rng = np.random.default_rng(0)
    shares = rng.integers(0, runs, (12, 3), endpoint=True) / runs
    return Outcomes(shares, n_runs=runs, tasks=TASKS, clusters=clusters, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "runs", [3, np.random.default_rng(2).integers(1, 6, (12, 3))], ids=["equal", "different"]
)
def test_likelihood_of_counts_against_scipy(runs):
    responses = answers(runs)
    model = build_model(responses)
    _, *before = model["right"].owner.op.dist_params(model["right"].owner)
    point = some_point(model)
    a, b, log_phi = values_at(model, point, *before, model["log_concentration"])
    right = np.rint(responses.values * runs)
    expected = stats.betabinom.logpmf(right, runs, a, b).sum()
    assert terms(model, point).sum() == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(a + b, np.exp(log_phi))


def test_likelihood_of_single_answers_against_scipy():
    """Of which one is missing."""
    correct = np.where(np.arange(36).reshape(12, 3) == 7, np.nan, RIGHT)
    model = build_model(Outcomes(correct))
    chance = model["right"].owner.op.dist_params(model["right"].owner)[1]
    point = some_point(model)
    (p,) = values_at(model, point, chance)
    each = np.where(np.isnan(correct), 0.0, stats.bernoulli.logpmf(np.nan_to_num(correct), p))
    assert terms(model, point).sum() == pytest.approx(each.sum())


@pytest.mark.slow
@pytest.mark.parametrize("new", ["items", "tasks"])
def test_skills_against_adaptive_quadrature(new):
    model = build_model(answers(3, average={"art": 1, "law": 2, "tax": 5}, new=new))
    names = (
        "task_mean", "task_sd", "task_deviation", "interaction_sd", "interaction_offset",
        "location", "skill_deviation", "item_sd", "cluster_sd", "cluster_interaction_sd",
    )  # fmt: skip
    more = ("skill_of_task",) if new == "items" else ()
    outputs = [model[name] for name in (*more, "skill", *names)]
    values = values_at(model, some_point(model), *outputs)
    (*by_task, skill), effects = values[: 1 + len(more)], values[1 + len(more) :]
    mean_level, task_sd, task, extra_sd, extra, place, entry, *sds, cluster_extra_sd = effects
    variance = np.sum(np.square(sds)) + cluster_extra_sd**2 * 2 / 3
    slope = np.sqrt(1 + 0.346 * variance)

    def mean(middle, variance):
        return integrate.quad(
            lambda z: special.expit(middle + np.sqrt(variance) * z) * stats.norm.pdf(z),
            -10, 10, limit=200,
        )[0]  # fmt: skip

    if new == "tasks":
        variance += slope**2 * (task_sd**2 + extra_sd**2 * 2 / 3)
        expected = np.vectorize(mean)(slope * (place + entry), variance)
        np.testing.assert_allclose(skill, expected, atol=1e-5)
        return
    level = mean_level + task + entry[:, None] + extra_sd * extra.T
    expected = np.vectorize(mean)(slope * level, variance)
    np.testing.assert_allclose(by_task[0], expected, atol=1e-5)
    np.testing.assert_allclose(skill, expected @ [1 / 8, 2 / 8, 5 / 8], atol=1e-5)
    for effect in (task.sum(), entry.sum(), *extra.sum(axis=1)):
        assert effect == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_the_place_of_the_field_has_its_prior_whatever_the_parameters_are():
    """Which sample the mean of the tasks instead: both have the law of a field, then its tasks."""
    priors = ItemPriors(typical=(0.3, 0.9), task_scale=2.0)
    model = build_model(answers(3), priors)
    place, mean, sd = pm.draw(
        [model[name] for name in ("location", "task_mean", "task_sd")], 4000, random_seed=0
    )
    centre, width = priors.location
    assert stats.kstest((place - centre) / width, "norm").pvalue > 1e-3
    assert stats.kstest((mean - place) / sd * np.sqrt(3), "norm").pvalue > 1e-3
    assert abs(stats.pearsonr(place, (mean - place) / sd)[0]) < 4 / np.sqrt(4000)


def test_what_is_no_count_is_refused():
    for data, message in (
        (Outcomes([[0.5, 0.25], [1.0, 0.5]], n_runs=2),
         r"'2' has the share 0\.25 for item '1', no multiple of"),
        (answers(3, passes=(2, False)), "without passes"),
        (Outcomes(np.eye(3), metric="mean"), "right and wrong answers, got <Outcomes"),
        (Outcomes([[1], [0]], names=["a"], tasks=["law", "art"]), "there is only one classifier"),
    ):  # fmt: skip
        refused(message, build_model, data)


@pytest.mark.slow
def test_answers_agree_with_the_exact_route():
    """Answers of one probit factor, which neither route assumes; others: docs/measured."""
    rng, loading = np.random.default_rng(1), 0.85
    skills = special.expit(1.8 + 0.3 * rng.standard_normal(6))
    own = np.sqrt(1 - loading**2) * rng.standard_normal((300, 6))
    right = Outcomes(loading * rng.standard_normal((300, 1)) + own < special.ndtri(skills))
    settings = {"chains": 2, "cores": 1, "progressbar": False, "compute_convergence_checks": False}
    with build_model(right):
        trace = pm.sample(400, tune=400, random_seed=0, target_accept=0.9, **settings)
    halves = trace.posterior["theta_sota"].values
    assert abs(halves[0].mean() - halves[1].mean()) < 0.5 * halves.std()
    fast = board_posterior(right, BoardPriors(families=("normal",)), draws=4000, random_seed=0)
    for name in ("theta_sota", "winner_skill"):
        ours, theirs = fast.draws[name], trace.posterior[name].values
        assert abs(ours.mean() - theirs.mean()) < 0.35 * theirs.std()
        assert 0.8 < ours.std() / theirs.std() < 1.25
