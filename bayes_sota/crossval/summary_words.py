"""Sentences and tables of the report of ``bayes-sota cv judge``, from its numbers.

``tests/crossval/test_summary.py`` reads them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayes_sota.core.text import chance, counted, decimals_for, listed, p_value
from bayes_sota.crossval.reproducibility import KEPT, JudgedRule
from bayes_sota.crossval.rules import Probabilities
from bayes_sota.crossval.shape import canonical_iterations
from bayes_sota.data.fold_scores import FoldScores, score_name

_ONLY_PARTITIONS = (
    "repetition removes the noise of partitions only: with enough iterations any two learners "
    "separate, whatever the noise of the data; the posterior and the corrected test allow for both"
)
_SEEDS = "publish the seeds of the partitions, and never the order of a single run"


def answer_of(content: dict[str, Any]) -> Iterator[str]:
    """Who is ahead, and how reproducible that is."""
    yield from (_of_one if content["ranks"] is None else _of_many)(content)
    yield from _of_folds(content)
    yield from _of_truth(content)


def advice_of(
    scores: FoldScores,
    learners: Sequence[dict[str, Any]],
    pairs: Sequence[dict[str, Any]],
    reasons: Sequence[str],
) -> Iterator[str]:
    """What the source recommends, as far as these data give reason to."""
    several = len(scores.tasks) > 1

    def named(row: dict[str, Any]) -> str:
        return str(row["learner"]) + (f" on {row['task']}" if several else "")

    if reasons:
        yield (
            "Run more iterations before any test: a steady state, which more partitions would "
            "hardly change, is not reached."
        )
    skewed = [row for row in learners if row["skewed"]]
    if skewed:
        changed = any(row["rank"] != row["rank_by_median"] for row in learners)
        yield (
            f"Compare medians: the scores of {listed([named(row) for row in skewed])} are skewed, "
            f"and the order by medians is {'another' if changed else 'the same'}."
        )
    loose = [pair for pair in pairs if pair["order_kept"] < KEPT]
    if loose:
        places = [pair | {"learner": f"{pair['first']} with {pair['second']}"} for pair in loose]
        least = loose[0]["iterations_needed"]
        needed = f"about {least:,.0f}" if np.isfinite(least) else "no number of"
        which = "the first pair" if len(loose) > 1 else "the pair"
        yield (
            f"Report as tied: {listed([named(place) for place in places], 4)}. In runs that the "
            f"rule stops, other partitions may still turn their order round; {needed} iterations "
            f"of each learner would keep {which} in its order {KEPT:.0%} of the time."
        )


def notes_of(scores: FoldScores, probabilities: Probabilities, judged: JudgedRule) -> Iterator[str]:
    """What a reader should know of the method and of these data."""
    yield _ONLY_PARTITIONS
    yield _SEEDS
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
    found, region = pair["posterior"], content["rope"]
    same = ""
    if region is not None:
        equivalent = chance(found["rope"]["equivalent"])
        same = f", and the two differ by at most {region:g} with probability {equivalent}"
    p = {test["name"]: test["p_value"] for test in pair["tests"]}
    tests = ""
    if p and np.isnan(p["corrected"]):
        tests = (
            ". No test is possible, and that probability is no more than the sign of the "
            "difference: it is the same in every fold, and shows no variation to compare it with"
        )
    elif p:
        tests = (
            f": the corrected test has {p_value(p['corrected'])} (the naive one, which takes "
            f"overlapping folds for independent, {p_value(p['naive'])})"
        )
    yield (
        f"With the noise of the data as well {pair['first']} is better with probability "
        f"{chance(found['p_better'])}{same}{tests}."
    )
    yield from _of_all_pairs(content["pairs"])


def _of_many(content: dict[str, Any]) -> Iterator[str]:
    """The answer for several data sets: ranks, verdicts of seeds, orders."""
    ranks = content["ranks"]
    by_rank = sorted(ranks["learners"].items(), key=lambda item: item[1])
    (first, low), tied = by_rank[0], [
        name for name, rank in by_rank[1:] if rank - by_rank[0][1] < ranks["nemenyi"]
    ]  # fmt: skip
    beside = f"not significantly better than {listed(tied)}" if tied else "better than all others"
    yield (
        f"{first} has the best mean rank of all iterations, {low:.2f}; it is {beside} (critical "
        f"difference {ranks['nemenyi']:.2f}, Nemenyi)."
    )
    verdicts = content["verdicts"] or ()
    worst = max(verdicts, key=lambda one: min(one["a_wins"], one["b_wins"]), default=None)
    if worst is not None and worst["a_wins"] * worst["b_wins"] > 0:
        yield (
            f"Wilcoxon's test with one iteration of each data set says that {worst['a']} is better "
            f"than {worst['b']} with {worst['a_wins']:.0%} of the seeds, and the opposite with "
            f"{worst['b_wins']:.0%}."
        )
    yield from _of_all_pairs(content["pairs"])


def _of_all_pairs(pairs: Sequence[dict[str, Any]]) -> Iterator[str]:
    if len(pairs) < 2:
        return
    kept = sum(pair["order_kept"] >= KEPT for pair in pairs)
    several = len({pair["task"] for pair in pairs}) > 1
    yield (
        f"Of {len(pairs):,} pairs of learners{' on a data set' * several} {kept:,} keep their "
        f"order in at least {KEPT:.0%} of comparisons with other partitions."
    )


def _of_folds(content: dict[str, Any]) -> Iterator[str]:
    """Which number of folds is optimistic."""
    rows = [row for row in content["fold_bias"] or () if row["estimate"] == "steady"]
    if not rows:
        return
    sure = [row for row in rows if row["p_value"] <= row["level"]]
    tops = [min(row["folds"], key=row["folds"].__getitem__) for row in sure]
    how = f" (highest estimates: {listed(sorted(set(tops)))})" if sure else ""
    yield (
        f"The number of folds changes the estimates of {len(sure)} of "
        f"{counted(len(rows), 'learner')} (Friedman's test of the means of all iterations, level "
        f"{rows[0]['level']:g}){how}."
    )


def _of_truth(content: dict[str, Any]) -> Iterator[str]:
    """How far estimates are from true test sets."""
    found = content["against_truth"]
    if found is None:
        return
    errors = found["steady"]["bias"].values()
    mean = float(np.mean(list(errors)))
    side = "low" if mean < 0 else "high"
    yield (
        f"Against true test sets the means of all iterations are {abs(mean):.2g} too {side} in the "
        f"mean, and have the same best learner on {found['steady']['same_best']:.0%} of the data "
        "sets."
    )


class Part(NamedTuple):
    """One of the tables of a report."""

    title: str
    header: list[str]
    cells: list[list[str]]
    legend: str


@dataclass(frozen=True)
class JudgedTables:
    """Tables of what ``judge_runs`` found.

    Attributes
    ----------
    content : dict
        Of the report.
    """

    content: dict[str, Any]

    def parts(self, top: int | None) -> list[Part]:
        """All tables, those of learners and pairs with so many rows."""
        found = self.content
        parts = [self.learners_part(top), self._pairs(top), self._posteriors(top), self._rules()]
        if found["verdicts"]:
            header = ["A", "B", "A wins", "B wins", "two seeds contradict"]
            cells = [_verdict_cells(row) for row in found["verdicts"][:top]]
            title = "Wilcoxon's test across data sets, seed by seed"
            parts.append(Part(title, header, cells, ""))
        if found["fold_bias"]:
            parts.append(_bias_part(found["fold_bias"]))
        if found["against_truth"]:
            parts.append(_truth_part(found["against_truth"]))
        return parts

    def _of_set(self, text: str) -> list[str]:
        several = len({row["task"] for row in self.content["learners"]}) > 1
        return [text] if several else []

    def learners_part(self, top: int | None) -> Part:
        """Estimates of the learners."""
        size = canonical_iterations(self.content["folds"])
        header = [
            *self._of_set("data set"), "learner", "rank",
            score_name(self.content["scorer"]), "s.e.", "median", "sd", "single run", "above mean",
            "stops after",
        ]  # fmt: skip
        return Part(
            "Learners, by the mean of all iterations",
            header,
            [self._learner(row) for row in self.content["learners"][:top]],
            "Learners: s.e.: standard error of the mean, over partitions alone; sd: from one "
            f"iteration to another; single run: the first {size} x {self.content['folds']}-fold, "
            "the canonical size (about ten fits) that papers report; above mean: the probability "
            "that such a run exceeds the mean of all iterations; stops after: iterations until the "
            "rule holds.",
        )

    def _learner(self, row: dict[str, Any]) -> list[str]:
        d = decimals_for(row["sd"], row["standard_error"])
        stops = row["stopping_iteration"]
        return [
            *self._of_set(row["task"]), row["learner"], f"{row['rank']:g}",
            f"{row['steady']:z.{d}f}", f"{row['standard_error']:.1g}", f"{row['median']:z.{d}f}",
            f"{row['sd']:.2g}", f"{row['canonical']:z.{d}f}", _share(row["p_canonical_above"]),
            "not yet" if stops is None else str(stops),
        ]  # fmt: skip

    def _pairs(self, top: int | None) -> Part:
        rows, more = self.content["pairs"], ""
        if top is not None and len(rows) > top:
            more = f"; {len(rows) - top:,} more with --top"
        header = [
            *self._of_set("data set"), "first", "second", "difference", "order kept", "|2R-1|",
            "by chance", "iterations needed", "p naive", "p corrected",
        ]  # fmt: skip
        return Part(
            f"Pairs of learners, under the rule {self.content['rule']['name']}{more}",
            header,
            [self._pair(row) for row in rows[:top]],
            f"Pairs: order kept: R, the share of comparisons ({self.content['pairing']} pairs of "
            "random orderings of the iterations) with the first above the second; |2R-1|: 1 where "
            "the order is always the same, 0 where each comes first as often; by chance: |2R-1| of "
            f"equal learners; iterations needed: for R = {KEPT:g} with new partitions; p naive: "
            "paired t-test that takes folds for independent; p corrected: it allows for training "
            "sets that overlap.",
        )

    def _pair(self, row: dict[str, Any]) -> list[str]:
        needed, p = row["iterations_needed"], row["tests"]
        return [
            *self._of_set(row["task"]), row["first"], row["second"],
            f"{row['difference']:.{decimals_for(row['difference_se'])}f}",
            f"{row['order_kept']:.2f}", f"{row['reproducibility']:.2f}",
            f"{row['by_chance']:.2f}", "never" if np.isinf(needed) else f"{needed:,.0f}",
            *(_p_value(p, name) for name in ("naive", "corrected")),
        ]  # fmt: skip

    def _posteriors(self, top: int | None) -> Part:
        region = self.content["rope"]
        same = [] if region is None else ["P(equivalent)"]
        interval = f"{self.content['prob']:.0%} interval"
        header = [
            *self._of_set("data set"), "first", "second", interval, "P(first better)", *same,
            "P(other seed)", "partitions", "more",
        ]  # fmt: skip
        rho = self.content["pairs"][0]["posterior"]["correlation"]
        within = f" P(equivalent): they differ by at most {region:g}." if same else ""
        return Part(
            "Posterior of the true differences (correlated t)",
            header,
            [self._posterior(row) for row in self.content["pairs"][:top]],
            "Posterior: of the difference on data sets of this size, given a correlation of fold "
            f"scores of {rho:.3g}, which is assumed: no scores can tell it.{within} P(other seed): "
            "that a single run with other partitions of these items orders the two otherwise; "
            "partitions: their share of the variance, which repetition removes; more: iterations "
            f"until P(order) is {KEPT:g}, 'data' where no number of them is enough.",
        )

    def _posterior(self, row: dict[str, Any]) -> list[str]:
        found, n = row["posterior"], self.content["n_iterations"]
        low, high = found["interval"]
        d = decimals_for((high - low) / 4)
        needed = found["iterations_needed"]
        more = "data" if needed is None else f"{max(1, needed - n):,}"
        same = [] if found["rope"] is None else [chance(found["rope"]["equivalent"])]
        return [
            *self._of_set(row["task"]), row["first"], row["second"],
            f"{low:z.{d}f} to {high:z.{d}f}", chance(found["p_better"]), *same,
            _share(found["p_other_seed"]), _percent(found["partition_share"]),
            "0" if found["decided"] else more,
        ]  # fmt: skip

    def _rules(self) -> Part:
        return Part(
            "Rules, over learners, data sets and orderings",
            ["rule", "iterations", "saved", "ran out", "|2R-1|", "by chance", "pairs kept"],
            [_rule_cells(row) for row in self.content["rules"]],
            "Rules: saved: iterations that a rule leaves out; ran out: how often iterations ended "
            "before it held; |2R-1|: mean of all pairs; by chance: that of equal learners, which "
            "grows with the share of the iterations that a rule takes; pairs kept: R of "
            f"{KEPT:g} or more. A Spearman rule stops when the rank correlation of the items' mean "
            "probabilities before and after one more iteration reaches its number, a "
            "Kolmogorov-Smirnov rule when the "
            "scores of odd and even iterations are less far apart than its number, a posterior "
            "rule when the probability of every order reaches its number or partitions hardly "
            "matter.",
        )


def _rule_cells(row: dict[str, Any]) -> list[str]:
    by_learner = row["iterations_by_learner"]
    low, high = (f"{end:.0f}" for end in (min(by_learner), max(by_learner)))
    return [
        row["rule"], low if low == high else f"{low} to {high}", f"{row['saved']:.0%}",
        f"{row['ran_out']:.0%}", f"{row['reproducibility']:.2f}", f"{row['by_chance']:.2f}",
        f"{row['pairs_kept']:.0%}",
    ]  # fmt: skip


def _verdict_cells(row: dict[str, Any]) -> list[str]:
    shares = (f"{row[name]:.2f}" for name in ("a_wins", "b_wins", "contradiction"))
    return [row["a"], row["b"], *shares]


def _share(p: float) -> str:
    return "" if np.isnan(p) else f"{p:.2f}"


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{share:.0%}"


def _bias_part(rows: Sequence[dict[str, Any]]) -> Part:
    """Ranks of the numbers of folds."""
    folds = list(rows[0]["folds"])
    cells = [
        [row["learner"], row["estimate"], *(f"{row['folds'][k]:.2f}" for k in folds),
         _p(row["p_value"]), _apart(row)]
        for row in rows
    ]  # fmt: skip
    return Part(
        "Numbers of folds, by mean ranks over data sets",
        ["learner", "estimate", *folds, "p", "optimistic"],
        cells,
        "Numbers of folds: rank 1 is the highest estimate; canonical: of single runs of about ten "
        "fits, steady: of all iterations; p: Friedman's test; optimistic: numbers whose estimates "
        f"are higher by more than the critical difference ({rows[0]['nemenyi']:.2f} by Nemenyi, of "
        f"all pairs; {rows[0]['bonferroni_dunn']:.2f} by Bonferroni and Dunn against one).",
    )


def _apart(row: dict[str, Any]) -> str:
    """Pairs of numbers of folds whose ranks differ by more than Nemenyi's difference."""
    ranks = {name.split()[0]: rank for name, rank in row["folds"].items()}
    pairs = [
        f"{high} above {low}"
        for high, one in ranks.items()
        for low, other in ranks.items()
        if other - one > row["nemenyi"]
    ]
    return ", ".join(pairs) or "none"


def _truth_part(found: dict[str, Any]) -> Part:
    """Errors of both estimates."""
    cells = [
        [learner, kind, f"{one['bias'][learner]:+.2g}", f"{one['mse'][learner] ** 0.5:.2g}"]
        for learner in found["steady"]["bias"]
        for kind, one in found.items()
    ]
    return Part(
        "Estimates against true test sets",
        ["learner", "estimate", "mean error", "root mean square"],
        cells,
        "True test sets: estimate less the score on the test set, over data sets; a negative error "
        "says that cross-validation is too low. A test set has noise of its own, and drift between "
        "both is in the errors too.",
    )


def _p(p: float) -> str:
    return "" if np.isnan(p) else chance(p)


def _p_value(tests: Sequence[dict[str, Any]], name: str) -> str:
    return next((_p(one["p_value"]) for one in tests if one["name"] == name), "")
