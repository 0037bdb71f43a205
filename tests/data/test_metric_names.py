"""A column that is no accuracy, by its name, is never taken for one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import run, written

from bayes_sota.core.errors import InputError
from bayes_sota.data.readers.boards import read_leaderboard, read_paired_boards

ROWS = "a,.81\nb,.80\nc,.75\n"
TASKS = np.array([
    [70, 72, 71, 69, 73], [60, 70, 66, 64, 65], [75, 73, 77, 70, 76], [55, 50, 52, 58, 53],
    [81, 79, 84, 80, 88], [66, 61, 69, 60, 67],
])  # fmt: skip


def averages(name: str = "score", digits: int = 2) -> str:
    """Five tasks, their average, and the size of each model."""
    rows = (
        f"m{i},{np.mean(tasks):.{digits}f},{','.join(map(str, tasks / 1))},{7 + i / 2}"
        for i, tasks in enumerate(TASKS)
    )
    return "\n".join([f"model,{name},arc,mmlu,gsm,hs,wino,params", *rows, ""])


@pytest.mark.parametrize(
    "name",
    ["F1", "BLEU", "Macro-F1", "rouge_L", "test_bleu4", "MCC", "kappa", "mIoU", "Dice", "Elo",
     "nDCG@10", "MacroF1", "balanced accuracy", "recall@5", "BERTScore", "R@1", "P@5", "Win rate",
     "std"],
)  # fmt: skip
def test_another_metric_is_refused_with_what_would_do(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"system,{name}\n{ROWS}")
    with pytest.raises(InputError, match=r"holds no accuracies by its name.*standard_error"):
        read_leaderboard(path, n_test=2000, score_column=name)
    given: Any = {"metric": "score", "standard_error": 0.01}
    assert read_leaderboard(path, score_column=name, **given).maximum == 0.81
    said = read_leaderboard(path, score_column=name, metric="accuracy", n_test=2000)
    assert said.counts == (1610, 1630)  # .81 of 2,000 items, rounded to two digits


@pytest.mark.parametrize(
    "name",
    [
        "Accuracy",
        "acc",
        "Score",
        "top-1 acc",
        "pass@1",
        "exact_match",
        "precision@1",
        "Overall accuracy",
        "accuracy on recall questions",
    ],
)
def test_an_accuracy_is_read(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"system,{name}\n{ROWS}")
    assert read_leaderboard(path, n_test=2000, score_column=name).n_entries == 3


def test_aucs_are_refused_with_their_own_option(tmp_path: Path) -> None:
    path = written(tmp_path, f"system,ROC AUC\n{ROWS}")
    with pytest.raises(InputError, match=r'holds AUCs by its name.*metric="auc" and n_positive'):
        read_leaderboard(path, n_test=2000)
    board = read_leaderboard(path, n_test=2000, metric="auc", n_positive=300)
    assert board.metric == "auc"


@pytest.mark.parametrize("name", ["Mean accuracy", "Average"])
def test_averages_are_refused(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, averages(name))
    with pytest.raises(InputError, match=r"holds averages, .* task_columns reads"):
        read_leaderboard(path, n_test=1000, score_column=name)
    assert read_leaderboard(path, n_test=1000, score_column="arc").maximum == 0.81
    assert read_leaderboard(path, n_test=1000, metric="accuracy", score_column=name).n_entries == 6


@pytest.mark.parametrize("name", ["Score (mean of 5 seeds)", "mean_test_score", "Avg. acc"])
def test_a_mean_is_told_by_its_name(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"system,{name}\n{ROWS}")
    with pytest.raises(InputError, match=r"holds averages, and the number of items does not"):
        read_leaderboard(path, n_test=2000, score_column=name)


def test_of_several_metrics_the_accuracy_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "model,accuracy,precision,recall,f1\na,.9,.8,.7,.75\nb,.8,.7,.6,.65\n")
    board = read_leaderboard(path, n_test=100)
    assert board.maximum == 0.9
    path = written(tmp_path, "model,accuracy,score\na,.9,.8\nb,.8,.7\n")
    with pytest.raises(InputError, match="2 columns look like scores"):
        read_leaderboard(path, n_test=100)
    assert read_leaderboard(written(tmp_path, "m,Test accuracy of ViT\na,.9\nb,.8\n"), n_test=9)


def test_a_row_of_averages_is_no_entry(tmp_path: Path) -> None:
    board = read_leaderboard(written(tmp_path, f"system,score\n{ROWS}Average,.7867\n"), n_test=2000)
    assert board.names == ("a", "b", "c")
    assert any("left out 'Average' (line 5)" in note for note in board.notes)
    team = written(tmp_path, "TeamId,TeamName,SubmissionDate,Score\n"
                   "1,Average,2020-01-01,.9\n2,b,2020-01-01,.8\n")  # fmt: skip
    assert read_leaderboard(team, n_test=2000).n_entries == 2


def test_both_boards_of_accuracies_are_looked_at(tmp_path: Path) -> None:
    rows = "".join(f"t{i},.{i + 1},.{9 - i}\n" for i in range(8))
    path = written(tmp_path, f"team,f1_public,f1_private\n{rows}")
    columns: Any = {"public_column": "f1_public", "private_column": "f1_private"}
    with pytest.raises(InputError, match=r"'f1_public' holds no accuracies by its name"):
        read_paired_boards(path, n_test=(100, 100), **columns)
    assert read_paired_boards(path, **columns).n_entries == 8


@pytest.mark.parametrize("command", [["board"], ["sota"]])
def test_every_command_refuses(tmp_path: Path, capsys: Any, command: list[str]) -> None:
    path = written(tmp_path, f"system,F1\n{ROWS}")
    size = ["--n-test", "2000"]
    code, _, error = run(capsys, *command, str(path), *size)
    assert code == 2
    assert error.count("\n") == 1
    assert "column 'F1' holds no accuracies by its name" in error
    assert "--metric score and --standard-error" in error
