"""Fig. 4 to 6 of the EPP paper: the package's own figures, and a word on what is simulated.

The AUCs behind Fig. 4 and 5 are not available. Both are drawn from a simulated study of the same
design, which the figure says on its first line.
"""

import os
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bayes_sota.core.errors import InputError
from bayes_sota.published.epp_numbers import fit_vtab, where_to_get_vtab
from bayes_sota.published.openml_study import (
    PENALTY,
    OpenmlStudy,
    family_of,
    fit_study,
    study_like,
)
from bayes_sota.published.summary_epp import ends_of_fit, fig_4_data, fig_5_data, fig_6_data

if TYPE_CHECKING:
    import pandas as pd
    from arviz_plots import PlotCollection
    from matplotlib.figure import Figure


Published = dict[str, Any]
DRAWN_FROM_SCORES = ("epp-figure-6",)  # those that need a file
_DOTS_PER_INCH = 160
_HEADER = 0.5  # inches above figures side by side


def draw_fig_4(
    published: Published, data: Path | None = None, *, full_size: bool = False
) -> tuple["pd.DataFrame", "Figure"]:
    """Boxes of the EPPs of each family in each tournament, simulated."""
    from bayes_sota.epp.plots_paper import plot_epp_boxplots

    del data
    study = study_like(published["openml"], full_size=full_size)
    table = fig_4_data(fit_study(study, _jobs(full_size)))
    boards = {
        str(name): SimpleNamespace(players=list(rows["player"]), epp=rows["epp"].to_numpy())
        for name, rows in table.groupby("tournament", sort=False)
    }
    figure = _figure(plot_epp_boxplots(boards, family_of, backend="matplotlib"))
    failing = f"of glmnet a part always loses: finite by {PENALTY:g} rounds of ties"
    header = f"SIMULATED scores, {_size(study)}, not those of the paper's Fig. 4"
    _put_first(figure, f"{header}\n({failing})")
    return table, figure


def draw_fig_5(
    published: Published, data: Path | None = None, *, full_size: bool = False
) -> tuple["pd.DataFrame", "Figure"]:
    """Frequencies of wins where the deviance is lowest and highest, simulated."""
    from bayes_sota.epp.plots_paper import plot_reliability

    del data
    study = study_like(published["openml"], full_size=full_size)
    ends = ends_of_fit(study, _jobs(full_size))
    figures = []
    for name, (board, found) in ends.items():
        figure = _figure(plot_reliability(found, backend="matplotlib"))
        deviance = f"{board.paper_standardized_deviance:,.0f}"
        _put_first(figure, f"{board.tournament}: {name} deviance, {deviance} by Property 3.9")
        figures.append(figure)
    header = f"SIMULATED scores, {_size(study)}, not those of the paper's Fig. 5"
    return fig_5_data(ends), _side_by_side(figures, header)


def draw_fig_6(
    published: Published, data: Path | None = None, *, full_size: bool = False
) -> tuple["pd.DataFrame", "Figure"]:
    """EPP against the mean score of VTAB, from its scores."""
    from bayes_sota.epp.plots_paper import plot_epp_against_mean

    del full_size
    part = published["vtab"]
    fit = fit_vtab(part, data)
    if fit is None:
        raise InputError(f"epp-figure-6 {where_to_get_vtab(part)}")
    return fig_6_data(fit), _figure(plot_epp_against_mean(fit, backend="matplotlib"))


EPP_FIGURES = {"epp-figure-4": draw_fig_4, "epp-figure-5": draw_fig_5, "epp-figure-6": draw_fig_6}


def _jobs(full_size: bool) -> int:
    """Processes: a fit of 2,000 players holds some hundred megabytes."""
    return min(os.cpu_count() or 1, 4) if full_size else 1


def _size(study: OpenmlStudy) -> str:
    players = study.per_family * len(study.families)
    return (
        f"{study.n_tournaments} tournaments x {players:,} players x {study.n_rounds} rounds "
        f"({study.n_scores:,})"
    )


def _figure(collection: "PlotCollection") -> "Figure":
    """Figure of matplotlib, no longer in the list of those that pyplot shows."""
    from matplotlib import pyplot as plt

    figure: Figure = collection.viz["figure"].item()
    plt.close(figure)
    return figure


def _put_first(figure: "Figure", line: str) -> None:
    """Another first line of the title."""
    figure.suptitle(f"{line}\n{figure.get_suptitle()}", fontsize=11)


def _side_by_side(figures: list["Figure"], header: str) -> "Figure":
    """Figures as they are beside each other, with a line above all."""
    from matplotlib.figure import Figure

    pixels = [_drawn_pixels(figure) for figure in figures]
    height = max(image.shape[0] for image in pixels) / _DOTS_PER_INCH + _HEADER
    width = sum(image.shape[1] for image in pixels) / _DOTS_PER_INCH
    whole = Figure(figsize=(width, height), dpi=_DOTS_PER_INCH)
    left = 0
    for image in pixels:
        whole.figimage(image, xo=left, yo=0)
        left += image.shape[1]
    whole.text(0.5, 1 - 0.3 / height, header, ha="center", va="center", fontsize=12)
    return whole


def _drawn_pixels(figure: "Figure") -> Any:
    """Image, shape (height, width, 4)."""
    from matplotlib.image import imread

    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=_DOTS_PER_INCH)
    drawn.seek(0)
    return imread(drawn)
