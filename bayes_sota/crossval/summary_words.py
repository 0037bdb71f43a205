"""Sentences and tables of the report of ``bayes-sota cv judge``, from its numbers.

``tests/crossval/test_summary.py`` reads them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayes_sota.core.tables import Table
from bayes_sota.core.text import chance, counted, decimals_for, listed, p_value
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.reproducibility import KEPT
from bayes_sota.crossval.rules import Probabilities, Rule
from bayes_sota.crossval.shape import canonical_iterations


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
    yield from (_of_one if content["ranks"] is None else _of_many)(content)
    pairs, truth = content["pairs"], content["against_truth"]
    if len(pairs) > 1:
        kept = sum(pair["order_kept"] >= KEPT for pair in pairs)
        several = " on a data set" if content["ranks"] else ""
        yield (
            f"Of {len(pairs):,} pairs of learners{several} {kept:,} keep their order in at least "
            f"{KEPT:.0%} of comparisons with other partitions."
        )
    if truth is not None:
        mean = float(np.mean([*truth["steady"]["bias"].values()]))
        yield (
            f"Against true test sets the means of all iterations are {abs(mean):.2g} too "
            f"{'low' if mean < 0 else 'high'} in the mean, and have the same best learner on "
            f"{truth['steady']['same_best']:.0%} of the data sets."
        )


def _of_one(content: dict[str, Any]) -> Iterator[str]:
    """The answer for one data set: the best learner and the next."""
    pair = content["pairs"][0]
    yield (
        f"With other partitions {pair['first']} comes before {pair['second']} in "
        f"{100 * pair['order_kept']:.0f} of 100 comparisons of runs that {content['rule']['name']} "
        "stops."
    )
    p, tests = {test["name"]: test["p_value"] for test in pair["tests"]}, ""
    if p and p["corrected"] is None:
        tests = f"; no test is possible: {pair['tests'][0]['reason']}"
    elif p:
        tests = (
            f": the corrected test has {p_value(p['corrected'])} (the naive one, which takes "
            f"overlapping folds for independent, {p_value(p['naive'])})"
        )
    yield (
        f"With the noise of the data as well {pair['first']} is better with probability "
        f"{chance(pair['posterior']['p_better'])}{tests}."
    )


def _of_many(content: dict[str, Any]) -> Iterator[str]:
    """The answer for several data sets: ranks, Wilcoxon's test, verdicts of seeds."""
    ranks = content["ranks"]
    (first, low), *others = sorted(ranks["learners"].items(), key=lambda item: item[1])
    tied = [name for name, rank in others if rank - low < ranks["nemenyi"]]
    beside = f"not significantly better than {listed(tied)}" if tied else "better than all others"
    yield (
        f"{first} has the best mean rank of all iterations, {low:.2f}; it is {beside} (critical "
        f"difference {ranks['nemenyi']:.2f}, Nemenyi)."
    )
    second = others[0][0]
    row = next(r for r in content["steady_verdicts"] if {r["a"], r["b"]} == {first, second})
    n, ahead = row["n_tasks"], row["n_ahead"]
    if row["p_value"] is not None:
        yield (
            f"By the means of all iterations {first} is above {second} on "
            f"{ahead if row['a'] == first else n - ahead - row['n_tied']} of {n} data sets, and "
            f"Wilcoxon's signed ranks have {p_value(row['p_value'])}."
        )
    for worst in sorted(content["verdicts"] or (), key=lambda one: -one["contradiction"])[:1]:
        if worst["contradiction"]:
            yield (
                f"Wilcoxon's test with one iteration of each data set says that {worst['a']} is "
                f"better than {worst['b']} with {worst['a_wins']:.0%} of the seeds, and the "
                f"opposite with {worst['b_wins']:.0%}."
            )


def advice_of(content: dict[str, Any], reasons: list[str]) -> Iterator[str]:
    """What the source recommends, as far as these data give reason to."""
    learners = content["learners"]

    def named(row: dict[str, Any], name: str) -> str:
        return name if content["ranks"] is None else f"{name} on {row['task']}"

    if reasons:
        yield "Run more iterations before any test: the steady state is not reached."
    skewed = [row for row in learners if row["skewed"]]
    for side, tends, sign in (("left", "high", -1), ("right", "low", 1)):
        names = [
            f"{named(row, row['learner'])} ({p_value(row['p_skewness'])})"
            for row in skewed
            if row["skewness"] * sign > 0
        ]
        if names:
            yield (
                f"The scores of {listed(names, 4)} are skewed to the {side}, so that a single run "
                f"tends to be too {tends}."
            )
    if skewed:
        changed = any(row["rank"] != row["rank_by_median"] for row in learners)
        yield f"Compare medians: the order by them is {'another' if changed else 'the same'}."
    loose = [pair for pair in content["pairs"] if pair["order_kept"] < KEPT]
    if loose:
        tied = [named(pair, f"{pair['first']} with {pair['second']}") for pair in loose]
        least = loose[0]["iterations_needed"]
        needed = f"about {least:,.0f}" if np.isfinite(least) else "no number of"
        which = "the first pair" if len(loose) > 1 else "the pair"
        yield (
            f"Report as tied: {listed(tied, 4)}. Other partitions may turn their order round; "
            f"{needed} iterations of each learner would keep {which} in its order {KEPT:.0%} of "
            "the time."
        )


def notes_of(scores: FoldScores, rule: Rule, probabilities: Probabilities) -> Iterator[str]:
    """What a reader should know of the method and of these data."""
    yield (
        "repetition removes the noise of partitions only: with enough iterations any two learners "
        "separate; the posterior and the corrected test allow for the noise of the data too"
    )
    yield (
        "publish the seeds of the partitions, and never the order of a single run; of balanced "
        "data 10 folds came nearest to true test sets (Raeder, Hoens and Chawla 2010)"
    )
    if probabilities is None:
        yield (
            "the rule that they recommend, Spearman's, needs the predicted probability of every "
            "item, which scores do not hold"
        )
    if rule.kind == "posterior":
        yield (
            "the posterior rule looks after every iteration: P(better) passes .95 by chance at "
            "some look in 19% of runs of equal learners, after a fixed number of iterations in 10%"
        )
    missing = int(np.isnan(scores.iteration_means()).any(axis=1).sum())
    if missing:
        yield f"{counted(missing, 'iteration')} with a failed or missing fold of some learner"


def tables_of(content: dict[str, Any]) -> Iterator[tuple[Table, str]]:
    """Tables of what ``judge_runs`` found, each with what its columns mean."""
    yield _learners(content)
    yield _pairs(content)
    yield _rules(content)
    if content["steady_verdicts"]:
        yield _verdicts(content)
    if content["against_truth"]:
        yield _truth(content["against_truth"])


def _place(content: dict[str, Any], row: dict[str, Any]) -> dict[str, str]:
    """The data set, where there are several."""
    return {} if content["ranks"] is None else {"data set": row["task"]}


def _shown(row: dict[str, Any], **forms: str) -> dict[str, str]:
    """Numbers of a row in their forms, under their keys; nothing where one is not finite."""
    return {
        key.replace("_", " "): format(row[key], form) if np.isfinite(row[key]) else ""
        for key, form in forms.items()
    }


def _learners(content: dict[str, Any]) -> tuple[Table, str]:
    rows = []
    for row in content["learners"]:
        form = f"z.{decimals_for(row['sd'], row['standard_error'])}f"
        numbers = _shown(row, rank="g", steady=form, standard_error=".1g", median=form, sd=".2g")
        single = _shown(row, canonical=form, p_canonical_above=".2f")
        stop = {"stops after": str(row["stopping_iteration"] or "not yet")}
        rows.append(_place(content, row) | {"learner": row["learner"]} | numbers | single | stop)
    run = f"{canonical_iterations(content['folds'])} x {content['folds']}-fold"
    return Table.of(rows, f"Learners, by the mean {score_name(content['scorer'])}"), (
        "Learners: steady: mean of all iterations; standard error: over partitions alone; sd: "
        f"between iterations; canonical: the first {run}, the size that papers report; p canonical "
        "above: that such a run exceeds the mean of all; stops after: iterations until the rule "
        "holds."
    )


def _pairs(content: dict[str, Any]) -> tuple[Table, str]:
    rows = []
    for row in content["pairs"]:
        found, (low, high) = row["posterior"], row["posterior"]["interval"]
        d = decimals_for((high - low) / 4)
        p = {test["name"]: test["p_value"] for test in row["tests"]}
        rows.append(
            _place(content, row)
            | {"first": row["first"], "second": row["second"]}
            | _shown(row, difference=f".{decimals_for(row['difference_se'])}f")
            | {f"{content['prob']:.0%} interval": f"{low:z.{d}f} to {high:z.{d}f}"}
            | {"P(first better)": chance(found["p_better"]), "p corrected": _p(p.get("corrected"))}
            | _shown(row, order_kept=".2f")
            | {"|2R-1|": f"{row['reproducibility']:.2f}"}
            | _shown(found, p_other_seed=".2f")
            | {"more": still_missing(found, content["n_iterations"])}
        )
    rho = content["pairs"][0]["posterior"]["correlation"]
    title = f"Pairs of learners, under the rule {content['rule']['name']}"
    return Table.of(rows, title), (
        "Pairs: interval and P(first better): of the true difference on data sets of this size "
        f"(correlated t, with a correlation of fold scores of {rho:.3g}, which is assumed); order "
        "kept: R, the share of comparisons of random orderings of the iterations with the first "
        f"above the second; |2R-1|: {content['pairs'][0]['by_chance']:.2f} of equal learners; p "
        "other seed: that a single run with other partitions orders the two otherwise; more: "
        f"iterations until P(order) is {KEPT:g}, 'data' where no number is enough."
    )


def still_missing(pair: dict[str, Any], iterations: int) -> str:
    """Iterations until the order of a pair is decided, 'data' where no number is enough."""
    if pair["decided"]:
        return "0"
    needed = pair["iterations_needed"]
    return "data" if needed is None else f"{max(1, needed - iterations):,}"


def _rules(content: dict[str, Any]) -> tuple[Table, str]:
    rows = [
        {"rule": row["rule"]}
        | _shown(row, iterations=".0f", saved=".0%", ran_out=".0%")
        | _shown(row, reproducibility=".2f", by_chance=".2f", pairs_kept=".0%")
        for row in content["rules"]
    ]
    return Table.of(rows, "Rules, over learners, data sets and orderings"), (
        "Rules: saved: iterations that a rule leaves out; ran out: how often iterations ended "
        f"before it held; reproducibility: mean of all pairs; pairs kept: R of {KEPT:g} or more."
    )


def _verdicts(content: dict[str, Any]) -> tuple[Table, str]:
    """Wilcoxon's tests of the means of all iterations, and of one after the other."""
    seeds, rows = content["verdicts"] or [], []
    for k, row in enumerate(content["steady_verdicts"]):
        ahead = f"{row['n_ahead']} of {row['n_tasks']}"
        cells = {"A": row["a"], "B": row["b"], "A above B": ahead, "p": _p(row["p_value"]) or "-"}
        if seeds:
            cells |= _shown(seeds[k], a_wins=".2f", b_wins=".2f", contradiction=".2f")
        rows.append(cells)
    return Table.of(rows, "Wilcoxon's test across data sets"), (
        "Wilcoxon: A above B, p: by the means of all iterations, not corrected for the number of "
        "pairs, and - where too few differ; a wins, b wins: share of the seeds with which one "
        "iteration of each data set is significant; contradiction: of two seeds, one says A and "
        "the other B."
    )


def _truth(truth: dict[str, Any]) -> tuple[Table, str]:
    """Errors of both estimates."""
    rows = [
        {
            "learner": learner,
            "estimate": kind,
            "mean error": f"{one['bias'][learner]:+.2g}",
            "root mean square": f"{one['mse'][learner] ** 0.5:.2g}",
        }
        for learner in truth["steady"]["bias"]
        for kind, one in truth.items()
    ]
    return Table.of(rows, "Estimates against true test sets"), (
        "True test sets: estimate less the score on the test set, over data sets. A test set has "
        "noise of its own, and drift between both is in the errors too."
    )


def _p(p: float | None) -> str:
    return "" if p is None else chance(p)
