"""``bayes-sota score``. Imports no PyMC."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import data
from bayes_sota.cli.options import (
    InputFile,
    Reported,
    command,
    estimate_options,
    interval_option,
    number_option,
    reading_options,
    top_option,
)
from bayes_sota.cli.reading import group_options, metric_option
from bayes_sota.core.arguments import COUNT, COUNT_OR_NONE, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.data.item_values import parse_passes

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report


@command(epilog="Example: bayes-sota score --right 48 --n-test 50")
@click.argument("files", nargs=-1, type=InputFile(folders=True))
@number_option(COUNT, "--n-test", help="Items, with --right.")
@number_option(COUNT_OR_NONE, "--right", help="Number of right answers, instead of FILES.")
@group_options
@reading_options
@metric_option
@top_option(15, "Classifiers shown.")
@interval_option
@estimate_options
def score(
    files: tuple[Path, ...],
    right: int | None,
    n_test: int | None,
    new: Any,
    metric: str | None,
    average: Any,
    top: int,
    ci_prob: float,
    shown: Reported,
    reading: dict[str, Any],
) -> int:
    """How good one classifier is, by itself: its skill, with an interval.

    FILES have answers, as for claim responses: a row per item and a column per classifier, or a row
    for each model, item and run with tasks and clusters, or evaluation logs and folders of logs.
    The interval holds at 0 of n and n of n, for few items, clusters, tasks and runs. Of several
    classifiers each is by itself.
    """
    from bayes_sota.items.score import skill_of_counts, skills_alone
    from bayes_sota.leaderboard.summary_score import describe_skills

    chosen: Any = "items" if new is None else new
    if not files:
        typed = {"--new": new, "--metric": metric, "--average": average}
        refuse_unused("--right", typed | {"--column": reading or None})
        if right is None or n_test is None:
            raise InputError("give FILES with answers, or --right K --n-test N")
        report = describe_skills([skill_of_counts(right, n_test)], ci_prob=ci_prob)
        return shown.deliver(report, top, partial(_draw, report))
    refuse_unused("FILES", {"--right": right, "--n-test": n_test})
    passes = parse_passes(metric)
    named = None if passes else metric
    outcomes = data.read_outcomes(*files, metric=named, average=average, **reading)
    skills = skills_alone(outcomes, new=chosen, passes=passes)
    report = describe_skills(
        skills,
        new=chosen if outcomes.is_answers or new else outcomes.new,
        ci_prob=ci_prob,
        notes=outcomes.notes,
        average=outcomes.averaging if outcomes.is_answers else "items",
        metric=metric or "" if passes or outcomes.is_answers else "mean",
    )
    return shown.deliver(report, top, partial(_draw, report))


def _draw(report: "Report") -> "PlotCollection":
    from bayes_sota.leaderboard.plots import draw_intervals

    rows = report.content["classifiers"][:20]
    return draw_intervals(rows, f"skill: mean and {report.content['prob']:.0%} interval")
