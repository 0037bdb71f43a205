"""Planned rounds give the errors, the power and the first place that the plan says."""

from pathlib import Path

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.planning import (
    expected_error,
    learning_curve,
    plan_rounds,
)
from bayes_sota.epp.plots_fit import plot_learning_curve
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.summary_promises import report_plan

SKILLS = (0.8, 0.3, -0.2, -0.9)


def test_planned_rounds_give_the_error() -> None:
    plan = plan_rounds(fit_epp(simulate_tournament(SKILLS, 400, random_seed=0)), 0.15)
    errors = [
        fit_epp(simulate_tournament(SKILLS, int(np.ceil(n)), random_seed=1)).se[k]
        for k, n in enumerate(plan.for_error)
    ]
    assert errors == pytest.approx([0.15] * 4, rel=0.12)


@pytest.mark.slow
def test_planned_rounds_give_the_power_and_the_first_place() -> None:
    """A large pilot knows the skills, so that the plan can be simulated."""
    fit = fit_epp(simulate_tournament(SKILLS, 4_000, random_seed=0))
    plan = plan_rounds(fit, 0.15, power=0.8, ci_prob=0.95)
    told, tests = int(np.ceil(plan.for_neighbours[0])), []
    first, rounds = [], int(np.ceil(plan.for_best))
    for seed in range(400):
        again = fit_epp(simulate_tournament(SKILLS, told, random_seed=seed), penalty=0.1)
        tests.append(again.test("1", "2").p_value < 0.05)
        again = fit_epp(simulate_tournament(SKILLS, rounds, random_seed=seed), penalty=0.1)
        first.append(again.epp.argmax() == 0)
    assert np.mean(tests) == pytest.approx(0.8, abs=4 * 0.02 + 0.02)
    assert np.mean(first) == pytest.approx(0.95, abs=4 * 0.011 + 0.01)


def test_overlapping_splits_have_a_least_error() -> None:
    table = simulate_tournament(SKILLS, 50, random_seed=0)
    fit = fit_epp(table, test_fraction=0.1)
    least = fit.se / np.sqrt(1 + 0.9 / (0.1 * 50))
    assert expected_error(fit, 10**9) == pytest.approx(least, rel=1e-3)
    plan = plan_rounds(fit, float(least.max()) / 2)
    assert np.isinf(plan.for_error).any()
    said = report_plan(fit, float(least.max()) / 2, repetitions=2).sentences[0]
    assert said.startswith("No number of rounds makes every standard error")


def test_learning_curve_is_that_of_parts(data_directory: Path) -> None:
    """On 19 data sets of VTAB parts have the errors that all rounds make one expect."""
    table = np.genfromtxt(data_directory / "vtab/vtab_scores_16x19.csv", delimiter=",")[1:, 1:]
    curve = learning_curve(fit_epp(ScoreTable(table.T)), 20)
    assert [point.rounds for point in curve] == [5, 10, 14, 19, 38, 76]
    for point in curve[1:4]:
        assert point.se == pytest.approx(point.predicted_se, rel=0.1)
    assert curve[0].reordered is not None
    assert curve[0].reordered > curve[2].reordered > 0  # type: ignore[operator]


def test_report_and_figure() -> None:
    fit = fit_epp(simulate_tournament(SKILLS, 40, players=list("abcd"), random_seed=0))
    report = report_plan(fit, 0.2, repetitions=3)
    plan = plan_rounds(fit, 0.2)
    assert report.content["rounds_for_standard_errors"] == int(np.ceil(plan.for_error.max()))
    assert [row["player"] for row in report.content["players"]] == [
        fit.players[k] for k in plan.order
    ]
    assert report.frame["rounds_for_se"].tolist() == np.ceil(plan.for_error[plan.order]).tolist()
    points = report.content["learning_curve"]
    figure = plot_learning_curve(points, backend="none")
    seen = figure.viz["seen"]["se"].item()
    assert np.ravel(seen["x"]).tolist() == [10, 20, 30, 40]
    assert np.ravel(seen["y"]) == pytest.approx([one["se"] for one in points[:4]])
    with pytest.raises(InputError, match="at least two points"):
        plot_learning_curve(points[:1])


def test_refusals() -> None:
    fit = fit_epp(simulate_tournament(SKILLS, 20, random_seed=0))
    with pytest.raises(InputError, match="target_se"):
        plan_rounds(fit, 0.0)
    battles = fit_epp(Matches([0, 1, 0, 1], [1, 0, 1, 0], [1, 0, 0, 1], players=["a", "b"]))
    with pytest.raises(InputError, match="matches without clusters have none"):
        plan_rounds(battles, 0.2)
