"""A claim in words that a reviewer can paste: numbers, what they rest on, and what to report.

Says what was computed and computes nothing; ``tests/claims/test_summary_text.py`` reads it.
"""

from collections.abc import Sequence
from math import ceil
from typing import Any

from bayes_sota import __version__
from bayes_sota.core.text import chance

_SOURCE = (
    f"bayes_sota {__version__}, after Christodoulou et al. 2025, arXiv 2505.04720; a claim is "
    "false where B is at least as good as A on all items that there could be."
)


def text_of_accuracies(result: dict[str, Any]) -> str:
    """Paragraph about two accuracies.

    Parameters
    ----------
    result : dict
        Of ``bayes-sota claim classification --json``.
    """
    a, b = result["accuracy"]
    (low, most), (high, least) = result["sensitivity"][0], result["sensitivity"][-1]
    said = [
        f"The claim that A (accuracy {a:g}) outperforms B ({b:g}) on {_items(result)} is false "
        f"with probability {chance(result['p_false'])} ({_assumption(result)})."
    ]
    if "range" in result["congruence"]:
        said.append(
            "The share of items that both got right was not reported; the accuracies allow "
            f"{low:.3f} to {high:.3f}, and the probability ranges from {chance(least)} to "
            f"{chance(most)}."
        )
        said.append(_needed(result["congruence_needed"], result["level"], low))
    if result["rounding"] is not None and result["rounding"]["p_false"] != result["p_false"]:
        rounded = result["rounding"]
        said.append(
            f"With the rounding of the printed accuracies it is {chance(rounded['p_false'])}."
        )
    if "selection" in result:
        said.append(_tries(result["selection"]))
    if "range" in result["congruence"]:
        said.append("Please report how many items both got right, or the results per item.")
    prior = "flat prior" if result["alpha"] == 1 else f"prior Dirichlet({result['alpha']:g})"
    basis = f"(Dirichlet posterior of the paired outcomes, {prior}; {_SOURCE})"
    return " ".join([*said, *_sentences(result["notes"]), basis])


def text_of_means(result: dict[str, Any]) -> str:
    """Paragraph about two means of cases.

    Parameters
    ----------
    result : dict
        Of ``bayes-sota claim segmentation --json``.
    """
    a, b = result["mean"]
    known = result["correlation"]["value"]
    said = [
        f"The claim that A (mean {a:g}) outperforms B ({b:g}) on {result['n_test']:,} cases is "
        f"false with probability {chance(result['p_false'])}."
    ]
    if result["sd"] is None:
        said.append(f"The differences of cases have the SD {result['sd_difference']:g}.")
    else:
        how = " imputed from the means" if result["sd_imputed"] else ""
        spreads = " and ".join(f"{x:.3g}" for x in result["sd"])
        said.append(f"The SDs of cases are {spreads}{how}.")
        said.append(_correlation(result) if known is None else f"Their correlation is {known:g}.")
    if "selection" in result:
        said.append(_tries(result["selection"]))
    basis = f"(Student t of the paired means; {_SOURCE})"
    return " ".join([*said, *_sentences(result["notes"]), basis])


def _correlation(result: dict[str, Any]) -> str:
    (low, most), (high, least) = result["sensitivity"][0], result["sensitivity"][-1]
    range_low, range_high = result["correlation_range"]
    return (
        "The correlation of the two methods' cases was not reported and is averaged, uniform from "
        f"{range_low:g} to {range_high:g}; the probability is {chance(most)} at {low:g} and "
        f"{chance(least)} at {high:g}. Please report the standard deviation of the "
        "differences, or the results per case."
    )


def text_of_outcomes(result: dict[str, Any]) -> str:
    """Paragraph about several methods on the same items.

    Parameters
    ----------
    result : dict
        Of ``bayes-sota claim responses --json``.
    """
    winner, tied = result["winner"], result["tied_with_best"]
    said = [
        f"On the same {size_of_outcomes(result)}, {winner} has the best score of "
        f"{len(result['methods'])} methods. "
        f"That it is better than the runner-up, {result['runner_up']}, is false with probability "
        f"{chance(result['p_false'])}; that no other method is better than it, with "
        f"{chance(result['p_beaten'])}."
    ]
    others = [name for name in tied if name != winner]
    said.append(
        f"{_listed(others)} cannot be told from it." if others else "No other is tied with it."
    )
    if result["selection"] is not None:
        chosen = result["selection"]
        said.append(
            "The winner was picked by its score on these items; allowing for that, another method "
            f"is the best with probability {chance(chosen['p_not_best'])}."
        )
    basis = f"(Paired posterior, items as {_unit(result)}; bayes_sota {__version__})"
    return " ".join([*said, *_sentences(result["notes"]), basis])


def size_of_outcomes(result: dict[str, Any]) -> str:
    """How many items, and in how many clusters where there are any.

    Examples
    --------
    >>> size_of_outcomes({"n_items": 1200, "n_clusters": 80})
    '1,200 items in 80 clusters'
    """
    items = f"{result['n_items']:,} items"
    clustered = result["n_clusters"] != result["n_items"]
    return f"{items} in {result['n_clusters']:,} clusters" if clustered else items


def rounded_up(value: float, digits: int) -> str:
    """The least number with so many digits that is not below a bound.

    Examples
    --------
    >>> rounded_up(90.53, 1), rounded_up(90.5, 1)
    ('90.6', '90.5')
    """
    return f"{ceil(value * 10**digits - 1e-6) / 10**digits:.{digits}f}"


def _unit(result: dict[str, Any]) -> str:
    return "clusters" if result["n_clusters"] != result["n_items"] else "independent"


def _items(result: dict[str, Any]) -> str:
    low, high = result["n_test_range"]
    return f"{low:,} test items" if low == high else f"{low:,} to {high:,} test items"


def _assumption(result: dict[str, Any]) -> str:
    of = result["congruence"]
    if "range" in of:
        return "averaged over all that both may have got right"
    if of.get("value") is None:
        return str(of["assumption"])
    return f"{of['value']:.4g} of the items right by both, {of['assumption']}"


def _needed(needed: float | None, level: float, low: float) -> str:
    if needed is None:
        return f"At no share does it fall to {level:g}."
    if needed <= low:
        return f"It is at most {level:g} whatever that share is."
    share = rounded_up(100 * needed, 1)
    return f"It is at most {level:g} only if both got at least {share} % of the items right."


def _tries(selection: dict[str, Any]) -> str:
    return (
        f"If A is the best of {selection['tries']:g} tries of equal skill, the probability is "
        f"{chance(selection['p_false_selected'])} instead of "
        f"{chance(selection['p_false'])}."
    )


def _sentences(notes: Sequence[str]) -> list[str]:
    return [f"{note[:1].upper()}{note[1:]}." for note in notes]


def _listed(names: Sequence[str]) -> str:
    if len(names) > 6:
        return f"{', '.join(names[:5])} and {len(names) - 5} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
