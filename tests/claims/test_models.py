"""Models of claims have the densities that their docstrings state, and the closed forms' limits."""

import numpy as np
import pymc as pm
import pytest
from schema_names import DIMENSIONS
from scipy import special, stats

from bayes_sota import Means, false_claim_probability
from bayes_sota.claims import build_case_differences, build_model

CLAIMS = ([0.9, 0.85, 0.6], [0.88, 0.8, 0.3], [50, 200, 20], [np.nan, 0.75, np.nan])


def log_tables(x_a: int, x_b: int, n: int, both: float, cells: np.ndarray) -> float:
    """Log probability of the margins, summed over all tables that are possible."""
    known = np.isfinite(both)
    range_ = range(max(0, x_a + x_b - n), min(x_a, x_b) + 1)
    tables = [(k, x_a - k, x_b - k, n - x_a - x_b + k) for k in ([int(both)] if known else range_)]
    return float(special.logsumexp([stats.multinomial.logpmf(t, n, cells) for t in tables]))


def test_density_of_claims_is_a_flat_dirichlet_and_a_sum_over_tables() -> None:
    density = build_model(*CLAIMS).compile_logp(jacobian=False)
    rng = np.random.default_rng(0)
    for _ in range(3):
        cells = rng.dirichlet(np.ones(4), size=3)
        expected = 3 * np.log(6)
        for first, second, n, share, p in zip(*CLAIMS, cells, strict=True):
            expected += log_tables(round(first * n), round(second * n), n, share * n, p)
        logs = np.log(cells)
        point = {"p_simplex__": logs[:, :-1] - logs.mean(axis=1, keepdims=True)}
        assert density(point) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_draws_of_the_prior_are_flat_over_the_cells() -> None:
    same = np.ones(400)
    with build_model(0.9 * same, 0.8 * same, 50 * same):
        prior = pm.sample_prior_predictive(
            10, random_seed=1, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    for outcome in range(4):
        drawn = prior["prior"]["p"].values[..., outcome].ravel()
        assert stats.kstest(drawn, stats.beta(1, 3).cdf).pvalue > 1e-3
    counts = prior["prior_predictive"]["counts"].values.reshape(-1, 4)
    # a flat prior makes every table, and so each number that both got right, equally likely
    assert np.all(counts[:, 2] <= counts[:, :2].min(axis=1))
    expected = special.comb(np.arange(50, -1, -1) + 2, 2) / special.comb(53, 3)
    observed = np.bincount(counts[:, 2].astype(int), minlength=51)
    few = expected * len(counts) < 8
    table = [np.append(x[~few], x[few].sum()) for x in (observed, expected * len(counts))]
    assert stats.chisquare(*table).pvalue > 1e-3


@pytest.mark.slow
def test_sampled_claims_are_the_closed_form() -> None:
    """Accuracies with a known and an unknown congruence, and cases, each sampled once."""
    cases = 0.05 * np.random.default_rng(5).standard_normal(100)
    cases = cases - cases.mean() + 0.006
    a, b, n, shared = CLAIMS
    known = {"sd_difference": cases.std(ddof=1), "bounds": None}
    for model, expected in (
        (build_model(*CLAIMS), [
            false_claim_probability(*row, None if np.isnan(x) else x)
            for *row, x in zip(a, b, n, shared, strict=True)
        ]),
        (build_case_differences(cases), [Means(a=cases.mean(), b=0.0, n=100, **known).p_false()]),
    ):  # fmt: skip
        with model:
            trace = pm.sample(1000, tune=700, chains=2, random_seed=0, progressbar=False)
        found = np.atleast_1d((trace["posterior"]["difference"] <= 0).mean(("chain", "draw")))
        assert found == pytest.approx(np.array(expected), abs=0.03)


@pytest.mark.parametrize("model", [build_model(*CLAIMS), build_case_differences([0.1, 0.2, 0.4])])
def test_names_are_those_of_the_schema(model: pm.Model) -> None:
    assert {v.name for v in model.data_vars} <= {"given_difference", "n_test"}
    assert {dim for of in model.named_vars_to_dims.values() for dim in of} <= set(DIMENSIONS)
    for variable in (*model.free_RVs, *model.deterministics, *model.observed_RVs):
        assert len(model.named_vars_to_dims.get(variable.name, ())) == variable.ndim
