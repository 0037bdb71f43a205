"""No option without effect: it changes the result, is refused, or a note says that it has none.

Of the commands in ``BASES``, which take no time. Each of their options has values in ``VALUES``
(choices, flags and files have theirs by themselves), so that a new option fails here until it is in
the table. What cannot show in a result is named in ``SILENT`` with the reason.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from data.files import run

from bayes_sota.cli.commands import cli
from bayes_sota.cli.options import FOLDER, hidden

SILENT = {
    "--help-all": "it shows the help",
    "--json": "another form of the same result",
    "--higher-is-better": "what is true without it: tests/data/test_reading.py",
    "--quiet": "every command can be asked to be quiet, and some have nothing to leave out",
}
# {x} is a file of the fixture option_inputs
BASES = (
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
# values that are tried on every input; several where one could be what is taken anyway
VALUES: dict[str, tuple[str, ...]] = {
    "--accuracy": ("0.91 0.87",), "--average": ("items",),
    "--best-of": ("3",),
    "--column": ("unit=item", "entry=item", "task=fold", "task=topic"), "--congruence": ("0.85",),
    "--cost-per-item": ("3",), "--cost-per-run": ("2",), "--gap": ("0.03",),
    "--leave-out": ("x", "a"), "--level": ("0.2",),
    "--mean": ("0.82 0.8",), "--metric": ("accuracy", "auc", "score"), "--n-positive": ("60", "22"),
    "--pairwise-correlation": ("0.3", "0.35"), "--power": ("0.9",), "--prob": ("0.5",),
    "--right": ("9",), "--rope": ("0.01",),
    "--sd-difference": ("0.2",), "--seed": ("2",),
    "--spread-ratio": ("1.5", "0.4"), "--theta": ("0.85",), "--top": ("2", "0.9"),
    "--uniform": ("0.7 0.9",), "--use": ("x", "b,c", "x,z"),
}  # fmt: skip
OWN = {  # of one command
    ("score", "--metric"): ("pass@2",), ("score", "--n-test"): ("60",),
    ("maximum", "--classifiers"): ("25",), ("maximum", "--n-test"): ("70", "400"),
    ("maximum", "--correlation"): ("0.4",),
    ("claim plan", "--sd"): ("0.2 0.1",), ("claim plan", "--n-test"): ("60",),
    ("claim plan", "--pair"): ("y z",),
    ("claim segmentation", "--sd"): ("0.2 0.1",), ("claim segmentation", "--n-test"): ("50",),
    ("claim classification", "--n-test"): ("400",), ("claim classification", "--names"): ("x y",),
    ("claim segmentation", "--names"): ("x y",), ("claim batch", "--level"): ("0.2",),
}  # fmt: skip
READ = {"--pilot": "exam.csv"}


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
    if flag == "--save":
        return [[flag, str(out / "x.csv")]]
    if option.type is FOLDER:
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
        if not isinstance(option, click.Option) or hidden(option) or flag in SILENT:
            continue
        values = given_values(name, option, inputs, out)
        if flag in arguments_of(base, inputs):
            values.append([])  # without it
        if values and not any(acts(flag, given) for given in values):
            silent.append(flag)
    return silent


def test_every_option_has_values(tmp_path: Path) -> None:
    lacking = []
    for name in sorted({command_of(base) for base in BASES}):
        for option in COMMANDS[name].params:
            flag = max(option.opts, key=len)
            if isinstance(option, click.Option) and not hidden(option) and flag not in SILENT:
                try:
                    assert given_values(name, option, tmp_path, tmp_path)
                except (KeyError, AssertionError):
                    lacking.append((name, flag))
    assert lacking == []


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
def test_options_change_something(base: str, capsys, option_inputs: Path, tmp_path: Path) -> None:
    assert without_effect(base, capsys, option_inputs, tmp_path) == []
