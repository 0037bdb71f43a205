"""Options of commands that read a leaderboard, answers or item scores, and what they read."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.cli.options import (
    auc_options,
    check_positives,
    choice_option,
    domain_option,
    field_option,
    model_option,
    note_unused,
    number_option,
    parse_tries,
    reading_options,
    together,
)
from bayes_sota.core.arguments import (
    CORRELATION,
    COUNT,
    POSITIVE,
    refuse_unused,
)
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.data.item_values import parse_passes

if TYPE_CHECKING:
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.data.outcomes import Outcomes
    from bayes_sota.data.tidy import Tidy

GROUPS = ("average", "new")
"""Options of items in groups."""
OF_RHO = ("model", "domain", "field")
"""Options that say which prior of rho is taken."""
OF_SCORES = ("rounding", "metric", "standard_error", "n_positive", "spread_ratio", "percent")
"""Options that say what scores are."""
METRICS = ("accuracy", "auc", "score", "mean", "rmse")
"""Metrics that no evaluation log calls its own."""
_DEFAULTS = {"rounding": "auto"}


def _average(context: Any, parameter: Any, typed: str | None) -> Any:
    """What counts equally, as ``Outcomes`` takes it: weights are read from their table."""
    if typed in (None, "items", "tasks"):
        return typed
    from bayes_sota.data.answers import read_weights

    return read_weights(typed)


group_options = together(
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


metric_option = click.option(
    "--metric",
    metavar="NAME",
    help="Which of several metrics or scorers counts; pass@K or pass^K of several runs; or what "
    "numbers are made into: auc (beside labels), mean or rmse.",
)
"""``--metric`` of answers and numbers."""

score_options = together(
    number_option(POSITIVE, "--standard-error", help="Error of one score."),
    click.option(
        "--metric",
        metavar="NAME",
        help="accuracy is right answers / items; auc needs --n-positive; score anything else, with "
        "its standard error: default by the name of the column. Of answers pass@K or pass^K of "
        "several runs; of numbers mean, rmse or auc; or a metric or scorer of an evaluation log.",
    ),
    auc_options,
    number_option(COUNT, "--n-positive", help="Positive test items, for auc."),
    click.option("--percent", is_flag=True, default=None, help="Scores are in percent."),
    group_options,
    reading_options,
)
"""What the columns of a file mean, and what its scores are."""

rounding_options = together(
    choice_option(
        "--rounding",
        choices=["auto", "nearest", "floor", "exact"],
        help="How scores were cut; auto: what all scores of FILE allow (a Kaggle download floors), "
        "nearest for a typed number.",
    ),
)

submissions_option = click.option(
    "--submissions",
    help="Submissions behind each entry, of which it shows the best: a number or a range A:B; "
    "default the column of a public board that is called so (--column submissions=NAME).",
)
"""Submissions behind each entry."""

field_options = together(
    number_option(CORRELATION, "--pairwise-correlation", help="Known rho^2."),
    number_option(CORRELATION, "--correlation", help="Known rho instead of its prior."),
    field_option,
    domain_option,
    model_option,
    submissions_option,
    click.option("--classifiers", help="Number or range A:B; default those in FILE."),
    rounding_options,
    score_options,
    click.option(
        "--n-test",
        help="Number of test items, or infer; of tasks one for each, 100,200 or A:100,B:200. "
        "Default the column of that name (--column n=NAME).",
    ),
)
"""Options of a whole leaderboard: how FILE is read, and what is assumed of its field."""


def read_file(file: Path, reading: dict[str, Any], **options: Any) -> "Leaderboard | Outcomes":
    """Leaderboard, averages over tasks, answers or numbers of a file or a folder of logs.

    ``reading`` is what ``read_tidy`` takes; ``options`` are those of ``field_options``, as typed.
    """
    from bayes_sota.data.opening import read_table
    from bayes_sota.data.reading import read_tidy

    metric = options["metric"]
    of_log = None if metric in (None, *METRICS) or parse_passes(metric) else metric
    tidy = read_tidy(read_table(file, of_log), **reading).with_items()
    if of_log and tidy.layout == "board":
        raise InputError(f"--metric is one of {', '.join(METRICS)} or pass@K, got {quoted(metric)}")
    if of_log and tidy.unit == "task":
        options["metric"] = None
    if tidy.layout == "board":
        return _entries(tidy, **options)
    if tidy.unit == "task":
        return _tasks(tidy, **options)
    return _outcomes(tidy, **options)


def _entries(
    tidy: "Tidy",
    *,
    n_test: str | None,
    classifiers: str | None,
    submissions: str | None,
    **options: Any,
) -> "Leaderboard":
    """A row for each entry."""
    from bayes_sota.data.boards import read_leaderboard

    note_unused("a leaderboard", typed_of(options, *GROUPS))
    known = {name: options[name] for name in OF_SCORES}
    if parse_passes(options["metric"]) is not None:
        raise InputError(f"--metric {options['metric']} is for answers in several runs")
    return read_leaderboard(
        tidy,
        n_test=n_test if n_test in (None, "infer") else whole_number(n_test),
        n_classifiers=None if classifiers is None else parse_tries(classifiers),
        submissions=parse_submissions(submissions),
        **known,
    )


def _tasks(tidy: "Tidy", *, n_test: str | None, **options: Any) -> "Leaderboard":
    """Averages over tasks."""
    from bayes_sota.data.boards import read_leaderboard

    used = ("metric", "percent", *GROUPS)
    note_unused(
        "averages over tasks", typed_of(options, *(name for name in options if name not in used))
    )
    known = {name: options[name] for name in ("metric", "percent", *GROUPS)}
    return read_leaderboard(tidy, n_test=_sizes_of_tasks(n_test), **known)


def _outcomes(tidy: "Tidy", **options: Any) -> "Outcomes":
    """Answers or numbers of items."""
    from bayes_sota.data.answers import outcomes_of

    used = ("metric", *GROUPS)
    note_unused("answers", typed_of(options, *(name for name in options if name not in used)))
    return outcomes_of(tidy, **{name: options[name] for name in used})


def _sizes_of_tasks(text: str | None) -> int | list[int] | dict[str, int] | None:
    """Items of tasks: one number, one for each, or by the names of the tasks.

    Examples
    --------
    >>> _sizes_of_tasks("100"), _sizes_of_tasks("100,200"), _sizes_of_tasks("law:100,art:50")
    (100, [100, 200], {'law': 100, 'art': 50})
    """
    if text is None:
        return None
    if text == "infer":
        raise InputError("--n-test infer is for a column of scores; tasks need their numbers")
    parts = [part.rpartition(":") for part in text.split(",")]
    named = [bool(colon) for _, colon, _ in parts]
    if any(named) != all(named):
        raise InputError(f"--n-test has a number for each task as 100,200 or A:100,B:200: {text!r}")
    sizes = [whole_number(size) for _, _, size in parts]
    if all(named):
        return dict(zip((name.strip() for name, _, _ in parts), sizes, strict=True))
    return sizes if len(sizes) > 1 else sizes[0]


def parse_submissions(text: str | None) -> int | tuple[int, int] | None:
    """A number, or a range ``A:B``.

    Examples
    --------
    >>> parse_submissions("12"), parse_submissions("1:100"), parse_submissions(None)
    (12, (1, 100), None)
    """
    return None if text is None else parse_tries(text, "--submissions")


def refuse(what: str, typed: Iterable[str]) -> None:
    """Raise ``InputError`` if options were typed which have no effect on ``what``."""
    refuse_unused(what, dict.fromkeys(typed, True))


def typed_of(options: dict[str, Any], *names: str) -> list[str]:
    """Those of some options that were typed."""
    given = [name for name in names if options[name] not in (_DEFAULTS.get(name), ())]
    return ["--" + name.replace("_", "-") for name in given]


def size_of_board(text: str | None, metric: str | None, n_positive: int | None) -> Any:
    """Number of test items as typed: needed for accuracies and AUCs; infer for accuracies."""
    if text is None and metric in (None, "accuracy"):
        raise InputError(
            "--n-test is missing: the number of test items, or infer; scores in several rounds or "
            "data sets are for bayes-sota epp"
        )
    if metric == "auc" and text in (None, "infer"):
        raise InputError("--n-test is missing: AUCs do not tell the number of items")
    size: Any = text if text is None or text == "infer" else whole_number(text)
    if metric == "auc":
        check_positives(n_positive, size)
    return size


def whole_number(text: str) -> int:
    """Number of test items as typed."""
    try:
        return int(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise InputError(f"--n-test takes a whole number or infer, got {text!r}") from None
