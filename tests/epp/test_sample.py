"""Sampled skills, and the quick posterior, agree with integrals and with maximum likelihood."""

from functools import cache

import arviz as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr
from data.files import refused
from prior_draws import prior_trace
from schema_names import check_names
from scipy import stats
from scipy.integrate import quad
from simulated_tournaments import simulate_tournament

import bayes_sota as bs
from bayes_sota import ScoreTable, epp_table, read_result, sample_epp, save_result
from bayes_sota.epp import build_model, complete, order_rounds, ranking_log_likelihood
from bayes_sota.epp.counts import ranks_of_rounds
from bayes_sota.epp.sample import infer_skills

TABLE = ScoreTable(
    [[3, 2, 1], [3, 1, 2], [2, 3, 1], [3, 2, 2], [1, 2, 3], [3, 2, 1]], players=["a", "b", "c"]
)


PLANE = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])


@cache
def posterior_on_a_grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardised skills, their sd, and posterior weights: no chain."""
    side, steps = np.linspace(-4.5, 4.5, 41), (np.arange(75) + 0.5) * 0.12
    u, v, spread = np.meshgrid(side, side, steps, indexing="ij")
    offset = np.stack([u, v], axis=-1) @ PLANE
    skills = spread[..., None] * offset
    ranks = np.array([[2, 1, 0], [2, 0, 1], [1, 2, 0], [1, 0, 0], [0, 1, 2], [2, 1, 0]])
    likelihood = ranking_log_likelihood(
        skills[..., None, :], np.zeros(6, int), order_rounds(ranks)
    ).sum(axis=-1)
    weight = np.exp(likelihood - (u**2 + v**2) / 2 - (spread / 2) ** 2 / 2)
    return offset.reshape(-1, 3), spread.ravel(), weight.ravel() / weight.sum()


@cache
def model() -> pm.Model:
    return build_model(TABLE)


@cache
def tree() -> xr.DataTree:
    trace = drawn_of(model(), 400)
    del trace["constant_data"]  # as another program would give it
    return complete(trace, TABLE, model(), random_seed=1)


def drawn_of(of: pm.Model, draws: int) -> xr.DataTree:
    return prior_trace(of, np.random.default_rng(3), draws=draws, chains=1)


@pytest.mark.slow
def test_draws_become_a_whole_result(tmp_path) -> None:
    """Groups and names of the schema, and a file."""
    found = tree()
    check_names(found)
    assert set(found.children) >= {"prior", "log_prior", "prior_predictive"}
    assert found.attrs["model_name"] == "unnamed"
    assert set(found["posterior"]) == set(found["prior"])
    assert set(found["posterior"]) == {"epp", "skill_sd", "skill_offset", "rank"}
    again = complete(drawn_of(model(), 8), TABLE, model())["constant_data"]  # with the data of PyMC
    assert set(again.coords) == {"tournament", "round"}
    assert list(bs.summarize(found).index[:3]) == ["epp[a]", "epp[b]", "epp[c]"]
    orders, epp = order_rounds(ranks_of_rounds(TABLE.oriented)), found["posterior"]["epp"].values
    expected = ranking_log_likelihood(epp[..., None, :], np.zeros(6, int), orders)
    np.testing.assert_allclose(found["log_likelihood"]["round_rank"], expected)
    again = read_result(save_result(found, tmp_path / "epp.nc"))
    assert epp_table(again).frame.equals(epp_table(found).frame)


@pytest.mark.slow
def test_prior_and_replicates_have_the_laws_of_theory() -> None:
    found = tree()
    draws = found["prior"]["skill_sd"].values.ravel()
    assert draws.size == 400
    assert stats.kstest(draws, stats.halfnorm(scale=2).cdf).pvalue > 1e-3
    epp = found["prior"]["epp"].values.reshape(-1, 3) / draws[:, None]
    assert np.cov(epp.T) == pytest.approx(np.eye(3) - 1 / 3, abs=0.2)
    # replicated rankings: the best of a round is a player with the share of their odds
    for group, skills in (("posterior_predictive", "posterior"), ("prior_predictive", "prior")):
        odds = np.exp(found[skills]["epp"].values)
        share = odds / odds.sum(axis=-1, keepdims=True)
        best = found[group]["round_rank"].values.max(axis=-1, keepdims=True)
        won = np.mean(found[group]["round_rank"].values == best, axis=-2)  # of six rounds
        error = np.std(won - share, axis=(0, 1)) / np.sqrt(won[..., 0].size)
        assert np.all(np.abs((won - share).mean(axis=(0, 1))) < 4 * error)
        expected = np.sqrt(np.mean(share * (1 - share)))
        # 4 standard errors: the ratio has an sd of .026 over seeds; equal rounds would give 2.4
        assert np.sqrt(6) * np.std(won - share) == pytest.approx(expected, rel=0.105)


@pytest.mark.slow
def test_a_trace_of_something_else_is_refused() -> None:
    other = ScoreTable(TABLE.scores[::-1], players=list("abc"))
    wrong = [
        ("of other data than those given", (drawn_of(model(), 5), other, model())),
        ("of other data than those given", (drawn_of(model(), 5), None, build_model(other))),
        ("data must be ScoreTables or Matches", (drawn_of(model(), 5), None)),
        ("needs skills 'epp'", (drawn_of(model(), 5), None, pm.Model())),
    ]
    for message, given in wrong:
        refused(message, complete, *given)


@pytest.mark.slow
def test_rankings_agree_with_quadrature() -> None:
    tree = sample_epp(
        model(), draws=800, tune=500, chains=2, target_accept=0.95,
        random_seed=np.random.default_rng(3), specification="epp",
    )  # fmt: skip
    spec = bs.load_model("epp")
    assert spec.provenance == {k: tree.attrs[k] for k in ("model_name", "model_hash")}
    assert tree.attrs["divergences"] <= 2
    posterior = tree["posterior"].to_dataset()
    assert float(az.rhat(posterior[["epp"]])["epp"].max()) < 1.02
    offset, sd_of_skills, weight = posterior_on_a_grid()
    skills = sd_of_skills[:, None] * offset
    mean, spread = weight @ skills, float(weight @ sd_of_skills)
    sd = np.sqrt(weight @ (skills - mean) ** 2)
    error = az.mcse(posterior[["epp", "skill_sd"]])
    over = ("chain", "draw")
    assert np.all(np.abs(posterior["epp"].mean(over) - mean) < 4 * error["epp"] + 0.005)
    assert posterior["epp"].std(over).values == pytest.approx(sd, rel=0.1)
    assert abs(posterior["skill_sd"].mean() - spread) < 4 * error["skill_sd"] + 0.02
    assert np.abs(posterior["epp"].sum("player")).max() < 1e-9
    assert {"logp", "n_steps", "diverging", "energy"} <= set(tree["sample_stats"])


FIT = bs.fit_epp(simulate_tournament([1.2, 0.4, 0.0, -1.5], 30, step=0.3, random_seed=2))


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_means_and_sds_are_integrals_over_the_spread(scale: float) -> None:
    tree = infer_skills(FIT, bs.core.EppPriors(scale), draws=5000, random_seed=1)
    covariance = FIT.inflation * FIT.covariance_model
    error, squares = np.trace(covariance) / 3, float(FIT.epp @ FIT.epp)

    def density(sd: float) -> float:
        total = sd**2 + error
        return stats.chi2.pdf(squares / total, 3) / total * stats.halfnorm.pdf(sd, scale=scale)

    def mean(of) -> float:
        ends = {"a": 1e-6, "b": 8 * scale, "limit": 200, "epsabs": 1e-12}
        return quad(lambda sd: density(sd) * of(sd), **ends)[0] / quad(density, **ends)[0]

    def skills(sd: float) -> tuple[np.ndarray, np.ndarray]:
        """Normal law given the sd, by the formula of regression."""
        prior = sd**2 * (np.eye(4) - 0.25)
        gain = prior @ np.linalg.pinv(prior + covariance)
        return gain @ FIT.epp, np.diagonal(prior - gain @ prior)

    draws = tree["posterior"]["epp"].values.reshape(-1, 4)
    assert np.abs(draws.sum(axis=1)).max() < 1e-12
    for i in range(4):
        first = mean(lambda sd, i=i: skills(sd)[0][i])
        second = mean(lambda sd, i=i: skills(sd)[1][i] + skills(sd)[0][i] ** 2)
        sd = np.sqrt(second - first**2)
        assert draws[:, i].mean() == pytest.approx(first, abs=4 * sd / np.sqrt(len(draws)))
        assert draws[:, i].std() == pytest.approx(sd, rel=0.03)
    spread = tree["posterior"]["skill_sd"].values
    assert spread.mean() == pytest.approx(mean(lambda sd: sd), rel=0.02)


def test_the_prior_and_predictions_follow_from_the_model() -> None:
    tree = infer_skills(FIT, draws=3000, random_seed=3)
    check_names(tree)
    assert set(tree["prior"]) == set(tree["posterior"]) == {"epp", "rank", "skill_sd"}
    sd = tree["prior"]["skill_sd"].values.ravel()
    assert stats.kstest(sd, stats.halfnorm(scale=2).cdf).pvalue > 1e-3
    scaled = tree["prior"]["epp"].values.reshape(-1, 4) / sd[:, None]
    np.testing.assert_allclose(np.cov(scaled.T), np.eye(4) - 0.25, atol=0.05)
    fresh = tree["posterior_predictive"]["epp_estimate"].values - tree["posterior"]["epp"].values
    covariance = np.cov(fresh.reshape(-1, 4).T)
    np.testing.assert_allclose(covariance, FIT.inflation * FIT.covariance_model, atol=0.01)


def test_equal_estimates_have_draws() -> None:
    latin = bs.epp.fit_epp([[4, 3, 2, 1], [1, 4, 3, 2], [2, 1, 4, 3], [3, 2, 1, 4]])
    tree = infer_skills(latin, draws=500)
    assert np.abs(tree["posterior"]["epp"].mean()).item() < 0.1
    table = bs.epp.report_fit(latin)
    assert "1, 2, 3 and 4 share the highest estimated skill (EPP), 0.00." in table.sentences
