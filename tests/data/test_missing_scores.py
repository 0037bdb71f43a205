"""An entry without a score: who it is and what to do, in every command that reads a leaderboard."""

import json
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from data.files import run, written

from bayes_sota.core.errors import InputError
from bayes_sota.data.readers.boards import read_entries, read_leaderboard, read_paired_boards

GAPS = "team,score\nA,0.91\nB,\n\nC,0.90\nD,n/a\nE,0.88\n"
NAMED = "'B' (line 3), 'D' (line 6)"
COMMANDS = (
    "board {file} --n-test 1000 --draws 100",
    "sota {file} --n-test 1000 --draws 100 --no-sensitivity",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_name_the_entries_and_go_on_where_asked(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = command.format(file=written(tmp_path, GAPS)).split()
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert (
        f"board.csv: line 3, column 'score': 2 entries have no score, {NAMED}; write what is "
        in err
    )
    assert "or --missing drop goes on without; bayes-sota inspect " in err
    code, out, err = run(capsys, *arguments, "--missing", "drop", "--json")
    assert code in (0, 1), err
    assert f"dropped 2 entries without a score: {NAMED}" in json.loads(out)["notes"]


def test_a_board_is_the_same_without_the_rows(tmp_path: Path) -> None:
    left = read_leaderboard(written(tmp_path, GAPS), n_test=1000, missing="drop")
    rest = read_leaderboard(
        written(tmp_path, "team,score\nA,0.91\nC,0.90\nE,0.88\n"), n_test=1000, missing="drop"
    )
    assert left.names == rest.names == ("A", "C", "E")
    assert left.count_bounds.tolist() == rest.count_bounds.tolist()
    assert (len(left.notes), rest.notes) == (1, ())


@pytest.mark.parametrize(
    "word", ["", " ", "NA", "n/a", "#N/A", "NaN", "null", "None", "<NA>", "-", "--", "–", "—"]
)  # fmt: skip
def test_words_for_nothing(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, f"team,score\nA,0.91\nB,{word}\n")
    assert read_entries(path, missing="drop").names == ("A",)


@pytest.mark.parametrize("word", ["?", "0.9?", "missing", "tbd"])
def test_other_words_are_no_scores_and_never_dropped(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, f"team,score\nA,0.91\nB,{word}\n")
    with pytest.raises(InputError, match=r"line 3, column 'score' must be"):
        read_leaderboard(path, n_test=100, missing="drop")


def test_frames_workbooks_and_boards_without_names(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"row 2, column 'score': 1 entry has no score, 'B' \(row 2\);.*=.drop"
    ):
        read_leaderboard(pd.DataFrame({"team": ["A", "B"], "score": [0.9, None]}), n_test=100)
    book = openpyxl.Workbook()
    for row in (["team", "score"], ["A", 0.9], ["B", "#N/A"]):
        book.active.append(row)
    book.save(tmp_path / "f.xlsx")
    with pytest.raises(InputError, match=r"sheet 'Sheet': row 3, .* no score, 'B' \(row 3\)"):
        read_leaderboard(tmp_path / "f.xlsx", n_test=100)
    with pytest.raises(InputError, match=r"1 entry has no score; write"):
        read_leaderboard(written(tmp_path, "score,x\n0.91,1\n-,2\n"), n_test=100)


def test_of_many_the_first_ten_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "team,score\nA,0.9\n" + "".join(f"t{i},\n" for i in range(30)))
    with pytest.raises(InputError, match=r"'t0' \(line 3\), .*'t9' \(line 12\) and 20 more; write"):
        read_entries(path)


def test_a_board_without_any_score_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "team,score\nA,\nB,\n")
    with pytest.raises(InputError, match=r"no entries are left: dropped 2 entries .* 'A' \(line 2"):
        read_entries(path, missing="drop")
    with pytest.raises(InputError, match="missing must be one of refuse, drop"):
        read_entries(path, missing="keep")  # type: ignore[arg-type]


def test_two_boards_lose_teams_without_either_score(tmp_path: Path) -> None:
    rows = [f"t{i},0.{90 - i},0.{80 - i}\n" for i in range(8)]
    rows[2], rows[5] = "t2,,0.7\n", "t5,0.7,NA\n"
    both = written(tmp_path, "team,public,private\n" + "".join(rows))
    with pytest.raises(InputError, match=r"2 entries have no score, 't2' \(line 4\), 't5'"):
        read_paired_boards(both)
    boards = read_paired_boards(both, missing="drop")
    assert set(boards.names) == {"t0", "t1", "t3", "t4", "t6", "t7"}
    assert boards.notes[0] == "dropped 2 entries without a score: 't2' (line 4), 't5' (line 7)"
    one, other = (
        written(tmp_path, "team,score\n" + "".join(f"{r[0]},{r[k]}\n" for r in split), f"{k}.csv")
        for split in [[row.strip().split(",") for row in rows]]
        for k in (1, 2)
    )
    joined = read_paired_boards(one, other, missing="drop")
    assert joined.names == boards.names
    assert "dropped 1 entry without a score: 't2' (line 4)" in joined.notes


def test_it_has_no_effect_on_a_best_score_alone_and_on_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = "sota --maximum 0.9 --n-test 100 --classifiers 9 --missing drop"
    code, _, err = run(capsys, *alone.split())
    assert (code, err) == (0, "note: no effect on --maximum: --missing\n")
    answers = written(tmp_path, "item,a,b\n" + "".join(f"{i},{i % 2},1\n" for i in range(30)))
    code, _, err = run(capsys, "board", str(answers), "--missing", "drop")
    assert code in (0, 1)
    assert "--missing" in err
