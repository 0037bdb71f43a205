"""Pieces that the figures share."""

import warnings

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.plots import density_of, make_ticks, plot_forest, plot_lines, save_figure

LAW = bs.maximum_law(n_test=100, n_classifiers=10, skill=0.9)


@pytest.mark.parametrize("low", [0.0, 0.5, 0.9, 0.99987])
@pytest.mark.parametrize("width", [1.0, 0.4, 0.13, 0.02, 3e-5])
def test_ticks_are_few_round_distinct_and_inside(low, width):
    ticks, labels = make_ticks(low, low + width)
    assert 2 <= len(ticks) <= 8
    assert len(set(labels)) == len(labels)
    assert all(low - 1e-9 <= tick <= low + width + 1e-9 for tick in ticks)
    np.testing.assert_allclose([float(label) for label in labels], ticks)


def test_densities_integrate_to_one_and_constant_draws_have_none():
    x, y = density_of(np.random.default_rng(0).normal(size=(4, 500)))
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.02)
    assert density_of(np.full((2, 5), 0.9))[1].tolist() == [0.0]


def test_figures_take_the_arguments_of_a_collection():
    figure = bs.maximum.plot_maximum_law(LAW, figure_kwargs={"figsize": (3.0, 2.0)})
    assert tuple(figure.viz["figure"].item().get_size_inches()) == (3.0, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_the_suffix_chooses_the_format_and_any_script_is_drawn(tmp_path, ending, start):
    board = bs.Leaderboard([0.93, 0.9, 0.88], n_test=500, names=["\u6df1\u5ea6", "b", "c"])
    figure = bs.leaderboard.plot_entries(bs.board_table(board, random_seed=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        target = save_figure(figure, tmp_path / f"figure.{ending}", dpi=60)
    assert target.read_bytes().startswith(start)
    if ending == "svg":
        assert "\u6df1\u5ea6" in target.read_text("utf-8")  # text, not outlines


def test_a_forest_has_a_row_for_each_estimate():
    rows = [
        {"name": "a", "mean": 0.9, "interval": [0.88, 0.91], "outer": [0.8, np.inf]},
        {"name": "b", "mean": 0.8, "interval": [0.78, 0.81], "score": 0.82, "weak": True},
    ]
    drawn = plot_forest(rows, "accuracy", score="score", backend="none").collection.viz
    edge = drawn["outer"]["skill"].item()["x"][1]
    assert 0.91 < edge <= 1
    assert drawn["interval_weak"]["skill"].item()["x"][:2].tolist() == [0.78, 0.81]
    assert drawn["mean_weak"]["skill"].item()["y"].tolist() == [-1]
    assert np.isnan(drawn["score"]["skill"].item()["x"][0])
    assert "outer_weak" not in drawn


def test_names_of_lines_stand_apart_at_their_ends():
    lines = {"a": ([1, 2, 3], [0.0, 0.5, 1.0]), "b": ([1, 2, 3], [0.9, 0.95, 1.0])}
    panel = plot_lines(
        lines, "x", variable="y", levels={"half": 0.5}, points={"start": (1, 0)}, backend="none"
    )
    drawn = panel.collection.viz
    names = ("name_0", "name_1", "level_name_0", "point_name_0")
    heights = sorted(drawn[name]["y"].item()["y"][0] for name in names)
    assert np.diff(heights).min() > 0.05
    assert drawn["level_0"]["y"].item()["y"].tolist() == [0.5, 0.5]
