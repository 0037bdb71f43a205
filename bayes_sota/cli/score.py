"""``bayes-sota score``. Imports no PyMC."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import data
from bayes_sota.cli.options import KNOWN, READING, InputFile, command, note_unused, option
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import COUNT, COUNT_OR_NONE
from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report


@command(uses="new average metric known reading prob top", example="score --right 48 --n-test 50")
@click.argument("files", nargs=-1, type=InputFile())
@option("--n-test", limits=COUNT, help="Items, with --right.")
@option("--right", limits=COUNT_OR_NONE, help="Number of correct answers, instead of FILES.")
def score(
    files: tuple[Path, ...],
    right: int | None,
    n_test: int | None,
    new: Any,
    metric: str | None,
    average: Any,
    prob: float,
    known: dict[str, Any],
    reading: dict[str, Any],
) -> Answer:
    """How good one classifier is, by itself: its skill, with an interval.

    FILES have answers, as for claim responses: a row per item and a column per classifier, or a row
    for each model, item and run with tasks and clusters, or evaluation logs and folders of logs.
    The interval holds at 0 of n and n of n, for few items, clusters, tasks and runs. Of several
    classifiers each is by itself.
    """
    from bayes_sota.items.score import skill_of_counts, skills_alone
    from bayes_sota.leaderboard.summary_items import describe_skills

    if not files:
        note_unused("--right", "new", "metric", "average", *KNOWN, *READING)
        if right is None or n_test is None:
            raise InputError("give FILES with answers, or --right K --n-test N")
        report = describe_skills([skill_of_counts(right, n_test)], ci_prob=prob)
        return Answer(report, partial(_draw, report))
    from bayes_sota.cli.reading import with_anchors
    from bayes_sota.data.item_values import parse_passes
    from bayes_sota.leaderboard.anchors import notes_of_anchors, without_luck

    if right is not None:
        raise InputError("give FILES or --right, not both")
    note_unused("FILES", "n_test")
    passes = parse_passes(metric)
    of_log = None if passes else metric
    outcomes: Any = data.read_outcomes(*files, metric=of_log, average=average, **reading)
    asked: Any = new or "items"
    answers = outcomes.is_answers
    about = outcomes.about(asked, passes=passes) if answers and known["known"] else outcomes
    alone = with_anchors(about, known, only=list(known["known"]))
    outcomes, (of_known, doubts) = outcomes.subset(alone.names), notes_of_anchors(alone)
    report = describe_skills(
        without_luck(skills_alone(outcomes, new=asked, passes=passes), alone),
        new=asked if answers or new else outcomes.new,
        ci_prob=prob,
        notes=[*outcomes.notes, *of_known, *doubts],
        average=outcomes.averaging if answers else "items",
        metric=metric or "" if passes or answers else "mean",
    )
    return Answer(report, partial(_draw, report))


def _draw(report: "Report") -> "PlotCollection":
    from bayes_sota.leaderboard.plots import plot_skills

    label = f"skill: mean and {report.content['prob']:.0%} interval"
    return plot_skills(report.content["classifiers"][:20], label).collection
