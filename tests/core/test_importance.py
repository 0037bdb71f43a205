"""Importance sampling against targets with known evidence and moments."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.core.importance import sample_importance


@pytest.mark.parametrize("sd", [1.0, 0.1, 0.01])
def test_normal_targets(sd):
    """Several at a time: under likelihoods of unit mass each posterior is normal."""
    centres = np.array([[0.5, -0.4, 1.0], [0.5 + 3 * sd, -0.4, 1.0 - 2 * sd]])

    def log_likelihood(t):
        return stats.norm(centres, sd).logpdf(t[:, None]).sum(axis=2)

    found = sample_importance(log_likelihood, 3, np.random.default_rng(1), points=2000)
    expected = stats.norm(0, np.sqrt(1 + sd**2)).logpdf(centres).sum(axis=1)
    np.testing.assert_allclose(found.log_evidence, expected, atol=0.1)
    posterior_sd = sd / np.sqrt(1 + sd**2)
    means = found.weights.T @ found.points
    np.testing.assert_allclose(means, centres / (1 + sd**2), atol=0.15 * posterior_sd)
    assert found.effective_size.min() > 300


def test_two_modes_are_both_found():
    def log_likelihood(t):
        return np.logaddexp(*(stats.norm(c, 0.2).logpdf(t[:, :1]) for c in (1.2, -1.2)))

    found = sample_importance(log_likelihood, 2, np.random.default_rng(2), points=1500)
    right = found.weights[found.points[:, 0] > 0].sum()
    assert right == pytest.approx(0.5, abs=0.08)
