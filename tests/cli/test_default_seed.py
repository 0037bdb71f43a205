"""What is printed without ``--seed`` is what the next person gets, and says which seed it was."""

import json
from pathlib import Path

import pytest
from cli.test_option_effects import COMMANDS, arguments_of
from data.files import run

import bayes_sota as bs
from bayes_sota.cli.options import hidden
from bayes_sota.core.arguments import DEFAULT_SEED

# {x} is a file of the fixture option_inputs; every command that draws
DRAWN = (
    "sota --maximum 0.9 --n-test 300 --classifiers 20",
    "sota {board.csv} --n-test 500",
    "sota {answers.csv}",
    "board {board.csv} --n-test 500",
    "board {answers.csv}",
    "paired {public.csv} --private-file {private.csv}",
    "claim responses {answers.csv}",
    "epp {rounds.csv}",
    "cv judge {repeats.csv}",
    "cv run {numbers.csv} --column target=label --learners nb,tree --folds 2 --iterations 2",
    "batch {board.csv} --n-test 500 --output-dir OUT",
)
ELSEWHERE = {
    "claim classification": "draws for --save alone",
    "claim segmentation": "draws for --save alone",
    "demo": "compiles a model, which takes a minute",
}


@pytest.mark.slow
@pytest.mark.parametrize("base", DRAWN)
def test_the_next_person_gets_the_same(
    base: str, capsys: pytest.CaptureFixture[str], option_inputs: Path, tmp_path: Path
) -> None:
    seeds: list[list[str]] = [[], ["--seed", str(DEFAULT_SEED)]]
    printed = []
    for name, seed in zip(("first", "typed"), seeds, strict=True):
        folder = str(tmp_path / name)
        words = arguments_of(base.replace("OUT", folder), option_inputs)
        printed.append(run(capsys, *words, *seed)[1].replace(folder, ""))
    first, typed = printed
    assert first == typed
    assert f"Seed {DEFAULT_SEED}; --seed N draws others." in first
    exact = []  # what is printed may be the same: it is rounded to what draws tell
    for seed in (str(DEFAULT_SEED), "1"):
        words = arguments_of(base.replace("OUT", str(tmp_path / seed)), option_inputs)
        said = run(capsys, *words, "--json", "--seed", seed)[1].replace(str(tmp_path / seed), "")
        exact.append(json.loads(said) | {"seed": None})
    assert exact[0] != exact[1]


@pytest.mark.slow
@pytest.mark.parametrize("base", DRAWN[:2])
def test_the_seed_is_in_json_and_report(
    base: str, capsys: pytest.CaptureFixture[str], option_inputs: Path, tmp_path: Path
) -> None:
    page, words = tmp_path / "page.html", arguments_of(base, option_inputs)
    found = json.loads(run(capsys, *words, "--json", "--save", page)[1])
    assert found["seed"] == DEFAULT_SEED
    assert f"--seed {DEFAULT_SEED}" in page.read_text(encoding="utf-8")


def test_every_command_that_draws_is_here() -> None:
    drawing = {
        name
        for name, command in COMMANDS.items()
        if any("--seed" in p.opts and not hidden(p) for p in command.params)
    }
    here = {name for name in drawing if any(base.startswith(f"{name} ") for base in DRAWN)}
    assert drawing - here == set(ELSEWHERE)


def test_functions_have_the_same_default() -> None:
    board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    first, again = (bs.estimate_sota(board, draws=50) for _ in range(2))
    fresh = bs.estimate_sota(board, draws=50, random_seed=None)
    assert first.attrs["random_seed"] == str(DEFAULT_SEED)
    assert first["posterior"].to_dataset().equals(again["posterior"].to_dataset())
    assert fresh.attrs["random_seed"] != str(DEFAULT_SEED)
