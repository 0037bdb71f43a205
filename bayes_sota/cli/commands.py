"""The group of all commands; each is imported when it is asked for, and the others are not."""

from collections import UserDict
from collections.abc import Iterator
from importlib import import_module
from typing import Any, cast

import click

from bayes_sota import __version__

_PLACES = {  # module and name, below bayes_sota
    "app": "cli.app.command:app",
    "batch": "cli.batch:batch",
    "board": "leaderboard.command:board",
    "claim": "claims.command:claim",
    "cv": "crossval.command:cv",
    "demo": "cli.demo:demo",
    "doctor": "cli.doctor:doctor",
    "epp": "epp.command:epp",
    "examples": "data.command:examples",
    "infer-n": "data.command:infer_n",
    "inspect": "cli.inspection:inspect_file",
    "maximum": "maximum.command:maximum",
    "models": "leaderboard.command:models",
    "paired": "paired.command:paired",
    "score": "leaderboard.command_score:score",
    "sota": "leaderboard.command:sota",
}


class _Commands(UserDict[str, Any]):
    """Commands by their names, imported at their first use."""

    def __getitem__(self, name: str) -> click.Command:
        loaded = self.data[name]
        if isinstance(loaded, str):
            module, _, command = loaded.partition(":")
            loaded = getattr(import_module(f"bayes_sota.{module}"), command)
        return cast(click.Command, loaded)


cli = click.version_option(__version__, prog_name="bayes-sota")(
    click.Group(
        "cli",
        commands=_Commands(_PLACES),
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        help="Say what the data support about the state of the art behind the best score.",
    )
)


def with_option(option: str, group: click.Group = cli) -> Iterator[str]:
    """Names of the commands that have an option.

    Examples
    --------
    >>> list(with_option("--plan")), list(with_option("--nothing"))
    (['epp'], [])
    """
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from (f"{name} {below}" for below in with_option(option, command))
        elif any(option in param.opts for param in command.params):
            yield name
