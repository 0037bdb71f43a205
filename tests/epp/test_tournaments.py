"""Many tournaments and resampled rounds, each against fits one at a time."""

import numpy as np
import pytest
from epp.resampling import resampled_skills
from simulated_tournaments import simulate_tournament

from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.tournaments import fit_tournaments, tournaments_tree


def test_as_single_fits() -> None:
    tables = [
        simulate_tournament(np.linspace(1, -1, m), 20, tournament=f"data {m}", random_seed=m)
        for m in (3, 5)
    ]
    for kind in ("same-round", "all-rounds"):
        for table, found in zip(tables, fit_tournaments(tables, kind), strict=True):
            fit = fit_epp(table, kind)
            assert found.tournament == table.tournament
            for name in ("epp", "se", "se_model", "df", "p_beats_average"):
                assert np.array_equal(getattr(found, name), getattr(fit, name))
            assert found.deviance == fit.deviance


def test_tree_has_gaps_where_a_player_is_missing() -> None:
    tables = [
        simulate_tournament([1, 0, -1], 20, players=list("abc"), tournament="x", random_seed=0),
        simulate_tournament([1, 0, -1], 20, players=list("bcd"), tournament="y", random_seed=1),
    ]
    tree = tournaments_tree(fit_tournaments(tables))
    epp = tree["point_estimate"]["epp"]
    assert epp.sel(tournament="x", player="d").isnull()
    assert float(epp.sel(tournament="y", player="d")) == fit_epp(tables[1]).epp[2]


@pytest.mark.parametrize("kind", ["same-round", "all-rounds"])
def test_standard_errors_are_those_of_the_sandwich(kind: str) -> None:
    fit = fit_epp(simulate_tournament(np.linspace(1.5, -1.5, 6), 50, random_seed=0), kind)
    found = resampled_skills(fit, 200)
    assert found.std(axis=0, ddof=1) == pytest.approx(fit.se, rel=0.25)
    ends = np.quantile(found, [0.025, 0.975], axis=0).T
    assert np.max(np.abs(ends - fit.interval())) < 0.3
