"""What every entry can do in every task, and who is the best there: ``board --by task``.

The model is that of ``items.by_task``: how entries differ in a task is shrunk towards what all
tasks say. That an entry is the best of a task *stands* if it belongs to the largest set of the most
probable verdicts that are all true at once with the probability of the intervals: nobody is misled
by having looked at every task. ``tests/leaderboard/test_summary_tasks.py`` reads it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, OPEN_SHARE
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import Report, Table, table_of
from bayes_sota.core.text import as_scores, chance, counted, decimals_for, shown_name
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison, compare_by_task, verdicts_that_stand
from bayes_sota.leaderboard.summary_words import flat, report_of

_SIDE_BY_SIDE = 5  # entries in a table of 120 characters
_LEGEND = (
    "Skill is the expected score on new items of a task; how entries differ is shrunk towards what "
    "all tasks say, the more the fewer items a task has. stands: all of these verdicts are true at "
    "once with probability {:g}."
)


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
        Probability of the intervals, and of all verdicts that stand together.
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
    >>> from bayes_sota import Outcomes
    >>> rng = np.random.default_rng(0)
    >>> exam = Outcomes(rng.random((300, 2)) < [0.9, 0.6], tasks=["law", "art", "math"] * 100)
    >>> table = board_by_task(exam)
    >>> table.content["n_stand"], len(table.frame)
    ({'1': 3, '2': 0}, 6)
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    DRAWS.check(draws, "draws")
    rng, seed = resolve_seed(random_seed)
    found = compare_by_task(outcomes, draws=draws, random_seed=rng)
    tasks, entries = _rows(found, ci_prob)
    surest = sorted(tasks, key=lambda row: -row["p"])
    count = stand_by_method(tasks, found.methods)
    metric = "accuracy" if outcomes.is_answers else "score"
    order = [found.methods[j] for j in np.argsort(-found.average.mean(axis=0), kind="stable")]
    own = [entry for entry in entries if entry["name"] == order[0]]
    return report_of(
        {
            "entries": entries,
            "tasks": surest,
            "n_tasks": len(tasks),
            "n_stand": count,
            "prob": ci_prob,
            "notes": [*outcomes.notes, *found.notes],
            "seed": seed_number(seed),
        },
        make_frame=lambda: frame_of([flat(entry) for entry in entries]),
        sentences=[_ranging(own, ci_prob, metric), *best_said(found.errors.scores, count, ci_prob)],
        tables=[_best(surest, draws), _skills(tasks, entries, order, ci_prob, metric)],
        legend=[_LEGEND.format(ci_prob)],
        basis=[f"Normal model of tasks, {counted(draws, 'draw')}, seed {seed}"],
        measured="tasks",
        about=found,
    )


def stand_by_method(rows: Sequence[Mapping[str, Any]], methods: Sequence[str]) -> dict[str, int]:
    """On how many tasks it stands that each method is the best."""
    return {m: sum(row["stands"] and row["best"] == m for row in rows) for m in methods}


def best_said(scores: FloatArray, count: dict[str, int], ci_prob: float) -> Iterator[str]:
    """Who has the best score in most tasks, and on how many it stands that one is the best.

    Parameters
    ----------
    scores : ndarray, shape (T, m)
        Larger is better.
    count : dict
        Tasks on which each method stands.
    ci_prob : float
    """
    ahead = (scores == scores.max(axis=1, keepdims=True)).sum(axis=0)
    most, n_tasks = int(ahead.max()), len(scores)
    leaders = [name for name, often in zip(count, ahead, strict=True) if often == most]
    yield (
        f"{leaders[0]} has the best score in {most} of {n_tasks} tasks, more than any other of "
        f"{len(count)}."
        if len(leaders) == 1
        else f"None has the best score in more than {most} of {n_tasks} tasks."
    )
    stand = sorted(((k, m) for m, k in count.items() if k), key=lambda x: -x[0])
    named = f" ({', '.join(f'{m} on {k}' for k, m in stand)})" * bool(stand)
    yield (
        "Each task shrunk towards what all say, who is the best stands on "
        f"{sum(count.values())} of {n_tasks} tasks{named}, with probability {ci_prob:.0%} for all "
        "of them together."
    )


def _rows(
    found: TaskComparison, ci_prob: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Who is the best of every task, and whether that stands; every entry in every task."""
    best = [found.best_in(t) for t in range(len(found.tasks))]
    stands, together = verdicts_that_stand(np.column_stack([b.lead for b in best]), ci_prob)
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    tasks, entries = [], []
    for t, task in enumerate(found.tasks):
        p_best = dict(zip(found.methods, best[t].p_best.tolist(), strict=True))
        about = {"task": task, "n_items": int(found.errors.n_items[t])}
        first, drawn = found.methods[best[t].best], found.skills_in(t)
        tasks.append(
            about
            | {
                "n_clusters": int(found.errors.n_clusters[t]),
                "best": first,
                "p": p_best[first],
                "p_all_so_far": float(together[t]),
                "stands": bool(stands[t]),
                "p_best": p_best,
            }
        )
        for j, name in enumerate(found.methods):
            draws = drawn[:, j]
            interval = np.quantile(draws, tails).tolist()
            entries.append(
                about
                | {
                    "name": name,
                    "score": float(found.sign * found.errors.scores[t, j]),
                    "skill": {
                        "mean": float(draws.mean()),
                        "sd": float(draws.std()),
                        "interval": interval,
                    },
                    "p_best": p_best[name],
                    "stands": tasks[-1]["stands"] and first == name,
                }
            )
    return tasks, entries


def _ranging(own: list[dict[str, Any]], ci_prob: float, metric: str) -> str:
    """What to expect of the best on average in the task where it is worst, and where it is best."""
    own = sorted(own, key=lambda entry: entry["skill"]["mean"])
    low, high = (
        f"{as_scores(e['skill'], max(decimals_for(e['skill']['sd']), 2), metric)} on "
        f"{shown_name(e['task'], 60)}"
        for e in (own[0], own[-1])
    )
    return (
        f"On many new items expect {shown_name(own[0]['name'], 60)}, the best over all tasks, to "
        f"score from {low} to {high}; ranges are {ci_prob:.0%} intervals."
    )


def _best(tasks: list[dict[str, Any]], draws: int) -> Table:
    """The best of each task."""
    columns: dict[str, Any] = {
        "task": "task",
        "items": lambda row: f"{row['n_items']:,}",
        "best": "best",
        "P(best)": lambda row: chance(row["p"], share_mcse(row["p"], draws)),
        "stands": lambda row: "yes" * row["stands"],
    }
    return table_of(tasks, columns, "who is the best of each task")


def _skills(
    tasks: list[dict[str, Any]],
    entries: list[dict[str, Any]],
    order: list[str],
    ci_prob: float,
    metric: str,
) -> Table:
    """The skills of the best entries in each task, side by side."""
    percent, skills = metric == "accuracy", {(e["task"], e["name"]): e["skill"] for e in entries}

    def cell(name: str, row: dict[str, Any]) -> str:
        skill = skills[row["task"], name]
        d = decimals_for((2 if percent else 4) * skill["sd"]) - percent
        return as_scores(skill, d, metric)

    columns: dict[str, Any] = {name: partial(cell, name) for name in order[:_SIDE_BY_SIDE]}
    title = f"skills in each task ({ci_prob:.0%} interval)"
    return table_of(tasks, {"task": "task"} | columns, title)
