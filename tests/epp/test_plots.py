"""The figures of players draw their fits, say what they show, and keep their labels apart."""

from itertools import combinations
from typing import Any

import arviz as az
import numpy as np
import pytest
import xarray as xr

from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.plots import (
    odds_axis,
    plot_epp,
    plot_rank_distribution,
)
from bayes_sota.epp.simulate import simulate_tournament

LONG = "a model with a very long name and $parameters_{{x}}$ <b>of its own</b> number {}"


def fit_of(count: int, name: str = "player {}", rounds: int = 25) -> BradleyTerryFit:
    skills = np.linspace(1.5, -1.5, count)
    players = [name.format(i) for i in range(count)]
    return fit_epp(simulate_tournament(skills, rounds, players=players, random_seed=3), penalty=0.5)


@pytest.fixture(scope="module")
def fit() -> BradleyTerryFit:
    return fit_of(6)


def tree_of(fit: BradleyTerryFit, **spread: float) -> xr.DataTree:
    draws = np.random.default_rng(0).normal(fit.epp, spread.get("sd", 0.4), (2, 200, len(fit.epp)))
    coords = {"player": list(fit.players)}
    return az.from_dict({"posterior": {"epp": draws}}, coords=coords, dims={"epp": ["player"]})


def title_of(figure: Any) -> str:
    title = figure.viz["figure_title"].item()
    return title["string"] if isinstance(title, dict) else title.get_text()


def artist(figure: Any, label: str, variable: str) -> dict[str, Any]:
    return figure.viz[label][variable].item()


def bars(figure: Any, label: str, variable: str, points: int = 2) -> np.ndarray:
    """Ends of the bars of an artist, (bars, points), x and y."""
    drawn = artist(figure, label, variable)
    x, y = (np.asarray(drawn[axis]).reshape(-1, points + 1) for axis in "xy")
    assert np.isnan(x[:, -1]).all()
    return np.stack([x[:, :-1], y[:, :-1]])


def texts_that_collide(figure: Any) -> list[tuple[str, str]]:
    """Texts of a matplotlib figure that cover each other, or leave the figure."""
    axes = [one.item() for one in figure.viz["plot"].to_dataset().values()]
    canvas = axes[0].figure.canvas
    axes[0].figure.draw_without_rendering()
    texts = [axes[0].figure._suptitle]
    for one in axes:
        labels = [*one.get_yticklabels(), *one.get_xticklabels()]
        texts += [*one.texts, *labels, one.xaxis.label, one.yaxis.label, one.title]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    width, height = canvas.get_width_height()
    found = [
        (one, other)
        for (one, a), (other, b) in combinations(boxes, 2)
        if a.x0 < b.x1 - 1 and b.x0 < a.x1 - 1 and a.y0 < b.y1 - 1 and b.y0 < a.y1 - 1
    ]
    outside = [b.x0 < -1 or b.x1 > width + 1 or b.y0 < -1 or b.y1 > height + 1 for _, b in boxes]
    return found + [(text, "edge") for (text, _), out in zip(boxes, outside, strict=True) if out]


def test_ticks_say_the_probability_below() -> None:
    axis = odds_axis("EPP", [[-8.0, np.nan], [np.inf, 7.9]])
    assert (axis.low, axis.high) == (pytest.approx(-8.795), pytest.approx(8.695))
    assert axis.texts == ["-5\n0.7%", "0\n50%", "5\n99.3%"]
    same = odds_axis("score", [0.0, 0.0])
    assert same.low < 0 < same.high


# Forest


def test_the_forest_draws_the_fit_best_first(fit: BradleyTerryFit) -> None:
    figure = plot_epp(fit, ci_prob=0.9, backend="none")
    order, tied = np.argsort(-fit.epp), fit.tied_with_best(0.9)
    for kind, here in (("tied", tied[order]), ("behind", ~tied[order])):
        chosen, rows = order[here], -np.flatnonzero(here)
        drawn = artist(figure, f"epp_{kind}", "epp")
        np.testing.assert_array_equal(drawn["x"], fit.epp[chosen])
        np.testing.assert_array_equal(drawn["y"], rows)
        assert (drawn["facecolor"] == "white") == (kind == "behind")
        x, y = bars(figure, f"interval_{kind}", "epp")
        np.testing.assert_allclose(x, fit.interval(0.9)[chosen])
        np.testing.assert_array_equal(y, np.column_stack([rows, rows]))
        thin, y = bars(figure, f"simultaneous_{kind}", "epp")
        np.testing.assert_allclose(thin, fit.interval(0.9, "simultaneous")[chosen])
        np.testing.assert_array_equal(y, np.column_stack([rows, rows]))
    assert title_of(figure) == f"{tied.sum()} of 6 players may be the best (filled dots)"


def test_a_single_winner_and_players_left_out() -> None:
    fit = fit_epp(simulate_tournament([4, 0, 0, 0.0], 60, players=list("abcd"), random_seed=0))
    assert title_of(plot_epp(fit, backend="none")) == "a is better than all other 3"
    figure = plot_epp(fit, most=3, backend="none")
    assert title_of(figure) == "a is better than all other 3\nthe first 3 are drawn"
    assert len(artist(figure, "epp_behind", "epp")["x"]) == 2


def test_intervals_that_are_infinite_end_at_the_edge() -> None:
    scores = np.random.default_rng(0).normal(size=(20, 4))
    scores[1:, 0] = np.nan
    scores[0] = [0.5, 0.2, 0.9, 0.1]
    fit = fit_epp(scores)  # a player of one round: its error is not known
    known = np.append(fit.interval(kind="simultaneous")[1:], fit.epp[0])
    room = 0.05 * np.ptp(known)
    drawn = bars(plot_epp(fit, backend="none"), "simultaneous_tied", "epp")[0]
    assert [drawn.min(), drawn.max()] == pytest.approx([known.min() - room, known.max() + room])


def test_the_forest_of_a_posterior(fit: BradleyTerryFit) -> None:
    tree = tree_of(fit)
    figure = plot_epp(tree, backend="none")
    draws = tree["posterior"]["epp"].values.reshape(-1, 6)
    winners = np.mean(draws == draws.max(axis=1, keepdims=True), axis=0)
    assert title_of(figure).startswith(f"{(winners >= 0.025).sum()} of 6 players")
    assert "simultaneous_tied" not in figure.viz
    first = bars(figure, "interval_tied", "epp")[0, 0]
    np.testing.assert_allclose(
        first, np.quantile(draws[:, draws.mean(axis=0).argmax()], [0.025, 0.975])
    )


# Win probabilities


EDGES = np.array([0.05, 0.25, 0.45, 0.55, 0.75, 0.95])


# Ranks


def test_rank_intervals_of_a_fit(fit: BradleyTerryFit) -> None:
    figure = plot_rank_distribution(fit, backend="none")
    order, ends = np.argsort(-fit.epp), fit.rank_interval()
    tied = ends[:, 0] == 1
    for kind, here in (("tied", tied[order]), ("behind", ~tied[order])):
        np.testing.assert_array_equal(
            bars(figure, f"interval_{kind}", "rank")[0], ends[order][here]
        )
        dots = artist(figure, f"rank_{kind}", "rank")
        np.testing.assert_array_equal(dots["x"], fit.rank[order][here])
    assert title_of(figure) == f"{tied.sum()} of 6 players may hold rank 1"


@pytest.mark.slow
def test_posterior_ranks(fit: BradleyTerryFit) -> None:
    tree = tree_of(fit, sd=1.0)
    epp = tree["posterior"]["epp"]
    ranks = (epp.values[..., None, :] > epp.values[..., :, None]).sum(axis=-1) + 1
    shares = np.stack([(ranks == rank).mean(axis=(0, 1)) for rank in range(1, 7)], axis=1)
    mean = ranks.mean(axis=(0, 1))
    figure = plot_rank_distribution(tree, backend="none")
    for row, i in enumerate(np.argsort(mean, kind="stable")):
        area = artist(figure, f"ranks_{row}", "rank")
        left, top = np.asarray(area["x"])[::2], np.asarray(area["y_top"])[::2] + row
        drawn = np.zeros(6)
        drawn[np.rint(left - 0.5).astype(int)] = top / top.sum()
        np.testing.assert_allclose(drawn, shares[i], atol=1e-12)
    best = int(np.argmax(shares[:, 0]))
    said = f"{fit.players[best]} is the best with a probability of {shares[best, 0]:.0%}"
    assert title_of(figure) == said
    first = int(np.argmin(mean))
    low, high = np.quantile(ranks[..., first], [0.025, 0.975], method="inverted_cdf")
    np.testing.assert_allclose(
        bars(figure, "interval_tied", "rank")[0, 0], [low - 0.45, high + 0.45]
    )
    few = plot_rank_distribution(tree, most=2, backend="none")
    assert title_of(few).endswith("the first 2 of 6 are drawn")


# Looks


@pytest.mark.parametrize(
    ("count", "name"),
    [
        (10, LONG),
        pytest.param(2, "{}", marks=pytest.mark.slow),
        pytest.param(20, "{}", marks=pytest.mark.slow),
        pytest.param(80, "{}", marks=pytest.mark.slow),
    ],
)
def test_texts_do_not_collide(count: int, name: str) -> None:
    fit = fit_of(count, name)
    backend = {"backend": "matplotlib"}
    figures = [
        plot_epp(fit, **backend),
        plot_rank_distribution(fit, **backend),
    ]  # fmt: skip
    assert [texts_that_collide(figure) for figure in figures] == [[]] * len(figures)


def test_names_are_shown_as_they_are() -> None:
    panel = plot_epp(fit_of(3, "<b>$x$</b> {}"), backend="matplotlib").viz["plot"]["epp"].item()
    assert panel.get_yticklabels()[0].get_text() == r"1  <b>\$x\$</b> 0"
