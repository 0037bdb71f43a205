"""Verdicts on pairs: at the end and at any look, from the shell, and what they refuse."""

import json
from typing import Any

import numpy as np
import pytest
from data.files import EXAM, run

from bayes_sota.claims.summary_differences import report_pairs
from bayes_sota.claims.verdicts import verdict_at_any_time, verdict_at_end
from bayes_sota.core.errors import InputError
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.responses import Responses


def answers(gap: float, n: int = 2000, seed: int = 0, **known: Any) -> Responses:
    rng = np.random.default_rng(seed)
    easy = rng.random(n)
    right = [easy + 0.2 * rng.standard_normal(n) < p for p in (0.7 + gap, 0.7)]
    return Responses(np.column_stack(right), names=["new", "old"], **known)


@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize("lower", [-0.1, -0.01, 0.01])
@pytest.mark.parametrize("width", [0.005, 0.05, 0.2])
def test_verdicts_never_contradict_their_interval(
    lower: float, width: float, margin: float
) -> None:
    upper = lower + width
    found = verdict_at_end(lower, upper, margin)
    expected = {
        "better": lower > 0,
        "not-worse": -margin < lower <= 0,
        "worse": upper < 0 and lower <= -margin,
        "undecided": lower <= -margin and upper >= 0,
    }
    assert [name for name, holds in expected.items() if holds] == [found]


@pytest.mark.parametrize(
    ("gap", "margin", "verdict"),
    [(0.1, 0, "better"), (-0.1, 0, "worse"), (0.0, 0, "undecided"), (0.0, 0.05, "not-worse")],
)
def test_both_ways_find_what_is_clear(gap: float, margin: float, verdict: str) -> None:
    for anytime in (False, True):
        known = {"margin": margin, "anytime": anytime, "random_seed": 0}
        content = report_pairs(answers(gap), pair=("new", "old"), **known).content
        assert content["verdict"] == verdict
        assert (content["margin"], content["anytime"]) == (margin, anytime)


def test_a_verdict_at_any_time_stays_when_items_are_added() -> None:
    data = answers(0.06)
    found = verdict_at_any_time(data, ("new", "old"), 0.0, 0.95)
    after = found["decided_after"]
    assert 0 < after < 2000
    for n in (after, after + 200, 2000):
        part = Responses(data.correct[:n], names=data.names)
        again = verdict_at_any_time(part, ("new", "old"), 0.0, 0.95)
        assert (again["verdict"], again["decided_after"]) == ("better", after)
    short = Responses(data.correct[: after - 1], names=data.names)
    assert verdict_at_any_time(short, ("new", "old"), 0.0, 0.95)["verdict"] == "undecided"


def test_losses_missing_answers_and_clusters() -> None:
    rng = np.random.default_rng(0)
    losses = ItemScores(
        np.column_stack([rng.beta(2, 6, 400), rng.beta(3, 5, 400)]), names=["new", "old"],
        lower_is_better=True,
    )  # fmt: skip
    assert verdict_at_any_time(losses, ("new", "old"), 0.0, 0.95)["verdict"] == "better"
    data = answers(0.1)
    holes = np.where(rng.random(data.correct.shape) < 0.1, -1, data.correct)
    partly = Responses(np.where(holes < 0, np.nan, holes), names=data.names)
    found = verdict_at_any_time(partly, ("new", "old"), 0.0, 0.95)
    assert found["n_compared"] == int((holes >= 0).all(axis=1).sum())
    grouped = answers(0.1, clusters=[f"c{i // 4}" for i in range(2000)])
    later = verdict_at_any_time(grouped, ("new", "old"), 0.0, 0.95)["decided_after"]
    assert later > verdict_at_any_time(data, ("new", "old"), 0.0, 0.95)["decided_after"]


@pytest.mark.parametrize(
    ("outcomes", "why"),
    [
        (lambda: ItemScores(np.random.default_rng(0).normal(size=(30, 2)) * 9), "between 0 and 1"),
        (lambda: answers(0.1, tasks=["a", "b"] * 1000), "--average items"),
        (lambda: Responses(np.eye(6, 3, dtype=int)), "one column"),
    ],
)
def test_what_no_verdict_at_any_time_can_be_made_of(outcomes: Any, why: str) -> None:
    data = outcomes()
    with pytest.raises(InputError, match=why):
        verdict_at_any_time(data, data.names[:2], 0.0, 0.95)


def test_a_gate_from_the_shell(capsys: Any) -> None:
    exam = EXAM
    command = ("claim", "responses", exam, "--average", "items", "--pair", "forest", "tree")
    code, out, _ = run(capsys, *command, "--require", "better", "--anytime", "--json")
    assert (code, json.loads(out)["verdict"]) == (0, "better")
    code, out, err = run(
        capsys, "claim", "responses", exam, "--pair", "tree", "forest", "--require", "not-worse",
        "--margin", "0.01",
    )  # fmt: skip
    assert code == 3
    assert "Verdict at 95%, for a pair named beforehand: tree is worse than forest." in out
    assert "not met: not-worse is required, and the verdict is worse" in err
