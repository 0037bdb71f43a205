"""The gate for two methods that were named beforehand, and verdicts for every task.

The gate asks whether a method is better than another, or not worse by more than a margin, by the
law of ``claims.pair``, without draws. ``tests/claims/test_gate.py`` tries its rules.

The verdict that a method is the best in a task (``items.by_task``) *stands* if it belongs to the
largest set of the most probable verdicts that are all true with the probability of the intervals.
``tests/claims/test_by_task.py`` counts how often they are true.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

import numpy as np

from bayes_sota.claims.claim import rope_of
from bayes_sota.claims.pair import PairLaw, chosen_pair, law_of_pair
from bayes_sota.claims.summary import said_of_rope, unit_of
from bayes_sota.claims.summary_methods import (
    Row,
    answers_report,
    difference_columns,
    difference_of,
    of_draws,
    row_of_pair,
    shown_difference,
    within_scale,
)
from bayes_sota.core.arguments import DEFAULT_SEED, check_choice, checked_width
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.tables import Report
from bayes_sota.core.text import about, counted, in_points, in_prose, listed
from bayes_sota.core.types import Seed
from bayes_sota.data.item_values import MOST_LOST, RUNS_DIFFER
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison, compare_by_task, verdicts_that_stand
from bayes_sota.items.comparison import MethodComparison, compare_methods, without_error
from bayes_sota.leaderboard.anchors import notes_of_anchors

Required = Literal["better", "not-worse"]


def report_gate(
    outcomes: Outcomes,
    pair: tuple[str, str],
    *,
    margin: float = 0.0,
    require: Required | None = None,
    ci_prob: float = 0.95,
    draws: int = 10_000,
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report of a pair of methods, of which the first is judged.

    Parameters
    ----------
    outcomes : Outcomes
    pair : (str, str)
        Two methods that were named beforehand.
    margin : float
        How much worse the first may be, in the unit of the scores.
    require : {"better", "not-worse"}, optional
        Required verdict on the first.
    ci_prob : float
        Probability of the interval; one-sided probabilities need ``(1 + ci_prob) / 2``.
    draws, random_seed
        Used by the tree only.

    Returns
    -------
    Report
        ``content`` has ``verdict`` ("better", "not-worse", "worse" or "undecided"), ``passed``
        (None without ``require``; False if there are ``reasons`` for doubt), ``p`` and ``p_needed``
        of what is ``claimed``, and ``n_more``, the items that would decide.

    Raises
    ------
    InputError
        Unknown methods, one method twice, a margin below 0 or, of shares, of 1 and more.

    Examples
    --------
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 2)) < [0.9, 0.6])
    >>> report_gate(answers, ("1", "2"), require="better").content["passed"]
    True
    """
    if require is not None:
        check_choice("require", require, Required)
    rng, seed = resolve_seed(random_seed)
    both, anchors = chosen_pair(outcomes, pair), outcomes.anchors
    if anchors is not None and {*pair} <= {*anchors.names}:
        raise InputError("the skills of both are known, and so is their difference")
    of = compare_methods(both, draws=draws, random_seed=rng)
    checked_width(margin, "margin", shares=of.are_shares)
    law = law_of_pair(both, pair[0], outcomes)
    row = row_of_pair(of, of.methods.index(pair[0]), of.methods.index(pair[1]), ci_prob)
    row |= {"p_false": law.at_most(0.0), "p_false_mcse": 0.0}
    ends = (of.sign * end for end in law.interval(ci_prob))
    row["difference"]["interval"] = within_scale(of, ends)
    row["difference"] |= {"mean": of.sign * law.centre, "sd": law.sd()}
    if anchors is not None:  # what is expected, not what these items show
        row["difference"]["observed"] = of.sign * law.centre
    if margin:
        row["rope"] = rope_of(law.at_most, margin)
    size: float = of.n_items
    unit = both.unit
    if both.new == "runs":
        size, unit = float(np.mean(both.n_runs)), "run"
    elif both.new == "tasks" and both.tasks is not None:
        size, unit = len(set(both.tasks)), "task"
    of_known, doubts = notes_of_anchors(outcomes)
    doubts += _doubts(both, pair)
    content = _judged(law, require, margin, ci_prob, size) | {"notes": of_known}
    if doubts and require:
        content["passed"] = False
    content |= {"pairs": [row], "n_pairs": 1, "n_told_apart": None, "prob": ci_prob, "seed": None}
    columns: Row = {"first": "a", "second": "b", **difference_columns(of, ci_prob)}
    columns["P(false)"] = lambda row: in_prose(row["p_false"])
    said, how = _said(row, content, of, both.unit, unit), "Computed exactly, without random numbers"
    legend = "This assumes that the pair was named before the scores were seen; else use --pairs."
    return answers_report(
        both, of, seed, content, [row], columns, said=said, how=how, legend=legend, reasons=doubts
    )


def _judged(law: PairLaw, require: str | None, margin: float, ci_prob: float, size: float) -> Row:
    needed, p_false = (1 + ci_prob) / 2, law.at_most(0.0)
    p = {"better": 1 - p_false, "not-worse": 1 - law.at_most(-margin), "worse": p_false}
    verdict = next((name for name, value in p.items() if value > needed), "undecided")
    claimed = require or verdict
    if claimed == "undecided":
        claimed = "not-worse" if margin else "better"
    limit = -margin if claimed == "not-worse" else 0.0
    return {
        "verdict": verdict,
        "margin": margin,
        "require": require,
        "passed": None if require is None else verdict in ("better", require),
        "claimed": claimed,
        "p": p[claimed],
        "p_needed": needed,
        "n_more": law.more_items(limit, ci_prob, size),
    }


def _said(row: Row, content: Row, of: MethodComparison, unit: str, more: str) -> Iterator[str]:
    a, b, p, needed = row["a"], row["b"], content["p"], content["p_needed"]
    claimed, printed = content["claimed"], in_prose(p, needed)
    equal = "" if printed[0] in "<>" else "= "
    shown = "shown" if p > needed else "not shown"
    claim = _claim_of((a, b), claimed, content["margin"], of.are_shares)
    yield f"{claim}: {shown} (P {equal}{printed}; {needed:.4g} needed)."
    factor, points = unit_of(of.are_shares)
    observed, _, ends = shown_difference(row["difference"], factor)
    is_worse = content["verdict"] == "worse" and claimed != "worse"
    begin = f"{a} is worse: difference" if is_worse else "Difference"
    yield f"{begin} {observed}{points} ({ends}) on {counted(of.n_items, unit)}."
    if content["n_more"] is not None:
        items = about(content["n_more"]).capitalize()
        decide = f"decide {'for' if p > 0.5 else 'against'} {a}"
        if is_worse:
            width = in_points(content["margin"], of.are_shares)
            decide = f"show that it is {'not ' * (p > 0.5)}worse by more than {width}"
        yield f"{items} more {more}s would {decide} if the difference stays."
    if content["passed"] is not None:
        doubtful = ": the result is not to be trusted" * (p > needed)
        yield "PASSED." if content["passed"] else f"FAILED{doubtful}."
    if rope := row.get("rope"):
        yield said_of_rope(rope, of.are_shares)


def _claim_of(pair: tuple[str, str], claimed: str, margin: float, are_shares: bool) -> str:
    by = f" by more than {in_points(margin, are_shares)}" * (claimed == "not-worse" and margin > 0)
    return f"{pair[0]} is {claimed.replace('-', ' ')} than {pair[1]}{by}"


def _doubts(both: Outcomes, pair: tuple[str, str]) -> list[str]:
    """Reasons against a verdict on a pair."""
    lost = 1 - both.complete().n_items / both.n_items
    unlike = f"{lost:.0%} of the items have no outcome of both, and may be easier or harder"
    runs = [RUNS_DIFFER] * (RUNS_DIFFER in both.notes)
    return runs + [unlike] * (lost > MOST_LOST) + without_error(both, *pair)


def report_tasks(
    outcomes: Outcomes,
    *,
    pair: tuple[str, str] | None = None,
    margin: float = 0.0,
    require: Required | None = None,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report of the difference of two methods, or of the best method, in every task.

    Parameters
    ----------
    outcomes, draws, random_seed
        As in ``compare_by_task``.
    pair : (str, str), optional
        Two methods that were named beforehand. Default: which of all is the best.
    margin, require : optional
        As in ``report_gate``, of every task by its own items alone; ``content`` then has
        ``passed``, ``p_of_tasks``, ``p_needed`` and the tasks that ``failed``.
    ci_prob : float
        Probability of the intervals, and of all verdicts that stand together.

    Raises
    ------
    InputError
        No tasks or one, unknown methods, ``require`` without a pair.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> exam = Outcomes(rng.random((300, 2)) < [0.9, 0.6], tasks=["law", "art", "math"] * 100)
    >>> report_tasks(exam, pair=("1", "2")).content["n_stand"]
    {'1': 3, '2': 0}
    """
    rng, seed = resolve_seed(random_seed)
    if require is not None and pair is None:
        raise InputError("a verdict is required of two methods: name a {name}", parameter="pair")
    if pair is not None:
        outcomes = chosen_pair(outcomes, pair)
    of = compare_by_task(outcomes, draws=draws, random_seed=rng)
    found = [of.best_in(task) for task in range(len(of.tasks))]
    stand = verdicts_that_stand(np.column_stack([lead for _, _, lead in found]), ci_prob)
    rows = list[Row]()
    for task, (best, p_best, lead) in enumerate(found):
        scores = of.errors.scores[task]
        way = -of.sign if pair and of.methods[best] != pair[0] else of.sign
        observed = float(way * (scores[best] - np.delete(scores, best).max()))
        row: Row = {
            "task": of.tasks[task],
            "n_items": int(of.errors.n_items[task]),
            "n_clusters": int(of.errors.n_clusters[task]),
            "scores": dict(zip(of.methods, (of.sign * scores).tolist(), strict=True)),
            "difference": difference_of(of, way * lead, observed, ci_prob),
            "best": of.methods[best],
            "p": float(p_best[best]),
            "p_best": dict(zip(of.methods, p_best.tolist(), strict=True)),
            "stands": bool(stand[task]),
        }
        rows.append(row | ({"p_false": row["p_best"][pair[1]]} if pair else {}))
    rows.sort(key=lambda row: -of.sign * row["difference"]["mean"] if pair else -row["p"])
    count = Counter(row["best"] for row in rows if row["stands"])
    content = {
        "tasks": rows,
        "n_tasks": len(rows),
        "n_stand": {name: count[name] for name in pair or of.methods},
        "prob": ci_prob,
        "sd_between_tasks": difference_of(of, np.sqrt(2) * of.spread, 0.0, ci_prob),
    }
    said, reasons = [*_said_of_tasks(of, count, ci_prob)], list[str]()
    if pair and require is not None:
        reasons = _doubts(outcomes, pair)
        gate, verdict = _gate_of_tasks(outcomes, pair, margin, require, ci_prob)
        if unknown := [task for task, p in gate["p_of_tasks"].items() if p is None]:
            reasons.append(f"the error of the difference in {listed(unknown)} is not known")
        content |= gate | {"passed": not (gate["failed"] or reasons)}
        said = [verdict, "PASSED." if content["passed"] else "FAILED."]
    columns: Row = {
        "task": "task",
        "items": lambda row: f"{row['n_items']:,}",
        "best": "best",
        "P(best)": lambda row: of_draws(row["p"], draws),
        **difference_columns(of, ci_prob, "difference"),
        "stands": lambda row: "yes" * row["stands"],
    }
    legend = (
        "difference, interval and P: shrunk towards the mean of all tasks, more where a task has "
        f"fewer items. stands: the verdict is established, all at once with probability {ci_prob:g}"
    )
    return answers_report(
        outcomes,
        of,
        seed,
        content,
        rows,
        columns,
        said=said,
        how=f"Normal model of tasks, {counted(draws, 'draw')}, seed {seed}",
        legend=legend,
        reasons=reasons,
        first=pair and pair[0],
    )


def _gate_of_tasks(
    both: Outcomes, pair: tuple[str, str], margin: float, require: Required, ci_prob: float
) -> tuple[Row, str]:
    """Tasks in which the required verdict is not shown, each by its own items, and a sentence.

    As all must pass, their number needs no adjustment (Berger 1982, Technometrics 24, 295).
    """
    check_choice("require", require, Required)
    shares = both.metric in ("accuracy", "auc")
    limit = checked_width(margin, "margin", shares=shares) * (require == "not-worse")
    needed, p_of_tasks = (1 + ci_prob) / 2, dict[str, float | None]()
    untasked, codes = both.copy_with(tasks=None), both.task_codes[0]
    for number, task in enumerate(both.task_weights):
        alone = untasked.subset(items=codes == number)
        size = len(set(alone.clusters or range(alone.n_items)))
        known = size > 1 and not without_error(alone, *pair)
        p_of_tasks[task] = 1 - law_of_pair(alone, pair[0]).at_most(-limit) if known else None
    failed = [task for task, p in p_of_tasks.items() if p is None or p <= needed]
    false = [task for task, p in p_of_tasks.items() if p is not None and p < 1 - needed]
    but = f"; not shown in {listed(failed)}" * bool(failed)
    but += f", and shown to be false in {listed(false)}" * bool(false)
    count = f"{len(p_of_tasks) - len(failed)} of {len(p_of_tasks)} tasks"
    said = f"{_claim_of(pair, require, margin, shares)} in {count} (P > {needed:.4g} in each){but}."
    found = {"margin": margin, "require": require, "p_needed": needed, "p_of_tasks": p_of_tasks}
    return found | {"failed": failed}, said


def _said_of_tasks(of: TaskComparison, stand: Counter[str], ci_prob: float) -> Iterator[str]:
    scores, size = of.errors.scores, len(of.tasks)
    ahead = (scores == scores.max(axis=1, keepdims=True)).sum(axis=0)
    leaders = [of.methods[j] for j in np.flatnonzero(ahead == ahead.max())]
    yield (
        f"Of {len(of.methods)} methods {listed(leaders)} {'has' if len(leaders) == 1 else 'have'} "
        f"the best score most often, in {ahead.max()} of {size} tasks."
    )
    named = ", ".join(f"{name} in {often}" for name, often in stand.most_common())
    yield (
        "With each task shrunk towards the mean of all, the best method is established in "
        f"{stand.total()} of {size} tasks{f' ({named})' * bool(named)}, all at once with "
        f"probability {ci_prob:.0%}."
    )
