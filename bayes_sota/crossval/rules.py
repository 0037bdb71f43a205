r"""When repeated cross-validation may stop: rules on the iterations so far.

Raeder, Hoens and Chawla (2010), Section V, have a fixed number of iterations; Spearman's
correlation of successive running means of the items' predicted probabilities, their recommendation;
and the Kolmogorov-Smirnov distance between the scores of the even and of the odd iterations. Each
looks at one learner. A Bayesian rule looks at the order of all learners.
``tests/crossval/test_rules.py`` compares statistics with SciPy's, Spearman's rule with the
iteration that its expansion predicts; ``test_posterior_rule.py`` the Bayesian rule with the
correlated t.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import ASSURANCE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.crossval.correlated_t import partition_share, running_posteriors
from bayes_sota.crossval.fold_scores import FoldScores

if TYPE_CHECKING:
    from bayes_sota.crossval.run import CrossValidation

_PARTITION_PART = 0.2  # of the sd of a difference, for which repetition is not worth its time
type Probabilities = FloatArray | Sequence[FloatArray] | None
"""Per data set (learner, iteration, item); one array where there is one data set."""


@dataclass(frozen=True, eq=False)
class Progress:
    """Iterations of one learner on one data set, in their order, without those that failed.

    Attributes
    ----------
    scores : ndarray, shape (n_iterations, n_folds)
        As many columns as scores are known of an iteration.
    probabilities : ndarray, shape (n_iterations, n_items), or None
        NaN where an item has none.
    numbers : ndarray of int, shape (n_iterations,)
        Of the iterations, as all learners have them.
    folds : int
        k of the partitions.
    """

    scores: FloatArray
    probabilities: FloatArray | None
    numbers: IntArray
    folds: int

    @cached_property
    def means(self) -> FloatArray:
        """Mean over folds of each iteration."""
        return self.scores.mean(axis=1)

    @cached_property
    def correlations(self) -> FloatArray:
        """``successive_correlations`` of the probabilities."""
        if self.probabilities is None:
            raise InputError("Spearman's rule needs the predicted probability of every item")
        return successive_correlations(self.probabilities) if self.numbers.size else np.zeros(0)


def fixed(row: Sequence[Progress], threshold: float) -> list[BoolArray]:
    """So many iterations, whatever they give."""
    return [np.arange(1, one.means.size + 1) >= threshold for one in row]


def spearman(row: Sequence[Progress], threshold: float) -> list[BoolArray]:
    r"""One more iteration hardly changes the order of the items.

    Spearman's rank correlation of the items' running mean probabilities after :math:`n - 1` and
    after :math:`n` iterations is at least the threshold. With :math:`\sigma_w` the standard
    deviation of one item's probability over iterations and :math:`\sigma_b` that over items,

    .. math:: 1 - r \approx \frac{3 \sigma_w^2}{\sqrt{3} \, \pi \, n^2 \sigma_b^2}

    for normal ones, so the number of iterations grows with :math:`1 / \sqrt{1 - t}`, and ten times
    the strictness costs three times the iterations. It looks at no score. The source recommends
    1 - 1e-4; 1 - 1e-3 stops early, and 1 - 1e-5 may not stop.
    """
    return [one.correlations >= threshold - 1e-14 for one in row]


def kolmogorov_smirnov(row: Sequence[Progress], threshold: float) -> list[BoolArray]:
    r"""The scores of even and of odd iterations are distributed alike.

    .. math:: D = \sup_x |F_{odd}(x) - F_{even}(x)| < t

    Without ties :math:`D` is at least 1 over the length of the longer half, so that the rule
    takes at least :math:`2 \lfloor 1/t \rfloor + 1` iterations: 21 for .1 and 11 for .2. Where
    scores tie it may hold sooner.
    """
    return [even_odd_distances(one.means) < threshold for one in row]


def posterior(row: Sequence[Progress], threshold: float) -> list[BoolArray]:
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
    iterations in 10 % (``tests/crossval/test_posterior_rule.py``).
    """
    from scipy.special import chdtri

    completed = reduce(np.intersect1d, [one.numbers for one in row])
    shared = [np.isin(one.numbers, completed) for one in row]
    scores = np.stack([one.scores[kept] for one, kept in zip(row, shared, strict=True)])
    a, b = np.triu_indices(len(row), 1)
    p, partitions, data = running_posteriors(scores[a] - scores[b], row[0].folds)
    df = np.arange(completed.size)
    bound = np.divide(df, chdtri(df, threshold), out=np.full(df.size, np.inf), where=df > 0)
    share = partition_share(bound * partitions, data)
    sure = np.maximum(p, 1 - p) >= threshold
    settled = (sure | (share <= _PARTITION_PART**2) | (data == 0)).all(axis=0)
    settled = np.concatenate([[False], settled])
    settled[:2] = False
    return [settled[np.cumsum(kept)] for kept in shared]


class _Kind(NamedTuple):
    held: Callable[[Sequence[Progress], float], list[BoolArray]]
    threshold: float
    thresholds: Range
    words: str


RULES = {
    "spearman": _Kind(spearman, 1 - 1e-4, Range(0.9, 1.0), "Spearman {:.8g}"),
    "ks": _Kind(kolmogorov_smirnov, 0.2, Range(1e-6, 1.0), "Kolmogorov-Smirnov {:g}"),
    "posterior": _Kind(posterior, 0.95, ASSURANCE, "posterior {:g}"),
    "fixed": _Kind(fixed, 10, Range(1, 10**6, whole=True), "fixed {:.0f}"),
}
"""By name: for which learners of a data set a rule holds after each iteration, and its default."""


@dataclass(frozen=True)
class Rule:
    """A stopping rule with its threshold.

    Parameters
    ----------
    kind : {"spearman", "ks", "posterior", "fixed"}
    threshold : float, optional
        A correlation, a distance, a probability, or a number of iterations. Default: that of the
        kind, 1 - 1e-4, .2, .95 and 10.

    Raises
    ------
    InputError
        Another kind, or a threshold that it cannot have.

    Examples
    --------
    >>> Rule("ks", 0.1).name, Rule("ks", 0.1).least, Rule("spearman").name
    ('Kolmogorov-Smirnov 0.1', 21, 'Spearman 0.9999')
    """

    kind: str
    threshold: float = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Check both."""
        if self.kind not in RULES:
            raise InputError(f"rule is one of {', '.join(RULES)}, got {shown(self.kind)}")
        _, default, thresholds, _ = RULES[self.kind]
        given = default if self.threshold is None else self.threshold
        if thresholds.whole and isinstance(given, float) and given.is_integer():
            given = int(given)
        object.__setattr__(self, "threshold", thresholds.check(given, "threshold"))

    @property
    def name(self) -> str:
        """Its name with its threshold."""
        return RULES[self.kind].words.format(self.threshold)

    @property
    def needs_probabilities(self) -> bool:
        """Whether it looks at the items' probabilities."""
        return self.kind == "spearman"

    @property
    def least(self) -> int:
        """Iterations before which it cannot hold, unless scores tie."""
        if self.kind == "fixed":
            return int(self.threshold)
        if self.kind == "ks":
            half = int(1 / self.threshold)
            return max(2 * (half + (1 / half >= self.threshold)) - 1, 2)
        return 2

    def held(self, row: Sequence[Progress]) -> list[BoolArray]:
        """Whether it holds for each of the learners of a data set after each iteration."""
        return RULES[self.kind].held(row, self.threshold)

    def stops(self, row: Sequence[Progress]) -> list[int]:
        """Iterations after which each learner of a data set stops, 0 for never."""
        return [int(np.argmax(held)) + 1 if held.any() else 0 for held in self.held(row)]

    def __call__(self, runs: "CrossValidation") -> bool:
        """Whether it holds for every learner after the newest iteration of one data set."""
        if self.kind == "fixed":  # iterations in which a learner failed count as well
            return bool(runs.fold_scores.scores.shape[2] >= self.threshold)
        items = runs.probabilities if self.needs_probabilities else None
        (row,) = progress_of(runs.fold_scores, items)
        return all(one.means.size for one in row) and all(held[-1] for held in self.held(row))


def successive_correlations(probabilities: ArrayLike) -> FloatArray:
    """Spearman's correlation of the running means after every iteration and the one before.

    Parameters
    ----------
    probabilities : array-like, shape (n_iterations, n_items)
        NaN where an item has none: its mean is that of the others. Items that the first iteration
        lacks take no part.

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
    values = probability[:, np.isfinite(probability[:1]).any(axis=0)]
    if not values.size:
        raise InputError("no item has a predicted probability in the first iteration")
    known = np.isfinite(values)
    means = np.where(known, values, 0.0).cumsum(axis=0) / known.cumsum(axis=0)
    # Equal means differ in their last bits by the order of the sum: they are ties.
    mantissa, power = np.frexp(means)
    ranks = rankdata(np.ldexp(np.round(mantissa, 12), power), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    squares = (ranks**2).sum(axis=1)
    product, scale = (ranks[1:] * ranks[:-1]).sum(axis=1), np.sqrt(squares[1:] * squares[:-1])
    correlations = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
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
) -> list[list[Progress]]:
    """Progress of every learner on every data set.

    Parameters
    ----------
    scores : FoldScores
    probabilities : ndarray or sequence of ndarray, optional
    order : array-like of int, optional
        Order of the iterations; default as they came.
    """
    means = scores.iteration_means()
    places = np.arange(means.shape[2]) if order is None else np.asarray(order)
    known, items = np.isfinite(means)[..., places], _per_task(scores, probabilities)
    return [
        [
            Progress(scores.scores[t, j, at], None if of is None else of[j, at], at, scores.folds)
            for j, at in enumerate(places[kept] for kept in known[t])
        ]
        for t, of in enumerate(items)
    ]


def _per_task(scores: FoldScores, probabilities: Probabilities) -> Sequence[FloatArray | None]:
    """Probabilities of every data set, None where they are not known."""
    tasks = len(scores.tasks)
    if probabilities is None:
        return [None] * tasks
    one = isinstance(probabilities, np.ndarray) and probabilities.ndim == 3
    parts = [np.asarray(of, np.float64) for of in ([probabilities] if one else probabilities)]
    size = scores.scores.shape[1:3]
    if len(parts) != tasks or any(of.ndim != 3 or of.shape[:2] != size for of in parts):
        raise InputError(
            f"probabilities of each of {tasks} data sets have the shape (learners, iterations, "
            f"items) with {size[0]} learners and {size[1]} iterations, got "
            f"{', '.join(str(of.shape) for of in parts)}"
        )
    return parts


def stopping_iterations(
    rule: Rule,
    scores: FoldScores,
    probabilities: Probabilities = None,
    order: ArrayLike | None = None,
) -> IntArray:
    """Give the number of iterations after which a rule stops every learner on every data set.

    Parameters
    ----------
    rule : Rule
    scores : FoldScores
    probabilities : ndarray, shape (n_learners, n_iterations, n_items), or one per data set
        For Spearman's rule.
    order : array-like of int, optional
        Order of the iterations; default as they came.

    Returns
    -------
    ndarray of int, shape (n_tasks, n_learners)
        0 where the iterations end before the rule holds.

    Examples
    --------
    >>> scores = FoldScores(np.random.default_rng(0).normal(0.9, 0.01, (2, 40, 10)))
    >>> stopping_iterations(Rule("fixed", 10), scores)
    array([[10, 10]])
    """
    progress = progress_of(scores, probabilities if rule.needs_probabilities else None, order)
    return np.array([rule.stops(row) for row in progress])
