"""Half-widths and gaps of shares are said and taken in points; other numbers keep their unit."""

import json

import numpy as np
import pytest
from data.files import EXAM, run

PAIR = ("claim", "responses", EXAM, "--pair", "tree", "forest")


@pytest.mark.parametrize("value", ["1pt", "1%", "0.01", "1 point"])
def test_a_point_may_be_written_in_several_ways(capsys, value: str) -> None:
    found = json.loads(run(capsys, *PAIR, "--margin", value, "--json")[1])
    assert found["margin"] == found["pairs"][0]["rope"]["half_width"] == 0.01


def test_other_numbers_keep_their_unit(capsys, tmp_path) -> None:
    """RMSE in metres: the first is worse by about half a metre."""
    path = tmp_path / "errors.csv"
    values = np.random.default_rng(1).normal([40.5, 40.0], 1, (300, 2))
    np.savetxt(path, values, delimiter=",", header="new_rmse,old_rmse", comments="", fmt="%.4f")
    pair = ("claim", "responses", path, "--lower-is-better", "--pair", "new_rmse", "old_rmse")
    _, out, _ = run(capsys, *pair, "--margin", "2")
    assert "is not worse than old_rmse by more than 2: shown" in out
    assert "point" not in out
    code, _, error = run(capsys, *pair, "--margin", "1pt")
    assert (code, "--margin must be in the unit of these numbers" in error) == (2, True)
