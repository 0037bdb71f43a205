"""A player added to a leaderboard, against a fit of everybody."""

import numpy as np
import pytest
from bayes_sota.epp.further_fits import add_player

from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.data.matches import Matches
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import simulate_tournament


@pytest.mark.parametrize("kind", ["same-round", "all-rounds"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_as_if_all_were_fitted(kind: str, missing: float) -> None:
    skills = np.linspace(1.5, -1.5, 60)
    table = simulate_tournament(skills, 20, missing=missing, step=0.1, random_seed=5)
    newcomer = table.players[20]
    others = [name for name in table.players if name != newcomer]
    rest = fit_epp(table.subset(others), kind)
    found = add_player(rest, newcomer, table.scores[:, 20])
    whole = fit_epp(table, kind)
    place = [table.players.index(name) for name in others]
    gauge = whole.epp[place].mean()
    assert found.epp == pytest.approx(whole.epp[20] - gauge, abs=0.01)
    # The full fit's error of the skill about the others' mean.
    contrast = np.where(np.arange(60) == 20, 1.0, -1 / 59)
    influence = whole.influence @ contrast
    assert found.se == pytest.approx(np.sqrt(influence @ influence * 20 / 19), rel=0.05)
    assert found.win_probability(others[3]) == pytest.approx(
        whole.win_probability(newcomer, others[3]), abs=0.01
    )
    low, high = found.interval()
    assert low < found.epp < high
    assert found.rank == 1 + int(np.sum(rest.epp > found.epp))


def test_the_added_skill_solves_its_equation() -> None:
    table = simulate_tournament([1.0, 0.0, -1.0], 15, random_seed=0)
    fit = fit_epp(table)
    scores = dict(zip(table.rounds, table.scores[:, 0] - 0.2, strict=True))
    found = add_player(fit, "new", scores)
    wins = np.sum(table.scores[:, 0][:, None] - 0.2 > table.scores)
    assert 15 * found.win_probabilities.sum() == pytest.approx(wins, abs=1e-8)


def test_penalty_is_that_of_the_leaderboard() -> None:
    table = simulate_tournament([1.0, 0.0, -1.0], 15, random_seed=0)
    top = table.scores.max(axis=1) + 1
    with pytest.raises(InfiniteEstimateError, match="won against everybody"):
        add_player(fit_epp(table), "new", top)
    found = add_player(fit_epp(table, penalty=0.5), "new", top)
    assert 2 < found.epp < 8
    assert 15.5 * found.win_probabilities.sum() == pytest.approx(45 + 0.5 * 3 / 2)


def test_what_is_refused() -> None:
    table = simulate_tournament([1.0, 0.0, -1.0], 15, random_seed=0)
    fit = fit_epp(table)
    for scores, message in (
        ([1.0] * 14, "one score per round, 15"),
        ({"nowhere": 1.0}, "no round 'nowhere'"),
    ):
        with pytest.raises(InputError, match=message):
            add_player(fit, "new", scores)
    with pytest.raises(InputError, match="is on the leaderboard already"):
        add_player(fit, table.players[0], [1.0] * 15)
    battles = Matches.from_names(["a", "b"], ["b", "a"], [1, 1])
    with pytest.raises(InputError, match="not to listed matches"):
        add_player(fit_epp(battles), "new", [1.0])


def test_a_newcomer_who_wins_everything_is_not_known_better_than_by_independent_matches() -> None:
    table = simulate_tournament([0.5, 0.2, 0.0, -0.3, -0.5], 20, random_seed=0)
    found = add_player(fit_epp(table, penalty=0.5), "new", table.scores.max(axis=1) + 1)
    p = found.win_probabilities
    assert found.se == pytest.approx(np.sqrt(20 / 19 / (20.5 * np.sum(p * (1 - p)))))
