"""Leaderboards and averages over tasks, read from tables as people have them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import refused, run, run_json, written

from bayes_sota.data.boards import average_tasks, read_leaderboard

BOARD = "team,score\na,0.91\nb,0.94\nc,0.90\n"
TASKS = "model,law,art,size\na,0.9,0.5,7\nb,0.8,0.7,13\n"


def test_what_was_read_is_the_first_note_and_digits_stay_as_typed(tmp_path: Path) -> None:
    path = written(tmp_path, "model,acc,params\na,0.9110,7\nb,0.80,9\n")
    board = read_leaderboard(path, n_test=13840)
    assert board.notes[0] == 'Read: entries from "model", scores from "acc"; not used: "params".'
    assert (board.name, board.names, board.decimals) == ("board", ("a", "b"), 4)
    low, high = board.count_bounds[0]
    assert [k for k in range(13841) if f"{k / 13840:.4f}" == "0.9110"] == [*range(low, high + 1)]


@pytest.mark.parametrize("sign", ["%", " %", ""])
def test_percent(tmp_path: Path, sign: str) -> None:
    plain = read_leaderboard(written(tmp_path, BOARD), n_test=100)
    text = f"team,score,se\na,91.0{sign},1{sign}\nb,94.0{sign},1{sign}\nc,90.0{sign},2{sign}\n"
    percent = read_leaderboard(written(tmp_path, text), n_test=100)
    assert percent.scores.tolist() == plain.scores.tolist()
    by_error = read_leaderboard(written(tmp_path, text), percent=None if sign else True)
    np.testing.assert_allclose(by_error.sizes, [820, 565, 226])


def test_columns_of_items_and_errors(tmp_path: Path) -> None:
    path = written(tmp_path, "model,acc,n,acc_stderr\na,0.9,100,0.03\nb,0.8,400,0.02\n")
    board = read_leaderboard(path)
    assert board.sizes.round(6).tolist() == [100, 400]
    assert "standard errors are not used" in board.notes[1]
    by_error = read_leaderboard(path, se="acc_stderr", leave_out=["n"])
    np.testing.assert_allclose(by_error.sizes, [0.09 / 0.03**2 + 1, 0.16 / 0.02**2 + 1])
    assert not read_leaderboard(path, n_test=1000).has_own_errors
    beside = read_leaderboard(written(tmp_path, "method,dice\na,0.95 ± 0.02\nb,0.90 (0.01)\n"))
    assert (beside.metric, beside.standard_error, beside.n_test) == ("score", 0.015, None)


@pytest.mark.parametrize("name", ["f1", "Macro-F1", "BLEU", "mean Dice", "Average", "kappa"])
def test_what_is_no_accuracy_needs_an_error(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"model,{name}\na,0.9\nb,0.8\n")
    refused("accuracies", read_leaderboard, path, n_test=100)
    assert read_leaderboard(path, standard_error=0.01).metric == "score"
    assert read_leaderboard(path, n_test=100, metric="accuracy").metric == "accuracy"


def test_aucs_and_losses(tmp_path: Path) -> None:
    path = written(tmp_path, "model,roc_auc\na,0.9\nb,0.8\n")
    refused("n_positive is missing", read_leaderboard, path, n_test=100)
    assert read_leaderboard(path, n_test=100, metric="auc", n_positive=30).n_positive == 30
    path = written(tmp_path, "model,rmse\na,0.9\nb,0.8\n")
    refused('direction="lower"', read_leaderboard, path, standard_error=0.01)
    board = read_leaderboard(path, standard_error=0.01, direction="lower")
    assert (board.metric, board.maximum, board.names[board.order[0]]) == ("score", -0.8, "b")


def test_one_impossible_score_is_a_note_and_many_are_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "model,acc\na,.884\nb,.601\nc,.890\nd,.793\n")
    board = read_leaderboard(path, n_test=164)
    assert 'the score of "b"' in board.notes[-1]
    assert board.count_bounds[1].tolist() == [99, 99]
    refused('the score of "a", "b", .* 0.884 of 7 is between', read_leaderboard, path, n_test=7)


KAGGLE = (
    "Rank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount\n"
    "1,11,Ann,2024,0.91157,12\n2,12,Cé,2024,0.91139,3\n3,13,[Deleted] 4f,2024,0.9,1\n"
    "4,14,Ann,2024,0.80003,2\n5,15,Zero,2024,0.0,2\n"
)


def test_a_download_of_a_competition(tmp_path: Path) -> None:
    board = read_leaderboard(written(tmp_path, KAGGLE), n_test=11072)
    assert board.names == ("Ann (11)", "Cé", "Ann (14)")
    assert board.is_competition
    assert board.submissions is not None
    assert board.submissions.tolist() == [[12], [3], [2]]
    assert {"dropped 1 row of deleted teams", "dropped 1 row with a score of exactly 0"} <= set(
        board.notes
    )
    private = read_leaderboard(written(tmp_path, KAGGLE, "private.csv"), n_test=11072)
    assert private.submissions is None
    assert "private board" in private.notes[-1]


def test_columns_are_tasks(tmp_path: Path) -> None:
    exam = read_leaderboard(written(tmp_path, TASKS), n_test={"law": 50, "art": 200})
    np.testing.assert_allclose(exam.scores, [0.7, 0.75])
    assert (exam.tasks, exam.names, exam.n_items) == (("law", "art"), ("a", "b"), 250)
    turned = read_leaderboard(written(tmp_path, "dataset,a,b\nlaw,.9,.8\nart,.5,.7\n"), n_test=50)
    long = pd.DataFrame(
        [("a", "law", 0.9), ("a", "art", 0.5), ("b", "law", 0.8), ("b", "art", 0.7)],
        columns=["model", "task", "acc"],
    )
    for other in (turned, read_leaderboard(long, n_test=50)):
        np.testing.assert_array_equal(other.scores, exam.scores)


def test_sizes_and_errors_beside_tasks(tmp_path: Path) -> None:
    shares = [[0.9, 0.5], [0.8, 0.7]]
    for text, known in (
        ("model,law,law_n,art,art_n\na,90,50,50,200\nb,80,50,70,100\n",
         {"n_test": [[50, 200], [50, 100]]}),
        ("model,law,law_stderr,art,art_stderr\na,90,3,50,5\nb,80,4,70,2\n",
         {"standard_errors": [[0.03, 0.05], [0.04, 0.02]]}),
    ):  # fmt: skip
        exam = read_leaderboard(written(tmp_path, text))
        np.testing.assert_allclose(exam.sizes, average_tasks(shares, **known).sizes)
        assert exam.notes[0].startswith('Read: entries from "model", scores of 2 tasks')


def test_averages_do_not_compete_and_entries_without_a_task_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "model,law,art,Average\na,.9,.5,.7\nb,.8,.7,.75\nc,.7,,.7\n")
    exam = read_leaderboard(path, n_test=50)
    assert (exam.tasks, exam.names) == (("law", "art"), ("a", "b"))
    assert exam.notes[-1] == 'left out entries without a score in some task: "c"'


def test_the_command_reads_what_the_function_reads(capsys: Any, tmp_path: Path) -> None:
    path = written(tmp_path, "model,law,art,bio\na,.9,.5,.6\nb,.8,.7,.7\nc,.7,.6,.5\n")
    found = run_json(capsys, "board", path, "--n-test", "law:50,art:200,bio:100")
    averages = read_leaderboard(path, n_test=[50, 200, 100])
    scores = {row["name"]: row["score"] for row in found["entries"]}
    np.testing.assert_allclose([scores[name] for name in averages.names], averages.scores)
    assert run(capsys, "board", path, "--new", "tasks")[0] == 0
    code, _, error = run(capsys, "board", path, "--column", "score=laws", "--n-test", "50")
    assert (code, error.count("\n"), 'did you mean "law"' in error) == (2, 1, True)
