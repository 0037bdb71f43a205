"""The sensitivity figure draws the rows of its table."""

import numpy as np
import pandas as pd
import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import COLORS
from bayes_sota.core.tables import Report
from bayes_sota.leaderboard.plots import plot_entries, plot_sensitivity

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
        bar = figure.viz[f"interval_{i}"]["skill"].item()
        np.testing.assert_array_equal(bar["x"], [row.lower, row.upper])
        assert figure.viz[f"skill_{i}"]["skill"].item()["x"] == [row.mean]
    assert f"interval_{len(ROWS)}" not in figure.viz
    assert figure.viz["baseline"]["skill"].item()["x"] == 0.90
    assert figure.viz["observed_maximum"]["skill"].item()["x"] == 0.95
    title = figure.viz["figure_title"].item()["string"]
    assert "at most 0.02, 40% of the interval's half-width" in title
    assert "0.880 with correlation 0.9" in title


def test_tables_that_cannot_be_drawn_and_the_result_alone() -> None:
    with pytest.raises(InputError, match="lacks the column lower, upper"):
        plot_sensitivity(ROWS.drop(columns=["lower", "upper"]), backend="none")
    with pytest.raises(InputError, match="has no row"):
        plot_sensitivity(ROWS.iloc[:0], backend="none")
    assert "interval_1" not in plot_sensitivity(ROWS.iloc[:1], backend="none").viz


@pytest.fixture(scope="module")
def entries() -> Report:
    board = bs.Leaderboard([0.93, 0.80, 0.91, 0.88], n_test=500, names=list("abcd"))
    return bs.board_table(board, random_seed=0)


@pytest.mark.parametrize("top", [2, 4])
def test_every_entry_is_drawn_as_the_table_has_it(entries: Report, top: int) -> None:
    figure = plot_entries(entries, top=top, backend="none")
    for row, entry in enumerate(entries.frame.head(top).itertuples()):
        interval, skill, score = (
            figure.viz[f"{mark}_{row}"]["skill"].item() for mark in ("interval", "skill", "score")
        )
        np.testing.assert_array_equal(interval["x"], [entry.skill_lower, entry.skill_upper])
        assert (skill["x"], score["x"]) == ([entry.skill], [entry.score])
        assert all(np.all(np.asarray(mark["y"]) == -row) for mark in (interval, skill, score))
        color = COLORS["theta_sota" if entry.tied_with_best else "prior"]
        assert interval["color"] == color
        ranks, tier = (figure.viz[f"{mark}_{row}"]["rank"].item() for mark in ("ranks", "tier"))
        np.testing.assert_allclose(ranks["x"], [entry.set_lower, entry.set_upper], atol=0.05)
        assert ranks["color"] == color
        assert tier["string"] == f"tier {entry.tier}"
        assert np.all(np.asarray(ranks["y"]) == -row)
    assert f"interval_{top}" not in figure.viz
    count = int(entries.frame["tied_with_best"].sum())
    cut = "" if top == 4 else f"; the first {top} are shown"
    title = figure.viz["figure_title"].item()["string"]
    assert title == f"{count} of 4 entries may be the best{cut}"
    singles = entries.frame.head(top).query("set_lower == set_upper").index
    for row in singles:  # wide enough to be seen
        assert np.ptp(figure.viz[f"ranks_{row}"]["rank"].item()["x"]) > 0
