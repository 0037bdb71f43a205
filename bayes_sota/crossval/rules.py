r"""When repeated cross-validation may stop: rules on the iterations so far.

Raeder, Hoens and Chawla (2010), Section V, have a fixed number of iterations; Spearman's
correlation of successive running means of the items' predicted probabilities, their recommendation;
and the Kolmogorov-Smirnov distance between the scores of the even and of the odd iterations. Each
looks at one learner. A Bayesian rule looks at the order of all learners.
``tests/crossval/test_rules.py`` compares statistics with SciPy's, Spearman's rule with the
iteration that its expansion predicts, the Bayesian rule with the correlated t.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri

from bayes_sota.core.arguments import ASSURANCE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.crossval.correlated_t import running_posteriors
from bayes_sota.crossval.fold_scores import FoldScores

if TYPE_CHECKING:
    from bayes_sota.crossval.run import CrossValidation

_PARTITION_ODDS = 0.2**2 / (1 - 0.2**2)
"""Variance by partitions to that by the data, below which repetition is not worth its time."""
type Probabilities = FloatArray | Sequence[FloatArray] | None
"""Per data set (learner, iteration, item); one array where there is one data set."""


@dataclass(frozen=True, eq=False)
class Progress:
    """Iterations of one data set that all learners completed, in their order.

    Attributes
    ----------
    scores : ndarray, shape (n_learners, n_iterations, n_folds)
    probabilities : ndarray, shape (n_learners, n_iterations, n_items)
        Without items where there are none.
    folds : int
        k of the partitions.
    """

    scores: FloatArray
    probabilities: FloatArray
    folds: int

    @cached_property
    def correlations(self) -> FloatArray:
        """``successive_correlations`` of the probabilities of each learner."""
        return np.array([successive_correlations(one) for one in self.probabilities])


class Rule(NamedTuple):
    """A stopping rule: ``fixed``, ``spearman``, ``kolmogorov_smirnov`` or ``posterior``.

    Attributes
    ----------
    name : str
        With its threshold.
    threshold : float
    least : int
        Iterations before which it cannot hold, unless scores tie.
    holds : callable
        From ``Progress`` to whether it holds, (n_learners, n_iterations) or for all learners alike.
    """

    name: str
    threshold: float
    least: int
    holds: Callable[[Progress], BoolArray]

    def stops(self, runs: Progress) -> IntArray:
        """Iterations after which each learner of a data set stops, 0 for never."""
        met = np.zeros((len(runs.scores), runs.scores.shape[1] + 1), bool)
        met[:, 1:] = self.holds(runs)
        return met.argmax(axis=1)

    def __call__(self, runs: "CrossValidation") -> bool:
        """Whether it holds for every learner after the newest iteration of one data set."""
        (progress,) = progress_of(runs.fold_scores, runs.probabilities)
        n = progress.scores.shape[1]
        return bool(n and self.holds(progress)[..., -1].all())


def fixed(threshold: float = 10) -> Rule:
    """A number of iterations, whatever they give."""
    n = int(Range(1, 10**6).check(threshold, "threshold"))
    name = f"fixed {threshold:g}"
    return Rule(name, n, n, lambda runs: np.arange(1, runs.scores.shape[1] + 1) >= n)


def spearman(threshold: float = 1 - 1e-4) -> Rule:
    r"""One more iteration hardly changes the order of the items.

    Spearman's rank correlation of the items' running mean probabilities after :math:`n - 1` and
    after :math:`n` iterations is at least the threshold. With :math:`\sigma_w` the standard
    deviation of one item's probability over iterations and :math:`\sigma_b` that over items,

    .. math:: 1 - r \approx \frac{3 \sigma_w^2}{\sqrt{3} \, \pi \, n^2 \sigma_b^2}

    for normal ones, so the number of iterations grows with :math:`1 / \sqrt{1 - t}`, and ten times
    the strictness costs three times the iterations. It looks at no score. The source recommends
    1 - 1e-4; 1 - 1e-3 stops early, and 1 - 1e-5 may not stop.
    """
    least = Range(0.9, 1.0, percent=False).check(threshold, "threshold") - 1e-14
    name = f"Spearman {threshold:.8g}"
    return Rule(name, threshold, 2, lambda runs: runs.correlations >= least)


def kolmogorov_smirnov(threshold: float = 0.2) -> Rule:
    r"""The scores of even and of odd iterations are distributed alike.

    .. math:: D = \sup_x |F_{odd}(x) - F_{even}(x)| < t

    Without ties :math:`D` is at least 1 over the length of the longer half, so that the rule
    takes at least :math:`2 \lfloor 1/t \rfloor + 1` iterations: 21 for .1 and 11 for .2. Where
    scores tie it may hold sooner.
    """
    t = Range(1e-6, 1.0, percent=False).check(threshold, "threshold")
    name, least = f"Kolmogorov-Smirnov {t:g}", 2 * int(1 / t) + 1
    return Rule(name, t, least, lambda runs: _distances(runs) < t)


def posterior(threshold: float = 0.95) -> Rule:
    r"""Every order is decided, or partitions hardly matter any more.

    A pair of learners is settled where

    - P(A better), by the correlated Student t, is at least the threshold or at most 1 less it;
    - or the standard deviation that partitions still cause is at most 0.2 of the whole one (with
      that the noise of partitions widens an interval by 2 %): the rest is the size of the data,
      which repetition cannot remove. After n iterations the variance :math:`\tau^2` between them is
      known to n - 1 degrees of freedom, and two may agree by chance, so that its upper bound
      :math:`(n - 1) \hat\tau^2 / \chi^2_{n - 1, 1 - p}` counts, with p the threshold.

    Looking after every iteration decides more often by chance than looking once: of equal learners
    P(A better) leaves .05 to .95 at some look in about 19 % of runs, after a fixed number of
    iterations in 10 % (``tests/crossval/test_rules.py``).
    """
    ASSURANCE.check(threshold, "threshold")
    return Rule(f"posterior {threshold:g}", threshold, 2, partial(_settled, threshold=threshold))


def _distances(runs: Progress) -> FloatArray:
    return np.array([even_odd_distances(one) for one in runs.scores.mean(axis=2)])


def _settled(runs: Progress, threshold: float) -> BoolArray:
    df, (a, b) = np.arange(runs.scores.shape[1]), np.triu_indices(len(runs.scores), 1)
    p, partitions, data = running_posteriors(runs.scores[a] - runs.scores[b], runs.folds)
    sure = np.maximum(p, 1 - p) >= threshold
    few = df / chdtri(df, threshold) * partitions <= _PARTITION_ODDS * data
    return (sure | few | (data == 0)).all(axis=0) & (df > 0)


RULES: dict[str, Callable[..., Rule]] = {"spearman": spearman, "ks": kolmogorov_smirnov}
RULES |= {"posterior": posterior, "fixed": fixed}
"""Rules by the names that commands have for them."""


def successive_correlations(probabilities: ArrayLike) -> FloatArray:
    """Spearman's correlation of the running means after every iteration and the one before.

    Parameters
    ----------
    probabilities : array-like, shape (n_iterations, n_items)
        Items that some iteration lacks (NaN) take no part.

    Returns
    -------
    ndarray, shape (n_iterations,)
        NaN for the first iteration. Orders that are equal correlate at 1, even where all items tie.

    Examples
    --------
    >>> successive_correlations([[0.1, 0.2, 0.9], [0.2, 0.1, 0.9], [0.1, 0.3, 0.8]]).round(3)
    array([  nan, 0.866, 0.866])
    """
    from scipy.stats import rankdata

    probability = np.asarray(probabilities, np.float64)
    values = probability[:, np.isfinite(probability).all(axis=0)]
    if not values.shape[1]:
        problem = "Spearman's rule needs the items' probabilities: cv run --save FILE.nc has them"
        raise InputError(problem, fix="or take another rule, such as ks")
    means = values.cumsum(axis=0) / np.arange(1, len(values) + 1)[:, None]
    # Equal means differ in their last bits by the order of the sum: they are ties.
    mantissa, power = np.frexp(means)
    ranks = rankdata(np.ldexp(np.round(mantissa, 12), power), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    ranks /= np.maximum(np.linalg.norm(ranks, axis=1, keepdims=True), 0.5)  # 0 where all items tie
    same = (ranks[1:] == ranks[:-1]).all(axis=1)
    correlations = np.full(len(values), np.nan)
    correlations[1:] = np.where(same, 1.0, (ranks[1:] * ranks[:-1]).sum(axis=1))
    return correlations


def even_odd_distances(scores: ArrayLike) -> FloatArray:
    """Kolmogorov-Smirnov distance between the scores of odd and of even iterations.

    Parameters
    ----------
    scores : array-like, shape (n_iterations,)

    Returns
    -------
    ndarray, shape (n_iterations,)
        After every iteration; 1 after the first.

    Examples
    --------
    >>> even_odd_distances([0.1, 0.2, 0.3, 0.4]).round(3).tolist()
    [1.0, 1.0, 0.5, 0.5]
    """
    values = np.asarray(scores, np.float64)
    below, odd = values <= values[:, None], np.arange(values.size) % 2 == 0
    n_odd, n_even = odd.cumsum(), (~odd).cumsum()
    of_odd, of_even = (below & odd).cumsum(axis=1), (below & ~odd).cumsum(axis=1)
    # Whole numbers until the end: 3/10 - 2/10 is below .1 in floating point.
    gap = np.abs(of_odd * n_even - of_even * n_odd).max(axis=0, initial=0)
    return np.divide(gap, n_odd * n_even, out=np.ones(values.size), where=n_even > 0)


def progress_of(
    scores: FoldScores, probabilities: Probabilities = None, order: ArrayLike | None = None
) -> list[Progress]:
    """Progress of every data set, of the iterations in some order; default as they came."""
    complete = scores.completed()
    places = np.arange(complete.shape[1]) if order is None else np.asarray(order)
    size = scores.scores.shape[1:3]
    given = [np.empty((*size, 0))] * len(scores.tasks) if probabilities is None else probabilities
    parts = [np.asarray(of, np.float64) for of in ([given] if np.ndim(given[0]) == 2 else given)]
    if len(parts) != len(scores.tasks) or any(of.shape[:2] != size for of in parts):
        need = f"({size[0]} learners, {size[1]} iterations, items) on {len(scores.tasks)} data sets"
        raise InputError(f"probabilities are {need}, got {[of.shape for of in parts]}")
    kept = [places[of[places]] for of in complete]
    every = zip(scores.scores, parts, kept, strict=True)
    return [Progress(one[:, at], of[:, at], scores.folds) for one, of, at in every]


def stopping_iterations(
    rule: Rule, scores: FoldScores, probabilities: Probabilities = None
) -> IntArray:
    """Give the number of iterations after which a rule stops every learner on every data set.

    Only iterations that all learners completed count.

    Parameters
    ----------
    rule : Rule
    scores : FoldScores
    probabilities : ndarray, shape (n_learners, n_iterations, n_items), or one per data set
        For Spearman's rule.

    Returns
    -------
    ndarray of int, shape (n_tasks, n_learners)
        0 where the iterations end before the rule holds.

    Examples
    --------
    >>> scores = FoldScores(np.random.default_rng(0).normal(0.9, 0.01, (2, 40, 10)))
    >>> stopping_iterations(fixed(10), scores)
    array([[10, 10]])
    """
    return np.array([rule.stops(one) for one in progress_of(scores, probabilities)])
