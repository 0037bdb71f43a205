"""The model of PyMC: likelihood and priors of the exact route, replicates, what it refuses."""

import numpy as np
import pymc as pm
import pytest
from pymc.model.transform.conditioning import remove_value_transforms

from bayes_sota.core.builders import PairedPriors
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.paired.hyperparameters import draw_prior, log_priors, name_draws, read_draws
from bayes_sota.paired.likelihood import PairedLikelihood
from bayes_sota.paired.models import build_model
from bayes_sota.paired.posterior import estimands_of, skills_given
from bayes_sota.paired.replicates import simulate_boards
from bayes_sota.paired.teams import Coordinate, Selection

QUICK = {"mode": "FAST_COMPILE"}


def boards(m: int = 40, copies: int = 0, **options) -> PairedBoards:
    rng = np.random.default_rng(0)
    psi = rng.normal(0.8, 0.03, m)
    x, y = psi + 0.01 * rng.standard_normal(m), psi + 0.02 + 0.015 * rng.standard_normal(m)
    best = int(x.argmax())
    return PairedBoards(*(np.r_[v, np.full(copies, v[best])] for v in (x, y)), **options)


def prior_draws(likelihood: PairedLikelihood, family: str, count: int, seed: int = 0):
    """Hyperparameters of one family by name, near the middle of their prior, and what they say."""
    rng = np.random.default_rng(seed)
    _, t, noise = draw_prior(likelihood, count, rng)
    shape = FAMILIES[family]
    t = 0.5 * t[:, : shape.dimension]
    index = np.full(count, list(FAMILIES).index(family))
    named = name_draws(likelihood, index, t, noise)
    psi, _, _ = skills_given(likelihood, shape, t, noise, rng)
    draws = estimands_of(likelihood, noise, psi, 0, Coordinate(None), rng) | named
    return {name: values for name, values in draws.items() if name != "family" and values.size}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("ex-gaussian", {"standard_errors": (0.02, 0.02), "copies": 5}),
        ("ex-gaussian", {"m": 60, "submissions": [1 + i % 7 * 9 for i in range(60)]}),
        pytest.param("normal", {"m": 60}, marks=pytest.mark.slow),
    ],
)
def test_likelihood_and_priors_are_those_of_the_exact_route(family: str, options: dict) -> None:
    found = boards(**options)
    selection = Selection.of_boards(found)
    likelihood = PairedLikelihood.of_teams(found, selection.teams, PairedPriors())
    draws = prior_draws(likelihood, family, 3)
    t, noise = read_draws(likelihood, draws)
    _, expected, _ = skills_given(likelihood, FAMILIES[family], t, noise, np.random.default_rng(0))
    expected = expected[:, selection.group] / np.bincount(selection.group)[selection.group]
    priors = log_priors(likelihood, draws)
    model = remove_value_transforms(build_model(found, family=family))
    names = [v.name for v in model.free_RVs]
    assert set(names) == set(priors)
    variables = [*model.free_RVs, model["score"]]
    densities = model.compile_fn(
        model.logp(variables, sum=False), inputs=model.value_vars, mode="FAST_COMPILE"
    )
    for i in range(3):
        *of_priors, scores = densities({name: np.asarray(draws[name][i]) for name in names})
        np.testing.assert_allclose(scores, expected[i], atol=0.01)  # one grid is coarser
        # normals at the nodes of the luck are narrower: linear interpolation is coarser for them
        most = 0.002 if "submissions" in options else 0.0005
        assert np.median(np.abs(scores - expected[i])) < most
        for name, one in zip(names, of_priors, strict=True):
            np.testing.assert_allclose(one, priors[name][i], atol=1e-4, err_msg=name)


@pytest.mark.slow
def test_replicates_are_those_of_the_exact_route() -> None:
    """Prior predictive scores, which the selection binds, by PyMC and by NumPy."""
    found = boards(60, n_test=(500, 900))
    likelihood = PairedLikelihood.of_teams(found, Selection.of_boards(found).teams, PairedPriors())
    assert likelihood.teams.threshold is not None
    with build_model(found, family="plateau"):
        sampled = pm.sample_prior_predictive(400, random_seed=1, compile_kwargs=QUICK)
    theirs = sampled["prior_predictive"]["score"].values[0]
    rng = np.random.default_rng(2)
    _, t, noise = draw_prior(likelihood, 400, rng)
    index = np.full(400, list(FAMILIES).index("plateau"))
    _, ours = simulate_boards(likelihood, Coordinate(found.n_test), index, t, noise, rng)
    limits = Coordinate(found.n_test).printed(np.array(likelihood.teams.threshold))
    step = 1 / np.array(found.n_test)
    for scores in (ours, theirs):
        assert np.all(np.any(scores >= limits - step, axis=-1))
        counts = scores * found.n_test
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)
    for statistic in (np.mean, np.std, np.max):
        a, b = (statistic(s, axis=1) for s in (ours, theirs))
        error = np.hypot(a.std(axis=0), b.std(axis=0)) / 20
        assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error)
