"""Figures of how well skills explain the wins, and of mean scores: marks, titles, refusals."""

from typing import Any

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.plots_fit import plot_mean_scores, plot_reliability
from bayes_sota.epp.simulate import reliability, simulate_tournament


def marks(figure: Any, label: str, name: str) -> tuple[Any, Any]:
    artist = figure.viz[label][name].item()
    return np.ravel(artist["x"]).astype(float), np.ravel(artist["y"]).astype(float)


def test_bins_and_pairs_are_those_of_the_reliability() -> None:
    fit = fit_epp(simulate_tournament(np.linspace(1, -1, 8), 40, random_seed=0))
    found, figure = reliability(fit, 5), plot_reliability(fit, n_bins=5, backend="none")
    x, y = marks(figure, "bins", "wins")
    assert x == pytest.approx(found.predicted)
    assert y == pytest.approx(found.observed)
    x, y = marks(figure, "pairs", "wins")
    assert (x.size, y) == (28, pytest.approx(found.pairs_observed))
    _, bars = marks(figure, "interval", "wins")
    ends = bars[np.isfinite(bars)].reshape(-1, 2)
    assert ends == pytest.approx(np.column_stack([found.lower, found.upper]))


def test_mean_scores_against_skills() -> None:
    scores = np.array([[0.9, 0.8, 0.2], [0.9, 0.8, 0.3], [0.1, 0.5, 0.2], [0.6, 0.5, 0.7]])
    fit = fit_epp(ScoreTable(scores, players=["a", "b", "c"]), penalty=0.5)
    figure = plot_mean_scores(fit, backend="none")
    x, y = marks(figure, "player", "score")
    assert x == pytest.approx(fit.epp)
    assert y == pytest.approx(scores.mean(axis=0))
    title = figure.viz["figure_title"].item()["string"]
    assert title == "Mean scores order 2 of 3 pairs of players as EPP does"


def test_errors_are_turned() -> None:
    scores = np.array([[1.0, 2.0, 4.0], [1.5, 1.0, 3.0], [1.0, 2.5, 2.0]])
    fit = fit_epp(ScoreTable(scores, lower_is_better=True), penalty=0.5)
    figure = plot_mean_scores(fit, backend="none")
    assert marks(figure, "player", "score")[1] == pytest.approx(-scores.mean(axis=0))


def test_matches_have_no_scores() -> None:
    fit = fit_epp(Matches([0, 1, 0], [1, 0, 1], [1, 1, 0], players=["a", "b"]))
    with pytest.raises(InputError, match="listed matches have none"):
        plot_mean_scores(fit, backend="none")


def test_names_keep_apart() -> None:
    fit = fit_epp(simulate_tournament(np.zeros(12), 30, random_seed=0))
    figure = plot_mean_scores(fit, backend="none")
    heights = sorted(
        float(np.ravel(figure.viz[f"name_{k}"]["score"].item()["y"])[0]) for k in range(12)
    )
    means = fit.data.scores.mean(axis=0)  # type: ignore[union-attr]
    assert np.diff(heights).min() >= 0.8 * 0.06 * np.ptp(means) - 1e-9
    assert (
        "name_0"
        not in plot_mean_scores(
            fit_epp(simulate_tournament(np.zeros(21), 30, random_seed=0)), backend="none"
        ).viz
    )


def test_they_are_drawn() -> None:
    fit = fit_epp(simulate_tournament([1.0, 0.0, -1.0], 30, random_seed=0))
    for figure in (plot_reliability(fit, n_bins=3), plot_mean_scores(fit)):
        assert "figure" in figure.viz
