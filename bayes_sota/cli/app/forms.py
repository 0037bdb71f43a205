"""Forms of the local page: each asks for options of one command, and becomes its arguments.

Labels are written here; what an option takes, and its help, come from the command itself. A value
is never more than the value of its option: click takes as many arguments after an option as the
option has, whatever they begin with, and files are named by the page.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from bayes_sota.core.command import InputFile
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text

type Values = Mapping[str, Sequence[str]]
"""What was typed, by the names of the parameters."""

type Uploads = Mapping[str, tuple[Path, str]]
"""Where uploaded files lie, and what their owners call them."""


@dataclass(frozen=True)
class Form:
    """A form, and the command that answers it.

    Attributes
    ----------
    name : str
        Its address.
    title, about : str
    command : tuple of str
    labels : mapping
        Name of a parameter of the command -> labels of its values, the first file first.
    needed : tuple of str
        Parameters that the form cannot do without, besides those of the command.
    exact : bool
        Whether the answer needs no seed.
    largest : mapping
        Name of a parameter -> the largest number that is answered within a minute or so.
    explained : str
        Template with the question, its formula and how to read the answer; empty for none.
    """

    name: str
    title: str
    about: str
    command: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    needed: tuple[str, ...] = ()
    exact: bool = False
    largest: Mapping[str, int] = field(default_factory=dict)
    explained: str = ""


_BOARD = {
    "file": ("File of the leaderboard or of the answers",),
    "n_test": ("Test items of a leaderboard",),
    "classifiers": ("Entries in all",),
    "submissions": ("Submissions per entry",),
    "metric": ("Metric",),
    "n_positive": ("Positive test items",),
    "standard_error": ("Standard error",),
    "lower_is_better": ("Lower is better",),
    "name_column": ("Names",),
    "score_column": ("Scores",),
}

FORMS = (
    Form(
        "accuracies",
        "Does A outperform B? Two accuracies",
        "The probability that the claim is false, from two accuracies on the same test items.",
        ("claim", "classification"),
        {
            "accuracy": ("Accuracy of A, the better one", "Accuracy of B"),
            "n_test": ("Test items",),
            "congruence": ("Congruence",),
            "rope": ("Practical equivalence",),
            "best_of": ("Tries of A",),
        },
        exact=True,
        explained="accuracies.html",
    ),
    Form(
        "means",
        "Does A outperform B? Two means, such as Dice",
        "The same for means of cases and their standard deviations.",
        ("claim", "segmentation"),
        {
            "mean": ("Mean of A, the better one", "Mean of B"),
            "sd": ("Standard deviation of A", "Standard deviation of B"),
            "n_test": ("Test cases",),
            "correlation": ("Correlation",),
            "best_of": ("Tries of A",),
        },
        exact=True,
        explained="means.html",
    ),
    Form(
        "maximum",
        "How good is the best? One best score",
        "The true skill behind the best score, of which nothing else is known.",
        ("sota",),
        {
            "maximum": ("Best score",),
            "classifiers": ("Classifiers",),
            "n_test": ("Test items",),
            "rounding": ("Rounding",),
        },
        needed=("maximum", "classifiers", "n_test"),
        largest={"classifiers": 1_000_000, "n_test": 100_000},
    ),
    Form(
        "leaderboard",
        "How good is the best? A leaderboard",
        "The true skill behind the best score, from all scores or from answers per item.",
        ("sota",),
        _BOARD,
        needed=("file",),
    ),
    Form(
        "board",
        "Who is the best? Every entry of a leaderboard",
        "Skill, rank and chance to be the best of every entry, from scores or answers per item.",
        ("board",),
        _BOARD,
    ),
    Form(
        "answers",
        "Does A outperform B? Answers per item",
        "Two or more methods compared on the same items, from a row per item.",
        ("claim", "responses"),
        {
            "files": ("File of the answers",),
            "item_column": ("Column of the items",),
            "cluster_column": ("Column of clusters",),
            "lower_is_better": ("Lower is better",),
            "rope": ("Practical equivalence",),
        },
    ),
    Form(
        "epp",
        "Who wins over rounds? EPP",
        "Skills of players over splits, tasks or battles, from a table of scores or of battles.",
        ("epp",),
        {
            "files": ("File of the scores or battles",),
            "players": ("Players are",),
            "lower_is_better": ("Lower is better",),
            "penalty": ("Added ties",),
        },
    ),
    Form(
        "cross-validation",
        "Which learner is best? Repeated cross-validation",
        "How reproducible the order of learners is, from scores per iteration and fold.",
        ("cv", "judge"),
        {
            "file": ("File of the scores",),
            "rule": ("Rule",),
            "threshold": ("Threshold",),
            "lower_is_better": ("Lower is better",),
            "rope": ("Practical equivalence",),
        },
    ),
    Form(
        "paired",
        "Public and private leaderboard",
        "The skill of the best team and of the public winner, from two boards of the same teams.",
        ("paired",),
        {
            "file": ("File of both boards, or of the public one",),
            "private_file": ("File of the private board",),
            "n_test_public": ("Public test items",),
            "n_test_private": ("Private test items",),
            "lower_is_better": ("Lower is better",),
        },
    ),
)


def command_of(form: Form, group: click.Group) -> click.Command:
    """The command that answers a form."""
    command: Any = group
    for name in form.command:
        command = command.commands[name]
    return command


def fields_of(form: Form, group: click.Group) -> Iterator[dict[str, Any]]:
    """What a form asks for: each parameter of its command as the page shows it."""
    params = {str(param.name): param for param in command_of(form, group).params}
    for name, labels in form.labels.items():
        param = params[name]
        choices = list(param.type.choices) if isinstance(param.type, click.Choice) else []
        default = getattr(param, "default", None)
        kind = "choice" if choices else "flag" if _is_flag(param) else "text"
        yield {
            "name": name,
            "labels": labels,
            "needed": param.required or name in form.needed,
            "option": max(param.opts, key=len) if isinstance(param, click.Option) else "FILE",
            "help": getattr(param, "help", None) or "",
            "kind": "file" if isinstance(param.type, InputFile) else kind,
            "choices": choices if default in choices else ["", *choices],
        }


def arguments_of(
    form: Form, group: click.Group, values: Values, uploads: Uploads, seed: int
) -> tuple[list[str], list[str]]:
    """Arguments of the command, as they are run and as their owner would type them.

    Parameters
    ----------
    form : Form
    group : click.Group
        All commands.
    values : mapping
        What was typed; empty text is nothing.
    uploads : mapping
        Files by the names of the parameters.
    seed : int
        Of the draws, where the answer is made of draws.

    Returns
    -------
    run, shown : list of str
    """
    drawn = [] if form.exact else ["--seed", str(seed)]
    paths = {k: str(path) for k, (path, _) in uploads.items()}
    names = {k: f"./{name}" if name.startswith("-") else name for k, (_, name) in uploads.items()}
    run, shown = (_typed_with(form, group, values, files, drawn) for files in (paths, names))
    return run, shown


def check_size(form: Form, group: click.Group, values: Values, shown: Sequence[str]) -> None:
    """``InputError`` with the command of the shell where a number asks for hours of work."""
    for param in command_of(form, group).params:
        name = str(param.name)
        largest = form.largest.get(name)
        for text in values.get(name, ()):
            if largest is not None and _number(text) > largest:
                raise InputError(
                    f"{max(param.opts, key=len)} may be {largest:,} at most on this page, got "
                    f"{plain_text(text, 40)}; the shell has no such limit: {shell_command(shown)}"
                )


def shell_command(shown: Sequence[str]) -> str:
    """A command as its owner would type it."""
    return plain_text(shlex.join(["bayes-sota", *shown]), 400)


def _number(text: str) -> float:
    """The number, or the end of a range; whatever else there is, the command judges."""
    try:
        return float(text.rpartition(":")[2])
    except ValueError:
        return 0.0


def _typed_with(
    form: Form, group: click.Group, values: Values, files: Mapping[str, str], drawn: Sequence[str]
) -> list[str]:
    """The command, options with their values, the seed, and arguments."""
    options: list[str] = []
    arguments: list[str] = []
    for param in command_of(form, group).params:
        name = str(param.name)
        if name not in form.labels:
            continue
        is_file = isinstance(param.type, InputFile)
        texts = [files.get(name, "")] if is_file else values.get(name, ())
        words = _typed(param, texts)
        if isinstance(param, click.Argument):
            arguments += words
        elif words:
            options += [max(param.opts, key=len), *(() if _is_flag(param) else words)]
    return [*form.command, *options, *drawn, *arguments]


def _typed(param: click.Parameter, texts: Sequence[str]) -> list[str]:
    """As many values as the option takes, if there are any but its default."""
    words = [text.strip() for text in texts]
    is_set = any(words) and words != [getattr(param, "default", None)]
    return [*words, *[""] * param.nargs][: max(param.nargs, 1)] if is_set else []


def _is_flag(param: click.Parameter) -> bool:
    return bool(getattr(param, "is_flag", False))
