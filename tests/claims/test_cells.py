"""The likelihood of two accuracies is a sum over tables, and the posterior over the prior."""

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from bayes_sota.claims.accuracies import possible_tables
from bayes_sota.claims.cells import draw_cells, log_likelihood_of_cells
from bayes_sota.claims.congruence import congruence_at

CLAIMS = (
    (0.5, 0.5, 4), (1.0, 0.9, 50), (0.9, 0.88, 500), (0.905, 0.8836, 777), (0.999, 0.99, 20_000),
    (0.6, 0.3, 30_000), (0.5, 0.5, 100_000),
)  # fmt: skip


def tables(x_a: float, x_b: float, n: float, both: np.ndarray) -> np.ndarray:
    return np.maximum([both, x_a - both, x_b - both, n - x_a - x_b + both], 0)


@pytest.mark.parametrize("claim", CLAIMS)
def test_few_terms_stand_for_all_tables(claim: tuple[float, float, int]) -> None:
    a, b, n = claim
    rng = np.random.default_rng(0)
    p = np.vstack([draw_cells(*claim, draws=30, rng=rng), rng.dirichlet(np.ones(4), 10)])
    both = possible_tables(a * n, b * n, n)
    table = tables(a * n, b * n, n, both)
    ways = special.gammaln(n + 1) - special.gammaln(table + 1).sum(axis=0)
    expected = special.logsumexp(np.log(p) @ table + ways, axis=1)
    assert log_likelihood_of_cells(p, *claim) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("congruence", [None, 0.85, "min", "max"])
def test_likelihood_times_prior_is_the_posterior_that_is_drawn(congruence: Any) -> None:
    a, b, n, prior = 0.9, 0.88, 50, np.ones(4)
    p = np.random.default_rng(1).dirichlet([9, 1, 1, 1], 20)
    both = possible_tables(a * n, b * n, n)
    if congruence is not None:
        both = np.array([n * congruence_at(np.array(a), np.array(b), congruence)])
    of_table = [stats.dirichlet.logpdf(p.T, t + prior) for t in tables(a * n, b * n, n, both).T]
    posterior = special.logsumexp(np.array(of_table), axis=0) - np.log(len(both))
    found = log_likelihood_of_cells(p, a, b, n, congruence) + np.log(6)  # the flat prior
    assert np.ptp(found - posterior) < 1e-8
    evidence = stats.dirichlet_multinomial(prior, n)
    if np.allclose(both, np.rint(both)):
        log_evidence = special.logsumexp([
            evidence.logpmf(np.rint(t).astype(int)) for t in tables(a * n, b * n, n, both).T
        ])  # fmt: skip
        assert (found - posterior)[0] == pytest.approx(log_evidence, abs=1e-8)
