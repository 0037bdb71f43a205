"""What a law of the best score says, in numbers and words. Imports NumPy only.

``tests/cli/test_reports.py`` compares the forms of the report.
"""

from typing import Any

from bayes_sota.core.summary import numbers_report
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import counted, decimals_for

_CITED = "sample maximum after Møllersen and Holsbø 2023, arXiv 2303.07272"


def describe_maximum(content: dict[str, Any]) -> Report:
    """Describe the law of the best score of classifiers of known skill.

    Parameters
    ----------
    content : dict
        Keys of ``bayes-sota maximum --json``; ``skills`` is the skill of all classifiers, or the
        ends of a uniform distribution.
    """
    best = f"expected best score of {counted(content['n_classifiers'], 'classifier')}"
    rho = f"{content['correlation']:g}"
    ends = "{:.6f} to {:.6f}".format(*content["interval"])

    def row(name: str, key: str, form: str = ".6f") -> tuple[str, Any, str]:
        return name, content[key], format(content[key], form)

    rows = [
        row("skill of the best classifier (theta_sota)", "theta_sota"),
        row(best, "expected_maximum"),
        row("standard deviation of the best score", "sd"),
        (f"{content['prob']:.0%} interval of the best score", ends, ends),
        ("correlation with the reference classifier (rho)", rho, rho),
        row("multiplicity bias", "bias", "+.6f"),
    ]
    return numbers_report(
        rows,
        content=content,
        sentences=_sentences(content),
        in_words=False,
        basis=("exact law of the best score", SOFTWARE, _CITED),
        notes=content["notes"],
    )


def _sentences(content: dict[str, Any]) -> list[str]:
    """The expected best score, its bias, and what was assumed."""
    auc, skills = "n_positive" in content, content["skills"]
    digits = decimals_for(content["sd"])
    best, low, high, bias, sota = (
        f"{value:z.{digits}f}"
        for value in (
            content["expected_maximum"],
            *content["interval"],
            content["bias"],
            content["theta_sota"],
        )
    )
    of = f"skills uniform from {skills[0]:g} to {skills[-1]:g}"
    if len(skills) == 1:
        of = f"the {'AUC' if auc else 'skill'} {skills[0]:g}"
    positives = f", {content['n_positive']:,} of them positive," if auc else ""
    said = [
        f"The best of {counted(content['n_classifiers'], 'classifier')} with {of} on "
        f"{counted(content['n_test'], 'test item')}{positives} is expected to score "
        f"{best} ({content['prob']:.0%} interval {low} to {high}).",
        f"That is {bias} above the skill of the best classifier, {sota}, by luck alone.",
    ]
    if auc and content["spread_ratio"] != 1:
        said.append(
            f"The scores of positives are spread {content['spread_ratio']:g} times as wide as "
            "those of negatives."
        )
    if content["correlation"]:
        of = "scores with a reference score" if auc else "classifiers with a reference classifier"
        said.append(f"The correlation of the {of} (rho) is {content['correlation']:g}.")
    return said
