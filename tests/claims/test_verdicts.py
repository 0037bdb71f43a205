"""Verdicts on pairs, and the gate from the shell."""

import json
from typing import Any

import numpy as np
import pytest
from data.files import EXAM, run

from bayes_sota.claims.summary_differences import report_pairs, verdict_of
from bayes_sota.data.outcomes import Outcomes


def answers(gap: float, n: int = 2000, seed: int = 0) -> Outcomes:
    rng = np.random.default_rng(seed)
    easy = rng.random(n)
    right = [easy + 0.2 * rng.standard_normal(n) < p for p in (0.7 + gap, 0.7)]
    return Outcomes(np.column_stack(right), names=["new", "old"])


@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize("lower", [-0.1, -0.01, 0.01])
@pytest.mark.parametrize("width", [0.005, 0.05, 0.2])
def test_verdicts_never_contradict_their_interval(
    lower: float, width: float, margin: float
) -> None:
    upper = lower + width
    found = verdict_of(lower, upper, margin)
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
def test_what_is_clear_is_found(gap: float, margin: float, verdict: str) -> None:
    known = {"margin": margin, "random_seed": 0}
    content = report_pairs(answers(gap), pair=("new", "old"), **known).content
    assert (content["verdict"], content["margin"]) == (verdict, margin)


def test_a_gate_from_the_shell(capsys: Any) -> None:
    exam = EXAM
    command = ("claim", "responses", exam, "--average", "items", "--pair", "forest", "tree")
    code, out, _ = run(capsys, *command, "--require", "better", "--json")
    assert (code, json.loads(out)["verdict"]) == (0, "better")
    code, out, err = run(
        capsys, "claim", "responses", exam, "--pair", "tree", "forest", "--require", "not-worse",
        "--margin", "0.01",
    )  # fmt: skip
    assert code == 3
    assert "Verdict at 95%, for a pair named beforehand: tree is worse than forest." in out
    assert "not met: not-worse is required, and the verdict is worse" in err
