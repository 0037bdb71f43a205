"""The paper's point estimates of one board beside its posterior (Tables 2 and 4).

``tests/maximum/test_compare.py`` holds the rows against the functions and the published numbers.
"""

from typing import Any, get_args

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core.arguments import CLASSES
from bayes_sota.core.errors import InputError
from bayes_sota.core.tables import Table, rows_of
from bayes_sota.core.text import counted, span
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.maximum.field_estimate import Criterion
from bayes_sota.maximum.shrinkage import crop_scores, shrink_aucs, shrink_scores


def compare_estimates(
    board: Leaderboard | Outcomes,
    tree: xr.DataTree,
    *,
    n_classes: int | None = None,
    n_test: int | None = None,
    correlation: float | None = None,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    """Compare the best score, shrinking, cropping and the posterior of the best skill.

    Parameters
    ----------
    board : Leaderboard or Outcomes
        With all scores, accuracies or AUCs.
    tree : DataTree
        Result of ``estimate_sota`` of this board.
    n_classes : int, optional
        Classes of the task, needed for accuracies: chance is one over it.
    n_test : int, optional
        Test items behind the accuracies; default the board's. With it, scores of no metric are
        taken as accuracies, whether or not so many items can give them.
    correlation : float, optional
        rho of shrinking and cropping; default 0.6 for accuracies, as in the paper, and 0 for AUCs.
    ci_prob : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A row per estimate: ``method``, ``estimate``, ``lower`` and ``upper`` (of the best score
        alone, after Clopper and Pearson; of the best score of the shrunk or cropped field; of the
        posterior), ``n_above`` (entries with a score above the estimate), ``n_inside`` (entries
        with a score inside the interval) and ``note`` (why there is nothing to correct).

    Raises
    ------
    InputError
        Scores of another metric, no number of classes of accuracies, or a perfect score.

    Notes
    -----
    Tables 2 and 4 of Møllersen & Holsbø, arXiv 2303.07272. AUCs are not cropped.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.91, 0.9, 0.905, 0.88, 0.87], n_test=1000)
    >>> frame = compare_estimates(board, bs.estimate_sota(board, random_seed=0), n_classes=10)
    >>> frame["method"].tolist()[:3]
    ['best score alone', 'shrink, expected', 'shrink, upper']
    >>> frame["n_inside"].tolist()[0]
    3
    """
    shown = board if isinstance(board, Leaderboard) else board.leaderboard()
    given: dict[str, Any] = {} if correlation is None else {"correlation": correlation}
    methods: dict[str, Any] = {"shrink": shrink_scores, "crop": crop_scores}
    if shown.metric == "auc":
        methods = {"shrink": shrink_aucs}
        given |= {x: getattr(shown, x) for x in ("n_positive", "n_negative", "spread_ratio")}
    elif shown.metric != "accuracy" and n_test is None:
        raise InputError("shrinking and cropping are for accuracies and AUCs")
    else:
        given |= {"n_test": n_test or shown.n_test}
        given["chance"] = 1 / CLASSES.check(n_classes, "n_classes")
    found = {
        f"{name}, {criterion}": solve(shown.scores, criterion=criterion, ci_prob=ci_prob, **given)
        for name, solve in methods.items()
        for criterion in get_args(Criterion)
    }
    one = next(iter(found.values()))
    theta = np.asarray(tree["posterior"]["theta_sota"].values)
    ends = tuple(np.quantile(theta, [(1 - ci_prob) / 2, (1 + ci_prob) / 2]).tolist())
    rows = [
        ("best score alone", one.observed_maximum, one.single, ""),
        *((name, x.estimate, x.interval, x.reason) for name, x in found.items()),
        ("posterior", float(theta.mean()), ends, ""),
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


def comparison_table(frame: pd.DataFrame, n_entries: int, ci_prob: float) -> Table:
    """``compare_estimates`` as readers see it."""
    return Table.of(
        [
            {
                "estimate of the best skill": row["method"],
                "value": f"{row['estimate']:.4f}",
                f"{ci_prob:.0%} interval": span((row["lower"], row["upper"]), 4),
                "entries above it": f"{row['n_above']:,}",
                "entries in the interval": f"{row['n_inside']:,}",
                "note": "no multiplicity to correct" if row["note"] else "",
            }
            for row in rows_of(frame)
        ],
        f"Estimates of the best skill of {counted(n_entries, 'entry', 'entries')}: intervals of "
        "the best score alone, of the best score of the shrunk or cropped field, of the posterior",
    )
