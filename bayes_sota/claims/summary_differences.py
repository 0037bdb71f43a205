r"""Differences of methods on the same items, in points: of pairs, and in every task.

A pair that was named beforehand (``--pair``) has the law of ``items.comparison`` for two methods.
All pairs at once (``--pairs``): with the draws :math:`d_k` of the differences, their means and
standard deviations, and :math:`M = \max_k |d_k - \bar d_k| / s_k`,

.. math:: p_k = P\left(M \ge |\bar d_k| / s_k\right)

is the probability that chance alone shows such a difference somewhere (Westfall and Young 1993),
and pairs with :math:`p_k` below one minus the probability of the intervals are told apart, all at
once. ``tests/claims/test_pairs.py`` compares with closed forms, and counts how often equal methods
are told apart.

Differences in every task (``--by task``) are those of ``items.by_task``, each drawn towards what
all tasks say. A task's verdict, that A is better or that a method is the best, *stands* if it
belongs to the largest set of the most probable verdicts that are all true at once with the
probability of the intervals: nobody is misled by having looked at every task.
``tests/claims/test_by_task.py`` counts how often all that stand are true.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from bayes_sota.claims.sample_exact import comparison_tree, tasks_tree
from bayes_sota.claims.summary import claim_report, measured_of
from bayes_sota.claims.summary_methods import MethodsClaim
from bayes_sota.core.arguments import DEFAULT_SEED, checked_width
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import chance, counted, decimals_for, in_points, nearest
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison, compare_by_task, verdicts_that_stand
from bayes_sota.items.comparison import MethodComparison, compare_methods
from bayes_sota.leaderboard.summary_tasks import best_said, stand_by_method

_MOST_PAIRS = 20_000
_BLOCK = 2000  # draws at a time
type Row = dict[str, Any]
Verdict = Literal["better", "not-worse", "worse", "undecided"]

_ALL_PAIRS = (
    "P(false): that the first is better than the second is false. Adjusted: the probability that "
    "chance alone shows such a difference in some pair; pairs below it are told apart."
)
_ONE_PAIR = (
    "P(false): that the first is better than the second is false, for a pair that was named before "
    "the scores were seen; --pairs allows for having looked at all."
)
_PAIR_OF_TASKS = (
    "of a pair by itself the tasks' own variance is taken, and at least that of new items; without "
    "--pair it is drawn towards that of all pairs"
)
_TASKS = (
    "difference, interval and P: drawn towards what all tasks say, the more the fewer items a task "
    "has. stands: all of these verdicts are true at once with probability"
)


def report_pairs(
    outcomes: Outcomes,
    methods: Sequence[str] | None = None,
    *,
    pair: tuple[str, str] | None = None,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    margin: float = 0.0,
    source: str = "",
    notes: Sequence[str] = (),
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report of the difference of two methods, or of every two, on the same items.

    Parameters
    ----------
    outcomes, methods, draws
        As in ``compare_methods``.
    pair : (str, str), optional
        Two methods that were named beforehand. Default: all pairs, adjusted for that.
    ci_prob : float
        Probability of the intervals, and of all decisions together.
    margin : float
        How much worse the first of a pair may be and count as not worse, in the unit of the scores.
    source, notes : str, sequence of str
        Repeated in the report.
    random_seed : int, SeedSequence, Generator or None

    Raises
    ------
    InputError
        Unknown methods, one method twice, more than 200 methods, a margin below 0 or, of
        shares, of 1 and more.

    Examples
    --------
    >>> from bayes_sota import Outcomes
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> pair = report_pairs(answers, pair=("1", "3")).content["pairs"][0]
    >>> round(pair["difference"]["mean"], 2)
    0.31
    """
    rng, seed = resolve_seed(random_seed)
    if pair is not None:
        outcomes, methods = chosen_pair(outcomes, methods, pair)
    compared = compare_methods(outcomes, methods, draws=draws, random_seed=rng)
    checked_width(margin, "margin", shares=compared.are_shares)
    places = _pairs(compared, pair)
    first, second = zip(*places, strict=True)
    differences = compared.sign * (compared.draws[:, first] - compared.draws[:, second])
    each = zip(places, differences.T, strict=True)
    rows = [_row_of_pair(compared, *place, gap, ci_prob, margin) for place, gap in each]
    remarks, items = [*notes, *compared.notes], counted(compared.n_items, outcomes.unit)
    verdict, apart = dict[str, Any](), None
    if pair is not None:
        lower, upper = sorted(compared.sign * x for x in rows[0]["difference"]["interval"])
        verdict = {"verdict": verdict_of(lower, upper, margin), "margin": margin}
        if outcomes.new == "tasks" and outcomes.tasks is not None:
            remarks.append(_PAIR_OF_TASKS)
        said = _pair_said(rows[0], items, ci_prob, compared)
        by = in_points(margin, compared.are_shares)
        said.append(_verdict_said(verdict["verdict"], rows[0], by, ci_prob))
    else:
        for row, p in zip(rows, adjusted_chances(differences).tolist(), strict=True):
            row |= {"p_adjusted": p, "told_apart": p < 1 - ci_prob}
        apart = sum(row["told_apart"] for row in rows)
        said = [_all_said(apart, len(rows), items, ci_prob)]
    return claim_report(
        {
            **verdict,
            "pairs": rows,
            "n_pairs": len(rows),
            "n_told_apart": apart,
            "n_items": compared.n_items,
            "n_clusters": compared.n_clusters,
            "prob": ci_prob,
            "source": source,
            "notes": remarks,
            "seed": seed_number(seed),
        },
        said,
        f"Paired posterior, {counted(len(compared.draws), 'draw')}, seed {seed}",
        make_frame=lambda: frame_of([_flat(row) | row.get("rope", {}) for row in rows]),
        tables=[Table.of([_cells_of_pair(row, compared, ci_prob) for row in rows])],
        legend=[_ONE_PAIR if pair else _ALL_PAIRS],
        measured=measured_of(outcomes),
        about=MethodsClaim(compared, partial(comparison_tree, compared, outcomes, seed=seed)),
    )


def _all_said(apart: int, n_pairs: int, items: str, ci_prob: float) -> str:
    of = f"{apart:,} of {counted(n_pairs, 'pair')} of methods"
    return f"On the same {items} {of} are told apart, at {ci_prob:.0%} for all together."


def verdict_of(lower: float, upper: float, margin: float) -> Verdict:
    """Verdict from the interval of what the first has more than the second, larger being better.

    Each of "better" and "worse" is wrong with at most half of what the interval leaves out.

    Examples
    --------
    >>> verdict_of(0.01, 0.03, 0), verdict_of(-0.01, 0.03, 0.02)
    ('better', 'not-worse')
    >>> verdict_of(-0.03, 0.01, 0.02), verdict_of(-0.05, -0.01, 0.02)
    ('undecided', 'worse')
    """
    if lower > 0:
        return "better"
    if lower > -margin:
        return "not-worse"
    return "worse" if upper < 0 else "undecided"


def _verdict_said(verdict: Verdict, row: Row, margin: str, ci_prob: float) -> str:
    """The verdict in a sentence."""
    told = {
        "better": f"{row['a']} is better than {row['b']}",
        "not-worse": f"{row['a']} is not worse than {row['b']} by more than {margin}",
        "worse": f"{row['a']} is worse than {row['b']}",
        "undecided": "undecided",
    }[verdict]
    return f"Verdict at {ci_prob:.0%}, for a pair named beforehand: {told}."


def adjusted_chances(differences: FloatArray) -> FloatArray:
    """Probability that chance alone shows such a difference in some pair, (pairs,).

    Parameters
    ----------
    differences : ndarray, shape (draws, pairs)

    Examples
    --------
    >>> draws = np.random.default_rng(0).standard_normal((4000, 20)) + np.r_[5.0, np.zeros(19)]
    >>> bool(adjusted_chances(draws)[0] < 0.001)
    True
    """
    means, sds = differences.mean(axis=0), differences.std(axis=0)
    sds = np.where(sds > 0, sds, np.inf)
    blocks = (differences[at : at + _BLOCK] for at in range(0, len(differences), _BLOCK))
    largest = np.concatenate([np.max(np.abs(d - means) / sds, axis=1) for d in blocks])
    reached = np.searchsorted(np.sort(largest), np.abs(means) / sds)
    return 1 - reached / len(largest)


def chosen_pair(
    outcomes: Outcomes, methods: Sequence[str] | None, pair: tuple[str, str]
) -> tuple[Outcomes, tuple[str, ...]]:
    """The columns of two methods, and the method of each."""
    labels = outcomes.names if methods is None else tuple(methods)
    for name in pair:
        if name not in labels:
            raise InputError(f"there is no method {name!r}{nearest(name, labels)}")
    if pair[0] == pair[1]:
        raise InputError(f"a pair is two methods, got {pair[0]!r} twice")
    kept = [j for j, label in enumerate(labels) if label in pair]
    return outcomes.subset(kept), tuple(labels[j] for j in kept)


def _pairs(compared: MethodComparison, pair: tuple[str, str] | None) -> list[tuple[int, int]]:
    """Places of the first and the second of each pair: as named, or the better one first."""
    if pair is not None:
        return [(compared.methods.index(pair[0]), compared.methods.index(pair[1]))]
    m = len(compared.methods)
    if m * (m - 1) // 2 > _MOST_PAIRS:
        raise InputError(f"{m:,} methods have too many pairs; name two of them")
    order = np.argsort(-compared.scores, kind="stable").tolist()
    return [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]


def _row_of_pair(
    compared: MethodComparison,
    a: int,
    b: int,
    difference: FloatArray,
    ci_prob: float,
    margin: float,
) -> Row:
    """Numbers of one pair, given draws of the first minus the second."""
    scores, gain = compared.sign * compared.scores, compared.sign * difference
    p_false = float(np.mean(gain <= 0))
    mcse = share_mcse(p_false, len(gain))
    if compared.winner in (a, b):  # exact
        other = float(compared.p_not_below[b if a == compared.winner else a])
        p_false, mcse = (other if a == compared.winner else 1 - other), 0.0
    observed = {"observed": float(scores[a] - scores[b])}
    return {
        "a": compared.methods[a],
        "b": compared.methods[b],
        "score_a": float(scores[a]),
        "score_b": float(scores[b]),
        "difference": observed | _moments(difference, ci_prob),
        "p_false": p_false,
        "p_false_mcse": mcse,
        **({"rope": _regions(gain, margin)} if margin else {}),
    }


def _moments(draws: FloatArray, ci_prob: float) -> Row:
    ends = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2]).tolist()
    return {"mean": float(draws.mean()), "sd": float(draws.std()), "interval": ends}


def _flat(row: Row) -> Row:
    """Numbers of a row as columns, those of its difference last."""
    of = row["difference"]
    plain = {k: v for k, v in row.items() if not isinstance(v, dict)}
    ends = dict(zip(("lower", "upper"), of["interval"], strict=True))
    return plain | {key: of[key] for key in ("observed", "mean", "sd")} | ends


def _regions(gain: FloatArray, rope: float) -> dict[str, float]:
    better, worse = float(np.mean(gain > rope)), float(np.mean(gain < -rope))
    return {
        "half_width": rope,
        "a_better": better,
        "equivalent": 1 - better - worse,
        "b_better": worse,
    }


def _units(compared: MethodComparison | TaskComparison) -> tuple[float, str]:
    """What differences are multiplied by, and what they are then."""
    return (100.0, "points") if compared.bounds == (0.0, 1.0) else (1.0, "")


def points_of(difference: Row, unit: float) -> tuple[str, str, str, str]:
    """Observed difference, mean and ends of its interval, with the digits that they support."""
    d = decimals_for(unit * difference["sd"])
    numbers = (difference["observed"], difference["mean"], *difference["interval"])
    observed, mean, low, high = (f"{unit * x:+z.{d}f}" for x in numbers)
    return observed, mean, low, high


def _pair_said(row: Row, items: str, ci_prob: float, compared: MethodComparison) -> list[str]:
    factor, unit = _units(compared)
    observed, _, low, high = points_of(row["difference"], factor)
    way = "lower" if observed.startswith("-") else "higher"
    unit += " " * bool(unit)
    better = "better" if compared.sign > 0 else "better (lower)"
    said = [
        f"On the same {items} {row['a']} scores {observed[1:]} {unit}{way} than {row['b']} "
        f"({ci_prob:.0%} interval of the difference {low} to {high}); that it is {better} is false "
        f"with probability {chance(row['p_false'], row['p_false_mcse'])}."
    ]
    if "rope" in row:
        rope = row["rope"]
        said.append(
            "Both are equivalent, within "
            f"{in_points(rope['half_width'], compared.are_shares)}, with probability "
            f"{chance(rope['equivalent'], share_mcse(rope['equivalent'], len(compared.draws)))}."
        )
    return said


def _cells_of_pair(row: Row, compared: MethodComparison, ci_prob: float) -> dict[str, str]:
    factor, unit = _units(compared)
    observed, _, low, high = points_of(row["difference"], factor)
    cells = {
        "first": row["a"],
        "second": row["b"],
        f"difference{f' ({unit})' * bool(unit)}": observed,
        f"{ci_prob:.0%} interval": f"{low} to {high}",
        "P(false)": chance(row["p_false"], row["p_false_mcse"]),
    }
    if "p_adjusted" in row:
        p = row["p_adjusted"]
        cells["adjusted"] = chance(p, share_mcse(p, len(compared.draws)))
        cells["told apart"] = "yes" * row["told_apart"]
    return cells


def report_tasks(
    outcomes: Outcomes,
    methods: Sequence[str] | None = None,
    *,
    pair: tuple[str, str] | None = None,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    source: str = "",
    notes: Sequence[str] = (),
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report of the difference of two methods, or of who is the best, in every task.

    Parameters
    ----------
    outcomes, methods, draws
        As in ``compare_by_task``.
    pair : (str, str), optional
        Two methods that were named beforehand. Default: which of all is the best.
    ci_prob : float
        Probability of the intervals, and of all verdicts that stand together.
    source, notes : str, sequence of str
        Repeated in the report.
    random_seed : int, SeedSequence, Generator or None

    Raises
    ------
    InputError
        No tasks or one, unknown methods.

    Examples
    --------
    >>> from bayes_sota import Outcomes
    >>> rng = np.random.default_rng(0)
    >>> exam = Outcomes(rng.random((300, 2)) < [0.9, 0.6], tasks=["law", "art", "math"] * 100)
    >>> report_tasks(exam, pair=("1", "2")).content["n_stand"]
    {'1': 3, '2': 0}
    """
    rng, seed = resolve_seed(random_seed)
    if pair is not None:
        outcomes, methods = chosen_pair(outcomes, methods, pair)
    compared = compare_by_task(outcomes, methods, draws=draws, random_seed=rng)
    tasks = [_row_of_task(compared, t, pair, ci_prob) for t in range(len(compared.tasks))]
    stand = verdicts_that_stand(np.column_stack([lead for _, lead in tasks]), ci_prob)[0]
    rows = [row | {"stands": is_so} for (row, _), is_so in zip(tasks, stand.tolist(), strict=True)]
    rows.sort(key=lambda row: -compared.sign * row["difference"]["mean"] if pair else -row["p"])
    count = stand_by_method(rows, pair or compared.methods)
    remarks = [*notes, *compared.notes]
    if pair:
        first, said = pair[0], _pair_in_tasks(rows, count, ci_prob)
    else:
        first = compared.methods[int(compared.average.mean(axis=0).argmax())]
        said = best_said(compared.errors.scores, count, ci_prob)
    cells = [_cells_of_task(row, bool(pair), ci_prob, draws, compared) for row in rows]
    return claim_report(
        {
            "tasks": rows,
            "n_tasks": len(rows),
            "n_stand": count,
            "prob": ci_prob,
            "sd_between_tasks": _moments(np.sqrt(2) * compared.spread, ci_prob),
            "source": source,
            "notes": remarks,
            "seed": seed_number(seed),
        },
        list(said),
        f"Normal model of tasks, {counted(draws, 'draw')}, seed {seed}",
        make_frame=lambda: frame_of([_flat(row) | _of_methods(row) for row in rows]),
        tables=[Table.of(cells)],
        legend=[f"{_TASKS} {ci_prob:g}"],
        about=MethodsClaim(None, partial(tasks_tree, compared, outcomes, first, seed=seed)),
    )


def _row_of_task(
    compared: TaskComparison, task: int, pair: tuple[str, str] | None, ci_prob: float
) -> tuple[Row, FloatArray]:
    """Numbers of a task, and draws of how far its verdict is true.

    The difference is that of the pair, or of the most probable best one to the best other.
    """
    of, scores, sign = compared.best_in(task), compared.errors.scores[task], compared.sign
    way = -sign if pair and compared.methods.index(pair[0]) != of.best else sign
    observed = {"observed": float(way * (scores[of.best] - np.delete(scores, of.best).max()))}
    row = {
        "task": compared.tasks[task],
        "n_items": int(compared.errors.n_items[task]),
        "n_clusters": int(compared.errors.n_clusters[task]),
        "scores": dict(zip(compared.methods, (sign * scores).tolist(), strict=True)),
        "difference": observed | _moments(way * of.lead, ci_prob),
        "best": compared.methods[of.best],
        "p": float(of.p_best[of.best]),
    }
    if pair:
        return row | {"p_false": float(np.mean(sign * way * of.lead <= 0))}, of.lead
    return row | {"p_best": dict(zip(compared.methods, of.p_best.tolist(), strict=True))}, of.lead


def _pair_in_tasks(rows: list[Row], count: dict[str, int], ci_prob: float) -> Iterator[str]:
    (a, stand_a), (b, stand_b) = count.items()
    higher = sum(row["difference"]["observed"] > 0 for row in rows)
    lower = sum(row["difference"]["observed"] < 0 for row in rows)
    yield f"{a} scores higher than {b} in {higher} of {len(rows)} tasks, and lower in {lower}."
    yield (
        f"Each task drawn towards what all say, that {a} is better stands in {stand_a} of "
        f"{len(rows)} tasks, and that {b} is better in {stand_b}, with probability {ci_prob:.0%} "
        "for all of them together."
    )


def _cells_of_task(
    row: Row, of_pair: bool, ci_prob: float, draws: int, compared: TaskComparison
) -> dict[str, str]:
    factor, unit = _units(compared)
    observed, mean, low, high = points_of(row["difference"], factor)
    p = row["p_false" if of_pair else "p"]
    shown, verdict = chance(p, share_mcse(p, draws)), f"{row['best']} is better"
    return {
        "task": row["task"],
        "items": f"{row['n_items']:,}",
        **({} if of_pair else {"best": row["best"], "P(best)": shown}),
        f"observed{f' ({unit})' * bool(unit)}": observed,
        "difference": mean,
        f"{ci_prob:.0%} interval": f"{low} to {high}",
        **({"P(false)": shown} if of_pair else {}),
        "stands": (verdict if of_pair else "yes") * row["stands"],
    }


def _of_methods(row: Row) -> dict[str, float]:
    """Scores of the methods in a task, and the probabilities that each is the best."""
    scores = {f"score_{method}": score for method, score in row["scores"].items()}
    return scores | {f"p_best_{method}": p for method, p in row.get("p_best", {}).items()}
