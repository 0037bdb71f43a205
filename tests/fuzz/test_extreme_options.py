"""Every numeric option of every command at its extremes: one line, in bounded time and memory.

A number in range gives a result without unexplained gaps (exit code 0, or 1 with the reason), any
other one line on standard error (2). A new numeric option is found by itself; a new command needs
a line in ``BASES``.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import click
import pytest
from fuzz.running import Answer, problems, run, run_alone

from bayes_sota.cli.commands import cli

EXTREMES = (
    "0", "-0.0", "-1", "1", "2", "1e-308", "5e-324", "1e308", "1.8e308", "inf", "-inf", "nan",
    str(2**31), str(2**63), str(10**30), "1e-17", "0.9999999999999999", "abc",
)  # fmt: skip
FEW = ("0", "1e308", "nan", str(2**63))

STUDY = bool(os.environ.get("BAYES_SOTA_FUZZ"))
# name: command and arguments; {x} is a file of the fixture option_inputs, {} a new folder
BASES = {
    "infer-n": "infer-n {board.csv}",
    "score": "score --right 40 --n-test 50",
    "maximum": "maximum --n-test 300 --classifiers 10 --theta 0.9 --correlation 0.5",
    "maximum uniform": "maximum --n-test 300 --classifiers 10 --uniform 0.8 0.9 --correlation 0.3",
    "maximum auc": "maximum --metric auc --n-test 300 --n-positive 40 --classifiers 9 --theta 0.9",
    "sota best": "sota --maximum 0.9 --n-test 300 --classifiers 20 --draws 50 --seed 1 "
    "--no-sensitivity",
    "sota board": "sota {board.csv} --n-test 500 --draws 50 --seed 1 --no-sensitivity",
    "sota score": "sota {errors.csv} --metric score --standard-error 0.1 --lower-is-better "
    "--draws 50 --seed 1",
    "sota answers": "sota {answers.csv} --draws 50 --seed 1",
    "board": "board {board.csv} --n-test 500 --draws 50 --seed 1",
    "board auc": "board {board.csv} --metric auc --n-test 500 --n-positive 200 --draws 50 --seed 1",
    "paired": "paired {paired.csv} --n-test-public 500 --n-test-private 1500 --seed 1",
    "paired errors": "paired {paired.csv} --standard-error-public 0.02 --standard-error-private "
    "0.01 --seed 1",
    "claim classification": "claim classification --accuracy 0.90 0.88 --n-test 500",
    "claim segmentation": "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
    "claim segmentation spread": "claim segmentation --mean 0.81 0.80 --sd-difference 0.1 --n-test "
    "100",
    "claim segmentation imputed": "claim segmentation --mean 0.81 0.80 --sd-coefficients 0.5 0 "
    "-0.5 --n-test 100",
    "claim responses": "claim responses {answers.csv} --draws 200 --seed 1",
    "claim responses numbers": "claim responses {items.csv} --item-metric mean --draws 200 "
    "--seed 1 --item-column case --cluster-column group",
    "claim selection": "claim selection {board.csv} --n-test 500 --seed 1",
    "claim plan": "claim plan --gap 0.02 --winner 0.9 --n-test 300",
    "claim plan pair": "claim plan --accuracy 0.9 0.85",
    "claim plan means": "claim plan --gap 0.02 --sd 0.1 0.1 --pairwise-correlation 0.5 --n-test 50",
    "claim batch": "claim batch {means.csv} --sd 0.5 0 -0.5",
    "batch": "batch {boards.csv} --output-dir {} --seed 1",
    "cv judge": "cv judge {repeats.csv} --rule ks --threshold 0.5 --orderings 5 --seed 1",
    "cv run": "cv run {numbers.csv} --target label --learners nb --folds 2 --iterations 2 --seed 1",
    "epp": "epp {rounds.csv} --repetitions 20 --seed 1",
    "epp folds": "epp {folds.csv} --format long --player-column player --round-column fold "
    "--score-column score --group-column data --local-rope 0.4 --repetitions 0",
}
# options that are tried in a process of their own kind of work, or not at all, and why
LEFT_OUT = {
    ("app", "--port"): "it runs until it is ended: test_app.py",
    ("demo", "--seed"): "the same option as everywhere; a demo takes a minute",
    ("demo", "--prob"): "the same option as everywhere; a demo takes a minute",
    ("cv judge", "--draws"): "NUTS: the slow test of sampled models",
    ("epp", "--draws"): "NUTS: the slow test of sampled models",
    ("epp", "--rope"): "NUTS: the slow test of sampled models",
}
# keys that are null where what they would say was not asked for or does not exist, and why
ABSENT = {
    "congruence": "numbers per item have no congruence",
    "congruence.value": "not given: averaged over", "correlation.value": "not given: averaged over",
    "correlation_needed": "no correlation needs to be known, or none is enough",
    "congruence_needed": "no congruence is enough",
    "deviance_expected": "not compared", "deviance_p_value": "not compared",
    "standardized_deviance": "not compared", "seed": "nothing was drawn",
    "group": "claims are not in groups", "n_above_sota": "the best score alone has no entries",
    "n_rounds": "matches have no rounds", "n_test": "not given",
    "n_assured": "not asked for, or no size is enough",
    "rounding": "no number of right answers prints so: notes", "sd": "the differences are given",
    "sd_difference": "the spreads are given",
    "ranks": "one data set", "verdicts": "too few data sets",
    "fold_bias": "no other numbers of folds", "against_truth": "no true test sets",
    "posterior.iterations_needed": "no number of iterations is enough", "rope": "not asked for",
    "stopping_iteration": "the rule has not stopped",
    "test": "no pair was asked for",
}  # fmt: skip
# options that are text for click, and numbers for a user; the extreme takes the place of {}
TEXTS = {
    "sota best": {"--maximum": "{}", "--n-test": "{}", "--classifiers": ("{}", "2:{}")},
    "sota board": {"--n-test": "{}", "--classifiers": "20:{}"},
    "claim classification": {"--n-test": ("{}", "100:{}"), "--accuracy": ("{} 0.88", "0.9 {}")},
    "epp": {"--best-of": ("a {}", "a 2:{}")},
}


def leaves(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if isinstance(group, click.Group):
        for name, command in group.commands.items():
            yield from leaves(command, (*words, name))
    else:
        yield " ".join(words), group


COMMANDS = dict(leaves(cli))


def command_of(base: str) -> str:
    return max((name for name in COMMANDS if f"{base} ".startswith(f"{name} ")), key=len)


def numeric(command: click.Command) -> Iterator[click.Option]:
    for param in command.params:
        if isinstance(param, click.Option) and hasattr(param.type, "limits"):
            yield param


def variants(base: str, values: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Option, and the arguments that give it one extreme."""
    name = command_of(base)
    for option in numeric(COMMANDS[name]):
        flag = max(option.opts, key=len)
        if (name, flag) in LEFT_OUT:
            continue
        for value in values:
            for place in range(option.nargs):
                given = ["0.5"] * option.nargs
                given[place] = value
                yield flag, [flag, *given]
    for flag, patterns in TEXTS.get(base, {}).items():
        for pattern in (patterns,) if isinstance(patterns, str) else patterns:
            for value in values:
                yield flag, [flag, *pattern.format(value).split()]


def arguments_of(base: str, inputs: Path, flag: str, given: list[str]) -> list[str]:
    """Arguments of the base with those of one option in their place."""
    words = [str(inputs / word[1:-1]) if word[0] == "{" else word for word in BASES[base].split()]
    words = [mkdtemp(dir=inputs) if word == str(inputs) else word for word in words]
    if flag in words:
        start = words.index(flag)
        end = start + 1
        while end < len(words) and not words[end].startswith("--"):
            end += 1
        words = words[:start] + words[end:]
    return [*words, *given, "--json"]


def complaints(answer: Answer) -> Iterator[str]:
    """What is wrong with the behaviour of a command."""
    yield from problems(answer)
    if answer.code in (0, 1) and answer.out:
        found = json.loads(answer.out, parse_constant=lambda text: pytest.fail(text))
        reasons = found.pop("null_reasons", {})
        if unexplained := [where for where in nulls(found) if where not in reasons]:
            yield f"nulls without a reason: {unexplained}"
        if "not a finite number" in json.dumps(reasons):
            yield f"nulls without a reason: {reasons}"


def nulls(value: Any, place: tuple[str, ...] = ()) -> Iterator[str]:
    """Where an object is null, apart from what is absent for a known reason."""
    keys = [key for key in place if not key.isdigit()]
    if value is None and not {".".join(keys[-1:]), ".".join(keys[-2:])} & set(ABSENT):
        yield ".".join(place)
    for key, part in (
        value.items() if isinstance(value, dict)
        else enumerate(value) if isinstance(value, list) else ()
    ):  # fmt: skip
        yield from nulls(part, (*place, str(key)))


def sweep(base: str, inputs: Path, values: tuple[str, ...]) -> list[str]:
    run(arguments_of(base, inputs, "", []))  # what it imports, the processes need not import
    wrong = []
    for flag, given in variants(base, values):
        arguments = arguments_of(base, inputs, flag, given)
        wrong += [f"{' '.join(arguments)}: {text}" for text in complaints(run_alone(arguments))]
    return wrong


def test_every_command_with_numbers_has_a_base() -> None:
    named = {command_of(base) for base in BASES}
    lacking = [name for name, command in COMMANDS.items() if any(numeric(command))]
    assert set(lacking) - named <= {name for name, _ in LEFT_OUT}


def test_every_number_has_a_range() -> None:
    for name, command in COMMANDS.items():
        for param in command.params:
            bare = isinstance(param.type, click.types.IntParamType | click.types.FloatParamType)
            assert not bare or hasattr(param.type, "limits"), (name, param.name)


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES if STUDY else ["maximum"])
def test_extremes(base: str, option_inputs: Path) -> None:
    assert sweep(base, option_inputs, EXTREMES if STUDY else FEW) == []
