"""Sampled skills agree with quadrature and with maximum likelihood, in the one schema."""

import warnings
from pathlib import Path

import arviz as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr
from scipy import stats

from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.core.schema import ATTRIBUTES, GROUPS
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.counts import ranks_of_rounds
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.likelihoods import log_outcomes, order_rounds, ranking_log_likelihood
from bayes_sota.epp.models import build_epp, field_of
from bayes_sota.epp.sample import SampledMatches, log_likelihood_of, replicate, sample_epp
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.summary import epp_win_probability, summarize_epp

TABLE = ScoreTable(
    [[3, 2, 1], [3, 1, 2], [2, 3, 1], [3, 2, 2], [1, 2, 3], [3, 2, 1]], players=["a", "b", "c"]
)


def posterior_by_quadrature() -> tuple[np.ndarray, np.ndarray, float]:
    """Means and sds of the three skills, and the mean of their sd: sums over a grid, no chain."""
    side, steps = np.linspace(-4.5, 4.5, 41), (np.arange(75) + 0.5) * 0.12
    u, v, spread = np.meshgrid(side, side, steps, indexing="ij")
    plane = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    skills = spread[..., None] * (np.stack([u, v], axis=-1) @ plane)
    ranks = np.array([[2, 1, 0], [2, 0, 1], [1, 2, 0], [1, 0, 0], [0, 1, 2], [2, 1, 0]])
    likelihood = ranking_log_likelihood(
        skills[..., None, :], np.zeros(6, int), order_rounds(ranks)
    ).sum(axis=-1)
    weight = np.exp(likelihood - (u**2 + v**2) / 2 - (spread / 2) ** 2 / 2)
    weight /= weight.sum()
    of_skills, over = weight[..., None], (0, 1, 2)
    mean = np.sum(of_skills * skills, axis=over)
    sd = np.sqrt(np.sum(of_skills * (skills - mean) ** 2, axis=over))
    return mean, sd, float(np.sum(weight * spread))


def test_rankings_agree_with_quadrature_and_the_result_is_whole(tmp_path: Path) -> None:
    """The one model that is sampled here."""
    tree = sample_epp(
        build_epp(TABLE), draws=800, tune=500, chains=2, target_accept=0.95,
        random_seed=np.random.default_rng(3), predictive=200, model_name="three",
    )  # fmt: skip
    assert tree.attrs["divergences"] <= 2
    posterior = tree["posterior"].to_dataset()
    assert float(az.rhat(posterior[["epp"]])["epp"].max()) < 1.02
    mean, sd, spread = posterior_by_quadrature()
    error = az.mcse(posterior[["epp", "skill_sd"]])
    over = ("chain", "draw")
    assert np.all(np.abs(posterior["epp"].mean(over) - mean) < 4 * error["epp"] + 0.005)
    assert posterior["epp"].std(over).values == pytest.approx(sd, rel=0.1)
    assert abs(posterior["skill_sd"].mean() - spread) < 4 * error["skill_sd"] + 0.02
    assert np.abs(posterior["epp"].sum("player")).max() < 1e-9
    assert set(posterior) == {"epp", "skill_sd", "rank"}
    assert tree["log_likelihood"]["round_rank"].dims == ("chain", "draw", "round")
    loglik_sum = tree["log_likelihood"]["round_rank"].mean(over).sum()
    assert set(tree.children) <= set(GROUPS)
    assert set(ATTRIBUTES) <= set(tree.attrs)
    assert (tree.attrs["model_name"], tree.attrs["ties"]) == ("three", "half")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # six rounds: each of them matters
        assert az.loo(tree).elpd == pytest.approx(float(loglik_sum), abs=4)
    assert 0.02 < tree["posterior_predictive"].attrs["deviance_p_value"] < 0.98
    total = tree["posterior_predictive"]["wins"].sum(("player", "player_other"))
    assert np.all(total == 18)  # three matches in each of six rounds
    again = read_result(save_result(tree, tmp_path / "epp.nc"))
    assert summarize_epp(again).equals(summarize_epp(tree))


def draws_of(
    players: list[str], seed: int, **more: tuple[tuple[str, ...], np.ndarray]
) -> xr.Dataset:
    """Two chains of five draws of skills, with more variables."""
    skills = np.random.default_rng(seed).normal(0, 1, (2, 5, len(players)))
    skills -= skills.mean(axis=-1, keepdims=True)
    content = {"epp": (("chain", "draw", "player"), skills)}
    content |= {k: (("chain", "draw", *dims), values) for k, (dims, values) in more.items()}
    coords = {"chain": [0, 1], "draw": range(5), "player": players}
    return xr.Dataset(content, coords)


def sampled(model: pm.Model, posterior: xr.Dataset) -> SampledMatches:
    field = field_of(model)
    assert field is not None
    return SampledMatches(field, posterior)


def prior_of(model: pm.Model, draws: int) -> xr.DataTree:
    """Draws of everything, as a sampler would give them."""
    quick = {"mode": "FAST_COMPILE"}
    prior = pm.sample_prior_predictive(draws, model, random_seed=3, compile_kwargs=quick)
    return xr.DataTree.from_dict({"posterior": prior["prior"].to_dataset()})


def likelihood_of(model: pm.Model, posterior: xr.Dataset) -> xr.DataArray:
    weights = model["likelihood_weight"].get_value()
    return sampled(model, posterior).log_likelihood(weights)["match_counts"]


@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_log_likelihood_of_matches_adds_up_to_pairs_and_counts_ties(ties: str) -> None:
    table = simulate_tournament([1, 0, -1], 5, step=1.0, random_seed=1, players=list("abc"))
    model = build_epp(table, ties=ties, likelihood="matches")
    more = {}
    if ties != "half":
        p = np.random.default_rng(1).uniform(0.1, 0.4, (2, 5))
        name = "davidson_nu" if ties == "davidson" else "rao_kupper_theta"
        more = {"p_tie": ((), p), name: ((), p)}
    posterior = draws_of(list("abc"), 0, **more)
    found = likelihood_of(model, posterior)
    weight = float(model["likelihood_weight"].get_value()[0])
    epp = posterior["epp"].values[0, 2]
    p_tie = posterior["p_tie"].values[0, 2] if more else None
    for r, row in enumerate(table.scores):
        expected = 0.0
        for i, j in ((0, 1), (0, 2), (1, 2)):
            outcome = 1 - int(np.sign(row[i] - row[j]))
            expected += weight * log_outcomes(epp[i] - epp[j], p_tie, ties)[outcome]
        assert found.values[0, 2, r] == pytest.approx(expected, rel=1e-12)
    fresh = replicate(model, prior_of(model, 5), 10, np.random.default_rng(0))
    assert ("n_ties" in fresh) == (ties != "half")
    assert ties == "half" or fresh["n_ties"].sum() > 0
    assert np.all(fresh["wins"].sum(("player", "player_other")) == 15)
    assert np.all(fresh["deviance"] > 0)


def test_units_of_listed_matches() -> None:
    names = (list("aabbc"), list("bcccb"), [1, 0.5, 0, 1, 1])
    posterior = draws_of(list("abc"), 0)
    for clusters, unit, size in ((None, "match", 5), ([0, 0, 1, 1, 2], "cluster", 3)):
        model = build_epp(Matches.from_names(*names, clusters=clusters))
        found = likelihood_of(model, posterior)
        assert found.dims == ("chain", "draw", unit)
        assert found.sizes[unit] == size
        assert np.all(found < 0)


def test_replicated_rankings_win_as_often_as_bradley_and_terry_say() -> None:
    model = build_epp(simulate_tournament([1, 0, -1], 4000, random_seed=1, players=list("abc")))
    drawn = prior_of(model, 1)
    fresh = replicate(model, drawn, 1, np.random.default_rng(0))
    skills = drawn["posterior"]["epp"].values[0, 0]
    expected = 1 / (1 + np.exp(skills - skills[:, None]))
    off = ~np.eye(3, dtype=bool)
    assert fresh["wins"].values[0, 0][off] / 4000 == pytest.approx(expected[off], abs=0.03)
    assert "n_ties" not in fresh


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_weighted_matches_agree_with_the_clustered_fit(ties: str) -> None:
    """Many rounds: posterior means and sds are the sandwich's; ties as half only share the mean."""
    table = simulate_tournament([1.2, 0.4, -0.2, -1.4], 120, step=0.6, random_seed=5)
    fit = fit_epp(table)
    model = build_epp(table, ties=ties, likelihood="matches", skill_scale=5.0)
    tree = sample_epp(model, random_seed=1, predictive=100)
    assert tree.attrs["divergences"] == 0
    table_of = summarize_epp(tree).loc[list(table.players)]
    ratio = table_of["mean"].to_numpy() / fit.epp
    # Davidson's skills are those of decided matches, Rao and Kupper's of a longer scale
    assert np.ptp(ratio) < 0.15
    assert table_of["sd"].to_numpy() / ratio.mean() == pytest.approx(fit.se, rel=0.25)
    if ties != "half":
        assert 0.02 < tree["posterior_predictive"].attrs["n_ties_p_value"] < 0.98
        assert 0 < epp_win_probability(tree, "1", "2").p_tie < 0.4


@pytest.mark.slow
def test_vtab(data_directory: Path) -> None:
    """Rankings of real scores with ties: near the maximum-likelihood fit, and converged."""
    import pandas as pd

    path = data_directory / "vtab" / "vtab_scores_16x19.csv"
    table = ScoreTable(pd.read_csv(path, index_col=0).T)
    tree = sample_epp(build_epp(table), random_seed=1)
    posterior = tree["posterior"].to_dataset()
    assert float(az.rhat(posterior[["epp"]])["epp"].max()) < 1.01
    assert tree.attrs["divergences"] == 0
    found = summarize_epp(tree)
    assert found.index[0] == "Sup-Rotation-100%"
    fit = fit_epp(table)
    means = found.loc[list(table.players), "mean"].to_numpy()
    assert np.corrcoef(means, fit.epp)[0, 1] > 0.99


def test_log_likelihood_of_an_extended_model_is_the_models_own() -> None:
    model = build_epp(TABLE)
    with model:
        pm.Normal("seen", model["epp"][0], 0.5, observed=0.3)
    with pytest.raises(InputError, match="this model has variables of your own"):
        sample_epp(model, predictive=10)
    drawn = prior_of(model, 20)
    found, epp = log_likelihood_of(model, drawn), drawn["posterior"]["epp"]
    assert found is not None
    assert set(found.data_vars) == {"seen", "round_rank"}
    np.testing.assert_allclose(found["seen"], stats.norm.logpdf(0.3, epp[..., 0], 0.5))
    orders = order_rounds(ranks_of_rounds(TABLE.oriented))
    expected = ranking_log_likelihood(epp.values[..., None, :], np.zeros(6, int), orders)
    np.testing.assert_allclose(found["round_rank"], expected)
