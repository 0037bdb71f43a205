"""The figure of a board draws the rows of its table."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.plots import COLORS
from bayes_sota.leaderboard.plots import plot_entries


@pytest.mark.parametrize("top", [2, 4])
def test_every_entry_is_drawn_as_the_table_has_it(top: int) -> None:
    board = bs.Leaderboard([0.93, 0.80, 0.91, 0.88], n_test=500, names=list("abcd"))
    entries = bs.board_table(board, random_seed=0)
    figure = plot_entries(entries, top=top, backend="none")
    shown = entries.frame.head(top)
    tied = shown["tied_with_best"]
    for rows, suffix in ((shown[tied], ""), (shown[~tied], "_weak")):
        if not len(rows):
            continue
        bars, dots = (figure.viz[f"{k}{suffix}"]["skill"].item() for k in ("interval", "mean"))
        ends = np.reshape(bars["x"], (-1, 3))[:, :2]
        np.testing.assert_array_equal(ends, rows[["skill_lower", "skill_upper"]])
        np.testing.assert_array_equal(dots["x"], rows["skill"])
        np.testing.assert_array_equal(np.ravel(dots["y"]), -rows.index.to_numpy())
    np.testing.assert_array_equal(figure.viz["score"]["skill"].item()["x"], shown["score"])
    for row, entry in enumerate(shown.itertuples()):
        ranks, tier = (figure.viz[f"{mark}_{row}"]["rank"].item() for mark in ("ranks", "tier"))
        np.testing.assert_allclose(ranks["x"][:2], [entry.set_lower, entry.set_upper], atol=0.05)
        assert np.ptp(ranks["x"][:2]) > 0  # seen, also where it is one rank
        assert ranks["color"] == COLORS["theta_sota" if entry.tied_with_best else "prior"]
        assert tier["string"] == f"tier {entry.tier}"
        assert np.all(np.asarray(ranks["y"])[:2] == -row)
    count = int(entries.frame["tied_with_best"].sum())
    cut = "" if top == 4 else f"; the first {top} are shown"
    title = figure.viz["figure_title"].item()["string"]
    assert title == f"{count} of 4 entries may be the best{cut}"
