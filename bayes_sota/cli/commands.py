"""All commands; only the one that runs is imported."""

import platform
import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import click

from bayes_sota import __version__

_ABOUT = {
    "inspect": "Describe a file, and list the commands that can answer from it.",
    "score": "How good is one model?",
    "sota": "How good is the best, and how good is the winner?",
    "board": "Who is the best? Skills, ranks, tiers.",
    "paired": "Public and private board: who gained beyond luck?",
    "claim": 'Is "A outperforms B" false?',
    "epp": "Which model is better over rounds, data sets, battles?",
    "cv": "Repeated cross-validation: run it, and judge its scores.",
    "maximum": "The exact law of the best of many scores.",
    "batch": "Many boards, one result file for each.",
    "examples": "Write files of every kind to try.",
    "demo": "The main job on a real challenge.",
}
# Modules that are not called like their command.
_MODULES = dict.fromkeys(("sota", "batch", "board", "paired"), "boards")
_MODULES |= dict.fromkeys(("score", "maximum"), "scores")
_MODULES |= {"examples": "demo", "inspect": "inspection"}


class Commands(click.Group):
    """Commands with their questions; only the one that runs is imported."""

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        return list(_ABOUT)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        if name in _ABOUT:
            module = import_module(f"bayes_sota.cli.{_MODULES.get(name, name)}")
            found: click.Command = getattr(module, name)
            return found
        if fix := _new_form(name):
            raise click.UsageError(f"No such command {name!r}; {fix}", ctx)
        return self.commands.get(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_ABOUT.items()))


def _show_versions(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print what a bug report needs; no library is imported."""
    if wanted:
        click.echo(f"bayes_sota {__version__}\nPython {platform.python_version()}")
        for name in ("PyMC", "ArviZ", "NumPy", "SciPy"):
            click.echo(f"{name} {version(name)}")
        context.exit()


cli = Commands(
    "cli",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Say what the data support about the state of the art behind the best score.",
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False,
            callback=_show_versions,
            help="Show the versions of the package and of its libraries.",
        )
    ],
)  # fmt: skip


def unknown_option(error: click.NoSuchOption) -> str:
    """One line on an unknown option: its new form, or options of similar spelling."""
    name = error.option_name
    fix = _new_form(name[2:])
    return f"No such option {name!r}; {fix}" if fix else error.format_message()


def _new_form(old: str) -> str:
    """New form of an option or a command of version 0.5, or ""."""
    table = tomllib.loads(Path(__file__).with_name("renamed.toml").read_text("utf-8"))
    found = next((new for new, names in table.items() if old in names.split()), "")
    if not found and old.endswith("-column"):
        found = f"write --column {old.removesuffix('-column')}=NAME"
    return found.format(name=old.replace("-", "_"))
