"""``bayes-sota score``. Imports no PyMC."""

from pathlib import Path
from typing import Any

import click

from bayes_sota import leaderboard
from bayes_sota.cli.options import KNOWN, READING, Input, command, note_unused, option
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import COUNT, COUNT_OR_NONE
from bayes_sota.core.errors import InputError


@command(uses="new average metric known reading prob top", example="score --right 48 --n-test 50")
@click.argument("files", nargs=-1, type=Input())
@option("--n-test", limits=COUNT, help="Items, with --right.")
@option("--right", limits=COUNT_OR_NONE, help="Number of correct answers, instead of FILES.")
def score(
    files: tuple[Path, ...], right: int | None, n_test: int | None, prob: float, **asked: Any
) -> Answer:
    """How good one classifier is, by itself: its skill, with an interval.

    FILES have answers, as for claim responses: a row per item and a column per classifier, or a row
    for each model, item and run with tasks and clusters, or evaluation logs and folders of logs; or
    results of lm-evaluation-harness. The interval is valid at 0 of n and n of n, and
    with few items, clusters, tasks or runs. Several classifiers are estimated one by one.
    """
    from bayes_sota.items.score import skill_of_counts
    from bayes_sota.leaderboard.summary_items import describe_skills

    if files:
        if right is not None:
            raise InputError("give FILES or --right, not both")
        note_unused("with FILES", "n_test")
        skills, described = _of_files(files, **asked)
    else:
        note_unused("with --right", "new", "metric", "average", *KNOWN, *READING)
        if right is None or n_test is None:
            raise InputError("give FILES with answers, or --right K --n-test N")
        skills, described = [skill_of_counts(right, n_test)], {}
    report = describe_skills(skills, ci_prob=prob, **described)
    shown = report.content["classifiers"][:20]
    return Answer(report, lambda: leaderboard.plot_skills(shown, prob))


def _of_files(
    files: tuple[Path, ...], new: Any, metric: Any, average: Any, known: Any, reading: Any
) -> tuple[list[Any], dict[str, Any]]:
    """Skills, and the facts that their report prints."""
    from bayes_sota.cli.reading import with_anchors
    from bayes_sota.data.answers import outcomes_of, scores_of_items
    from bayes_sota.data.item_values import parse_passes
    from bayes_sota.items.score import has_counts, skills_alone, skills_of_shares
    from bayes_sota.leaderboard.anchors import notes_of_anchors, without_luck

    passes = parse_passes(metric)
    tidy = scores_of_items(files, metric, **reading)
    if new in (None, "items") and has_counts(tidy):
        note_unused("on scores with numbers of items", *KNOWN)
        described: Any = {"notes": [tidy.sentence, *tidy.notes]}
        described["average"] = "weights" if isinstance(average, dict) else average or "tasks"
        return skills_of_shares(tidy, average), described
    outcomes: Any = outcomes_of(tidy, metric=None if passes else metric, average=average)
    asked: Any = new or "items"
    answers = outcomes.is_answers
    about = outcomes.about(asked, passes=passes) if answers and known["known"] else outcomes
    alone = with_anchors(about, known, only=list(known["known"]))
    outcomes, (of_known, doubts) = outcomes.subset(alone.names), notes_of_anchors(alone)
    skills = without_luck(skills_alone(outcomes, new=asked, passes=passes), alone)
    return skills, {
        "new": asked if answers or new else outcomes.new,
        "notes": [*outcomes.notes, *of_known],
        "reasons": doubts,
        "average": outcomes.averaging if answers else "items",
        "metric": metric or "" if passes or answers else "mean",
    }
