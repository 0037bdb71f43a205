"""Many tournaments against one at a time."""

import numpy as np
import pytest
from bayes_sota.epp.further_fits import fit_tournaments, tournaments_tree

from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import simulate_tournament


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


def test_processes_give_the_same() -> None:
    tables = [
        simulate_tournament([1, 0, -1], 20, tournament=str(k), random_seed=k) for k in range(3)
    ]
    alone, together = fit_tournaments(tables), fit_tournaments(tables, jobs=2)
    assert all(np.array_equal(a.epp, b.epp) for a, b in zip(alone, together, strict=True))


def test_tree_has_gaps_where_a_player_is_missing() -> None:
    tables = [
        simulate_tournament([1, 0, -1], 20, players=list("abc"), tournament="x", random_seed=0),
        simulate_tournament([1, 0, -1], 20, players=list("bcd"), tournament="y", random_seed=1),
    ]
    tree = tournaments_tree(fit_tournaments(tables))
    epp = tree["point_estimate"]["epp"]
    assert epp.sel(tournament="x", player="d").isnull()
    assert float(epp.sel(tournament="y", player="d")) == fit_epp(tables[1]).epp[2]


def test_errors_name_the_tournament() -> None:
    good = simulate_tournament([1, 0, -1], 20, tournament="good", random_seed=0)
    apart = simulate_tournament([90, 0, 0], 20, tournament="apart", random_seed=0)
    with pytest.raises(InfiniteEstimateError, match="tournament 'apart': '1' never lost"):
        fit_tournaments([good, apart])
    flagged = fit_tournaments([good, apart], penalty=0.5)
    assert [found.connected for found in flagged] == [True, False]
    with pytest.raises(InputError, match="'good' is there twice"):
        fit_tournaments([good, good])
