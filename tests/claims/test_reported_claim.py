"""Claims as printed: every table that prints so, one by one."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from bayes_sota.claims.accuracies import false_claim_probability, reported_claim
from bayes_sota.claims.congruence import OddsRatioCongruence


def by_all_tables(
    a: str, b: str, sizes: range, alpha: float = 1.0
) -> tuple[float, dict[int, float]]:
    """Posterior probability of A <= B, and of each size, from the flat prior of four cells."""
    digits = len(a.partition(".")[2])
    total: dict[int, float] = {}
    false = 0.0
    for n in sizes:
        prints_a = [x for x in range(n + 1) if abs(x / n - float(a)) <= 0.5 * 10**-digits + 1e-12]
        prints_b = [x for x in range(n + 1) if abs(x / n - float(b)) <= 0.5 * 10**-digits + 1e-12]
        for x_a, x_b in product(prints_a, prints_b):
            if x_a < x_b:
                continue
            for both in range(max(0, x_a + x_b - n), x_b + 1):
                table = [both, x_a - both, x_b - both, n - x_a - x_b + both]
                weight = stats.dirichlet_multinomial(np.full(4, alpha), n).pmf(table)
                total[n] = total.get(n, 0.0) + weight
                false += weight * stats.beta(table[1] + alpha, table[2] + alpha).cdf(0.5)
    norm = sum(total.values())
    return false / norm, {n: w / norm for n, w in total.items()}


@pytest.mark.parametrize(
    ("a", "b", "sizes", "alpha"),
    [
        ("0.9", "0.8", (20, 24), 1.0),
        ("0.73", "0.73", (30, 41), 1.0),
        ("0.91", "0.82", (8, 25), 1.0),
        ("0.9", "0.8", (20, 24), 0.5),
        ("1.0", "0.9", (12, 12), 1.0),
    ],
)
def test_everything_that_prints_so_is_counted(
    a: str, b: str, sizes: tuple[int, int], alpha: float
) -> None:
    p, of_sizes = by_all_tables(a, b, range(sizes[0], sizes[1] + 1), alpha)
    found = reported_claim(a, b, sizes, alpha=alpha)
    assert found.p_false == pytest.approx(p, rel=1e-10)
    assert found.n_test.tolist() == sorted(of_sizes)
    assert found.probability == pytest.approx([of_sizes[n] for n in sorted(of_sizes)])
    assert found.n_impossible == sizes[1] - sizes[0] + 1 - len(of_sizes)
    assert found.lowest - 1e-12 <= found.p_false <= found.highest <= 0.5


def test_one_table_is_the_closed_form() -> None:
    found = reported_claim(0.9, 0.88, 500, rounding="exact")
    assert (found.counts_a, found.counts_b) == ((450, 450), (440, 440))
    assert found.p_false == pytest.approx(false_claim_probability(0.9, 0.88, 500), rel=1e-12)
    known = reported_claim("0.900", "0.880", 500, "independent")
    assert known.p_false == pytest.approx(0.157, abs=5e-4)


@pytest.mark.parametrize(
    ("a", "b", "n"), [("0.90", "0.88", 16_000), ("0.9", "0.9", 2000), ("1.0", "0.9", 4000)]
)
def test_few_nodes_stand_for_every_count(a: str, b: str, n: int) -> None:
    """Thousands of pairs of counts print alike: all of them, and 12 x 12 nodes, to 1 per cent."""
    runs = []
    for printed in (a, b):
        unit = 10 ** -len(printed.partition(".")[2])
        counts = np.arange(n + 1)
        runs.append(counts[np.abs(counts / n - float(printed)) <= unit / 2 + 1e-12])
    x_a, x_b = (x.ravel() for x in np.meshgrid(*runs))
    x_a, x_b = x_a[x_a >= x_b], x_b[x_a >= x_b]
    tables = np.minimum(x_b, n - x_a) + 1
    p = false_claim_probability(x_a / n, x_b / n, n)
    found = reported_claim(a, b, n)
    assert x_a.size > 144
    assert found.p_false == pytest.approx(tables @ p / tables.sum(), rel=0.01)
    assert (found.lowest, found.highest) == pytest.approx((p.min(), p.max()), rel=1e-9)


def test_rounding_and_assumptions_count() -> None:
    floored = reported_claim("0.90", "0.88", 500, rounding="floor")
    assert floored.counts_a == (450, 454)
    known = reported_claim("0.90", "0.88", 500, 0.88)
    assert known.lowest < false_claim_probability(0.9, 0.88, 500, 0.88) < known.highest
    prior = OddsRatioCongruence(20.0, 1.0)
    centre = false_claim_probability(0.9, 0.88, 500, prior)
    assert reported_claim("0.90", "0.88", 500, prior).p_false == pytest.approx(centre, rel=0.15)
    wide = reported_claim("0.90", "0.88", (200, 2000))
    assert wide.n_test.size == 64
    assert reported_claim("1.0", "0.98", 500).counts_a == (475, 500)
    assert wide.p_false > reported_claim("0.90", "0.88", 2000).p_false
