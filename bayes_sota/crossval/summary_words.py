"""Sentences and tables of the reports of ``bayes-sota cv``, from their numbers.

``tests/crossval/test_summary.py`` reads them.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.core.tables import Table, table_of
from bayes_sota.core.text import chance, in_prose, listed, p_value
from bayes_sota.crossval.correlated_t import KEPT

_LEARNERS = "learner rank:g steady:.4g standard_error:.1g sd:.2g median:.4g canonical:.4g"
_PAIRS = "first second difference:.2g lower:.2g upper:.2g p_better:p p_corrected:p"
_RULES = "rule iterations:.0f ran_out:.0% reproducibility:.2f by_chance:.2f pairs_kept:.0%"
NOTES = (
    "repetition removes the noise of partitions only: with enough iterations any two learners "
    "separate; the posterior and the corrected test allow for the noise of the data too",
    "publish the seeds of the partitions, not the order of a single run; on balanced data "
    "10 folds came nearest to true test sets (Raeder, Hoens and Chawla 2010)",
)
"""Limits of the method."""
LOOKS = (
    "the posterior rule looks after every iteration: P(better) passes .95 by chance at some look "
    "in 19% of runs of equal learners, after a fixed number of iterations in 10%"
)
_VERDICTS = "a b n_ahead:d n_tasks:d p_value:p a_wins:.2f b_wins:.2f contradiction:.2f"


def score_name(scorer: str) -> str:
    """Name of a score in text, one for all that mean the same.

    Examples
    --------
    >>> score_name("roc_auc"), score_name("accuracy")
    ('AUROC', 'accuracy')
    """
    return "AUROC" if scorer.lower() in ("roc_auc", "auc", "auroc") else scorer


def answer_of(content: dict[str, Any]) -> Iterator[str]:
    """Who is ahead, and how reproducible that is."""
    pairs, truth = content["pairs"], content["against_truth"]
    yield from _of_one(pairs[0], content) if content["ranks"] is None else _of_many(content)
    if len(pairs) > 1:
        kept = sum(pair["order_kept"] >= KEPT for pair in pairs)
        often = f"at least {KEPT:.0%} of such comparisons"
        yield f"{kept:,} of {len(pairs):,} pairs of learners keep their order in {often}."
    if truth is not None:
        mean = float(np.mean([*truth["steady"]["bias"].values()]))
        off = f"{abs(mean):.2g} too {'low' if mean < 0 else 'high'} on average"
        same = f"the same best learner on {truth['steady']['same_best']:.0%} of the data sets"
        yield f"Against true test sets the means of all iterations are {off}, with {same}."


def _of_one(pair: dict[str, Any], content: dict[str, Any]) -> Iterator[str]:
    """The answer for one data set: the best learner and the next."""
    order, found = f"{pair['first']} ranks above {pair['second']}", pair["posterior"]
    where = "the mean of these iterations"
    if np.isfinite(pair["order_kept"]):
        kept = f"{100 * pair['order_kept']:.0f} of 100 comparisons of runs"
        where = f"{kept} drawn from these iterations and stopped by {content['rule']['name']}"
    again = f"a new run would reverse that with probability {in_prose(found['p_other_seed'])}"
    yield f"{order} in {where}; {again}."
    p, tests = {test["name"]: test["p_value"] for test in pair["tests"]}, ""
    if p and p["corrected"] is None:
        tests = "; no test is possible, as the difference is the same in every fold"
    elif p:
        naive = f"the naive one, of independent folds, {p_value(p['naive'])}"
        tests = f": the corrected test has {p_value(p['corrected'])} ({naive})"
    yield (
        f"With the noise of the data as well, {pair['first']} is better with probability "
        f"{in_prose(found['p_better'])}{tests}."
    )


def _of_many(content: dict[str, Any]) -> Iterator[str]:
    """The answer for several data sets: ranks, Wilcoxon's test, verdicts of seeds."""
    (first, low), *others = sorted(content["ranks"]["learners"].items(), key=lambda item: item[1])
    apart = content["ranks"]["nemenyi"]
    tied = [name for name, rank in others if rank - low < apart]
    beside = f"not significantly better than {listed(tied)}" if tied else "better than all others"
    by = f"critical difference {apart:.2f}, Nemenyi"
    yield f"{first} has the best mean rank, {low:.2f}; it is {beside} ({by})."
    pair = {first, others[0][0]}
    (test,) = (row for row in content["steady_verdicts"] if {row["a"], row["b"]} == pair)
    if test["p_value"] is not None:
        ahead = f"{test['a']} is above {test['b']} on {test['n_ahead']} of {test['n_tasks']}"
        p = p_value(test["p_value"])
        yield f"By all iterations {ahead} data sets; Wilcoxon's signed ranks have {p}."
    worst = max(content["verdicts"] or [{}], key=lambda row: row.get("contradiction", 0))
    if worst.get("contradiction"):
        a, b = (f"{worst[x]} for {worst[f'{x}_wins']:.0%} of the seeds" for x in "ab")
        yield f"With one iteration of each data set, Wilcoxon's test prefers {a}, and {b}."


def advice_of(content: dict[str, Any], reasons: list[str]) -> Iterator[str]:
    """The source's recommendations, as far as these data give reason for them."""

    def named(row: dict[str, Any], name: str) -> str:
        return name if content["ranks"] is None else f"{name} on {row['task']}"

    if reasons:
        yield "Run more iterations before any test: the steady state is not reached."
    skewed = [row for row in content["learners"] if row["skewed"]]
    if skewed:
        names = []
        for row in skewed:
            side = "left" if row["skewness"] < 0 else "right"
            names.append(f"{named(row, row['learner'])} ({side}, {p_value(row['p_skewness'])})")
        changed = any(row["rank"] != row["rank_by_median"] for row in content["learners"])
        yield (
            f"The scores of {listed(names, 4)} are skewed: a single run tends to be too high with "
            "a left skew, too low with a right one. Compare medians: they give "
            f"{'another' if changed else 'the same'} order."
        )
    loose = [pair for pair in content["pairs"] if pair["order_kept"] < KEPT]
    if loose:
        tied = [named(pair, f"{pair['first']} with {pair['second']}") for pair in loose]
        least = loose[0]["iterations_needed"]
        needed = f"about {least:,.0f}" if np.isfinite(least) else "no number of"
        yield (
            f"Report as tied: {listed(tied, 4)}. Other partitions may reverse their order; "
            f"{needed} iterations would keep the first of these orders {KEPT:.0%} of the time."
        )


def tables_of(content: dict[str, Any]) -> Iterator[Table]:
    """Tables of the numbers of ``judge_runs``."""
    place, tests = "" if content["ranks"] is None else "task ", content["steady_verdicts"]
    title = f"Learners, by the mean {score_name(content['scorer'])}"
    forms = f"{place}{_LEARNERS} p_canonical_above:.2f stopping_iteration"
    yield forms_table(content["learners"], forms, title)
    rows = [
        row
        | flat_pair(row["posterior"], content["n_iterations"])
        | {"p_corrected": row["tests"][1]["p_value"] if row["tests"] else None}
        for row in content["pairs"]
    ]
    forms = f"{place}{_PAIRS} order_kept:.2f p_other_seed:.2f more"
    yield forms_table(rows, forms, f"Pairs of learners, under the rule {content['rule']['name']}")
    yield forms_table(content["rules"], _RULES, "Rules, over learners, data sets and orderings")
    if tests:
        seeds = content["verdicts"] or [{}] * len(tests)
        rows = [a | b for a, b in zip(tests, seeds, strict=True)]
        yield forms_table(rows, _VERDICTS, "Wilcoxon's test across data sets")
    if content["against_truth"]:
        rows = [
            {"learner": learner, "estimate": kind, "bias": bias, "rms": one["mse"][learner] ** 0.5}
            for kind, one in content["against_truth"].items()
            for learner, bias in one["bias"].items()
        ]
        title = "Estimate less score on true test sets: mean, root mean square"
        yield forms_table(rows, "learner estimate bias:+.2g rms:.2g", title)


def legend_of(content: dict[str, Any]) -> list[str]:
    """Meaning of the columns of ``tables_of``."""
    pair = content["pairs"][0]
    return [
        "Learners: steady: mean of all iterations, with its standard error over partitions; "
        "canonical: the first ten fits; p canonical above: probability that such a run exceeds "
        "steady; stopping iteration: 0 where the rule was never met.",
        f"Pairs: lower, upper, p better: {content['prob']:.0%} interval of the true difference "
        f"(correlated t; fold scores correlate by {pair['posterior']['correlation']:.3g}, which is "
        "assumed); order kept: R, how often the first is above the second in two runs (|2R - 1| is "
        f"{pair['by_chance']:.2f} for equal learners); p other seed: probability that a new run "
        f"reverses them; more: iterations until P(order) is {KEPT:g}.",
        f"Rules: ran out: the rule was not met; pairs kept: R is {KEPT:g} or more.",
    ]


def flat_pair(pair: dict[str, Any], iterations: int) -> dict[str, Any]:
    """Row of a table: ends of the interval, and iterations until the order is decided.

    "data" where no number of iterations is enough; nothing where it is not about one data set.
    """
    needed = 0 if pair.get("decided", True) else pair["iterations_needed"]
    more = "data" if needed is None else f"{needed and max(1, needed - iterations):,}"
    ends = dict(zip(("lower", "upper"), pair["interval"], strict=True))
    kept = {key: value for key, value in pair.items() if key != "interval"}
    return kept | ends | {"more": more if "decided" in pair else ""}


def forms_table(rows: Sequence[dict[str, Any]], forms: str, title: str = "") -> Table:
    """Table of some keys of rows, each followed by the format of its numbers.

    The form ``p`` is of a probability. A number that is not finite has an empty cell.

    Examples
    --------
    >>> forms_table([{"name": "a", "p_value": 0.5, "mean": 0.25}], "name mean:.1f p_value:p").rows
    [['a', '0.2', '0.500']]
    """

    def cell(row: dict[str, Any], key: str, form: str) -> str | None:
        value = row.get(key)
        if value is None or (isinstance(value, float) and not np.isfinite(value)):
            return "" if key in row else None
        return chance(value) if form == "p" else format(value, form)

    columns = {}
    for part in forms.split():
        key, _, form = part.partition(":")
        columns[key.replace("_", " ")] = partial(cell, key=key, form=form)
    return table_of(rows, columns, title)
