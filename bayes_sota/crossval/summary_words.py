"""Sentences and tables of the report of ``bayes-sota cv judge``, from its numbers.

``tests/crossval/test_summary.py`` reads them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayes_sota.core.tables import Table
from bayes_sota.core.text import chance, counted, decimals_for, listed, p_value
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.reproducibility import KEPT, JudgedRule
from bayes_sota.crossval.rules import Probabilities
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
    yield from _of_all_pairs(content["pairs"])
    yield from _of_truth(content)


def advice_of(content: dict[str, Any], reasons: Sequence[str]) -> Iterator[str]:
    """What the source recommends, as far as these data give reason to."""
    learners = content["learners"]

    def named(row: dict[str, Any], name: str) -> str:
        return name if content["ranks"] is None else f"{name} on {row['task']}"

    if reasons:
        yield (
            "Run more iterations before any test: a steady state, which more partitions would "
            "hardly change, is not reached."
        )
    for side, sign in (("left", -1), ("right", 1)):
        rows = [row for row in learners if row["skewed"] and row["skewness"] * sign > 0]
        if rows:
            names = [f"{named(row, row['learner'])}{_in_brackets(row)}" for row in rows]
            yield (
                f"The scores of {listed(names, 4)} are skewed to the {side}, so that a single run "
                f"tends to be too {'high' if sign < 0 else 'low'}."
            )
    if any(row["skewed"] for row in learners):
        changed = any(row["rank"] != row["rank_by_median"] for row in learners)
        yield f"Compare medians: the order by them is {'another' if changed else 'the same'}."
    loose = [pair for pair in content["pairs"] if pair["order_kept"] < KEPT]
    if loose:
        tied = [named(pair, f"{pair['first']} with {pair['second']}") for pair in loose]
        least = loose[0]["iterations_needed"]
        needed = f"about {least:,.0f}" if np.isfinite(least) else "no number of"
        which = "the first pair" if len(loose) > 1 else "the pair"
        yield (
            f"Report as tied: {listed(tied, 4)}. In runs that the rule stops, "
            f"other partitions may still turn their order round; {needed} iterations "
            f"of each learner would keep {which} in its order {KEPT:.0%} of the time."
        )


def _in_brackets(row: dict[str, Any]) -> str:
    return "" if row["p_skewness"] is None else f" ({p_value(row['p_skewness'])})"


def notes_of(
    scores: FoldScores,
    probabilities: Probabilities,
    judged: JudgedRule,
    verdicts: Sequence[dict[str, Any]] | None,
) -> Iterator[str]:
    """What a reader should know of the method and of these data."""
    yield (
        "repetition removes the noise of partitions only: with enough iterations any two learners "
        "separate, whatever the noise of the data; the posterior and the corrected test allow for "
        "both"
    )
    yield "publish the seeds of the partitions, and never the order of a single run"
    if probabilities is None:
        yield (
            "Spearman's rule, which Raeder, Hoens and Chawla 2010 recommend, needs the predicted "
            "probability of every item, which scores do not hold"
        )
    used = float(1 - judged.saved.mean())
    if used > 0.1:
        yield (
            f"orderings use {used:.0%} of the iterations that there are, and so resemble each "
            "other: new partitions would agree less; the column 'by chance' allows for it"
        )
    if scores.folds != 10:
        yield (
            "Raeder, Hoens and Chawla 2010 found 10 folds nearest to true test sets, of balanced "
            "data"
        )
    if scores.scores.shape[3] < 2:
        yield "without the scores of single folds there is no test of a difference"
    for reason in dict.fromkeys(one["reason"] for one in verdicts or () if one["reason"]):
        pairs = [f"{one['a']} and {one['b']}" for one in verdicts or () if one["reason"] == reason]
        yield f"no Wilcoxon's test of the means of all iterations of {listed(pairs, 4)}: {reason}"
    missing = int(np.isnan(scores.iteration_means()).any(axis=1).sum())
    if missing:
        yield f"{counted(missing, 'iteration')} with a failed or missing fold of some learner"


def _of_one(content: dict[str, Any]) -> Iterator[str]:
    """The answer for one data set: the best learner and the next."""
    pair, rule = content["pairs"][0], content["rule"]["name"]
    kept = 100 * pair["order_kept"]
    yield (
        f"With other partitions {pair['first']} comes before {pair['second']} in {kept:.0f} of 100 "
        f"comparisons of runs that {rule} stops."
    )
    p = {test["name"]: test["p_value"] for test in pair["tests"]}
    tests = ""
    if p and p["corrected"] is None:
        tests = (
            ". No test is possible, and that probability is no more than the sign of the "
            f"difference: {pair['tests'][0]['reason']}"
        )
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
    """The answer for several data sets: ranks, verdicts of seeds, orders."""
    ranks = content["ranks"]
    (first, low), *others = sorted(ranks["learners"].items(), key=lambda item: item[1])
    tied = [name for name, rank in others if rank - low < ranks["nemenyi"]]
    beside = f"not significantly better than {listed(tied)}" if tied else "better than all others"
    yield (
        f"{first} has the best mean rank of all iterations, {low:.2f}; it is {beside} (critical "
        f"difference {ranks['nemenyi']:.2f}, Nemenyi)."
    )
    yield from _of_steady_states(content, [first, *(name for name, _ in others)])
    verdicts = content["verdicts"] or ()
    worst = max(verdicts, key=lambda one: min(one["a_wins"], one["b_wins"]), default=None)
    if worst is not None and worst["a_wins"] * worst["b_wins"] > 0:
        yield (
            f"Wilcoxon's test with one iteration of each data set says that {worst['a']} is better "
            f"than {worst['b']} with {worst['a_wins']:.0%} of the seeds, and the opposite with "
            f"{worst['b_wins']:.0%}."
        )


def _of_steady_states(content: dict[str, Any], order: Sequence[str]) -> Iterator[str]:
    """Wilcoxon's test of the two with the best ranks."""
    rows = [row for row in content["steady_verdicts"] if {row["a"], row["b"]} == set(order[:2])]
    for row in rows:
        n, ahead = row["n_tasks"], row["n_ahead"]
        wins = ahead if row["a"] == order[0] else n - ahead - row["n_tied"]
        if row["p_value"] is not None:
            yield (
                f"By the means of all iterations {order[0]} is above {order[1]} on {wins} of "
                f"{n} data sets, and Wilcoxon's signed ranks have {p_value(row['p_value'])}."
            )


def _of_all_pairs(pairs: Sequence[dict[str, Any]]) -> Iterator[str]:
    kept = sum(pair["order_kept"] >= KEPT for pair in pairs)
    several = len({pair["task"] for pair in pairs}) > 1
    if len(pairs) > 1:
        yield (
            f"Of {len(pairs):,} pairs of learners{' on a data set' * several} {kept:,} keep their "
            f"order in at least {KEPT:.0%} of comparisons with other partitions."
        )


def _of_truth(content: dict[str, Any]) -> Iterator[str]:
    """How far estimates are from true test sets."""
    if content["against_truth"] is not None:
        truth = content["against_truth"]["steady"]
        mean = float(np.mean([*truth["bias"].values()]))
        yield (
            f"Against true test sets the means of all iterations are {abs(mean):.2g} too "
            f"{'low' if mean < 0 else 'high'} in the mean, and have the same best learner on "
            f"{truth['same_best']:.0%} of the data sets."
        )


def tables_of(content: dict[str, Any]) -> Iterator[tuple[Table, str]]:
    """Tables of what ``judge_runs`` found, each with what its columns mean."""
    made = {
        _learners: "learners",
        _pairs: "pairs",
        _posteriors: "pairs",
        _rules: "rules",
        _verdicts: "steady_verdicts",
        _truth: "against_truth",
    }
    yield from (table(content) for table, key in made.items() if content[key])


def _place(content: dict[str, Any], row: dict[str, Any]) -> dict[str, str]:
    """The data set, where there are several."""
    return {} if content["ranks"] is None else {"data set": row["task"]}


def _learners(content: dict[str, Any]) -> tuple[Table, str]:
    """Estimates of the learners."""
    size, score = canonical_iterations(content["folds"]), score_name(content["scorer"])

    def cells(row: dict[str, Any]) -> dict[str, str]:
        d = decimals_for(row["sd"], row["standard_error"])
        return _place(content, row) | {
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

    return Table.of(
        [*map(cells, content["learners"])], "Learners, by the mean of all iterations"
    ), (
        "Learners: s.e.: standard error of the mean, over partitions alone; sd: from one "
        f"iteration to another; single run: the first {size} x {content['folds']}-fold, "
        "the canonical size (about ten fits) that papers report; above mean: the probability "
        "that such a run exceeds the mean of all iterations; stops after: iterations until the "
        "rule holds."
    )


def _pairs(content: dict[str, Any]) -> tuple[Table, str]:
    def cells(row: dict[str, Any]) -> dict[str, str]:
        p = {test["name"]: _p(test["p_value"]) for test in row["tests"]}
        return _place(content, row) | {
            "first": row["first"],
            "second": row["second"],
            "difference": f"{row['difference']:.{decimals_for(row['difference_se'])}f}",
            "order kept": f"{row['order_kept']:.2f}",
            "|2R-1|": f"{row['reproducibility']:.2f}",
            "by chance": f"{row['by_chance']:.2f}",
            "iterations needed": _number(row["iterations_needed"], ",.0f", "never"),
            "p naive": p.get("naive", ""),
            "p corrected": p.get("corrected", ""),
        }

    title = f"Pairs of learners, under the rule {content['rule']['name']}"
    return Table.of([*map(cells, content["pairs"])], title), (
        f"Pairs: order kept: R, the share of comparisons (all pairs of "
        "random orderings of the iterations) with the first above the second; |2R-1|: 1 where "
        "the order is always the same, 0 where each comes first as often; by chance: |2R-1| of "
        f"equal learners; iterations needed: for R = {KEPT:g} with new partitions; p naive: "
        "paired t-test that takes folds for independent; p corrected: it allows for training "
        "sets that overlap."
    )


def _posteriors(content: dict[str, Any]) -> tuple[Table, str]:
    n = content["n_iterations"]

    def cells(row: dict[str, Any]) -> dict[str, str]:
        posterior = row["posterior"]
        low, high = posterior["interval"]
        d = decimals_for((high - low) / 4)
        return _place(content, row) | {
            "first": row["first"],
            "second": row["second"],
            f"{content['prob']:.0%} interval": f"{low:z.{d}f} to {high:z.{d}f}",
            "P(first better)": chance(posterior["p_better"]),
            "P(other seed)": _number(posterior["p_other_seed"], ".2f"),
            "partitions": _number(posterior["partition_share"], ".0%"),
            "more": still_missing(posterior, n),
        }

    rho = content["pairs"][0]["posterior"]["correlation"]
    title = "Posterior of the true differences (correlated t)"
    return Table.of([*map(cells, content["pairs"])], title), (
        "Posterior: of the difference on data sets of this size, given a correlation of fold "
        f"scores of {rho:.3g}, which is assumed: no scores can tell it. P(other seed): "
        "that a single run with other partitions of these items orders the two otherwise; "
        "partitions: their share of the variance, which repetition removes; more: iterations "
        f"until P(order) is {KEPT:g}, 'data' where no number of them is enough."
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
        shares = {
            "saved": f"{row['saved']:.0%}",
            "ran out": f"{row['ran_out']:.0%}",
            "|2R-1|": f"{row['reproducibility']:.2f}",
            "by chance": f"{row['by_chance']:.2f}",
            "pairs kept": f"{row['pairs_kept']:.0%}",
        }
        rows.append({"rule": row["rule"], "iterations": " to ".join(ends)} | shares)
    return Table.of(rows, "Rules, over learners, data sets and orderings"), (
        "Rules: saved: iterations that a rule leaves out; ran out: how often iterations ended "
        "before it held; |2R-1|: mean of all pairs; by chance: that of equal learners, which "
        "grows with the share of the iterations that a rule takes; pairs kept: R of "
        f"{KEPT:g} or more. A Spearman rule stops when the rank correlation of the items' mean "
        "probabilities before and after one more iteration reaches its number, a "
        "Kolmogorov-Smirnov rule when the scores of odd and even iterations are less far apart "
        "than its number, a posterior rule when the probability of every order reaches its number "
        "or partitions hardly matter."
    )


def _verdicts(content: dict[str, Any]) -> tuple[Table, str]:
    """Wilcoxon's tests of the means of all iterations, and of one after the other."""
    names = {"a_wins": "A wins", "b_wins": "B wins", "contradiction": "two seeds contradict"}
    by_seed = {(row["a"], row["b"]): row for row in content["verdicts"] or ()}
    rows = [
        {
            "A": row["a"],
            "B": row["b"],
            "A above B": f"{row['n_ahead']} of {row['n_tasks']}",
            "p": _p(row["p_value"]) or "-",
        }
        | {
            names[key]: f"{one[key]:.2f}"
            for one in [by_seed.get((row["a"], row["b"]), {})]
            for key in names
            if one
        }
        for row in content["steady_verdicts"]
    ]
    seeds = (
        "; A wins, B wins: share of the seeds with which one iteration of each data set is "
        "significant; two seeds contradict: one says A, the other B"
    )
    return Table.of(rows, "Wilcoxon's test across data sets"), (
        "Wilcoxon: A above B: data sets, by the means of all iterations; p: of the signed ranks of "
        f"these means, not corrected for the number of pairs{seeds if by_seed else ''}."
    )


def _truth(content: dict[str, Any]) -> tuple[Table, str]:
    """Errors of both estimates."""
    truth = content["against_truth"]
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
        "True test sets: estimate less the score on the test set, over data sets; a negative error "
        "says that cross-validation is too low. A test set has noise of its own, and drift between "
        "both is in the errors too."
    )


def _number(value: float, form: str, otherwise: str = "") -> str:
    return format(value, form) if np.isfinite(value) else otherwise


def _p(p: float | None) -> str:
    return "" if p is None else chance(p)
