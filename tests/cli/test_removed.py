"""Every command, option and value that 0.5 had is answered with what to use instead."""

from typing import Any

import click
import pytest
from data.files import run

from bayes_sota.cli.commands import cli
from bayes_sota.cli.removed import REMOVED


def found(words: list[str]) -> tuple[list[str], click.Command, list[str]]:
    """Names of a command, the command, and the words behind them."""
    command: Any = cli
    for number, word in enumerate(words):
        if not isinstance(command, click.Group) or word not in command.commands:
            return words[:number], command, words[number:]
        command = command.commands[word]
    return words, command, []


@pytest.mark.parametrize("key", REMOVED)
def test_what_was_removed_is_answered(key: str, capsys: Any) -> None:
    names, command, rest = found(key.split())
    assert rest, f"{key} is a command"
    if rest[0].startswith("-") and not names:  # an option that no command has any more
        names, command = ["sota"], cli.commands["sota"]
    option = next((param for param in command.params if rest[0] in param.opts), None)
    if len(rest) == 2:
        assert option is not None
        assert rest[1] not in option.type.choices
    else:
        assert option is None
    if key.startswith("-") and len(rest) == 1:
        assert not list(with_option(rest[0]))
    code, out, error = run(capsys, *names, *rest)
    assert (code, out) == (2, "")
    assert error == f"error: {' '.join(rest)} was removed in 1.0: {REMOVED[key]}\n"


def with_option(name: str, group: Any = cli) -> list[str]:
    from bayes_sota.cli.commands import with_option as names

    return list(names(name, group))
