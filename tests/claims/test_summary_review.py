"""A review's table: one claim at a time, as people write it, shares, and what comes out."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from bayes_sota.claims.laws import Accuracies, Means, reported_claim, reported_means
from bayes_sota.claims.summary_review import (
    PROBABILITIES,
    RESULTS,
    claims_table,
)

REVIEW = """\
paper,field,metric,accuracy_a,accuracy_b,mean_a,mean_b,sd_a,sd_b,sd_difference,pairwise_correlation,n_test,congruence,note
"Li, 2024",skin,,0.90,0.88,,,,,,,500,,first
Doe 2023,skin,accuracy,0.95,85%,,,,,,,500,,-0.3
Roe 2022,heart,accuracy,0.900,0.880,,,,,,,500,0.85,
Poe 2021,heart,dice,,,0.81,0.80,.1,.1,,,100,,
Coe 2020,heart,dice,,,0.81,0.80,.1,.1,,.7,100,,
Moe 2019,,mean,,,27.3,26.9,4,4,,.5,100,,
Noe 2018,,,,,0.81,0.80,,,0.02,,100,,
Ode 2017,heart,,,,81,80,,,,,100,,
"""


@pytest.fixture
def review(tmp_path: Path) -> Path:
    path = tmp_path / "review.csv"
    path.write_text(REVIEW, encoding="utf-8")
    return path


def frame_of(rows: list[tuple[Any, ...]], columns: str = "accuracy_a accuracy_b n_test") -> Any:
    return pd.DataFrame(rows, columns=columns.split())


def test_every_row_is_the_claim_alone(review: Path) -> None:
    table = claims_table(review)
    found = table.frame

    def means(a: str, b: str, **known: Any) -> list[float]:
        of = Means(a=float(a), b=float(b), n=100, **known)
        ends = (None, 1.0, 0.0) if of.is_open else (None,) * 3
        return [reported_means(of, (a, b), r).p_false for r in ends]

    def of_accuracies(a: str, b: str, *known: float) -> list[float]:
        of = Accuracies(a=float(a), b=float(b), n=500)
        ends = (None, *of.plausible[::-1])
        return [reported_claim(a, b, 500, c).p_false for c in known or ends]

    expected = [
        of_accuracies("0.90", "0.88"),
        of_accuracies("0.95", "0.85"),
        of_accuracies("0.900", "0.880", *[0.85] * 3),
        means("0.81", "0.80", sd=(0.1, 0.1)),
        means("0.81", "0.80", sd=(0.1, 0.1), known=0.7),
        means("27.3", "26.9", sd=(4, 4), known=0.5, bounds=None),
        means("0.81", "0.80", sd_difference=0.02),
        means("0.81", "0.80"),
    ]
    np.testing.assert_allclose(found[list(PROBABILITIES)], expected, rtol=1e-12)
    assert found["assumption"].tolist() == [
        *["congruence averaged"] * 2, "congruence given", "correlation averaged",
        *["correlation given"] * 2, "correlation not needed",
        "correlation averaged, standard deviations imputed from the means",
    ]  # fmt: skip
    assert found["verdict"].tolist() == [
        "depends on the congruence", "supported", "not supported", "depends on the correlation",
        "not supported", "not supported", "supported", "depends on the correlation",
    ]  # fmt: skip
    sizes = found["n_needed"].tolist()
    assert sizes[0] == Accuracies(a=0.90, b=0.88, n=500).size()
    assert sizes[3] == Means(a=0.81, b=0.80, n=9, sd=(0.1, 0.1)).size()
    assert "the SDs of 1 claim are imputed as 2/3 mean (1 - mean)" in table.notes[-1]


@pytest.mark.parametrize(
    ("columns", "row", "plain"),
    [
        ("accuracy_a accuracy_b n_test", ("90.1", "88", "500"), ("0.901", "0.880", 500)),
        ("accuracy_a accuracy_b n_test", ("91.3%", "90%", "1000"), ("0.913", "0.900", 1000)),
        ("mean_a mean_b sd_a sd_b n_test metric", ("81%", "80%", 10, 10, 100, "dice"),
         (0.81, 0.80, 0.1, 0.1, 100, "mean")),
        ("mean_a mean_b sd_a sd_b n_test metric", ("-4.1", "-5.2", 2, 2, 50, "mean"),
         (-4.1, -5.2, 2, 2, 50, "mean")),
        ("mean_a mean_b sd_a sd_b n_test metric", ("81.0%", "80.0%", "10%", "0.5%", 100, "dice"),
         ("0.810", "0.800", 0.1, 0.005, 100, "dice")),
        ("mean_a mean_b sd_a sd_b n_test", ("81.0", "80.0", "10%", "0.5%", 100),
         ("0.810", "0.800", 0.1, 0.005, 100)),
        ("HD95_a HD95_b sd_a sd_b n_test", ("-4.1", "-5.2", 2, 2, 50),
         ("-4.1", "-5.2", 2, 2, 50)),
        ("metric accuracy_a accuracy_b mean_a mean_b n_test",
         ("Accuracy", 0.9, 0.88, 0.81, 0.80, 500), ("accuracy", 0.9, 0.88, "", "", 500)),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(columns, row, plain) -> None:
    """``tests/data/wrong.json`` has the rows that are refused."""
    asked = {"mean_a": "HD95_a", "mean_b": "HD95_b"} if "HD95" in columns else {}
    found, same = (
        claims_table(frame_of([row], columns), **asked).frame,
        claims_table(frame_of([plain], columns.replace("HD95", "mean"))).frame,
    )
    assert found["p_false"].tolist() == same["p_false"].tolist()


# Shares


def test_shares_of_all_claims(review: Path) -> None:
    table = claims_table(review)
    found = table.frame
    for name, above in table.content["all"]["above_level"].items():
        count = int((found[name] > 0.05).sum())
        assert (above["n"], above["share"]) == (count, count / len(found))
        beta = stats.beta.ppf([0.025, 0.975], count + 0.5, len(found) - count + 0.5)
        assert above["interval"] == pytest.approx(beta)
    mean, low, high = (f"{found[name].sum():.1f}" for name in PROBABILITIES)
    said = table.content["finding"]
    assert f"Expected number of false claims: {mean} of 8 ({low} to {high}, depending" in said
    parts = ("Supported at 0.05: 2;", "not supported: 3;", "what is not reported: 3.")
    assert all(part in said for part in parts)


def test_rows_that_repeat_another_are_pointed_out() -> None:
    row = ("0.90", "0.88", 500)
    assert claims_table(frame_of([row])).notes[1:] == []
    found = claims_table(frame_of([row, ("0.85", "0.84", 500), row]))
    assert found.notes[1:] == ["duplicate rows, each counted: 1"]


# Files


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        ("paper dice_a dice_b std_a std_b N", {}),
        ("study ours theirs SD1 SD2 size", {
            "name": "study", "mean_a": "ours", "mean_b": "theirs", "sd_a": "SD1", "sd_b": "SD2",
            "n": "size",
        }),
    ],
)  # fmt: skip
def test_columns_have_other_names(names: str, columns: dict[str, str]) -> None:
    rows = [("x", 0.81, 0.80, 0.1, 0.1, 100), ("y", 0.7, 0.7, 0.1, 0.1, 100)]
    found = claims_table(frame_of(rows, names), **columns)
    of = Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1))
    first, second = found.content["claims"]
    assert (first["name"], first["p_false"]) == ("x", reported_means(of, ("0.81", "0.80")).p_false)
    assert [row["n_needed"] for row in (first, second)] == [of.size(), None]
    assert list(found.frame["n_needed"].isna()) == [False, True]
    assert [row[-1] for row in found.tables[1].rows] == ["281", ""]


def test_the_same_table_comes_out(review: Path, tmp_path: Path) -> None:
    table = claims_table(review)
    table.save(tmp_path / "out.csv")
    rows = list(csv.reader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
    before = list(csv.reader(io.StringIO(REVIEW)))
    width = len(before[0])
    assert [row[:width] for row in rows] == before
    assert rows[0][width:] == list(RESULTS)
    written_p = [float(row[width]) for row in rows[1:]]
    np.testing.assert_allclose(written_p, table.frame["p_false"], rtol=1e-5)


def test_a_frame_keeps_its_index_and_types() -> None:
    given = frame_of([(0.9, 0.88, 500), (0.9, 0.8, 500)]).set_index(pd.Index([7, 3]))
    for source in (given, pl.from_pandas(given)):
        found = claims_table(source)
        assert found.frame["n_test"].astype(int).tolist() == [500, 500]
        assert [row[0] for row in found.tables[1].rows] == ["row 1", "row 2"]
    found = claims_table(given).frame
    assert (found.index.tolist(), found["n_test"].dtype) == ([7, 3], given["n_test"].dtype)
    assert list(given.columns) == ["accuracy_a", "accuracy_b", "n_test"]
    assert found["p_false"].iloc[1] == Accuracies(a=0.9, b=0.8, n=500).p_false()  # zeros are lost
