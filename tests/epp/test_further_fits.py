"""Many tournaments and resampled rounds, each against fits one at a time."""

import numpy as np
import pytest

from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.further_fits import fit_tournaments, tournaments_tree
from bayes_sota.epp.simulate import simulate_tournament


def refits(fit: BradleyTerryFit, repetitions: int) -> np.ndarray:
    """Skills from rounds drawn again, (repetitions, m)."""
    rng, scores = np.random.default_rng(0), fit.data.scores  # type: ignore[union-attr]
    drawn = (rng.integers(len(scores), size=len(scores)) for _ in range(repetitions))
    kind = "all-rounds" if fit.kind == "all-rounds" else "same-round"
    return np.stack([fit_epp(scores[rounds], kind).epp for rounds in drawn])


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
    skills = refits(fit, 200)
    assert skills.std(axis=0, ddof=1) == pytest.approx(fit.se, rel=0.25)
    interval = np.quantile(skills, [0.025, 0.975], axis=0).T
    assert np.max(np.abs(interval - fit.interval())) < 0.3
