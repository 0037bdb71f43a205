"""Bundled examples: files that the commands read, and what they were made from."""

import csv
import re
from pathlib import Path

import pytest
from data.files import EXAMPLES, run

import bayes_sota as bs
from bayes_sota import load_example
from bayes_sota.cli.demo import CASSAVA_SECOND
from bayes_sota.data import write_examples
from bayes_sota.data.examples import load_responses_example

COMMANDS = re.findall(r"bayes-sota (.+)", (EXAMPLES / "README.txt").read_text())[1:]


def test_examples_are_files_to_run_and_none_is_written_over(capsys, tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    code, out, _ = run(capsys, "examples", "--output-dir", str(folder))
    names = sorted(path.name for path in folder.iterdir())
    top = {Path(line).relative_to(folder).parts[0] for line in out.splitlines()}
    assert (code, sorted(top)) == (0, names)
    (folder / "rounds.csv").write_text("mine")
    (folder / "answers.csv").unlink()
    code, _, error = run(capsys, "examples", "--output-dir", str(folder))
    assert (code, "exists" in error) == (2, True)
    assert (folder / "rounds.csv").read_text() == "mine"
    assert not (folder / "answers.csv").exists()


def test_the_readme_of_the_examples_names_each_file() -> None:
    named = {word for command in COMMANDS for word in command.split() if word.endswith(".csv")}
    assert named == {path.name for path in EXAMPLES.glob("*.csv")}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_readme_of_the_examples_says_what_works(
    command: str, capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_examples(tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    code, out, error = run(capsys, *command.split())
    assert code == 0, error
    assert len(out.splitlines()) > 3


@pytest.mark.parametrize(
    ("name", "slug"),
    [("obesity-risk", "playground-series-s4e2"),
     ("cassava", "cassava-leaf-disease-classification")],
)  # fmt: skip
def test_example_agrees_with_the_leaderboard(name: str, slug: str, data_directory: Path) -> None:
    board = load_example(name)
    assert board.name == name
    with (data_directory / "kaggle" / f"{slug}__private.csv").open(encoding="utf-8") as file:
        scores = [float(row["score"]) for row in csv.DictReader(file)]
    assert scores[0] == board.maximum
    assert name != "cassava" or scores[1] == CASSAVA_SECOND
    assert 0.95 * len(scores) < board.n_classifiers < len(scores)  # those above chance
    with (data_directory / "kaggle" / "n_inferred.csv").open(encoding="utf-8") as file:
        rows = {(r["slug"], r["split"]): int(r["n_inferred"]) for r in csv.DictReader(file)}
    assert rows[slug, "private"] == board.n_test


def test_example_files_are_of_the_bundled_benchmark() -> None:
    digits = load_responses_example("digits")
    board = bs.read_leaderboard(EXAMPLES / "leaderboard.csv", n_test=250)
    scores = dict(zip(digits.test.names, digits.test.scores, strict=True))
    assert dict(zip(board.names, board.scores, strict=True)) == pytest.approx(scores)
    answers = bs.read_outcomes(EXAMPLES / "answers.csv")
    chosen = [digits.test.names.index(name) for name in answers.names]
    assert (answers.correct == digits.test.correct[:, chosen]).all()
    rounds = bs.read_scores(EXAMPLES / "rounds.csv")
    held = digits.held_out.correct[:1240, chosen].reshape(20, 62, 12).mean(axis=1)
    assert rounds.players == answers.names
    assert rounds.scores == pytest.approx(held, abs=6e-5)
