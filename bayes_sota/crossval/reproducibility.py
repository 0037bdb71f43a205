r"""How reproducible the order of two learners is under a stopping rule, and what the rule costs.

Raeder, Hoens and Chawla (2010), Section V, Equations 1 and 2: a rule is applied to 50 random
orderings of the iterations, each of which gives one estimate of every learner; with the estimates
:math:`e_{ik}` of learner :math:`i`

.. math:: R(i, j) = \frac{1}{n^2} \sum_{k, l} I(e_{ik}, e_{jl}), \qquad |2 R - 1|

and :math:`I = 1, 1/2, 0` for above, tied and below. The second is 1 where the order never changes,
and the absolute value of Cliff's delta. The paired reading, :math:`k = l`, compares learners on
the same partitions. Neither is 0 for equal learners (``expected_by_chance``).

``tests/crossval/test_reproducibility.py`` compares with SciPy's Mann-Whitney statistic, closed
forms for normal scores, and simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import DEFAULT_SEED, SHARE, Range, check_choice, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted
from bayes_sota.core.types import BoolArray, FloatArray, IntArray, Seed
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import Probabilities, Rule, progress_of
from bayes_sota.crossval.shape import canonical_iterations

Pairing = Literal["all", "paired"]
ORDERINGS = Range(2, 10_000, whole=True)
KEPT = 0.95
"""An order that other partitions keep so often is reproducible; so sure, it is decided."""
_DIGITS = 12  # means of the same scores in another order differ in their last bits: they are ties


@dataclass(frozen=True, eq=False)
class JudgedRule:
    """What a rule gives on random orderings of the iterations.

    Attributes
    ----------
    rule : Rule
    estimates : ndarray, shape (n_orderings, n_tasks, n_learners)
        Mean score up to the iteration at which the rule stopped, or of all iterations.
    iterations : ndarray of int, same shape
        Iterations used.
    stopped : ndarray of bool, same shape
        False where the iterations ended before the rule held.
    pool : ndarray of int, shape (n_tasks, n_learners)
        Iterations that there are.
    """

    rule: Rule
    estimates: FloatArray
    iterations: IntArray
    stopped: BoolArray
    pool: IntArray

    @property
    def saved(self) -> FloatArray:
        """Share of the iterations that the rule leaves out, (n_tasks, n_learners)."""
        return 1 - self.iterations.mean(axis=0) / self.pool

    def win_share(self, pairing: Pairing = "all") -> FloatArray:
        """R(i, j), shape (n_tasks, n_learners, n_learners)."""
        return np.array([win_share(self.estimates[:, t], pairing) for t in range(len(self.pool))])

    def reproducibility(self, pairing: Pairing = "all") -> FloatArray:
        """|2 R(i, j) - 1|, shape (n_tasks, n_learners, n_learners)."""
        return np.abs(2 * self.win_share(pairing) - 1)


def win_share(estimates: ArrayLike, pairing: Pairing = "all") -> FloatArray:
    """Share of pairs of estimates in which learner i is above learner j, R(i, j); ties count half.

    Parameters
    ----------
    estimates : array-like, shape (n_orderings, n_learners)
    pairing : {"all", "paired"}
        Every estimate of i with every one of j, which is the source's, or those of the same
        ordering.

    Returns
    -------
    ndarray, shape (n_learners, n_learners)
        1/2 on the diagonal.

    Examples
    --------
    >>> estimates = [[0.9, 0.8], [0.8, 0.7]]
    >>> float(win_share(estimates)[0, 1]), float(win_share(estimates, "paired")[0, 1])
    (0.875, 1.0)
    """
    check_choice("pairing", pairing, Pairing)
    values = np.round(np.asarray(estimates, np.float64), _DIGITS).T
    if pairing == "paired":
        return (1 + np.sign(values[:, None] - values).mean(axis=2)) / 2
    above = [[np.sign(a[:, None] - b).mean() for b in values] for a in values]
    return (1 + np.array(above)) / 2


def judge_rules(
    rules: Sequence[Rule],
    scores: FoldScores,
    probabilities: Probabilities = None,
    *,
    orderings: int = 50,
    random_seed: Seed = DEFAULT_SEED,
) -> list[JudgedRule]:
    """Apply stopping rules to random orderings of the iterations.

    Every ordering is the same for all learners, data sets and rules.

    Parameters
    ----------
    rules : sequence of Rule
    scores : FoldScores
    probabilities : ndarray or sequence of ndarray, optional
        As in ``stopping_iterations``.
    orderings : int
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    list of JudgedRule

    Raises
    ------
    InputError
        Fewer than two complete iterations of a learner, or another number of orderings.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 60, 10))
    >>> scores = FoldScores(noise + [[[0.90]], [[0.92]]])
    >>> (judged,) = judge_rules([Rule("fixed", 10)], scores, random_seed=0)
    >>> float(judged.reproducibility()[0, 0, 1]), judged.saved.round(2).tolist()
    (1.0, [[0.83, 0.83]])
    """
    ORDERINGS.check(orderings, "orderings")
    rng = generator_of(random_seed)
    n_iterations = scores.scores.shape[2]
    orders = [rng.permutation(n_iterations) for _ in range(orderings)]
    pool = np.isfinite(scores.iteration_means()).sum(axis=2)
    if pool.min() < 2:
        t, j = np.argwhere(pool < 2)[0]
        raise InputError(
            f"learner {scores.learners[j]!r} has {counted(int(pool[t, j]), 'complete iteration')} "
            f"on data set {scores.tasks[t]!r}: at least 2 random partitions are needed to see how "
            "much results differ between them"
        )
    items = probabilities if any(rule.needs_probabilities for rule in rules) else None
    estimates, stops = np.empty((2, len(rules), orderings, *pool.shape))
    for k, order in enumerate(orders):
        for t, row in enumerate(progress_of(scores, items, order)):
            for r, rule in enumerate(rules):
                stops[r, k, t] = ends = rule.stops(row)
                estimates[r, k, t] = [
                    one.means[: n or None].mean() for one, n in zip(row, ends, strict=True)
                ]
    return [
        JudgedRule(rule, mean, np.where(end > 0, end, pool).astype(np.int64), end > 0, pool)
        for rule, mean, end in zip(rules, estimates, stops, strict=True)
    ]


def expected_by_chance(orderings: int = 50, share: float = 0.0, pairing: Pairing = "all") -> float:
    r"""Mean reproducibility of two learners whose true steady states are equal.

    Their scores are taken as independent; where they go together because the partitions are the
    same, it is smaller with all pairs. It is positive for two reasons. Of :math:`m` orderings more
    than half favour one of two equal learners by accident: .09 for 50 orderings and all pairs, .11
    paired. And all orderings use one pool of :math:`N` iterations, whose means differ by accident:
    if a rule takes :math:`n` of them,

    .. math:: E |2 R - 1| = \frac{2}{\pi} \arcsin \sqrt{n / N}

    for many orderings and normal scores (.20 at a tenth of the pool, .5 at one half). Both are
    joined by quadrature over the pool's difference, to about .01.

    Parameters
    ----------
    orderings : int
    share : float
        n / N, in [0, 1].
    pairing : {"all", "paired"}

    Examples
    --------
    >>> round(expected_by_chance(50), 2), round(expected_by_chance(50, pairing="paired"), 2)
    (0.09, 0.11)
    >>> round(expected_by_chance(10_000, 0.1), 3), round(expected_by_chance(50, 0.1), 2)
    (0.205, 0.22)
    """
    from scipy.special import ndtr

    ORDERINGS.check(orderings, "orderings")
    SHARE.check(share, "share")
    check_choice("pairing", pairing, Pairing)
    if share == 1:
        return 1.0
    gap = np.linspace(0, 8, 2001)
    weight = np.exp(-(gap**2) / 2)
    centre = 2 * ndtr(gap * np.sqrt(share / (1 - share))) - 1
    # Without a gap the variance of 2R - 1 is (2m + 1) / (3 m^2), Mann-Whitney, or 1 / m, signs.
    variance = 1 / orderings if pairing == "paired" else (2 * orderings + 1) / (3 * orderings**2)
    noise = np.sqrt(variance * (1 - centre**2))
    z = centre / np.maximum(noise, 1e-300)
    folded = noise * np.sqrt(2 / np.pi) * np.exp(-(np.minimum(z, 30) ** 2) / 2)
    folded += centre * (2 * ndtr(z) - 1)
    return float(np.sum(weight * folded) / np.sum(weight))


def judged_beside(
    chosen: Rule, scores: FoldScores, probabilities: Probabilities, **settings: Any
) -> list[JudgedRule]:
    """The chosen rule, and those that it is compared with, judged by ``judge_rules``.

    Raises
    ------
    InputError
        So few iterations can never meet the chosen rule; where scores tie, they may.
    """
    complete = np.isfinite(scores.iteration_means()).sum(axis=2)
    others = [Rule("fixed", n) for n in (canonical_iterations(scores.folds), 10, 50)]
    if probabilities is not None:
        others += [Rule("spearman", 1 - t) for t in (1e-3, 1e-4, 1e-5)]
    others += [Rule("ks", 0.2), Rule("ks", 0.1), Rule("posterior")]
    rules = [chosen, *(one for one in others if one != chosen and one.least < complete.min())]
    judged = judge_rules(rules, scores, probabilities, **settings)
    if chosen.least > complete.max() and not judged[0].stopped.any():
        raise InputError(
            f"the rule {chosen.name} takes at least {chosen.least} iterations, and there are "
            f"{complete.max()}: another threshold, another rule or more iterations"
        )
    return judged


def rule_row(judged: JudgedRule) -> dict[str, Any]:
    """What a rule costs and saves, and how often it keeps the order of pairs."""
    shares = judged.win_share()
    i, j = np.triu_indices(shares.shape[1], 1)
    kept = np.maximum(shares, 1 - shares)[:, i, j]
    used = ((1 - judged.saved)[:, i] + (1 - judged.saved)[:, j]) / 2
    parts, times = np.unique(used.round(3), return_counts=True)
    chance = [expected_by_chance(len(judged.estimates), part) for part in parts]
    return {
        "rule": judged.rule.name,
        "least_iterations": judged.rule.least,
        "iterations": float(judged.iterations.mean()),
        "iterations_by_learner": judged.iterations.mean(axis=(0, 1)).tolist(),
        "saved": float(judged.saved.mean()),
        "ran_out": float(1 - judged.stopped.mean()),
        "reproducibility": float((2 * kept - 1).mean()),
        "by_chance": float(np.average(chance, weights=times)),
        "pairs_kept": float(np.mean(kept >= KEPT)),
    }
