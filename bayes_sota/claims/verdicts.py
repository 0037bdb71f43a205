"""Verdicts on a pair: better, not worse by more than a margin, worse, or undecided.

At the end a verdict rests on the interval of the paired difference, so that each of "better" and
"worse" is wrong with at most half of what the interval leaves out. At any time it rests on evidence
that may be looked at after every item (``items.anytime``), with the same bound for all looks
together. docs/measured/claims.md has the errors and the power of both on real pairs.
"""

from itertools import compress
from typing import Any, Literal

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import codes_of
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.anytime import anytime_evidence

Verdict = Literal["better", "not-worse", "worse", "undecided"]


def verdict_at_end(lower: float, upper: float, margin: float) -> Verdict:
    """Verdict from the interval of what the first has more than the second.

    Examples
    --------
    >>> verdict_at_end(0.01, 0.03, 0), verdict_at_end(-0.01, 0.03, 0.02)
    ('better', 'not-worse')
    >>> verdict_at_end(-0.03, 0.01, 0.02), verdict_at_end(-0.05, -0.01, 0.02)
    ('undecided', 'worse')
    """
    if lower > 0:
        return "better"
    if lower > -margin:
        return "not-worse"
    return "worse" if upper < 0 else "undecided"


def verdict_at_any_time(
    outcomes: Outcomes, pair: tuple[str, str], margin: float, ci_prob: float
) -> dict[str, Any]:
    """Verdict, and after how many items it was reached, by evidence in the order of the items.

    Parameters
    ----------
    outcomes : Responses or ItemScores
        Of both, one column each, on items that count the same, with values between 0 and 1.
    pair : (str, str)
    margin : float
    ci_prob : float

    Raises
    ------
    InputError
        Several runs in columns of their own, tasks that do not count as items do, skill on new runs
        or tasks, numbers beyond 0 and 1, AUCs.
    """
    differences, clusters = _differences(outcomes, pair)
    evidence = anytime_evidence(differences, margin, clusters)
    running = {"better": evidence.better, "not-worse": evidence.not_worse, "worse": evidence.worse}
    after = {name: evidence.first(one, (1 - ci_prob) / 2) for name, one in running.items()}
    verdict = next((name for name in after if after[name] is not None), "undecided")
    decided = {"verdict": verdict, "decided_after": after.get(verdict)}
    return decided | {"n_compared": differences.size}


def _differences(outcomes: Outcomes, pair: tuple[str, str]) -> tuple[FloatArray, IntArray | None]:
    """What the first got more than the second, item by item, and clusters."""
    why = None
    if outcomes.n_classifiers != 2:
        why = "one column for each of the two: join their runs"
    elif not outcomes.is_answers:
        plain = outcomes.metric == "mean" and outcomes.tasks is None
        inside = bool(np.all((outcomes.values >= 0) & (outcomes.values <= 1)))
        why = None if plain and inside else "right and wrong, or a mean of numbers between 0 and 1"
    elif outcomes.new != "items":
        why = "skill on new items"
    elif outcomes.tasks is not None and outcomes.averaging != "items":
        why = "items that count the same: --average items"
    if why is not None:
        raise InputError(f"a verdict at any time needs {why}")
    first, second = (list(outcomes.names).index(name) for name in pair)
    values = outcomes.sign * outcomes.values
    differences = values[:, first] - values[:, second]
    both = np.isfinite(differences)
    clusters = None
    if outcomes.clusters is not None:
        clusters = codes_of([*compress(outcomes.clusters, both)])[1]
    return differences[both], clusters
