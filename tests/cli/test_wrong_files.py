"""Files that a command cannot answer from: one line that says why, and what would."""

from pathlib import Path

import pytest
from data.files import run

PAIR = "team,public,private\na,0.9,0.8\nb,0.7,0.85\nc,0.6,0.5\n"
BATTLES = "winner,loser,tie\na,b,0\nb,c,1\nc,a,0\na,b,0\n"
ROUNDS = "round,a,b,c\n1,0.9,0.8,0.7\n2,0.6,0.8,0.7\n3,0.7,0.8,0.75\n"
BLANKS = "item,a,b,c\n1,1,0,\n2,1,1,0\n3,0,1,1\n4,1,,1\n"
LONE = "model,acc\na,0.9\n"
UNNAMED = ",law,art\nx,0.9,0.8\ny,0.7,0.6\n"
LEADER = "round,a,b\n1,0.9,0.8\n2,0.9,0.8\n3,0.7,0.6\n"
NO_TABLES = {"empty": "", "header": "model,acc\n", "ragged": "model,acc\na\n", "binary": "\0\1\2"}


@pytest.mark.parametrize(
    ("text", "command", "words"),
    [
        (PAIR, "sota", "it holds two boards, which bayes-sota paired reads"),
        (PAIR, "board", "--use NAME takes one of them"),
        (BATTLES, "sota", "it holds battles, which bayes-sota epp reads"),
        (BATTLES, "board", "it holds battles, which bayes-sota epp reads"),
        (BLANKS, "sota", "every answer, and 2 of 4 items have blanks: leave their rows out"),
        (LONE, "board --n-test 50", "bayes-sota score --right K --n-test N says how good it is"),
        (LONE, "cv judge", "say which with --column iteration=NAME and --column fold=NAME, or"),
        (UNNAMED, "epp", 'column "" names, whose NAME is empty; say which with --column entry='),
        (LEADER, "epp", "; --penalty 0.5 (half a round of ties) gives finite ones"),
    ],
)
def test_what_a_file_is_not_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, command: str, words: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    code, out, error = run(capsys, *command.split(), path)
    assert (code, out) == (2, "")
    assert words in error


def test_an_unnamed_column_has_an_empty_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(UNNAMED + "z,0.5,0.9\n")
    code, out, _ = run(capsys, "epp", path, "--column", "entry=", "--penalty", "0.5")
    assert code == 0
    assert "3 players, 2 rounds" in out


def test_one_board_of_two(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(PAIR)
    code, out, _ = run(capsys, "board", path, "--use", "private", "--n-test", "100")
    assert code == 0
    assert '"table" b has the best score, 0.85' in out


@pytest.mark.parametrize("others", [BATTLES, PAIR, LONE])
def test_files_of_two_kinds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, others: str
) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(ROUNDS)
    second.write_text(others)
    code, out, error = run(capsys, "epp", first, second)
    assert (code, out) == (2, "")
    assert "error: files of one kind can be joined, not " in error


@pytest.mark.parametrize("kind", NO_TABLES)
@pytest.mark.parametrize("command", ["sota", "epp", "score", "claim batch", "cv judge"])
def test_inspect_is_not_advised_of_what_it_cannot_open(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, kind: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(NO_TABLES[kind])
    code, out, error = run(capsys, *command.split(), path)
    assert (code, out) == (2, "")
    assert error.startswith(f"error: {path}: ")
    assert "bayes-sota inspect" not in error


def test_what_a_result_of_cv_run_does_not_need_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("sklearn")
    table, result = tmp_path / "items.csv", tmp_path / "result.nc"
    table.write_text("x,y\n" + "".join(f"{i},{'ab'[i % 3 > 0]}\n" for i in range(30)))
    learners = ("--learners", "nb,tree", "--iterations", "2", "--folds", "3", "--save", result)
    assert run(capsys, "cv", "run", table, "--column", "target=y", *learners)[0] == 0
    asked = ("--folds", "3", "--column", "fold=x", "--rule", "fixed", "--threshold", "1")
    error = run(capsys, "cv", "judge", result, *asked)[2]
    assert "note: no effect on a result of cv run: --folds, --column" in error


def test_the_positives_of_aucs_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    known = ["--n-test", "100", "--classifiers", "10", "--theta", "0.9", "--metric", "auc"]
    code, _, error = run(capsys, "maximum", *known)
    assert (code, error) == (
        2,
        "error: --n-positive is missing: how many test items are positive\n",
    )
