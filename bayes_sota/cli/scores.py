"""``bayes-sota score`` and ``maximum``, without PyMC."""

from pathlib import Path
from typing import Any

import click

from bayes_sota import auc, leaderboard
from bayes_sota import maximum as room
from bayes_sota.cli.options import Input, command, note_unused, option, with_anchors
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import COUNT, COUNT_OR_NONE, RATIO, SHARE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Uniform

_INDEPENDENT = (
    "the classifiers are assumed independent, unlike real ones; --correlation 0.69 is the mean of "
    "the default prior of sota"
)


@command(uses="new average metric known reading prob top", example="score --right 48 --n-test 50")
@click.argument("files", nargs=-1, type=Input())
@option("--n-test", limits=COUNT, help="Number of items, with --right.")
@option("--right", limits=COUNT_OR_NONE, help="Number of correct answers, instead of FILES.")
def score(
    files: tuple[Path, ...], right: int | None, n_test: int | None, prob: float, **asked: Any
) -> Answer:
    """How good is one model?

    FILES are tables of answers, as for claim responses, evaluation logs and folders of logs, or
    results of lm-evaluation-harness. The interval is valid at 0 of n and n of n, and with few
    items, clusters, tasks or runs. Each classifier is estimated by itself.
    """
    from bayes_sota.items.score import skill_of_counts
    from bayes_sota.leaderboard.summary_entries import describe_skills

    if files:
        if right is not None:
            raise InputError("give FILES or --right, not both")
        note_unused("with FILES", "n_test")
        skills, described = _of_files(files, **asked)
    else:
        note_unused("with --right", "new", "metric", "average", "known", "reading")
        if right is None or n_test is None:
            raise InputError("give FILES with answers, or --right K --n-test N")
        skills, described = [skill_of_counts(right, n_test)], {}
    report = describe_skills(skills, ci_prob=prob, **described)
    shown = report.content["classifiers"][:20]
    return Answer(report, lambda: leaderboard.plot_skills(shown, prob))


def _of_files(
    files: tuple[Path, ...], new: Any, metric: Any, average: Any, known: Any, reading: Any
) -> tuple[list[Any], dict[str, Any]]:
    from bayes_sota.data.answers import outcomes_of, scores_of_items
    from bayes_sota.data.item_values import parse_passes
    from bayes_sota.items.score import has_counts, skills_alone, skills_of_shares
    from bayes_sota.leaderboard.anchors import notes_of_anchors, without_luck

    passes = parse_passes(metric)
    tidy = scores_of_items(files, metric, **reading)
    if new in (None, "items") and has_counts(tidy):
        note_unused("on scores with numbers of items", "known")
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


@command(uses="n_positive prob", example="maximum --n-test 3000 --classifiers 1000 --theta 0.9")
@option("--n-test", limits=COUNT, required=True, help="Number of test items.")
@option("--classifiers", limits=COUNT, required=True, help="Number of classifiers.")
@option("--theta", limits=SHARE, help="Skill of identical classifiers.")
@option("--uniform", limits=SHARE, nargs=2, help="Accuracies uniform from A to B.")
@option("--correlation", limits=SHARE, help="rho with the reference classifier; default 0.")
@option("--metric", choices=["accuracy", "auc"], default="accuracy", help="auc: binormal scores.")
@option("--spread-ratio", limits=RATIO, help="SD of positive scores over that of negative ones.")
def maximum(n_test: int, classifiers: int, metric: str, prob: float, **asked: Any) -> Answer:
    """Exact law of the best observed score of classifiers of known skill.

    Without --correlation the classifiers are independent, unlike real ones; the default prior of
    sota has mean rho 0.69.
    """
    theta, uniform, positive = asked["theta"], asked["uniform"], asked["n_positive"]
    if (theta is None) == (uniform is None):
        raise InputError("give either --theta T or --uniform A B")
    skill: Any = Uniform(*uniform) if uniform else theta
    given: Any = {"n_classifiers": classifiers, "correlation": asked["correlation"] or 0.0}
    law: Any
    if metric == "auc":
        if positive is None or uniform:
            raise InputError("an AUC needs --theta and --n-positive, how many items are positive")
        Range(2, n_test - 2, whole=True).check(positive, "n_positive")
        facts = {"n_positive": positive, "spread_ratio": asked["spread_ratio"] or 1.0}
        law = auc.auc_maximum_law(theta, n_negative=n_test - positive, **facts, **given)
        facts["metric"] = "auc"
    else:
        note_unused("on accuracies", "n_positive", "spread_ratio")
        law = room.maximum_law(n_test=n_test, skill=skill, **given)
        facts = {"reference_skill": law.reference_skill}
    facts |= {"n_test": n_test, "skills": list(uniform or [theta]), **given}
    notes = [_INDEPENDENT] if asked["correlation"] is None else []
    report = room.describe_maximum(law, facts, ci_prob=prob, notes=notes)
    return Answer(report, lambda: room.plot_maximum_law(law, ci_prob=prob))
