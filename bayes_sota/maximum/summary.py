"""What a law of the best score says, in numbers and words. Imports NumPy only.

``tests/cli/test_reports.py`` compares the forms of the report.
"""

from typing import Any

from bayes_sota.core.summary import numbers_report
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import counted, decimals_for, span

_CITED = "sample maximum after Møllersen and Holsbø 2023, arXiv 2303.07272"


def describe_maximum(content: dict[str, Any]) -> Report:
    """Describe the law of the best score of classifiers of known skill.

    Parameters
    ----------
    content : dict
        Keys of ``bayes-sota maximum --json``; ``skills`` is the skill of all classifiers, or the
        ends of a uniform distribution.
    """
    rho, ends = f"{content['correlation']:g}", "{:.6f} to {:.6f}".format(*content["interval"])
    names = {
        "theta_sota": "skill of the best classifier (theta_sota)",
        "expected_maximum": (
            f"expected best score of {counted(content['n_classifiers'], 'classifier')}"
        ),
        "sd": "standard deviation of the best score",
    }
    return numbers_report(
        [
            *((name, content[key], f"{content[key]:.6f}") for key, name in names.items()),
            (f"{content['prob']:.0%} interval of the best score", ends, ends),
            ("correlation with the reference classifier (rho)", rho, rho),
            ("multiplicity bias", content["bias"], f"{content['bias']:+.6f}"),
        ],
        content=content,
        sentences=_sentences(content),
        in_words=False,
        basis=("exact law of the best score", SOFTWARE, _CITED),
        notes=content["notes"],
    )


def _sentences(content: dict[str, Any]) -> list[str]:
    """The expected best score, its bias, and what was assumed."""
    auc, skills, digits = "n_positive" in content, content["skills"], decimals_for(content["sd"])
    names = ("expected_maximum", "bias", "theta_sota")
    best, bias, sota = (f"{content[name]:z.{digits}f}" for name in names)
    of = f"skills uniform from {skills[0]:g} to {skills[-1]:g}"
    if len(skills) == 1:
        of = f"the {'AUC' if auc else 'skill'} {skills[0]:g}"
    positives = f", {content['n_positive']:,} of them positive," if auc else ""
    said = [
        f"The best of {counted(content['n_classifiers'], 'classifier')} with {of} on "
        f"{counted(content['n_test'], 'test item')}{positives} is expected to score {best} "
        f"({content['prob']:.0%} interval {span(content['interval'], digits)}).",
        f"That is {bias} above the skill of the best classifier, {sota}, by luck alone.",
    ]
    if auc and content["spread_ratio"] != 1:
        said.append(f"The spread ratio of the scores is {content['spread_ratio']:g}.")
    if content["correlation"]:
        of = "scores with a reference score" if auc else "classifiers with a reference classifier"
        said.append(f"The correlation of the {of} (rho) is {content['correlation']:g}.")
    return said
