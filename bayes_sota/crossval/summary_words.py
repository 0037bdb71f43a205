"""Sentences and tables of the report of ``bayes-sota cv judge``, from its numbers.

``tests/crossval/test_summary.py`` reads them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayes_sota.core.tables import Table
from bayes_sota.core.text import chance, counted, decimals_for, listed, p_value
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.reproducibility import KEPT, JudgedRule
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


def notes_of(
    scores: FoldScores, content: dict[str, Any], judged: JudgedRule, has_probabilities: bool
) -> Iterator[str]:
    """What a reader should know of the method and of these data."""
    yield (
        "repetition removes the noise of partitions only: with enough iterations any two learners "
        "separate; the posterior and the corrected test allow for the noise of the data too"
    )
    yield "publish the seeds of the partitions, and never the order of a single run"
    if not has_probabilities:
        yield (
            "Spearman's rule, which Raeder, Hoens and Chawla 2010 recommend, needs the predicted "
            "probability of every item, which scores do not hold"
        )
    if judged.rule.kind == "posterior":
        yield (
            "the posterior rule looks after every iteration: P(better) passes .95 by chance at "
            "some look in 19% of runs of equal learners, after a fixed number of iterations in 10%"
        )
    used = float(1 - judged.saved.mean())
    if used > 0.1:
        yield (
            f"orderings use {used:.0%} of the iterations and so resemble each other: new "
            "partitions would agree less; the column 'by chance' allows for it"
        )
    if scores.folds != 10:
        yield "the source found 10 folds nearest to true test sets, of balanced data"
    if scores.scores.shape[3] < 2:
        yield "without the scores of single folds there is no test of a difference"
    untested: dict[str, list[str]] = {}
    for one in content["steady_verdicts"] or ():
        if one["reason"]:
            untested.setdefault(one["reason"], []).append(f"{one['a']} and {one['b']}")
    for reason, pairs in untested.items():
        yield f"no Wilcoxon's test of {listed(pairs, 4)}: {reason}"
    missing = int(np.isnan(scores.iteration_means()).any(axis=1).sum())
    if missing:
        yield f"{counted(missing, 'iteration')} with a failed or missing fold of some learner"


def tables_of(content: dict[str, Any]) -> Iterator[tuple[Table, str]]:
    """Tables of what ``judge_runs`` found, each with what its columns mean."""
    made = {
        _learners: "learners",
        _pairs: "pairs",
        _rules: "rules",
        _verdicts: "steady_verdicts",
        _truth: "against_truth",
    }
    yield from (table(content) for table, key in made.items() if content[key])


def _place(content: dict[str, Any], row: dict[str, Any]) -> dict[str, str]:
    """The data set, where there are several."""
    return {} if content["ranks"] is None else {"data set": row["task"]}


def _learners(content: dict[str, Any]) -> tuple[Table, str]:
    score, rows = score_name(content["scorer"]), []
    for row in content["learners"]:
        d = decimals_for(row["sd"], row["standard_error"])
        cells = {
            "learner": row["learner"],
            "rank": f"{row['rank']:g}",
            score: f"{row['steady']:z.{d}f}",
            "s.e.": f"{row['standard_error']:.1g}",
            "median": f"{row['median']:z.{d}f}",
            "sd": f"{row['sd']:.2g}",
            "single run": f"{row['canonical']:z.{d}f}",
            "above mean": _number(row["p_canonical_above"], ".2f"),
            "stops after": str(row["stopping_iteration"] or "not yet"),
        }
        rows.append(_place(content, row) | cells)
    run = f"{canonical_iterations(content['folds'])} x {content['folds']}-fold"
    return Table.of(rows, "Learners, by the mean of all iterations"), (
        "Learners: s.e.: of the mean, over partitions alone; sd: between iterations; single run: "
        f"the first {run}, the size that papers report; above mean: probability that such a run "
        "exceeds the mean of all iterations; stops after: iterations until the rule holds."
    )


def _pairs(content: dict[str, Any]) -> tuple[Table, str]:
    rows = []
    for row in content["pairs"]:
        found, (low, high) = row["posterior"], row["posterior"]["interval"]
        d = decimals_for((high - low) / 4)
        p = {test["name"]: test["p_value"] for test in row["tests"]}
        cells = {
            "first": row["first"],
            "second": row["second"],
            "difference": f"{row['difference']:.{decimals_for(row['difference_se'])}f}",
            f"{content['prob']:.0%} interval": f"{low:z.{d}f} to {high:z.{d}f}",
            "P(first better)": chance(found["p_better"]),
            "p corrected": _p(p.get("corrected")),
            "order kept": f"{row['order_kept']:.2f}",
            "|2R-1|": f"{row['reproducibility']:.2f}",
            "by chance": f"{row['by_chance']:.2f}",
            "P(other seed)": _number(found["p_other_seed"], ".2f"),
            "more": still_missing(found, content["n_iterations"]),
        }
        rows.append(_place(content, row) | cells)
    rho = content["pairs"][0]["posterior"]["correlation"]
    title = f"Pairs of learners, under the rule {content['rule']['name']}"
    return Table.of(rows, title), (
        "Pairs: interval and P(first better): of the true difference on data sets of this size "
        f"(correlated t, with a correlation of fold scores of {rho:.3g}, which is assumed); order "
        "kept: R, the share of comparisons of random orderings of the iterations with the first "
        "above the second; by chance: |2R-1| of equal learners; P(other seed): that a single run "
        "with other partitions orders the two otherwise; more: iterations until P(order) is "
        f"{KEPT:g}, 'data' where no number is enough."
    )


def still_missing(pair: dict[str, Any], iterations: int) -> str:
    """Iterations until the order of a pair is decided, 'data' where no number is enough."""
    if pair["decided"]:
        return "0"
    needed = pair["iterations_needed"]
    return "data" if needed is None else f"{max(1, needed - iterations):,}"


def _rules(content: dict[str, Any]) -> tuple[Table, str]:
    rows = []
    for row in content["rules"]:
        by_learner = row["iterations_by_learner"]
        ends = dict.fromkeys(f"{end:.0f}" for end in (min(by_learner), max(by_learner)))
        cells = {
            "rule": row["rule"],
            "iterations": " to ".join(ends),
            "saved": f"{row['saved']:.0%}",
            "ran out": f"{row['ran_out']:.0%}",
            "|2R-1|": f"{row['reproducibility']:.2f}",
            "by chance": f"{row['by_chance']:.2f}",
            "pairs kept": f"{row['pairs_kept']:.0%}",
        }
        rows.append(cells)
    return Table.of(rows, "Rules, over learners, data sets and orderings"), (
        "Rules: saved: iterations that a rule leaves out; ran out: how often iterations ended "
        "before it held; |2R-1|: mean of all pairs; by chance: that of equal learners; pairs "
        f"kept: R of {KEPT:g} or more."
    )


def _verdicts(content: dict[str, Any]) -> tuple[Table, str]:
    """Wilcoxon's tests of the means of all iterations, and of one after the other."""
    seeds = content["verdicts"] or [{}] * len(content["steady_verdicts"])
    names = {"a_wins": "A wins", "b_wins": "B wins", "contradiction": "two seeds contradict"}
    rows = [
        {"A": row["a"], "B": row["b"], "A above B": f"{row['n_ahead']} of {row['n_tasks']}"}
        | {"p": _p(row["p_value"]) or "-"}
        | {name: f"{seed[key]:.2f}" for key, name in names.items() if seed}
        for row, seed in zip(content["steady_verdicts"], seeds, strict=True)
    ]
    return Table.of(rows, "Wilcoxon's test across data sets"), (
        "Wilcoxon: A above B, p: by the means of all iterations, not corrected for the number of "
        "pairs; A wins, B wins: share of the seeds with which one iteration of each data set is "
        "significant; two seeds contradict: one says A, the other B."
    )


def _truth(content: dict[str, Any]) -> tuple[Table, str]:
    """Errors of both estimates."""
    rows = [
        {
            "learner": learner,
            "estimate": kind,
            "mean error": f"{one['bias'][learner]:+.2g}",
            "root mean square": f"{one['mse'][learner] ** 0.5:.2g}",
        }
        for learner in content["against_truth"]["steady"]["bias"]
        for kind, one in content["against_truth"].items()
    ]
    return Table.of(rows, "Estimates against true test sets"), (
        "True test sets: estimate less the score on the test set, over data sets. A test set has "
        "noise of its own, and drift between both is in the errors too."
    )


def _number(value: float, form: str, otherwise: str = "") -> str:
    return format(value, form) if np.isfinite(value) else otherwise


def _p(p: float | None) -> str:
    return "" if p is None else chance(p)
