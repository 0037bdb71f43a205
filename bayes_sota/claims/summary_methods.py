r"""Reports of methods on the same items: the best one, and all pairs.

With draws :math:`d_k` of the differences of all pairs, and
:math:`M = \max_k |d_k - \bar d_k| / s_k`,

.. math:: p_k = P\left(M \ge |\bar d_k| / s_k\right)

is the probability that chance alone shows such a difference somewhere (Westfall and Young 1993).
``tests/claims/test_pairs.py`` counts how often equal methods are distinguished.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from bayes_sota.claims.sample_exact import comparison_tree
from bayes_sota.claims.summary import claim_report, unit_of
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.summary import frame_of, summarize_draws
from bayes_sota.core.tables import Report, table_of
from bayes_sota.core.text import chance, counted, decimals_for, decimals_of, in_prose, listed, span
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import TaskComparison
from bayes_sota.items.comparison import MethodComparison, compare_methods, without_error
from bayes_sota.leaderboard.summary_words import cautious_on

_DRAWS = 4000
_MOST_PAIRS = 20_000
_BLOCK = 2000
type Row = dict[str, Any]
type Compared = MethodComparison | TaskComparison


def answers_report(
    outcomes: Outcomes,
    of: Compared,
    seed: str,
    content: Row,
    rows: Sequence[Row],
    columns: Row,
    *,
    said: Iterable[str],
    how: str,
    legend: str,
    reasons: Sequence[str] = (),
    **of_tree: Any,
) -> Report:
    """Report of answers, about a ``comparison`` and its ``to_datatree``."""
    notes = [*outcomes.notes, *of.notes, *content.get("notes", [])]
    content = {"seed": seed_number(seed)} | content | {"source": outcomes.name, "notes": notes}
    tree = partial(comparison_tree, of, outcomes, seed=seed, **of_tree)
    if isinstance(of, MethodComparison):
        content |= {"n_items": of.n_items, "n_clusters": of.n_clusters}
    content["diagnostics"] = {"ok": not reasons, "reasons": [*reasons]}
    return claim_report(
        content,
        list(said),
        how,
        make_frame=lambda: frame_of([flat(row) for row in rows]),
        tables=[table_of(rows, columns)],
        legend=[legend],
        reasons=reasons,
        measured="responses" if outcomes.unit == "item" else "data_sets",
        about=SimpleNamespace(comparison=of, to_datatree=tree),
    )


def difference_of(of: Compared, draws: FloatArray, observed: float, ci_prob: float) -> Row:
    """Observed difference, and mean, SD and interval of draws."""
    found = summarize_draws(draws, ci_prob)
    found["interval"] = within_scale(of, found["interval"])
    return {"observed": observed} | {key: found[key] for key in ("mean", "sd", "interval")}


def within_scale(of: Compared, ends: Iterable[float]) -> list[float]:
    """Ends of an interval of a difference, cut at those of the scale."""
    reach = np.ptp(of.bounds)
    return np.clip(sorted(ends), -reach, reach).tolist()


def shown_difference(difference: Row, factor: float) -> tuple[str, str, str]:
    """Observed difference, mean and interval as text, with the digits that they support."""
    d = decimals_for(factor * min(difference["sd"], np.ptp(difference["interval"])))
    numbers = (difference["observed"], difference["mean"], *difference["interval"])
    observed, mean, low, high = (f"{factor * x:+z.{d}f}" for x in numbers)
    return observed, mean, f"{low} to {high}"


def difference_columns(compared: Compared, ci_prob: float, mean: str = "") -> Row:
    """Columns of observed differences, means (if ``mean`` names them) and intervals."""
    factor, unit = unit_of(compared.bounds == (0.0, 1.0))
    heads = ["observed" if mean else "difference", mean, f"{ci_prob:.0%} interval"]
    heads[0] += f" ({unit.strip()})" * bool(unit)
    return {
        head: lambda row, place=place: shown_difference(row["difference"], factor)[place]
        for place, head in enumerate(heads)
        if head
    }


def flat(row: Row) -> Row:
    """A row of a frame, with the numbers of its difference last."""
    found = {k: v for k, v in row.items() if not isinstance(v, dict) and k != "interval"}
    for key, name in (("scores", "score"), ("p_best", "p_best")):
        if isinstance(row.get(key), dict):
            found |= {f"{name}_{of}": x for of, x in row[key].items()}
    of = row.get("difference", row)
    found |= row.get("rope", {}) | {key: of[key] for key in ("observed", "mean", "sd") if key in of}
    return found | dict(zip(("lower", "upper"), of["interval"], strict=True))


def report_methods(
    outcomes: Outcomes,
    *,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    selection: bool = True,
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report of several methods on the same items: the best, and those that may be as good.

    Parameters
    ----------
    outcomes, draws, random_seed
        As in ``compare_methods``.
    ci_prob : float
        Probability of the intervals, and of the comparison with the winner.
    selection : bool
        Whether to allow for having picked the winner, by the joint posterior of all skills.

    Examples
    --------
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 2)) < [0.9, 0.6])
    >>> report_methods(answers, selection=False).content["tied_with_best"]
    ['1']
    """
    rng, seed = resolve_seed(random_seed)
    of = compare_methods(outcomes, draws=draws, random_seed=rng)
    joint, notes = None, list[str]()
    if selection:
        from bayes_sota.leaderboard.posterior import board_posterior

        again = int(seed) if seed.isdigit() else rng
        try:
            joint = board_posterior(outcomes.complete(), draws=_DRAWS, random_seed=again)
        except InputError as error:
            notes = [f"picking the winner is not corrected for: {error}"]
    entries = joint and joint.entries
    picking = joint and {
        "p_not_best": float(1 - joint.entries.p_best[of.winner]),
        "p_not_best_mcse": float(joint.entries.p_best_mcse[of.winner]),
        "rho": float(joint.draws["rho"].mean()),
    }
    rows = _methods(of, entries, ci_prob)
    in_clusters = of.n_clusters != of.n_items
    size = counted(of.n_items, outcomes.unit) + f" in {of.n_clusters:,} clusters" * in_clusters
    content: Row = {
        "p_false": of.p_false,
        "winner": of.methods[of.winner],
        "runner_up": of.methods[of.runner_up],
        "p_beaten": of.p_beaten,
        "tied_with_best": [row["name"] for row in rows if row["tied_with_best"]],
        "methods": rows,
        "prob": ci_prob,
        "p_best": entries and dict(zip(of.methods, entries.p_best.tolist(), strict=True)),
        "selection": picking,
        "notes": notes,
    }
    columns: Row = {
        "method": "name",
        "score": lambda row: f"{row['score']:.{decimals_of(row) + 1}f}",
        f"{ci_prob:.0%} interval": lambda row: span(row["interval"], decimals_of(row)),
        "P(best)": lambda row: entries and chance(row["p_best"], row["p_best_mcse"]),
        "tied with best": lambda row: "yes" * row["tied_with_best"],
    }
    tied = f"cannot be distinguished from the winner, pair by pair, at {ci_prob:.0%}"
    return answers_report(
        outcomes,
        of,
        seed,
        content,
        rows,
        columns,
        said=_answer(of, content, size, outcomes),
        how=f"Paired posterior, {counted(draws, 'draw')}, seed {seed}",
        legend=f"tied with best: {tied}",
        joint=entries,
        reasons=joint.reasons if joint else (),
    )


def of_draws(p: float, draws: int) -> str:
    """A share of draws with the digits that they support."""
    return chance(p, share_mcse(p, draws))


def _methods(of: MethodComparison, joint: Any, ci_prob: float) -> list[Row]:
    tied, intervals = of.tied_with_best(ci_prob), of.sign * of.interval(ci_prob)
    return [
        {
            "name": of.methods[j],
            "score": float(of.sign * of.scores[j]),
            "interval": sorted(intervals[j].tolist()),
            "p_best": joint and float(joint.p_best[j]),
            "p_best_mcse": joint and float(joint.p_best_mcse[j]),
            "p_best_uncorrected": float(of.p_best[j]),
            "p_not_below_winner": float(of.p_not_below[j]),
            "tied_with_best": bool(tied[j]),
            "mcse": float(np.ptp(intervals[j])) / 4 / len(of.draws) ** 0.5,
        }
        for j in np.argsort(-of.scores, kind="stable")
    ]


def _answer(of: MethodComparison, content: Row, size: str, outcomes: Outcomes) -> Iterator[str]:
    winner, picking = content["winner"], content["selection"]
    first = [of.methods[j] for j in np.flatnonzero(of.scores == of.scores[of.winner])]
    yield (
        f"On the same {size} {listed(first)} {'share' if len(first) > 1 else 'has'} the best score "
        f"of {len(of.methods)} methods; the claim that {winner} beats {content['runner_up']} is "
        f"false with probability {in_prose(of.p_false)}."
    )
    others = [name for name in content["tied_with_best"] if name != winner]
    if others:
        yield f"{listed(others)} cannot be distinguished from {winner}."
    else:
        yield f"{winner} can be distinguished from every other method."
    if picking is None:
        yield f"Some other method is better than {winner} with probability {in_prose(of.p_beaten)}."
    else:
        p = in_prose(picking["p_not_best"])
        yield (
            f"The winner was picked by its score on these {outcomes.unit}s; allowing for that, "
            f"another method is the best with probability {p}{cautious_on(outcomes)}."
        )


def report_pairs(
    outcomes: Outcomes,
    *,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report of the differences of every two methods, adjusted for having looked at all.

    Parameters
    ----------
    outcomes, draws, random_seed
        As in ``compare_methods``.
    ci_prob : float
        Probability of the intervals, and of all decisions together.

    Raises
    ------
    InputError
        More than 200 methods.

    Examples
    --------
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 2)) < [0.9, 0.6])
    >>> report_pairs(answers).content["n_told_apart"]
    1
    """
    rng, seed = resolve_seed(random_seed)
    of = compare_methods(outcomes, draws=draws, random_seed=rng)
    order = np.argsort(-of.scores, kind="stable")
    first, second = (order[k] for k in np.triu_indices(len(order), 1))
    if first.size > _MOST_PAIRS:
        raise InputError(f"{len(order):,} methods have too many pairs; name two with --pair A B")
    gains, rows = of.draws[:, first] - of.draws[:, second], []
    for a, b, gain, p in zip(first, second, gains.T, adjusted_chances(gains), strict=True):
        p_false = float(of.p_not_below[b] if a == of.winner else np.mean(gain <= 0))
        rows.append(
            row_of_pair(of, a, b, ci_prob)
            | {"p_adjusted": float(p), "told_apart": bool(p < 1 - ci_prob), "p_false": p_false}
            | {"p_false_mcse": 0.0 if a == of.winner else share_mcse(p_false, draws)}
        )
    reasons = list[str]()
    for row in rows:
        if doubts := without_error(outcomes, row["a"], row["b"]):
            row |= {"p_adjusted": 1.0, "told_apart": False}
            reasons += doubts
    apart = sum(row["told_apart"] for row in rows)
    content = {"pairs": rows, "n_pairs": len(rows), "n_told_apart": apart, "prob": ci_prob}
    columns: Row = {
        "first": "a",
        "second": "b",
        **difference_columns(of, ci_prob),
        "P(false)": lambda row: chance(row["p_false"], row["p_false_mcse"]),
        "adjusted": lambda row: of_draws(row["p_adjusted"], draws),
        "distinguished": lambda row: "yes" * row["told_apart"],
    }
    size, number = counted(of.n_items, outcomes.unit), counted(len(rows), "pair")
    said = [
        f"On the same {size} {apart:,} of {number} of methods can be distinguished, at "
        f"{ci_prob:.0%} for all together."
    ]
    how = f"Paired posterior, {counted(draws, 'draw')}"
    legend = (
        "P(false): the probability that the first is not better than the second. Adjusted: the "
        "probability that chance alone shows such a difference in some pair; pairs below "
        f"{1 - ci_prob:.3g} can be distinguished. Each pair is judged by the error of its own "
        "difference; bayes-sota board asks which ranks are possible, with one model of all errors."
    )
    return answers_report(
        outcomes,
        of,
        seed,
        content,
        rows,
        columns,
        said=said,
        how=f"{how}, seed {seed}",
        legend=legend,
        reasons=reasons,
    )


def row_of_pair(of: MethodComparison, a: int, b: int, ci_prob: float) -> Row:
    """Scores and their difference, in the unit given."""
    scores = of.sign * of.scores
    gap = of.sign * (of.draws[:, a] - of.draws[:, b])
    return {
        "a": of.methods[a],
        "b": of.methods[b],
        "score_a": float(scores[a]),
        "score_b": float(scores[b]),
        "difference": difference_of(of, gap, float(scores[a] - scores[b]), ci_prob),
    }


def adjusted_chances(differences: FloatArray) -> FloatArray:
    """The probabilities :math:`p_k`, (pairs,), of draws (draws, pairs)."""
    means, sds = differences.mean(axis=0), differences.std(axis=0)
    sds = np.where(sds > 0, sds, np.inf)
    blocks = (differences[at : at + _BLOCK] for at in range(0, len(differences), _BLOCK))
    largest = np.concatenate([np.max(np.abs(d - means) / sds, axis=1) for d in blocks])
    reached = np.searchsorted(np.sort(largest), np.abs(means) / sds)
    return 1 - reached / len(largest)
