"""Normal scores of AUC estimates: law, inverse, and the best of many that share items."""

import numpy as np
import pytest
from scipy.special import ndtr

from bayes_sota.auc.estimate import auc_scores
from bayes_sota.auc.laws import auc_law

SMALL = [(51, 2949), (500, 500), (10, 100)]
SIZES = [*SMALL, pytest.param(5000, 5000, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("a", "b"), SIZES)
@pytest.mark.parametrize("auc", [0.78, pytest.param(0.86, marks=pytest.mark.slow), 0.93])
def test_a_normal_score_is_the_quantile_of_the_exact_law(a: int, b: int, auc: float) -> None:
    law = auc_law(auc, a, b)
    x = law.levels[::10]
    scores = auc_scores(a, b, 0.75, 0.95)
    found = ndtr(scores.normal_score(x, auc))
    np.testing.assert_allclose(found, law.cdf(x), atol=1e-3)
    best = np.exp(1000 * np.log1p(-np.minimum(law.sf(x), 1 - 1e-16)))
    np.testing.assert_allclose(found**1000, best, atol=0.01)


@pytest.mark.parametrize(("a", "b"), SIZES)
def test_an_estimate_has_the_normal_score_it_was_made_of(a: int, b: int) -> None:
    scores = auc_scores(a, b, 0.75, 0.95)
    normal, auc = np.linspace(-4, 3, 15)[:, None], np.array([0.76, 0.85, 0.9])
    estimate = scores.estimate(normal, auc)
    inside = estimate < 1 - 2 * scores.lattice
    back = scores.normal_score(estimate, auc)
    np.testing.assert_allclose(back[inside], np.broadcast_to(normal, back.shape)[inside], atol=1e-5)
    assert inside.mean() > 0.9


def test_perfect_estimates_are_beyond_every_normal_score() -> None:
    scores = auc_scores(20, 100, 0.9, 0.99)
    assert scores.normal_score(1.0, 0.95) == np.inf
    assert scores.normal_score(0.0, 0.95) == -np.inf
    assert float(scores.estimate(9.0, 0.99)) <= 1.0
