"""False claims from reported accuracies: published numbers, sums over tables, simulation."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from bayes_sota.claims.claim import congruence_bounds, congruence_of_odds_ratio
from bayes_sota.claims.laws import Accuracies, false_claim_probability, reported_claim


@pytest.mark.parametrize(("x_a", "x_b", "n"), [(935, 925, 1000), (980, 950, 1080), (9, 7, 12)])
@pytest.mark.parametrize("times", [1, 30])
def test_the_average_of_many_tables_is_their_sum(x_a: int, x_b: int, n: int, times: int) -> None:
    """In closed form, and as an integral, which regions of equivalence need."""
    x_a, x_b, n = times * x_a, times * x_b, times * n
    k = np.arange(min(x_b, n - x_a) + 1)
    expected = stats.beta(x_a - x_b + k + 1, k + 1).cdf(0.5).mean()
    assert false_claim_probability(x_a / n, x_b / n, n) == pytest.approx(expected, rel=1e-8)
    claim = Accuracies(a=x_a / n, b=x_b / n, n=n)
    assert claim.difference_at_most(0.0) == pytest.approx(expected, rel=2e-5)


def test_probabilities_and_a_region_of_equivalence_agree_with_simulation() -> None:
    """The Monte Carlo of the source."""
    drawn = np.random.default_rng(2).dirichlet([425 + 1, 25 + 1, 15 + 1, 35 + 1], 400_000)
    gap = drawn[:, 1] - drawn[:, 2]
    claim = Accuracies(a=0.90, b=0.88, n=500, known=0.85)
    found = claim.rope(0.01)
    for ours, theirs in (
        (claim.p_false(), np.mean(gap <= 0)),
        (found["a_better"], np.mean(gap > 0.01)),
        (found["equivalent"], np.mean(np.abs(gap) <= 0.01)),
        (found["b_better"], np.mean(gap < -0.01)),
    ):
        assert ours == pytest.approx(theirs, abs=0.004)
    averaged = Accuracies(a=0.90, b=0.88, n=500)
    assert averaged.rope(0.0)["b_better"] == pytest.approx(averaged.p_false(), abs=1e-9)


def test_jeffreys_prior_agrees_with_simulation() -> None:
    """Tables drawn from the prior, of which those with the same margins are kept."""
    rng = np.random.default_rng(1)
    cells = rng.dirichlet(np.full(4, 0.5), 1_000_000)
    table = rng.multinomial(20, cells)
    same = (table[:, 0] + table[:, 1] == 12) & (table[:, 0] + table[:, 2] == 10)
    for known, kept in ((None, same), (0.4, same & (table[:, 0] == 8))):
        expected = np.mean(cells[kept, 1] <= cells[kept, 2])
        found = Accuracies(a=0.6, b=0.5, n=20, known=known).p_false_jeffreys()
        assert found == pytest.approx(expected, abs=3 * 0.5 / kept.sum() ** 0.5)


# Congruence


def test_an_odds_ratio_is_feasible_for_every_pair_of_margins() -> None:
    for a, b in ((0.9, 0.88), (0.5, 0.1), (0.99, 0.98)):
        ends = [congruence_of_odds_ratio(a, b, psi) for psi in (0.0, 1e12)]
        assert ends == pytest.approx(congruence_bounds(a, b), abs=1e-6)
        for psi in (0.2, 1.0, 40.0):
            p = float(congruence_of_odds_ratio(a, b, psi))
            table = np.array([p, a - p, b - p, 1 - a - b + p])
            assert np.all(table >= 0)
            assert table[0] * table[3] / (table[1] * table[2]) == pytest.approx(psi, rel=1e-9)


# As printed: every table that prints so, one by one


def by_all_tables(a: str, b: str, n: int) -> float:
    """Posterior probability of A <= B from the flat prior of four cells."""
    digits = len(a.partition(".")[2])
    total = false = 0.0
    prints_a = [x for x in range(n + 1) if abs(x / n - float(a)) <= 0.5 * 10**-digits + 1e-12]
    prints_b = [x for x in range(n + 1) if abs(x / n - float(b)) <= 0.5 * 10**-digits + 1e-12]
    for x_a, x_b in product(prints_a, prints_b):
        if x_a < x_b:
            continue
        for both in range(max(0, x_a + x_b - n), x_b + 1):
            table = [both, x_a - both, x_b - both, n - x_a - x_b + both]
            weight = stats.dirichlet_multinomial(np.ones(4), n).pmf(table)
            total += weight
            false += weight * stats.beta(table[1] + 1, table[2] + 1).cdf(0.5)
    return false / total


@pytest.mark.parametrize(
    ("a", "b", "n"),
    [("0.9", "0.8", 24), ("0.73", "0.73", 41), ("0.91", "0.82", 11), ("1.0", "0.9", 12)],
)
def test_everything_that_prints_so_is_counted(a: str, b: str, n: int) -> None:
    found = reported_claim(a, b, n)
    assert found.p_false == pytest.approx(by_all_tables(a, b, n), rel=1e-10)
    assert found.lowest - 1e-12 <= found.p_false <= found.highest <= 0.5


@pytest.mark.parametrize(
    ("a", "b", "n"), [("0.90", "0.88", 8000), ("0.9", "0.9", 2000), ("1.0", "0.9", 1000)]
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


# One claim, on other numbers of items


def test_the_average_falls_with_the_number_of_items_without_jumps() -> None:
    claim = Accuracies(a=0.90, b=0.88, n=500)
    sizes = np.arange(20, 2000, 7)
    p = np.array([claim.p_false(n) for n in sizes])
    assert np.all(np.diff(p) < 0)
    for n in (50, 500, 1500):  # both accuracies are whole numbers of items there
        assert claim.p_false(n) == pytest.approx(false_claim_probability(0.9, 0.88, n), rel=1e-9)


def test_a_domain_is_a_congruence_with_a_range() -> None:
    claim = Accuracies(a=0.90, b=0.88, n=500, domain="language-models")
    ends = [float(congruence_of_odds_ratio(0.9, 0.88, odds)) for odds in (5.5, 1.6, 26)]
    p, high, low = (false_claim_probability(0.9, 0.88, 500, x) for x in ends)
    assert (claim.p_false(), claim.p_range()) == (p, (low, high))
    least, most = claim.size_range(0.05)
    assert least < claim.size(0.05) < most
