"""Elo's updates by hand, in the long run beside EPP, and in several orders."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.elo import elo_ratings
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import simulate_tournament


def test_updates_by_hand() -> None:
    matches = Matches([0, 1, 0], [1, 2, 2], [1.0, 0.5, 0.0], players=list("abc"))
    ratings = dict.fromkeys("abc", 1500.0)
    for one, other, outcome in (("a", "b", 1.0), ("b", "c", 0.5), ("a", "c", 0.0)):
        expected = 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / 400))
        ratings[one] += 20 * (outcome - expected)
        ratings[other] -= 20 * (outcome - expected)
    found = elo_ratings(matches, 20, orders=2)
    assert found.ratings[0] == pytest.approx([*ratings.values()])
    assert found.ratings.mean(axis=1) == pytest.approx(1500)


def test_in_the_long_run_it_scatters_about_the_skills() -> None:
    table = simulate_tournament([1.0, 0.3, -0.3, -1.0], 2000, random_seed=0)
    found = elo_ratings(table, 4, orders=20)
    assert found.mean == pytest.approx(fit_epp(table).elo, abs=12)
    wider = elo_ratings(table, 32, orders=20)
    assert (wider.ratings.std(axis=0) > 1.5 * found.ratings.std(axis=0)).all()


def test_orders_matter_and_leads_add_up() -> None:
    found = elo_ratings(simulate_tournament([0.1, 0.0, -0.1], 30, random_seed=0), orders=50)
    assert found.leads.sum() == pytest.approx(1)
    assert (found.leads > 0).all()
    low, high = found.interval().T
    assert (high - low > 50).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"k_factor": 0.0}, "k_factor"), ({"orders": 1}, "orders")],
)
def test_refusals(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        elo_ratings(ScoreTable([[2, 1], [1, 2]]), **settings)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at most 200,000 are played"):
        elo_ratings(ScoreTable(np.random.default_rng(0).random((2, 500))))
