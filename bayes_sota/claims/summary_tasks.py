r"""The same comparison in every task: ``bayes-sota claim responses --by task``.

Differences are those of ``items.by_task``, each drawn towards what all tasks say. A task's verdict,
that A is better or that a method is the best, *stands* if it belongs to the largest set of the most
probable verdicts that are all true at once with the probability of the intervals: nobody is misled
by having looked at every task. ``tests/claims/test_by_task.py`` counts how often all that stand are
true.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.claims.sample_exact import tasks_tree
from bayes_sota.claims.summary import SOURCE
from bayes_sota.claims.summary_methods import MethodsClaim
from bayes_sota.claims.summary_pairs import chosen_pair, points_of, units_of
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import as_sentences, chance, counted
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.responses import Responses
from bayes_sota.items.by_task import TaskComparison, compare_by_task, verdicts_that_stand
from bayes_sota.leaderboard.summary_tasks import best_said, stand_by_method

_LEGEND = (
    "difference, interval and P: drawn towards what all tasks say, the more the fewer items a task "
    "has. stands: all of these verdicts are true at once with probability"
)


def report_tasks(
    outcomes: Responses | ItemScores,
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
    >>> rng = np.random.default_rng(0)
    >>> exam = Responses(rng.random((300, 2)) < [0.9, 0.6], tasks=["law", "art", "math"] * 100)
    >>> report_tasks(exam, pair=("1", "2")).content["n_stand"]
    {'1': 3, '2': 0}
    """
    rng, seed = resolve_seed(random_seed)
    if pair is not None:
        outcomes, methods = chosen_pair(outcomes, methods, pair)
    found = compare_by_task(outcomes, methods, draws=draws, random_seed=rng)
    rows, leads = _rows(found, pair, ci_prob)
    for row, stands in zip(rows, verdicts_that_stand(leads, ci_prob)[0].tolist(), strict=True):
        row["stands"] = stands
    rows.sort(key=lambda row: -found.sign * row["difference"]["mean"] if pair else -row["p"])
    count = stand_by_method(rows, pair or found.methods)
    remarks = [*notes, *found.notes]
    content = {
        "tasks": rows, "n_tasks": len(rows), "n_stand": count, "prob": ci_prob,
        "sd_between_tasks": _summary(np.sqrt(2) * found.spread, ci_prob), "source": source,
        "notes": remarks, "seed": int(seed) if seed.isdigit() else seed,
    }  # fmt: skip
    said = [*_pair_said(rows, count, ci_prob)] if pair else [
        *best_said(found.errors.scores, count, ci_prob)
    ]  # fmt: skip
    first = pair[0] if pair else found.methods[int(found.average.mean(axis=0).argmax())]
    return Report(
        content=content,
        make_frame=partial(_frame, rows),
        tables=[_table(rows, pair, ci_prob, draws, *units_of(found))],
        sentences=said,
        paragraph=[*said, *as_sentences(remarks)],
        legend=[f"{_LEGEND} {ci_prob:g}"],
        basis=[f"Normal model of tasks, {counted(draws, 'draw')}, seed {seed}", SOURCE],
        notes=remarks,
        measured="claims",
        about=MethodsClaim(None, None, partial(tasks_tree, found, outcomes, first, seed=seed)),
    )


def _summary(draws: FloatArray, ci_prob: float) -> dict[str, Any]:
    ends = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2]).tolist()
    return {"mean": float(draws.mean()), "sd": float(draws.std()), "interval": ends}


def _rows(
    found: TaskComparison, pair: tuple[str, str] | None, ci_prob: float
) -> tuple[list[dict[str, Any]], FloatArray]:
    """Numbers of every task, and draws of how far the verdict is true.

    The difference is that of the pair, or of the most probable best one to the best other.
    """
    rows, leads, sign = [], [], found.sign
    for t, task in enumerate(found.tasks):
        of, scores = found.best_in(t), found.errors.scores[t]
        a = found.methods.index(pair[0]) if pair else of.best
        way = sign if a == of.best else -sign
        observed = scores[of.best] - np.delete(scores, of.best).max()
        row = {
            "task": task, "n_items": int(found.errors.n_items[t]),
            "n_clusters": int(found.errors.n_clusters[t]),
            "scores": dict(zip(found.methods, (sign * scores).tolist(), strict=True)),
            "difference": {"observed": float(way * observed), **_summary(way * of.lead, ci_prob)},
            "best": found.methods[of.best], "p": float(of.p_best[of.best]),
        }  # fmt: skip
        if pair:
            row["p_false"] = float(np.mean(sign * way * of.lead <= 0))
        else:
            row["p_best"] = dict(zip(found.methods, of.p_best.tolist(), strict=True))
        rows.append(row)
        leads.append(of.lead)
    return rows, np.column_stack(leads)


def _pair_said(rows: list[dict[str, Any]], count: dict[str, int], ci_prob: float) -> Iterator[str]:
    (a, stand_a), (b, stand_b) = count.items()
    higher = sum(row["difference"]["observed"] > 0 for row in rows)
    lower = sum(row["difference"]["observed"] < 0 for row in rows)
    yield f"{a} scores higher than {b} in {higher} of {len(rows)} tasks, and lower in {lower}."
    yield (
        f"Each task drawn towards what all say, that {a} is better stands in {stand_a} of "
        f"{len(rows)} tasks, and that {b} is better in {stand_b}, with probability {ci_prob:.0%} "
        "for all of them together."
    )


def _table(
    rows: list[dict[str, Any]],
    pair: tuple[str, str] | None,
    ci_prob: float,
    draws: int,
    factor: float,
    unit: str,
) -> Table:
    header = [
        "task", "items", *([] if pair else ["best", "P(best)"]),
        f"observed{f' ({unit})' * bool(unit)}", "difference", f"{ci_prob:.0%} interval",
        *(["P(false)"] if pair else []), "stands",
    ]  # fmt: skip
    cells = []
    for row in rows:
        observed, mean, low, high = points_of(row["difference"], factor)
        p = row["p_false"] if pair else row["p"]
        shown = chance(p, share_mcse(p, draws))
        cells.append([
            row["task"], f"{row['n_items']:,}", *([] if pair else [row["best"], shown]),
            observed, mean, f"{low} to {high}", *([shown] if pair else []),
            f"{row['best']} is better" * row["stands"] if pair else "yes" * row["stands"],
        ])  # fmt: skip
    return Table(header, cells)


def _frame(rows: list[dict[str, Any]]) -> Any:
    flat = []
    for row in rows:
        plain = {k: v for k, v in row.items() if not isinstance(v, dict)}
        low, high = row["difference"]["interval"]
        of = {key: row["difference"][key] for key in ("observed", "mean", "sd")}
        named = {f"p_best_{m}": p for m, p in row.get("p_best", {}).items()}
        scores = {f"score_{m}": x for m, x in row["scores"].items()}
        flat.append(plain | of | {"lower": low, "upper": high} | scores | named)
    return frame_of(flat)
