"""Places for labels where they cover neither a curve nor each other.

Everything is in fractions of the panel, and the width of a text is estimated from its length, so
that the places are the same with every library. ``tests/claims/test_claim_figures.py`` compares
with the boxes that matplotlib draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayes_sota.core.types import FloatArray

__all__ = ["Label", "place_labels", "spread_out"]

Side = Literal["left", "center", "right"]
Place = tuple[float, float, Side]
_CHARACTER, _LINE = 0.078, 0.15  # inches, of a text of nine points


@dataclass(frozen=True)
class Label:
    """Text that belongs to a point, or to a horizontal line.

    Attributes
    ----------
    text : str
    u, v : float
        Where the point or line is, in fractions of the panel.
    is_line : bool
        Whether the label may stand anywhere along a horizontal line.
    """

    text: str
    u: float
    v: float
    is_line: bool = False


def place_labels(
    labels: Sequence[Label], curve: FloatArray, lines: Sequence[float], size: tuple[float, float]
) -> list[Place]:
    """Place (u, v of the middle of the text's height, alignment) of each label.

    Parameters
    ----------
    labels : sequence of Label
        In the order of their right to a good place.
    curve : (k, 2) array
        Points of the curve, dense.
    lines : sequence of float
        Heights of horizontal lines.
    size : (float, float)
        Width and height of the panel in inches.

    Examples
    --------
    >>> falling = np.column_stack([np.linspace(0, 1, 50), np.linspace(0.9, 0.1, 50)])
    >>> place_labels([Label("level", 1.0, 0.5, is_line=True)], falling, [0.5], (6, 3))[0][2]
    'right'
    """
    marks = np.array([[label.u, label.v] for label in labels if not label.is_line]).reshape(-1, 2)
    points = np.concatenate([curve, marks])
    taken: list[tuple[float, float, float, float]] = []
    places = []
    for label in labels:
        candidates = _candidates(label, _LINE / size[1])
        boxes = [_box(label.text, place, size) for place in candidates]
        costs = [_cost(box, points, lines, taken) for box in boxes]
        best = int(np.argmin(costs))  # the first of equally good ones
        taken.append(boxes[best])
        places.append(candidates[best])
    return places


def spread_out(heights: Sequence[float], apart: float) -> list[float]:
    """Heights moved as little as their order allows, at least ``apart`` from each other.

    Examples
    --------
    >>> spread_out([0.5, 0.52, 0.9], 0.1)
    [0.46, 0.56, 0.9]
    """
    order = np.argsort(heights, kind="stable")
    blocks: list[list[float]] = []  # middle and number of labels that stand together
    for height in np.asarray(heights, np.float64)[order]:
        blocks.append([float(height), 1])
        while len(blocks) > 1 and _reach(blocks[-2], 1, apart) > _reach(blocks[-1], -1, apart):
            middle, count = blocks.pop()
            other, more = blocks[-1]
            total = count + more
            blocks[-1] = [(count * middle + more * other) / total, total]
    moved = np.empty(len(heights))
    moved[order] = [
        middle + (k - (count - 1) / 2) * apart
        for middle, count in blocks
        for k in range(int(count))
    ]
    return [round(float(height), 12) for height in moved]


def _reach(block: list[float], side: int, apart: float) -> float:
    return block[0] + side * block[1] * apart / 2 - side * 1e-12


def _candidates(label: Label, line: float) -> list[Place]:
    near, far = 0.85 * line, 1.8 * line
    if label.is_line:
        spots: tuple[tuple[float, Side], ...] = ((0.995, "right"), (0.005, "left"), (0.5, "center"))
        return [(u, label.v + dv, side) for u, side in spots for dv in (near, -near)]
    steps: tuple[tuple[float, Side], ...] = ((0.012, "left"), (-0.012, "right"), (0.0, "center"))
    return [
        (label.u + du, label.v + dv, side)
        for dv in (near, -near, far, -far, -3 * line)
        for du, side in steps
    ]


def _box(text: str, place: Place, size: tuple[float, float]) -> tuple[float, float, float, float]:
    """Left, right, bottom and top."""
    width, height = _CHARACTER * len(text) / size[0], _LINE / size[1]
    u, v, side = place
    left = u - {"left": 0.0, "center": 0.5, "right": 1.0}[side] * width
    return left, left + width, v - height / 2, v + height / 2


def _cost(
    box: tuple[float, float, float, float],
    points: FloatArray,
    lines: Sequence[float],
    taken: Sequence[tuple[float, float, float, float]],
) -> float:
    left, right, bottom, top = box
    u, v = points.T
    crossed = np.mean((u > left) & (u < right) & (v > bottom) & (v < top))
    struck = sum(bottom < line < top for line in lines)
    covered = sum(
        left < other[1] and other[0] < right and bottom < other[3] and other[2] < top
        for other in taken
    )
    outside = max(0.0, -left, right - 1, -bottom, top - 1)
    return float(10 * crossed + struck + 2 * covered + 20 * outside)
