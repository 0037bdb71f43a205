"""Agreement of separate runs: 0 for equal learners, and (2p - 1)^2 for normal scores."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from published.agreement import SeparateRuns, orders_of, separate_runs, stops_at_both_ends
from scipy.stats import norm

from bayes_sota.core.types import IntArray
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import Rule, fixed, spearman, stopping_iterations

PAIR = ("a", "b")


def pools(gap: float, n: int = 50, tasks: int = 300) -> FoldScores:
    """Pairs of learners whose difference has the mean gap and the standard deviation 1."""
    scores = np.random.default_rng(3).normal(0, np.sqrt(0.5), (tasks, 2, n, 1))
    scores[:, 0] += gap
    return FoldScores(scores, learners=PAIR, folds=10)


def runs_of(rule: Rule, scores: FoldScores, orders: IntArray, items: Any = None) -> SeparateRuns:
    return separate_runs(scores, orders, stops_at_both_ends(rule, scores, items, orders))


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_expectation(gap: float) -> None:
    """It does not grow with the share of the iterations, which |2R - 1| does."""
    given = pools(gap)
    orders = orders_of(50, 20, 1)
    for n in (5, 10, 25):
        values = runs_of(fixed(n), given, orders).agreement(PAIR)
        error = values.std(ddof=1) / np.sqrt(len(values))
        expected = (2 * norm.cdf(gap * np.sqrt(n)) - 1) ** 2
        assert values.mean() == pytest.approx(expected, abs=4 * error)
        assert 4 * error < 0.15


def test_runs_by_hand() -> None:
    """Fronts and backs of some orderings."""
    scores = np.random.default_rng(0).random((1, 2, 9, 1))
    given, orders = FoldScores(scores, learners=PAIR, folds=10), orders_of(9, 7, 5)
    three, nine = (runs_of(fixed(n), given, orders) for n in (3, 9))
    products = []
    for m, order in enumerate(orders):
        signs = []
        for end, way in enumerate((order, order[::-1])):
            means = scores[0, :, way[:3], 0].mean(axis=0)
            assert three.estimates[m, end, 0] == pytest.approx(means)
            signs.append(np.sign(means[0] - means[1]))
        products.append(signs[0] * signs[1])
    assert three.agreement(PAIR) == pytest.approx([np.mean(products)])
    assert np.isnan(nine.agreement(PAIR)).all()
    late = runs_of(fixed(10), given, orders)
    assert (three.ran_out("a"), late.ran_out("b")) == (0.0, 1.0)
    assert late.costs(PAIR) == pytest.approx([9])


def test_stops_are_those_of_the_rule() -> None:
    rng = np.random.default_rng(2)
    items = [rng.random((2, 1, 20)) + rng.normal(0, 0.1, (2, 30, 20)) for _ in range(2)]
    scores, rule, orders = pools(0.0, 30, 2), spearman(1 - 1e-3), orders_of(30, 2, 4)
    found = runs_of(rule, scores, orders, items)
    for end, way in enumerate((orders[0], orders[0][::-1])):
        reordered = replace(scores, scores=scores.scores[:, :, way])
        stops = stopping_iterations(rule, reordered, [one[:, way] for one in items])
        assert (found.stops[0, end] == stops).all()
    assert len(np.unique(found.stops)) > 2
