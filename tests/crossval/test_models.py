"""The model of learners against SciPy's laws, and its integrated parts against simulation."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy import linalg, stats

from bayes_sota.core.builders import CrossValidationPriors
from bayes_sota.core.errors import InputError
from bayes_sota.crossval import models
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.models import build_model, relative_logp, zero_sum_logp
from bayes_sota.crossval.relative_scores import relative_scores

RNG = np.random.default_rng(0)
RUNS = FoldScores(RNG.normal(0.8, 0.05, (2, 3, 4, 5)), tasks=["x", "y"], learners=list("abc"))


def basis(size: int) -> np.ndarray:
    """Orthonormal coordinates of numbers that add up to 0, (size, size - 1)."""
    return linalg.null_space(np.ones((1, size)))


def zero_sum(*shape: int) -> np.ndarray:
    values = RNG.normal(size=shape)
    return values - values.mean(axis=-1, keepdims=True)


def test_normal_numbers_less_their_mean() -> None:
    variances, means, values = RNG.gamma(2, 1, 4), RNG.normal(size=4), zero_sum(4)
    b = basis(4)
    law = stats.multivariate_normal(b.T @ means, b.T @ np.diag(variances) @ b)
    found = zero_sum_logp(values, means, variances).eval()
    assert found == pytest.approx(law.logpdf(b.T @ values))


@pytest.mark.parametrize("folds", [1, 2, 5])
def test_the_likelihood_is_that_of_the_laws_it_says(folds: int) -> None:
    values, steady = zero_sum(3, folds, 4), zero_sum(2, 4)
    variance, scale, nu = RNG.gamma(2, 1, (2, 4)), RNG.gamma(2, 0.2, (2, 4)), 5.0
    task = np.array([0, 1, 1])
    found = relative_logp(values, task, steady, variance, scale, np.float64(nu)).eval()
    b, of_folds = basis(4), linalg.null_space(np.ones((1, folds)))
    for i, t in enumerate(task):
        mean = np.sqrt(folds) * (values[i].mean(axis=0) - steady[t])
        law = stats.multivariate_t(np.zeros(3), folds * b.T @ np.diag(scale[t]) @ b, df=nu)
        expected = law.logpdf(b.T @ mean)
        if folds > 1:
            inside = stats.multivariate_normal(np.zeros(3), b.T @ np.diag(variance[t]) @ b)
            expected += inside.logpdf(of_folds.T @ values[i] @ b).sum()
        assert found[i] == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("precision", [0.0, 40.0])
@pytest.mark.parametrize("several", [False, True])
def test_coordinates_of_the_sampler_leave_the_law_as_it_is(precision: float, several: bool) -> None:
    """The way there and back, and the volume, whatever the data are taken to tell."""
    told = zero_sum(4)
    law = [np.float64(0.2), np.float64(1.3)]
    transform = models._Standardised(told, np.full(4, precision))
    if several:  # mean, variance, estimate, precision
        law = [np.zeros(4), np.float64(1.7), told, np.float64(precision)]
        transform = models._StandardisedZeroSum([-1])
    free = 3 if several else 4

    def back(x: np.ndarray) -> np.ndarray:
        values = transform.backward(pt.as_tensor(x), *law).eval()
        return basis(4).T @ values if several else values

    at = RNG.normal(size=free)
    values = transform.backward(pt.as_tensor(at), *law)
    assert transform.forward(values, *law).eval() == pytest.approx(at)
    steps = np.array([back(at + x) - back(at - x) for x in 1e-4 * np.eye(free)]) / 2e-4
    volume = transform.log_jac_det(pt.as_tensor(at), *law).eval().sum()
    assert volume == pytest.approx(np.linalg.slogdet(steps)[1], abs=1e-6)
    if not precision and not several:
        assert values.eval() == pytest.approx(0.2 + 1.3 * at)


@pytest.mark.slow
def test_variables_in_other_coordinates_have_the_density_of_their_law() -> None:
    model = build_model(RUNS, unit=1.0)
    names = ["log_fold_sd", "log_partition_ratio", "learner_effect"]
    rvs = [model[name] for name in names]
    given = ["task_log_spread", "log_spread_sd", "typical_log_ratio", "learner_sd"]
    values = model.replace_rvs_by_values([*rvs, *(model[name] for name in given)])
    density = model.logp(rvs, jacobian=False, sum=False)
    point = {name: x + RNG.normal(0, 0.3, x.shape) for name, x in model.initial_point().items()}
    found = model.compile_fn(
        [*values, *density], inputs=model.value_vars, mode="FAST_COMPILE", on_unused_input="ignore"
    )
    sd, ratio, effect, of_task, spread, typical, scale, *density = found(point)
    laws = [
        stats.norm(of_task[:, None], spread).logpdf(sd),
        stats.norm(typical, 0.3).logpdf(ratio),
        stats.norm(0, scale).logpdf(basis(3).T @ effect).sum(),
    ]
    for here, expected in zip(density, laws, strict=True):
        assert here.sum() == pytest.approx(expected.sum())


def test_relative_scores_are_those_of_completed_iterations() -> None:
    scores = RUNS.scores.copy()
    scores[1, 2, 0, 3] = np.nan
    found = relative_scores(FoldScores(scores, tasks=["x", "y"]))
    assert found.values.shape == (7, 5, 3)
    assert found.dropped == 1
    assert found.labels[3:5] == ("x: 3", "y: 1")
    assert found.values.sum(axis=2) == pytest.approx(0)
    assert found.iterations.tolist() == [4, 3]
    whole = relative_scores(RUNS)
    differences = RUNS.scores.mean(axis=(2, 3))
    assert whole.task_means[:, 0] - whole.task_means[:, 1] == pytest.approx(
        differences[:, 0] - differences[:, 1]
    )
    assert whole.unit == pytest.approx(0.05, rel=0.2)


def test_what_all_learners_share_changes_nothing() -> None:
    shared = RNG.normal(size=(2, 1, 4, 5))
    found, usual = relative_scores(FoldScores(RUNS.scores + shared)), relative_scores(RUNS)
    assert found.values == pytest.approx(usual.values, abs=1e-12)
    assert found.unit == pytest.approx(usual.unit)


def test_moments_tell_the_spreads_of_independent_folds() -> None:
    sd = np.array([0.02, 0.05, 0.08])
    scores = sd[:, None, None] * np.random.default_rng(1).normal(size=(2, 3, 300, 10))
    found = relative_scores(FoldScores(scores))
    for estimate, known in (found.log_fold_sd, found.log_partition_ratio):
        assert estimate.shape == known.shape == (2, 3)
    assert np.exp(found.log_fold_sd[0]) == pytest.approx(np.tile(sd, (2, 1)), rel=0.15)
    assert found.log_partition_ratio[0][:, 1:] == pytest.approx(0, abs=0.15)
    two = relative_scores(FoldScores(scores[:, :2]))
    assert np.exp(two.log_fold_sd[0]) == pytest.approx(np.sqrt((sd[:2] ** 2).mean()), rel=0.05)
    once = relative_scores(FoldScores(scores[:, :, :1]))
    assert not once.log_partition_ratio[1].any()
    assert np.isfinite(once.log_partition_ratio[0]).all()


@pytest.mark.slow
def test_every_law_of_the_prior_comes_back_in_its_draws() -> None:
    """s - mu, integrated out of the model, has the variance and no correlation that it must."""
    priors = CrossValidationPriors(interaction_tails=60.0, tails=(50.0, 1.0))
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


def test_two_learners_share_a_spread() -> None:
    model = build_model(FoldScores(RUNS.scores[:, :2]))
    assert "log_fold_sd" not in model.named_vars
    assert model.named_vars_to_dims["log_partition_ratio"] == ("task",)
    assert model["overlap_correlation"].get_value() == pytest.approx(1 / 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: build_model(FoldScores(RUNS.scores[:, :1])), "at least 2 learners"),
        (lambda: build_model(FoldScores(np.ones((2, 3, 4)))), "never vary"),
        (lambda: build_model(RUNS, unit=0.0), "unit must be"),
        (lambda: build_model(RUNS, "x"), "priors must be CrossValidationPriors, got str"),
        (lambda: CrossValidationPriors(ratio_sd=0.0), "ratio_sd must be"),
    ],
)
def test_what_is_refused(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_a_data_set_that_no_iteration_completed_is_named() -> None:
    scores = RUNS.scores.copy()
    scores[1, 0, :2, 0] = scores[1, 1, 2:, 0] = np.nan
    with pytest.raises(InputError, match="no iteration on data set 'y'"):
        relative_scores(FoldScores(scores, tasks=["x", "y"]))
