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
    """Iterations of one data set in their order.

    Attributes
    ----------
    scores : ndarray, shape (n_learners, n_iterations, n_folds)
        NaN where a fit failed.
    probabilities : ndarray, shape (n_learners, n_iterations, n_items)
        Without items where there are none.
    folds : int
        k of the partitions.
    """

    scores: FloatArray
    probabilities: FloatArray
    folds: int

    @cached_property
    def completed(self) -> BoolArray:
        """Whether a learner completed an iteration; the others count for nothing."""
        return np.isfinite(self.scores.mean(axis=2))

    @cached_property
    def means(self) -> list[FloatArray]:
        """Mean over folds of the completed iterations of each learner."""
        pairs = zip(self.scores, self.completed, strict=True)
        return [one[kept].mean(axis=1) for one, kept in pairs]

    @cached_property
    def correlations(self) -> list[FloatArray]:
        """``successive_correlations`` of the probabilities of each learner."""
        pairs = zip(self.probabilities, self.completed, strict=True)
        return [successive_correlations(one[kept]) for one, kept in pairs]


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
        From ``Progress`` to whether it holds for each learner after each completed iteration.
    """

    name: str
    threshold: float
    least: int
    holds: Callable[[Progress], list[BoolArray]]

    def stops(self, runs: Progress) -> list[int]:
        """Iterations after which each learner of a data set stops, 0 for never."""
        return [int(np.argmax(met)) + 1 if met.any() else 0 for met in self.holds(runs)]

    def __call__(self, runs: "CrossValidation") -> bool:
        """Whether it holds for every learner after the newest iteration of one data set."""
        (progress,) = progress_of(runs.fold_scores, runs.probabilities)
        return all(met.size and met[-1] for met in self.holds(progress))


def fixed(threshold: float = 10) -> Rule:
    """A number of iterations, whatever they give."""
    n = int(Range(1, 10**6).check(threshold, "threshold"))
    name = f"fixed {threshold:g}"
    return Rule(name, n, n, lambda runs: [np.arange(1, x.size + 1) >= n for x in runs.means])


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
    least = Range(0.9, 1.0).check(threshold, "threshold") - 1e-14
    name = f"Spearman {threshold:.8g}"
    return Rule(name, threshold, 2, lambda runs: [x >= least for x in runs.correlations])


def kolmogorov_smirnov(threshold: float = 0.2) -> Rule:
    r"""The scores of even and of odd iterations are distributed alike.

    .. math:: D = \sup_x |F_{odd}(x) - F_{even}(x)| < t

    Without ties :math:`D` is at least 1 over the length of the longer half, so that the rule
    takes at least :math:`2 \lfloor 1/t \rfloor + 1` iterations: 21 for .1 and 11 for .2. Where
    scores tie it may hold sooner.
    """
    t = Range(1e-6, 1.0).check(threshold, "threshold")
    name, least = f"Kolmogorov-Smirnov {t:g}", 2 * int(1 / t) + 1
    return Rule(name, t, least, lambda runs: [even_odd_distances(x) < t for x in runs.means])


def posterior(threshold: float = 0.95) -> Rule:
    r"""Every order is decided, or partitions hardly matter any more.

    Iterations count that all learners completed. A pair of them is settled where

    - P(A better), by the correlated Student t, is at least the threshold or at most 1 less it;
    - or the standard deviation that partitions still cause is at most 0.2 of the whole one (with
      that the noise of partitions widens an interval by 2 %): the rest is the size of the data,
      which repetition cannot remove. Of n iterations the variance :math:`\tau^2` between them is
      known to n - 1 degrees of freedom, and two may agree by chance, so that its upper bound
      :math:`(n - 1) \hat\tau^2 / \chi^2_{n - 1, 1 - p}` counts, with p the threshold.

    Looking after every iteration decides more often by chance than looking once: of equal learners
    P(A better) leaves .05 to .95 at some look in about 19 % of runs, after a fixed number of
    iterations in 10 % (``tests/crossval/test_rules.py``).
    """
    ASSURANCE.check(threshold, "threshold")
    return Rule(f"posterior {threshold:g}", threshold, 2, partial(_settled, threshold=threshold))


def _settled(runs: Progress, threshold: float) -> list[BoolArray]:
    together = runs.completed.all(axis=0)
    scores, df = runs.scores[:, together], np.arange(together.sum())
    a, b = np.triu_indices(len(scores), 1)
    p, partitions, data = running_posteriors(scores[a] - scores[b], runs.folds)
    sure = np.maximum(p, 1 - p) >= threshold
    few = df / chdtri(df, threshold) * partitions <= _PARTITION_ODDS * data
    settled = (sure | few | (data == 0)).all(axis=0)
    settled = np.concatenate([[False, False], settled[1:]])  # after none, one, ... of them
    return [settled[together[kept].cumsum()] for kept in runs.completed]


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
    if not len(values):
        return np.zeros(0)
    if not values.size:
        raise InputError("Spearman's rule needs the predicted probability of every item")
    means = values.cumsum(axis=0) / np.arange(1, len(values) + 1)[:, None]
    # Equal means differ in their last bits by the order of the sum: they are ties.
    mantissa, power = np.frexp(means)
    ranks = rankdata(np.ldexp(np.round(mantissa, 12), power), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    ranks /= np.maximum(np.linalg.norm(ranks, axis=1, keepdims=True), 0.5)  # 0 where all items tie
    correlations = (ranks[1:] * ranks[:-1]).sum(axis=1)
    correlations[(ranks[1:] == ranks[:-1]).all(axis=1)] = 1.0
    return np.concatenate([[np.nan], correlations])


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
    places = slice(None) if order is None else np.asarray(order)
    size = scores.scores.shape[1:3]
    if probabilities is None:
        parts = [np.empty((*size, 0))] * len(scores.tasks)
    else:
        one = isinstance(probabilities, np.ndarray) and probabilities.ndim == 3
        parts = [np.asarray(of, np.float64) for of in ([probabilities] if one else probabilities)]
    if len(parts) != len(scores.tasks) or any(of.shape[:2] != size for of in parts):
        need = f"({size[0]} learners, {size[1]} iterations, items) on {len(scores.tasks)} data sets"
        raise InputError(f"probabilities are {need}, got {[of.shape for of in parts]}")
    both = zip(scores.scores, parts, strict=True)
    return [Progress(one[:, places], of[:, places], scores.folds) for one, of in both]


def stopping_iterations(
    rule: Rule, scores: FoldScores, probabilities: Probabilities = None
) -> IntArray:
    """Give the number of iterations after which a rule stops every learner on every data set.

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
