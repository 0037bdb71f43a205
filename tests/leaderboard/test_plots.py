"""The sensitivity figure draws the rows of its table."""

import numpy as np
import pandas as pd
import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.leaderboard.plots import plot_sensitivity


@pytest.fixture(scope="module")
def rows(board: bs.Leaderboard) -> pd.DataFrame:
    return bs.sota_sensitivity(board, draws=300, random_seed=1)


def test_every_row_is_drawn(rows: pd.DataFrame) -> None:
    figure = plot_sensitivity(rows, observed_maximum=0.95, backend="none")
    for i, row in enumerate(rows.itertuples()):
        bar = figure.viz[f"interval_{i}"]["theta_sota"].item()
        np.testing.assert_array_equal(bar["x"], [row.lower, row.upper])
        assert figure.viz[f"mean_{i}"]["theta_sota"].item()["x"] == [row.mean]
    assert f"interval_{len(rows)}" not in figure.viz
    assert figure.viz["baseline"]["theta_sota"].item()["x"] == rows["mean"][0]
    assert figure.viz["observed_maximum"]["theta_sota"].item()["x"] == 0.95


def test_labels(rows: pd.DataFrame) -> None:
    collection = plot_sensitivity(rows, backend="matplotlib")
    axes = collection.viz["plot"]["theta_sota"].item()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "as given"
    assert "number of tries × 10" in labels
    assert len(labels) == len(rows)
    heights = [float(tick) for tick in axes.get_yticks()]
    assert np.all(np.diff(heights) < -0.9)
    assert "skill" in axes.get_xlabel()


def test_title_names_the_assumption_that_moves_the_most() -> None:
    table = pd.DataFrame(
        {
            "assumption": ["as given", "rho", "rho"],
            "value": [np.nan, 0.5, 0.9],
            "mean": [0.90, 0.91, 0.88],
            "lower": [0.85, 0.86, 0.83],
            "upper": [0.95, 0.96, 0.93],
        },
        index=[7, 7, 3],
    )
    title = plot_sensitivity(table, backend="none").viz["figure_title"].item()["string"]
    assert "at most 0.02, 40% of the interval's half-width" in title
    assert "0.880 with correlation rho = 0.9" in title


def test_tables_that_cannot_be_drawn(rows: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="lacks the column lower, upper"):
        plot_sensitivity(rows.drop(columns=["lower", "upper"]), backend="none")
    with pytest.raises(InputError, match="has no row"):
        plot_sensitivity(rows.iloc[:0], backend="none")


def test_the_result_alone(rows: pd.DataFrame) -> None:
    figure = plot_sensitivity(rows.iloc[:1], backend="none")
    assert "interval_1" not in figure.viz
