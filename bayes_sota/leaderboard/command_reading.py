"""Options of commands that read a leaderboard, answers or item scores, and what they read."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import (
    CORRELATION,
    COUNT,
    POSITIVE,
    refuse_unused,
)
from bayes_sota.core.command import (
    auc_options,
    check_positives,
    choice_option,
    domain_option,
    field_option,
    model_option,
    number_option,
    parse_ratio,
    parse_tries,
    together,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown_path
from bayes_sota.data.command import (
    group_options,
    missing_option,
    parse_average,
    parse_passes,
)
from bayes_sota.data.printed_scores import parse_number

if TYPE_CHECKING:
    from bayes_sota.data.item_scores import ItemScores
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.data.outcomes import Outcomes
    from bayes_sota.data.readers.outcomes import Evaluations

_METRICS = ["accuracy", "auc", "score"]
GROUPS = ("task_column", "cluster_column", "run_column", "average", "leave_out", "new")
"""Options of items in groups."""
_OF_ITEMS = ("task_column", "cluster_column", "run_column", "leave_out")
OF_RHO = ("model", "domain", "field")
"""Options that say which prior of rho is taken."""
OWN_SIZES = ("stderr_column", "n_test_column")
"""Options of entries with their own error or number of items."""
_DEFAULTS = {
    "rounding": "auto",
    "lower_is_better": False,
    "missing": "refuse",
}


class _Metric(click.Choice[str]):
    """Metrics of a leaderboard; a log has others, which only its reader knows."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return value


reading_options = together(
    click.option(
        "--task-columns",
        metavar="A,B,...",
        help="Columns of the tasks of which the scores are averages (--average); --n-test is one "
        "number, one for each (100,200 or A:100,B:200), or --n-test-column A_n,B_n.",
    ),
    click.option("--n-test-column", help="Column of the number of test items of each entry."),
    click.option(
        "--stderr-column",
        help="Column of the standard error of each score; default one called so beside the scores, "
        "where --n-test is not given.",
    ),
    number_option(POSITIVE, "--standard-error", help="Error of one score."),
    click.option(
        "--metric",
        type=_Metric([*_METRICS, "pass@K", "pass^K"]),
        metavar="NAME",
        help="accuracy is right answers / items (default, unless the column of scores is called "
        "otherwise); auc needs --n-positive; score anything else, with --standard-error; pass@K or "
        "pass^K of answers in several runs; or a metric or scorer of an evaluation log.",
    ),
    auc_options,
    number_option(COUNT, "--n-positive", help="Positive test items, for auc."),
    click.option("--lower-is-better", is_flag=True, help="Errors and losses, for --metric score."),
    click.option("--percent", is_flag=True, default=None, help="Scores are in percent."),
    missing_option,
    click.option("--name-column", help="Column of the names."),
    click.option("--score-column", help="Column of the scores."),
    click.option(
        "--item-metric",
        type=click.Choice(["auc", "mean", "rmse"]),
        help="What item scores are made into; default auc with labels, else mean.",
    ),
    click.option("--label-column", help="Column of 0 and 1, of item scores."),
    group_options,
)
"""Options of a file: its format, columns, metric."""

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
    help="Submissions behind each entry, of which it shows the best: column, number or range A:B; "
    "default the column of a Kaggle download of a public board.",
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
    reading_options,
    click.option("--n-test", help="Number of test items, or infer."),
)
"""Options of a whole leaderboard: how FILE is read, and what is assumed of its field."""


def read_file(
    file: Path,
    *,
    item_metric: Any = None,
    label_column: str | None = None,
    **options: Any,
) -> "Leaderboard | Outcomes":
    """Leaderboard, answers or item scores of a file or a folder of logs, by the content.

    ``options`` are those of ``field_options``, as typed on the command line.
    """
    from bayes_sota.data.formats.lm_evaluation import result_files
    from bayes_sota.data.readers import outcomes
    from bayes_sota.data.readers.logs import looks_like_logs

    groups = {name: options.pop(name, None) for name in GROUPS}
    groups["leave_out"] = groups["leave_out"] or ()
    task_columns = split_names(options.pop("task_columns"))
    of_items = {"item_metric": item_metric, "label_column": label_column}
    results = result_files(file)
    if results or task_columns:
        note_unused("averages over tasks", of_items | groups, (*of_items, *_OF_ITEMS))
        if results:
            return _read_results(results, task_columns, groups, **options)
        return _read_tasks(file, task_columns or [], groups, **options)
    if looks_like_logs(file):
        note_unused("an evaluation log", of_items, tuple(of_items))
        return _read_logs(file, options, groups)
    passes = parse_passes(options["metric"])
    if options["metric"] not in (None, *_METRICS) and passes is None:
        raise InputError(
            f"--metric is {', '.join(_METRICS)}, pass@K or pass^K, or a metric of an evaluation "
            f"log; {shown_path(file)} is none, got {options['metric']!r}"
        )
    if any(of_items.values()) or outcomes.looks_like_item_scores(file):
        return _read_numbers(file, of_items, options, groups)
    named = any(groups[name] for name in GROUPS[:3])
    if named or outcomes.looks_like_responses(file):
        options["metric"] = None if passes else options["metric"]
        _refuse_for_matrix(options, "a response matrix")
        new, average = groups.pop("new"), parse_average(groups["average"])
        answers = outcomes.read_responses(file, **groups | {"average": average})
        return answers.about(new or "items", passes=passes) if new or passes else answers
    note_unused("a leaderboard", groups, GROUPS)
    if passes is not None:
        raise InputError(f"--metric {options['metric']} is for answers in several runs")
    return _read_entries(file, **options)


def _read_entries(
    file: Path,
    *,
    n_test: str | None,
    classifiers: str | None = None,
    submissions: str | None,
    spread_ratio: str | None = None,
    **options: Any,
) -> "Leaderboard":
    """A row per entry."""
    from bayes_sota.data.readers.boards import read_entries, read_leaderboard

    metric, own = options["metric"], False
    if n_test is None and metric != "score":  # without scores, that is what is wrong
        of = {name: options[name] for name in ("score_column", *OWN_SIZES)}
        entries = read_entries(file, **of)
        own = metric != "auc" and (entries.errors or entries.sizes) is not None
    size = None if own else size_of_board(n_test, metric, options["n_positive"])
    if metric == "score":
        note_unused("scores with errors of their own", options, ("percent", "rounding"))
    return read_leaderboard(
        file,
        n_test=size,
        submissions=parse_submissions(submissions),
        n_classifiers=None if classifiers is None else parse_tries(classifiers),
        spread_ratio=parse_ratio(spread_ratio),
        **options,
    )


def _read_numbers(
    file: Path, of_items: dict[str, Any], options: dict[str, Any], groups: dict[str, Any]
) -> "ItemScores":
    """Numbers of items."""
    from bayes_sota.data.readers.outcomes import read_item_scores

    lower = options.pop("lower_is_better") or None
    _refuse_for_matrix(options, "item scores")
    note_unused("item scores", groups, ("run_column",))
    refuse("item scores", groups, ("leave_out",))
    scores = read_item_scores(
        file,
        metric=of_items["item_metric"],
        label_column=of_items["label_column"],
        lower_is_better=lower,
        cluster_column=groups["cluster_column"],
        task_column=groups["task_column"],
        average=parse_average(groups["average"]),
    )
    return scores.about(groups["new"] or "items")


def _read_logs(file: Path, options: dict[str, Any], groups: dict[str, Any]) -> "Outcomes":
    """Answers of a log, or of all logs in a folder."""
    metric, lower = options.pop("metric"), options.pop("lower_is_better") or None
    _refuse_for_matrix(options, "an evaluation log")
    return read_answers(file, metric=metric, lower_is_better=lower, **groups).outcomes


def read_answers(
    *files: Path, metric: str | None, average: str | None, new: Any, **reading: Any
) -> "Evaluations":
    """Answers of tables or logs, and what skills are about, as typed on the command line."""
    from bayes_sota.data.readers.outcomes import read_evaluations

    passes, known = parse_passes(metric), reading | {"average": parse_average(average)}
    evaluations = read_evaluations(*files, metric=None if passes else metric, **known)
    return evaluations.about(new or "items", passes) if new or passes else evaluations


def _read_tasks(
    file: Path,
    task_columns: list[str],
    groups: dict[str, Any],
    *,
    n_test: str | None,
    stderr_column: str | None,
    n_test_column: str | None,
    **options: Any,
) -> "Leaderboard":
    """Averages over columns of tasks."""
    from bayes_sota.data.readers.task_scores import read_task_scores

    used = ("name_column", "metric", "lower_is_better", "percent", "missing")
    note_unused("averages over tasks", options, [name for name in options if name not in used])
    board = read_task_scores(
        file,
        task_columns=task_columns,
        n_test=_sizes_of_tasks(n_test),
        n_test_columns=split_names(n_test_column),
        stderr_columns=split_names(stderr_column),
        average=parse_average(groups["average"]),
        **{name: options[name] for name in used},
    )
    return board.leaderboard(groups["new"] or "items")


def _read_results(
    files: list[Path],
    tasks: list[str] | None,
    groups: dict[str, Any],
    *,
    n_test: str | None,
    score_column: str | None,
    **options: Any,
) -> "Leaderboard":
    """Averages over the tasks in results of lm-evaluation-harness, a file for each model."""
    from bayes_sota.data.formats.lm_evaluation import read_lm_eval_tasks

    if options["metric"] not in (None, *_METRICS):
        score_column, options["metric"] = options["metric"], None
    refuse("averages over tasks", options, ("lower_is_better",))
    note_unused("averages over tasks", options, list(options))
    board = read_lm_eval_tasks(
        files,
        metric=score_column,
        tasks=tasks,
        n_test=_sizes_of_tasks(n_test),
        average=parse_average(groups["average"]),
    )
    return board.leaderboard(groups["new"] or "items")


def split_names(text: str | None) -> list[str] | None:
    """Names between commas."""
    return None if text is None else [name.strip() for name in text.split(",")]


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


def parse_submissions(text: str | None) -> str | int | tuple[int, int] | None:
    """A number, a range ``A:B``, or the name of a column.

    Examples
    --------
    >>> parse_submissions("12"), parse_submissions("1:100"), parse_submissions("Entries")
    (12, (1, 100), 'Entries')
    """
    if text is None or None in map(parse_number, text.split(":")):
        return text
    return parse_tries(text, "--submissions")


def _refuse_for_matrix(options: dict[str, Any], what: str) -> None:
    """Options of a leaderboard that say what a matrix does not hold; others change nothing."""
    for name in ("metric", "lower_is_better", "task_columns"):
        if name in options and options[name] != _DEFAULTS.get(name):
            raise InputError(f"{_option(name)} is for leaderboards; this file is {what}")
    note_unused(what, options, list(options))


def note_unused(what: str, options: dict[str, Any], names: Iterable[str]) -> None:
    """Say on standard error which of some options were given and change nothing."""
    typed = [_option(name) for name in _typed(options, names)]
    context = click.get_current_context(silent=True)
    if typed and not (context and context.params.get("quiet")):
        click.echo(f"note: no effect on {what}: {', '.join(typed)}", err=True)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def refuse(what: str, options: dict[str, Any], names: Iterable[str]) -> None:
    """Raise ``InputError`` if some options were given, which have no effect on ``what``."""
    refuse_unused(what, {_option(name): options[name] for name in _typed(options, names)})


def _typed(options: dict[str, Any], names: Iterable[str]) -> list[str]:
    """Names of options that were given."""
    return [name for name in names if options[name] not in (_DEFAULTS.get(name), ())]


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
