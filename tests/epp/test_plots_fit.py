"""Figures of how well skills explain the wins, and of mean scores: marks, titles, refusals."""

from typing import Any

import numpy as np
import pytest

from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.plots_fit import plot_reliability
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


def test_they_are_drawn() -> None:
    fit = fit_epp(simulate_tournament([1.0, 0.0, -1.0], 30, random_seed=0))
    assert "figure" in plot_reliability(fit, n_bins=3).viz
