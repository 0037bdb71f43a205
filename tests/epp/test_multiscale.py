"""Multiscale bootstrap: closed forms of regions, refits, and how often true nulls are rejected."""

import numpy as np
import pytest
from scipy.stats import ncx2, norm
from simulated_tournaments import simulate_tournament

from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.multiscale import SCALES, multiscale_test, unbiased_p_values


def test_half_spaces_and_spheres() -> None:
    """Exact p-values: of a half-space the normal one, of a sphere that of the distance."""
    scale = np.array(SCALES)
    half_space = norm.cdf(-1.5 * np.sqrt(scale))[:, None]
    assert unbiased_p_values(half_space, scale, 10_000) == pytest.approx([norm.sf(1.5)], abs=1e-3)
    # A point at distance 8 from the centre of a ball of radius 6 in three dimensions.
    share = ncx2.cdf(36 * scale, 3, 64 * scale)[:, None]
    exact = ncx2.sf(64, 3, 36)  # how often a mean on its surface lies as far out
    found = unbiased_p_values(share, scale, 10_000)[0]
    plain = ncx2.cdf(36, 3, 64)
    assert found == pytest.approx(exact, rel=0.05)
    assert abs(plain - exact) > 0.3 * exact


def test_shares_are_those_of_refits() -> None:
    fit = fit_epp(simulate_tournament([0.6, 0.4, 0.0, -1.0], 40, random_seed=1))
    found = multiscale_test(fit, [("1", "2")], repetitions=2_000, random_seed=0)
    drawn = np.random.default_rng(0).integers(40, size=(400, 40))
    refits = [fit_epp(fit.data.scores[rows], penalty=1e-3).epp for rows in drawn]
    below = np.mean([skills[0] < skills[1] for skills in refits])
    assert found.pair_share[0] == pytest.approx(below, abs=0.08)


@pytest.mark.slow
def test_true_nulls_are_rejected_at_the_level() -> None:
    found = []
    for seed in range(300):
        fit = fit_epp(simulate_tournament([0.0] * 5, 100, random_seed=seed), penalty=0.5)
        test = multiscale_test(fit, [("1", "2")], repetitions=250, random_seed=seed)
        found.append(test.pair_p_value[0])
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=4 * 0.0126)
