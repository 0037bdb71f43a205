"""The report of every task: the difference of two methods, or who is the best.

Differences in every task (``--by task``) are those of ``items.by_task``, each shrunk towards what
all tasks say. A task's verdict, that A is better or that a method is the best, *stands* if it
belongs to the largest set of the most probable verdicts that are all true at once with the
probability of the intervals: nobody is misled by having looked at every task.
``tests/claims/test_by_task.py`` counts how often all that stand are true.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.claims.pair import chosen_pair
from bayes_sota.claims.sample_exact import tasks_tree
from bayes_sota.claims.summary_methods import (
    Row,
    answers_report,
    difference_columns,
    difference_of,
    of_draws,
)
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.tables import Report
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison, compare_by_task, verdicts_that_stand


def report_tasks(
    outcomes: Outcomes,
    *,
    pair: tuple[str, str] | None = None,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report of the difference of two methods, or of who is the best, in every task.

    Parameters
    ----------
    outcomes, draws
        As in ``compare_by_task``.
    pair : (str, str), optional
        Two methods that were named beforehand. Default: which of all is the best.
    ci_prob : float
        Probability of the intervals, and of all verdicts that stand together.
    random_seed : int, SeedSequence, Generator or None

    Raises
    ------
    InputError
        No tasks or one, unknown methods.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> exam = Outcomes(rng.random((300, 2)) < [0.9, 0.6], tasks=["law", "art", "math"] * 100)
    >>> report_tasks(exam, pair=("1", "2")).content["n_stand"]
    {'1': 3, '2': 0}
    """
    rng, seed = resolve_seed(random_seed)
    if pair is not None:
        outcomes = chosen_pair(outcomes, pair)
    of = compare_by_task(outcomes, draws=draws, random_seed=rng)
    tasks = [_row_of_task(of, t, pair, ci_prob) for t in range(len(of.tasks))]
    stand = verdicts_that_stand(np.column_stack([lead for _, lead in tasks]), ci_prob)[0]
    rows = [row | {"stands": is_so} for (row, _), is_so in zip(tasks, stand.tolist(), strict=True)]
    rows.sort(key=lambda row: -of.sign * row["difference"]["mean"] if pair else -row["p"])
    count = _stand_by_method(rows, pair or of.methods)
    first = pair[0] if pair else of.methods[int(of.average.mean(axis=0).argmax())]
    columns: Row = {
        "task": "task",
        "items": lambda row: f"{row['n_items']:,}",
        "best": lambda row: None if pair else row["best"],
        "P(best)": lambda row: None if pair else of_draws(row["p"], draws),
        **difference_columns(of, ci_prob, "difference"),
        "P(false)": lambda row: of_draws(row["p_false"], draws) if pair else None,
        "stands": lambda row: (f"{row['best']} is better" if pair else "yes") * row["stands"],
    }
    return answers_report(
        outcomes,
        of,
        seed,
        _pair_in_tasks(rows, count, ci_prob)
        if pair
        else _best_said(of.errors.scores, count, ci_prob),
        f"Normal model of tasks, {counted(draws, 'draw')}",
        {
            "tasks": rows,
            "n_tasks": len(rows),
            "n_stand": count,
            "prob": ci_prob,
            "sd_between_tasks": difference_of(np.sqrt(2) * of.spread, 0.0, ci_prob),
        },
        rows,
        columns,
        partial(tasks_tree, first=first),
        legend=[
            "difference, interval and P: shrunk towards what all tasks say, the more the fewer "
            "items a task has. stands: all of these verdicts are true at once with probability "
            f"{ci_prob:g}"
        ],
    )


def _row_of_task(
    of: TaskComparison, task: int, pair: tuple[str, str] | None, ci_prob: float
) -> tuple[Row, FloatArray]:
    """Numbers of a task, and draws of how far its verdict is true.

    The difference is that of the pair, or of the most probable best one to the best other.
    """
    best, scores, sign = of.best_in(task), of.errors.scores[task], of.sign
    way = -sign if pair and of.methods.index(pair[0]) != best.best else sign
    observed = float(way * (scores[best.best] - np.delete(scores, best.best).max()))
    row: Row = {
        "task": of.tasks[task],
        "n_items": int(of.errors.n_items[task]),
        "n_clusters": int(of.errors.n_clusters[task]),
        "scores": dict(zip(of.methods, (sign * scores).tolist(), strict=True)),
        "difference": difference_of(way * best.lead, observed, ci_prob),
        "best": of.methods[best.best],
        "p": float(best.p_best[best.best]),
    }
    if pair:
        row["p_false"] = float(np.mean(sign * way * best.lead <= 0))
    else:
        row["p_best"] = dict(zip(of.methods, best.p_best.tolist(), strict=True))
    return row, best.lead


def _pair_in_tasks(rows: list[Row], count: dict[str, int], ci_prob: float) -> Iterator[str]:
    (a, stand_a), (b, stand_b) = count.items()
    higher = sum(row["difference"]["observed"] > 0 for row in rows)
    lower = sum(row["difference"]["observed"] < 0 for row in rows)
    yield f"{a} scores higher than {b} in {higher} of {len(rows)} tasks, and lower in {lower}."
    yield (
        f"With each task shrunk towards what all say, {a} is better in {stand_a} of {len(rows)} "
        f"tasks and {b} in {stand_b}, all at once with probability {ci_prob:.0%}."
    )


def _stand_by_method(rows: Sequence[Mapping[str, Any]], methods: Sequence[str]) -> dict[str, int]:
    """On how many tasks it stands that each method is the best."""
    return {m: sum(row["stands"] and row["best"] == m for row in rows) for m in methods}


def _best_said(scores: FloatArray, count: dict[str, int], ci_prob: float) -> Iterator[str]:
    """Who has the best score in most tasks, and on how many it stands that one is the best.

    Scores (T, m) are larger the better; ``count`` has the tasks on which each method stands.
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
