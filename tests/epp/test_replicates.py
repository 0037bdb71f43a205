"""Simulated tournaments that are solved together, against one after another and against fits."""

import numpy as np
import pytest

from bayes_sota.core.errors import InfiniteEstimateError
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp import simulate
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.simulate import deviances_of_replicates, simulate_tournament

SKILLS = np.linspace(1.5, -1.5, 6)


def listed_matches() -> Matches:
    rng = np.random.default_rng(4)
    first = rng.integers(6, size=200)
    second = (first + 1 + rng.integers(5, size=200)) % 6
    outcomes = rng.choice([0.0, 0.5, 1.0], size=200)
    return Matches(first, second, outcomes, players=list("fedcba"))


FITS = {
    "complete": lambda: fit_epp(simulate_tournament(SKILLS, 25, random_seed=0)),
    "few rounds": lambda: fit_epp(simulate_tournament(SKILLS, 7, random_seed=0)),
    "ties": lambda: fit_epp(simulate_tournament(SKILLS, 25, step=0.5, random_seed=1)),
    "missing": lambda: fit_epp(simulate_tournament(SKILLS, 25, missing=0.3, random_seed=2)),
    "penalty": lambda: fit_epp(simulate_tournament(4 * SKILLS, 5, random_seed=0), penalty=0.5),
    "all-rounds": lambda: fit_epp(simulate_tournament(SKILLS, 9, random_seed=3), "all-rounds"),
    "listed": lambda: fit_epp(listed_matches()),
}


def all_of_them(fit: BradleyTerryFit, repetitions: int = 60) -> np.ndarray:
    return np.concatenate([*deviances_of_replicates(fit, np.random.default_rng(1), repetitions)])


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("block", [1, 2_000])
def test_together_and_one_after_another(name, block, monkeypatch) -> None:
    fit = FITS[name]()
    together = all_of_them(fit)
    monkeypatch.setattr(simulate, "_BLOCK", block)
    np.testing.assert_allclose(together, all_of_them(fit), rtol=1e-9, atol=1e-9)
    assert together.shape == (60,)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_each_is_the_deviance_of_a_fit(missing: float) -> None:
    table = simulate_tournament([1.0, 0.4, -0.4, -1.0], 12, missing=missing, random_seed=5)
    fit = fit_epp(ScoreTable(table.scores, players=list("dbca")))
    found, rng = all_of_them(fit, 30), np.random.default_rng(1)
    columns = np.argsort(fit.players)
    places = np.ix_(np.lexsort(fit.data.scores[:, columns].T), columns)
    compared = 0
    for deviance in found:
        noise = np.empty(fit.data.scores.shape)
        noise[places] = rng.gumbel(size=noise.shape)
        scores = np.where(fit.data.present, fit.epp + noise, np.nan)
        try:
            expected = fit_epp(scores).deviance
        except InfiniteEstimateError:
            continue
        assert deviance == pytest.approx(expected, abs=1e-9)
        compared += 1
    assert compared > 20
