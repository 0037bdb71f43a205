"""The figures of players draw their fits, say what they show, and keep their labels apart."""

from itertools import combinations

import numpy as np
import pytest
from cli.test_figures import artist, faults_of, title_of
from simulated_tournaments import simulate_tournament

from bayes_sota.epp.equations import critical_values
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.plots import plot_critical_differences, plot_epp

LONG = "a model with a very long name and $parameters_{{x}}$ <b>of its own</b> number {}"


def fit_of(count: int, name: str = "player {}", rounds: int = 25):
    skills = np.linspace(1.5, -1.5, count)
    players = [name.format(i) for i in range(count)]
    return fit_epp(simulate_tournament(skills, rounds, players=players, random_seed=3), penalty=0.5)


@pytest.fixture(scope="module")
def fit():
    return fit_of(6)


def bars(figure, label: str, variable: str) -> np.ndarray:
    """Ends of the bars of an artist, (bars, 2)."""
    x = np.asarray(artist(figure, label, variable)["x"]).reshape(-1, 3)
    assert np.isnan(x[:, -1]).all()
    return x[:, :-1]


def test_the_forest_draws_the_fit_best_first(fit) -> None:
    figure = plot_epp(fit, ci_prob=0.9, backend="none")
    order, tied = np.argsort(-fit.epp), fit.tied_with_best(0.9)
    for suffix, here in (("", tied[order]), ("_weak", ~tied[order])):
        chosen = order[here]
        drawn = artist(figure, f"mean{suffix}", "epp")
        np.testing.assert_array_equal(drawn["x"], fit.epp[chosen])
        np.testing.assert_array_equal(drawn["y"], -np.flatnonzero(here))
        np.testing.assert_allclose(
            bars(figure, f"interval{suffix}", "epp"), fit.interval(0.9)[chosen]
        )
        outer = fit.interval(0.9, "simultaneous")[chosen]
        np.testing.assert_allclose(bars(figure, f"outer{suffix}", "epp"), outer)
    assert title_of(figure) == f"{tied.sum()} of 6 players may be the best (filled dots)"


def test_players_on_one_bar_are_those_that_no_test_distinguishes(fit) -> None:
    """Tests of single pairs, at the level that is left to each of them."""
    drawn = plot_critical_differences(fit, ci_prob=0.9, backend="none")
    critical = critical_values(fit.influence, 0.9, fit.df, pairs=True)[0, 1]
    found = []
    for i, j in combinations(range(6), 2):
        test = fit.test(fit.players[i], fit.players[j])
        found.append(abs(test.difference) > critical * test.se)
    sets = [{*artist(drawn, f"members_{k}", "place")["x"]} for k in range(3)]
    pairs = combinations(fit.epp, 2)
    assert [not any({*pair} <= one for one in sets) for pair in pairs] == found
    assert title_of(drawn).startswith(f"{sum(found)} of 15 pairs")
    few = plot_critical_differences(fit, most=3, backend="none")
    assert title_of(few).endswith("the first 3 are drawn")
    names = [artist(few, f"name_{k}", "place")["string"].strip() for k in range(3)]
    assert names == [fit.players[k] for k in np.argsort(fit.epp)[3:]]


def test_a_single_winner_and_players_left_out() -> None:
    fit = fit_epp(simulate_tournament([4, 0, 0, 0.0], 60, players=list("abcd"), random_seed=0))
    assert title_of(plot_epp(fit, backend="none")) == "a is the best of 4 players"
    figure = plot_epp(fit, most=3, backend="none")
    assert title_of(figure) == "a is the best of 4 players the first 3 are drawn"
    assert len(artist(figure, "mean_weak", "epp")["x"]) == 2


def test_intervals_that_are_infinite_end_at_the_edge() -> None:
    scores = np.random.default_rng(0).normal(size=(20, 4))
    scores[1:, 0] = np.nan
    scores[0] = [0.5, 0.2, 0.9, 0.1]
    fit = fit_epp(scores)  # a player of one round: its error is not known
    drawn = bars(plot_epp(fit, backend="none"), "outer", "epp")
    assert np.isfinite(drawn).all()
    assert drawn.min() < fit.interval(kind="simultaneous")[1:, 0].min()


# Looks


@pytest.mark.parametrize(("count", "name"), [(10, LONG), (2, "{}"), (80, "{}")])
@pytest.mark.parametrize("draw", [plot_epp, plot_critical_differences])
def test_texts_do_not_collide(draw, count: int, name: str) -> None:
    figure = draw(fit_of(count, name), backend="matplotlib").viz["figure"].item()
    figure.canvas.draw()
    assert list(faults_of(figure)) == []
