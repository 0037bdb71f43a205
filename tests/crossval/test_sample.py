"""Results of NUTS against the correlated Student t, and with known effects."""

import numpy as np
import pytest
from calibration.crossval_coverage import Sampler, simulate_learners
from schema_names import check_names

import bayes_sota as bs
from bayes_sota.crossval.estimates import correlated_t
from bayes_sota.crossval.fold_scores import FoldScores, relative_scores


def runs(seed: int = 0, learners: int = 2) -> FoldScores:
    rng = np.random.default_rng(seed)
    means = 0.8 + 0.02 * np.arange(learners)[None, :, None, None]
    return FoldScores(rng.normal(means, 0.05, (1, learners, 30, 10)))


@pytest.mark.slow
def test_one_data_set_agrees_with_the_correlated_t() -> None:
    """30 iterations: wide priors and the ratio of partitions matter little beside 1 / (k - 1)."""
    given = runs()
    priors = bs.core.CrossValidationPriors(learner_scale=50.0, interaction_scale=50.0)
    tree = bs.crossval.sample_comparison(given, priors=priors, draws=500, tune=500, random_seed=0)
    draws = tree["posterior"]["task_difference"].values.ravel()
    p_best = tree["point_estimate"]["p_best"].values
    assert p_best == pytest.approx([np.mean(draws > 0), np.mean(draws < 0)])
    exact = correlated_t(given)
    assert draws.mean() == pytest.approx(exact.mean, abs=0.1 * exact.scale)
    assert draws.std() == pytest.approx(exact.scale, rel=0.05)
    assert np.mean(draws > 0) == pytest.approx(exact.p_better(), abs=0.02)
    found = bs.diagnose(tree)  # so wide a prior makes a few of 2,000 draws diverge
    assert found["r_hat"] < 1.02
    assert found["ess_bulk"] > 400
    assert found["divergences"] < 20
    check_names(tree)
    again = tree["predictions"]["canonical_difference"]
    assert float(again.std()) == pytest.approx(0.05 * np.sqrt(2 / 10), rel=0.15)
    assert float(again.mean()) == pytest.approx(exact.mean, abs=0.003)
    known = tree["constant_data"].to_dataset()
    assert float(known["observed_difference"].item()) == pytest.approx(exact.mean)
    assert known["n_iterations"].values.tolist() == [30]


@pytest.mark.slow
def test_intervals_hold_known_effects() -> None:
    """Three simulated studies; tests/calibration/crossval_coverage.py has more."""
    rng, inside, sampler = np.random.default_rng(20_261_122), [], None
    for replicate in range(3):
        truth, given = simulate_learners(rng)
        sampler = sampler or Sampler(given)
        draws = sampler.draws(relative_scores(given).values, replicate)["task_difference"]
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        true = truth.differences()["task_difference"]
        inside.append((low <= true) & (true <= high))
    assert 0.88 < np.mean(inside) <= 1
