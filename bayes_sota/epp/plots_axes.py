"""What the figures of players share: names, axes, bars and dots in the size of their library.

``tests/epp/test_epp_figures.py`` measures that names and ticks do not cover each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots_canvas import Panel, make_ticks, plain_text
from bayes_sota.core.text import plain_text as printable
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "Axis",
    "best_first",
    "draw_bars",
    "draw_dots",
    "draws_of_players",
    "height_of_rows",
    "inside",
    "name_axis",
    "number_axis",
    "odds_axis",
    "set_axes",
    "shown_name",
]

_LONGEST = 36  # characters of a name


@dataclass(frozen=True)
class Axis:
    """Range, label and ticks of one axis; ``high`` below ``low`` turns it round.

    Attributes
    ----------
    label : str
        Nothing is written if it is empty.
    low, high : float
    ticks : sequence of float
    texts : sequence of str
    size : float
        Of the texts, in points.
    boxed : bool
        Whether a line is drawn along the axis.
    rotation : float
        Of the texts, in degrees.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    texts: Sequence[str]
    size: float = 9
    boxed: bool = True
    rotation: float = 0


def shown_name(name: str, longest: int = _LONGEST) -> str:
    """Name on one line, without its middle where it is long: long names differ at their ends.

    Examples
    --------
    >>> shown_name("a-model-with-many-parameters-17", 15)
    'a-model-…ers-17'
    """
    text = printable(str(name))
    if len(text) <= longest:
        return text
    tail = (longest - 1) * 3 // 7
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def best_first(epp: FloatArray, most: int) -> NDArray[np.intp]:
    """Places of the best players, the best first.

    Examples
    --------
    >>> best_first(np.array([-1.0, 2.0, 0.5]), most=2).tolist()
    [1, 2]
    """
    if most < 1:
        raise InputError(f"at least 1 player is drawn, got most={most!r}")
    return np.argsort(-epp, kind="stable")[:most]


def draws_of_players(tree: "xr.DataTree", name: str) -> tuple[tuple[str, ...], FloatArray]:
    """Names, and posterior draws of a variable of the players, shape (draws, m).

    Raises
    ------
    InputError
        If the result holds none.
    """
    groups = getattr(tree, "children", {})
    if "posterior" not in groups or name not in tree["posterior"]:
        raise InputError(f"there are no draws of the players: no {name} in the group posterior")
    values = tree["posterior"][name]
    if set(values.dims) != {"chain", "draw", "player"}:
        given = ", ".join(str(dim) for dim in values.dims)
        raise InputError(f"draws of {name} have the dimensions chain, draw, player; got {given}")
    draws = values.stack(sample=("chain", "draw")).transpose("sample", "player").values
    return tuple(str(player) for player in values["player"].values), np.asarray(draws)


def height_of_rows(count: int) -> float:
    """Inches of so many named rows: less for each where there are many."""
    return count * (0.27 if count <= 30 else 0.2)


def name_axis(
    names: Sequence[tuple[int, str]], heights: Sequence[float], margin: float = 0.6
) -> Axis:
    """Ranks and names at heights, the names shortened."""
    texts = [f"{rank}  {shown_name(name)}" for rank, name in names]
    low, high = min(heights) - margin, max(heights) + margin
    return Axis("", low, high, heights, texts, boxed=False)


def number_axis(label: str, values: ArrayLike, margin: float = 0.05, most: int = 7) -> Axis:
    """Range of the finite values, with round ticks.

    Examples
    --------
    >>> number_axis("score", [0.0, 1.0, np.inf], margin=0.0).texts
    ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    given = np.asarray(values, np.float64)
    finite = given[np.isfinite(given)]
    low, high = float(finite.min()), float(finite.max())
    room = margin * (high - low) or 0.01 * max(abs(high), 1.0) * bool(margin)
    low, high = low - room, high + room
    return Axis(label, low, high, *make_ticks(low, high, most))


def odds_axis(label: str, values: ArrayLike, most: int = 7) -> Axis:
    """Log odds, with the probability against an average player below each.

    Examples
    --------
    >>> odds_axis("EPP", [-1.0, 1.0]).texts[-1]
    '1.0\\n73%'
    """
    axis = number_axis(label, values, most=most)
    texts = [
        f"{text}\n{_percent(1 / (1 + float(np.exp(-tick))))}"
        for tick, text in zip(axis.ticks, axis.texts, strict=True)
    ]
    return Axis(label, axis.low, axis.high, axis.ticks, texts)


def inside(ends: FloatArray, axis: Axis) -> FloatArray:
    """Intervals, shape (m, 2); ends that are not known or infinite go to the edge.

    Examples
    --------
    >>> inside(np.array([[-np.inf, 1.0]]), Axis("", -2.0, 2.0, [], [])).tolist()
    [[-2.0, 1.0]]
    """
    low = np.nan_to_num(ends[:, 0], nan=axis.low, neginf=axis.low)
    high = np.nan_to_num(ends[:, 1], nan=axis.high, posinf=axis.high)
    return np.column_stack([low, high])


def _percent(p: float) -> str:
    if 0.01 <= p <= 0.99:
        return f"{p:.0%}"
    return f"{p:.1%}" if 0.001 <= p <= 0.999 else ("<0.1%" if p < 0.5 else ">99.9%")


def set_axes(panel: Panel, x: Axis, y: Axis) -> None:
    """Range, labels and ticks of both axes; names from files are shown as they are."""
    from arviz_plots.plot_collection import backend_from_object

    backend = panel.collection.backend

    def style(_: Any, target: Any, **__: Any) -> None:
        library = backend_from_object(target)
        if backend == "matplotlib" and not y.boxed:
            library.remove_axis(target, axis="y")
        library.xlim((x.low, x.high), target)
        library.ylim((y.low, y.high), target)
        for axis, ticks, label in (
            (x, library.xticks, library.xlabel),
            (y, library.yticks, library.ylabel),
        ):
            shown = [plain_text(text, backend) for text in axis.texts]
            look = {"rotation": axis.rotation} if axis.rotation else {}
            ticks([float(tick) for tick in axis.ticks], shown, target, size=axis.size, **look)
            label(plain_text(axis.label, backend), target, size=10)

    panel.draw(style, "axes", 0.0, store_artist=False)


def draw_bars(
    panel: Panel, label: str, x: ArrayLike, y: ArrayLike, color: str, **look: Any
) -> None:
    """Bars, one artist for all of them with NaN between them.

    Parameters
    ----------
    x, y : array-like, shape (k, points), or that broadcasts with the other
        Ends of each bar, and its bends.
    """
    import xarray as xr
    from arviz_plots import visuals

    ends = np.stack(np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64)))
    if not ends.shape[1]:
        return
    breaks = np.full((2, ends.shape[1], 1), np.nan)
    points = np.concatenate([ends, breaks], axis=2).reshape(2, -1)
    lines = xr.DataArray(points, dims=("plot_axis", "point"), coords={"plot_axis": ["x", "y"]})
    if panel.collection.backend == "matplotlib":  # the others end bars at their ends
        look["solid_capstyle"] = "butt"
    panel.draw(visuals.line_xy, label, lines, color=color, **{"width": 2.5, **look})


def draw_dots(
    panel: Panel,
    label: str,
    x: ArrayLike,
    y: ArrayLike,
    color: str,
    *,
    diameter: float = 6.0,
    hollow: bool = False,
    **look: Any,
) -> None:
    """Dots of a diameter in points, filled or hollow."""
    import xarray as xr

    values = np.asarray(x, np.float64)
    if not values.size:
        return
    look |= {"facecolor": "white", "size": diameter**2} if hollow else {"size": diameter**2}
    panel.dots(label, xr.DataArray(values, dims="point"), np.asarray(y), color, **look)
