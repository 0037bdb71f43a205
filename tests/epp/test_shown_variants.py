"""A picked variant on a leaderboard: closer to the truth than its estimate, with intervals."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.variants import population_sd_of, private_variants, private_variants_of


def test_it_is_the_posterior_of_the_players_own_numbers() -> None:
    fit = fit_epp(simulate_tournament(np.linspace(1, -1, 8), 20, random_seed=0))
    found = private_variants_of(fit, "3", 10, random_seed=0)
    others = np.arange(8) != 2
    alone = private_variants(
        float(fit.epp[2]), float(fit.se[2]), 10,
        population_sd=population_sd_of(fit.epp[others], fit.se[others]),
        population_mean=float(fit.epp[others].mean()), df=19, random_seed=0,
    )  # fmt: skip
    assert found.mean == alone.mean
    assert np.array_equal(found.winner_skill, alone.winner_skill)


def test_nearer_to_the_truth_than_the_estimate() -> None:
    # Twelve providers of one model each, and one that shows the best of 15 nearly equal variants.
    rng = np.random.default_rng(8)
    raw, corrected, covered, simulations = [], [], 0, 40
    for _ in range(simulations):
        others = rng.normal(0, 0.6, 12)
        own = rng.normal(0, 0.6) + rng.normal(0, 0.1, 15)
        table = simulate_tournament(np.append(others, own), 20, random_seed=rng)
        public = fit_epp(table, penalty=0.01)
        shown = 12 + int(np.argmax(public.epp[12:]))
        names = [table.players[k] for k in (*range(12), shown)]
        fit = fit_epp(table.subset(names), penalty=0.01)
        truth = own[shown - 12] - np.append(others, own[shown - 12]).mean()
        found = private_variants_of(fit, names[-1], 15, draws=500, random_seed=rng)
        raw.append(fit.epp[-1] - truth)
        corrected.append(found.mean - truth)
        low, high = found.interval()
        covered += low < truth < high
    assert np.mean(raw) > 0.25  # the winner's curse
    assert abs(np.mean(corrected)) < np.mean(raw) / 2
    assert np.mean(np.square(corrected)) < np.mean(np.square(raw))
    assert covered / simulations > 0.85


def test_bad_input() -> None:
    small = fit_epp(simulate_tournament([1, 0, 0, -1], 20, random_seed=0))
    with pytest.raises(InputError, match="at least 4 players"):
        private_variants_of(small, "1", 10)
    with pytest.raises(InputError, match="no player 'nobody'"):
        private_variants_of(small, "nobody", 10)
