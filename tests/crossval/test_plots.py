"""Figures of repeated cross-validation draw their results, and their texts do not collide."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from cli.test_figures import faults_of
from scipy.stats import gaussian_kde

from bayes_sota.core.errors import InputError
from bayes_sota.core.tables import Report
from bayes_sota.crossval.across_tasks import average_ranks
from bayes_sota.crossval.plots import (
    plot_critical_differences,
    plot_iteration_scores,
    plot_reproducibility,
    plot_rules,
    plot_running_means,
)
from bayes_sota.crossval.reproducibility import expected_by_chance, judge_rules
from bayes_sota.crossval.rules import FixedNumber
from bayes_sota.crossval.shape import running_means
from bayes_sota.crossval.summary import judge_runs
from bayes_sota.data.fold_scores import FoldScores

LONG = "a learner with a very long name and $parameters_{{x}}$ <b>of its own</b> number {}"


def simulated(learners: int = 3, tasks: int = 1, name: str = "learner {}") -> FoldScores:
    rng = np.random.default_rng(2)
    skill = np.linspace(0.9, 0.88, learners)[:, None, None]
    scores = skill + rng.normal(0, 0.03, (tasks, learners, 24, 10))
    return FoldScores(scores, learners=[name.format(j) for j in range(learners)], scorer="AUROC")


@pytest.fixture(scope="module")
def report() -> Report:
    return judge_runs(simulated(), orderings=20, random_seed=0)


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


def test_scores_of_iterations_the_best_first() -> None:
    scores = simulated()
    means = scores.iteration_means()[0]
    figure = plot_iteration_scores(scores, backend="none")
    for row, j in enumerate(np.argsort(-means.mean(axis=1))):
        np.testing.assert_allclose(artist(figure, f"iterations_{row}", "score")["x"], means[j])
        median = artist(figure, f"median_{row}", "score")["x"]
        np.testing.assert_allclose(median, np.median(means[j]))
        np.testing.assert_allclose(artist(figure, f"mean_{row}", "score")["x"], means[j].mean())
        band = artist(figure, f"density_{row}", "score")
        x, height = np.asarray(band["x"]), np.asarray(band["y_top"]) - np.asarray(band["y_bottom"])
        own = gaussian_kde(means[j])(x)
        assert height.max() == pytest.approx(0.62)
        np.testing.assert_allclose(height / height.max(), own / own.max(), atol=0.25)
        assert np.trapezoid(x * height, x) / np.trapezoid(height, x) == pytest.approx(
            means[j].mean(), abs=means[j].std() / 4
        )
    equal = FoldScores(np.full((2, 5, 5), 0.9))
    assert "density_0" not in plot_iteration_scores(equal, backend="none").viz


def test_rules_and_the_iterations_that_they_take(report: Report) -> None:
    figure = plot_rules(report, backend="none")
    adaptive = [one for one in report.about.rules if one.rule.adapts]
    assert len(adaptive) == 5
    for row, one in enumerate(adaptive):
        used = one.iterations[:, 0, 1]
        drawn = artist(figure, f"mean_{row}_1", "iterations")
        np.testing.assert_allclose(drawn["x"], used.mean())
        assert (drawn["facecolor"] == "white") == (one.stopped[:, 0, 1].mean() < 0.95)
    assert "mean_5_0" not in figure.viz


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
    "scores": lambda **o: plot_iteration_scores(simulated(4, name=LONG), **o),
    "reproducibility": lambda **o: plot_reproducibility(simulated(4), random_seed=0, **o),
    "ranks": lambda **o: plot_critical_differences(
        average_ranks(np.random.default_rng(0).random((9, 8)), [LONG.format(j) for j in range(8)]),
        **o,
    ),
    "rules": lambda **o: plot_rules(judge_runs(simulated(2), orderings=5, random_seed=0), **o),
}


@pytest.mark.parametrize("name", FIGURES)
def test_long_names_hide_nothing(name: str) -> None:
    figure = FIGURES[name](backend="matplotlib").viz["figure"].item()
    figure.canvas.draw()
    assert list(faults_of(figure)) == []
