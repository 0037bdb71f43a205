"""What is said of classifiers each by itself. ``tests/leaderboard/test_score.py`` reads it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import (
    as_score,
    as_scores,
    as_sentences,
    counted,
    decimals_for,
    shown_name,
)
from bayes_sota.data.outcomes import ABOUT, New
from bayes_sota.items.score import Skill

_ALONE = (
    "Each classifier is by itself: nothing allows for the best having been picked; bayes-sota "
    "board does"
)
_WORTH = "worth: so many single answers, right or wrong, would leave the same error."


def describe_skills(
    skills: Sequence[Skill],
    *,
    new: New = "items",
    average: str = "items",
    ci_prob: float = 0.95,
    notes: Sequence[str] = (),
    metric: str = "",
) -> Report:
    """Describe the skills of classifiers, each by itself.

    Parameters
    ----------
    skills : sequence of Skill
    new : {"items", "runs", "tasks"}
        What the skills are about.
    average : {"items", "tasks", "weights"}
        What counts equally in a score.
    ci_prob : float
        Probability of the intervals.
    notes : sequence of str
        What a reader should know.
    metric : str
        What the scores are, where they are not right answers.
    """
    skills = sorted(skills, key=lambda skill: -skill.score)
    records = [_record(skill, ci_prob) for skill in skills]
    first, sure = skills[0], f"{ci_prob:.0%} interval"
    notes = [*notes, *[_ALONE] * (len(skills) > 1)]
    sentences = [_expected(first, new, ci_prob, metric), _resting(skills, sure, average)]
    if not np.isnan(first.share_of_runs) and len(skills) == 1:
        sentences.append(_runs_or_items(first))
    return Report(
        content={
            "classifiers": records,
            "average": average,
            "new": new,
            "prob": ci_prob,
            "metric": metric or "accuracy",
            "notes": notes,
        },
        make_frame=partial(_frame, records),
        tables=[Table.of([_cells(skill, sure, ci_prob) for skill in skills])],
        sentences=sentences,
        paragraph=[*sentences, *as_sentences(notes)],
        legend=[_WORTH] * any(skill.n_effective != skill.n_items for skill in skills),
        basis=["Each classifier by itself, from its own answers", SOFTWARE],
        notes=notes,
        measured="alone",
        about=tuple(skills),
    )


def _record(skill: Skill, ci_prob: float) -> dict[str, Any]:
    """What JSON has of one classifier; null where a number does not exist."""

    def known(value: float) -> float | None:
        return None if not np.isfinite(value) else value

    return {
        "name": skill.name,
        "score": skill.score,
        "skill": {
            "mean": skill.mean,
            "sd": known(skill.sd),
            "interval": list(skill.interval(ci_prob)),
        },
        **{key: getattr(skill, key) for key in ("n_items", "n_clusters", "n_tasks", "n_runs")},
        "n_effective": known(skill.n_effective),
        "share_of_runs": known(skill.share_of_runs),
    }


def _frame(records: Sequence[dict[str, Any]]) -> Any:
    rows = []
    for record in records:
        skill = record["skill"]
        low, high = skill["interval"]
        rest = {key: value for key, value in record.items() if key != "skill"}
        rows.append(rest | {"mean": skill["mean"], "sd": skill["sd"], "lower": low, "upper": high})
    return frame_of(rows)


def _digits(skill: Skill) -> tuple[int, str]:
    """Decimals of a score and of a skill, and what kind of score it is."""
    if np.isnan(skill.n_effective):
        return decimals_for(skill.error), "score"
    return max(decimals_for(skill.sd), 3), "accuracy"


def _expected(skill: Skill, new: New, ci_prob: float, metric: str) -> str:
    d, kind = _digits(skill)
    said = {"mean": skill.mean, "interval": skill.interval(ci_prob)}
    scores = f"have a {metric} of" if metric.startswith("pass") else "score"
    return (
        f"Expect {shown_name(skill.name, 60)} to {scores} {as_scores(said, d, kind)} on "
        f"many {ABOUT[new]}; here it has {as_score(skill.score, d, kind)}."
    )


def _resting(skills: Sequence[Skill], sure: str, average: str) -> str:
    """What the scores come from, and how many items one alone is worth."""
    skill = skills[0]
    of = [f"{counted(skill.n_items, 'item')}"]
    of += [f"{skill.n_clusters:,} clusters"] * (skill.n_clusters != skill.n_items)
    how = {"items": "", "tasks": " that count the same", "weights": " with weights of their own"}
    of += [f"{skill.n_tasks:,} tasks{how[average]}"] * (skill.n_tasks > 1)
    of += [f"{skill.n_runs:,} runs"] * (skill.n_runs > 1)
    first, *rest = of
    within = f" ({', '.join(rest)})" if rest else ""
    if len(skills) > 1:
        return f"Scores come from {first}{within}; ranges are {sure}s."
    said = f"The score comes from {first}{within}"
    if np.isfinite(skill.n_effective) and rest:
        said += f"; its error is that of {skill.n_effective:,.0f} single answers"
    return f"{said}; the range is a {sure}."


def _runs_or_items(skill: Skill) -> str:
    share = skill.share_of_runs
    return (
        f"Of the variance of a single run {share:.0%} is between runs of the same items, the rest "
        f"between items: {'runs of these' if share > 0.5 else 'more items'} would tell more than "
        f"{'more items' if share > 0.5 else 'more runs'}."
    )


def _cells(skill: Skill, sure: str, ci_prob: float) -> dict[str, str]:
    """What people read of a classifier, by the headings of its columns."""
    d, metric = _digits(skill)
    low, high = (as_score(x, d, metric) for x in skill.interval(ci_prob))
    return {
        "classifier": skill.name,
        "score": as_score(skill.score, d, metric),
        "skill": as_score(skill.mean, d, metric),
        sure: f"{low.removesuffix(' %')} to {high}",
        "items": f"{skill.n_items:,}",
        "worth": "" if np.isnan(skill.n_effective) else f"{skill.n_effective:,.0f}",
    }
