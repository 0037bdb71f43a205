"""Reports of claims from two reported numbers: all that ``bayes-sota claim`` prints of them.

The paragraph ``text`` is one that a reviewer can paste. ``tests/claims/test_summary.py`` reads it,
``tests/cli/test_one_fact.py`` compares all forms of one report.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayes_sota.claims.accuracies import ReportedAccuracies, false_claim_rope
from bayes_sota.claims.congruence import Congruence, congruence_at
from bayes_sota.claims.means import ReportedMeans
from bayes_sota.claims.printed_accuracies import reported_claim
from bayes_sota.claims.summary_sizes import (
    probabilities_at,
    round_sizes,
    sizes_about,
    sizes_needed,
)
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import ImpossibleAccuracyError
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import as_sentences, chance, counted, in_points
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.printed_scores import Rounding

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_FINE, _COARSE = 201, 9  # points of the sensitivity in a figure and in a table
LAWS = {
    "congruence": "Dirichlet posterior of the paired outcomes, flat prior",
    "correlation": "Student t of the paired means",
}
SOURCE = (
    f"{SOFTWARE}, after Christodoulou et al. 2025, arXiv 2505.04720; a claim is "
    "false where B is at least as good as A on all items that there could be."
)


type Claim = ReportedAccuracies | ReportedMeans
"""That A outperforms B, from two reported numbers, of which something is not reported."""


@dataclass(frozen=True, eq=False)
class ReportedClaim:
    """A claim that a report is about.

    Attributes
    ----------
    claim : Claim
    what : str
        What is compared.
    """

    claim: Claim
    what: str

    @cached_property
    def curve(self) -> FloatArray:
        """What is not reported and probabilities, fine enough for a figure."""
        return self.claim.curve(_FINE)

    def curve_frame(self) -> "pd.DataFrame":
        """The curve, columns congruence or correlation and p_false."""
        import pandas as pd

        return pd.DataFrame(self.curve, columns=[self.claim.unknown, "p_false"])

    def to_datatree(self, random_seed: Seed = DEFAULT_SEED) -> "xr.DataTree":
        """Posterior draws in the one schema."""
        from bayes_sota.claims.sample_exact import claim_tree, claim_tree_of_means

        if isinstance(self.claim, ReportedMeans):
            return claim_tree_of_means(self.claim, random_seed=random_seed)
        return claim_tree(**vars(self.claim), random_seed=random_seed)


def measured_of(outcomes: Outcomes) -> str:
    """What was measured of comparisons of methods: on items, or on data sets as the sample."""
    return "claims" if outcomes.unit == "item" else "data_sets"


def claim_report(
    content: dict[str, Any], said: Sequence[str], how: str, after: str = SOURCE, **parts: Any
) -> Report:
    """Report of claims: what is said of them, how they were computed, and after whom."""
    notes = content.get("notes", [])
    usual = {"paragraph": [*said, *as_sentences(notes)], "notes": notes, "measured": "claims"}
    return Report(content=content, sentences=said, basis=[how, after], **usual | parts)


def _report(
    claim: Claim, what: str, level: float, assumed: dict[str, Any], notes: list[str], **numbers: Any
) -> Report:
    """Report of a claim from two reported numbers: what every claim has, and those of one kind."""
    unknown, about = claim.unknown, ReportedClaim(claim, what)
    needed = sizes_needed(claim, level)
    sizes = probabilities_at(claim, round_sizes(claim, sizes_about(claim, needed))).tolist()
    content = {
        "p_false": float(claim.p_false()),
        "level": level,
        "n_test": claim.n_test,
        "sensitivity": claim.curve(_COARSE).tolist(),
        "notes": notes,
        unknown: assumed,
        f"{unknown}_needed": claim.needed(level),
        "by_n_test": sizes,
        "n_test_needed": needed,
        **numbers,
    }
    if unknown == "correlation":
        said, more, item = [*_about_means(content)], [], "case"
    else:
        said, more = [*_about_accuracies(content)], [*_details_of_accuracies(content)]
        item = "item"
    asked = ["Please report how many items both got right, or the results per item."]
    cells = [[f"{x:.4f}", chance(p)] for x, p in content["sensitivity"]]
    other = Table([unknown, "P(false)"], cells, f"What it would be at another {unknown}")
    told = as_sentences(content["notes"])
    return claim_report(
        content,
        [*said, *more, _about_sizes(needed, item)],
        LAWS[unknown],
        make_frame=about.curve_frame,
        tables=[other, _size_table(sizes, item)],
        paragraph=[*said, *asked * ("range" in content[unknown]), *told],
        about=about,
    )


def _size_table(sizes: list[list[float]], item: str) -> Table:
    cells = [[f"{n:,.0f}", chance(p)] for n, p in sizes]
    return Table([f"{item}s", "P(false)"], cells, f"By the number of {item}s")


def _about_sizes(needed: list[tuple[float, int | None]], item: str) -> str:
    """How many items the same difference needs at each level."""
    enough = [(level, size) for level, size in needed if size is not None]
    if not enough:
        return f"The same difference makes no claim on any number of {item}s up to a million."
    (level, size), *more = enough
    others = (f", at most {level:g} from {size:,}" for level, size in more)
    start = f"On other {item}s the same difference is false with probability {level:g} at most"
    return f"{start} from {size:,} on{''.join(others)}."


def report_accuracies(
    accuracy_a: str | float,
    accuracy_b: str | float,
    n_test: int,
    congruence: Congruence = None,
    *,
    rounding: Literal["auto"] | Rounding = "auto",
    rope: float | None = None,
    best_of: float | None = None,
    level: float = 0.05,
    any_accuracy: bool = False,
    notes: Sequence[str] = (),
) -> Report:
    """Report of the claim that A outperforms B, from two accuracies on the same items.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, congruence, rounding
        As in ``reported_claim``.
    rope : float, optional
        Half-width of practical equivalence, below 1.
    best_of : float, optional
        Tries of A of which this is the best.
    level : float
        Probability of a false claim that is accepted.
    any_accuracy : bool
        Whether accuracies that no number of right answers gives, such as averages over runs, are
        taken as they are, with a note, and not refused.
    notes : sequence of str
        Repeated in the report.

    Returns
    -------
    Report
        ``about`` is a ``ReportedClaim``, with ``numbers``: accuracy, rounding (None where no number
        of items gives the accuracies), rope, and selection (of the best of several tries).

    Examples
    --------
    >>> print(report_accuracies("0.90", "0.88", 500).sentences[2])
    It is at most 0.05 only if both got at least 85.4 % of the items right.
    """
    a, b = float(accuracy_a), float(accuracy_b)
    claim = ReportedAccuracies(a, b, n_test, congruence)
    claim.p_false()  # refuses what no claim can be
    printed = (str(accuracy_a), str(accuracy_b))
    rounded, told = _as_printed(printed, n_test, congruence, rounding, any_accuracy)
    numbers: dict[str, Any] = {"accuracy": [a, b], "rounding": rounded}
    if rope is not None:
        region = false_claim_rope(a, b, n_test, rope, congruence)
        numbers["rope"] = {"half_width": rope, **asdict(region)}
    numbers |= _selection(claim, best_of)
    what = f"{a:g} against {b:g} on {counted(n_test, 'item')}"
    return _report(claim, what, level, _described(claim), [*notes, *told], **numbers)


def report_means(
    claim: ReportedMeans, *, best_of: float | None = None, level: float = 0.05
) -> Report:
    """Report of the claim that A outperforms B, from two means of the same cases.

    Parameters
    ----------
    claim : ReportedMeans
    best_of, level
        As in ``report_accuracies``.

    Returns
    -------
    Report
        ``about`` is a ``ReportedClaim``, with ``numbers``: mean, sd, sd_imputed (from the means),
        sd_sensitivity (factor and probability, where a default imputed them), sd_difference,
        correlation_range, and selection (of the best of several tries).

    Examples
    --------
    >>> report = report_means(ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1)))
    >>> round(report.content["p_false"], 3), round(report.content["correlation_needed"], 3)
    (0.141, 0.819)
    """
    (low, high), known = claim.correlation_range, claim.sd_difference is not None
    claim.p_false()  # refuses what no claim can be
    numbers: dict[str, Any] = {
        "mean": [claim.mean_a, claim.mean_b],
        "correlation_range": [low, high],
        "sd_difference": claim.sd_difference,
        "sd": None if known else claim.spreads,
        "sd_imputed": claim.imputed,
        "sd_sensitivity": _other_spreads(claim),
        **_selection(claim, best_of),
    }
    assumption = f"averaged from {low:g} to {high:g}"
    if claim.correlation is not None:
        assumption = "given"
    if known:
        assumption = "not needed: the differences are known"
    halved = "for the tries half of the variance of the differences is taken to be A's own"
    notes = [halved] * (known and best_of is not None)
    assumed = {"value": claim.correlation, "assumption": assumption}
    what = f"{claim.mean_a:g} against {claim.mean_b:g} on {counted(claim.n_test, 'case')}"
    return _report(claim, what, level, assumed, notes, **numbers)


def _other_spreads(claim: ReportedMeans) -> list[list[float]]:
    """Half and twice of SDs that were imputed by default, and the probability with each."""
    if not claim.imputed:
        return []
    first, second = claim.spreads
    return [[x, float(claim.p_false(sd=(x * first, x * second)))] for x in (0.5, 2.0)]


def _selection(claim: Claim, tries: float | None) -> dict[str, Any]:
    """The claim if A is the best of several tries."""
    if tries is None:
        return {}
    from bayes_sota.claims.selection import best_try_probability, best_try_probability_of_means

    if isinstance(claim, ReportedMeans):
        best = best_try_probability_of_means(claim, tries)
    else:
        pair, n = (claim.accuracy_a, claim.accuracy_b), claim.n_test
        best = best_try_probability(*pair, n, tries, claim.congruence)
    plain = float(claim.p_false())
    of = {"tries": tries, "p_false_selected": best, "p_false": plain, "difference": best - plain}
    return {"selection": of}


def _described(claim: ReportedAccuracies) -> dict[str, Any]:
    chosen = claim.congruence
    if chosen is None:
        return {"range": [*claim.ends], "assumption": "averaged over what the accuracies allow"}
    value = congruence_at(np.asarray(claim.accuracy_a), np.asarray(claim.accuracy_b), chosen)
    return {"value": float(value), "assumption": chosen if isinstance(chosen, str) else "given"}


def _as_printed(
    accuracy: tuple[str, str],
    n_test: int,
    chosen: Congruence,
    rounding: Literal["auto"] | Rounding,
    any_accuracy: bool,
) -> tuple[dict[str, Any] | None, list[str]]:
    """What the printed digits leave open, and notes."""
    try:
        printed = reported_claim(*accuracy, n_test, chosen, rounding=rounding)
    except ImpossibleAccuracyError as error:
        if not any_accuracy:
            error.parameter = "any_accuracy"
            error.fix = "{option} takes averages of runs or classes as they are"
            raise
        return None, [str(error)]
    one_digit = any(len(x.partition(".")[2]) == 1 for x in accuracy)
    alike = float(accuracy[0]) == float(accuracy[1])
    remarks = {
        "one digit after the point is taken as printed: write 0.90 if that was printed": (
            rounding != "exact" and one_digit
        ),
        "both print alike: with rounding A is taken to have at least as many right": alike,
    }
    names = ("p_false", "lowest", "highest", "counts_a", "counts_b")
    rounded = {name: getattr(printed, name) for name in names}
    rounded["rounding"] = "nearest" if rounding == "auto" else rounding
    return rounded, [text for text, holds in remarks.items() if holds]


def _about_accuracies(content: dict[str, Any]) -> Iterator[str]:
    """Sentences of the paragraph: the claim, what is not reported, rounding, tries."""
    (low, most), *_, (high, least) = content["sensitivity"]
    (a, b), assumed = content["accuracy"], content["congruence"]
    items = counted(content["n_test"], "test item")
    assumption = assumed["assumption"]
    if "range" in assumed:
        assumption = "averaged over all that both may have got right"
    elif assumed["value"] is not None:
        assumption = f"{assumed['value']:.4g} of the items right by both, {assumption}"
    yield (
        f"The claim that A (accuracy {a:g}) outperforms B ({b:g}) on {items} is false "
        f"with probability {chance(content['p_false'])} ({assumption})."
    )
    if "range" in assumed:
        yield (
            "The share of items that both got right was not reported; the accuracies allow "
            f"{low:.3f} to {high:.3f}, and the probability ranges from {chance(least)} to "
            f"{chance(most)}."
        )
        yield _needed(content)
    rounded = _left_open(content)
    if rounded and rounded["p_false"] != content["p_false"]:
        yield f"With the rounding of the printed accuracies it is {chance(rounded['p_false'])}."
    yield from _about_tries(content)


def _details_of_accuracies(content: dict[str, Any]) -> Iterator[str]:
    """What the screen has beside the paragraph."""
    rounded, rope = _left_open(content), content.get("rope")
    if "range" not in content["congruence"]:
        yield _needed(content)
    if rounded:
        ends = (sorted({*rounded[name]}) for name in ("counts_a", "counts_b"))
        a, b = (" to ".join(f"{x:,}" for x in pair) for pair in ends)
        lowest, highest = chance(rounded["lowest"]), chance(rounded["highest"])
        yield f"Printed so are {a} right by A and {b} by B: {lowest} to {highest}."
    if rope is not None:
        yield (
            f"A better by more than {in_points(rope['half_width'])}: {chance(rope['a_better'])}; "
            f"equivalent: {chance(rope['equivalent'])}; B better: {chance(rope['b_better'])}"
        )


def _left_open(content: dict[str, Any]) -> dict[str, Any] | None:
    """What the printed digits leave open; None where they fit one pair of counts, or none."""
    rounded: dict[str, Any] | None = content["rounding"]
    return rounded if rounded and rounded["lowest"] < rounded["highest"] else None


def _needed(content: dict[str, Any]) -> str:
    """What the level asks of the congruence."""
    needed, level = content["congruence_needed"], content["level"]
    if needed is None:
        return f"At no share does it fall to {level:g}."
    share = rounded_up(100 * needed, 1)
    always = needed <= content["sensitivity"][0][0]
    only = f"only if both got at least {share} % of the items right"
    return f"It is at most {level:g} {'whatever that share is' if always else only}."


def _about_means(content: dict[str, Any]) -> Iterator[str]:
    """Sentences of the paragraph: the claim, spreads, correlation, tries."""
    known = content["correlation"]["value"]
    yield (
        f"The claim that A (mean {content['mean'][0]:g}) outperforms B ({content['mean'][1]:g}) on "
        f"{counted(content['n_test'], 'case')} is false with probability "
        f"{chance(content['p_false'])}."
    )
    if content["sd"] is None:
        yield f"The differences of cases have the SD {content['sd_difference']:g}."
    else:
        how = " imputed from the means" if content["sd_imputed"] else ""
        yield f"The SDs of cases are {' and '.join(f'{x:.3g}' for x in content['sd'])}{how}."
        if content["sd_sensitivity"]:
            (_, half), (_, twice) = content["sd_sensitivity"]
            yield (
                "They were not reported: a rule of thumb for Dice, 2/3 mean (1 - mean), stands for "
                f"them; with half of them the probability is {chance(half)}, with twice "
                f"{chance(twice)}."
            )
        if known is not None:
            yield f"Their correlation is {known:g}."
        else:
            (low, most), *_, (high, least) = content["sensitivity"]
            start, end = content["correlation_range"]
            yield (
                "The correlation of the two methods' cases was not reported and is averaged, "
                f"uniform from {start:g} to {end:g}; the probability is {chance(most)} at {low:g} "
                f"and {chance(least)} at {high:g}. Please report the standard deviation of the "
                "differences, or the results per case."
            )
    yield from _about_tries(content)


def _about_tries(content: dict[str, Any]) -> Iterator[str]:
    if "selection" in content:
        of = content["selection"]
        yield (
            f"If A is the best of {of['tries']:g} {'try' if of['tries'] == 1 else 'tries'} of "
            f"equal skill, the probability is {chance(of['p_false_selected'])} instead of "
            f"{chance(of['p_false'])}."
        )


def rounded_up(value: float, digits: int) -> str:
    """The least number with so many digits that is not below a bound.

    Examples
    --------
    >>> rounded_up(90.53, 1), rounded_up(90.5, 1)
    ('90.6', '90.5')
    """
    return f"{ceil(value * 10**digits - 1e-6) / 10**digits:.{digits}f}"
