"""Files that commands take, the options that say how to read them, and how reports are printed."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import CORRELATION, COUNT, DECIMALS, POSITIVE
from bayes_sota.core.command import (
    check_positives,
    echo_json,
    echo_table,
    echo_verdict,
    number_option,
    parse_tries,
    tries_option,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text

if TYPE_CHECKING:
    from bayes_sota.core.priors import Priors
    from bayes_sota.data.item_scores import ItemScores
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.data.responses import Responses


FORMATS = ("auto", "csv", "tsv", "json", "parquet", "kaggle", "responses", "item-scores")


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a file: its format, columns, metric."""
    for option in (
        number_option(POSITIVE, "--standard-error", help="Error of one score."),
        click.option(
            "--metric",
            type=click.Choice(["accuracy", "auc", "score"]),
            default="accuracy",
            show_default=True,
            help="accuracy is right answers / items; auc needs --n-positive; score anything else, "
            "with --standard-error.",
        ),
        number_option(COUNT, "--n-positive", help="Positive test items, for auc."),
        click.option(
            "--lower-is-better", is_flag=True, help="Errors and losses, for --metric score."
        ),
        click.option("--percent", is_flag=True, default=None, help="Scores are in percent."),
        click.option("--name-column", default=None, help="Column of the names."),
        click.option("--score-column", default=None, help="Column of the scores."),
        click.option(
            "--format",
            "file_format",
            type=click.Choice(FORMATS),
            default="auto",
            show_default=True,
            help="Format of a leaderboard; responses is a matrix of right and wrong answers, "
            "item-scores one of numbers, with a label column for AUC.",
        ),
        click.option(
            "--item-metric",
            type=click.Choice(["auc", "mean", "rmse"]),
            default=None,
            help="What item scores are made into; default auc with labels, else mean.",
        ),
        click.option("--label-column", default=None, help="Column of 0 and 1, of item scores."),
    ):
        command = option(command)
    return command


def read_file(
    file: Path,
    file_format: str,
    *,
    item_metric: Any = None,
    label_column: str | None = None,
    **options: Any,
) -> "Leaderboard | Responses | ItemScores":
    """Leaderboard, response matrix or item scores of a file, recognised by its content.

    ``options`` are those of ``field_options``, as typed on the command line.
    """
    from bayes_sota.data import read_outcomes
    from bayes_sota.data.read_boards import read_leaderboard

    auto = file_format == "auto"
    numbers = item_metric or label_column or file_format == "item-scores"
    if numbers or (auto and read_outcomes.looks_like_item_scores(file)):
        lower = options.pop("lower_is_better") or None
        _refuse_for_matrix(options, "item scores")
        return read_outcomes.read_item_scores(
            file, metric=item_metric, label_column=label_column, lower_is_better=lower
        )
    if file_format == "responses" or (auto and read_outcomes.looks_like_responses(file)):
        _refuse_for_matrix(options, "a response matrix")
        return read_outcomes.read_responses(file)
    tries, metric = options.pop("classifiers", None), options["metric"]
    size = size_of_board(options.pop("n_test"), metric)
    if metric == "auc":
        check_positives(options["n_positive"], size)
    return read_leaderboard(
        file,
        format=file_format,  # type: ignore[arg-type]
        n_test=size,
        n_classifiers=None if tries is None else parse_tries(tries),
        **options,
    )


def _refuse_for_matrix(options: dict[str, Any], what: str) -> None:
    """Options that a matrix has no use for would be ignored silently."""
    defaults = {"rounding": "auto", "metric": "accuracy", "lower_is_better": False}
    for name, value in options.items():
        if value != defaults.get(name):
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} is for leaderboards; this file is {what}")


def size_of_board(text: str | None, metric: str) -> Any:
    """Number of test items as typed: needed for accuracies and AUCs; infer for accuracies."""
    if text is None and metric == "accuracy":
        raise InputError("--n-test is missing: the number of test items, or infer")
    if metric == "auc" and text in (None, "infer"):
        raise InputError("--n-test is missing: AUCs do not tell the number of items")
    return text if text is None or text == "infer" else parse_size(text)


def field_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a whole leaderboard: how FILE is read, and what is assumed of its field."""
    for option in (
        number_option(CORRELATION, "--pairwise-correlation", help="Known rho^2."),
        number_option(CORRELATION, "--correlation", help="Known rho instead of its prior."),
        tries_option,
        click.option(
            "--classifiers", default=None, help="Number or range A:B; default those in FILE."
        ),
        rounding_options,
        reading_options,
        click.option("--n-test", default=None, help="Number of test items, or infer."),
    ):
        command = option(command)
    return command


def rounding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How scores were cut to their digits."""
    for option in (
        number_option(DECIMALS, "--decimals", help="Decimals printed; default as given."),
        click.option(
            "--rounding",
            type=click.Choice(["auto", "nearest", "floor", "exact"]),
            default="auto",
            show_default=True,
            help="How scores were cut; auto: what all scores of FILE allow (a Kaggle download "
            "floors), nearest for a typed number.",
        ),
    ):
        command = option(command)
    return command


def priors_with(rho: float | None) -> "Priors":
    """Priors by default, with a known rho where there is one."""
    from bayes_sota.core.priors import FixedCorrelation, Priors

    return Priors(correlation=None if rho is None else FixedCorrelation(rho))


def parse_size(text: str) -> int:
    """Number of test items.

    Examples
    --------
    >>> parse_size("13,840")
    13840
    """
    try:
        return int(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise InputError(f"--n-test takes a whole number or infer, got {text!r}") from None


def echo_report(report: Any, as_json: bool, quiet: bool, top: int | None = None) -> int:
    """Print the tables of a report, what is below them, and its notes; exit code 1 for no trust.

    ``report`` is a ``ResultTable`` with ``titles()``, ``notes`` and ``footer()``.
    """
    if as_json:
        echo_json(report.to_dict())
        return echo_verdict(report.reasons)
    for title, (header, rows) in zip(report.titles(top), report.tables(top), strict=True):
        echo_table(header, rows, title)
    for line in report.legend(top):
        click.echo(plain_text(line))
    if not quiet:
        for note in report.notes:
            click.echo(f"Note: {plain_text(note)}")
        for line in report.footer():
            click.echo(plain_text(line))
    return echo_verdict(report.reasons)
