"""Reports of claims from two reported numbers: all that ``bayes-sota claim`` prints of them.

The paragraph ``text`` is one that a reviewer can paste. ``tests/claims/test_summary.py`` reads it,
``tests/cli/test_one_fact.py`` compares all forms of one report.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from bayes_sota.claims.accuracies import Accuracies
from bayes_sota.claims.claim import Claim
from bayes_sota.claims.congruence import DOMAINS
from bayes_sota.claims.means import Means
from bayes_sota.claims.printed import reported_claim
from bayes_sota.core.arguments import LEVEL, checked_width
from bayes_sota.core.errors import ImpossibleAccuracyError
from bayes_sota.core.summary import numbers_report
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.text import as_sentences, counted, in_points
from bayes_sota.core.text import chance as fine_chance
from bayes_sota.data.printed_scores import RoundingChoice

if TYPE_CHECKING:
    import pandas as pd

_COARSE = 9  # points of the sensitivity in a table
_USUAL = (0.05, 0.01)  # levels at which claims are usually accepted
_AROUND = 4  # times the sizes that matter
LAWS = {
    "congruence": "Dirichlet posterior of the paired outcomes, flat prior",
    "correlation": "Student t of the paired means",
}
SOURCE = (
    f"{SOFTWARE}, after Christodoulou et al. 2025, arXiv 2505.04720; a claim is "
    "false where B is at least as good as A on all items that there could be."
)
_UNKNOWN = {
    "congruence": "the congruence, the share of items that both got right,",
    "correlation": "the correlation of the two methods' cases",
}


def chance(p: float, limit: float | None = None) -> str:
    """A probability in a sentence: two digits, and more where it would be rounded to a limit.

    Examples
    --------
    >>> chance(0.0929), chance(0.0001), chance(0.97499), chance(0.97499, 0.975)
    ('0.09', '< 0.01', '0.97', '0.97')
    >>> chance(0.0501, 0.05), chance(0.9699, 0.97)
    ('0.0501', '0.9699')
    """
    if p < 0.005 or p > 0.995:
        return "< 0.01" if p < 0.5 else "> 0.99"
    digits = 2
    while (
        limit is not None and digits < 8 and np.sign(round(p, digits) - limit) != np.sign(p - limit)
    ):
        digits += 1
    return f"{p:.{digits}f}"


def claim_report(
    content: dict[str, Any], said: Sequence[str], how: str, after: str = SOURCE, **parts: Any
) -> Report:
    """Report of claims: what is said of them, how they were computed, and after whom."""
    notes = content.get("notes", [])
    usual = {"paragraph": [*said, *as_sentences(notes)], "notes": notes, "measured": "claims"}
    return Report(content=content, sentences=said, basis=[how, after], **usual | parts)


def report_claim(
    claim: Claim,
    *,
    names: tuple[str, str] = ("A", "B"),
    printed: tuple[str, str] | None = None,
    rounding: RoundingChoice = "auto",
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
        Of A and B.
    printed : (str, str), optional
        Accuracies as printed: what their digits leave open is averaged over.
    rounding : {"auto", "nearest", "floor", "exact"}
        How these were cut.
    rope : float, optional
        Half-width of practical equivalence; of shares below 1.
    best_of : float, optional
        Tries of A of which this is the best.
    level : float
        Probability of a false claim that is accepted.
    notes : sequence of str
        Repeated in the report.

    Returns
    -------
    Report
        ``frame`` is the curve, ``about`` the claim. ``content`` has P(false) and its range over
        what is not reported, ``verdict`` ("supported", "not supported" or "depends on the
        congruence"), what the level needs of it, and items: ``n_test_needed`` at several levels,
        ``n_test_range`` at ``level``, ``by_n_test``.

    Examples
    --------
    >>> claim = Accuracies(a=0.90, b=0.88, n=500)
    >>> print(report_claim(claim, names=("ours", "theirs")).sentences[0])
    The claim that ours (0.9) outperforms theirs (0.88) on 500 items is false with probability \
0.09 (< 0.01 to 0.17, depending on the congruence).
    """
    LEVEL.check(level, "level")
    content: dict[str, Any] = {
        "names": [*names],
        claim.what: [claim.a, claim.b],
        "p_false": claim.p_false(),
        "p_false_range": [*claim.p_range()],
        "level": level,
        "n_test": claim.n,
        claim.unknown: _unknown(claim),
        f"{claim.unknown}_needed": claim.needed(level),
        "sensitivity": claim.curve(_COARSE).tolist(),
        **_sizes(claim, level),
        "notes": [*notes],
    }
    if isinstance(claim, Means):
        content |= _spreads(claim)
    if printed is not None:
        _add_rounding(content, claim, printed, rounding)
    if rope is not None:
        checked_width(rope, "rope", shares=claim.unknown == "congruence")
        content["rope"] = {"half_width": rope, **claim.rope(rope)}
    if best_of is not None:
        content["selection"] = _selection(claim, best_of, content["p_false"])
        if isinstance(claim, Means) and claim.sd_difference is not None:
            content["notes"].append(
                "for the tries half of the variance of the differences is taken to be A's own"
            )
    content["verdict"] = verdict_of(content["p_false_range"], level, claim.unknown)
    numbers = printed or (f"{claim.a:g}", f"{claim.b:g}")
    said, assumed = [*_said(claim, content, numbers)], [*_assumed(claim)]
    asked = ["Please report how many items both got right, or the results per item."]
    sensitivity = [{claim.unknown: u, "p": p} for u, p in content["sensitivity"]]
    by_size = [{"n": n, "p": p} for n, p in content["by_n_test"]]
    unknown: Any = {claim.unknown: lambda row: f"{row[claim.unknown]:.4f}", "P(false)": _cell}
    sizes: Any = {f"{claim.item}s": lambda row: f"{row['n']:,}", "P(false)": _cell}
    tables = [table_of(by_size, sizes, f"By the number of {claim.item}s")]
    if sensitivity:
        title = f"What it would be at another {claim.unknown}"
        tables.insert(0, table_of(sensitivity, unknown, title))
    return claim_report(
        content,
        said,
        LAWS[claim.unknown],
        make_frame=partial(curve_frame, claim),
        tables=tables,
        legend=assumed,
        paragraph=[*said, *assumed, *asked * claim.is_open, *as_sentences(content["notes"])],
        about=claim,
    )


def _cell(row: dict[str, Any]) -> str:
    return fine_chance(row["p"])


def curve_frame(claim: Claim) -> "pd.DataFrame":
    """P(false) over the unknown, fine enough for a figure."""
    import pandas as pd

    return pd.DataFrame(claim.curve(), columns=[claim.unknown, "p_false"])


def verdict_of(ends: Sequence[float], level: float, unknown: str) -> str:
    """Whether the level holds whatever is not reported, nowhere, or only in part."""
    lowest, highest = ends
    if highest <= level:
        return "supported"
    return "not supported" if lowest > level else f"depends on the {unknown}"


def _unknown(claim: Claim) -> dict[str, Any]:
    """The unknown: its value or range, and what is assumed."""
    if claim.known is not None:
        return {"value": claim.known, "assumption": "given"}
    if isinstance(claim, Accuracies) and claim.domain is not None:
        value = float(claim.assumed()[0][0])
        assumption = f"typical of {claim.domain}"
        return {"value": value, "range": [*claim.plausible], "assumption": assumption}
    if isinstance(claim, Means) and claim.sd_difference is not None:
        return {"value": None, "assumption": "not needed: the differences are known"}
    return {"range": [*claim.ends], "assumption": "averaged over all that is possible"}


def _spreads(claim: Means) -> dict[str, Any]:
    known = claim.sd_difference is not None
    other: list[list[float]] = []
    if claim.imputed:
        first, second = claim.spreads
        for factor in (0.5, 2.0):
            wider = replace(claim, sd=(factor * first, factor * second), bounds=None)
            other.append([factor, wider.p_false()])
    return {
        "sd": None if known else [*claim.spreads],
        "sd_imputed": claim.imputed,
        "sd_sensitivity": other,
        "sd_difference": claim.sd_difference,
    }


def _sizes(claim: Claim, level: float) -> dict[str, Any]:
    """Items that the levels need, and P(false) on round numbers of items about these."""
    needed = [(at, claim.size(at)) for at in sorted({level, *_USUAL}, reverse=True)]
    known = [claim.n, *(size for _, size in needed if size is not None)]
    least, most = max(2.0, min(known) / _AROUND), _AROUND * max(known)
    steps = [factor * 10**decade for decade in range(len(str(most))) for factor in (1, 2, 5)]
    sizes = sorted({claim.n, *(size for size in steps if least <= size <= most)})
    return {
        "by_n_test": [[n, claim.p_false(n)] for n in sizes],
        "n_test_needed": needed,
        "n_test_range": [*claim.size_range(level)],
    }


def _add_rounding(
    content: dict[str, Any], claim: Claim, printed: tuple[str, str], rounding: RoundingChoice
) -> None:
    """P(false) with what the printed digits leave open, or a note that no count prints so."""
    known = float(claim.assumed()[0][0]) if "value" in content[claim.unknown] else None
    try:
        found = reported_claim(*printed, claim.n, known, rounding=rounding)
    except ImpossibleAccuracyError as error:
        content |= {"rounding": None}
        content["notes"].append(f"{error}; the numbers are taken as averages")
        return
    content["rounding"] = {**asdict(found), "exact": content["p_false"]}
    content["p_false"] = found.p_false
    if claim.known is None:
        ends = (
            reported_claim(*printed, claim.n, end, rounding=rounding) for end in claim.plausible
        )
        content["p_false_range"] = [of.p_false for of in ends][::-1]
    if rounding != "exact" and any(len(x.partition(".")[2]) == 1 for x in printed):
        content["notes"].append(
            "one digit after the point is taken as printed: write 0.90 if that was printed"
        )


def _selection(claim: Claim, tries: float, p: float) -> dict[str, float]:
    """P(false) if A is the best of several tries: what they add to the log odds."""
    plain, selected = claim.p_false(), claim.p_false_of_best(tries)
    if p != plain and 0 < p < 1 and 0 < plain < 1:
        selected = float(expit(logit(p) + logit(selected) - logit(plain)))
    return {"tries": tries, "p_false_selected": selected, "p_false": p}


def _said(claim: Claim, content: dict[str, Any], numbers: tuple[str, str]) -> Iterator[str]:
    """The claim, the verdict, and what would decide."""
    a, b = (f"{x} ({number})" for x, number in zip(content["names"], numbers, strict=True))
    p, level, items = content["p_false"], content["level"], f"{claim.item}s"
    varies = f", depending on the {claim.unknown}"
    ends = [chance(x, level) for x in content["p_false_range"]]
    spread = f" ({ends[0]} to {ends[1]}{varies})" * claim.is_open
    yield (
        f"The claim that {a} outperforms {b} on {counted(claim.n, claim.item)} is false with "
        f"probability {chance(p, level)}{spread}."
    )
    yield _verdict_said(claim, content)
    size, (low, high) = content["n_test_needed"], content["n_test_range"]
    needed = dict(size)[level]
    if needed is None:
        yield f"The same numbers support no claim on any number of {items}."
    else:
        upper = f"{high:,}" if high else "endless"
        between = f" ({low:,} to {upper}{varies})" * claim.is_open
        yield f"With the same numbers P(false) falls to {level:g} at {needed:,} {items}{between}."
    rounded, of = content.get("rounding"), content.get("selection")
    if rounded and rounded["lowest"] < rounded["highest"]:
        yield (
            f"P(false) includes the rounding of the printed numbers, which allow "
            f"{fine_chance(rounded['lowest'])} to {fine_chance(rounded['highest'])}; exact numbers "
            f"would give {fine_chance(rounded['exact'])}."
        )
    if of:
        yield (
            f"If {content['names'][0]} is the best of {of['tries']:g} tries of equal skill, "
            f"P(false) is {chance(of['p_false_selected'], level)} instead of "
            f"{chance(p, level)}."
        )
    if rope := content.get("rope"):
        width = in_points(rope["half_width"], claim.unknown == "congruence")
        chances = [chance(rope[key]) for key in ("a_better", "equivalent", "b_better")]
        yield (
            f"P({content['names'][0]} better by more than {width}) {chances[0]}, "
            f"P(equivalent) {chances[1]}, P({content['names'][1]} better) {chances[2]}."
        )


def _verdict_said(claim: Claim, content: dict[str, Any]) -> str:
    """Whether the claim is supported, and what that needs of the unknown."""
    level, verdict = content["level"], content["verdict"]
    if verdict in ("supported", "not supported"):
        always = f", whatever the {claim.unknown}" if claim.is_open else ""
        return f"It is {verdict} at {level:g}{always}."
    needed = content[f"{claim.unknown}_needed"]
    if needed is None:
        return f"Whether it is supported at {level:g} {verdict} and on the rounding."
    if claim.unknown == "correlation":
        what = f"their cases correlate by at least {rounded_up(needed, 3)}"
    else:
        what = f"both got at least {rounded_up(100 * needed, 1)} % of the items right"
    return f"It is supported at {level:g} only if {what}."


def _assumed(claim: Claim) -> Iterator[str]:
    """What was assumed, once."""
    low, high = claim.plausible
    if isinstance(claim, Accuracies) and claim.known is None and claim.domain is not None:
        of = DOMAINS[claim.domain]
        yield (
            f"The congruence is taken to be {claim.assumed()[0][0]:.3f} ({low:.3f} to {high:.3f}), "
            f"as of close pairs of {claim.domain}: an odds ratio of {of.odds_ratio:g} "
            f"({of.low:g} to {of.high:g}), measured on {of.measured_on}."
        )
    elif claim.is_open:
        yield (
            f"{_UNKNOWN[claim.unknown].capitalize()} was not reported: P(false) is averaged over "
            f"{low:.3g} to {high:.3g}."
        )
    if isinstance(claim, Means) and claim.sd_difference is None:
        sds = " and ".join(f"{x:.3g}" for x in claim.spreads)
        if not claim.imputed:
            yield f"The SDs of cases are {sds}."
            return
        half, twice = (chance(p) for _, p in _spreads(claim)["sd_sensitivity"])
        yield (
            f"The SDs of cases were not reported and are imputed as {sds}, by 2/3 mean (1 - mean), "
            f"a rule of thumb for Dice; with half of them P(false) is {half}, with twice {twice}."
        )


def report_plan(
    claim: Claim,
    *,
    level: float = 0.05,
    power: float = 0.8,
    n_test: int | None = None,
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

    Examples
    --------
    >>> report_plan(Accuracies(a=0.90, b=0.88, n=2)).content["n_needed"]
    826
    """
    planned = replace(claim, n=n_test) if n_test else claim
    content: dict[str, Any] = {
        "gap": claim.a - claim.b,
        claim.what: [claim.a, claim.b],
        claim.unknown: _unknown(claim),
        "level": level,
        "n_needed": claim.size(level),
        "n_needed_range": [*claim.size_range(level)],
        "power": power,
        "n_for_power": claim.powered_size(level, power),
        "n_test": n_test,
        "notes": [],
    }
    if n_test:
        content["n_assured"] = planned.assured_size(level, power)
        content["highest_assurance"] = 1 - planned.p_false()
        if content["n_assured"] is None:
            content["notes"].append(
                f"no size makes the claim with probability {power:g}: after {n_test:,} items A is "
                f"the better one with probability {chance(content['highest_assurance'])}"
            )
    items, rows = f"{claim.item}s", ("n_needed", "n_for_power", "n_assured")
    words = (
        f"{items} if exactly this is observed",
        f"{items} for a claim with probability {power:g}",
        f"fresh {items} for a claim with probability {power:g}",
    )
    sizes = [(word, content.get(key)) for word, key in zip(words, rows, strict=True)]
    return numbers_report(
        [(name, size, f"{size:,}") for name, size in sizes if size is not None],
        content=content,
        sentences=list(_plan_said(claim, content)),
        basis=(LAWS[claim.unknown], SOURCE),
        notes=content["notes"],
        legend=[*_assumed(claim)],
    )


def _plan_said(claim: Claim, content: dict[str, Any]) -> Iterator[str]:
    needed, for_power = content["n_needed"], content["n_for_power"]
    if needed is None:
        yield "Equal numbers support no claim, whatever the size."
        return
    low, high = content["n_needed_range"]
    between = f" ({low:,} to {high:,}, depending on the {claim.unknown})" * claim.is_open
    yield (
        f"With {claim.a:g} against {claim.b:g} P(false) falls to {content['level']:g} at "
        f"{needed:,} {claim.item}s{between}."
    )
    yield (
        f"If that is the true difference, {counted(for_power, claim.item)} lead to the claim with "
        f"probability {content['power']:g}."
    )
    if content.get("n_assured") is not None:
        yield (
            f"After {counted(content['n_test'], claim.item)} with these numbers "
            f"{about(content['n_assured'])} fresh ones lead to the claim with probability "
            f"{content['power']:g}."
        )


def rounded_up(value: float, digits: int) -> str:
    """The least number with so many digits that is not below a bound.

    Examples
    --------
    >>> rounded_up(90.53, 1), rounded_up(90.5, 1)
    ('90.6', '90.5')
    """
    return f"{ceil(value * 10**digits - 1e-6) / 10**digits:.{digits}f}"


def about(count: float) -> str:
    """A count with two digits, rounded up.

    Examples
    --------
    >>> about(1872.3), about(7)
    ('about 1,900', 'about 7')
    """
    unit = 10 ** max(len(str(int(count))) - 2, 0)
    return f"about {ceil(count / unit - 1e-9) * unit:,}"
