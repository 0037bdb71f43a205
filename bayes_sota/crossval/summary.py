"""Report of ``bayes-sota cv judge``.

A pair of learners has the better one first, by the means of all iterations.
``tests/crossval/test_summary.py`` compares with the functions behind the numbers,
``test_judged_tree.py`` the draws with the correlated t.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota import crossval as cv
from bayes_sota.core import sample as results
from bayes_sota.core.arguments import DEFAULT_SEED, check_kind
from bayes_sota.core.errors import InputError
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report, Table, table_of
from bayes_sota.core.text import as_sentences, chance, in_prose, listed, p_value
from bayes_sota.core.types import Seed
from bayes_sota.crossval.estimates import learner_rows, sample_sd
from bayes_sota.crossval.rules import KEPT, Probabilities, outlook
from bayes_sota.crossval.sample import draw_differences

if TYPE_CHECKING:
    import xarray as xr

_PRIORS = "p(difference, variance) = 1 / variance; correlation of fold scores 1 / folds"
_ESTIMATES = {"steady": "mean_score", "canonical": "canonical_score", "median": "median_score"}
_ESTIMATES |= {"sd": "iteration_sd", "rank": "rank", "stopping_iteration": "stopping_iteration"}


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Repeated cross-validation judged: the object that the report of ``judge_runs`` is about."""

    scores: cv.FoldScores
    rules: list[cv.JudgedRule]
    content: dict[str, Any]

    def to_datatree(self, draws: int = 1000) -> "xr.DataTree":
        r"""Draws of the true differences, and all estimates, as a DataTree.

        Parameters
        ----------
        draws : int
            Independent draws of each of four chains.

        Returns
        -------
        xarray.DataTree
            ``posterior`` of every pair A - B, in the order of the learners, with ``difference`` and
            ``fold_difference_sd`` (task, pair), the correlated t:
            :math:`v \mid x \sim (J - 1) s^2 / \chi^2_{J - 1}`,
            :math:`\delta \mid v \sim N(\bar x, v (1/J + \rho / (1 - \rho)))`; ``observed_data`` and
            ``posterior_predictive`` with ``fold_difference`` (task, pair, iteration, fold);
            ``point_estimate`` with ``mean_score``, ``canonical_score``, ``median_score``,
            ``iteration_sd``, ``rank`` and ``stopping_iteration`` (task, learner) and ``win_share``
            (task, learner, learner_other); ``constant_data`` with ``fold_score``.

        Examples
        --------
        >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 30, 10))
        >>> scores = cv.FoldScores(noise + [[[0.90]], [[0.92]]], learners=["a", "b"])
        >>> tree = judge_runs(scores, random_seed=0).about.to_datatree()
        >>> round(float(tree["posterior"]["difference"].mean()), 2)
        -0.02
        """
        content, cell = self.content, ["task", "learner"]
        rows = frame_of(content["learners"]).set_index(cell).rename(columns=_ESTIMATES)
        each = rows[[*_ESTIMATES.values()]].to_xarray()
        names = list(self.scores.learners)
        each = each.reindex(task=list(self.scores.tasks), learner=names)
        shares = {"win_share": ([*cell, "learner_other"], self.rules[0].win_share())}
        estimates = each.assign(shares).assign_coords(learner_other=names)
        given = content["seed"] if isinstance(content["seed"], int) else None  # of a generator
        rng, seed = results.resolve_seed(given)
        groups = draw_differences(self.scores, draws, rng) | {"point_estimate": estimates}
        about = results.describe_provenance((self.scores,), _PRIORS, method="exact", seed=seed)
        doubts = "; ".join(content["diagnostics"]["reasons"])
        known = {"draws_are_independent": 1, "rule": content["rule"]["name"]}
        known |= {"diagnostics_reasons": doubts} | {x: content[x] for x in ("scorer", "folds")}
        return results.result_tree(groups, about | known)


def judge_runs(
    scores: cv.FoldScores,
    probabilities: Probabilities = None,
    *,
    rule: cv.Rule | None = None,
    orderings: int = 50,
    ci_prob: float = 0.95,
    truth: ArrayLike | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Judge how far repeated cross-validation can be trusted, with advice.

    Parameters
    ----------
    scores : FoldScores
    probabilities : ndarray, shape (n_learners, n_iterations, n_items), or one per data set
        Predicted probability of every item, for Spearman's rule.
    rule : Rule, optional
        Default: Spearman's at 1 - 1e-4 where there are probabilities; else Kolmogorov and
        Smirnov's at 0.2, or a canonical run where iterations are too few.
    orderings : int
        Random orderings of the iterations.
    ci_prob : float
    truth : array-like, shape (n_tasks, n_learners), optional
        Scores on true test sets (``against_truth``).
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    Report
        ``content`` has the keys of ``bayes-sota cv judge --json``: learners (which are ``frame``
        too), pairs (reproducibility, posterior, tests), rules (costs and savings); across data sets
        ranks, steady_verdicts (Wilcoxon's test of the means of all iterations), verdicts (of one
        iteration after the other) and against_truth. ``reasons`` name the learners whose steady
        state is not reached; ``about`` is a ``JudgedRuns``.

    Raises
    ------
    InputError
        Fewer than two learners or complete iterations; what ``against_truth`` refuses.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 30, 10))
    >>> scores = cv.FoldScores(noise + [[[0.90]], [[0.92]]], learners=["a", "b"])
    >>> judge_runs(scores, rule=cv.fixed(10), random_seed=0).sentences[0].partition(" drawn")[0]
    'b ranks above a in 100 of 100 comparisons of runs'
    """
    check_kind(scores, cv.FoldScores, "read_fold_scores")
    if rule is not None:
        check_kind(rule, cv.Rule, "bs.crossval.spearman")
    if len(scores.learners) < 2:
        raise InputError("an order needs at least 2 learners, got 1")
    rng, seed = results.resolve_seed(random_seed)
    rules = _rules_beside(rule, scores, with_items=probabilities is not None)
    judged = cv.judge_rules(rules, scores, probabilities, orderings=orderings, random_seed=rng)
    rule = rules[0]
    stops = cv.stopping_iterations(rule, scores, probabilities)
    n_iterations = scores.scores.shape[2]
    # Where a rule takes all iterations, every ordering of them gives the same estimate.
    all_taken = ((stops == 0) | (judged[0].saved == 0)).any(axis=0)
    late = np.array(scores.learners)[all_taken].tolist()
    reasons = [f"too few iterations of {listed(late)} for {rule.name}: run more"] * bool(late)
    content: dict[str, Any] = {
        "rule": {"name": rule.name, "least_iterations": rule.least, "threshold": rule.threshold},
        "orderings": orderings,
        "prob": ci_prob,
        "scorer": scores.scorer,
        "folds": scores.folds,
        "n_iterations": n_iterations,
        "learners": list(learner_rows(scores, stopping_iteration=stops)),
        "pairs": list(_pairs(scores, judged[0], ci_prob)),
        "rules": [_rule_row(one) for one in judged],
        **_across_tasks(scores, truth),
    }
    content |= {
        "advice": list(advice_of(content, reasons)),
        "reading": list(scores.notes),
        "notes": [*NOTES, *[LOOKS] * rule.name.startswith("posterior")],
        "diagnostics": {"ok": not reasons, "reasons": reasons},
        "seed": results.seed_number(seed),
    }
    sentences = [*answer_of(content), *content["advice"]]
    how = f"{orderings} random orderings of {n_iterations} x {scores.folds} folds"
    return Report(
        content=content,
        make_frame=partial(frame_of, content["learners"]),
        tables=list(tables_of(content)),
        sentences=sentences,
        legend=legend_of(content),
        reasons=reasons,
        paragraph=[*sentences, *as_sentences(content["notes"])],
        basis=[f"{how}, seed {content['seed']}", SOFTWARE],
        measured="learners",
        about=JudgedRuns(scores, judged, content),
    )


def _rules_beside(
    chosen: cv.Rule | None, scores: cv.FoldScores, *, with_items: bool
) -> list[cv.Rule]:
    n, canonical = scores.completed().sum(axis=1).min(), cv.canonical_iterations(scores.folds)
    others = [cv.fixed(number) for number in (canonical, 10, 50)]
    if with_items:
        others += [cv.spearman(1 - t) for t in (1e-3, 1e-4, 1e-5)]
    others += [cv.kolmogorov_smirnov(0.2), cv.kolmogorov_smirnov(0.1), cv.posterior()]
    if chosen is None:
        chosen = cv.spearman() if with_items else cv.kolmogorov_smirnov()
        chosen = chosen if chosen.least <= n else others[0]
    possible = {one.name: one for one in others if one.least < n}
    return [*({chosen.name: chosen} | possible).values()]


def _rule_row(judged: cv.JudgedRule) -> dict[str, Any]:
    shares = judged.win_share()
    i, j = np.triu_indices(shares.shape[1], 1)
    used = 1 - (judged.saved[:, i] + judged.saved[:, j]) / 2
    compared = used < 1  # else all orderings have the same iterations
    kept = np.maximum(shares, 1 - shares)[:, i, j][compared]
    chance = [cv.expected_by_chance(len(judged.estimates), share) for share in used[compared]]
    means = np.mean([2 * kept - 1, chance, kept >= KEPT], axis=1) if kept.size else [np.nan] * 3
    return {
        "rule": judged.rule.name,
        "iterations": float(judged.iterations.mean()),
        "saved": float(judged.saved.mean()),
        "ran_out": float(1 - judged.stopped.mean()),
        **dict(zip(("reproducibility", "by_chance", "pairs_kept"), map(float, means), strict=True)),
    }


def _pairs(scores: cv.FoldScores, judged: cv.JudgedRule, prob: float) -> Iterator[dict[str, Any]]:
    means, shares, state = scores.iteration_means(), judged.win_share(), cv.steady_state(scores)
    used, canonical = 1 - judged.saved, cv.canonical_iterations(scores.folds)
    for t, task in enumerate(scores.tasks):
        order = np.argsort(-state.mean[t], kind="stable")
        for a, b in combinations(order.tolist(), 2):
            both = means[t, a] - means[t, b]
            both = both[np.isfinite(both)]
            n, together = both.size, sample_sd(both)
            gap = float(state.mean[t, a] - state.mean[t, b])
            share, taken = float(shares[t, a, b]), float(used[t, [a, b]].mean())
            share = share if taken < 1 else np.nan  # all orderings have the same iterations
            # Without the noise of the data: new partitions need to keep the order, no more.
            needed = cv.iterations_needed(gap, float(np.hypot(*state.sd[t, [a, b]])), 0.0, KEPT)
            test, folds = cv.correlated_t(scores, a, b, task=t), scores.scores[t, [a, b]]
            tests = cv.difference_tests(folds[0], folds[1], scores.folds)
            p = test.p_better()
            yield {
                "task": task,
                "first": scores.learners[a],
                "second": scores.learners[b],
                "difference": gap,
                "difference_se": together / n**0.5,
                "order_kept": share,
                "reproducibility": abs(2 * share - 1),
                "by_chance": cv.expected_by_chance(len(judged.estimates), taken),
                "iterations_needed": float(np.inf if needed is None else needed),
                "tests": tests if folds.shape[2] > 1 else [],
                "posterior": {
                    "p_better": p,
                    "interval": list(test.interval(prob)),
                    "correlation": test.correlation,
                    "p_other_seed": cv.other_seed_probability(test.mean, together, n, canonical),
                    **outlook(p, test.mean, together**2, test.data_variance, n),
                },
            }


def _across_tasks(scores: cv.FoldScores, truth: ArrayLike | None) -> dict[str, Any]:
    names, means = scores.learners, cv.steady_state(scores).mean
    found: dict[str, Any] = dict.fromkeys(("ranks", "steady_verdicts", "verdicts", "against_truth"))
    if len(scores.tasks) > 1:
        ranks = vars(cv.average_ranks(means, names))
        of_each = dict(zip(ranks.pop("names"), ranks.pop("ranks").tolist(), strict=True))
        found |= {"ranks": {"learners": of_each, **ranks}}
        found["steady_verdicts"] = cv.signed_rank_tests(means, names)
    if len(scores.tasks) >= 6:
        found["verdicts"] = [
            {"a": names[a], "b": names[b]}
            | {k: v for k, v in cv.seed_verdicts(scores, a, b).items() if k != "p_values"}
            for a, b in combinations(range(len(names)), 2)
        ]
    if truth is not None:
        found["against_truth"] = {
            kind: {k: dict(zip(names, one[k].tolist(), strict=True)) for k in ("bias", "mse")}
            | {"same_best": one["same_best"]}
            for kind, one in cv.against_truth(scores, truth).items()
        }
    return found


_LEARNERS = "learner rank:g steady:.4g standard_error:.1g sd:.2g median:.4g canonical:.4g"
_PAIRS = "first second difference:.2g lower:.2g upper:.2g p_better:p p_corrected:p"
_RULES = "rule iterations:.0f ran_out:.0% reproducibility:.2f by_chance:.2f pairs_kept:.0%"
NOTES = (
    "repetition removes the noise of partitions only: with enough iterations any two learners "
    "can be distinguished; the posterior and the corrected test allow for the noise of the data",
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
    """Name of a score in text."""
    return "AUROC" if scorer.lower() in ("roc_auc", "auc", "auroc") else scorer


def answer_of(content: dict[str, Any]) -> Iterator[str]:
    """Who is ahead, and how reproducibly."""
    pairs, truth = content["pairs"], content["against_truth"]
    yield from _of_one(pairs[0], content) if content["ranks"] is None else _of_many(content)
    shares = [pair["order_kept"] for pair in pairs if np.isfinite(pair["order_kept"])]
    if len(shares) > 1:
        kept = sum(share >= KEPT for share in shares)
        often = f"at least {KEPT:.0%} of such comparisons"
        among = " that can be compared" * (len(shares) < len(pairs))
        yield f"{kept:,} of {len(shares):,} pairs of learners{among} keep their order in {often}."
    if truth is not None:
        mean = float(np.mean([*truth["steady"]["bias"].values()]))
        off = f"{abs(mean):.2g} too {'low' if mean < 0 else 'high'} on average"
        same = f"the same best learner on {truth['steady']['same_best']:.0%} of the data sets"
        yield f"Against true test sets the means of all iterations are {off}, with {same}."


def _of_one(pair: dict[str, Any], content: dict[str, Any]) -> Iterator[str]:
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
        naive = f"the naive test, for independent folds, {p_value(p['naive'])}"
        tests = f": the corrected test has {p_value(p['corrected'])} ({naive})"
    yield (
        f"Allowing for the noise of the data too, {pair['first']} is better with probability "
        f"{in_prose(found['p_better'])}{tests}."
    )


def _of_many(content: dict[str, Any]) -> Iterator[str]:
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
        yield f"Over all iterations {ahead} data sets; Wilcoxon's signed-rank test has {p}."
    worst = max(content["verdicts"] or [{}], key=lambda row: row.get("contradiction", 0))
    if worst.get("contradiction"):
        a, b = (f"{worst[x]} for {worst[f'{x}_wins']:.0%} of the seeds" for x in "ab")
        yield f"With one iteration of each data set, Wilcoxon's test prefers {a}, and {b}."


def advice_of(content: dict[str, Any], reasons: list[str]) -> Iterator[str]:
    """The source's recommendations for these data."""

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
        which = "the first of these orders" if len(loose) > 1 else "it"
        yield (
            f"Report as tied: {listed(tied, 4)}. Other partitions may reverse their order; "
            f"{needed} iterations would keep {which} {KEPT:.0%} of the time."
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
        "assumed); order kept: R, how often the first is above the second in two runs; p other "
        "seed: probability that a new run reverses them, for normal scores; more: iterations until "
        f"P(order) is {KEPT:g}.",
        "Rules: ran out: the rule was not met; reproducibility: mean |2R - 1|; by chance: that of "
        f"equal learners; pairs kept: R is {KEPT:g} or more; empty where it takes all iterations.",
    ]


def flat_pair(pair: dict[str, Any], iterations: int) -> dict[str, Any]:
    """Row of a table; "data" where no number of iterations decides the order."""
    needed = 0 if pair.get("decided", True) else pair["iterations_needed"]
    more = "data" if needed is None else f"{needed and max(1, needed - iterations):,}"
    ends = dict(zip(("lower", "upper"), pair["interval"], strict=True))
    kept = {key: value for key, value in pair.items() if key != "interval"}
    return kept | ends | {"more": more if "decided" in pair else ""}


def forms_table(rows: Sequence[dict[str, Any]], forms: str, title: str = "") -> Table:
    """Table of some keys of rows, each with the format of its numbers, ``p`` for a probability."""

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
