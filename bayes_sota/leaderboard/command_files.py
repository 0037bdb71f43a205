"""Files that commands take, and the options that say how to read them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import CORRELATION, COUNT, DECIMALS, POSITIVE
from bayes_sota.core.command import (
    check_positives,
    number_option,
    parse_tries,
    tries_option,
)
from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from bayes_sota.core.priors import BoardPriors
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

    Parameters
    ----------
    file : Path
    file_format : str
        One of ``FORMATS``.
    item_metric, label_column : str, optional
        For item scores.
    **options
        ``n_test``, ``score_column``, ``name_column``, ``rounding``, ``decimals``, ``percent``,
        ``metric``, ``standard_error``, ``n_positive``, ``lower_is_better``, ``classifiers`` as
        typed on the command line.
    """
    from bayes_sota.data.read_outcomes import (
        looks_like_item_scores,
        looks_like_responses,
        read_item_scores,
        read_responses,
    )

    numbers = item_metric or label_column or file_format == "item-scores"
    if numbers or (file_format == "auto" and looks_like_item_scores(file)):
        lower = options.pop("lower_is_better") or None
        _refuse_for_matrix({**options, "lower_is_better": False}, "item scores")
        return read_item_scores(
            file, metric=item_metric, label_column=label_column, lower_is_better=lower
        )
    if file_format == "responses" or (file_format == "auto" and looks_like_responses(file)):
        _refuse_for_matrix(options, "a response matrix")
        return read_responses(file)
    return _read_leaderboard(file, file_format, **options)


def _refuse_for_matrix(options: dict[str, Any], what: str) -> None:
    """Options that a matrix has no use for would be ignored silently."""
    defaults = {"rounding": "auto", "metric": "accuracy", "lower_is_better": False}
    for name, value in options.items():
        if value != defaults.get(name):
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} is for leaderboards; this file is {what}")


def _read_leaderboard(
    file: Path,
    file_format: str,
    *,
    n_test: str | None,
    score_column: str | None,
    name_column: str | None,
    rounding: Any,
    decimals: int | None,
    percent: bool | None,
    metric: Any,
    standard_error: float | None,
    n_positive: int | None,
    lower_is_better: bool,
    classifiers: str | None,
) -> "Leaderboard":
    from bayes_sota.data.read_boards import read_leaderboard

    size = size_of_board(n_test, metric)
    if metric == "auc":
        check_positives(n_positive, size)
    columns: Any = {"score_column": score_column, "format": file_format}
    return read_leaderboard(
        file,
        n_test=size,
        name_column=name_column,
        rounding=rounding,
        decimals=decimals,
        percent=percent,
        n_classifiers=None if classifiers is None else parse_tries(classifiers),
        metric=metric,
        standard_error=standard_error,
        n_positive=n_positive,
        lower_is_better=lower_is_better,
        **columns,
    )


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
        number_option(DECIMALS, "--decimals", help="Decimals printed; default as in FILE."),
        click.option(
            "--rounding",
            type=click.Choice(["auto", "nearest", "floor", "exact"]),
            default="auto",
            show_default=True,
            help="How scores were cut; auto: nearest, for a Kaggle download floor, or the other "
            "where only so all scores are possible.",
        ),
        reading_options,
        click.option("--n-test", default=None, help="Number of test items, or infer."),
    ):
        command = option(command)
    return command


def board_priors(rho: float | None) -> "BoardPriors":
    """Priors of a whole leaderboard, with a known rho where there is one."""
    from bayes_sota.core.priors import BoardPriors, FixedCorrelation

    return BoardPriors() if rho is None else BoardPriors(correlation=FixedCorrelation(rho))


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
