"""Best scores in words: a law, and the paper's estimates beside the posterior."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from bayes_sota.core.arguments import CLASSES
from bayes_sota.core.errors import InputError
from bayes_sota.core.summary import numbers_report, summarize_draws
from bayes_sota.core.tables import SOFTWARE, Report, Table, table_of
from bayes_sota.core.text import counted, decimals_for, span
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayes_sota.auc.best import BestLaw

_CITED = "sample maximum after Møllersen and Holsbø 2023, arXiv 2303.07272"


def describe_maximum(
    law: "BestLaw", facts: dict[str, Any], *, ci_prob: float = 0.95, notes: Sequence[str] = ()
) -> Report:
    """Describe the law of the best score of classifiers of known skill.

    Parameters
    ----------
    law : MaximumLaw or AucLaw
    facts : dict
        ``n_classifiers``, ``n_test``, ``correlation``, ``skills`` (that of all classifiers, or the
        ends of a uniform distribution), and of AUCs ``n_positive`` and ``spread_ratio``.
    ci_prob : float
        Probability of the interval.

    Examples
    --------
    >>> from bayes_sota.maximum.law import maximum_law
    >>> facts = {"n_test": 300, "n_classifiers": 10, "correlation": 0.0, "skills": [0.9]}
    >>> law = maximum_law(n_test=300, n_classifiers=10, skill=0.9)
    >>> describe_maximum(law, facts).sentences[1]
    'That is 0.0258 above the skill of the best classifier, 0.9000, by chance alone.'
    """
    content: dict[str, Any] = {
        "expected_maximum": law.mean(),
        "sd": law.std(),
        "interval": list(law.interval(ci_prob)),
        "prob": ci_prob,
        "bias": law.bias(),
        "theta_sota": law.theta_sota,
        **facts,
        "notes": notes,
    }
    count = counted(content["n_classifiers"], "classifier")
    ends = "{:.6f} to {:.6f}".format(*content["interval"])
    rho, bias = f"{content['correlation']:g}", content["bias"]
    names = {
        "theta_sota": "skill of the best classifier (theta_sota)",
        "expected_maximum": f"expected best score of {count}",
        "sd": "standard deviation of the best score",
    }
    rows = [
        *((name, content[key], f"{content[key]:.6f}") for key, name in names.items()),
        (f"{content['prob']:.0%} interval of the best score", ends, ends),
        ("correlation with the reference classifier (rho)", rho, rho),
        ("multiplicity bias", bias, f"{bias:+.6f}"),
    ]
    said, basis = _sentences(content, count), ("exact law of the best score", SOFTWARE, _CITED)
    return numbers_report(rows, content=content, sentences=said, in_words=False, basis=basis)


def _sentences(content: dict[str, Any], count: str) -> list[str]:
    auc, skills, digits = "n_positive" in content, content["skills"], decimals_for(content["sd"])
    names = ("expected_maximum", "bias", "theta_sota")
    best, bias, sota = (f"{content[name]:z.{digits}f}" for name in names)
    of = f"skills uniform from {skills[0]:g} to {skills[-1]:g}"
    if len(skills) == 1:
        of = f"{'AUC' if auc else 'skill'} {skills[0]:g}"
    items = counted(content["n_test"], "test item")
    items += f", {content['n_positive']:,} of them positive," if auc else ""
    said = [
        f"The best of {count} with {of} on {items} is expected to score {best} "
        f"({content['prob']:.0%} interval {span(content['interval'], digits)}).",
        f"That is {bias} above the skill of the best classifier, {sota}, by chance alone.",
    ]
    if auc and content["spread_ratio"] != 1:
        said.append(f"The spread ratio of the scores is {content['spread_ratio']:g}.")
    if content["correlation"]:
        of = "scores with a reference score" if auc else "classifiers with a reference classifier"
        said.append(f"The correlation of the {of} (rho) is {content['correlation']:g}.")
    return said


def compare_estimates(
    board: Leaderboard | Outcomes,
    tree: "xr.DataTree",
    *,
    n_classes: int | None = None,
    ci_prob: float = 0.95,
) -> "pd.DataFrame":
    """Compare the best score, shrinking, cropping and the posterior of the best skill.

    Parameters
    ----------
    board : Leaderboard or Outcomes
        With all scores, accuracies or AUCs.
    tree : DataTree
        Result of ``estimate_sota`` of this board.
    n_classes : int, optional
        Classes of the task, required for accuracies: chance is one over it.
    ci_prob : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A row per estimate: ``method``, ``estimate``, ``lower`` and ``upper`` (of the best score
        alone, after Clopper and Pearson; of the best score of the shrunk or cropped field; of the
        posterior), ``n_above`` and ``n_inside`` (entries above the estimate, and inside the
        interval) and ``note``.

    Raises
    ------
    InputError
        Scores of another metric, accuracies without a number of classes, or a perfect score.

    Notes
    -----
    Tables 2 and 4 of Møllersen & Holsbø, arXiv 2303.07272: rho of shrinking and cropping is 0.6 for
    accuracies and 0 for AUCs, which are not cropped.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.91, 0.9, 0.905, 0.88, 0.87], n_test=1000)
    >>> frame = compare_estimates(board, bs.estimate_sota(board, random_seed=0), n_classes=10)
    >>> frame["method"].tolist()[:3]
    ['best score alone', 'shrink, expected', 'shrink, upper']
    """
    import numpy as np
    import pandas as pd

    from bayes_sota.maximum.shrinkage import Criterion, crop_scores, shrink_aucs, shrink_scores

    shown = board if isinstance(board, Leaderboard) else board.leaderboard()
    given: dict[str, Any] = {"ci_prob": ci_prob}
    methods: dict[str, Any] = {"shrink": shrink_scores, "crop": crop_scores}
    if shown.metric == "auc":
        methods = {"shrink": shrink_aucs}
        given |= {x: getattr(shown, x) for x in ("n_positive", "n_negative", "spread_ratio")}
    elif shown.metric == "accuracy":
        chance = 1 / CLASSES.check(n_classes, "n_classes")
        given |= {"n_test": shown.n_test, "chance": chance}
    else:
        raise InputError("shrinking and cropping are for accuracies and AUCs")
    found = {
        f"{name}, {criterion}": solve(shown.scores, criterion=criterion, **given)
        for name, solve in methods.items()
        for criterion in get_args(Criterion)
    }
    one = next(iter(found.values()))
    best = summarize_draws(np.asarray(tree["posterior"]["theta_sota"]), ci_prob)
    rows = [
        ("best score alone", one.observed_maximum, one.single, ""),
        *((name, x.estimate, x.interval, x.reason) for name, x in found.items()),
        ("posterior", best["mean"], best["interval"], ""),
    ]
    return pd.DataFrame(
        {
            "method": method,
            "estimate": estimate,
            "lower": low,
            "upper": high,
            "n_above": int(np.sum(one.scores > estimate)),
            "n_inside": int(np.sum((one.scores >= low) & (one.scores <= high))),
            "note": note,
        }
        for method, estimate, (low, high), note in rows
    )


def comparison_table(rows: list[dict[str, Any]], n_entries: int, ci_prob: float) -> Table:
    """Rows of ``compare_estimates`` in print."""
    columns: dict[str, Any] = {
        "estimate of the best skill": "method",
        "value": lambda row: f"{row['estimate']:.4f}",
        f"{ci_prob:.0%} interval": lambda row: span((row["lower"], row["upper"]), 4),
        "entries above it": lambda row: f"{row['n_above']:,}",
        "entries in the interval": lambda row: f"{row['n_inside']:,}",
        "note": lambda row: row["note"] or None,
    }
    of = f"the best skill of {counted(n_entries, 'entry', 'entries')}"
    title = f"Estimates of {of}; shrink and crop give intervals of the best score"
    return table_of(rows, columns, title)
