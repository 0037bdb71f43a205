"""Reports of claims from two reported numbers, and plans of how many items a claim needs.

``tests/claims/test_summary.py`` reads them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from bayes_sota.claims.claim import DOMAINS, Claim
from bayes_sota.claims.laws import Accuracies, Means, imputed_sd, reported_claim, reported_means
from bayes_sota.core.arguments import NOT_NEGATIVE, POSITIVE, checked_width
from bayes_sota.core.errors import ImpossibleAccuracyError
from bayes_sota.core.summary import frame_of, numbers_report
from bayes_sota.core.tables import SOFTWARE, Report, Table, table_of
from bayes_sota.core.text import as_sentences, counted, in_points, in_prose
from bayes_sota.data.outcomes import Outcomes

_COARSE = 9
_USUAL = (0.05, 0.01)
_ONE_SIDED = "the level is one-sided, as a claim is; a gate at --prob 0.95 needs --level 0.025"
_ENOUGH = 35  # clusters, whose standard error is 20 % off at most in nine of ten pilots
LAWS = {
    "congruence": "Dirichlet posterior of the paired outcomes, flat prior",
    "correlation": "Student t of the paired means",
}
SOURCE = (
    f"{SOFTWARE}, after Christodoulou et al. 2025, arXiv 2505.04720; a claim is "
    "false where B is at least as good as A on the whole population of items."
)
_ONE_DIGIT = "one digit after the point is taken as printed: write all printed digits, such as 0.90"
UNKNOWN = {
    "congruence": "congruence (share of items that both got right)",
    "correlation": "correlation of the two methods' cases",
}
_WANTED = {
    "congruence": "how many items both got right",
    "correlation": "the correlation of the cases of both",
}


def claim_report(
    content: dict[str, Any], said: Sequence[str], how: str, after: str = SOURCE, **parts: Any
) -> Report:
    """Report of claims, with its usual parts."""
    paragraph = [*said, *as_sentences(content.get("notes", []))]
    parts = {"paragraph": paragraph, "measured": "means" if "mean" in content else "claims"} | parts
    return Report(content=content, sentences=said, basis=[how, after], **parts)


def report_claim(
    claim: Claim,
    *,
    names: tuple[str, str] = ("A", "B"),
    printed: tuple[str, str] | None = None,
    rope: float | None = None,
    best_of: float | None = None,
    level: float = 0.05,
    notes: Sequence[str] = (),
) -> Report:
    """Report of the claim that A outperforms B, from two reported numbers.

    Parameters
    ----------
    claim : Accuracies or Means
    names : (str, str)
    printed : (str, str), optional
        The two numbers as printed, whose rounding is then included.
    rope : float, optional
        Half-width of practical equivalence.
    best_of : float, optional
        Number of tries of which A is the best.
    level : float
        P(false) that is accepted.
    notes : sequence of str

    Returns
    -------
    Report
        ``frame`` is the curve, ``about`` the claim. ``content`` has P(false) and its range,
        ``verdict`` ("supported", "not supported" or "depends on the congruence"), the congruence
        that the level needs, and the items: ``n_test_needed`` and ``n_test_range``.

    Examples
    --------
    >>> print(report_claim(Accuracies(a=0.90, b=0.88, n=500)).sentences[1])
    It is supported at 0.05 only if both got at least 85.4 % of the items right.
    """
    found = judged(claim, level, printed)
    at = found.pop("at", None)  # with what printed digits leave open
    content = content_of(claim, level, [*notes, *found.pop("notes")]) | found
    content |= {
        "names": [*names],
        "n_test": claim.n,
        f"{claim.unknown}_needed": claim.needed(level, at and (lambda u: at(u).p_false)),
        "sensitivity": claim.curve(_COARSE).tolist() if claim.ends[0] < claim.ends[1] else [],
        "n_test_needed": [(at, claim.size(at)) for at in sorted({level, *_USUAL}, reverse=True)],
        "n_test_range": [*claim.size_range(level)],
    }
    if rope is not None:
        checked_width(rope, "rope", shares=claim.unknown == "congruence")
        content["rope"] = claim.rope(rope)
    if best_of is not None:
        selected = claim.p_false_of_best(best_of, content["p_false"])
        content["selection"] = {"tries": best_of, "p_false_selected": selected}
    said = [*_said(claim, content, printed or (f"{claim.a:g}", f"{claim.b:g}"))]
    exact = " if the printed numbers are exact" * bool(content.get("rounding"))
    assumed = [*assumptions(claim)]
    if isinstance(claim, Accuracies) and claim.n <= 10**6:
        content["p_false_jeffreys"] = claim.p_false_jeffreys()
        flat, other = (in_prose(p, level) for p in (claim.p_false(), content["p_false_jeffreys"]))
        beside = f"instead of {flat}" if other != flat else "too"
        assumed.append(f"With Jeffreys' prior (1/2 per cell) P(false) is {other} {beside}{exact}.")
    wanted = [f"Please report {_WANTED[claim.unknown]}, or the results per {claim.item}."]
    rows = [[f"{u:.4f}", in_prose(p, level)] for u, p in content["sensitivity"]]
    table = Table([claim.unknown, "P(false)"], rows, f"By {claim.unknown}{exact}")
    return claim_report(
        content,
        said,
        LAWS[claim.unknown],
        make_frame=lambda: frame_of([{claim.unknown: u, "p_false": p} for u, p in claim.curve()]),
        tables=[table] if rows else [],
        legend=assumed,
        paragraph=[*said, *assumed, *wanted * claim.is_open, *as_sentences(content["notes"])],
        about=claim,
    )


def judged(claim: Claim, level: float, printed: tuple[str, str] | None) -> dict[str, Any]:
    """P(false), its range and a verdict, with what printed digits leave open."""
    p, ends, notes, found = claim.p_false(), claim.p_range(), list[str](), dict[str, Any]()
    if printed is not None:
        at: Any = partial(reported_claim, *printed, claim.n)
        if isinstance(claim, Means):
            at = partial(reported_means, claim, printed)
        try:
            rounded = at(claim.value if claim.typical else claim.known)
            ends = (rounded.p_false,) * 2
            if claim.is_open:
                ends = at(claim.plausible[1]).p_false, at(claim.plausible[0]).p_false
            found |= {"rounding": {**vars(rounded), "exact": p}, "at": at}
            p = rounded.p_false
            digits = max(len(text.partition(".")[2]) for text in printed)
            if digits == 1 and getattr(claim, "bounds", True):
                notes.append(_ONE_DIGIT)
        except ImpossibleAccuracyError as error:
            found["rounding"] = None
            notes.append(f"{error}; the numbers are taken as averages")
    verdict = "not supported"
    if claim.a > claim.b and ends[0] <= level:
        verdict = "supported" if ends[1] <= level else f"depends on the {claim.unknown}"
    return found | {"p_false": p, "p_false_range": [*ends], "verdict": verdict, "notes": notes}


def content_of(claim: Claim, level: float, notes: Sequence[str]) -> dict[str, Any]:
    """Reported numbers, and the value or range of the unknown."""
    content: dict[str, Any] = {
        claim.what: [claim.a, claim.b],
        claim.unknown: {
            "value": claim.value if claim.is_open else claim.known,
            "range": [*claim.plausible] if claim.is_open else None,
            "assumption": claim.assumption,
        },
        "level": level,
        "notes": [*notes],
    }
    if isinstance(claim, Means):
        known = claim.sd_difference
        content |= {"sd": None if known else [*claim.spreads], "sd_difference": known}
        content["sd_imputed"] = claim.imputed
    return content


def assumptions(claim: Claim) -> Iterator[str]:
    """Sentences on what is assumed."""
    low, high = claim.plausible
    how = f"was not reported and is averaged over {low:.3g} to {high:.3g}"
    if claim.known is not None:
        how = f"is {claim.known:g}, as given"
    elif isinstance(claim, Accuracies) and claim.domain is not None:
        domain = DOMAINS[claim.domain]
        how = (
            f"was not reported and is taken to be {claim.value:.3f} ({low:.3f} to {high:.3f}), "
            f"{claim.assumption}: an odds ratio of {domain.odds_ratio:g} "
            f"({domain.low:g} to {domain.high:g}) of {domain.measured_on}"
        )
    if claim.assumption != "not needed":
        yield f"The {UNKNOWN[claim.unknown]} {how}."
    if isinstance(claim, Means) and claim.sd_difference is None:
        first, second = claim.spreads
        how = ""
        if claim.imputed:
            others = [replace(claim, sd=(x * first, x * second), bounds=None) for x in (0.5, 2.0)]
            half, twice = (in_prose(of.p_false()) for of in others)
            how = (
                ", imputed as 2/3 mean (1 - mean), a rule of thumb for Dice; with half of them "
                f"P(false) is {half}, with twice {twice}"
            )
        elif claim.bounds and first < imputed_sd(claim.a) / 5:
            how = ", small for a metric in [0, 1]: standard errors, divided by sqrt(n), are not SDs"
        yield f"The SDs of cases are {first:.3g} and {second:.3g}{how}."


def _said(claim: Claim, content: dict[str, Any], numbers: tuple[str, str]) -> Iterator[str]:
    (a, b), level = content["names"], content["level"]
    p, (low, high) = in_prose(content["p_false"], level), content["p_false_range"]
    yield (
        f"The claim that {a} ({numbers[0]}) outperforms {b} ({numbers[1]}) on "
        f"{counted(claim.n, claim.item)} is false with probability {p}"
        f"{varying(claim, in_prose(low, level), in_prose(high, level))}."
    )
    verdict, needed = content["verdict"], content[f"{claim.unknown}_needed"]
    if not verdict.startswith("depends"):
        always = f", whatever the {claim.unknown}" * claim.is_open
        if claim.assumption.startswith("typical"):
            always = f" at every typical {claim.unknown}"
        always = ": the two numbers are equal" if claim.a == claim.b else always
        yield f"It is {verdict} at {level:g}{always}."
    else:
        only = f"both got at least {rounded_up(100 * needed, 1)} % of the items right"
        if claim.unknown == "correlation":
            only = f"their cases correlate by at least {rounded_up(needed, 3)}"
        yield f"It is supported at {level:g} only if {only}."
    size, ends = dict(content["n_test_needed"])[level], content["n_test_range"]
    yield said_of_size(claim, "exactly these numbers", level, size, ends)
    if rounded := content.get("rounding"):
        keys = ("lowest", "highest", "exact")
        lowest, highest, exact = (in_prose(rounded[key], level) for key in keys)
        allowed = lowest if lowest == highest else f"{lowest} to {highest}"
        if allowed != exact:
            yield (
                "P(false) includes the rounding of the printed numbers, which allow "
                f"{allowed}; exact numbers would give {exact}."
            )
    if of := content.get("selection"):
        tries = f"{of['tries']:,.15g} {'try' if of['tries'] == 1 else 'tries'}"
        best = in_prose(of["p_false_selected"], level)
        yield f"If {a} is the best of {tries} of equal skill, P(false) is {best} instead of {p}."
    if rope := content.get("rope"):
        yield said_of_rope(rope, claim.unknown == "congruence")


def said_of_rope(rope: dict[str, float], shares: bool) -> str:
    """Probabilities that the first is better by more than a half-width, within it, or worse."""
    width = in_points(rope["half_width"], shares)
    better, within, worse = (in_prose(rope[k]) for k in ("a_better", "equivalent", "b_better"))
    middle = f"P(within {width}) {within}"
    return f"P(better by more than {width}) {better}, {middle}, P(worse by more) {worse}."


def said_of_size(
    claim: Claim, numbers: str, level: float, size: int | None, ends: Sequence[int | None]
) -> str:
    """Items at which these numbers support a claim, and their range."""
    if size is None:
        return f"With {numbers} P(false) stays above {level:g} even on a billion {claim.item}s."
    low, high = ("no limit" if n is None else f"{n:,}" for n in ends)
    among = varying(claim, low, high)
    return f"With {numbers} P(false) falls to {level:g} at {size:,} {claim.item}s{among}."


def varying(claim: Claim, low: str, high: str) -> str:
    """A range in parentheses, where it is one."""
    return f" ({low} to {high}, depending on the {claim.unknown})" * (low != high)


def rounded_up(value: float, digits: int) -> str:
    """The least number with this many digits that is not below a value."""
    return f"{ceil(value * 10**digits - 1e-6) / 10**digits:.{digits}f}"


def unit_of(are_shares: bool) -> tuple[float, str]:
    """Factor of printed differences, and their unit."""
    return (100.0, " points") if are_shares else (1.0, "")


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
        Its ``n`` has no effect.
    level, power : float
        Largest P(false), and how probable a claim shall be.
    n_test : int, optional
        Items observed so far: adds how many fresh ones make the claim.
    anchors : int
        Models of known skill, B among them: adds how many items are then enough.
    printed : (str, str), optional
        The two accuracies as typed.
    notes : sequence of str

    Examples
    --------
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
    r"""Share of the items that is enough if ``count`` skills, B's among them, are known; and r.

    .. math:: \frac{s_A^2 (1 - k r^2 / (1 + (k - 1) r))}{s_A^2 + s_B^2 - 2 r s_A s_B}

    with the mean correlation r of all.
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
        The pilot.
    gap : float
        True difference, in the unit of the scores.
    pair : (str, str), optional
        Default: the two methods with the best scores.
    level, power : float
        As in ``report_plan``.
    cost_per_item, cost_per_run : float, optional
        Cost of one more item, and of one run of both methods on one item.

    Raises
    ------
    InputError
        As in ``Pilot.of``; a gap outside (0, 1) of shares, or not above 0; costs below 0.

    Examples
    --------
    >>> import numpy as np
    >>> answers = Outcomes(np.random.default_rng(0).random((400, 2)) < [0.8, 0.7])
    >>> plan_from_pilot(answers, 0.05).content["designs"][0]["n_items"]
    1045
    """
    from bayes_sota.claims.pair import Pilot  # which imports what answers need

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
        list(_said_of_pilot(pilot, content, unit, outcomes.is_answers)),
        "Variances of the pilot",
        "Miller 2024, arXiv 2411.00640",
        make_frame=lambda: frame_of(designs),
        tables=[table_of(designs, columns, " and ".join(pilot.pair))],
        measured="claims" if unit == "item" else "data_sets",
        about=pilot,
    )


def _said_of_pilot(
    pilot: Any, content: dict[str, Any], unit: str, of_answers: bool
) -> Iterator[str]:
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
