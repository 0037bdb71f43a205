"""``bayes-sota infer-n``: keys, exit codes, one line for bad input, and no PyMC."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from data.files import run

import bayes_sota
from bayes_sota.data.examples import load_responses_example, write_examples


@pytest.fixture
def board(tmp_path: Path) -> Path:
    rows = "".join(f"{k},{10_000 * k // 271 / 10_000:.4f}\n" for k in range(200, 250))
    path = tmp_path / "board.csv"
    path.write_text(f"id,score\n{rows}")
    return path


def test_json_has_the_keys_of_the_interface(
    capsys: pytest.CaptureFixture[str], board: Path
) -> None:
    code, out, err = run(capsys, "infer-n", str(board), "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["schema_version"] == "2"
    assert result["n_test"] == 271
    assert result["candidates"][:2] == [542, 813]
    assert (result["decimals"], result["rounding"], result["n_scores"]) == (4, "floor", 50)
    assert result["other_rounding"]["rounding"] == "nearest"
    assert result["diagnostics"] == {"ok": True, "reasons": []}


def test_notes_of_a_kaggle_download_are_shown_unless_quiet(
    capsys: pytest.CaptureFixture[str], board: Path, tmp_path: Path
) -> None:
    lines = board.read_text().splitlines()[1:]
    path = tmp_path / "kaggle.csv"
    path.write_text(
        "TeamId,TeamName,Score\n0,zero,0.0\n" + "".join(f"{line[:3]},{line}\n" for line in lines)
    )
    command = ("infer-n", str(path))
    assert "dropped 1 row with a score of exactly 0" in run(capsys, *command)[1]
    assert "dropped" not in run(capsys, *command, "--quiet")[1]


def test_too_few_scores_exit_with_1(
    capsys: pytest.CaptureFixture[str], board: Path, tmp_path: Path
) -> None:
    path = tmp_path / "few.csv"
    path.write_text("team,score\nA,0.91\nB,0.94\n")
    code, out, err = run(capsys, "infer-n", str(path), "--json")
    assert code == 1
    assert json.loads(out)["diagnostics"]["ok"] is False
    assert err.startswith("warning: not to be trusted: ")
    code, out, _ = run(capsys, "infer-n", str(path))
    assert code == 1
    assert out.startswith("Do not trust this result: sizes that give all 2 scores are")
    assert "The scores do not give the number of test items away." in out
    code, out, err = run(capsys, "infer-n", str(board), "--rounding", "floor", "--quiet")
    assert (code, err) == (0, "")
    assert out.startswith("The number of test items, 271, was inferred from 50 distinct scores")
    assert "542, 813" in out


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("team,score\nA,0.9\nB,x\n", (), "line 3, column 'score' must be a number, got 'x'"),
        ("a,b\n1,2\n", (), "no column looks like scores; there are the columns 'a', 'b'"),
        ("a,score\n1,0.5\n2,0.25\n", ("--decimals", "1"), "has 2 decimals"),
        (
            "score\n" + "\n".join(f"0.{k}" for k in range(10)),
            ("--rounding", "floor"),
            "any of that many or more does: with 1 decimals its size cannot be inferred",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content, options, message
) -> None:
    path = tmp_path / "board.csv"
    path.write_text(content)
    code, out, err = run(capsys, "infer-n", str(path), *options, "--json")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


def test_it_loads_no_heavy_library(board: Path) -> None:
    script = (
        "import sys\nfrom bayes_sota.cli import main\n"
        f"try:\n    main(['infer-n', {str(board)!r}, '--json'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'pymc', 'pytensor', 'scipy', 'pandas', 'pyarrow', 'arviz', 'xarray'}\n"
        "print(*sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["n_test"] == 271
    assert done.stderr.strip() == ""


def test_examples_are_files_to_run_and_none_is_written_over(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "some" / "where"
    code, out, _ = run(capsys, "examples", "--output-dir", str(folder))
    names = sorted(path.name for path in folder.iterdir())
    assert (code, [Path(line).name for line in out.splitlines()]) == (0, names)
    assert run(capsys, "infer-n", str(folder / "leaderboard.csv"), "--json")[0] == 0
    (folder / "rounds.csv").write_text("mine")
    (folder / "answers.csv").unlink()
    code, _, error = run(capsys, "examples", "--output-dir", str(folder))
    assert (code, "exists" in error) == (2, True)
    assert (folder / "rounds.csv").read_text() == "mine"
    assert not (folder / "answers.csv").exists()


EXAMPLES = Path(bayes_sota.data.__file__ or "").with_name("example_files")
COMMANDS = re.findall(r"bayes-sota (.+)", (EXAMPLES / "README.txt").read_text())[1:]


def test_the_readme_of_the_examples_names_each_file() -> None:
    named = {word for command in COMMANDS for word in command.split() if word.endswith(".csv")}
    assert named == {path.name for path in EXAMPLES.glob("*.csv")}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_readme_of_the_examples_says_what_works(
    command: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_examples(tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    code, out, error = run(capsys, *command.split())
    assert code == 0, error
    assert len(out.splitlines()) > 3


def test_example_files_are_of_the_bundled_benchmark() -> None:
    example = load_responses_example("digits")
    board = bayes_sota.read_leaderboard(EXAMPLES / "leaderboard.csv", n_test=250)
    scores = dict(zip(example.test.names, example.test.scores, strict=True))
    assert dict(zip(board.names, board.scores, strict=True)) == pytest.approx(scores)
    answers = bayes_sota.read_responses(EXAMPLES / "answers.csv")
    chosen = [example.test.names.index(name) for name in answers.names]
    assert (answers.correct == example.test.correct[:, chosen]).all()
    rounds = bayes_sota.read_scores(EXAMPLES / "rounds.csv")
    held = example.held_out.correct[:1240, chosen].reshape(20, 62, 12).mean(axis=1)
    assert rounds.players == answers.names
    assert rounds.scores == pytest.approx(held, abs=6e-5)
