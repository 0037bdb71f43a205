"""Importance sampling against targets with known evidence and moments."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.core.numerics import sample_importance


def gaussian(centres: np.ndarray, sds: np.ndarray):
    """Likelihoods of unit mass under which the posterior is normal, several at a time."""

    def log_likelihood(t: np.ndarray) -> np.ndarray:
        parts = [stats.norm(c, s).logpdf(t).sum(axis=1) for c, s in zip(centres, sds, strict=True)]
        return np.stack(parts, axis=1)

    return log_likelihood


@pytest.mark.parametrize("sd", [1.0, 0.1, 0.01])
def test_normal_targets(sd: float) -> None:
    centres = np.array([[0.5, -0.4, 1.0], [0.5 + 3 * sd, -0.4, 1.0 - 2 * sd]])
    found = sample_importance(
        gaussian(centres, np.full((2, 3), sd)), 3, np.random.default_rng(1), points=2000
    )
    for r, centre in enumerate(centres):
        expected = stats.norm(0, np.sqrt(1 + sd**2)).logpdf(centre).sum()
        assert found.log_evidence[r] == pytest.approx(expected, abs=0.1)
        mean = found.weights[:, r] @ found.points
        posterior_sd = sd / np.sqrt(1 + sd**2)
        np.testing.assert_allclose(mean, centre / (1 + sd**2), atol=0.15 * posterior_sd)
    assert found.effective_size.min() > 300


def test_two_modes_are_both_found() -> None:
    def log_likelihood(t: np.ndarray) -> np.ndarray:
        near = np.logaddexp(
            stats.norm(1.2, 0.2).logpdf(t[:, 0]), stats.norm(-1.2, 0.2).logpdf(t[:, 0])
        )
        return near[:, None]

    found = sample_importance(log_likelihood, 2, np.random.default_rng(2), points=1500)
    right = found.weights[found.points[:, 0] > 0].sum()
    assert right == pytest.approx(0.5, abs=0.08)
