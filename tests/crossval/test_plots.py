"""Figures of repeated cross-validation draw their results, and their texts do not collide."""

from itertools import combinations

import numpy as np
from cli.test_figures import artist, faults_of
from data.files import refused

from bayes_sota.crossval.estimates import average_ranks, running_means
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.plots import plot_critical_differences, plot_running_means

LONG = "a learner with a very long name and $parameters_{{x}}$ <b>of its own</b> number {}"


def simulated(learners: int = 3, tasks: int = 1, name: str = "learner {}") -> FoldScores:
    rng = np.random.default_rng(2)
    skill = np.linspace(0.9, 0.88, learners)[:, None, None]
    scores = skill + rng.normal(0, 0.03, (tasks, learners, 24, 10))
    return FoldScores(scores, learners=[name.format(j) for j in range(learners)], scorer="AUROC")


def test_running_means_and_their_bands() -> None:
    scores = simulated()
    figure = plot_running_means(scores, ci_prob=0.9, backend="none")
    for j in range(3):
        expected = running_means(scores, j, ci_prob=0.9)
        np.testing.assert_allclose(artist(figure, f"line_{j}", "score")["y"], expected[0])
        band = artist(figure, f"band_{j}", "score")
        np.testing.assert_allclose(band["y_top"][5:], expected[1][5:, 1])
        assert artist(figure, f"name_{j}", "score")["string"] == f"learner {j}"
    once = FoldScores(np.full((2, 1, 5), 0.9))
    refused("at least 2 iterations", plot_running_means, once, backend="none")


def test_ranks_within_the_critical_difference_share_a_bar() -> None:
    values = np.random.default_rng(0).normal([0, 0.3, 1.3, 1.0, 0.6], 1, (20, 5))
    ranks = average_ranks(values, list("abcde"))
    drawn = plot_critical_differences(ranks, backend="none").viz
    labels = [str(name) for name in drawn.children if str(name).startswith("members_")]
    sets = [drawn[name]["place"].item()["x"] for name in labels]
    joined = [any({x, y} <= {*one} for one in sets) for x, y in combinations(ranks.ranks, 2)]
    assert joined == [abs(x - y) <= ranks.nemenyi for x, y in combinations(ranks.ranks, 2)]
    assert len(sets) == len({*map(tuple, sets)}) > 1


def test_long_names_hide_nothing() -> None:
    """Beside running means; in the diagram of ranks: ``tests/epp/test_plots.py``."""
    drawn = plot_running_means(simulated(5, name=LONG), backend="matplotlib")
    figure = drawn.viz["figure"].item()
    figure.canvas.draw()
    assert list(faults_of(figure)) == []
