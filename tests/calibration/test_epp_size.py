"""How often true nulls are rejected: pairs of equal players, twenty rounds, nominally 5 %.

The full study is ``tests/benchmarks/epp_coverage.py``. Pairs of one tournament depend on each
other a little, so that errors are those of the mean over tournaments.
"""

import numpy as np
import pytest
from scipy.stats import norm, t
from simulated_tournaments import simulate_tournament

from bayes_sota.epp.fit import fit_epp

LEVEL, ROUNDS = 0.05, 20
AIM = (0.025, 0.065)  # of the share rejected; fewer than 5 % are allowed
ERRORS = 3.0  # standard ones of the simulation


def pairs_of_equals(players: int) -> np.ndarray:
    """Skills two by two, from better to worse; a last player in the middle if they are odd."""
    return np.resize(np.append(np.repeat(np.linspace(1, -1, players // 2), 2), 0.0), players)


def rejections(players: int, kind: str, tournaments: int) -> np.ndarray:
    """Share of the pairs of each tournament: clustered by round, and by the model, (n, 2)."""
    first = np.arange(0, players - 1, 2)
    skills = pairs_of_equals(players)
    found = np.empty((tournaments, 2))
    for place, seed in enumerate(np.random.SeedSequence([players, 1]).spawn(tournaments)):
        fit = fit_epp(simulate_tournament(skills, ROUNDS, random_seed=seed), kind)
        difference = np.abs(fit.epp[first] - fit.epp[first + 1])
        clustered = difference / fit.standard_errors_of_pairs()[first, first + 1]
        own = np.diagonal(fit.covariance_model)
        variance = own[first] + own[first + 1] - 2 * fit.covariance_model[first, first + 1]
        found[place] = (
            np.mean(2 * t.sf(clustered, fit.df[first]) < LEVEL),
            np.mean(2 * norm.sf(difference / np.sqrt(variance)) < LEVEL),
        )
        if not place:  # the same as a test of the pair
            test = fit.test(*fit.players[:2])
            assert test.p_value == pytest.approx(2 * t.sf(clustered[0], 19))
            assert test.wald_chi2 == pytest.approx(difference[0] ** 2 / variance[0])
    return found


@pytest.mark.parametrize(
    ("players", "tournaments"), [(5, 250), pytest.param(16, 120, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kind", ["same-round", pytest.param("all-rounds", marks=pytest.mark.slow)])
def test_equal_players_are_told_apart_as_rarely_as_said(players, tournaments, kind) -> None:
    shares = rejections(players, kind, tournaments)
    error = ERRORS * shares.std(axis=0, ddof=1) / np.sqrt(tournaments)
    clustered, model = shares.mean(axis=0)
    assert AIM[0] - error[0] < clustered < AIM[1] + error[0]
    assert model > AIM[1] + error[1]  # a wrong test is found out
