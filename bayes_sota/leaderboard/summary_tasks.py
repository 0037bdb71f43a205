"""What every entry can do in every task: ``board --by task``.

The model is that of ``items.by_task``: how entries differ in a task is shrunk towards what all
tasks say. Which verdicts on the best of each task stand together is said by ``claim responses --by
task`` (``claims.summary_gate``). ``tests/leaderboard/test_summary_tasks.py`` reads it.
"""

from functools import partial
from typing import Any

import numpy as np

from bayes_sota.core import text
from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, OPEN_SHARE
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report, Table, table_of
from bayes_sota.core.types import Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison, compare_by_task
from bayes_sota.leaderboard.summary_words import flat, report_of

_SIDE_BY_SIDE = 5  # entries in a table of 120 characters
_LEGEND = (
    "Skill is the expected score on new items of a task; how entries differ is shrunk towards what "
    "all tasks say, the more the fewer items a task has. P: the probability that best is the best "
    "of its task. Which of these verdicts hold together: bayes-sota claim responses --by task."
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
    >>> from bayes_sota import Outcomes
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
    entries = _rows(found, ci_prob)
    metric = "accuracy" if outcomes.is_answers else "score"
    order = [found.methods[j] for j in np.argsort(-found.average.mean(axis=0), kind="stable")]
    own = sorted(
        (entry for entry in entries if entry["name"] == order[0]),
        key=lambda entry: entry["skill"]["mean"],
    )
    low, high = (
        f"{text.as_scores(e['skill'], max(text.decimals_for(e['skill']['sd']), 2), metric)} on "
        f"{text.shown_name(e['task'], 60)}"
        for e in (own[0], own[-1])
    )
    said = (
        f"On many new items expect {text.shown_name(order[0], 60)}, the best over all tasks, to "
        f"score from {low} to {high}; ranges are {ci_prob:.0%} intervals."
    )
    return report_of(
        {
            "entries": entries,
            "n_tasks": len(found.tasks),
            "prob": ci_prob,
            "notes": [*outcomes.notes, *found.notes],
            "seed": seed_number(seed),
        },
        make_frame=lambda: frame_of([flat(entry) for entry in entries]),
        sentences=[said],
        tables=[_table(entries, order[:_SIDE_BY_SIDE], draws, ci_prob, metric)],
        legend=[_LEGEND],
        basis=[f"Normal model of tasks, {text.counted(draws, 'draw')}, seed {seed}", SOFTWARE],
        measured="tasks",
        about=found,
    )


def _rows(found: TaskComparison, ci_prob: float) -> list[dict[str, Any]]:
    """Every entry in every task."""
    rows = []
    for t, task in enumerate(found.tasks):
        drawn, p_best = found.skills_in(t), found.best_in(t).p_best.tolist()
        ends = np.quantile(drawn, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0).T.tolist()
        for j, name in enumerate(found.methods):
            mean, sd = float(drawn[:, j].mean()), float(drawn[:, j].std())
            rows.append(
                {
                    "task": task,
                    "n_items": int(found.errors.n_items[t]),
                    "name": name,
                    "score": float(found.sign * found.errors.scores[t, j]),
                    "skill": {"mean": mean, "sd": sd, "interval": ends[j]},
                    "p_best": p_best[j],
                }
            )
    return rows


def _table(
    entries: list[dict[str, Any]], shown: list[str], draws: int, ci_prob: float, metric: str
) -> Table:
    """The best of each task, and the skills of the best entries side by side."""
    tasks: dict[str, dict[str, dict[str, Any]]] = {}
    for entry in entries:
        tasks.setdefault(entry["task"], {})[entry["name"]] = entry
    percent = metric == "accuracy"

    def skill(name: str, task: dict[str, Any]) -> str:
        found = task[name]["skill"]
        d = text.decimals_for((2 if percent else 4) * found["sd"]) - percent
        return text.as_scores(found, d, metric)

    def best(task: dict[str, Any]) -> dict[str, Any]:
        return max(task.values(), key=lambda entry: float(entry["p_best"]))

    def p_best(task: dict[str, Any]) -> str:
        p = best(task)["p_best"]
        return text.chance(p, share_mcse(p, draws))

    columns: dict[str, Any] = {
        "task": lambda task: best(task)["task"],
        "items": lambda task: f"{best(task)['n_items']:,}",
        **{name: partial(skill, name) for name in shown},
        "best": lambda task: best(task)["name"],
        "P": p_best,
    }
    title = f"skills in each task ({ci_prob:.0%} interval), and the best"
    return table_of([*tasks.values()], columns, title)
