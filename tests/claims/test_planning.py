"""Sizes of test sets: the smallest, and assured by counting claims."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc

from bayes_sota.claims.laws import Accuracies, Means
from bayes_sota.claims.summary import report_plan, share_with_anchors


@pytest.mark.parametrize(
    ("known", "level"), [(0.9 * 0.88, 0.05), (0.85, 0.01), (0.78, 0.01), (None, 0.05)]
)
def test_one_item_fewer_is_too_few(known: float | None, level: float) -> None:
    claim = Accuracies(a=0.90, b=0.88, n=500, known=known)
    size = claim.size(level)
    assert claim.p_false(size) <= level < claim.p_false(size - 1)
    least, most = claim.size_range(level)
    assert least <= size <= most
    assert report_plan(claim, level=level).content["n_needed"] == size


def test_assurance_has_no_noise_and_a_limit() -> None:
    claim = Accuracies(a=0.90, b=0.88, n=500, known=0.792)
    sizes = [claim.assured_size(assurance=a) for a in (0.7, 0.8, 0.83)]
    assert sizes == sorted(sizes)
    assert claim.assured_size(assurance=0.845) is None
    assert claim.p_false() == pytest.approx(1 - 0.84256, abs=1e-5)


def test_power_and_assurance_are_averaged_over_an_unknown_congruence() -> None:
    """Congruence, truth and fresh items drawn: claims are counted."""
    rng, claim = np.random.default_rng(3), Accuracies(a=0.90, b=0.85, n=600)
    size, both = claim.powered_size(), rng.uniform(0.75, 0.85, 20_000)
    cells = np.column_stack([both, 0.90 - both, 0.85 - both, both - 0.75])
    fresh = rng.multinomial(size, cells)
    made = betainc(fresh[:, 1] + 1.0, fresh[:, 2] + 1.0, 0.5) <= 0.05
    assert made.mean() == pytest.approx(0.8, abs=0.015)
    size, truth = claim.assured_size(), claim.draw(20_000, rng)["posterior"]["p"]
    fresh = rng.multinomial(size, truth)
    made = betainc(fresh[:, 1] + 1.0, fresh[:, 2] + 1.0, 0.5) <= 0.05
    assert made.mean() == pytest.approx(0.8, abs=0.015)


def test_an_assured_number_of_cases_makes_the_claim_that_often() -> None:
    """Data of a first study drawn, truth drawn from what it leaves open, and paired t tests."""
    rng = np.random.default_rng(6)
    claim = Means(a=0.82, b=0.80, n=60, sd=(0.1, 0.1), known=0.7)
    size = claim.assured_size()
    spread = (2 * 0.01 * 0.3) ** 0.5
    sigma = spread * np.sqrt(59 / rng.chisquare(59, 3000))
    gap = rng.normal(0.02, sigma / 60**0.5)
    cases = rng.normal(gap, sigma, (size, 3000))
    p = stats.ttest_1samp(cases, 0, alternative="greater").pvalue
    assert np.mean(p <= 0.05) == pytest.approx(0.8, abs=0.03)
    assert Means(a=0.81, b=0.80, n=20, sd=(0.1, 0.1), known=0.5).assured_size() is None


def test_the_power_at_a_true_gap() -> None:
    """Fresh items drawn with these skills, and cases with these means: claims are counted."""
    rng = np.random.default_rng(12)
    claim = Accuracies(a=0.90, b=0.87, n=500, known=0.84)
    sizes = claim.powered_size(), claim.size()
    for n, expected in zip(sizes, (0.8, 0.5), strict=True):
        counts = rng.multinomial(n, [0.06, 0.03, 0.91], 20_000)
        made = np.mean(betainc(counts[:, 0] + 1.0, counts[:, 1] + 1.0, 0.5) <= 0.05)
        assert made == pytest.approx(expected, abs=0.025)
    spread = (0.1**2 + 0.12**2 - 2 * 0.6 * 0.1 * 0.12) ** 0.5
    size = Means(a=0.02, b=0.0, n=9, sd=(0.1, 0.12), known=0.6, bounds=None).powered_size()
    power = stats.nct(size - 1, size**0.5 * 0.02 / spread).sf(stats.t(size - 1).ppf(0.95))
    assert power == pytest.approx(0.8, abs=0.005)


@pytest.mark.parametrize("count", [1, 3])
def test_with_known_skills_fewer_items_have_the_same_error(count: int) -> None:
    r, rng = 0.6, np.random.default_rng(count)
    shared = np.sqrt(r) * rng.standard_normal((200_000, 1))
    errors = shared + np.sqrt(1 - r) * rng.standard_normal((200_000, 1 + count))
    weights = np.linalg.lstsq(errors[:, 1:], errors[:, 0], rcond=None)[0]
    left = np.var(errors[:, 0] - errors[:, 1:] @ weights)  # A given B and the others
    share, used = share_with_anchors(Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1), known=r), count)
    assert used == r
    assert share == pytest.approx(left / np.var(errors[:, 0] - errors[:, 1]), rel=0.01)
    claim = Accuracies(a=0.90, b=0.88, n=2, known=0.84)
    correlation = (0.84 - 0.9 * 0.88) / np.sqrt(0.9 * 0.1 * 0.88 * 0.12)
    content = report_plan(claim, anchors=count).content
    assert content["correlation_of_anchors"] == pytest.approx(correlation)
    assert content["n_with_anchors"] < content["n_needed"]
