"""The paper's estimates beside the posterior: Tables 2 and 4, and what the rows come from."""

import os
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from data.files import run, run_json

from bayes_sota.data.boards import read_leaderboard
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.shrinkage import binomial_interval, crop_scores, shrink_aucs, shrink_scores
from bayes_sota.maximum.summary import compare_estimates

DATA = os.environ.get("BAYES_SOTA_DATA")
SCORES = np.round(0.8 + 0.1 * np.linspace(0, 1, 60) ** 0.3, 3)
BOARD = Leaderboard(SCORES, n_test=1000)


def result(values) -> xr.DataTree:
    theta = xr.DataArray(np.reshape(values, (2, -1)), dims=("chain", "draw"))
    return xr.DataTree.from_dict({"posterior": xr.Dataset({"theta_sota": theta})})


THETA = np.random.default_rng(0).normal(0.89, 0.004, 2000)


def test_rows_are_those_of_the_functions() -> None:
    frame = compare_estimates(BOARD, result(THETA), n_classes=4, ci_prob=0.9)
    rows = frame.set_index("method")
    for name, solve in (("shrink", shrink_scores), ("crop", crop_scores)):
        for criterion in ("expected", "upper"):
            found = solve(SCORES, n_test=1000, chance=0.25, criterion=criterion, ci_prob=0.9)
            row = rows.loc[f"{name}, {criterion}"]
            assert row.estimate == found.estimate
            assert (row.lower, row.upper) == found.interval
            assert row.n_above == found.n_above()
    alone = rows.loc["best score alone"]
    assert (alone.lower, alone.upper) == binomial_interval(900, 1000, 0.9)
    assert alone.n_inside == int(np.sum(alone.lower <= SCORES))
    posterior = rows.loc["posterior"]
    assert posterior.estimate == pytest.approx(THETA.mean())
    assert [posterior.lower, posterior.upper] == np.quantile(THETA, [0.05, 0.95]).tolist()


def test_aucs_are_shrunk_only_and_a_known_rho_is_passed_on() -> None:
    board = Leaderboard([0.85, 0.86, 0.87, 0.88], n_test=500, n_positive=60, metric="auc")
    frame = compare_estimates(board, result(THETA), correlation=0.5)
    assert frame["method"].tolist() == [
        "best score alone", "shrink, expected", "shrink, upper", "posterior",
    ]  # fmt: skip
    found = shrink_aucs(board.scores, n_positive=60, n_negative=440, correlation=0.5)
    assert frame["estimate"][1] == found.estimate


def test_a_lone_leader_has_a_note() -> None:
    board = Leaderboard([0.6, 0.61, 0.62, 0.9], n_test=2000)
    frame = compare_estimates(board, result(THETA), n_classes=10).set_index("method")
    assert "no multiplicity to correct" in frame.loc["shrink, expected", "note"]
    assert frame.loc["shrink, expected", "estimate"] == 0.9


@pytest.mark.slow
@pytest.mark.skipif(not DATA, reason="BAYES_SOTA_DATA is not set")
def test_tables_2_and_4_of_the_paper() -> None:
    """With the paper's number of items, which the digits of the scores contradict."""
    file = Path(str(DATA)) / "kaggle" / "playground-series-s4e2__private.csv"
    board = read_leaderboard(file, metric="score", standard_error=0.01)
    frame = compare_estimates(board, result(THETA), n_classes=7, n_test=13_840)
    rows = frame.set_index("method")
    assert np.round(rows.loc["best score alone", ["lower", "upper"]].tolist(), 4).tolist() == [
        0.9067, 0.9162,
    ]  # fmt: skip
    assert rows.loc["best score alone", "n_inside"] == 921
    assert rows.loc["shrink, expected", "estimate"] == pytest.approx(0.90707, abs=5e-6)
    assert (rows.loc["shrink, upper", "n_above"], rows.loc["crop, upper", "n_above"]) == (
        1726,
        1844,
    )


def test_the_command_prints_the_table_after_the_answer(capsys, tmp_path) -> None:
    file = tmp_path / "board.csv"
    file.write_text("name,accuracy\na,0.91\nb,0.905\nc,0.9\nd,0.88\n", encoding="utf-8")
    command = ("sota", file, "--n-test", "1000", "--compare", "--quiet")
    found = run_json(capsys, *command, "--n-classes", "10")
    assert [row["method"] for row in found["comparison"]][-1] == "posterior"
    assert found["comparison"][-1]["estimate"] == pytest.approx(found["theta_sota"]["mean"])
    code, _, error = run(capsys, *command)
    assert (code, "--n-classes is missing" in error) == (2, True)
    code, _, error = run(
        capsys, "sota", "--maximum", "0.9", "--n-test", "100", "--classifiers", "9", "--compare"
    )
    assert (code, "--compare takes the scores of a leaderboard FILE" in error) == (2, True)
