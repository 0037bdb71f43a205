"""The sensitivity figure draws the rows of its table."""

import numpy as np
import pandas as pd
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.leaderboard.plots import plot_sensitivity

ROWS = pd.DataFrame(
    [
        ("as given", np.nan, 0.90, 0.85, 0.95),
        ("rho", 0.5, 0.91, 0.86, 0.96),
        ("rho", 0.9, 0.88, 0.83, 0.93),
        ("family", "normal", 0.905, 0.85, 0.94),
        ("n_classifiers", 10.0, 0.90, 0.85, 0.95),
    ],
    columns=["assumption", "value", "mean", "lower", "upper"],
    index=[7, 7, 3, 1, 0],
)


def test_every_row_is_drawn() -> None:
    figure = plot_sensitivity(ROWS, observed_maximum=0.95, backend="none")
    for i, row in enumerate(ROWS.itertuples()):
        bar = figure.viz[f"interval_{i}"]["theta_sota"].item()
        np.testing.assert_array_equal(bar["x"], [row.lower, row.upper])
        assert figure.viz[f"mean_{i}"]["theta_sota"].item()["x"] == [row.mean]
    assert f"interval_{len(ROWS)}" not in figure.viz
    assert figure.viz["baseline"]["theta_sota"].item()["x"] == 0.90
    assert figure.viz["observed_maximum"]["theta_sota"].item()["x"] == 0.95
    title = figure.viz["figure_title"].item()["string"]
    assert "at most 0.02, 40% of the interval's half-width" in title
    assert "0.880 with correlation = 0.9" in title


def test_labels() -> None:
    axes = plot_sensitivity(ROWS, backend="matplotlib").viz["plot"]["theta_sota"].item()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[::4] == ["as given", "number of classifiers × 10"]
    assert (len(labels), labels[3]) == (len(ROWS), "shape of skills: normal")
    heights = [float(tick) for tick in axes.get_yticks()]
    assert np.all(np.diff(heights) < -0.9)
    assert "skill" in axes.get_xlabel()


def test_tables_that_cannot_be_drawn_and_the_result_alone() -> None:
    with pytest.raises(InputError, match="lacks the column lower, upper"):
        plot_sensitivity(ROWS.drop(columns=["lower", "upper"]), backend="none")
    with pytest.raises(InputError, match="has no row"):
        plot_sensitivity(ROWS.iloc[:0], backend="none")
    assert "interval_1" not in plot_sensitivity(ROWS.iloc[:1], backend="none").viz
