"""Figures of Møllersen & Holsbø, drawn again and saved with their data.

A drawing computes nothing; a file appears complete or not at all.
"""

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import whole_file
from bayes_sota.published import plots_auc as auc_figures
from bayes_sota.published import plots_boards as board_figures
from bayes_sota.published import plots_maximum as maximum_figures
from bayes_sota.published import plots_parameters as parameter_figures
from bayes_sota.published import summary_auc as auc_figure_data
from bayes_sota.published import summary_boards as board_figure_data
from bayes_sota.published import summary_maximum as figure_data
from bayes_sota.published.boards import read_board, where_to_get
from bayes_sota.published.published_numbers import load_published

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


Published = dict[str, Any]
_Draw = Callable[["pd.DataFrame", Published], "Figure"]


def figure_names() -> list[str]:
    """Names that ``reproduce_figure`` takes.

    Examples
    --------
    >>> figure_names()[:3]
    ['figure-2', 'figure-3', 'figure-4']
    """
    return [*_FIGURES, *_BOARD_FIGURES]


def board_figure_names() -> list[str]:
    """Those of them that need a leaderboard.

    Examples
    --------
    >>> board_figure_names()
    ['figure-8', 'figure-9']
    """
    return list(_BOARD_FIGURES)


def undrawable_names(data: str | Path | None = None) -> list[str]:
    """Names of figures that need data which are not there.

    A directory without the Kaggle leaderboards is an error of ``reproduce_figure``.

    Examples
    --------
    >>> undrawable_names()
    ['figure-8', 'figure-9']
    """
    return board_figure_names() if data is None else []


def reproduce_figure(
    name: str,
    directory: str | os.PathLike[str],
    data: str | Path | None = None,
    *,
    full_size: bool = False,
) -> list[Path]:
    """Compute a published figure again; save the image and the data behind it.

    Parameters
    ----------
    name : str
        One of ``figure_names()``.
    directory : path
        Where ``NAME.png`` and ``NAME.csv`` are written; made if it does not exist.
    data : path, optional
        Directory of the Kaggle leaderboards, which ``board_figure_names()`` need.
    full_size : bool
        Simulate the OpenML study of ``epp-figure-4`` and ``epp-figure-5`` with all its 1,200,000
        scores, in several processes, instead of a twentieth of them.

    Returns
    -------
    list of Path
        The image and the table.

    Raises
    ------
    InputError
        A name that does not exist, or a leaderboard that is not there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     [path.name for path in reproduce_figure("figure-2", directory)]
    ['figure-2.png', 'figure-2.csv']
    """
    if name not in figure_names():
        raise InputError(f"no figure is named {name!r}: {', '.join(figure_names())}")
    table, figure = _drawn(name, None if data is None else Path(data), full_size)
    image = BytesIO()
    figure.savefig(image, format="png", dpi=160, metadata={"Software": None})
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    rows = table.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()
    paths = [folder / f"{name}.png", folder / f"{name}.csv"]
    for path, content in zip(paths, (image.getvalue(), rows), strict=True):
        with whole_file(path) as draft:
            draft.write_bytes(content)
    return paths


def _drawn(name: str, data: Path | None, full_size: bool) -> tuple["pd.DataFrame", "Figure"]:
    if name in _BOARD_FIGURES:
        challenge, compute_board, draw = _BOARD_FIGURES[name]
        part = load_published("challenges")[challenge]
        board = read_board(part["slug"], data)
        if board is None:
            raise InputError(f"{name} {where_to_get(part['slug'])}")
        table = compute_board(part, board)
        return table, draw(table, part)
    source, compute, draw = _FIGURES[name]
    published = load_published(source)
    table = compute(published)
    return table, draw(table, published)


_MAXIMUM, _CHALLENGES = "sample_maximum", "challenges"
_FIGURES: dict[str, tuple[str, Callable[[Published], "pd.DataFrame"], _Draw]] = {
    "figure-2": (_MAXIMUM, figure_data.figure_2_data, maximum_figures.draw_figure_2),
    "figure-3": (_MAXIMUM, figure_data.figure_3_data, maximum_figures.draw_figure_3),
    "figure-4": (_MAXIMUM, figure_data.figure_4_data, parameter_figures.draw_figure_4),
    "figure-5": (_MAXIMUM, figure_data.figure_5_data, parameter_figures.draw_figure_5),
    "figure-6": (_MAXIMUM, figure_data.figure_6_data, maximum_figures.draw_figure_6),
    "figure-10": (_CHALLENGES, auc_figure_data.figure_10_data, auc_figures.draw_figure_10),
    "figure-11": (_CHALLENGES, auc_figure_data.figure_11_data, auc_figures.draw_figure_11),
}
_BOARD_FIGURES: dict[str, tuple[str, Callable[[Published, Any], "pd.DataFrame"], _Draw]] = {
    "figure-8": ("obesity", board_figure_data.figure_8_data, board_figures.draw_figure_8),
    "figure-9": ("cassava", board_figure_data.figure_9_data, board_figures.draw_figure_9),
}
