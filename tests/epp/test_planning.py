"""Planned rounds give the errors, the power and the first place that the plan says."""

import numpy as np
import pytest
from simulated_tournaments import simulate_tournament

from bayes_sota import fit_epp
from bayes_sota.epp import plan_rounds, report_plan

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
    assert np.isfinite(plan_rounds(fit, float(least.max()) * 1.01).for_error).all()
    plan = plan_rounds(fit, float(least.max()) / 2)
    assert np.isinf(plan.for_error).any()
    assert "need infinitely many rounds" in report_plan(fit, float(least.max()) / 2).sentences[0]
