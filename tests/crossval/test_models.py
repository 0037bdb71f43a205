"""The model of learners against SciPy's laws, and its integrated parts against simulation."""

import numpy as np
import pymc as pm
import pytest
from data.files import refused
from scipy import linalg, stats

from bayes_sota.core.priors import CrossValidationPriors
from bayes_sota.crossval.fold_scores import FoldScores, relative_scores
from bayes_sota.crossval.models import build_model, relative_logp, steady_logp

RNG = np.random.default_rng(0)
RUNS = FoldScores(RNG.normal(0.8, 0.05, (2, 3, 4, 5)), tasks=["x", "y"], learners=list("abc"))


def basis(size: int) -> np.ndarray:
    """Orthonormal coordinates of numbers that add up to 0, (size, size - 1)."""
    return linalg.null_space(np.ones((1, size)))


def zero_sum(*shape: int) -> np.ndarray:
    values = RNG.normal(size=shape)
    return values - values.mean(axis=-1, keepdims=True)


@pytest.mark.parametrize("folds", [1, 2, 5])
def test_the_likelihood_is_that_of_the_laws_it_says(folds: int) -> None:
    values, steady = zero_sum(3, folds, 4), zero_sum(2, 4)
    variance, scale = RNG.gamma(2, 1, (2, 4)), RNG.gamma(2, 0.2, (2, 4))
    task = np.array([0, 1, 1])
    found = relative_logp(values, task, steady, variance, scale).eval()
    b, of_folds = basis(4), linalg.null_space(np.ones((1, folds)))
    for i, t in enumerate(task):
        mean = np.sqrt(folds) * (values[i].mean(axis=0) - steady[t])
        law = stats.multivariate_normal(np.zeros(3), folds * b.T @ np.diag(scale[t]) @ b)
        expected = law.logpdf(b.T @ mean)
        if folds > 1:
            inside = stats.multivariate_normal(np.zeros(3), b.T @ np.diag(variance[t]) @ b)
            expected += inside.logpdf(of_folds.T @ values[i] @ b).sum()
        assert found[i] == pytest.approx(expected)


def test_steady_states_share_effects_that_are_integrated_out() -> None:
    values, variance, sd, b = zero_sum(3, 4), RNG.gamma(2, 1, (3, 4)), 0.7, basis(4)
    covariance = linalg.block_diag(*(b.T @ np.diag(each) @ b for each in variance))
    covariance += sd**2 * np.kron(np.ones((3, 3)), np.eye(3))
    expected = stats.multivariate_normal(np.zeros(9), covariance).logpdf((values @ b).ravel())
    assert steady_logp(values, variance, sd).sum().eval() == pytest.approx(expected)


def test_relative_scores_are_those_of_completed_iterations() -> None:
    scores = RUNS.scores.copy()
    scores[1, 2, 0, 3] = np.nan
    given = FoldScores(scores, tasks=["x", "y"])
    assert given.notes == ("1 iteration that not all learners completed",)
    found = relative_scores(given)
    assert found.values.shape == (7, 5, 3)
    assert found.labels[3:5] == ["x: 3", "y: 1"]
    assert found.values.sum(axis=2) == pytest.approx(0)
    assert found.iterations.tolist() == [4, 3]
    whole = relative_scores(RUNS)
    scores, means = RUNS.scores.mean(axis=(2, 3)), whole.task_means
    assert means[:, 0] - means[:, 1] == pytest.approx(scores[:, 0] - scores[:, 1])
    assert whole.unit == pytest.approx(0.05, rel=0.2)


@pytest.mark.slow
def test_every_law_of_the_prior_comes_back_in_its_draws() -> None:
    """s - mu, integrated out of the model, has the variance and no correlation that it must."""
    priors = CrossValidationPriors(interaction_tails=60.0)
    with build_model(RUNS, priors, unit=1.0):
        drawn = pm.sample_prior_predictive(3000, random_seed=0, compile_kwargs={"mode": "NUMBA"})
    prior = drawn["prior"].to_dataset().isel(chain=0)
    a, b = 0, 1
    shared = prior["steady_state"].values - prior["task_effect"].values
    c, fold = np.exp(prior["log_partition_ratio"].values), prior["fold_sd"].values
    variance = fold**2 / 4 * (1 - (1 - c**2) / 5)
    np.testing.assert_allclose(prior["shared_sd"].values ** 2, variance)
    shared = (shared[:, 0, a] - shared[:, 0, b]) / np.sqrt(variance[:, 0, [a, b]].sum(axis=1))
    assert stats.kstest(shared, "norm").pvalue > 0.01
    own = prior["task_effect"].values - prior["learner_effect"].values[:, None]
    own = own[:, 0, a] - own[:, 0, b]
    own /= prior["interaction_sd"].values * np.sqrt(
        (1 / prior["interaction_precision"].values[:, 0, [a, b]]).sum(axis=1)
    )
    assert stats.kstest(own, "norm").pvalue > 0.01
    assert abs(np.corrcoef(own, shared)[0, 1]) < 0.06
    scores = drawn["prior_predictive"]["relative_score"].values[0]
    gap = scores.mean(axis=2) - prior["steady_state"].values[:, [0] * 4 + [1] * 4]
    gap = (gap[..., a] - gap[..., b])[:, 0]
    gap /= np.sqrt((prior["partition_sd"].values[:, 0, [a, b]] ** 2).sum(axis=1))
    assert np.std(gap) == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: build_model(FoldScores(RUNS.scores[:, :1])), "at least 2 learners"),
        (lambda: build_model(FoldScores(np.ones((2, 3, 4)))), "never vary"),
        (lambda: build_model(RUNS, unit=0.0), "unit must be"),
    ],
)
def test_what_is_refused(call, message: str) -> None:
    refused(message, call)
