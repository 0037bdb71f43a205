"""The gate: is a method better than another, or not worse by more than a margin?

The pair was named beforehand and has the law of ``claims.pair``: no draw decides a gate, and its
verdict agrees with the interval that is printed. ``tests/claims/test_gate.py`` tries its rules.
"""

from collections.abc import Iterator
from typing import Any, Literal

from bayes_sota.claims.pair import PairLaw, chosen_pair, law_of_pair
from bayes_sota.claims.sample_exact import comparison_tree
from bayes_sota.claims.summary import chance
from bayes_sota.claims.summary_methods import (
    Row,
    answers_report,
    difference_columns,
    row_of_pair,
    shown_difference,
    unit_of,
)
from bayes_sota.core.arguments import DEFAULT_SEED, check_choice, checked_width
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.tables import Report
from bayes_sota.core.text import about, counted, in_points
from bayes_sota.core.text import chance as fine_chance
from bayes_sota.core.types import Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import MethodComparison, compare_methods
from bayes_sota.leaderboard.anchors import UNLIKELY, disagreement_of_items, notes_of_anchors

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
        How much worse the first may be and count as not worse, in the unit of the scores.
    require : {"better", "not-worse"}, optional
        What has to be shown of the first.
    ci_prob : float
        Of the interval; one-sided probabilities need ``(1 + ci_prob) / 2``.
    draws, random_seed
        Of the tree alone.

    Returns
    -------
    Report
        ``content`` has ``verdict`` ("better", "not-worse", "worse" or "undecided"), ``passed``
        (None without ``require``), ``p`` and ``p_needed`` of what is ``claimed``, ``n_more`` items
        that would decide if the difference stays, and the pair as the only row of ``pairs``.

    Raises
    ------
    InputError
        Unknown methods, one method twice, a margin below 0 or, of shares, of 1 and more.

    Examples
    --------
    >>> import numpy as np
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> print(report_gate(answers, ("1", "3"), require="better").sentences[0])
    1 is better than 3: shown (P > 0.99; 0.975 needed).
    """
    if require is not None:
        check_choice("require", require, Required)
    rng, seed = resolve_seed(random_seed)
    both = chosen_pair(outcomes, pair)
    of = compare_methods(both, draws=draws, random_seed=rng)
    checked_width(margin, "margin", shares=of.are_shares)
    law = law_of_pair(both, pair[0], outcomes)
    row = row_of_pair(of, of.methods.index(pair[0]), of.methods.index(pair[1]), ci_prob)
    row["difference"]["interval"] = sorted(of.sign * end for end in law.interval(ci_prob))
    row |= {"p_false": law.at_most(0.0), "p_false_mcse": 0.0}
    row["difference"]["mean"] = of.sign * law.centre
    if outcomes.anchors is not None:  # what is expected, not what these items show
        row["difference"]["observed"] = of.sign * law.centre
    if margin:
        better, worse = 1 - law.at_most(margin), law.at_most(-margin)
        row["rope"] = {"half_width": margin, "a_better": better}
        row["rope"] |= {"equivalent": 1 - better - worse, "b_better": worse}
    content = _judged(law, require, margin, ci_prob, of.n_items)
    anchors = outcomes.anchors
    if anchors is not None and {*pair} <= {*anchors.names}:
        raise InputError("the skills of both are known, and so is their difference")
    p, words = disagreement_of_items(outcomes)
    content["notes"] = [*notes_of_anchors(anchors), *[words] * (p < UNLIKELY)]
    content |= {"pairs": [row], "n_pairs": 1, "n_told_apart": None, "prob": ci_prob}
    if both.new == "tasks" and both.tasks is not None and outcomes.anchors is None:
        content["notes"] += [
            "of a pair by itself the tasks' own variance is taken, and at least that of new items; "
            "without --pair it is shrunk towards that of all pairs"
        ]
    columns: Row = {"first": "a", "second": "b", **difference_columns(of, ci_prob)}
    columns["P(false)"] = lambda row: fine_chance(row["p_false"])
    return answers_report(
        both,
        of,
        seed,
        _said(row, content, of, both.unit),
        "Posterior of the difference without draws; those of the tree",
        content,
        [row],
        columns,
        comparison_tree,
        legend=[
            "The pair was named before the scores were seen; --pairs allows for having looked at "
            "all."
        ],
    )


def _judged(
    law: PairLaw, require: str | None, margin: float, ci_prob: float, n_items: int
) -> dict[str, Any]:
    """Verdict on a pair, what was claimed of it, and whether that is shown."""
    needed, p_false = (1 + ci_prob) / 2, law.at_most(0.0)
    p = {"better": 1 - p_false, "not-worse": 1 - law.at_most(-margin), "worse": p_false}
    verdict = next((name for name, value in p.items() if value > needed), "undecided")
    claimed = require or ("not-worse" if margin else "better")
    if require is None and verdict != "undecided":
        claimed = verdict
    limit = -margin if claimed == "not-worse" else 0.0
    return {
        "verdict": verdict,
        "margin": margin,
        "require": require,
        "passed": None if require is None else verdict in ("better", require),
        "claimed": claimed,
        "p": p[claimed],
        "p_needed": needed,
        "n_more": law.more_items(limit, ci_prob, n_items),
    }


def _said(row: Row, content: Row, of: MethodComparison, unit: str) -> Iterator[str]:
    """The verdict, the difference, what would decide, and probabilities in one line."""
    a, b, p, needed = row["a"], row["b"], content["p"], content["p_needed"]
    width = in_points(content["margin"], of.are_shares)
    by = f" by more than {width}" * bool(content["margin"])
    claim = {"not-worse": f"not worse than {b}{by}"}.get(
        content["claimed"], f"{content['claimed']} than {b}"
    )
    printed = chance(p, needed)
    equal = "" if printed[0] in "<>" else "= "
    shown = "shown" if p > needed else "not shown"
    yield f"{a} is {claim}: {shown} (P {equal}{printed}; {needed:.4g} needed)."
    factor, points = unit_of(of)
    observed, _, ends = shown_difference(row["difference"], factor)
    yield f"Difference {observed}{points} ({ends}) on {counted(of.n_items, unit)}."
    if content["n_more"] is not None:
        items = about(content["n_more"]).capitalize()
        yield f"{items} more {unit}s would decide if the difference stays."
    if content["passed"] is not None:
        yield "PASSED." if content["passed"] else "FAILED."
    if rope := row.get("rope"):
        better, within, worse = (chance(rope[k]) for k in ("a_better", "equivalent", "b_better"))
        yield (
            f"P(better by more than {width}) {better}, P(within) {within}, P(worse by more) "
            f"{worse}."
        )
