"""The model of two boards: likelihood, NUTS, what is refused."""

import numpy as np
import pymc as pm
import pytest

import bayes_sota as bs
from bayes_sota.leaderboard.models_pairs import build_paired
from bayes_sota.leaderboard.pairs import Pairs
from bayes_sota.leaderboard.pairs_posterior import PairFit, fit_pairs

QUICK = {"mode": "FAST_COMPILE"}


def boards(seed: int = 0, m: int = 60, **options) -> bs.PairedBoards:
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.8, 0.04, m)
    given = options or {"n_test": (500, 500)}
    return bs.PairedBoards(*rng.binomial(500, skill, (2, m)) / 500, **given)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("normal", {"n_test": (500, 500)}),
        ("ex-gaussian", {"standard_errors": (0.02, 0.02)}),
        ("ex-gaussian", {"submissions": [1 + i % 7 * 9 for i in range(60)]}),
    ],
)
def test_the_likelihood_is_that_of_the_exact_route(family: str, options: dict) -> None:
    data = boards(**options)
    fit = PairFit.of_pairs(Pairs.of(data), (family,))
    model = build_paired(data, family=family)
    logp = model.compile_fn(model.logp(model["score"]), inputs=model.value_vars, **QUICK)
    for point in ((0.4, -0.5, 0.3), (1.0, 0.2, 0.3)):
        point = np.array(point[: fit.dimension(family)])
        each = fit.log_likelihood(family, point[None])[0]
        expected = np.logaddexp.reduce(each) - np.log(each.size)
        assert float(logp({"coordinates": point})) == pytest.approx(expected, 1e-9)


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route() -> None:
    data = boards(m=120)
    exact = bs.estimate_paired(data, draws=1000, random_seed=0, groups="estimands")
    fit = fit_pairs(Pairs.of(data), np.random.default_rng(0))
    shares = fit.family_weights @ fit.node_weights
    weights, trees = dict(zip(fit.families, shares, strict=True)), {}
    for family in fit.families:
        with build_paired(data, family=family):
            trees[family] = pm.sample(
                draws=1000, tune=500, chains=2, random_seed=1, progressbar=False,
                nuts_sampler="nutpie",
            )  # fmt: skip
        assert trees[family]["sample_stats"]["diverging"].sum() <= 20
        trees[family] = bs.leaderboard.complete(trees[family], data)
    for name in ("location", "spread", "theta_sota", "winner_skill", "rho", "score_shift"):
        values = exact["posterior"][name].values
        moments = {f: tree["posterior"][name].values for f, tree in trees.items()}
        mean = sum(weights[f] * v.mean() for f, v in moments.items())
        square = sum(weights[f] * (v**2).mean() for f, v in moments.items())
        assert abs(mean - values.mean()) < 0.12 * values.std(), name
        assert np.sqrt(square - mean**2) == pytest.approx(values.std(), rel=0.1), name
