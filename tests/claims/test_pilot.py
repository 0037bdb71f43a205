"""Plans from answers at hand: variances by hand and by simulation, power, costs, refusals."""

import numpy as np
import pytest
from scipy.stats import t as t_law

from bayes_sota import Outcomes
from bayes_sota.claims import Pilot, plan_from_pilot


def chances(n: int, rng: np.random.Generator) -> np.ndarray:
    """Chances of two methods that find other items hard, (n, 2)."""
    return np.asarray(1 / (1 + np.exp(-rng.normal(1, 1.5, (n, 1)) - rng.normal(0, 1, (n, 2)))))


def answers(n: int, runs: int, seed: int, **groups) -> Outcomes:
    rng = np.random.default_rng(seed)
    right = rng.random((runs, n, 2)) < chances(n, rng)
    return Outcomes(right.mean(axis=0), n_runs=runs, names=["a", "b"], **groups)


def test_variances_are_those_of_the_items_and_of_the_runs() -> None:
    pilot = Pilot.of(answers(20_000, 4, 0), ("a", "b"))
    p = chances(200_000, np.random.default_rng(1))
    assert pilot.of_items == pytest.approx(np.var(p @ [1, -1]), rel=0.06)
    assert pilot.of_runs == pytest.approx(np.mean(p * (1 - p)) * 2, rel=0.03)
    one = Pilot.of(answers(20_000, 1, 0), ("a", "b"))
    assert one.variance(1) == pytest.approx(pilot.variance(1), rel=0.03)


@pytest.mark.slow
def test_standard_errors_are_those_of_repetitions() -> None:
    for n, runs in ((300, 1), (100, 5)):
        gaps = [answers(n, runs, 10 + i).scores @ [1, -1] for i in range(600)]
        pilot = Pilot.of(answers(4000, 3, 1), ("a", "b"))
        assert pilot.standard_error(n, runs) == pytest.approx(np.std(gaps), rel=0.1)


def test_few_clusters_tell_standard_errors_as_far_as_is_said() -> None:
    """Nine of ten pilots lie within what is said of the truth, up to 4 Monte Carlo errors."""
    rng = np.random.default_rng(5)
    shape, names = (23, 10), np.repeat(np.arange(23), 10).astype(str).tolist()

    def gaps(times: int) -> np.ndarray:
        """Right answers of two methods, whose luck the items of a cluster share."""
        luck = rng.normal(0, 1.5, (times, shape[0], 1, 2))
        return np.asarray(rng.random((times, *shape, 2)) < 1 / (1 + np.exp(-luck)))

    seen = np.std(gaps(4000).mean(axis=(1, 2)) @ [1, -1])
    pilots = [Pilot.of(Outcomes(g.reshape(-1, 2), clusters=names)) for g in gaps(300)]
    assert pilots[0].known_to == pytest.approx(0.248, abs=0.001)  # chi-square of 22: .82 within .2
    off = np.array([pilot.standard_error(230, 1) / seen - 1 for pilot in pilots])
    within = np.mean(np.abs(off) <= pilots[0].known_to)
    assert within == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 300))


def test_the_cheapest_design_is_that_of_all_numbers_of_runs() -> None:
    data = answers(500, 3, 0)
    content = plan_from_pilot(data, 0.03, cost_per_item=5, cost_per_run=0.5).content
    pilot = Pilot.of(data)
    costs = {r: pilot.needed(0.03, r) * (5 + 0.5 * r) for r in range(1, 60)}
    assert content["best"]["cost"] == pytest.approx(min(costs.values()), rel=0.002)
    assert content["best"]["n_runs"] not in (1, 20)
    assert (
        f"shows {100 * pilot.difference:+.2g} points" in plan_from_pilot(data, 0.03).sentences[-1]
    )
    assert content["designs"][0]["n_answers"] == 2 * content["designs"][0]["n_items"]


def test_numbers_of_items_are_planned_by_the_paired_t_test() -> None:
    """Simulated: as many fresh items as planned lead to the claim with the power asked for."""
    rng = np.random.default_rng(0)
    values = 70 + 20 * rng.standard_normal((400, 1)) + [2.0, 0.0] + rng.normal(0, 5, (400, 2))
    errors = Outcomes(values, names=["a", "b"], metric="mean", lower_is_better=True)
    pilot = Pilot.of(errors)
    assert pilot.pair == ("b", "a")
    spread = np.var(values[:, 0] - values[:, 1], ddof=1)
    needed = pilot.needed(2.0, 1)
    fresh = rng.normal(2.0, spread**0.5, (20_000, needed))
    t = fresh.mean(axis=1) / fresh.std(axis=1, ddof=1) * needed**0.5
    assert np.mean(t > t_law.isf(0.05, needed - 1)) == pytest.approx(0.8, abs=0.02)
    report = plan_from_pilot(errors, 2.0)
    assert f"truly differ by 2, {needed} items lead to the claim" in report.sentences[0]
