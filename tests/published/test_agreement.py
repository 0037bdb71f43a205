"""Agreement of separate runs: 0 for equal learners, and (2p - 1)^2 for normal scores."""

import numpy as np
import pytest
from published.agreement import separate_runs
from scipy.stats import norm

from bayes_sota.crossval.rules import FixedNumber, SpearmanRule, stopping_iterations
from bayes_sota.data.fold_scores import FoldScores

PAIR = ("a", "b")


def pools(gap: float, n: int = 50, tasks: int = 300) -> FoldScores:
    """Pairs of learners whose difference has the mean gap and the standard deviation 1."""
    scores = np.random.default_rng(3).normal(0, np.sqrt(0.5), (tasks, 2, n, 1))
    scores[:, 0] += gap
    return FoldScores(scores, learners=PAIR, folds=10)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_expectation(gap: float) -> None:
    """It does not grow with the share of the iterations, which |2R - 1| does."""
    sizes = (5, 10, 25)
    rules = {f"{n}": FixedNumber(n) for n in sizes}
    found = separate_runs(rules, pools(gap), None, PAIR, orderings=20, random_seed=1)
    for n in sizes:
        values = found[f"{n}"].agreement(PAIR)
        error = values.std(ddof=1) / np.sqrt(len(values))
        expected = (2 * norm.cdf(gap * np.sqrt(n)) - 1) ** 2
        assert values.mean() == pytest.approx(expected, abs=4 * error)
        assert 4 * error < 0.15


def test_runs_by_hand() -> None:
    """Fronts and backs of one ordering, with an iteration that failed for one learner."""
    scores = np.random.default_rng(0).random((1, 2, 9, 1))
    scores[0, 1, 4] = np.nan
    given = FoldScores(scores, learners=PAIR, folds=10)
    rules = {f"{n}": FixedNumber(n) for n in (3, 9)}
    found = separate_runs(rules, given, None, PAIR, orderings=7, random_seed=5)
    rng = np.random.default_rng(5)
    products = []
    for m in range(7):
        order = rng.permutation(9)
        signs = []
        for end, way in enumerate((order, order[::-1])):
            kept = [way[np.isfinite(one[way, 0])][:3] for one in scores[0]]
            means = [one[at, 0].mean() for one, at in zip(scores[0], kept, strict=True)]
            assert found["3"].estimates[m, end, 0] == pytest.approx(means)
            assert found["3"].reach[m, end, 0, 1] == 1 + list(way).index(kept[1][-1])
            signs.append(np.sign(means[0] - means[1]))
        products.append(signs[0] * signs[1])
    assert found["3"].agreement(PAIR) == pytest.approx([np.mean(products)])
    assert np.isnan(found["9"].agreement(PAIR)).all()
    assert (found["9"].ran_out("a"), found["9"].ran_out("b")) == (0.0, 1.0)
    assert found["9"].costs(PAIR) == pytest.approx([8.5])


def test_stops_are_those_of_the_rule() -> None:
    rng = np.random.default_rng(2)
    items = [rng.random((2, 1, 20)) + rng.normal(0, 0.1, (2, 30, 20)) for _ in range(2)]
    scores, rule = pools(0.0, 30, 2), SpearmanRule(1 - 1e-3)
    found = separate_runs({"one": rule}, scores, items, PAIR, orderings=2, random_seed=4)["one"]
    order = np.random.default_rng(4).permutation(30)
    for end, way in enumerate((order, order[::-1])):
        stops = stopping_iterations(rule, scores, items, way)
        assert (found.reach[0, end] == np.where(stops, stops, np.inf)).all()
    assert len(np.unique(found.reach)) > 2
