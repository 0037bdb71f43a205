"""Reports of plans, from two numbers and from a pilot: ``bayes-sota claim plan``."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from bayes_sota.claims.claim import Claim
from bayes_sota.claims.means import Means
from bayes_sota.claims.pair import Pilot
from bayes_sota.claims.summary import (
    LAWS,
    SOURCE,
    assumptions,
    claim_report,
    content_of,
    said_of_size,
)
from bayes_sota.claims.summary_methods import unit_of
from bayes_sota.core.arguments import NOT_NEGATIVE, POSITIVE, checked_width
from bayes_sota.core.summary import frame_of, numbers_report
from bayes_sota.core.tables import Report, table_of
from bayes_sota.core.text import counted, in_points, in_prose
from bayes_sota.data.outcomes import Outcomes

_ONE_SIDED = "the level is one-sided, as a claim is; a gate at --prob 0.95 needs --level 0.025"
_ENOUGH = 35  # clusters, whose standard error is 20 % off at most in nine of ten pilots


def report_plan(
    claim: Claim,
    *,
    level: float = 0.05,
    power: float = 0.8,
    n_test: int | None = None,
    anchors: int = 0,
    printed: tuple[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """Items that a claim of these numbers needs, if they are observed, or if they are the truth.

    Parameters
    ----------
    claim : Accuracies or Means
        Its ``n`` is of no effect but after ``n_test`` items.
    level, power : float
        Largest probability that the claim is false, and how probable a claim shall be.
    n_test : int, optional
        Items observed so far: adds the fresh items that make the claim with this probability.
    anchors : int
        Models whose skill is known from elsewhere, B among them: adds the items that then do.
    printed : (str, str), optional
        The two accuracies as typed, for the sentences.
    notes : sequence of str
        Repeated in the report.

    Examples
    --------
    >>> from bayes_sota.claims import Accuracies
    >>> report_plan(Accuracies(a=0.90, b=0.88, n=2)).content["n_needed"]
    826
    """
    content = content_of(claim, level, notes) | {
        "gap": claim.a - claim.b,
        "n_needed": claim.size(level),
        "n_needed_range": [*claim.size_range(level)],
        "power": power,
        "n_for_power": claim.powered_size(level, power),
        "n_test": n_test,
    }
    numbers = " against ".join(printed or (f"{claim.a:g}", f"{claim.b:g}"))
    if not claim.b:
        numbers = f"a gap of {claim.a:g}"
    aim = f"the claim with probability {power:g}"
    size, ends = content["n_needed"], content["n_needed_range"]
    said = [said_of_size(claim, numbers, level, size, ends)]
    if content["n_for_power"] is not None:
        items = counted(content["n_for_power"], claim.item)
        said.append(f"If that is the true difference, {items} lead to {aim}.")
    if anchors and content["n_needed"] is not None:
        of_all, correlation = share_with_anchors(claim, anchors)
        sizes = [ceil(content[key] * of_all) for key in ("n_needed", "n_for_power")]
        content |= dict(zip(("n_with_anchors", "n_for_power_with_anchors"), sizes, strict=True))
        content |= {"anchors": anchors, "correlation_of_anchors": correlation}
        more = f" and of {counted(anchors - 1, 'model')} like it" if anchors > 1 else ""
        said.append(
            f"If the skill of B{more} is known and all answer these {claim.item}s, {sizes[0]:,} "
            f"and {sizes[1]:,} are enough (two models' answers correlating by {correlation:.2f})."
        )
    if n_test:
        observed = replace(claim, n=n_test)
        content["n_assured"] = fresh = observed.assured_size(level, power)
        content["highest_assurance"] = p = 1 - observed.p_false()
        after = f"After {counted(n_test, claim.item)} with these numbers"
        said.append(
            f"{after} no size leads to {aim}: A is better with probability {in_prose(p)}."
            if fresh is None
            else f"{after} {fresh:,} fresh ones lead to {aim}."
        )
    words = {"n_needed": "if exactly this is observed"}
    words["n_for_power"] = words["n_assured"] = f"for {aim}"
    return numbers_report(
        [
            (f"{key}: {claim.item}s {why}", content[key], f"{content[key]:,}")
            for key, why in words.items()
            if content.get(key) is not None
        ],
        content=content,
        sentences=said,
        basis=(LAWS[claim.unknown], SOURCE),
        legend=[*assumptions(claim)],
    )


def share_with_anchors(claim: Claim, count: int) -> tuple[float, float]:
    r"""Items that a claim needs where the skill of B is known, over those where it is not.

    With as many known skills as ``count``, B's among them, and one correlation r of all:

    .. math:: \frac{s_A^2 (1 - k r^2 / (1 + (k - 1) r))}{s_A^2 + s_B^2 - 2 r s_A s_B}

    Returns
    -------
    share, correlation : float
        At most 1; r is averaged over what is not known.

    Examples
    --------
    >>> from bayes_sota.claims import Means
    >>> claim = Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1), known=0.6)
    >>> [round(share_with_anchors(claim, k)[0], 3) for k in (1, 3)]
    [0.8, 0.636]
    """
    unknown, weights = claim.assumed()
    if isinstance(claim, Means):
        r, (first, second) = unknown, claim.spreads
    else:
        a, b = claim.a, claim.b
        first, second = (a * (1 - a)) ** 0.5, (b * (1 - b)) ** 0.5
        r = (unknown - a * b) / max((a * b * (1 - a) * (1 - b)) ** 0.5, 1e-12)
    correlation = min(max(float(np.average(r, weights=weights)), 0.0), 0.99)
    left = 1 - count * correlation**2 / (1 + (count - 1) * correlation)
    both = first**2 + second**2 - 2 * correlation * first * second
    return min(first**2 * left / max(both, 1e-300), 1.0), correlation


def plan_from_pilot(
    outcomes: Outcomes,
    gap: float,
    *,
    pair: tuple[str, str] | None = None,
    level: float = 0.05,
    power: float = 0.8,
    cost_per_item: float | None = None,
    cost_per_run: float | None = None,
) -> Report:
    """How many items, in how many runs, a claim of a gap needs, and what they cost.

    Parameters
    ----------
    outcomes : Outcomes
        The pilot: answers of the methods to the same items, with tasks, clusters and runs, or a
        number for each item (each data set).
    gap : float
        True difference that is to be found, in the unit of the scores.
    pair : (str, str), optional
        The two methods; default the two with the best scores.
    level, power : float
        Largest probability that the claim is false, and how probable a claim shall be.
    cost_per_item, cost_per_run : float, optional
        Cost of one more item, and of one run of both methods on one item.

    Raises
    ------
    InputError
        As in ``Pilot.of``; a gap that is not above 0, or not below 1 for shares; costs below 0.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> answers = Outcomes(rng.random((400, 2)) < [0.8, 0.7], names=["a", "b"])
    >>> plan_from_pilot(answers, 0.05).content["designs"][0]["n_items"]
    1045
    """
    POSITIVE.check(gap, "gap")
    costs = None
    if cost_per_item is not None or cost_per_run is not None:
        of_item = NOT_NEGATIVE.check(cost_per_item or 0.0, "cost_per_item")
        costs = of_item, NOT_NEGATIVE.check(cost_per_run or 0.0, "cost_per_run")
    pilot, unit = Pilot.of(outcomes, pair), outcomes.unit
    checked_width(gap, "gap", shares=pilot.are_shares)
    designs = list[dict[str, Any]]()
    for runs in pilot.runs_to_plan(costs):
        items = pilot.needed(gap, runs, level=level, power=power)
        sizes = {"n_runs": runs, "n_items": items, "n_answers": 2 * items * runs}
        price = {} if costs is None else {"cost": items * (costs[0] + runs * costs[1])}
        designs.append(sizes | {"standard_error": pilot.standard_error(items, runs)} | price)
    content = vars(pilot) | {
        "gap": gap,
        "level": level,
        "power": power,
        "standard_error": pilot.standard_error(pilot.n_items, pilot.n_runs),
        "share_of_runs": pilot.share_of_runs,
        "designs": designs,
        "best": min(designs, key=lambda one: one.get("cost", one["n_items"] * one["n_runs"])),
        "source": outcomes.name,
        "notes": [*outcomes.notes, _ONE_SIDED],
    }
    if pilot.freedom < _ENOUGH - 1:
        content["notes"].append(
            f"the pilot has {pilot.freedom:.0f} degrees of freedom: its standard errors may be "
            f"{pilot.known_to:.0%} off, and numbers of items twice that; {_ENOUGH} clusters (or "
            "items) of equal size would be enough"
        )
    columns: Any = {
        "runs": "n_runs",
        f"{unit}s needed": lambda row: f"{row['n_items']:,}",
        "answers of both": lambda row: f"{row['n_answers']:,}",
        "cost": lambda row: f"{row['cost']:,.6g}" if costs else None,
    }
    return claim_report(
        content,
        list(_said(pilot, content, unit, outcomes.is_answers)),
        "Variances of the pilot",
        "Miller 2024, arXiv 2411.00640",
        make_frame=lambda: frame_of(designs),
        tables=[table_of(designs, columns, " and ".join(pilot.pair))],
        measured="claims" if unit == "item" else "data_sets",
        about=pilot,
    )


def _said(pilot: Pilot, content: dict[str, Any], unit: str, of_answers: bool) -> Iterator[str]:
    (a, b), designs, best = pilot.pair, content["designs"], content["best"]
    factor, points = unit_of(pilot.are_shares)
    size = counted(designs[0]["n_items"], unit) + " in one run" * of_answers
    yield (
        f"If {a} and {b} truly differ by {in_points(content['gap'], pilot.are_shares)}, {size} "
        f"lead to the claim with probability {content['power']:g}, at a probability of "
        f"{content['level']:g} at most that it is false."
    )
    if "cost" in best:
        items, runs = counted(best["n_items"], unit), counted(best["n_runs"], "run")
        yield f"The cheapest design has {items} in {runs}, for {best['cost']:,.6g}."
    if pilot.of_runs is not None:
        last = designs[-1]
        yield (
            f"In {pilot.n_runs} runs, as here, runs make {pilot.share_of_runs:.0%} of the variance "
            f"of the difference; in {last['n_runs']} runs {counted(last['n_items'], 'item')} are "
            "enough."
        )
    elif of_answers:
        yield "The pilot has one run of each item, which does not show what more would add."
    yield (
        f"The pilot shows {factor * pilot.difference:+.2g}{points}, standard error "
        f"{factor * content['standard_error']:.2g}{points}, on {counted(pilot.n_items, unit)}."
    )
