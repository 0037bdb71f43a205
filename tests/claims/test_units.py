"""Half-widths and gaps of shares are said and taken in points; other numbers keep their unit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import EXAM, run

import bayes_sota as bs
from bayes_sota.core.errors import InputError

PAIR = ("responses", EXAM, "--pair", "tree", "forest")
CLASSIFICATION = ("classification", "--accuracy", "0.90", "0.88", "--n-test", "500")
PILOT = ("plan", "--pilot", EXAM)


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ((*PAIR, "--require", "not-worse"), "--margin"),
        (CLASSIFICATION, "--rope"),
        (PILOT, "--gap"),
    ],
)
@pytest.mark.parametrize("value", ["1", "1.0", "2.5", "150pt"])
def test_one_or_more_is_no_difference_of_shares(
    capsys: Any, arguments: tuple[str, ...], option: str, value: str
) -> None:
    code, out, error = run(capsys, "claim", *arguments, option, value)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert f"{option} must be a difference of shares below 1" in error
    if value == "1":
        assert "one point is 1pt, 1% or 0.01" in error


@pytest.mark.parametrize("value", ["1pt", "1%", "0.01", "1 pt", "1 point"])
def test_a_point_may_be_written_in_three_ways(capsys: Any, value: str) -> None:
    code, out, _ = run(capsys, "claim", *PAIR, "--margin", value, "--json")
    found = json.loads(out)
    assert (code, found["margin"]) == (0, 0.01)
    assert found["pairs"][0]["rope"]["half_width"] == 0.01


def test_what_is_said_of_shares_is_in_points(capsys: Any) -> None:
    equal = bs.Outcomes(np.tile([[1, 1], [1, 1], [0, 0], [1, 0], [0, 1]], (80, 1)))
    said = bs.claims.report_gate(equal, ("1", "2"), margin=0.1).sentences
    assert "1 is not worse than 2 by more than 10.0 points: shown" in said[0]
    _, out, _ = run(capsys, "claim", *CLASSIFICATION, "--rope", "1pt")
    assert "P(A better by more than 1.0 points) 0." in out


@pytest.mark.parametrize(
    "call",
    [
        lambda: bs.claims.report_gate(answers(), ("1", "2"), margin=1.0),
        lambda: bs.claims.report_claim(bs.Accuracies(a=0.90, b=0.88, n=500), rope=1.0),
        lambda: bs.claims.plan_from_pilot(answers(), 1.0),
    ],
)
def test_the_same_from_python(call: Any) -> None:
    with pytest.raises(InputError, match="a difference of shares below 1"):
        call()


def answers() -> bs.Outcomes:
    return bs.Outcomes(np.random.default_rng(0).random((200, 2)) < [0.9, 0.8])


@pytest.fixture
def errors(tmp_path: Path) -> Path:
    """RMSE in metres: the first is worse by about half a metre."""
    path = tmp_path / "errors.csv"
    values = np.random.default_rng(1).normal([40.5, 40.0], 1, (300, 2))
    np.savetxt(path, values, delimiter=",", header="new_rmse,old_rmse", comments="", fmt="%.4f")
    return path


def test_other_numbers_keep_their_unit(capsys: Any, errors: Path) -> None:
    pair = ("claim", "responses", errors, "--lower-is-better", "--pair", "new_rmse", "old_rmse")
    code, out, _ = run(capsys, *pair, "--margin", "2")
    assert code == 0
    assert "is not worse than old_rmse by more than 2: shown" in out
    assert "point" not in out
    code, out, error = run(capsys, *pair, "--margin", "1pt")
    assert (code, out) == (2, "")
    assert "--margin must be in the unit of these numbers, which are not shares" in error
