"""Models of means have SciPy's densities, moments and draws, and agree with Student's t."""

from itertools import pairwise
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from scipy import integrate, special, stats

from bayes_sota.claims.models_means import (
    _case_draws,
    _two_piece_moments,
    build_case_differences,
    build_metric_differences,
    case_difference_logp,
)

LAWS = (  # mode, scale below, scale above, degrees of freedom
    (0.0, 0.05, 0.05, 5.0),
    (0.02, 0.001, 0.2, 1.3),
    (-0.7, 0.4, 0.9, 0.6),
    (0.3, 0.08, 0.01, 200.0),
    (0.01, 1e-4, 2e-4, 3.0),
)


def kernel(x: float, mode: float, below: float, above: float, freedom: float) -> float:
    z = (x - mode) / (below if x < mode else above)
    return float((1 + z**2 / freedom) ** (-(freedom + 1) / 2))


def integral(law: tuple[float, ...], power: int) -> float:
    """Of the kernel times a power of x, piece by piece."""
    mode, below, above = law[:3]
    edges = [-1, *(mode - below * np.array([1000, 100, 10, 1])), mode]
    edges = [*edges, *(mode + above * np.array([1, 10, 100, 1000])), 1]
    edges = np.unique(np.clip(edges, -1, 1))
    pieces = pairwise(edges)
    return sum(integrate.quad(lambda x: x**power * kernel(x, *law), *p)[0] for p in pieces)


@pytest.fixture(scope="module")
def moments() -> Any:
    inputs = [pt.dscalar() for _ in range(4)]
    return pytensor.function(inputs, _two_piece_moments(*inputs, -1.0, 1.0), mode="FAST_COMPILE")


@pytest.mark.parametrize("law", LAWS)
def test_mass_and_mean_of_the_two_piece_law(moments: Any, law: tuple[float, ...]) -> None:
    mass, mean = moments(*law)
    expected = integral(law, 0)
    assert mass == pytest.approx(expected, rel=1e-7)
    assert mean == pytest.approx(integral(law, 1) / expected, abs=1e-7 * (law[1] + law[2]))


def test_draws_of_the_two_piece_law(moments: Any) -> None:
    rng = np.random.default_rng(0)
    for law in LAWS:
        drawn = _case_draws((), -1.0, 1.0)(*law, rng=rng, size=(40_000,))
        assert abs(drawn.mean() - moments(*law)[1]) < 4 * drawn.std() / np.sqrt(drawn.size)
        mode, below, above, freedom = law
        low = below * (special.stdtr(freedom, (mode + 1) / below) - 0.5)
        high = above * (special.stdtr(freedom, (1 - mode) / above) - 0.5)
        share = low / (low + high)
        assert abs(np.mean(drawn < mode) - share) < 4 * np.sqrt(share * (1 - share) / drawn.size)


def some_differences() -> np.ndarray:
    return np.round(0.01 + 0.05 * np.random.default_rng(0).standard_t(4, 30), 3)


def point_of(law: tuple[float, ...], share: np.ndarray, power: float) -> dict[str, Any]:
    mode, below, above, freedom = law
    return {
        "mode_interval__": np.log((1 + mode) / (1 - mode)),
        "log_scale": np.log(below * above) / 2, "log_skew": np.log(above / below) / 2,
        "degrees_of_freedom_log__": np.log(freedom),
        "share_simplex__": np.log(share[:-1]) - np.log(share).mean(),
        "log_failure_excess": np.log(power - 1),
    }  # fmt: skip


def test_draws_of_failures() -> None:
    """Shares, sizes and the mean that the model states."""
    law, share, power = (0.02, 0.03, 0.04, 6.0), np.array([0.1, 0.3, 0.6]), 1.5
    rng = np.random.default_rng(1)
    drawn = _case_draws(("share", "power"), -1.0, 1.0)(*law, share, power, rng=rng, size=(40_000,))
    model = build_case_differences(some_differences())
    mean = model.compile_fn(
        model.replace_rvs_by_values([model["difference"]]), inputs=model.value_vars,
        mode="FAST_COMPILE", on_unused_input="ignore",
    )(point_of(law, share, power))[0]  # fmt: skip
    assert abs(drawn.mean() - mean) < 4 * drawn.std() / np.sqrt(drawn.size)
    for sign, part in ((-1, 0.1), (1, 0.3)):
        far = part * (1 - 0.4**power)  # hardly any of the others is that far
        assert np.mean(sign * drawn > 0.4) == pytest.approx(far, abs=4 * np.sqrt(far / 40_000))


@pytest.mark.slow
def test_density_of_case_differences() -> None:
    values = some_differences()
    density = build_case_differences(values).compile_logp(mode="FAST_COMPILE", jacobian=False)
    mode, scale, skew, freedom = 0.02, 0.06, -0.3, 4.0
    share, power = np.array([0.05, 0.15, 0.8]), 1.7
    law = (mode, scale * np.exp(-skew), scale * np.exp(skew), freedom)
    failure = np.where(values < 0, share[0], share[1]) * stats.beta.pdf(np.abs(values), power, 1)
    work = np.array([kernel(x, *law) for x in values]) / integral(law, 0)
    expected = np.log(share[2] * work + failure)[values != 0].sum()
    expected += stats.dirichlet.logpdf(share, [0.2, 0.2, 3.6])
    expected += stats.norm.logpdf(np.log(power - 1), 0, 0.5)
    expected += np.log(1 / 2) + stats.norm.logpdf(np.log(scale), np.log(0.05), 1.5)
    expected += stats.norm.logpdf(skew, 0, 0.5) + stats.gamma.logpdf(freedom, 2, scale=10)
    assert density(point_of(law, share, power)) == pytest.approx(expected, rel=1e-7)


def test_ties_but_for_rounding_are_ties() -> None:
    values = some_differences()
    values[:8] = 0.0
    noisy = values + np.where(values == 0, 1.1e-16, 0.0)
    models = [build_case_differences(v) for v in (values, noisy)]
    data = [model["given_difference"].get_value() for model in models]
    assert data[0].tolist() == data[1].tolist()
    assert all("p_equal" in model.named_vars for model in models)


@pytest.mark.slow
def test_equal_cases_scale_the_mean_and_tell_nothing_of_its_sign() -> None:
    values = some_differences()
    values = values[values != 0]
    with_zeros = build_case_differences(np.append(values, np.zeros(10)), failures=False)
    without = build_case_differences(values, failures=False)
    point = {k: np.asarray(v) for k, v in without.initial_point().items()}
    chance = 0.3
    more = point | {"p_equal_interval__": special.logit(chance)}
    (density, mean), (without_density, without_mean) = (
        m.compile_fn([m.logp(jacobian=False), *m.replace_rvs_by_values([m["difference"]])],
                     inputs=m.value_vars, mode="FAST_COMPILE")(p)
        for m, p in ((with_zeros, more), (without, point))
    )  # fmt: skip
    expected = 10 * np.log(chance) + len(values) * np.log(1 - chance)
    assert density - without_density == pytest.approx(expected, abs=1e-9)
    assert mean == pytest.approx((1 - chance) * without_mean)


def metric_differences(n: int = 40, seed: int = 0) -> np.ndarray:
    root = np.linalg.cholesky([[1, 0.7, 0.3], [0.7, 1, 0.5], [0.3, 0.5, 1]])
    noise = np.random.default_rng(seed).standard_normal((n, 3)) @ root.T
    return np.array([0.01, 0.1, 2]) + noise * [0.05, 1, 10]


@pytest.mark.parametrize("student", [False, True])
def test_density_of_metric_differences(student: bool) -> None:
    values = metric_differences()
    model = build_metric_differences(values, ["Dice", "NSD", "HD"], student=student)
    rng = np.random.default_rng(1)
    mean, sd, partial = rng.normal(size=3), rng.uniform(0.5, 2, 3), rng.uniform(-0.6, 0.6, 3)
    r21, r31, r32 = partial  # of 3 and 2 given 1
    r = np.eye(3)
    r[0, 1] = r[1, 0] = r21
    r[0, 2] = r[2, 0] = r31
    r[1, 2] = r[2, 1] = r21 * r31 + r32 * np.sqrt((1 - r21**2) * (1 - r31**2))
    root = np.linalg.cholesky(r * np.outer(sd, sd))
    packed = root[np.tril_indices(3)]
    packed[[0, 2, 5]] = np.log(packed[[0, 2, 5]])
    point: dict[str, Any] = {
        "standardized_difference": mean, "covariance_root_cholesky-cov-packed__": packed,
    }  # fmt: skip
    if student:
        point["excess_degrees_of_freedom_log__"] = np.log(3.0)
    covariance = r * np.outer(sd, sd)
    found = model.compile_logp(vars=model.observed_RVs, mode="FAST_COMPILE")(point)
    law = stats.multivariate_t(mean, covariance, df=5) if student else None
    law = law or stats.multivariate_normal(mean, covariance)
    assert found == pytest.approx(law.logpdf(values / values.std(axis=0, ddof=1)).sum(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS")
def test_prior_of_covariances() -> None:
    """Each correlation of k metrics is Beta(eta - 1 + k/2) on (-1, 1); spreads are log-normal."""
    model = build_metric_differences(metric_differences(), correlation_shape=1.5)
    names = ["correlation", "relative_sd"]
    drawn, sd = pm.draw([model[x] for x in names], 3000, random_seed=2, mode="FAST_COMPILE")
    for column in drawn.T:
        law = stats.beta(2.0, 2.0, loc=-1, scale=2)
        assert stats.kstest(column, law.cdf).pvalue > 1e-3
    for column in sd.T:
        assert stats.kstest(np.log(column), stats.norm.cdf).pvalue > 1e-3


def test_the_density_of_cases_serves_other_models() -> None:
    """Laws that differ from case to case, with and without failures and an atom at 0."""
    rng = np.random.default_rng(2)
    laws = np.array([[0.0, 0.05, 0.05, 5.0], [0.02, 0.03, 0.1, 3.0]])
    x, share, power, equal = np.array([0.04, -0.3]), np.array([0.1, 0.2, 0.7]), 1.5, 0.2
    work = [kernel(v, *law) / integral(tuple(law), 0) for v, law in zip(x, laws, strict=True)]
    found = case_difference_logp(x, *laws.T).eval()
    assert found == pytest.approx(np.log(work), rel=1e-7)
    failure = np.array([0.2, 0.1]) * stats.beta.pdf(np.abs(x), power, 1)
    every = np.log(1 - equal) + np.log(0.7 * np.array(work) + failure)
    further = {"share": pt.as_tensor(share), "power": power, "p_equal": pt.as_tensor(equal)}
    found = case_difference_logp(np.append(x, 0), *np.append(laws, laws[:1], 0).T, **further)
    assert found.eval() == pytest.approx([*every, np.log(equal)], rel=1e-7)
    drawn = _case_draws(tuple(further), -1.0, 1.0)(
        *laws[0], share, power, equal, rng=rng, size=(20_000,)
    )
    assert np.mean(drawn == 0) == pytest.approx(equal, abs=4 * 0.4 / np.sqrt(20_000))
