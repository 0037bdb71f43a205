r"""When repeated cross-validation may stop, and how reproducible an order is under a rule.

After Raeder, Hoens and Chawla (2010), Section V, but for ``posterior``. Their reproducibility
applies a rule to 50 random orderings of the iterations (Equations 1 and 2): with the estimates
:math:`e_{ik}` of learner :math:`i`

.. math:: R(i, j) = \frac{1}{n^2} \sum_{k, l} I(e_{ik}, e_{jl}), \qquad |2 R - 1|

and :math:`I = 1, 1/2, 0` for above, tied and below. The second, the absolute value of Cliff's
delta, is 1 where the order never changes, but not 0 for equal learners (``expected_by_chance``).

Repetition removes the variance of the partitions, but not that of the size of the data: with
:math:`\tau^2` the variance of the mean difference of one iteration and v that of a fold's, the
variance after n iterations is :math:`\tau^2 / n + B`, :math:`B = v \rho / (1 - \rho)`
(``correlated_t``). ``tests/crossval/test_rules.py`` compares with SciPy, with the expansion of
Spearman's rule, with the correlated t, closed forms and simulation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, ndtr, ndtri, stdtr

from bayes_sota.core.arguments import ASSURANCE, DEFAULT_SEED, SHARE, Range, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import BoolArray, FloatArray, IntArray, Seed
from bayes_sota.crossval.fold_scores import FoldScores

if TYPE_CHECKING:
    from bayes_sota.crossval.run import CrossValidation

KEPT = 0.95
"""An order that other partitions keep so often is reproducible; so sure, it is decided."""
_PARTITION_ODDS = 0.2**2 / (1 - 0.2**2)
"""Variance by partitions to that by the data, below which repetition is not worth its time."""
type Probabilities = FloatArray | Sequence[FloatArray] | None
"""Per data set (learner, iteration, item); one array where there is one data set."""


@dataclass(frozen=True, eq=False)
class Progress:
    """Iterations of one data set that all learners completed, in their order.

    ``scores`` (n_learners, n_iterations, n_folds), ``probabilities`` (n_learners, n_iterations,
    n_items).
    """

    scores: FloatArray
    probabilities: FloatArray
    folds: int

    @cached_property
    def correlations(self) -> FloatArray:
        return np.array([successive_correlations(one) for one in self.probabilities])


class Rule(NamedTuple):
    """A stopping rule: ``fixed``, ``spearman``, ``kolmogorov_smirnov`` or ``posterior``.

    It cannot hold before ``least`` iterations, unless scores tie. ``holds`` says of ``Progress``
    whether it does, (n_learners, n_iterations) or for all learners alike.
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
    """A fixed number of iterations."""
    n = int(Range(1, 10**6).check(threshold, "threshold"))
    name = f"fixed {threshold:g}"
    return Rule(name, n, n, lambda runs: np.arange(1, runs.scores.shape[1] + 1) >= n)


def spearman(threshold: float = 1 - 1e-4) -> Rule:
    r"""One more iteration hardly changes the order of the items' mean probabilities.

    Spearman's correlation of the items' running mean probabilities after :math:`n - 1` and after
    :math:`n` iterations is at least the threshold. With :math:`\sigma_w` and :math:`\sigma_b` the
    standard deviations of a probability over iterations and over items, for normal ones

    .. math:: 1 - r \approx \frac{3 \sigma_w^2}{\sqrt{3} \, \pi \, n^2 \sigma_b^2}

    The source recommends 1 - 1e-4; 1 - 1e-3 stops early, and 1 - 1e-5 may not stop.
    """
    least = Range(0.9, 1.0, percent=False).check(threshold, "threshold") - 1e-14
    name = f"Spearman {threshold:.8g}"
    return Rule(name, threshold, 2, lambda runs: runs.correlations >= least)


def kolmogorov_smirnov(threshold: float = 0.2) -> Rule:
    r"""The scores of even and of odd iterations are distributed alike.

    .. math:: D = \sup_x |F_{odd}(x) - F_{even}(x)| < t

    Without ties :math:`D` is at least 1 over the length of the longer half, so that the rule takes
    at least :math:`2 \lfloor 1/t \rfloor + 1` iterations: 21 for .1 and 11 for .2.
    """
    t = Range(1e-6, 1.0, percent=False).check(threshold, "threshold")
    name, least = f"Kolmogorov-Smirnov {t:g}", 2 * int(1 / t) + 1
    return Rule(name, t, least, lambda runs: _distances(runs) < t)


def posterior(threshold: float = 0.95) -> Rule:
    r"""Every order is decided, or partitions hardly matter any more.

    A pair of learners is settled where

    - P(A better), by the correlated Student t, is at least the threshold or at most 1 less it;
    - or partitions cause at most 0.2 of the standard deviation, so that they widen intervals by
      2 %. Iterations may agree by chance: the upper bound of their variance counts,
      :math:`(n - 1) \hat\tau^2 / \chi^2_{n - 1, 1 - p}`, with p the threshold.

    Looking after every iteration decides equal learners by chance in about 19 % of runs, a fixed
    number of iterations in 10 %.
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

    Probabilities are (n_iterations, n_items); items with a NaN take no part. Equal orders correlate
    at 1, even where all items tie.
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
    """Kolmogorov-Smirnov distance of odd and even iterations, after each; 1 after the first."""
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
        raise InputError(f"probabilities must be {need}, got {[of.shape for of in parts]}")
    kept = [places[of[places]] for of in complete]
    every = zip(scores.scores, parts, kept, strict=True)
    return [Progress(one[:, at], of[:, at], scores.folds) for one, of, at in every]


def stopping_iterations(
    rule: Rule, scores: FoldScores, probabilities: Probabilities = None
) -> IntArray:
    """Number of iterations after which a rule stops, (n_tasks, n_learners), 0 for never.

    ``probabilities`` (n_learners, n_iterations, n_items), or one such array per data set, are for
    Spearman's rule.

    Examples
    --------
    >>> scores = FoldScores(np.random.default_rng(0).normal(0.9, 0.01, (2, 40, 10)))
    >>> stopping_iterations(fixed(10), scores)
    array([[10, 10]])
    """
    return np.array([rule.stops(one) for one in progress_of(scores, probabilities)])


def running_posteriors(
    differences: ArrayLike, folds: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(better) and its variances as ``correlated_t`` gives them after each iteration.

    ``differences`` (..., n_iterations, n_folds) are complete; the arrays (..., n_iterations) are
    ``p_better`` and the variances from partitions and from the size of the data.
    """
    d = np.asarray(differences, np.float64)
    n, columns = np.arange(1, d.shape[-2] + 1), d.shape[-1]
    size, per_value = n * columns, folds if columns == 1 else 1
    middle = d.sum(axis=(-2, -1), keepdims=True) / max(1, d.shape[-2] * columns)
    total = (d - middle).sum(axis=-1)
    square = _spread(((d - middle) ** 2).sum(axis=-1), total, size) * per_value
    mean, data = total.cumsum(axis=-1) / size + middle[..., 0], square / (folds - 1)
    scale, certain = np.sqrt(square / (size * per_value) + data), 1e300 * np.sign(mean.round(12))
    t = np.divide(mean, scale, out=certain, where=scale > 0)
    p_better = np.where(np.isnan(scale), 0.5, stdtr(size - 1, t))
    return p_better, _spread((total / columns) ** 2, total / columns, n) / n, data


def _spread(squares: FloatArray, sums: FloatArray, size: IntArray) -> FloatArray:
    left = squares.cumsum(axis=-1) - sums.cumsum(axis=-1) ** 2 / size
    left = np.where(left < 1e-24 * size, 0.0, left)
    unknown = np.full(left.shape, np.nan)
    return np.divide(left, size - 1, out=unknown, where=size > 1)


_DIGITS = 12  # means of the same scores in another order differ in their last bits: they are ties


@dataclass(frozen=True, eq=False)
class JudgedRule:
    """Estimates and costs of a rule on random orderings of the iterations.

    Arrays (n_orderings, n_tasks, n_learners): ``estimates``, the mean score up to the iteration at
    which the rule stopped, or of all; ``iterations`` used; ``stopped``, whether the rule was met.
    ``saved`` (n_tasks, n_learners) is the share of the iterations that the rule leaves out.
    """

    rule: Rule
    estimates: FloatArray
    iterations: IntArray
    stopped: BoolArray
    saved: FloatArray

    def win_share(self) -> FloatArray:
        """R(i, j), (n_tasks, n_learners, n_learners)."""
        return np.array([win_share(one) for one in self.estimates.swapaxes(0, 1)])


def win_share(estimates: ArrayLike) -> FloatArray:
    """Share of pairs of estimates in which learner i is above j, R(i, j), (n_learners, n_learners).

    Ties count half. ``estimates`` are (n_orderings, n_learners).

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
    """Apply stopping rules to random orderings of the iterations, the same for all rules.

    Parameters
    ----------
    rules : sequence of Rule
    scores : FoldScores
    probabilities : ndarray or sequence of ndarray, optional
        As in ``stopping_iterations``.
    orderings : int
    random_seed : int, SeedSequence, Generator or None

    Raises
    ------
    InputError
        Fewer than two iterations that all learners completed.

    Examples
    --------
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

    More than half of :math:`m` orderings favour one of the two by chance (.09 for 50), and all use
    one pool of :math:`N` iterations, whose means differ by accident. If a rule takes :math:`n` of
    them (``share`` is n / N), for many orderings and independent normal scores

    .. math:: E |2 R - 1| = \frac{2}{\pi} \arcsin \sqrt{n / N}

    Both are joined by quadrature, to about 0.01.

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


def iterations_needed(
    difference: float, partition_sd: float, data_sd: float, probability: float = 0.95
) -> int | None:
    r"""Least number of iterations until P(better) would reach a probability; None if none does.

    .. math:: n \ge \frac{\tau^2}{(d / z)^2 - B}, \quad z = \Phi^{-1}(p)

    Parameters
    ----------
    difference : float
        d, expected after endless repetition.
    partition_sd, data_sd : float
        :math:`\tau` and :math:`\sqrt B`.
    probability : float
        p, above 1/2.

    Examples
    --------
    >>> iterations_needed(0.03, 0.02, 0.015), iterations_needed(0.02, 0.02, 0.015)
    (4, None)
    """
    ASSURANCE.check(probability, "probability")
    room = (difference / float(ndtri(probability))) ** 2 - data_sd**2
    needed = partition_sd**2 / room if room > 0 else np.inf
    return max(1, ceil(needed - 1e-9)) if needed < np.inf else None


def outlook(
    p_better: float, difference: float, partition_variance: float, data_variance: float, n: int
) -> dict[str, Any]:
    """Whether the order of a pair is decided after n iterations, and how many would decide it."""
    whole = partition_variance / n + data_variance
    sds = partition_variance**0.5, data_variance**0.5
    return {
        "partition_share": partition_variance / n / whole if whole else 0.0,
        "decided": max(p_better, 1 - p_better) >= KEPT,
        "iterations_needed": iterations_needed(difference, *sds, KEPT),
    }


def other_seed_probability(
    difference: float, partition_sd: float, iterations: int, canonical: int
) -> float:
    r"""Probability that a run with another seed reverses the order of two learners.

    A run of c iterations (``canonical``), given the mean difference d of n on the same data, is

    .. math:: t_{n - 1}\Big(d,\; \tau^2 \Big(\frac1c + \frac1n\Big)\Big)

    for normal differences of iterations, of standard deviation :math:`\tau`; NaN for n = 1.

    Examples
    --------
    >>> round(other_seed_probability(0.01, 0.01, 30, 1), 3)
    0.167
    """
    spread = partition_sd * np.sqrt(1 / canonical + 1 / iterations)
    if not spread:
        return 0.0 if difference else 0.5
    return float(stdtr(iterations - 1, -abs(difference) / spread))
