"""Reports of skills from answers, of each classifier alone and in each task.

``board_by_task`` shrinks how entries differ in a task towards their mean over all tasks
(``items.by_task``). ``tests/leaderboard/test_summary_items.py`` reads them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, OPEN_SHARE
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.summary import frame_of, summarize_draws
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.text import as_score, as_scores, chance, counted, decimals_for, shown_name
from bayes_sota.core.types import Seed
from bayes_sota.data.leaderboard import Averaged
from bayes_sota.data.outcomes import ABOUT, New, Outcomes
from bayes_sota.items.by_task import TaskComparison, compare_by_task
from bayes_sota.items.score import Skill
from bayes_sota.leaderboard.summary_words import flat, groups_in_words, report_of

_ALONE = "each classifier is judged alone; bayes-sota board allows for having picked the best"
_WORTH = "worth: the number of single answers, right or wrong, with the same standard error."
_SIDE_BY_SIDE = 5  # entries in a table of 120 characters
_TASKS = (
    "Differences between entries are shrunk towards their mean over all tasks, more so in a task "
    "with few items. P: the probability that best is the best of its task. For verdicts that hold "
    "together: bayes-sota claim responses --by task."
)


def describe_skills(
    skills: Sequence[Skill],
    *,
    new: New = "items",
    average: Averaged = "items",
    ci_prob: float = 0.95,
    notes: Sequence[str] = (),
    reasons: Sequence[str] = (),
    metric: str = "",
) -> Report:
    """Describe the skills of classifiers, each by itself.

    ``new`` is what the skills refer to, ``average`` which units have equal weight in a score,
    ``metric`` the name of scores that are not accuracies.
    """
    skills = sorted(skills, key=lambda skill: -skill.score)
    records = [_record(skill, ci_prob) for skill in skills]
    first, (d, kind) = skills[0], _digits(skills[0])
    scores = f"have a {metric} of" if metric.startswith("pass") else "score"
    clusters = None if first.n_clusters == first.n_items else first.n_clusters
    runs = f"{first.n_runs:,} runs" * (first.n_runs > 1)
    within = groups_in_words(first.n_tasks * (first.n_tasks > 1), average, clusters, runs)
    items = counted(first.n_items, "item") + f" ({within})" * bool(within)
    sentences = [
        f"Expect {shown_name(first.name, 60)} to {scores} "
        f"{as_scores(records[0]['skill'], d, kind)} on many {ABOUT[new]}; here it has "
        f"{as_score(first.score, d, kind)}.",
        f"Based on {items}; ranges are {ci_prob:.0%} intervals.",
    ]
    columns: dict[str, Any] = {
        "classifier": "name",
        "score": lambda row: as_score(row["score"], *row["digits"]),
        f"skill ({ci_prob:.0%} interval)": lambda row: as_scores(row["skill"], *row["digits"]),
        "items": lambda row: f"{row['n_items']:,}",
        "worth": lambda row: row["n_effective"] and f"{row['n_effective']:,.0f}",
    }
    rows = [row | {"digits": _digits(skill)} for row, skill in zip(records, skills, strict=True)]
    facts: Any = {"average": average, "new": new, "prob": ci_prob, "metric": metric or "accuracy"}
    facts["diagnostics"] = {"ok": not reasons, "reasons": [*reasons]}
    return report_of(
        {"classifiers": records, **facts, "notes": [*notes, *[_ALONE] * (len(skills) > 1)]},
        make_frame=lambda: frame_of([flat(record) for record in records]),
        sentences=sentences,
        tables=[table_of(rows, columns)],
        legend=[_WORTH] * any(abs(skill.n_effective - skill.n_items) > 0 for skill in skills),
        basis=["Each classifier by itself, from its own answers", SOFTWARE],
        measured="alone",
        about=tuple(skills),
    )


def _record(skill: Skill, ci_prob: float) -> dict[str, Any]:
    """JSON of one classifier; null where a number does not exist."""
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
    """Decimals of a score and of a skill, and the kind of score."""
    if np.isnan(skill.n_effective):
        return decimals_for(skill.error), "score"
    return max(decimals_for(skill.sd), 3), "accuracy"


def board_by_task(
    outcomes: Outcomes,
    *,
    ci_prob: float = 0.95,
    draws: int = 10_000,
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Skill of every entry in every task, and who is the best of each.

    Parameters
    ----------
    outcomes : Outcomes
        Answers or numbers with tasks.
    ci_prob : float
        Probability of the intervals.
    draws : int
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    Report
        ``frame`` has a row for each task and entry, ``about`` is the ``TaskComparison``.

    Raises
    ------
    InputError
        No tasks, one task, or no task with two items.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> exam = Outcomes(rng.random((300, 2)) < [0.9, 0.6], tasks=["law", "art", "math"] * 100)
    >>> table = board_by_task(exam)
    >>> table.frame.groupby("name")["p_best"].mean().round(2).to_dict()
    {'1': 1.0, '2': 0.0}
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    DRAWS.check(draws, "draws")
    rng, seed = resolve_seed(random_seed)
    found = compare_by_task(outcomes, draws=draws, random_seed=rng)
    tasks = [_rows_of_task(found, t, ci_prob) for t in range(len(found.tasks))]
    order = np.argsort(-found.average.mean(axis=0), kind="stable").tolist()

    def shown(row: dict[str, Any]) -> str:
        percent, sd = outcomes.is_answers, row["skill"]["sd"]
        d = decimals_for((2 if percent else 4) * sd) - percent
        return as_scores(row["skill"], d, outcomes.metric)

    own = sorted((rows[order[0]] for rows in tasks), key=lambda row: row["skill"]["mean"])
    low, high = (f"{shown(e)} on {shown_name(e['task'], 60)}" for e in (own[0], own[-1]))
    said = (
        f"On many new items expect {shown_name(own[0]['name'], 60)}, the best over all tasks, to "
        f"score from {low} to {high}; ranges are {ci_prob:.0%} intervals."
    )
    lines = []
    for rows in tasks:
        best = max(rows, key=lambda row: float(row["p_best"]))
        line = {"task": best["task"], "items": f"{best['n_items']:,}"}
        line |= {rows[j]["name"]: shown(rows[j]) for j in order[:_SIDE_BY_SIDE]}
        p = chance(best["p_best"], share_mcse(best["p_best"], draws))
        lines.append(line | {"best": best["name"], "P": p})
    entries = [row for rows in tasks for row in rows]
    title = f"skills in each task ({ci_prob:.0%} interval), and the best"
    notes = [*outcomes.notes, *found.notes]
    facts = {"n_tasks": len(tasks), "prob": ci_prob, "notes": notes, "seed": seed_number(seed)}
    return report_of(
        {"entries": entries, **facts},
        make_frame=lambda: frame_of([flat(entry) for entry in entries]),
        sentences=[said],
        tables=[table_of(lines, {head: head for head in lines[0]}, title)],
        legend=[_TASKS],
        basis=[f"Normal model of tasks, {counted(draws, 'draw')}, seed {seed}", SOFTWARE],
        measured="tasks",
        about=found,
    )


def _rows_of_task(found: TaskComparison, t: int, ci_prob: float) -> list[dict[str, Any]]:
    """Rows of the JSON in one task, one for each entry."""
    skills = [summarize_draws(drawn, ci_prob) for drawn in found.skills_in(t).T]
    scores, p_best = found.sign * found.errors.scores[t], found.best_in(t)[1]
    each = zip(found.methods, scores.tolist(), skills, p_best.tolist(), strict=True)
    return [
        {
            "task": found.tasks[t],
            "n_items": int(found.errors.n_items[t]),
            "name": name,
            "score": score,
            "skill": {key: skill[key] for key in ("mean", "sd", "interval")},
            "p_best": p,
        }
        for name, score, skill, p in each
    ]
