"""Sampled and exact claims agree with closed forms, and come in the one schema."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import nutpie
import pymc as pm
import pytest
from scipy import stats

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.congruence import congruence_of_odds_ratio
from bayes_sota.claims.means import false_claim_probability_of_means
from bayes_sota.claims.models import _draw_second_accuracy, build_clustered_items, build_model
from bayes_sota.claims.models_means import build_case_differences, build_metric_differences
from bayes_sota.claims.sample import sample_claim, summarize_claim
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.core.schema import ATTRIBUTES, DIMENSIONS, GROUPS, VARIABLES
from bayes_sota.core.summary import diagnose
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import probability_not_better

REVIEW = {
    "accuracy_a": [0.90, 0.85, 0.80, 0.95, 0.90, 0.75],
    "accuracy_b": [0.88, 0.80, 0.78, 0.94, 0.88, 0.73],
    "n_test": [500, 200, 300, 1000, 500, 400],
    "congruence": [0.85, 0.75, 0.72, np.nan, np.nan, np.nan],
}
NAMES = ["a", "b", "c", "d", "e", "f"]


def flat_log_density(psi: np.ndarray) -> np.ndarray:
    w = np.maximum(np.abs(psi), 1e-3) / 2
    return np.log(w * np.cosh(w) - np.sinh(w)) - np.log(2) - 3 * np.log(np.sinh(w))


def review_by_importance(seed: int, draws: int = 6000) -> tuple[np.ndarray, float]:
    """P(false) of each claim, and the mean of mu: closed-form draws, reweighted on a grid.

    No chain and no Plackett root: cells from Dirichlet(table + 1) with the number that both got
    right uniform where it is unknown, times N(psi; mu, tau) / f(psi), at every (mu, tau).
    """
    rng = np.random.default_rng(seed)
    mu, tau = np.meshgrid(np.linspace(-3, 8, 56), np.linspace(0.03, 4, 40), indexing="ij")
    log_weight = stats.norm.logpdf(mu, 0, 2.4) + stats.halfnorm.logpdf(tau)
    false = []
    for a, b, n, share in zip(*REVIEW.values(), strict=True):
        x_a, x_b = round(a * n), round(b * n)
        both = np.full(draws, share * n) if np.isfinite(share) else rng.integers(
            max(0, x_a + x_b - n), min(x_a, x_b) + 1, draws)  # fmt: skip
        table = np.stack([both, x_a - both, x_b - both, n - x_a - x_b + both], axis=1)
        cells = rng.standard_gamma(table + 1)
        psi = np.log(cells[:, 0] * cells[:, 3] / (cells[:, 1] * cells[:, 2]))
        z = (psi - mu[..., None]) / tau[..., None]
        ratio = np.exp(-(z**2) / 2 - flat_log_density(psi)) / tau[..., None] + 1e-300
        log_weight += np.log(ratio.mean(axis=-1))
        false.append(ratio @ (cells[:, 1] <= cells[:, 2]) / ratio.sum(axis=-1))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return np.array([np.sum(weight * p) for p in false]), float(np.sum(weight * mu))


@pytest.mark.slow
def test_review_agrees_with_importance_sampling() -> None:
    model = build_model(**REVIEW, names=NAMES)
    tree = sample_claim(model, draws=1000, chains=4, random_seed=1, predictive=False)
    assert diagnose(tree)["ok"]
    found = tree["point_estimate"]
    twice = [review_by_importance(seed) for seed in (0, 1)]
    expected, other = (p for p, _ in twice)
    error = np.sqrt(found["p_false_mcse"].values ** 2 + (expected - other) ** 2 / 2 + 0.003**2)
    assert np.all(np.abs(found["p_false"].values - (expected + other) / 2) < 4 * error)
    typical = float(tree["posterior"]["typical_log_odds_ratio"].mean())
    assert typical == pytest.approx(np.mean([mu for _, mu in twice]), abs=0.1)
    table = summarize_claim(tree)
    assert list(table.index) == NAMES
    assert (table["lower"] < table["mean"]).all()
    assert (table["mean"] < table["upper"]).all()


@pytest.mark.slow
def test_near_normal_cases_agree_with_student_and_the_result_is_whole(tmp_path: Path) -> None:
    """Skew and tails are learnt, so the two are close, not equal. One model, sampled once."""
    cases = 0.05 * np.random.default_rng(5).standard_normal(100)
    cases = cases - cases.mean() + 0.006
    model = build_case_differences(np.append(cases, np.zeros(5)), failures=False)
    seed = np.random.default_rng(2)
    tree = sample_claim(model, draws=500, tune=700, random_seed=seed)
    assert diagnose(tree)["ok"]
    sd = cases.std(ddof=1)
    expected = false_claim_probability_of_means(
        cases.mean(), 0.0, cases.size, sd_difference=sd, bounds=None
    )
    table = summarize_claim(tree).iloc[0]
    assert 0.02 < expected < 0.3
    assert table["p_false"] == pytest.approx(expected, abs=0.04)
    width = 2 * stats.t.ppf(0.975, 99) * sd / np.sqrt(100) * 100 / 105
    assert table["upper"] - table["lower"] == pytest.approx(width, rel=0.12)
    assert set(tree.children) <= set(GROUPS)
    assert set(ATTRIBUTES) <= set(tree.attrs)
    assert set(tree["point_estimate"].data_vars) <= set(VARIABLES)
    told = {name: tree.attrs[name] for name in ("method", "random_seed", "model_name")}
    assert told == {"method": "nuts", "random_seed": "generator", "model_name": "unnamed"}
    assert tree.attrs["divergences"] == 0
    assert tree["prior"]["difference"].size == 2000
    again = tree["posterior_predictive"]["case_difference"]
    assert again.shape == (4, 500, 105)
    assert abs((again == 0).sum("case").values.mean() - 5) < 2
    share = np.mean(tree["posterior"]["difference"].values <= 0)
    assert float(tree["point_estimate"]["p_false"]) == share
    again = read_result(save_result(tree, tmp_path / "claim.nc"))
    assert summarize_claim(again).equals(summarize_claim(tree))
    assert again.attrs["data_hash"] == tree.attrs["data_hash"]
    narrow, wide = (summarize_claim(tree, p).iloc[0] for p in (0.5, 0.9))
    assert wide["lower"] < narrow["lower"] < narrow["upper"] < wide["upper"]


def test_models_without_a_claim() -> None:
    with pm.Model() as model:
        pm.Normal("x", observed=1.0)
    with pytest.raises(InputError, match="deterministic 'difference'"):
        sample_claim(model)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mu", "tau", "known"), [(3.0, 0.5, 0.3), (1.0, 1.2, 0.5), (4.0, 0.1, 1.0)]
)
def test_recovers_the_shared_congruence(mu: float, tau: float, known: float) -> None:
    """Reviews drawn from the model: cells of the flat law given psi, A the winner."""
    rng = np.random.default_rng([int(10 * mu), int(10 * tau)])
    n, psi, a = rng.integers(100, 800, 24), rng.normal(mu, tau, 24), rng.beta(2, 2, 24)
    b = _draw_second_accuracy(a, psi, rng=rng)
    both = congruence_of_odds_ratio(a, b, np.exp(psi))
    cells = np.stack([both, a - both, b - both, 1 - a - b + both], axis=1)
    table = np.array([rng.multinomial(*x) for x in zip(n, cells, strict=True)])
    swap = table[:, 1] < table[:, 2]
    table[swap], truth = table[swap][:, [0, 2, 1, 3]], np.where(swap, b - a, a - b)
    share = np.where(rng.random(24) < known, table[:, 0] / n, np.nan)
    right_a, right_b = (table[:, 0] + table[:, 1]) / n, (table[:, 0] + table[:, 2]) / n
    model = build_model(right_a, right_b, n, share)
    tree = sample_claim(model, random_seed=0, predictive=False)
    assert diagnose(tree)["ok"]
    posterior = tree["posterior"]
    for name, value in (("typical_log_odds_ratio", mu), ("log_odds_ratio_sd", tau)):
        low, high = np.quantile(posterior[name], [0.005, 0.995])
        assert low < value < high
    ends = posterior["difference"].quantile([0.025, 0.975], ("chain", "draw")).values
    assert np.mean((ends[0] < truth) & (truth < ends[1])) > 0.85


@pytest.mark.slow
def test_flat_claims_are_the_closed_form() -> None:
    model = build_model(**REVIEW, shared=False)
    found = sample_claim(model, draws=2000, random_seed=0, predictive=False)["point_estimate"]
    for i, (a, b, n, share) in enumerate(zip(*REVIEW.values(), strict=True)):
        expected = false_claim_probability(a, b, n, share if np.isfinite(share) else None)
        error = float(found["p_false_mcse"][i])
        assert abs(float(found["p_false"][i]) - expected) < 4 * error + 1e-3


@pytest.mark.slow
def test_metrics_agree_with_student_and_with_each_other() -> None:
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky([[1, 0.7, 0.3], [0.7, 1, 0.5], [0.3, 0.5, 1]])
    values = np.array([0.01, 0.2, 2]) + (rng.standard_normal((80, 3)) @ root.T) * [0.05, 1, 10]
    tree = sample_claim(build_metric_differences(values), draws=2000, random_seed=0)
    assert diagnose(tree)["ok"]
    found, mean, n = tree["point_estimate"], values.mean(axis=0), len(values)
    t = mean / values.std(axis=0, ddof=1) * np.sqrt(n)
    assert found["p_false"].values == pytest.approx(stats.t.sf(t, n - 1), abs=0.02)
    # jointly Student under the flat prior of mean and covariance
    covariance = np.cov(values.T) * (n - 1) / (n * (n - 3))
    drawn = stats.multivariate_t(mean, covariance, df=n - 3).rvs(100_000, random_state=1)
    better = drawn > 0
    assert float(found["p_all_better"]) == pytest.approx(better.all(axis=1).mean(), abs=0.03)
    assert float(found["p_any_better"]) == pytest.approx(better.any(axis=1).mean(), abs=0.02)


@pytest.mark.slow
def test_same_seed_same_draws() -> None:
    cases, small = [0.1, 0.2, -0.1, 0.3], {"draws": 50, "tune": 100, "random_seed": 3}
    one, two = (sample_claim(build_case_differences(cases), **small) for _ in range(2))
    assert one["posterior"].to_dataset().equals(two["posterior"].to_dataset())
    assert one.attrs["model_hash"] == two.attrs["model_hash"]
    other = build_case_differences(cases, bounds=(-2, 2))
    another = sample_claim(other, **small, predictive=False)
    assert another.attrs["model_hash"] != one.attrs["model_hash"]
    assert another.attrs["data_hash"] == one.attrs["data_hash"]


def interval(compiled: Any, seed: int, tune: int = 500, **data: np.ndarray) -> np.ndarray:
    """95 % interval of the difference, from a compiled model with other data."""
    drawn = nutpie.sample(
        compiled.with_data(**data), draws=500, tune=tune, chains=2, cores=1, seed=seed,
        progress_bar=False,
    )  # fmt: skip
    return np.quantile(drawn.posterior["difference"], [0.025, 0.975])


@pytest.mark.slow
def test_clustered_items_cover_where_the_closed_form_does_not() -> None:
    """40 clusters of 6 items, correlation 0.3: the model, and items as if independent."""
    clusters, size, correlation, p = 40, 6, 0.3, np.array([0.75, 0.10, 0.08, 0.07])
    rng = np.random.default_rng(7)
    start = Responses(rng.random((clusters * size, 2)) < 0.8,
                      clusters=np.repeat(np.arange(clusters), size))  # fmt: skip
    compiled = nutpie.compile_pymc_model(build_clustered_items(start))
    covered, naive, agreement = [], [], []
    for seed in range(100):
        cells = rng.dirichlet(p * (1 - correlation) / correlation, clusters)
        tables = np.array([rng.multinomial(size, row) for row in cells])
        low, high = interval(compiled, seed, tune=400, cluster_tables=tables)
        covered.append(low < 0.02 < high)
        counts = tables.sum(axis=0)
        flat = rng.dirichlet(counts + 1, 4000)
        low, high = np.quantile(flat[:, 1] - flat[:, 2], [0.025, 0.975])
        naive.append(low < 0.02 < high)
        agreement.append(np.mean(flat[:, 1] <= flat[:, 2])
                         - probability_not_better(counts[1], counts[2]))  # fmt: skip
    assert np.abs(agreement).max() < 0.04
    assert np.mean(covered) > 0.88
    assert np.mean(naive) < 0.86


def intervals_of_cases(samples: list[np.ndarray], **options: bool) -> np.ndarray:
    """95 % interval of every sample of cases, shape (samples, 2); one compilation."""
    compiled = nutpie.compile_pymc_model(build_case_differences(samples[0], **options))
    return np.array([interval(compiled, i, given_difference=x) for i, x in enumerate(samples)])


@pytest.mark.slow
def test_heavy_tails_narrow_the_interval_without_losing_coverage() -> None:
    """Failures of either method, 3 % each, on differences of 3 degrees of freedom; truth 0."""
    rng, n, samples = np.random.default_rng(7), 60, []
    for _ in range(80):
        values, failed = 0.02 * rng.standard_t(3, n), rng.random((2, n)) < 0.03
        size = np.where(failed[0], -1, 1) * rng.uniform(0.4, 0.95, n)
        samples.append(np.clip(np.where(failed[0] ^ failed[1], size, values), -1, 1))
    low, high = intervals_of_cases(samples, failures=False).T
    student = 2 * stats.t.ppf(0.975, n - 1) * np.std(samples, axis=1, ddof=1) / np.sqrt(n)
    assert np.mean((low < 0) & (high > 0)) > 0.88
    assert np.mean(high - low) < 0.7 * student.mean()


@pytest.mark.slow
def test_one_sided_failures_need_their_own_component() -> None:
    """A is better where it works and fails on 5 % of the cases: the truth is 0."""
    rng, n, samples = np.random.default_rng(7), 60, []
    for _ in range(25):
        failed = rng.random(n) < 0.05
        work = 0.05 * 0.675 / 0.95 + 0.02 * rng.standard_t(3, n)
        samples.append(np.clip(np.where(failed, -rng.uniform(0.4, 0.95, n), work), -1, 1))
    for failures, least, most in ((True, 0.6, 1), (False, 0, 0.4)):
        low, high = intervals_of_cases(samples, failures=failures).T
        assert least <= np.mean((low < 0) & (high > 0)) <= most


# Names of the schema

RNG = np.random.default_rng(0)
ANSWERS = Responses(RNG.random((40, 2)) < [0.9, 0.8], clusters=[str(i // 4) for i in range(40)])
CASES = np.append(RNG.normal(0.01, 0.05, 30), 0.0)
MODELS: dict[str, Callable[[], pm.Model]] = {
    "review": lambda: build_model([0.9, 0.8], [0.88, 0.7], 50, [0.85, np.nan]),
    "one by one": lambda: build_model([0.9], [0.88], 50, shared=False),
    "clusters": lambda: build_clustered_items(ANSWERS),
    "cases": lambda: build_case_differences(CASES),
    "metrics": lambda: build_metric_differences(RNG.normal(size=(30, 3)), student=True),
}
# data that a model was given and its indices, which the schema does not name
GIVEN = {"given_difference", "unit", "cluster_tables", "n_test"}


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    model = MODELS[name]()
    kept = [*model.free_RVs, *model.deterministics, *model.observed_RVs]
    assert {v.name for v in kept} <= set(VARIABLES)
    assert {v.name for v in model.data_vars} <= GIVEN
    dims = {dim for of in model.named_vars_to_dims.values() for dim in of}
    assert dims <= set(DIMENSIONS)
    for variable in kept:
        named = len(model.named_vars_to_dims.get(variable.name, ()))
        assert named == variable.ndim, f"{variable.name} has dimensions without names"
