"""What iterations of repeated cross-validation support: the report of ``bayes-sota cv judge``.

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

from bayes_sota.core.arguments import DEFAULT_SEED, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import as_sentences, counted, listed
from bayes_sota.core.types import Seed
from bayes_sota.crossval.across_tasks import AverageRanks, average_ranks, rows_across_tasks
from bayes_sota.crossval.correlated_t import (
    correlated_t,
    difference_tests,
    iterations_needed,
    other_seed_probability,
    partition_share,
)
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.reproducibility import (
    KEPT,
    JudgedRule,
    expected_by_chance,
    judged_beside,
    rule_row,
)
from bayes_sota.crossval.rules import Probabilities, Rule, stopping_iterations
from bayes_sota.crossval.sample import judged_tree
from bayes_sota.crossval.shape import (
    SteadyState,
    canonical_iterations,
    learner_rows,
    sample_sd,
    steady_state,
)
from bayes_sota.crossval.summary_words import advice_of, answer_of, notes_of, tables_of

if TYPE_CHECKING:
    import xarray as xr


_ESTIMATES = {"mean_score": "steady", "canonical_score": "canonical", "median_score": "median"}
_ESTIMATES |= {"iteration_sd": "sd", "rank": "rank", "stopping_iteration": "stopping_iteration"}


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Repeated cross-validation judged: what the report of ``judge_runs`` is about.

    Attributes
    ----------
    scores : FoldScores
    rules : tuple of JudgedRule
        Estimates and iterations of every ordering.
    ranks : AverageRanks or None
        Of the learners over data sets.
    content : dict
        Of the report.
    """

    scores: FoldScores
    rules: tuple[JudgedRule, ...]
    ranks: AverageRanks | None
    content: dict[str, Any]

    def to_datatree(self, draws: int = 1000, random_seed: Seed = None) -> "xr.DataTree":
        r"""Draws of the true differences, and all estimates, as a DataTree.

        Parameters
        ----------
        draws : int
            Of each of four chains; all are independent.
        random_seed : int, SeedSequence, Generator or None
            Default: the seed of the report.

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
        >>> scores = FoldScores(noise + [[[0.90]], [[0.92]]], learners=["a", "b"])
        >>> tree = judge_runs(scores, random_seed=0).about.to_datatree()
        >>> round(float(tree["posterior"]["difference"].mean()), 2)
        -0.02
        """
        content, cell = self.content, ("task", "learner")
        rows = {(row["task"], row["learner"]): row for row in content["learners"]}
        estimates: dict[str, Any] = {
            name: (cell, [[rows[t, j][key] or 0 for j in self.scores.learners] for t in tasks])
            for tasks in [self.scores.tasks]
            for name, key in _ESTIMATES.items()
        }
        estimates["win_share"] = ((*cell, "learner_other"), self.rules[0].win_share())
        doubts = "; ".join(content["diagnostics"]["reasons"])
        about = {"diagnostics_reasons": doubts, "rule": content["rule"]["name"]}
        seed = content["seed"] if random_seed is None else random_seed
        return judged_tree(self.scores, estimates, draws, seed, about)


def judge_runs(
    scores: FoldScores,
    probabilities: Probabilities = None,
    *,
    rule: Rule | None = None,
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
        probabilities, else Kolmogorov and Smirnov's at .2. Others are shown beside it.
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
        A rule that the iterations can never meet, fewer than two learners or complete iterations;
        what ``against_truth`` refuses.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 30, 10))
    >>> scores = FoldScores(noise + [[[0.90]], [[0.92]]], learners=["a", "b"])
    >>> report = judge_runs(scores, rule=Rule("fixed", 10), random_seed=0)
    >>> print(report.sentences[0])
    With other partitions b comes before a in 100 of 100 comparisons of runs that fixed 10 stops.
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if len(scores.learners) < 2:
        raise InputError("an order needs at least 2 learners, got 1")
    rng, seed = resolve_seed(random_seed)
    chosen = rule or Rule("ks" if probabilities is None else "spearman")
    state = steady_state(scores)
    judged = judged_beside(chosen, scores, probabilities, orderings=orderings, random_seed=rng)
    stops = stopping_iterations(chosen, scores, probabilities)
    several = len(scores.tasks) > 1
    ranks = average_ranks(state.mean, scores.learners) if several else None
    late = sorted(
        scores.learners[j] + (f" on {scores.tasks[t]}" if several else "")
        for t, j in np.argwhere(stops == 0)
    )
    tried = counted(scores.scores.shape[2], "iteration")
    reasons = [f"the rule {chosen.name} has not stopped {listed(late)} after {tried}"] * bool(late)
    content = {
        "rule": {
            "name": chosen.name,
            "least_iterations": chosen.least,
            "threshold": chosen.threshold,
        },
        "orderings": orderings,
        "prob": ci_prob,
        "scorer": scores.scorer,
        "folds": scores.folds,
        "n_iterations": scores.scores.shape[2],
        "learners": list(learner_rows(scores, state, stops)),
        "pairs": list(_pairs(scores, state, judged[0], ci_prob)),
        "rules": [rule_row(one) for one in judged],
        **rows_across_tasks(scores, ranks, state.mean, truth),
    }
    content |= {
        "advice": list(advice_of(content, reasons)),
        "reading": list(scores.notes),
        "notes": list(notes_of(scores, chosen, probabilities)),
        "diagnostics": {"ok": not reasons, "reasons": reasons},
        "seed": seed_number(seed),
    }
    sentences = [*answer_of(content), *content["advice"]]
    tables, legend = zip(*tables_of(content), strict=True)
    how = (
        f"{orderings} random orderings of {content['n_iterations']} iterations of "
        f"{scores.folds}-fold cross-validation, seed {content['seed']}"
    )
    return Report(
        content=content,
        make_frame=partial(frame_of, content["learners"]),
        tables=tables,
        sentences=sentences,
        legend=legend,
        notes=[*content["reading"], *content["notes"]],
        reasons=reasons,
        paragraph=[*sentences, *as_sentences(content["notes"])],
        basis=[how, SOFTWARE],
        measured="learners",
        about=JudgedRuns(scores, tuple(judged), ranks, content),
    )


def _pairs(
    scores: FoldScores, state: SteadyState, judged: JudgedRule, ci_prob: float
) -> Iterator[dict[str, Any]]:
    """Every pair of learners on every data set, the better first."""
    means, shares = scores.iteration_means(), judged.win_share()
    used, canonical = 1 - judged.saved, canonical_iterations(scores.folds)
    for t, task in enumerate(scores.tasks):
        order = np.argsort(-state.mean[t], kind="stable")
        for a, b in combinations(order.tolist(), 2):
            both = means[t, a] - means[t, b]
            both = both[np.isfinite(both)]
            n, together = both.size, sample_sd(both)
            gap = float(state.mean[t, a] - state.mean[t, b])
            # Without the noise of the data: new partitions need to keep the order, no more.
            needed = iterations_needed(gap, float(np.hypot(*state.sd[t, [a, b]])), 0.0, KEPT)
            first, second = scores.scores[t, a], scores.scores[t, b]
            test = correlated_t(scores, a, b, task=t)
            p, data = test.p_better(), test.data_variance
            more = iterations_needed(test.mean, together, data**0.5, KEPT) if n > 1 else None
            yield {
                "task": task,
                "first": scores.learners[a],
                "second": scores.learners[b],
                "difference": gap,
                "difference_se": together / max(n, 1) ** 0.5,
                "order_kept": float(shares[t, a, b]),
                "reproducibility": float(abs(2 * shares[t, a, b] - 1)),
                "by_chance": expected_by_chance(len(judged.estimates), used[t, [a, b]].mean()),
                "iterations_needed": float(np.inf if needed is None else needed),
                "tests": difference_tests(first, second, scores.folds) if first[0].size > 1 else [],
                "posterior": {
                    "p_better": p,
                    "interval": list(test.interval(ci_prob)),
                    "correlation": test.correlation,
                    "p_other_seed": other_seed_probability(test.mean, together, n, canonical),
                    "partition_share": float(partition_share(together**2 / max(n, 1), data)),
                    "decided": max(p, 1 - p) >= KEPT,
                    "iterations_needed": more,
                },
            }
