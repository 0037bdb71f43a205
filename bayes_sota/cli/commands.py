"""The group of all commands; each is imported when it is asked for, and the others are not."""

import platform
from collections import UserDict
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from typing import Any, cast

import click

from bayes_sota import __version__

_PLACES = {  # module and name, below bayes_sota
    "batch": "cli.batch:batch",
    "board": "leaderboard.command:board",
    "claim": "claims.command:claim",
    "cv": "crossval.command:cv",
    "demo": "cli.demo:demo",
    "epp": "epp.command:epp",
    "examples": "cli.demo:examples",
    "inspect": "cli.inspection:inspect_file",
    "maximum": "maximum.command:maximum",
    "paired": "cli.paired:paired",
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


def _show_versions(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print what a report of a bug needs; none of the libraries is imported."""
    if wanted:
        click.echo(f"bayes_sota {__version__}")
        click.echo(f"Python {platform.python_version()}")
        for name in ("PyMC", "ArviZ", "NumPy", "SciPy"):
            click.echo(f"{name} {version(name)}")
        context.exit()


cli = click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_versions,
    help="Show the versions of the package and of its libraries.",
)(
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
