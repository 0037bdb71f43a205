"""Repeated cross-validation judged: the report of ``bayes-sota cv judge``.

A pair of learners is named with the better one first, by the means of all iterations.
``tests/crossval/test_summary.py`` compares its numbers with the functions that they come from,
``test_judged_tree.py`` its draws with the correlated t.
"""

from collections.abc import Iterator
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
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import as_sentences, listed
from bayes_sota.core.types import Seed
from bayes_sota.crossval import summary_words as words
from bayes_sota.crossval.correlated_t import KEPT, outlook
from bayes_sota.crossval.rules import Probabilities
from bayes_sota.crossval.sample import draw_differences
from bayes_sota.crossval.shape import learner_rows, sample_sd

if TYPE_CHECKING:
    import xarray as xr

_PRIORS = "p(difference, variance) = 1 / variance; correlation of fold scores 1 / folds"
_ESTIMATES = {"steady": "mean_score", "canonical": "canonical_score", "median": "median_score"}
_ESTIMATES |= {"sd": "iteration_sd", "rank": "rank", "stopping_iteration": "stopping_iteration"}


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Repeated cross-validation judged: the object that the report of ``judge_runs`` is about.

    Attributes
    ----------
    scores : FoldScores
    rules : list of JudgedRule
        Estimates and iterations of every ordering.
    content : dict
        Content of the report.
    """

    scores: cv.FoldScores
    rules: list[cv.JudgedRule]
    content: dict[str, Any]

    def to_datatree(self, draws: int = 1000) -> "xr.DataTree":
        r"""Draws of the true differences, and all estimates, as a DataTree.

        Parameters
        ----------
        draws : int
            Draws of each of four chains; all are independent. They have the seed of the report,
            where that is a number.

        Returns
        -------
        xarray.DataTree
            ``posterior`` of every pair A - B, in the order of the learners, with ``difference``
            and ``fold_difference_sd`` (task, pair): the correlated t with
            :math:`v \mid x \sim (J - 1) s^2 / \chi^2_{J - 1}` and
            :math:`\delta \mid v \sim N(\bar x, v (1/J + \rho / (1 - \rho)))`; ``observed_data``
            and ``posterior_predictive`` with ``fold_difference`` (task, pair, iteration, fold);
            ``point_estimate`` with ``mean_score``, ``canonical_score``, ``median_score``,
            ``iteration_sd``, ``rank`` and ``stopping_iteration`` (task, learner) and ``win_share``
            (task, learner, learner_other); ``constant_data`` with ``fold_score``. The prior is
            improper: there is nothing to draw from it.

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
    """Say how far repeated cross-validation can be trusted, and what to do.

    Parameters
    ----------
    scores : FoldScores
    probabilities : ndarray, shape (n_learners, n_iterations, n_items), or one per data set
        Predicted probability of every item, for Spearman's rule.
    rule : Rule, optional
        Default: Spearman's at 1 - 1e-4, the source's recommendation, where there are
        probabilities; else Kolmogorov and Smirnov's at .2, or a canonical run where there are fewer
        iterations than that rule can take. Others are shown beside it.
    orderings : int
        Random orderings of the iterations.
    ci_prob : float
        Probability of the intervals of true differences.
    truth : array-like, shape (n_tasks, n_learners), optional
        Scores on true test sets of learners trained on all items (``against_truth``).
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    Report
        Its ``content`` has the keys of ``bayes-sota cv judge --json``: learners (estimates, ranks
        and stopping iterations of every data set, which are ``frame`` too), pairs
        (reproducibility, posterior and tests), rules (what each costs and saves), ranks,
        steady_verdicts (Wilcoxon's signed ranks of the means of all iterations) and verdicts (of
        one iteration after the other) across data sets at 5 %, against_truth (None where there is
        nothing to tell them from), advice, notes, seed. Its ``reasons`` are the learners
        whose steady state is not reached; ``about`` is a ``JudgedRuns``, which has the estimates of
        every ordering and draws of the true differences.

    Raises
    ------
    InputError
        Fewer than two learners or complete iterations; what ``against_truth`` refuses.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 30, 10))
    >>> scores = cv.FoldScores(noise + [[[0.90]], [[0.92]]], learners=["a", "b"])
    >>> report = judge_runs(scores, rule=cv.fixed(10), random_seed=0)
    >>> print(report.sentences[0].partition(" drawn")[0])
    b ranks above a in 100 of 100 comparisons of runs
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
        "advice": list(words.advice_of(content, reasons)),
        "reading": list(scores.notes),
        "notes": [*words.NOTES, *[words.LOOKS] * rule.name.startswith("posterior")],
        "diagnostics": {"ok": not reasons, "reasons": reasons},
        "seed": results.seed_number(seed),
    }
    sentences = [*words.answer_of(content), *content["advice"]]
    how = f"{orderings} random orderings of {n_iterations} x {scores.folds} folds"
    return Report(
        content=content,
        make_frame=partial(frame_of, content["learners"]),
        tables=list(words.tables_of(content)),
        sentences=sentences,
        legend=words.legend_of(content),
        reasons=reasons,
        paragraph=[*sentences, *as_sentences(content["notes"])],
        basis=[f"{how}, seed {content['seed']}", SOFTWARE],
        measured="learners",
        about=JudgedRuns(scores, judged, content),
    )


def _rules_beside(
    chosen: cv.Rule | None, scores: cv.FoldScores, *, with_items: bool
) -> list[cv.Rule]:
    """The chosen rule, or the default one, and those that it is compared with."""
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
    """Costs and savings of a rule, and how often it keeps the order of pairs."""
    shares = judged.win_share()
    i, j = np.triu_indices(shares.shape[1], 1)
    kept = np.maximum(shares, 1 - shares)[:, i, j]
    used = 1 - (judged.saved[:, i] + judged.saved[:, j]) / 2
    chance = [cv.expected_by_chance(len(judged.estimates), share) for share in used.ravel()]
    return {
        "rule": judged.rule.name,
        "iterations": float(judged.iterations.mean()),
        "saved": float(judged.saved.mean()),
        "ran_out": float(1 - judged.stopped.mean()),
        "reproducibility": float((2 * kept - 1).mean()),
        "by_chance": float(np.mean(chance)),
        "pairs_kept": float(np.mean(kept >= KEPT)),
    }


def _pairs(scores: cv.FoldScores, judged: cv.JudgedRule, prob: float) -> Iterator[dict[str, Any]]:
    """Every pair of learners on every data set, the better first."""
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
    """Ranks, Wilcoxon's tests and errors over data sets; None where they are unknown."""
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
