"""Options of what a file is read as, the same for every command. Imports NumPy only."""

import csv
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any

import click

from bayes_sota.core.command import Decorator, together
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.data.words import COLUMNS

ROLES = (*(role for role in COLUMNS if role != "metric"), "target")
"""What a column can be to a reader."""


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say what columns mean; the command gets them as ``reading``, a dict.

    Its keys are those of ``read_tidy``: a role for each ``--column``, ``use``, ``leave_out`` and
    ``direction`` where they were typed.
    """

    @wraps(function)
    def command(*args: Any, column: dict[str, str], **options: Any) -> Any:
        asked = {name: options.pop(name) for name in ("use", "leave_out", "direction")}
        reading = column | {name: value for name, value in asked.items() if value}
        return function(*args, reading=reading, **options)

    names = partial(click.option, multiple=True, metavar="A,B", callback=_names)
    about = f"Column of a role ({', '.join(ROLES)}); default by its name. May be repeated."
    lower = "Scores are losses, ..."
    return together(
        click.option("--higher-is-better", "direction", flag_value="higher", help="... or not."),
        click.option("--lower-is-better", "direction", flag_value="lower", help=lower),
        names("--leave-out", help="Entries, tasks or columns that do not count."),
        names("--use", help="Columns that hold the scores; default those that no name rules out."),
        click.option("--column", multiple=True, metavar="ROLE=NAME", callback=_roles, help=about),
    )(command)


def typed_of_reading(reading: Mapping[str, Any]) -> list[str]:
    """These options as they were typed.

    Examples
    --------
    >>> typed_of_reading({"score": "acc", "use": ["a", "b"], "direction": "lower"})
    ['--column score=acc', '--use a,b', '--lower-is-better']
    """

    def typed(name: str, value: Any) -> list[str]:
        if name == "direction":
            return [f"--{value}-is-better"]
        if isinstance(value, str):
            return ["--column", f"{name}={value}"]
        return [f"--{name.replace('_', '-')}", ",".join(value)]

    return [shlex.join(typed(*pair)) for pair in reading.items()]


def _names(context: Any, parameter: Any, typed: Sequence[str]) -> list[str]:
    """Names between commas; one that has a comma stands in quotation marks."""
    return [name.strip() for names in csv.reader(typed, skipinitialspace=True) for name in names]


def _roles(context: Any, parameter: Any, typed: Sequence[str]) -> dict[str, str]:
    """Columns by their roles."""
    roles = dict(text.partition("=")[::2] for text in typed)
    if not roles.keys() <= set(ROLES) or any("=" not in text for text in typed):
        got = " and ".join(map(quoted, typed))
        raise InputError(f"--column takes ROLE=NAME, got {got}; the roles are {', '.join(ROLES)}")
    return roles


def _average(context: Any, parameter: Any, typed: str | None) -> Any:
    """What counts equally, as ``Outcomes`` takes it: weights are read from their table."""
    if typed in (None, "items", "tasks"):
        return typed
    from bayes_sota.data.answers import read_weights

    return read_weights(typed)


group_options: Decorator = together(
    click.option(
        "--new",
        type=click.Choice(["items", "runs", "tasks"]),
        help="What skill is about: new items of these tasks (default), new runs on these very "
        "items, or new tasks like these.",
    ),
    click.option(
        "--average",
        metavar="items|tasks|WEIGHTS.csv",
        callback=_average,
        help="What counts equally in a score: items, tasks (default where there are any), or "
        "tasks by the weights of a table task,weight.",
    ),
)
"""Options of answers in tasks, clusters and runs."""


metric_option: Decorator = click.option(
    "--metric",
    metavar="NAME",
    help="Which of several metrics or scorers counts; pass@K or pass^K of several runs; or what "
    "numbers are made into: auc (beside labels), mean or rmse.",
)
"""``--metric`` of answers and numbers."""
