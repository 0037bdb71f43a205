"""Critical-difference diagrams: skills or ranks on an axis, bars over those that may be equal.

In Demsar 2006 (Statistical comparisons of classifiers over multiple data sets, Fig. 1) bars join
neighbours. Here standard errors of differences vary, so a dot marks each entry of a bar.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_sota.core.plots import COLORS, Panel, make_collection, make_ticks
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import BoolArray, FloatArray


def plot_differences(
    names: Sequence[str], places: FloatArray, apart: BoolArray, label: str, **where: Any
) -> Panel:
    """Draw names around an axis, and a bar over each set of ``indistinct_sets``, without a title.

    ``places`` (m,) are on the axis; ``apart`` (m, m) marks pairs distinguished in either order.
    Artists of the panel ``place`` are ``name_0``, ``leader_0``, ... from the left, and ``bar_0``,
    ``members_0`` (its dots), ...
    """
    order, m = np.argsort(places, kind="stable"), len(names)
    sets = sorted((sorted(places[[*one]]) for one in indistinct_sets(apart)), key=min)
    reach = 0.5 * (np.ptp(places) == 0)  # an axis for equal ones
    ticks, texts = make_ticks(float(places.min() - reach), float(places.max() + reach))
    low, high = min(places.min(), *ticks), max(places.max(), *ticks)
    shown = [shown_name(names[k], 32) for k in order]
    inches = 0.4 + 0.075 * max(8, *map(len, [*shown, label]))  # beside the axis, which has 4.5
    side, top, left = (high - low) * inches / 4.5, 1 + 0.5 * len(sets), (m + 1) // 2
    size = (4.5 + 2 * inches, 0.9 + 0.25 * (top + left))
    panel = Panel(make_collection(["place"], figsize=size, **where), "place")
    before, after, dark = low - side / 9, high + side / 9, COLORS["dark"]
    panel.line("axis", [low, high], [0, 0], dark)
    panel.bars("ticks", np.array(ticks)[:, None], [[0, 0.3]], dark, 1.0)
    for k, (tick, text) in enumerate(zip(ticks, texts, strict=True)):
        panel.text(f"tick_{k}", tick, 0.6, text, align="center")
    panel.text("label", before, 0, label, align="right")
    for k, (at, name) in enumerate(zip(places[order], shown, strict=True)):
        end, align = (before, "right") if k < left else (after, "left")
        height = -top - min(k, m - 1 - k)
        panel.line(f"leader_{k}", [at, at, end], [0, height, height], dark, width=0.8)
        panel.text(f"name_{k}", end, height, f" {name} ", align=align)
    for k, members in enumerate(sets):
        heights, color = np.full(len(members), -0.5 * (k + 1)), COLORS["theta_sota"]
        panel.line(f"bar_{k}", members, heights, color, width=3.0)
        panel.dots(f"members_{k}", members, heights, color, size=24)
    panel.set_axes("", (low - side, high + side), ylim=(0.2 - top - left, 1.2), xticks=([], []))
    return panel


def indistinct_sets(apart: BoolArray) -> list[frozenset[int]]:
    """Largest sets of two or more entries of which no two are distinguished.

    Every distinguished pair splits the sets that contain both (Piepho 2004, doi
    10.1198/1061860043515, of letters). ``tests/core/test_plots_differences.py`` enumerates.
    """
    sets = {frozenset(range(len(apart)))}
    for pair in map(frozenset, np.argwhere(apart).tolist()):
        split = {one for one in sets if pair <= one}
        sets = sets - split | {one - {entry} for one in split for entry in pair}
        sets = {one for one in sets if not any(one < other for other in sets)}
    return [one for one in sets if len(one) > 1]
