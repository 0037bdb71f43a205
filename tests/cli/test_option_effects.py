"""No option without effect: on every kind of input it changes the result, or it is refused.

Every option of every command has values in ``VALUES`` (choices, flags and files have theirs by
themselves), so that a new option fails here until it is in the table. What cannot show in a result
is named in ``SILENT`` with the reason.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from data.files import run

from bayes_sota.cli.commands import cli
from bayes_sota.core.command import OutputDirectory, OutputFile

SILENT = {
    "--json": "another form of the same result",
    "--quiet": "every command can be asked to be quiet, and some have nothing to leave out",
    "--cores": "the same draws, sooner",
    "--jobs": "the same numbers, sooner",
    "--any-accuracy": "a permission: PERMISSIONS",
    "--missing": "a permission: PERMISSIONS",
}
PERMISSIONS = {  # inputs that are refused without the option
    "--any-accuracy": "claim batch {averaged.csv}",
    "--missing drop": "board {gaps.csv} --n-test 500",
}
# {x} is a file of the fixture option_inputs
FAST = (
    "maximum --n-test 300 --classifiers 10 --theta 0.9",
    "maximum --n-test 300 --classifiers 10 --theta 0.9 --correlation 0.5",
    "maximum --n-test 300 --classifiers 10 --uniform 0.8 0.9 --correlation 0.3",
    "inspect {board.csv}",
    "score --right 40 --n-test 50",
    "score {exam.csv}",
    "claim classification --accuracy 0.90 0.88 --n-test 500",
    "claim classification --accuracy 0.90 0.88 --n-test 500 --congruence 0.83",
    "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
    "claim segmentation --mean 0.81 0.80 --sd-difference 0.1 --n-test 100",
    "claim plan --accuracy 0.9 0.85 --n-test 300",
    "claim plan --gap 0.02 --sd 0.1 0.1",
    "claim plan --gap 0.02 --sd 0.1 0.1 --pairwise-correlation 0.5 --n-test 50",
    "claim plan --gap 0.02 --pilot {exam.csv} --cost-per-item 2",
    "claim batch {claims.csv}",
    "claim batch {means.csv}",
)
SLOW = (
    "maximum --metric auc --n-test 60 --n-positive 20 --classifiers 9 --theta 0.9",
    "sota --maximum 0.9 --n-test 300 --classifiers 20 --draws 50 --seed 1 --no-sensitivity",
    "sota --maximum 0.9 --metric auc --n-positive 50 --n-test 300 --classifiers 20 --draws "
    "50 --seed 1 --no-sensitivity",
    "sota --maximum 0.9 --metric score --standard-error 0.02 --classifiers 20 --draws 50 "
    "--seed 1 --no-sensitivity",
    "sota {fine.csv} --n-test 3000 --draws 50 --seed 1 --no-sensitivity",
    "sota {board.csv} --metric auc --n-test 500 --n-positive 200 --draws 50 "
    "--seed 1 --no-sensitivity",
    "sota {errors.csv} --metric score --standard-error 0.1 --lower-is-better --draws 50 "
    "--seed 1 --no-sensitivity",
    "sota {answers.csv} --draws 50 --seed 1",
    "sota {exam.csv} --draws 50 --seed 1",
    "sota {numbers.csv} --draws 50 --seed 1",
    "board {fine.csv} --n-test 3000 --seed 1",
    "board {board.csv} --metric auc --n-test 500 --n-positive 200 --seed 1",
    "board {errors.csv} --metric score --standard-error 0.1 --lower-is-better --seed 1",
    "board {own.csv} --n-test-column size --seed 1",
    "board {own.csv} --task-columns a,b,c --n-test 60 --seed 1",
    "board {answers.csv} --seed 1",
    "board {exam.csv} --by task --seed 1",
    "board {numbers.csv} --seed 1",
    "paired {paired.csv} --n-test-public 500 --n-test-private 1500 --seed 1",
    "paired {public.csv} --private-file {private.csv} --seed 1",
    "claim responses {answers.csv} --seed 1",
    "claim responses {answers.csv} --pair a b --seed 1",
    "claim responses {exam.csv} --seed 1",
    "claim responses {exam.csv} --by task --seed 1",
    "claim responses {runs.csv} --item-column item --cluster-column cluster --seed 1",
    "claim responses {items.csv} --item-metric mean --item-column case --seed 1",
    "epp {rounds.csv} --seed 1",
    "epp {battles.csv}",
    "epp {rounds.csv} --plan 0.2",
    "epp {folds.csv} --player-column player --round-column fold --score-column score "
    "--group-column data",
    "epp {folds.csv} --player-column player --round-column fold --score-column score "
    "--tournament-column data --penalty 0.5",
    "batch {board.csv} --output-dir {batch} --n-test 500 --seed 1",
    "cv judge {repeats.csv} --rule ks --threshold 0.5 --seed 1",
    "cv run {numbers.csv} --target label --learners nb,tree --folds 2 --iterations 2 --seed 1",
    "cv run {numbers.csv} --target label --learners nb,tree --folds 2 --iterations 3 --seed 1 "
    "--rule ks",
)
# values that are tried on every input; several where one could be what is taken anyway
VALUES: dict[str, tuple[str, ...]] = {
    "--above": ("0.9",), "--accuracy": ("0.91 0.87",), "--assurance": ("0.6",),
    "--average": ("items",), "--best-of": ("3",),
    "--boards": ("2",), "--classifiers": ("25", "20:300"),
    "--cluster-column": ("cluster", "group", "judge"), "--congruence": ("0.85",),
    "--cost-per-item": ("3",), "--cost-per-run": ("2",),
    "--correlation": ("0.4", "0.45"),
    "--domain": ("tabular",),
    "--draws": ("6000", "70"), "--gap": ("0.03",),
    "--group-column": ("data",), "--item-column": ("item", "a"),
    "--label-column": ("gold", "a"), "--leave-out": ("x", "a"), "--level": ("0.2",),
    "--margin": ("0.5",), "--maximum": ("0.91",),
    "--mean": ("0.82 0.8",),
    "--metric": ("accuracy", "auc", "score"), "--model": ("mollersen-holsbo-rho", "leaderboard"),
    "--n-classes": ("4",), "--n-positive": ("60", "22"), "--n-test": ("400", "1000"),
    "--n-test-column": ("size", "a_n,b_n,c_n"),
    "--n-test-private": ("3000",), "--n-test-public": ("2000",),
    "--name-column": ("other", "label"),
    "--new-n-test": ("90",), "--new-score": ("0.9",),
    "--pair": ("a b",),
    "--pairwise-correlation": ("0.3", "0.35"), "--penalty": ("0.7",), "--player-column": ("fold",),
    "--power": ("0.9",), "--private-column": ("private_2",), "--prob": ("0.5",),
    "--public-column": ("public_2",), "--reference-skill": ("0.85",),
    "--right": ("9",), "--rope": ("0.01",), "--round-column": ("data",), "--run-column": ("turn",),
    "--score-column": ("other", "score2"), "--sd": ("0.2 0.1",),
    "--sd-difference": ("0.2",), "--seed": ("2",),
    "--similarity": ("0.95",), "--spread-ratio": ("1.5", "0.4:2"),
    "--standard-error": ("0.05", "0.3"), "--standard-error-private": ("0.02",),
    "--standard-error-public": ("0.02",), "--stderr-column": ("se", "a_se,b_se,c_se"),
    "--submissions": ("7", "2:30"), "--test": ("a b",),
    "--test-fraction": ("0.3",),
    "--theta": ("0.85",), "--top": ("2", "0.9"), "--tournament-column": ("data", "fold"),
    "--uniform": ("0.7 0.9",),
    "--folds": ("3",), "--iterations": ("3",), "--learners": ("nb",),
    "--scoring": ("accuracy",), "--target": ("a",),
    "--fold-column": ("task",), "--iteration-column": ("task",), "--learner-column": ("fold",),
    "--plan": ("0.1",), "--orderings": ("7",), "--task-column": ("fold", "topic"),
    "--task-columns": ("score,other", "a,b,c", "a,b"),
    "--threshold": ("0.7",),
}  # fmt: skip
OWN = {  # of one command
    ("claim responses", "--metric"): ("x",), ("score", "--metric"): ("pass@2",),
    ("score", "--n-test"): ("60",),
    ("maximum", "--classifiers"): ("25",), ("maximum", "--n-test"): ("70", "400"),
    ("claim plan", "--sd"): ("0.2 0.1",),
    ("claim plan", "--pair"): ("y z",),
    ("claim plan", "--n-test"): ("60",),
    ("claim segmentation", "--n-test"): ("50",), ("claim segmentation", "--sd"): ("0.2 0.1",),
    ("claim classification", "--n-test"): ("400",),
    ("paired", "--name-column"): ("label",), ("paired", "--model"): ("paired-random-split",),
    ("sota", "--draws"): ("70",),
    ("claim batch", "--level"): ("0.2",), ("paired", "--top"): ("0.9",),
    ("maximum", "--correlation"): ("0.4",), ("maximum", "--pairwise-correlation"): ("0.35",),
}  # fmt: skip
READ = {
    "--private-file": "private.csv", "--responses": "answers.csv",
    "--pilot": "exam.csv", "--data": ".", "--truth": "tested.csv",
}  # fmt: skip
ENDINGS = {
    "--figure": ".png", "--report": ".html", "--scores": ".csv", "--table": ".csv",
    "--output": ".nc",
}  # fmt: skip
# what takes minutes: the Bayesian model, and ABC and NUTS
SAMPLED = {
    ("epp", "--bayes"), ("cv judge", "--bayes"), ("sota", "--method nuts"),
    ("sota", "--method abc"),
}  # fmt: skip


def leaves(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if isinstance(group, click.Group):
        for name in group.list_commands(click.Context(group)):
            yield from leaves(group.get_command(click.Context(group), name), (*words, name))
    else:
        yield " ".join(words), group


COMMANDS = dict(leaves(cli))


def command_of(base: str) -> str:
    return max((name for name in COMMANDS if f"{base} ".startswith(f"{name} ")), key=len)


def given_values(name: str, option: click.Option, inputs: Path, out: Path) -> list[list[str]]:
    """Arguments that give an option to a command, one list for each value."""
    flag = max(option.opts, key=len)
    if option.is_flag:
        return [[flag]]
    if isinstance(option.type, click.Choice):
        return [[flag, str(choice)] for choice in option.type.choices]
    if isinstance(option.type, OutputFile):
        return [[flag, str(out / f"x{ENDINGS[flag]}")]]
    if isinstance(option.type, OutputDirectory):
        return [[flag, str(out / "made")]]
    if flag in READ:
        return [[flag, str(inputs / READ[flag])]]
    values = OWN.get((name, flag)) or VALUES[flag]
    return [[flag, *value.split()] for value in values]


def arguments_of(base: str, inputs: Path, flag: str = "") -> list[str]:
    """Arguments of a base, without those of one option."""
    words = [str(inputs / word[1:-1]) if word[0] == "{" else word for word in base.split()]
    if flag in words:
        end = start = words.index(flag)
        end += 1
        while end < len(words) and not words[end].startswith("--"):
            end += 1
        words = words[:start] + words[end:]
    return words


def as_json(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, Any]:
    """Exit code, and the JSON object without its seed."""
    code, out, error = run(capsys, *arguments, "--json")
    found = json.loads(out) if out else None
    if "note: no effect on" in error:
        return code, {"note": error}
    if found:
        found.pop("seed", None)
        found.pop("text", None)  # which names the seed
    return code, found


def as_text(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    """Printed text without the line of the seed."""
    return run(capsys, *arguments)[1].split("Seed ")[0]


def without_effect(base: str, capsys: Any, inputs: Path, out: Path) -> list[str]:
    """Options that were accepted and changed nothing, with all of their values."""
    name, silent = command_of(base), []
    code, plain = as_json(capsys, arguments_of(base, inputs))
    assert code in (0, 1), base
    text = as_text(capsys, arguments_of(base, inputs))

    def acts(flag: str, given: list[str]) -> bool:
        arguments = [*arguments_of(base, inputs, flag), *given]
        code, found = as_json(capsys, arguments)
        changed = code == 2 or found != plain or any(out.iterdir())
        for path in sorted(out.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        return changed or as_text(capsys, arguments) != text

    for option in COMMANDS[name].params:
        flag = max(option.opts, key=len)
        if not isinstance(option, click.Option) or flag in SILENT:
            continue
        values = [
            given
            for given in given_values(name, option, inputs, out)
            if not {(name, " ".join(given)), (name, flag)} & SAMPLED
        ]
        if flag in arguments_of(base, inputs):
            values.append([])  # without it
        if values and not any(acts(flag, given) for given in values):
            silent.append(flag)
    return silent


def test_every_option_has_values(tmp_path: Path) -> None:
    lacking = []
    for name, command in COMMANDS.items():
        for option in command.params:
            flag = max(option.opts, key=len)
            if isinstance(option, click.Option) and flag not in SILENT:
                try:
                    assert given_values(name, option, tmp_path, tmp_path)
                except (KeyError, AssertionError):
                    lacking.append((name, flag))
    assert lacking == []


@pytest.mark.parametrize(("flag", "base"), PERMISSIONS.items())
def test_permissions_allow_what_is_refused(
    flag: str, base: str, capsys: pytest.CaptureFixture[str], option_inputs: Path
) -> None:
    arguments = arguments_of(base, option_inputs)
    assert run(capsys, *arguments)[0] == 2
    assert run(capsys, *arguments, *flag.split())[0] in (0, 1)  # 1: rows were left out


def test_every_command_has_an_input() -> None:
    lacking = set(COMMANDS) - {command_of(base) for base in (*FAST, *SLOW)}
    assert lacking == {"demo", "examples"}


@pytest.mark.parametrize("base", FAST)
def test_options_of_fast_commands(base: str, capsys, option_inputs: Path, tmp_path: Path) -> None:
    assert without_effect(base, capsys, option_inputs, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("base", SLOW)
def test_options_of_all_commands(base: str, capsys, option_inputs: Path, tmp_path: Path) -> None:
    assert without_effect(base, capsys, option_inputs, tmp_path) == []
