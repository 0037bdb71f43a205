"""Tidy data behind Fig. 8 and 9 of Møllersen & Holsbø: leaderboards, and fresh boards like them.

Columns ``panel``, ``quantity``, ``low``, ``high``, ``value``: numbers of teams whose score is in
``[low, high)``, and marks on the axis (``value``, or the ends of an interval). A fresh board is one
draw, as in the paper (``drawn``); beside it stand the exact expected numbers (``expected``), to
which the correlation makes no difference.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.shrinkage import binomial_interval
from bayes_sota.published.boards import Board
from bayes_sota.published.challenges import law_as_observed, shrunk

if TYPE_CHECKING:
    import pandas as pd


Published = dict[str, Any]
Row = tuple[str, str, float, float, float]
_NONE = float("nan")


def figure_8_data(part: Published, board: Board) -> "pd.DataFrame":
    """Obesity risk: scores, a fresh board from them, shrunk skills, a fresh board from these."""
    estimate = shrunk(part, board)
    weight, chance = estimate.weight or 0.0, estimate.chance
    skills = weight * estimate.scores + (1 - weight) * chance
    rows = [
        *_as_observed(part, board, estimate.single),
        *_observed("c", part, board),
        *_histogram("c", "skills", skills, part),
        ("c", "estimate", _NONE, _NONE, estimate.estimate),
        *_observed("d", part, board),
        *_fresh("d", part, skills),
        ("d", "interval", *estimate.interval, _NONE),
        ("d", "expected_maximum", _NONE, _NONE, estimate.expected_maximum),
    ]
    return _frame(rows)


def figure_9_data(part: Published, board: Board) -> "pd.DataFrame":
    """Cassava leaf disease: the scores and the best of them, and a fresh board from them."""
    best = board.above(1 / part["n_classes"])[: len(part["top"])]
    outliers = [("a", "outliers", _NONE, _NONE, float(score)) for score in best]
    n = part["n_test"]
    single = binomial_interval(round(float(best[0]) * n), n)
    return _frame([*_as_observed(part, board, single), *outliers])


def _as_observed(part: Published, board: Board, single: tuple[float, float]) -> list[Row]:
    law = law_as_observed(part, board)
    return [
        *_observed("a", part, board),
        ("a", "interval", *single, _NONE),
        *_observed("b", part, board),
        *_fresh("b", part, board.above(1 / part["n_classes"])),
        ("b", "interval", *law.interval(), _NONE),
        ("b", "expected_maximum", _NONE, _NONE, law.mean()),
    ]


def _observed(panel: str, part: Published, board: Board) -> list[Row]:
    best = (panel, "observed_maximum", _NONE, _NONE, float(board.scores.max()))
    return [*_histogram(panel, "observed", board.scores, part), best]


def _fresh(panel: str, part: Published, skills: FloatArray) -> list[Row]:
    """One draw of scores, every skill with the correlation or the largest feasible one."""
    n, best = part["n_test"], float(skills.max())
    rng = np.random.default_rng(part["figure"]["seed"])
    right, wrong = conditional_probabilities(skills, part["correlation"], best)
    reference = rng.binomial(n, best)
    scores = (rng.binomial(reference, right) + rng.binomial(n - reference, wrong)) / n
    return [
        *_histogram(panel, "drawn", scores, part),
        *_expected(panel, skills, part),
        (panel, "drawn_maximum", _NONE, _NONE, float(scores.max())),
    ]


def _edges(part: Published) -> FloatArray:
    """Ends of bins that hold equally many counts, half-way between counts."""
    figure, n = part["figure"], part["n_test"]
    low, high = round(figure["from_score"] * n), round(figure["to_score"] * n)
    counts = np.arange(low, high + 1, figure["items_per_bin"], dtype=np.float64)
    return (counts - 0.5) / float(n)


def _histogram(panel: str, quantity: str, scores: FloatArray, part: Published) -> list[Row]:
    edges = _edges(part)
    counts, _ = np.histogram(scores, edges)
    return _bars(panel, quantity, edges, counts)


def _expected(panel: str, skills: FloatArray, part: Published) -> list[Row]:
    """Exact expected numbers of teams, from one binomial law for each."""
    from scipy.special import bdtr

    edges, n = _edges(part), part["n_test"]
    values, copies = np.unique(skills, return_counts=True)
    below = copies @ bdtr(np.floor(edges * n), n, values[:, None])
    return _bars(panel, "expected", edges, np.diff(below))


def _bars(panel: str, quantity: str, edges: FloatArray, counts: Any) -> list[Row]:
    return [
        (panel, quantity, float(low), float(high), float(count))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def _frame(rows: list[Row]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows, columns=["panel", "quantity", "low", "high", "value"])
