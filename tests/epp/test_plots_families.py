"""Boxes of families: quartiles, whiskers, rows of tournaments, and the title."""

from typing import Any

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.further_fits import fit_tournaments
from bayes_sota.epp.plots_fit import plot_families
from bayes_sota.epp.simulate import simulate_tournament

PLAYERS = [f"{family}_{n}" for family in ("svm", "knn") for n in range(8)]


def marks(figure: Any, label: str) -> tuple[Any, Any]:
    artist = figure.viz[label]["epp"].item()
    return np.ravel(artist["x"]).astype(float), np.ravel(artist["y"]).astype(float)


def bars(figure: Any, label: str) -> Any:
    x = marks(figure, label)[0]
    return x[np.isfinite(x)].reshape(-1, 2)


def test_boxes_hold_the_middle_half() -> None:
    skills = [*np.linspace(1, 1.7, 7), -3.0, *np.linspace(0, 0.2, 8)]
    fit = fit_epp(simulate_tournament(skills, 60, players=PLAYERS, random_seed=0))
    figure = plot_families(fit, "_", backend="none")
    for k, of in enumerate((fit.epp[:8], fit.epp[8:])):
        low, middle, high = np.quantile(of, [0.25, 0.5, 0.75])
        assert bars(figure, f"box_{k}")[0] == pytest.approx([low, high])
        assert marks(figure, f"median_{k}") == (pytest.approx([middle]), pytest.approx([-float(k)]))
        inside = of[np.abs(of - np.clip(of, low, high)) <= 1.5 * (high - low)]
        assert bars(figure, f"whisker_{k}")[0] == pytest.approx([inside.min(), inside.max()])
    assert marks(figure, "beyond_0")[0].min() == fit.epp[7]


def test_tournaments_have_rows_of_their_own() -> None:
    tables = [
        simulate_tournament(
            np.linspace(1, -1, 16), 30, players=PLAYERS, tournament=name, random_seed=0
        )
        for name in ("iris", "wine", "glass")
    ]
    boards = fit_tournaments(tables)
    figure = plot_families(boards, "_", most=2, backend="none")
    assert marks(figure, "median_0")[1] == pytest.approx([0.0, -2.7])
    assert marks(figure, "median_1")[1] == pytest.approx([-1.0, -3.7])
    title = figure.viz["figure_title"].item()["string"]
    assert title.endswith("the first 2 of 3 tournaments are drawn")
    with pytest.raises(InputError, match="no family before"):
        plot_families(boards, "#", backend="none")
