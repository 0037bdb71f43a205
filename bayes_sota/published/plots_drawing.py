"""What the drawings of published figures share: colours, empty figures, and how values are written.

No global state of matplotlib is touched.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Published = dict[str, Any]

# Okabe & Ito's colours, distinct for every kind of colour vision; the default line is black.
BLACK, BLUE, RED, GREEN, GREY = "#000000", "#0072B2", "#D55E00", "#009E73", "#9a9a9a"
SKY, ORANGE, PURPLE = "#56B4E9", "#E69F00", "#CC79A7"


def new_figure(rows: int, columns: int, width: float, height: float) -> tuple["Figure", Any]:
    """Figure with a grid of axes, always two-dimensional; sizes in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for one in axes.flat:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=9)
    return figure, axes


def thousands(number: float) -> str:
    """Whole number with separators, for use within mathematics.

    Examples
    --------
    >>> thousands(3000)
    '3{,}000'
    """
    return f"{number:,.0f}".replace(",", "{,}")


def defaults_text(published: Published) -> str:
    """Default parameters, as mathematics."""
    part = published["defaults"]
    n, m = thousands(part["n_test"]), thousands(part["n_classifiers"])
    return rf"$n={n}$, $\theta={part['skill']:.2f}$, $m={m}$"
