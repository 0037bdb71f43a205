"""Figures of repeated cross-validation draw their results, and their texts do not collide."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from cli.test_figures import faults_of

from bayes_sota.core.errors import InputError
from bayes_sota.crossval.across_tasks import average_ranks
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.plots import (
    plot_critical_differences,
    plot_reproducibility,
    plot_running_means,
)
from bayes_sota.crossval.reproducibility import expected_by_chance, judge_rules
from bayes_sota.crossval.rules import FixedNumber
from bayes_sota.crossval.shape import running_means

LONG = "a learner with a very long name and $parameters_{{x}}$ <b>of its own</b> number {}"


def simulated(learners: int = 3, tasks: int = 1, name: str = "learner {}") -> FoldScores:
    rng = np.random.default_rng(2)
    skill = np.linspace(0.9, 0.88, learners)[:, None, None]
    scores = skill + rng.normal(0, 0.03, (tasks, learners, 24, 10))
    return FoldScores(scores, learners=[name.format(j) for j in range(learners)], scorer="AUROC")


def artist(figure: Any, label: str, variable: str) -> dict[str, Any]:
    return figure.viz[label][variable].item()


def test_running_means_and_their_bands() -> None:
    scores = simulated()
    figure = plot_running_means(scores, ci_prob=0.9, backend="none")
    for j in range(3):
        expected = running_means(scores, j, ci_prob=0.9)
        np.testing.assert_allclose(artist(figure, f"mean_{j}", "score")["y"], expected.mean)
        band = artist(figure, f"band_{j}", "score")
        np.testing.assert_allclose(band["y_top"][5:], expected.interval[5:, 1])
        assert artist(figure, f"name_{j}", "score")["string"] == f"learner {j}"
    with pytest.raises(InputError, match="colours for 7 learners, got 8"):
        plot_running_means(simulated(8), backend="none")
    with pytest.raises(InputError, match="at least 2 iterations"):
        plot_running_means(FoldScores(np.full((2, 1, 5), 0.9)), backend="none")


def test_reproducibility_stands_beside_that_of_equal_learners() -> None:
    figure = plot_reproducibility(simulated(tasks=2), random_seed=0, backend="none")
    chance = artist(figure, "chance", "reproducibility")
    assert chance["x"][0] == 1
    assert chance["x"][-1] == 12
    assert chance["y"][-1] == pytest.approx(expected_by_chance(50, 0.5))
    (judged,) = judge_rules([FixedNumber(12)], simulated(tasks=2), random_seed=0)
    expected = judged.reproducibility().mean(axis=0)
    for k, pair in enumerate(combinations(range(3), 2)):
        drawn = artist(figure, f"pair_{k}", "reproducibility")["y"]
        assert drawn[-1] == pytest.approx(expected[pair])
        assert drawn[-1] > drawn[0]
    with pytest.raises(InputError, match="at least 4 iterations"):
        plot_reproducibility(FoldScores(np.full((2, 3, 5), 0.9)), backend="none")


def test_critical_differences_join_what_does_not_differ() -> None:
    values = np.random.default_rng(0).normal([0, 0.1, 9], 1, (20, 3))
    ranks = average_ranks(values, list("abc"))
    figure = plot_critical_differences(ranks, backend="none")
    assert artist(figure, "leader_2", "rank")["x"][:2].tolist() == [ranks.ranks[2]] * 2
    bar = artist(figure, "difference", "rank")
    assert float(np.ptp(np.asarray(bar["x"]))) == pytest.approx(ranks.nemenyi)
    assert "group_0" in figure.viz
    assert "group_1" not in figure.viz
    assert artist(figure, "name_2", "rank")["string"].split() == ["c", "1.00"]


FIGURES: dict[str, Callable[..., Any]] = {
    "means": lambda **o: plot_running_means(simulated(5, name=LONG), **o),
    "reproducibility": lambda **o: plot_reproducibility(simulated(4), random_seed=0, **o),
    "ranks": lambda **o: plot_critical_differences(
        average_ranks(np.random.default_rng(0).random((9, 8)), [LONG.format(j) for j in range(8)]),
        **o,
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_long_names_hide_nothing(name: str) -> None:
    figure = FIGURES[name](backend="matplotlib").viz["figure"].item()
    figure.canvas.draw()
    assert list(faults_of(figure)) == []
