"""Columns of covariates, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.epp.models_covariates import build_design

NAMES = ["a", "b", "c", "d"]


def test_columns_have_mean_zero_and_numbers_unit_spread() -> None:
    given = {"size": [1, 2, 3, 10], "deep": [True, False, True, True], "family": list("xyyx")}
    design = build_design(given, NAMES, "player")
    assert design.labels == ("size", "deep", "family: x", "family: y")
    assert design.category.tolist() == [-1, -1, 0, 0]
    assert design.categories == ("family",)
    assert design.columns.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    assert design.columns[:, :2].std(axis=0) == pytest.approx([1, 1])
    assert np.ptp(design.columns[:, 2:], axis=0).tolist() == [1, 1]


def test_rows_of_a_frame_are_found_by_name() -> None:
    frame = pd.DataFrame({"size": [4.0, 3, 2, 1, 0]}, index=["d", "c", "b", "a", "unused"])
    same = build_design({"size": [1, 2, 3, 4]}, NAMES, "player")
    assert np.array_equal(build_design(frame, NAMES, "player").columns, same.columns)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": [1, 2]}, "'size' has 2 values for 4 players"),
        ({"size": [1, 2, np.nan, 4]}, "'size', player 'c': a finite number"),
        ({"size": [2, 2, 2, 2]}, "is 2 for all players"),
        ({"family": ["x"] * 4}, "is 'x' for all players"),
        ({"family": np.array(["x", None, "y", "y"], object)}, "player 'b': the category"),
        ({}, "none is named"),
        ([1, 2, 3, 4], "got list"),
        (pd.DataFrame({"size": [1, 2]}, index=["a", "b"]), "player 'c' has no row"),
        (pd.DataFrame({"s": range(5)}, index=[*NAMES, "a"]), "more than once"),
    ],
)
def test_what_is_refused(given: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_design(given, NAMES, "player")
