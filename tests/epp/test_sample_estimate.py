"""The quick posterior against integrals, and its own draws."""

import numpy as np
import pytest
from schema_names import check_names
from scipy import stats
from scipy.integrate import quad
from simulated_tournaments import simulate_tournament

import bayes_sota as bs
from bayes_sota.epp.sample_estimate import infer_skills

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
