"""How ``bayes-sota epp`` reads its files, and the options that say so."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import NOT_NEGATIVE
from bayes_sota.core.command_options import number_option
from bayes_sota.core.command_types import InputFile
from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from bayes_sota.data.matches import Matches
    from bayes_sota.data.score_table import ScoreTable

__all__ = ["read_tournaments", "reading_score_options"]

_COLUMNS = (
    ("--player-column", "Column of the players."),
    ("--round-column", "Column of the rounds: folds, splits, tasks, data sets."),
    ("--score-column", "Column of the scores, or metric of cv_results_ or an evaluation."),
    ("--tournament-column", "Column of the tournaments: one leaderboard each."),
    ("--group-column", "Column of what rounds that depend on each other have in common."),
    ("--cluster-column", "Column of what battles have in common: prompt, judge, session."),
)


def reading_score_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a table of scores: format, orientation, columns, direction, local ROPE."""
    for option in (
        click.option(
            "--unpaired-folds", is_flag=True,
            help="With --local-rope: folds were not the same for all players.",
        ),
        click.option(
            "--sds", type=InputFile(), default=None,
            help="Standard deviations over folds; FILE then holds the means.",
        ),
        number_option(
            NOT_NEGATIVE, "--local-rope",
            help="Players tie in a group of folds, or with --sds in a round, if they differ by "
            "less than so many standard deviations of the folds. Usual: 0.4.",
        ),
        click.option(
            "--lower-is-better-in", "lower_rounds", multiple=True, metavar="ROUND",
            help="A round whose lower scores are better; may be repeated.",
        ),
        click.option("--lower-is-better", is_flag=True, help="Scores are errors or losses."),
        *(click.option(name, default=None, help=text) for name, text in reversed(_COLUMNS)),
        click.option(
            "--players", type=click.Choice(["auto", "rows", "columns"]), default="auto",
            show_default=True, help="Where the players of a wide table are.",
        ),
        click.option(
            "--format", "file_format",
            type=click.Choice(["auto", "wide", "long", "battles", "cv_results", "lm_eval"]),
            default="auto", show_default=True, help="Format of FILES.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def read_tournaments(
    files: tuple[Path, ...],
    *,
    file_format: str,
    lower_is_better: bool,
    lower_rounds: tuple[str, ...],
    local_rope: float | None,
    sds: Path | None,
    unpaired_folds: bool,
    **columns: Any,
) -> tuple[list["ScoreTable | Matches"], list[str]]:
    """Tournaments of the files, and what a user should know about how they were read."""
    from bayes_sota.data.read_scores import read_noted_scores
    from bayes_sota.epp.local_rope import THRESHOLD

    if lower_is_better and lower_rounds:
        raise InputError("--lower-is-better is for all rounds: leave out --lower-is-better-in")
    options = {
        "format": file_format, "lower_is_better": lower_is_better or lower_rounds, **columns
    }  # fmt: skip
    source: Any = files[0] if len(files) == 1 else list(files)
    if sds is not None:
        chosen = THRESHOLD if local_rope is None else local_rope
        note = (
            f"players tie in a round if they differ by less than {chosen:g} standard "
            "deviations of the folds (--local-rope)"
        )
        return [_from_means(source, sds, chosen, unpaired_folds, options)], [note]
    found = read_noted_scores(source, **options)
    scores = found.scores
    tables: list[ScoreTable | Matches] = (
        list(scores.values()) if isinstance(scores, dict) else [scores]
    )
    if local_rope is not None:
        matches = [_from_folds(table, local_rope, not unpaired_folds) for table in tables]
        return list(matches), list(found.notes)
    if unpaired_folds:
        raise InputError("--unpaired-folds is for --local-rope")
    pointed_out = [] if lower_is_better else _look_like_errors(tables)
    return tables, [*found.notes, *pointed_out]


def _from_means(
    source: Any, sds: Path, threshold: float, unpaired: bool, options: dict[str, Any]
) -> "Matches":
    from bayes_sota.epp.local_rope import local_rope_matches_of_means, read_means

    if unpaired:
        raise InputError("--unpaired-folds is for scores of folds: --sds has no folds")
    means, deviations = read_means(source, sds, **options)
    return local_rope_matches_of_means(means, deviations, threshold=threshold)


def _look_like_errors(tables: "list[ScoreTable | Matches]") -> list[str]:
    """Rounds whose names say that lower is better, taken as higher is better."""
    from bayes_sota.data.columns import is_loss
    from bayes_sota.data.score_table import ScoreTable

    found = [
        label
        for table in tables
        if isinstance(table, ScoreTable)
        for label, lower in zip(table.rounds, table.lower_is_better, strict=True)
        if not lower and is_loss(label)
    ]
    if not found:
        return []
    return [
        f"{found[0]} looks like an error; higher is taken as better: --lower-is-better-in names "
        "rounds where it is not"
    ]


def _from_folds(table: "ScoreTable | Matches", threshold: float, paired: bool) -> "Matches":
    from bayes_sota.data.matches import Matches
    from bayes_sota.epp.local_rope import local_rope_matches

    if isinstance(table, Matches):
        raise InputError("--local-rope is for scores of folds: these are battles")
    if table.groups is None:
        raise InputError(
            "--local-rope takes scores in several folds of every data set: --group-column names "
            "the data sets; means and standard deviations are given by FILE and --sds"
        )
    return local_rope_matches(table, threshold=threshold, paired=paired)
