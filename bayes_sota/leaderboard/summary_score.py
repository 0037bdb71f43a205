"""What is said of classifiers each by itself. ``tests/leaderboard/test_score.py`` reads it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.text import as_score, as_scores, counted, decimals_for, shown_name
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import Averaged
from bayes_sota.data.outcomes import ABOUT, New
from bayes_sota.items.score import Skill
from bayes_sota.leaderboard.summary_words import flat, report_of

_ALONE = (
    "Each classifier is by itself: nothing allows for the best having been picked; bayes-sota "
    "board does"
)
_WORTH = "worth: so many single answers, right or wrong, would leave the same error."


def describe_skills(
    skills: Sequence[Skill],
    *,
    new: New = "items",
    average: Averaged = "items",
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
    first, (d, kind) = skills[0], _digits(skills[0])
    scores = f"have a {metric} of" if metric.startswith("pass") else "score"
    sentences = [
        f"Expect {shown_name(first.name, 60)} to {scores} "
        f"{as_scores(records[0]['skill'], d, kind)} on many {ABOUT[new]}; here it has "
        f"{as_score(first.score, d, kind)}.",
        _resting(skills, average, ci_prob),
    ]
    if np.isfinite(first.share_of_runs) and len(skills) == 1:
        more, than = ("runs of these", "items") if first.share_of_runs > 0.5 else ("items", "runs")
        sentences.append(
            f"Of the variance of a single run {first.share_of_runs:.0%} is between runs of the "
            f"same items, the rest between items: more {more} would tell more than more {than}."
        )
    columns: dict[str, Any] = {
        "classifier": "name",
        "score": lambda row: as_score(row["score"], *row["digits"]),
        "skill": lambda row: as_score(row["skill"]["mean"], *row["digits"]),
        f"{ci_prob:.0%} interval": lambda row: (
            as_scores(row["skill"], *row["digits"]).partition("(")[2].rstrip(")")
        ),
        "items": lambda row: f"{row['n_items']:,}",
        "worth": lambda row: row["n_effective"] and f"{row['n_effective']:,.0f}",
    }
    rows = [row | {"digits": _digits(skill)} for row, skill in zip(records, skills, strict=True)]
    return report_of(
        {
            "classifiers": records,
            "average": average,
            "new": new,
            "prob": ci_prob,
            "metric": metric or "accuracy",
            "notes": [*notes, *[_ALONE] * (len(skills) > 1)],
        },
        make_frame=lambda: frame_of([flat(record) for record in records]),
        sentences=sentences,
        tables=[table_of(rows, columns)],
        legend=[_WORTH] * any(skill.n_effective != skill.n_items for skill in skills),
        basis=["Each classifier by itself, from its own answers", SOFTWARE],
        measured="alone",
        about=tuple(skills),
    )


def _record(skill: Skill, ci_prob: float) -> dict[str, Any]:
    """What JSON has of one classifier; null where a number does not exist."""
    sd, worth, share = (
        value if np.isfinite(value) else None
        for value in (skill.sd, skill.n_effective, skill.share_of_runs)
    )
    interval = list(skill.interval(ci_prob))
    return {
        "name": skill.name,
        "score": skill.score,
        "skill": {"mean": skill.mean, "sd": sd, "interval": interval},
        **{key: getattr(skill, key) for key in ("n_items", "n_clusters", "n_tasks", "n_runs")},
        "n_effective": worth,
        "share_of_runs": share,
    }


def _digits(skill: Skill) -> tuple[int, str]:
    """Decimals of a score and of a skill, and what kind of score it is."""
    if np.isnan(skill.n_effective):
        return decimals_for(skill.error), "score"
    return max(decimals_for(skill.sd), 3), "accuracy"


def _resting(skills: Sequence[Skill], average: Averaged, ci_prob: float) -> str:
    """What the scores come from."""
    skill = skills[0]
    groups = [
        f"{skill.n_clusters:,} clusters" * (skill.n_clusters != skill.n_items),
        tasks_in_words(skill.n_tasks, average) * (skill.n_tasks > 1),
        f"{skill.n_runs:,} runs" * (skill.n_runs > 1),
    ]
    within = ", ".join(filter(None, groups))
    items = counted(skill.n_items, "item") + (f" ({within})" if within else "")
    many = len(skills) > 1
    return (
        f"{'Scores come' if many else 'The score comes'} from {items}; "
        f"{'ranges are' if many else 'the range is a'} {ci_prob:.0%} interval{'s' * many}."
    )
