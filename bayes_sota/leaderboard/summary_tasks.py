"""What every entry can do in every task, and who is the best there: ``board --by task``.

The model is that of ``items.by_task``: how entries differ in a task is drawn towards what all tasks
say. That an entry is the best of a task *stands* if it belongs to the largest set of the most
probable verdicts that all are true at once with the probability of the intervals: nobody is misled
by having looked at every task. ``tests/leaderboard/test_summary_tasks.py`` reads it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, OPEN_SHARE
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import as_scores, as_sentences, chance, counted, decimals_for, shown_name
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison, compare_by_task, verdicts_that_stand
from bayes_sota.leaderboard.summary_words import flat

_SIDE_BY_SIDE = 5  # entries in a table of 120 characters
_LEGEND = (
    "Skill is the expected score on new items of a task; how entries differ is drawn towards what "
    "all tasks say, the more the fewer items a task has.",
    "All so far: the probability that this entry and those above are the best of their tasks, all "
    "at once; verdicts stand while it is at least {:g}.",
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
    tasks = _verdicts(found, ci_prob)
    entries = list(_entries(found, tasks, ci_prob))
    count = stand_by_method(tasks, found.methods)
    metric = "accuracy" if outcomes.is_answers else "score"
    notes = [*outcomes.notes, *found.notes]
    said = [
        _ranging(found, entries, ci_prob, metric),
        *best_said(found.errors.scores, count, ci_prob),
    ]
    tasks.sort(key=lambda row: -row["p"])
    best = [_cells(row, draws) for row in tasks]
    skills = Table.of(
        _skills(found, entries, metric), f"skills in each task ({ci_prob:.0%} interval)"
    )
    return Report(
        content={
            "entries": entries,
            "tasks": tasks,
            "n_tasks": len(tasks),
            "n_stand": count,
            "prob": ci_prob,
            "notes": notes,
            "seed": seed_number(seed),
        },
        make_frame=lambda: frame_of([flat(entry) for entry in entries]),
        tables=[Table.of(best, "who is the best of each task"), skills],
        sentences=said,
        paragraph=[*said, *as_sentences(notes)],
        legend=[text.format(ci_prob) for text in _LEGEND],
        basis=[f"Normal model of tasks, {counted(draws, 'draw')}, seed {seed}", SOFTWARE],
        notes=notes,
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
    most, n_tasks = int(ahead.argmax()), len(scores)
    name, most_often = list(count)[most], int(ahead[most])
    yield (
        f"{name} has the best score in {most_often} of {n_tasks} tasks, more than any other of "
        f"{len(count)}."
        if np.sum(ahead == most_often) == 1
        else f"None has the best score in more than {most_often} of {n_tasks} tasks."
    )
    stand = sorted(((k, m) for m, k in count.items() if k), key=lambda x: -x[0])
    named = f" ({', '.join(f'{m} on {k}' for k, m in stand)})" * bool(stand)
    yield (
        "Each task drawn towards what all say, who is the best stands on "
        f"{sum(count.values())} of {n_tasks} tasks{named}, with probability {ci_prob:.0%} for all "
        "of them together."
    )


def _verdicts(found: TaskComparison, ci_prob: float) -> list[dict[str, Any]]:
    """Who is the best of every task, and whether that stands."""
    best = [found.best_in(t) for t in range(len(found.tasks))]
    stands, together = verdicts_that_stand(np.column_stack([b.lead for b in best]), ci_prob)
    return [
        {
            "task": task,
            "n_items": int(found.errors.n_items[t]),
            "n_clusters": int(found.errors.n_clusters[t]),
            "best": found.methods[best[t].best],
            "p": float(best[t].p_best[best[t].best]),
            "p_all_so_far": float(together[t]),
            "stands": bool(stands[t]),
            "p_best": dict(zip(found.methods, best[t].p_best.tolist(), strict=True)),
        }
        for t, task in enumerate(found.tasks)
    ]


def _entries(
    found: TaskComparison, tasks: list[dict[str, Any]], ci_prob: float
) -> Iterator[dict[str, Any]]:
    """What every entry can do in every task."""
    for t, task in enumerate(tasks):
        drawn, scores = found.skills_in(t), found.sign * found.errors.scores[t]
        ends = np.quantile(drawn, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0).T.tolist()
        for name, draws, score, interval in zip(found.methods, drawn.T, scores, ends, strict=True):
            skill = {"mean": float(draws.mean()), "sd": float(draws.std()), "interval": interval}
            yield {
                "task": task["task"],
                "n_items": task["n_items"],
                "name": name,
                "score": float(score),
                "skill": skill,
                "p_best": task["p_best"][name],
                "stands": task["stands"] and task["best"] == name,
            }


def _ranging(
    found: TaskComparison, entries: list[dict[str, Any]], ci_prob: float, metric: str
) -> str:
    """What to expect of the best on average in the task where it is worst, and where it is best."""
    leader = found.methods[int(found.average.mean(axis=0).argmax())]
    own = sorted((e for e in entries if e["name"] == leader), key=lambda e: e["skill"]["mean"])
    low, high = (
        f"{as_scores(e['skill'], max(decimals_for(e['skill']['sd']), 2), metric)} on "
        f"{shown_name(e['task'], 60)}"
        for e in (own[0], own[-1])
    )
    return (
        f"On many new items expect {shown_name(leader, 60)}, the best over all tasks, to score "
        f"from {low} to {high}; ranges are {ci_prob:.0%} intervals."
    )


def _cells(row: dict[str, Any], draws: int) -> dict[str, str]:
    """What people read of the best of a task."""
    p, together = (chance(row[k], share_mcse(row[k], draws)) for k in ("p", "p_all_so_far"))
    return {
        "task": row["task"],
        "items": f"{row['n_items']:,}",
        "best": row["best"],
        "P(best)": p,
        "all so far": together,
        "stands": "yes" * row["stands"],
    }


def _skills(
    found: TaskComparison, entries: list[dict[str, Any]], metric: str
) -> list[dict[str, str]]:
    """A row for each task, the entries in their order over all tasks side by side."""
    percent = metric == "accuracy"
    order = np.argsort(-found.average.mean(axis=0), kind="stable")[:_SIDE_BY_SIDE]
    shown = [found.methods[j] for j in order]
    rows = {task: {"task": task} | dict.fromkeys(shown, "") for task in found.tasks}
    for entry in entries:
        if entry["name"] in shown:
            d = decimals_for((2 if percent else 4) * entry["skill"]["sd"]) - percent
            rows[entry["task"]][entry["name"]] = as_scores(entry["skill"], d, metric)
    return list(rows.values())
