"""The figure of prior and posterior draws the result's numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from bayes_sota.core.errors import InputError
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.sample_estimate import estimate_sota
from bayes_sota.maximum.plots import plot_sota

QUANTITIES = ("theta_sota", "winner_skill", "expected_sota")


@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
@pytest.mark.parametrize("name", QUANTITIES)
def test_bar_is_the_equal_tailed_interval(tree: xr.DataTree, name: str, ci_prob: float) -> None:
    figure = plot_sota(tree, ci_prob=ci_prob, backend="none")
    draws = tree["posterior"][name].values
    expected = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    np.testing.assert_allclose(figure.viz[f"interval_{name}"]["posterior"].item()["x"], expected)
    mean = figure.viz[f"mean_{name}"]["posterior"].item()["x"]
    np.testing.assert_allclose(mean, np.mean(draws))


def test_band_over_the_prior_is_the_posterior_interval(tree: xr.DataTree) -> None:
    band = plot_sota(tree, backend="none").viz["interval"]["prior"].item()
    expected = np.quantile(tree["posterior"]["theta_sota"].values, [0.025, 0.975])
    np.testing.assert_allclose([band["xmin"], band["xmax"]], expected)


@pytest.mark.parametrize("name", QUANTITIES)
def test_areas_under_the_densities_are_on_one_scale(tree: xr.DataTree, name: str) -> None:
    figure = plot_sota(tree, backend="none")
    ratio = area_of(figure, name) / area_of(figure, "theta_sota")
    assert ratio == pytest.approx(
        share_inside(figure, tree["posterior"][name])
        / share_inside(figure, tree["posterior"]["theta_sota"]),
        rel=0.03,
    )


def test_prior_has_the_same_scale_as_the_posterior(tree: xr.DataTree) -> None:
    figure = plot_sota(tree, backend="none")
    assert area_of(figure, "prior") / area_of(figure, "theta_sota") == pytest.approx(
        share_inside(figure, tree["prior"]["theta_sota"])
        / share_inside(figure, tree["posterior"]["theta_sota"]),
        rel=0.1,
    )


def area_of(figure: Any, name: str) -> float:
    """Area under a drawn density, inside the panel."""
    band = figure.viz[f"density_{name}"]["posterior"].item()
    x, bottom, top = (np.asarray(band[key]) for key in ("x", "y_bottom", "y_top"))
    inside = np.isfinite(x)
    return float(np.trapezoid((top - bottom)[inside], x[inside]))


def share_inside(figure: Any, draws: xr.DataArray) -> float:
    """Share of the draws inside the panel: the area that their density should have there."""
    low, high = limits_of(figure)
    return float(((draws > low) & (draws < high)).mean())


def limits_of(figure: Any) -> tuple[float, float]:
    target = figure.viz["plot"]["posterior"].item()
    lims = next(element["lims"] for element in target if element["function"] == "xlim")
    return float(lims[0]), float(lims[1])


def test_matplotlib_draws_the_same(tree: xr.DataTree) -> None:
    figure = plot_sota(tree, backend="matplotlib")
    line = figure.viz["observed_maximum"]["posterior"].item()
    assert list(line.get_xdata()) == [0.95, 0.95]
    axes = figure.viz["plot"]["posterior"].item()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert [label.split("\n")[1] for label in labels] == list(QUANTITIES)
    assert "accuracy" in axes.get_xlabel()


def test_every_text_stays_inside_the_figure(tree: xr.DataTree, two_boards: xr.DataTree) -> None:
    for result in (tree, two_boards):
        collection = plot_sota(result, backend="matplotlib")
        figure = collection.viz["figure"].item()
        figure.canvas.draw()
        page = figure.bbox
        for axes in figure.axes:
            for text in (*axes.texts, axes.title, *axes.get_yticklabels()):
                box = text.get_window_extent()
                assert box.x0 >= page.x0 - 1
                assert box.x1 <= page.x1 + 1, text.get_text()


def test_a_column_for_every_board(two_boards: xr.DataTree) -> None:
    figure = plot_sota(two_boards, backend="none")
    lines = figure.viz["observed_maximum"]["posterior"]
    assert lines.dims == ("board",)
    assert [line["x"] for line in lines.values] == [0.95, 0.93]
    for name in QUANTITIES:
        expected = two_boards["posterior"][name].quantile([0.025, 0.975], ("chain", "draw"))
        bars = figure.viz[f"interval_{name}"]["posterior"]
        for index, bar in enumerate(bars.values):
            np.testing.assert_allclose(bar["x"], expected.isel(board=index))


def test_names_of_boards_are_no_markup(two_boards: xr.DataTree) -> None:
    figure = plot_sota(two_boards, backend="matplotlib")
    titles = [axes.get_title() for axes in np.ravel(figure.viz["plot"]["prior"].values)]
    assert titles[0].startswith(r"public \$board\$: ")


def test_one_quantity_and_no_prior(tree: xr.DataTree) -> None:
    groups = {name: tree[name].to_dataset() for name in ("posterior", "observed_data")}
    figure = plot_sota(
        xr.DataTree.from_dict(groups), var_names=["winner_skill"], backend="matplotlib"
    )
    assert "density_theta_sota" not in figure.viz
    assert list(figure.viz["plot"].data_vars) == ["posterior"]


@pytest.mark.parametrize("names", [[], ["rho"], ["theta_sota", "nonsense"]])
def test_unknown_quantities_are_refused(tree: xr.DataTree, names: list[str]) -> None:
    with pytest.raises(InputError, match="quantities to draw are one or more of theta_sota"):
        plot_sota(tree, var_names=names, backend="none")


def test_wrong_arguments_are_refused(tree: xr.DataTree) -> None:
    with pytest.raises(InputError, match=r"write 0\.95"):
        plot_sota(tree, ci_prob=95, backend="none")
    with pytest.raises(InputError, match="got 'gnuplot'"):
        plot_sota(tree, backend="gnuplot")


@pytest.mark.parametrize("library", ["plotly", "bokeh"])
def test_other_backends(
    tree: xr.DataTree, two_boards: xr.DataTree, library: str, tmp_path: Path
) -> None:
    pytest.importorskip(library)
    if library == "plotly":
        pytest.importorskip("webcolors")
    for result in (tree, two_boards):
        plot_sota(result, backend=library).savefig(tmp_path / "figure.html")
        page = (tmp_path / "figure.html").read_text(encoding="utf-8")
        assert "observed maximum 0.95" in page


def test_scores_outside_of_zero_and_one_are_in_the_picture() -> None:
    errors = 1.2 + 0.1 * np.random.default_rng(0).gamma(2, 1, 30)
    board = Leaderboard(errors, metric="score", standard_error=0.02, lower_is_better=True)
    tree = estimate_sota(board, random_seed=0, draws=100)
    axes = plot_sota(tree, backend="matplotlib").viz["figure"].item().axes[-1]
    low, high = axes.get_xlim()
    assert low < errors.min() < high
    assert high - low < 1
    assert axes.get_xlabel() == "score, magnified"
    assert len([t for t in axes.get_xticks() if low < t < high]) >= 3
