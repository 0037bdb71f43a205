"""Probabilities of false claims as frequencies: in the prior's world, and among equal methods."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from bayes_sota.claims.accuracies import false_claim_probability

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


def mid_p_share(n: int, discordant: float) -> float:
    """Share of claims with a mid-p value below 0.05 when both methods are equal, by enumeration."""
    below = ties = 0.0
    for d in range(n + 1):
        x = np.arange(d // 2 + 1, d + 1)
        mid_p = binom.sf(x, d, 0.5) + binom.pmf(x, d, 0.5) / 2
        weight = binom.pmf(d, n, discordant)
        below += weight * 2 * binom.pmf(x[mid_p < 0.05], d, 0.5).sum()
        ties += weight * (binom.pmf(d // 2, d, 0.5) if d % 2 == 0 else 0.0)
    return float(below / (1 - ties))


@pytest.mark.parametrize(("n", "p", "p11"), [(100, 0.9, 0.85), (300, 0.8, 0.7)])
def test_equal_methods_pass_the_level_twice_as_often_as_it_says(n, p, p11) -> None:
    """The winner is picked: a one-sided 5 % is one claim in ten."""
    rng = np.random.default_rng(2)
    cells = np.tile([p11, p - p11, p - p11, 1 - 2 * p + p11], (CLAIMS, 1))
    a, b, both, _ = drawn(cells, n, rng)
    claimed = a > b
    found = false_claim_probability(a[claimed], b[claimed], n, both[claimed])
    expected = mid_p_share(n, 2 * (p - p11))
    share = np.mean(found < 0.05)
    assert share == pytest.approx(expected, abs=4 * np.sqrt(0.1 / found.size))
    assert 0.06 < expected < 0.13


@pytest.mark.parametrize("shape", [lambda x: x, lambda x: x.reshape(-1, 4), lambda x: x[:, None]])
def test_many_claims_at_once_are_mid_p_values(shape: Callable[[Array], Array]) -> None:
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
