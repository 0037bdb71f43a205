r"""How reproducible the order of two learners is under a stopping rule, and what the rule costs.

Raeder, Hoens and Chawla (2010), Section V, Equations 1 and 2: a rule is applied to 50 random
orderings of the iterations, each of which gives one estimate of every learner; with the estimates
:math:`e_{ik}` of learner :math:`i`

.. math:: R(i, j) = \frac{1}{n^2} \sum_{k, l} I(e_{ik}, e_{jl}), \qquad |2 R - 1|

and :math:`I = 1, 1/2, 0` for above, tied and below. The second is 1 where the order never changes,
and the absolute value of Cliff's delta. It is not 0 for equal learners (``expected_by_chance``).

``tests/crossval/test_reproducibility.py`` compares with SciPy's Mann-Whitney statistic, closed
forms for normal scores, and simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from bayes_sota.core.arguments import DEFAULT_SEED, SHARE, Range, generator_of
from bayes_sota.core.types import BoolArray, FloatArray, IntArray, Seed
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import Probabilities, Rule, progress_of

_DIGITS = 12  # means of the same scores in another order differ in their last bits: they are ties


@dataclass(frozen=True, eq=False)
class JudgedRule:
    """Estimates and costs of a rule on random orderings of the iterations.

    Attributes
    ----------
    rule : Rule
    estimates : ndarray, shape (n_orderings, n_tasks, n_learners)
        Mean score up to the iteration at which the rule stopped, or of all iterations.
    iterations : ndarray of int, same shape
        Iterations used.
    stopped : ndarray of bool, same shape
        False where the iterations ended before the rule was met.
    saved : ndarray, shape (n_tasks, n_learners)
        Share of the iterations that the rule leaves out.
    """

    rule: Rule
    estimates: FloatArray
    iterations: IntArray
    stopped: BoolArray
    saved: FloatArray

    def win_share(self) -> FloatArray:
        """R(i, j), shape (n_tasks, n_learners, n_learners)."""
        return np.array([win_share(one) for one in self.estimates.swapaxes(0, 1)])


def win_share(estimates: ArrayLike) -> FloatArray:
    """Share of pairs of estimates in which learner i is above learner j, R(i, j); ties count half.

    Parameters
    ----------
    estimates : array-like, shape (n_orderings, n_learners)

    Returns
    -------
    ndarray, shape (n_learners, n_learners)
        1/2 on the diagonal.

    Examples
    --------
    >>> float(win_share([[0.9, 0.8], [0.8, 0.7]])[0, 1])
    0.875
    """
    values = np.round(np.asarray(estimates, np.float64), _DIGITS).T
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
        Fewer than two iterations that all learners completed, or another number of orderings.

    Examples
    --------
    >>> from bayes_sota.crossval.rules import fixed
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 60, 10))
    >>> scores = FoldScores(noise + [[[0.90]], [[0.92]]])
    >>> (judged,) = judge_rules([fixed(10)], scores, random_seed=0)
    >>> float(judged.win_share()[0, 1, 0]), judged.saved.round(2).tolist()
    (1.0, [[0.83, 0.83]])
    """
    Range(2, 10_000, whole=True).check(orderings, "orderings")
    rng = generator_of(random_seed)
    orders = [rng.permutation(scores.scores.shape[2]) for _ in range(orderings)]
    pool = scores.completed(needed=2).sum(axis=1)
    estimates, stops = np.empty((2, len(rules), orderings, len(pool), len(scores.learners)))
    for k, order in enumerate(orders):
        for t, runs in enumerate(progress_of(scores, probabilities, order)):
            for r, rule in enumerate(rules):
                stops[r, k, t] = ends = rule.stops(runs)
                firsts = zip(runs.scores, ends, strict=True)
                estimates[r, k, t] = [one[: n or None].mean() for one, n in firsts]
    used = np.where(stops > 0, stops, pool[:, None]).astype(np.int64)
    saved = 1 - used.mean(axis=1) / pool[:, None]
    return [JudgedRule(*row) for row in zip(rules, estimates, used, stops > 0, saved, strict=True)]


def expected_by_chance(orderings: int = 50, share: float = 0.0) -> float:
    r"""Mean reproducibility of two learners whose true steady states are equal.

    Their scores are taken as independent; where they go together because the partitions are the
    same, it is smaller. It is positive for two reasons. More than half of :math:`m` orderings
    favour one of two equal learners by chance: .09 for 50 orderings. And all orderings use one
    pool of :math:`N` iterations, whose means differ by accident: if a rule takes :math:`n` of them,

    .. math:: E |2 R - 1| = \frac{2}{\pi} \arcsin \sqrt{n / N}

    for many orderings and normal scores (.20 at a tenth of the pool, .5 at one half). Both are
    joined by quadrature over the pool's difference, to about .01.

    Parameters
    ----------
    orderings : int
    share : float
        n / N, in [0, 1].

    Examples
    --------
    >>> [round(expected_by_chance(*of), 3) for of in ((50, 0.0), (50, 0.1), (10_000, 0.1))]
    [0.093, 0.224, 0.205]
    """
    SHARE.check(share, "share")
    if share == 1:
        return 1.0
    gap = np.linspace(0, 8, 2001)
    centre = 2 * ndtr(gap * np.sqrt(share / (1 - share))) - 1
    # Without a gap the variance of 2R - 1 is (2m + 1) / (3 m^2), Mann-Whitney.
    variance = (2 * orderings + 1) / (3 * orderings**2)
    noise = np.sqrt(variance * (1 - centre**2))
    z = centre / np.maximum(noise, 1e-300)
    folded = noise * np.sqrt(2 / np.pi) * np.exp(-(np.minimum(z, 30) ** 2) / 2)
    folded += centre * (2 * ndtr(z) - 1)
    return float(np.average(folded, weights=np.exp(-(gap**2) / 2)))
