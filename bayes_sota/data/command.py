"""``bayes-sota examples``, and options of data. Imports NumPy only."""

import re
from pathlib import Path
from typing import Any

import click

from bayes_sota.core.command import (
    Decorator,
    OutputDirectory,
    choice_option,
    command,
    echo_json,
    output_options,
    together,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text

_PASSES = re.compile(r"pass([@^])([1-9][0-9]{0,5})")


missing_option: Decorator = choice_option(
    "--missing",
    choices=["refuse", "drop"],
    help="Entries without a score: refuse FILE, or leave them out and say which.",
)
"""``--missing``, what becomes of entries of a leaderboard without a score."""

group_options: Decorator = together(
    click.option(
        "--leave-out",
        multiple=True,
        metavar="NAME",
        help="Classifier or task to leave out; may be repeated.",
    ),
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
    click.option("--run-column", help="Column of the run (seed, epoch) of each row."),
    click.option("--cluster-column", help="Column of what each item belongs to."),
    click.option("--task-column", help="Column of the task of each item."),
)
"""Options of answers in tasks, clusters and runs."""


def parse_average(text: str | None) -> Any:
    """What counts equally, as ``Responses`` takes it."""
    if text is None or text in ("items", "tasks"):
        return text
    from bayes_sota.data.readers.outcomes import read_weights

    if not Path(text).is_file():
        raise InputError(
            f"--average takes items, tasks, or a table of weights; there is no file {text!r}"
        )
    return read_weights(text)


def parse_passes(metric: str | None) -> tuple[int, bool] | None:
    """K of pass@K or pass^K, and whether all runs must be right; None for any other metric.

    Examples
    --------
    >>> parse_passes("pass@3"), parse_passes("pass^2"), parse_passes("acc")
    ((3, False), (2, True), None)
    """
    match = _PASSES.fullmatch(metric or "")
    return None if match is None else (int(match[2]), match[1] == "^")


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
