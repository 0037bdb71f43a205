"""Outlying players, and the kernel of many players against solving directly.

``test_fit.py`` has the same maximum by SciPy's optimiser, and the covariance by refits.
"""

import numpy as np
import pytest

from bayes_sota.epp import solver


def test_outlying_players_need_no_start() -> None:
    """Half a win of 400 matches in each pair, for one and for half of the players."""
    m, n = 500, 400
    for last in (1, m // 2):
        totals = np.full(m, (m - last - 1) * n / 2 + last * (n - 0.5 / last))
        totals[-last:] = (last - 1) * n / 2 + (m - last) * 0.5 / last
        found = solver.solve(totals, n * (1 - np.eye(m)))
        gap = np.log((n - 0.5 / last) / (0.5 / last))
        np.testing.assert_allclose(found[0] - found[-last:], gap, rtol=1e-8)


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
def test_the_kernel_of_many_players_solves_what_is_solved_directly(
    spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    n_matches = 40 * (1 - np.eye(320))
    expected = n_matches * solver.win_probabilities(spread * rng.standard_normal(320))
    totals = 0.98 * expected.sum(axis=1) + 0.02 * 40 * 319 / 2
    found = solver.solve(totals, n_matches)
    both = solver.solve(np.stack([totals, totals]), n_matches)
    covariance = solver.model_covariance(found, n_matches)
    monkeypatch.setattr(solver, "_FEW_PLAYERS", 400)
    np.testing.assert_allclose(found, solver.solve(totals, n_matches), rtol=0, atol=1e-9)
    np.testing.assert_allclose(both, [found, found], rtol=0, atol=1e-12)
    direct = solver.model_covariance(found, n_matches)
    np.testing.assert_allclose(covariance, direct, rtol=0, atol=1e-9 * direct.max())
