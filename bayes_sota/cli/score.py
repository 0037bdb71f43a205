"""``bayes-sota score``. Imports no PyMC."""

from pathlib import Path
from typing import Any

import click

from bayes_sota import data, leaderboard
from bayes_sota.cli.options import KNOWN, READING, InputFile, command, note_unused, option
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import COUNT, COUNT_OR_NONE
from bayes_sota.core.errors import InputError


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
    The interval holds at 0 of n and n of n, for few items, clusters, tasks and runs. Several
    classifiers are estimated one by one.
    """
    from bayes_sota.items.score import skill_of_counts, skills_alone
    from bayes_sota.leaderboard.summary_items import describe_skills

    if files:
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
        skills = without_luck(skills_alone(outcomes, new=asked, passes=passes), alone)
        described = {
            "new": asked if answers or new else outcomes.new,
            "notes": [*outcomes.notes, *of_known, *doubts],
            "average": outcomes.averaging if answers else "items",
            "metric": metric or "" if passes or answers else "mean",
        }
    else:
        note_unused("--right", "new", "metric", "average", *KNOWN, *READING)
        if right is None or n_test is None:
            raise InputError("give FILES with answers, or --right K --n-test N")
        skills, described = [skill_of_counts(right, n_test)], {}
    report = describe_skills(skills, ci_prob=prob, **described)
    shown = report.content["classifiers"][:20]
    return Answer(report, lambda: leaderboard.plot_skills(shown, prob))
