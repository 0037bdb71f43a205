"""Probabilities of false claims as frequencies: in the prior's world, and among equal methods."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from bayes_sota.claims.laws import false_claim_probability

Array = NDArray[np.float64]
CLAIMS = 100_000


def drawn(cells: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Shares of the winner, the other and both, and whether the first method won or tied."""
    both, first, second, _ = rng.multinomial(n, cells).T
    p11 = both / n
    return (
        p11 + np.maximum(first, second) / n,
        p11 + np.minimum(first, second) / n,
        p11,
        first >= second,
    )


def largest_error(p: Array, false: NDArray[np.bool_]) -> float:
    """Claims in ten classes of their probability: said minus seen, in standard errors."""
    classes = np.minimum((p * 20).astype(int), 9)
    gap = np.bincount(classes, p - false, 10)
    return float(np.max(np.abs(gap) / np.sqrt(np.bincount(classes, p * (1 - p), 10) + 1e-9)))


@pytest.mark.parametrize("n", [8, 60])
def test_claims_are_false_as_often_as_said_where_the_prior_holds(n: int) -> None:
    rng = np.random.default_rng(1)
    cells = rng.dirichlet(np.ones(4), CLAIMS)
    a, b, p11, first = drawn(cells, n, rng)
    false = (cells[:, 1] <= cells[:, 2]) == first
    assert largest_error(false_claim_probability(a, b, n, p11), false) < 4
    assert largest_error(false_claim_probability(a, b, n), false) < 4
    for wrong in ("min", "max"):  # the check can tell
        assert largest_error(false_claim_probability(a, b, n, wrong), false) > 6


@pytest.mark.parametrize("shape", [lambda x: x, lambda x: x.reshape(-1, 4), lambda x: x[:, None]])
def test_many_claims_at_once_are_mid_p_values(shape) -> None:
    rng = np.random.default_rng(3)
    n = rng.integers(2, 3000, CLAIMS)
    d = rng.integers(0, n + 1)
    first = rng.integers((d + 1) // 2, d + 1)
    both = rng.integers(0, n - d + 1)
    found = false_claim_probability(
        *(shape(x) for x in ((both + first) / n, (both + d - first) / n, n, both / n))
    )
    expected = binom.sf(first, d, 0.5) + binom.pmf(first, d, 0.5) / 2
    np.testing.assert_allclose(found, shape(expected), atol=1e-12, rtol=0)
