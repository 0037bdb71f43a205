"""Differences of all pairs at once."""

import numpy as np
import pytest

from bayes_sota import Outcomes
from bayes_sota.claims import report_gate, report_pairs


def answers(n: int, chances: list[float], seed: int = 0) -> Outcomes:
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=(n, 1))
    right = hard + rng.normal(size=(n, len(chances))) < np.sqrt(2) * np.array(chances)
    return Outcomes(right, names=[f"m{j}" for j in range(len(chances))])


@pytest.mark.slow
def test_all_pairs_have_what_each_has_by_itself() -> None:
    data = answers(300, [0.9, 0.7, 0.65, 0.2])
    found = report_pairs(data, draws=20_000).content
    assert (found["n_pairs"], len(found["pairs"])) == (6, 6)
    for row in found["pairs"]:
        one = report_gate(data, (row["a"], row["b"]), draws=20_000).content["pairs"][0]
        assert row["p_false"] == pytest.approx(one["p_false"], abs=0.012)
        for key in ("mean", "sd"):
            assert row["difference"][key] == pytest.approx(one["difference"][key], abs=0.002)
        assert row["p_adjusted"] >= min(2 * row["p_false"], 1) - 0.02
    assert found["n_told_apart"] == sum(row["told_apart"] for row in found["pairs"]) >= 3


def test_a_difference_without_spread_but_round_off_is_not_trusted() -> None:
    values = np.array([[0.80, 0.83, 0.4], [0.70, 0.73, 0.9], [0.61, 0.64, 0.6]])
    data = Outcomes(values, names=["a", "b", "c"], metric="mean")
    found = report_pairs(data, draws=200)
    (reason,) = found.reasons
    assert reason.startswith("b and a differ by the same amount on every item")
    assert not next(row for row in found.content["pairs"] if row["b"] == "a")["told_apart"]
    assert report_gate(data, ("b", "a"), require="better", draws=200).content["passed"] is False
    values[0, 0] += 1e-6
    others = Outcomes(values, names=["a", "b", "c"], metric="mean")
    assert not report_pairs(others, draws=200).reasons


@pytest.mark.slow
def test_equal_methods_are_seldom_distinguished() -> None:
    """Of 300 tables of six equal methods .05 are expected to have a pair distinguished."""
    some = [
        report_pairs(answers(150, [0.6] * 6, seed), draws=1000).content["n_told_apart"] > 0
        for seed in range(300)
    ]
    assert 0.02 <= np.mean(some) <= 0.09
