"""``bayes-sota examples``, and options of data. Imports NumPy only."""

import csv
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.command import (
    Decorator,
    OutputDirectory,
    command,
    echo_json,
    output_options,
    together,
)
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import plain_text
from bayes_sota.data.words import COLUMNS

if TYPE_CHECKING:
    from bayes_sota.data.outcomes import Outcomes

ROLES = (*(role for role in COLUMNS if role != "metric"), "target")
"""What a column can be to a reader."""


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say what columns mean; the command gets them as ``reading``, a dict.

    Its keys are those of ``read_tidy``: a role for each ``--column``, ``use``, ``leave_out`` and
    ``direction`` where they were typed.
    """

    @wraps(function)
    def command(
        *args: Any,
        column: dict[str, str],
        use: list[str],
        leave_out: list[str],
        direction: str | None,
        **rest: Any,
    ) -> Any:
        asked = {"use": use, "leave_out": leave_out, "direction": direction}
        reading = column | {name: value for name, value in asked.items() if value}
        return function(*args, reading=reading, **rest)

    return together(
        click.option("--higher-is-better", "direction", flag_value="higher", help="... or not."),
        click.option(
            "--lower-is-better", "direction", flag_value="lower", help="Scores are losses, ..."
        ),
        click.option(
            "--leave-out",
            multiple=True,
            metavar="A,B",
            callback=_names,
            help="Entries, tasks or columns that do not count.",
        ),
        click.option(
            "--use",
            multiple=True,
            metavar="A,B",
            callback=_names,
            help="Columns that hold the scores; default those that no name rules out.",
        ),
        click.option(
            "--column",
            multiple=True,
            metavar="ROLE=NAME",
            callback=_roles,
            help=f"Column of a role ({', '.join(ROLES)}); default by its name. May be repeated.",
        ),
    )(command)


def typed_of_reading(reading: Mapping[str, Any]) -> list[str]:
    """These options as they were typed.

    Examples
    --------
    >>> typed_of_reading({"score": "acc", "use": ["a", "b"], "direction": "lower"})
    ['--column score=acc', '--use a,b', '--lower-is-better']
    """
    options = []
    for name, value in reading.items():
        if name == "direction":
            options.append([f"--{value}-is-better"])
        elif isinstance(value, str):
            options.append(["--column", f"{name}={value}"])
        else:
            options.append([f"--{name.replace('_', '-')}", ",".join(value)])
    return list(map(shlex.join, options))


def _names(context: Any, parameter: Any, typed: Sequence[str]) -> list[str]:
    """Names between commas; one that has a comma stands in quotation marks."""
    return [name.strip() for names in csv.reader(typed, skipinitialspace=True) for name in names]


def _roles(context: Any, parameter: Any, typed: Sequence[str]) -> dict[str, str]:
    """Columns by their roles, each asked for once."""
    roles: dict[str, str] = {}
    for text in typed:
        role, sign, name = text.partition("=")
        if role not in ROLES or not sign:
            raise InputError(
                f"--column takes ROLE=NAME, got {quoted(text)}; the roles are {', '.join(ROLES)}"
            )
        if roles.setdefault(role, name) != name:
            raise InputError(f"--column {role} is {quoted(roles[role])} and {quoted(name)}")
    return roles


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


def read_answers(
    *files: Path, metric: str | None, average: str | None, new: Any, reading: dict[str, Any]
) -> "Outcomes":
    """Answers or numbers of items, with options as typed."""
    from bayes_sota.data.answers import read_outcomes

    return read_outcomes(*files, metric=metric, average=parse_average(average), new=new, **reading)


def parse_average(text: str | None) -> Any:
    """What counts equally, as ``Outcomes`` takes it."""
    if text is None or text in ("items", "tasks"):
        return text
    from bayes_sota.data.answers import read_weights

    if not Path(text).is_file():
        raise InputError(
            f"--average takes items, tasks, or a table of weights; there is no file {text!r}"
        )
    return read_weights(text)


@command(epilog="Example: bayes-sota examples --output-dir examples")
@click.option(
    "--output-dir",
    type=OutputDirectory(),
    required=True,
    help="Where the files go; none that is there already is written over.",
)
@output_options
def examples(output_dir: Path, as_json: bool, quiet: bool) -> int:
    """Write a small file of each kind to try, and README.txt, which says what they are.

    Most are of real classifiers of handwritten digits (scikit-learn's).
    """
    from bayes_sota.data.examples import write_examples

    files = write_examples(output_dir)
    if as_json:
        echo_json({"files": [str(path) for path in files]})
    else:
        for path in files:
            click.echo(plain_text(path))
    return 0
