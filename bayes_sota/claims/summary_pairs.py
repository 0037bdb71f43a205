r"""Differences of pairs of methods on the same items, in points: ``--pair`` and ``--pairs``.

A pair that was named beforehand has the law of ``items.comparison`` for two methods. All pairs at
once: with the draws :math:`d_k` of the differences, their means and standard deviations, and
:math:`M = \max_k |d_k - \bar d_k| / s_k`,

.. math:: p_k = P\left(M \ge |\bar d_k| / s_k\right)

is the probability that chance alone shows such a difference somewhere (Westfall and Young 1993),
and pairs with :math:`p_k` below one minus the probability of the intervals are told apart, all at
once. ``tests/claims/test_pairs.py`` compares with closed forms, and counts how often equal methods
are told apart.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from bayes_sota.claims.sample_exact import comparison_tree
from bayes_sota.claims.summary import SOURCE
from bayes_sota.claims.summary_methods import MethodsClaim
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import as_sentences, chance, counted, decimals_for, nearest
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.responses import Responses
from bayes_sota.items.by_task import TaskComparison
from bayes_sota.items.comparison import MethodComparison, compare_methods

_MOST_PAIRS = 20_000
_BLOCK = 2000  # draws at a time


def report_pairs(
    outcomes: Responses | ItemScores,
    methods: Sequence[str] | None = None,
    *,
    pair: tuple[str, str] | None = None,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    rope: float | None = None,
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
    rope : float, optional
        Half-width of practical equivalence.
    source, notes : str, sequence of str
        Repeated in the report.
    random_seed : int, SeedSequence, Generator or None

    Raises
    ------
    InputError
        Unknown methods, one method twice, or more than 200 methods.

    Examples
    --------
    >>> answers = Responses(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> found = report_pairs(answers, pair=("1", "3")).content["pairs"][0]
    >>> round(found["difference"]["mean"], 2)
    0.31
    """
    rng, seed = resolve_seed(random_seed)
    if pair is not None:
        outcomes, methods = chosen_pair(outcomes, methods, pair)
    found = compare_methods(outcomes, methods, draws=draws, random_seed=rng)
    first, second = _pairs(found, pair)
    differences = found.sign * (found.draws[:, first] - found.draws[:, second])
    rows = list(_rows(found, first, second, differences, ci_prob))
    if rope is not None:
        for row, column in zip(rows, differences.T, strict=True):
            row["rope"] = _regions(found.sign * column, rope)
    if pair is None:
        adjusted = adjusted_chances(differences)
        for row, p in zip(rows, adjusted.tolist(), strict=True):
            row |= {"p_adjusted": p, "told_apart": p < 1 - ci_prob}
    remarks = [*notes, *found.notes]
    apart = sum(row.get("told_apart", False) for row in rows)
    items = counted(found.n_items, outcomes.unit)
    content = {
        "pairs": rows, "n_pairs": len(rows), "n_told_apart": None if pair else apart,
        "n_items": found.n_items, "n_clusters": found.n_clusters, "prob": ci_prob,
        "source": source, "notes": remarks, "seed": int(seed) if seed.isdigit() else seed,
    }  # fmt: skip
    said = _pair_said(rows[0], items, ci_prob, found) if pair else [
        f"On the same {items} {apart:,} of {counted(len(rows), 'pair')} of methods are told apart, "
        f"at {ci_prob:.0%} for all together.",
    ]  # fmt: skip
    return Report(
        content=content,
        make_frame=partial(_frame, rows),
        tables=[_table(rows, found, ci_prob)],
        sentences=said,
        paragraph=[*said, *as_sentences(remarks)],
        legend=[_LEGEND_OF_PAIR if pair else _LEGEND],
        basis=[f"Paired posterior, {counted(len(found.draws), 'draw')}, seed {seed}", SOURCE],
        notes=remarks,
        measured="claims",
        about=MethodsClaim(found, None, partial(comparison_tree, found, outcomes, seed=seed)),
    )


_LEGEND = (
    "P(false): that the first is better than the second is false. Adjusted: the probability that "
    "chance alone shows such a difference in some pair; pairs below it are told apart."
)
_LEGEND_OF_PAIR = (
    "P(false): that the first is better than the second is false, for a pair that was named before "
    "the scores were seen; --pairs allows for having looked at all."
)


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
    largest = np.concatenate([
        np.max(np.abs(differences[start : start + _BLOCK] - means) / sds, axis=1)
        for start in range(0, len(differences), _BLOCK)
    ])  # fmt: skip
    reached = np.searchsorted(np.sort(largest), np.abs(means) / sds)
    return np.asarray(1 - reached / len(largest))


def chosen_pair[T: Responses | ItemScores](
    outcomes: T, methods: Sequence[str] | None, pair: tuple[str, str]
) -> tuple[T, tuple[str, ...]]:
    """The columns of two methods, and the method of each."""
    labels = outcomes.names if methods is None else tuple(methods)
    for name in pair:
        if name not in labels:
            raise InputError(f"there is no method {name!r}{nearest(name, labels)}")
    if pair[0] == pair[1]:
        raise InputError(f"a pair is two methods, got {pair[0]!r} twice")
    kept = [j for j, label in enumerate(labels) if label in pair]
    return cast("T", outcomes.subset(kept)), tuple(labels[j] for j in kept)


def _pairs(found: MethodComparison, pair: tuple[str, str] | None) -> tuple[list[int], list[int]]:
    """Places of the first and the second of each pair: as named, or the better one first."""
    if pair is not None:
        return [found.methods.index(pair[0])], [found.methods.index(pair[1])]
    m = len(found.methods)
    if m * (m - 1) // 2 > _MOST_PAIRS:
        raise InputError(f"{m:,} methods have too many pairs; name two of them")
    order = np.argsort(-found.scores, kind="stable").tolist()
    places = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]
    return [a for a, _ in places], [b for _, b in places]


def _rows(
    found: MethodComparison,
    first: Sequence[int],
    second: Sequence[int],
    differences: FloatArray,
    ci_prob: float,
) -> Iterator[dict[str, Any]]:
    ends = np.quantile(differences, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)
    worse = np.mean(found.sign * differences <= 0, axis=0)
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        p_false, mcse = float(worse[k]), share_mcse(float(worse[k]), len(differences))
        if found.winner in (a, b):  # exact
            other = float(found.p_not_below[b if a == found.winner else a])
            p_false, mcse = (other if a == found.winner else 1 - other), 0.0
        yield {
            "a": found.methods[a], "b": found.methods[b],
            "score_a": float(found.sign * found.scores[a]),
            "score_b": float(found.sign * found.scores[b]),
            "difference": {
                "observed": float(found.sign * (found.scores[a] - found.scores[b])),
                "mean": float(differences[:, k].mean()), "sd": float(differences[:, k].std()),
                "interval": ends[:, k].tolist(),
            },
            "p_false": p_false, "p_false_mcse": mcse,
        }  # fmt: skip


def _regions(gain: FloatArray, rope: float) -> dict[str, float]:
    better, worse = float(np.mean(gain > rope)), float(np.mean(gain < -rope))
    return {
        "half_width": rope, "a_better": better, "equivalent": 1 - better - worse, "b_better": worse
    }  # fmt: skip


def units_of(found: MethodComparison | TaskComparison) -> tuple[float, str]:
    """What differences are multiplied by, and what they are then."""
    shares = found.bounds == (0.0, 1.0)
    return (100.0, "points") if shares else (1.0, "")


def points_of(difference: dict[str, Any], unit: float) -> tuple[str, str, str, str]:
    """Observed difference, mean and ends of its interval, with the digits that they support."""
    d = decimals_for(unit * difference["sd"])
    numbers = (difference["observed"], difference["mean"], *difference["interval"])
    observed, mean, low, high = (f"{unit * x:+z.{d}f}" for x in numbers)
    return observed, mean, low, high


def _pair_said(
    row: dict[str, Any], items: str, ci_prob: float, found: MethodComparison
) -> list[str]:
    factor, unit = units_of(found)
    observed, _, low, high = points_of(row["difference"], factor)
    way = "lower" if observed.startswith("-") else "higher"
    unit += " " * bool(unit)
    better = "better" if found.sign > 0 else "better (lower)"
    said = [
        f"On the same {items} {row['a']} scores {observed[1:]} {unit}{way} than {row['b']} "
        f"({ci_prob:.0%} interval of the difference {low} to {high}); that it is {better} is false "
        f"with probability {chance(row['p_false'], row['p_false_mcse'])}."
    ]
    if "rope" in row:
        rope = row["rope"]
        said.append(
            f"Both are equivalent, within {rope['half_width']:g}, with probability "
            f"{chance(rope['equivalent'], share_mcse(rope['equivalent'], len(found.draws)))}."
        )
    return said


def _table(rows: list[dict[str, Any]], found: MethodComparison, ci_prob: float) -> Table:
    every, region = "p_adjusted" in rows[0], "rope" in rows[0]
    factor, unit = units_of(found)
    header = [
        "first", "second", f"difference{f' ({unit})' * bool(unit)}", f"{ci_prob:.0%} interval",
        "P(false)", *["adjusted", "told apart"] * every, *["P(equivalent)"] * region,
    ]  # fmt: skip
    cells, draws = [], len(found.draws)
    for row in rows:
        observed, _, low, high = points_of(row["difference"], factor)
        adjusted = row.get("p_adjusted", 0.0)
        cells.append([
            row["a"], row["b"], observed, f"{low} to {high}",
            chance(row["p_false"], row["p_false_mcse"]),
            *[chance(adjusted, share_mcse(adjusted, draws)),
              "yes" if row.get("told_apart") else ""] * every,
            *([chance(row["rope"]["equivalent"])] if region else []),
        ])  # fmt: skip
    return Table(header, cells)


def _frame(rows: list[dict[str, Any]]) -> Any:
    flat = []
    for row in rows:
        low, high = row["difference"]["interval"]
        of = {key: row["difference"][key] for key in ("observed", "mean", "sd")}
        rest = {k: v for k, v in row.items() if k not in ("difference", "rope")}
        flat.append(rest | of | {"lower": low, "upper": high} | row.get("rope", {}))
    return frame_of(flat)
