"""``bayes-sota examples``: files that the commands read."""

import re
from pathlib import Path

import pytest
from data.files import run

import bayes_sota
from bayes_sota.data.examples import load_responses_example, write_examples


def test_examples_are_files_to_run_and_none_is_written_over(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "some" / "where"
    code, out, _ = run(capsys, "examples", "--output-dir", str(folder))
    names = sorted(path.name for path in folder.iterdir())
    assert (code, [Path(line).name for line in out.splitlines()]) == (0, names)
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
    answers = bayes_sota.read_outcomes(EXAMPLES / "answers.csv")
    chosen = [example.test.names.index(name) for name in answers.names]
    assert (answers.correct == example.test.correct[:, chosen]).all()
    rounds = bayes_sota.read_scores(EXAMPLES / "rounds.csv")
    held = example.held_out.correct[:1240, chosen].reshape(20, 62, 12).mean(axis=1)
    assert rounds.players == answers.names
    assert rounds.scores == pytest.approx(held, abs=6e-5)
