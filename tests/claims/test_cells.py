"""The likelihood of two accuracies is a sum over tables, and the posterior over the prior."""

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from bayes_sota.claims.accuracies import possible_tables
from bayes_sota.claims.cells import draw_cells, log_likelihood_of_cells, log_prior_of_cells
from bayes_sota.claims.congruence import OddsRatioCongruence, RelativeCongruence, congruence_nodes

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
    both = possible_tables(a * n, b * n, n, np.ones(4))[0]
    table = tables(a * n, b * n, n, both)
    ways = special.gammaln(n + 1) - special.gammaln(table + 1).sum(axis=0)
    expected = special.logsumexp(np.log(p) @ table + ways, axis=1)
    assert log_likelihood_of_cells(p, *claim) == pytest.approx(expected, abs=1e-7)


PRIORS: tuple[Any, ...] = (
    None, 0.85, "min", "max", OddsRatioCongruence(9, 1), RelativeCongruence(2, 3),
)  # fmt: skip


@pytest.mark.parametrize("alpha", [1.0, 0.4, (3.0, 1.0, 0.5, 2.0)])
@pytest.mark.parametrize("congruence", PRIORS)
def test_likelihood_times_prior_is_the_posterior_that_is_drawn(congruence: Any, alpha: Any) -> None:
    a, b, n, prior = 0.9, 0.88, 50, np.broadcast_to(alpha, (4,))
    p = np.random.default_rng(1).dirichlet([9, 1, 1, 1], 20)
    if congruence is None:
        both, weights = possible_tables(a * n, b * n, n, prior)
    else:
        nodes = congruence_nodes(np.array(a), np.array(b), congruence)
        both, weights = (np.array(x, float) for x in zip(*nodes, strict=True))
        both = both * n
    of_table = [stats.dirichlet.logpdf(p.T, t + prior) for t in tables(a * n, b * n, n, both).T]
    posterior = special.logsumexp(np.array(of_table) + np.log(weights)[:, None], axis=0)
    found = log_likelihood_of_cells(p, a, b, n, congruence, alpha=alpha)
    of_prior = log_prior_of_cells(p, alpha)
    assert of_prior == pytest.approx(stats.dirichlet.logpdf(p.T, prior), abs=1e-9)
    assert np.ptp(found + of_prior - posterior) < 1e-8
    evidence = stats.dirichlet_multinomial(prior, n)
    margins = possible_tables(a * n, b * n, n, prior)[0] if len(both) > 1 else both
    log_evidence = special.logsumexp([
        evidence.logpmf(np.rint(t).astype(int)) for t in tables(a * n, b * n, n, margins).T
    ]) if np.allclose(margins, np.rint(margins)) else np.nan  # fmt: skip
    if np.isfinite(log_evidence):
        assert (found + of_prior - posterior)[0] == pytest.approx(log_evidence, abs=1e-8)
