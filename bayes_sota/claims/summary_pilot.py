"""The report of a plan from a pilot: ``bayes-sota claim plan --pilot FILE``."""

from collections.abc import Iterator
from math import ceil
from typing import Any

from scipy.special import ndtri

from bayes_sota.claims.pilot import Pilot
from bayes_sota.claims.summary import claim_report
from bayes_sota.core.arguments import NOT_NEGATIVE, POSITIVE, checked_width
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import Report, table_of
from bayes_sota.core.text import counted
from bayes_sota.data.outcomes import Outcomes

_SAME_GAP = 0.1  # relative difference
_SURE_ENOUGH = 0.2  # relative error of a standard error that a plan is still worth having with


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
        Of one more item, and of one run of both methods on one item.

    Raises
    ------
    InputError
        As of ``Pilot.of``; a gap that is not above 0, or not below 1 for shares; costs below 0.

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
        costs = (cost_per_item or 0.0, cost_per_run or 0.0)
        for name, cost in zip(("cost_per_item", "cost_per_run"), costs, strict=True):
            NOT_NEGATIVE.check(cost, name)
    pilot, unit = Pilot.of(outcomes, pair), outcomes.unit
    checked_width(gap, "gap", shares=pilot.are_shares)
    designs = list[dict[str, Any]]()
    for runs in pilot.runs_to_plan(costs):
        items = pilot.needed(gap, runs, level=level, power=power)
        sizes = {"n_runs": runs, "n_items": items, "n_answers": 2 * items * runs}
        price = {} if costs is None else {"cost": items * (costs[0] + runs * costs[1])}
        designs.append(sizes | {"standard_error": pilot.standard_error(items, runs)} | price)
    content = {
        "pair": list(pilot.pair),
        "gap": gap,
        "level": level,
        "power": power,
        "difference": pilot.difference,
        "n_items": pilot.n_items,
        "n_runs": pilot.n_runs,
        "standard_error": pilot.standard_error(pilot.n_items, pilot.n_runs),
        "share_of_runs": pilot.share_of_runs,
        "designs": designs,
        "best": min(designs, key=lambda one: one.get("cost", one["n_items"] * one["n_runs"])),
        "source": outcomes.name,
        "notes": [*outcomes.notes, *_remarks(outcomes, pilot, gap)],
    }
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


def _shown(pilot: Pilot, difference: float, form: str) -> str:
    """A difference: of shares in points, or as the scores are."""
    return f"{100 * difference:{form}} points" if pilot.are_shares else f"{difference:{form}}"


def _said(pilot: Pilot, content: dict[str, Any], unit: str, of_answers: bool) -> Iterator[str]:
    (a, b), designs, best = pilot.pair, content["designs"], content["best"]
    size = counted(designs[0]["n_items"], unit) + " in one run" * of_answers
    yield (
        f"If {a} and {b} truly differ by {_shown(pilot, content['gap'], '.3g')}, {size} lead to "
        f"the claim with probability {content['power']:g}, at a probability of "
        f"{content['level']:g} at most that it is false."
    )
    if "cost" in best:
        items, runs = counted(best["n_items"], unit), counted(best["n_runs"], "run")
        yield f"The cheapest design has {items} in {runs}, for {best['cost']:,.6g}."
    if pilot.of_runs is not None:
        last = designs[-1]
        yield (
            f"Runs make {pilot.share_of_runs:.0%} of the variance of the difference here (in "
            f"{pilot.n_runs} runs); in {last['n_runs']} runs {counted(last['n_items'], 'item')} "
            "would do."
        )
    elif of_answers:
        yield "The pilot has one run of each item, which does not tell what more runs would add."
    error = content["standard_error"]
    yield (
        f"The pilot shows {_shown(pilot, pilot.difference, '+.2g')}, standard error "
        f"{_shown(pilot, error, '.2g')}, on {counted(pilot.n_items, unit)}."
    )


def _remarks(outcomes: Outcomes, pilot: Pilot, gap: float) -> Iterator[str]:
    if not pilot.are_shares:
        low, high = outcomes.values.min(), outcomes.values.max()
        yield f"the gap is in the units of the numbers, which lie between {low:g} and {high:g}"
    if abs(gap - abs(pilot.difference)) < _SAME_GAP * gap:
        yield (
            "the gap is the one that the pilot shows, which flatters a method that was picked for "
            "it: plan with a smaller one as well"
        )
    yield (
        "the level is one-sided, as a claim is; a gate at --prob 0.95 needs half of it, "
        "--level 0.025"
    )
    if pilot.known_to > _SURE_ENOUGH:
        count = ceil(ndtri(0.95) ** 2 / (2 * _SURE_ENOUGH**2)) + 1
        yield (
            f"the pilot leaves {pilot.freedom:.0f} degrees of freedom: its standard errors may be "
            f"{pilot.known_to:.0%} off, and numbers of items twice that; {count} clusters, or "
            f"single items, of equal size tell errors to {_SURE_ENOUGH:.0%} in nine of ten cases"
        )
