r"""When repeated cross-validation may stop: rules on the iterations so far.

Three rules of Raeder, Hoens and Chawla (2010), Section V: a fixed number of iterations; Spearman's
correlation of successive running means of the items' predicted probabilities, their recommendation;
the Kolmogorov-Smirnov distance between the scores of the even and of the odd iterations. Their text
leaves open whether learners stop together: each alone is the default, as they count iterations
"for each classifier". A Bayesian rule is about the order of the learners, which stop together.
``tests/crossval/test_rules.py`` compares statistics with SciPy's and Spearman's rule with the
iteration that its expansion predicts; ``test_posterior_rule.py`` the last with the correlated t.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, ClassVar

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

_ITERATIONS = Range(1, 10**6, whole=True)
ALL, NEWEST = slice(None), slice(-1, None)
_FIRST_LOOK = 16  # iterations; rules of one learner stop before, mostly
_PARTITION_PART = 0.2  # of the sd of a difference, for which repetition is not worth its time
type Probabilities = FloatArray | Sequence[FloatArray] | None
"""Per data set (learner, iteration, item); one array where there is one data set."""


@dataclass(frozen=True, eq=False)
class Progress:
    """Iterations of one learner on one data set, in their order, without those that failed.

    Attributes
    ----------
    scores : ndarray, shape (n_iterations,)
    probabilities : ndarray, shape (n_iterations, n_items), or None
        NaN where an item has none.
    fold_scores : ndarray, shape (n_iterations, n_folds)
        As many columns as scores are known of an iteration.
    numbers : ndarray of int, shape (n_iterations,)
        Of the iterations, as all learners have them.
    folds : int
        k of the partitions.
    """

    scores: FloatArray
    probabilities: FloatArray | None
    fold_scores: FloatArray
    numbers: IntArray
    folds: int
    _known: dict[tuple[int, int], FloatArray] = field(default_factory=dict, repr=False)

    def counts(self, span: slice) -> IntArray:
        """Iterations after which a rule is asked, of all numbers from 1."""
        return np.arange(1, len(self.scores) + 1)[span]

    def correlations(self, span: slice) -> FloatArray:
        """Successive correlations after these iterations, which several thresholds share."""
        if self.probabilities is None:
            raise InputError("Spearman's rule needs the predicted probability of every item")
        counts = self.counts(span)
        ends = int(counts.max(initial=0)), counts.size
        if ends not in self._known:
            self._known[ends] = successive_correlations(self.probabilities[: ends[0]], counts.size)
        return self._known[ends]


class Rule(ABC):
    """A stopping rule: a small frozen class with a ``name`` and ``decided``."""

    needs_probabilities = False
    adapts = True

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name with its threshold."""

    @property
    def least(self) -> int:
        """Iterations before which it cannot hold, unless scores tie."""
        return 2

    @abstractmethod
    def holds(self, progress: Progress, span: slice = ALL) -> BoolArray:
        """Whether it holds for a learner after each of these iterations."""

    def held(self, row: Sequence[Progress], span: slice = ALL) -> list[BoolArray]:
        """Whether it holds for each of the learners of a data set."""
        return [self.holds(progress, span) for progress in row]

    def stops(self, row: Sequence[Progress]) -> list[int]:
        """Iterations after which each learner of a data set stops, 0 for never."""
        return [self._stop(progress) for progress in row]

    def _stop(self, progress: Progress) -> int:
        """Of a rule that looks at no other learner; what follows the stop is not computed."""
        first, last = 0, _FIRST_LOOK
        while first < len(progress.scores):
            if stop := _first(self.holds(progress, slice(first, last))):
                return first + stop
            first, last = last, 3 * last
        return 0

    def decided(self, runs: "CrossValidation") -> bool:
        """Whether it holds for every learner after the newest iteration.

        Parameters
        ----------
        runs : CrossValidation
            One data set, iterations in the order in which they ran.
        """
        items = runs.probabilities if self.needs_probabilities else None
        of_tasks = progress_of(runs.fold_scores, items)
        started = all(progress.scores.size for row in of_tasks for progress in row)
        return started and all(
            bool(held[-1]) for row in of_tasks for held in self.held(row, NEWEST)
        )


class _ThresholdRule(Rule):
    """A rule whose threshold lies in a range, and stands in its name."""

    threshold: float
    thresholds: ClassVar[Range]
    words: ClassVar[str]

    def __post_init__(self) -> None:
        self.thresholds.check(self.threshold, "threshold")

    @property
    def name(self) -> str:
        return self.words.format(self.threshold)


@dataclass(frozen=True)
class FixedNumber(Rule):
    """Stop after a fixed number of iterations, whatever they give.

    Parameters
    ----------
    iterations : int

    Examples
    --------
    >>> FixedNumber(50).name
    'fixed 50'
    """

    iterations: int = 10
    adapts = False

    def __post_init__(self) -> None:
        """Check the number."""
        _ITERATIONS.check(self.iterations, "iterations")

    @property
    def name(self) -> str:
        return f"fixed {self.iterations}"

    @property
    def least(self) -> int:
        return self.iterations

    def holds(self, progress: Progress, span: slice = ALL) -> BoolArray:
        return progress.counts(span) >= self.iterations

    def decided(self, runs: "CrossValidation") -> bool:
        """Whether there are so many iterations; those in which a learner failed count as well."""
        return bool(runs.fold_scores.scores.shape[2] >= self.iterations)


@dataclass(frozen=True)
class SpearmanRule(_ThresholdRule):
    r"""Stop when one more iteration hardly changes the order of the items.

    Spearman's rank correlation of the items' running mean probabilities after :math:`n - 1` and
    after :math:`n` iterations is at least the threshold. With :math:`\sigma_w` the standard
    deviation of one item's probability over iterations and :math:`\sigma_b` that over items,

    .. math:: 1 - r \approx \frac{3 \sigma_w^2}{\sqrt{3} \, \pi \, n^2 \sigma_b^2}

    for normal ones, so the number of iterations grows with :math:`1 / \sqrt{1 - t}`, and ten times
    the strictness costs three times the iterations. It looks at no score.

    Parameters
    ----------
    threshold : float
        Default 1 - 1e-4, the recommendation; 1 - 1e-3 stops early, and 1 - 1e-5 may not stop.

    Examples
    --------
    >>> SpearmanRule().name, SpearmanRule(1 - 1e-3).name
    ('Spearman 0.9999', 'Spearman 0.999')
    """

    threshold: float = 1 - 1e-4
    thresholds = Range(0.9, 1.0)
    words = "Spearman {:.8g}"
    needs_probabilities = True

    def holds(self, progress: Progress, span: slice = ALL) -> BoolArray:
        return progress.correlations(span) >= self.threshold - 1e-14


@dataclass(frozen=True)
class KolmogorovSmirnovRule(_ThresholdRule):
    r"""Stop when the scores of even and of odd iterations are distributed alike.

    .. math:: D = \sup_x |F_{odd}(x) - F_{even}(x)| < t

    Without ties :math:`D` is at least 1 over the length of the longer half, so that the rule
    takes at least :math:`2 \lfloor 1/t \rfloor + 1` iterations: 21 for .1 and 11 for .2. Where
    scores tie it may hold sooner.

    Parameters
    ----------
    threshold : float
        Default .2; the source tries .1 as well.

    Examples
    --------
    >>> KolmogorovSmirnovRule(0.1).least, KolmogorovSmirnovRule(0.2).least
    (21, 11)
    """

    threshold: float = 0.2
    thresholds = Range(1e-6, 1.0)
    words = "Kolmogorov-Smirnov {:g}"

    @property
    def least(self) -> int:
        half = int(1 / self.threshold)
        half += 1 / half >= self.threshold
        return max(2 * half - 1, 2)

    def holds(self, progress: Progress, span: slice = ALL) -> BoolArray:
        distances = [even_odd_distance(progress.scores[:n]) for n in progress.counts(span)]
        return np.array(distances) < self.threshold


@dataclass(frozen=True)
class PosteriorRule(_ThresholdRule):
    r"""Stop when every ordering is decided, or when partitions hardly matter any more.

    The learners of a data set stop together; iterations count that all of them completed. A pair of
    them is settled where

    - P(A better), by the correlated Student t, is at least ``threshold`` or at most 1 - threshold;
    - or the standard deviation that partitions still cause is at most 0.2 of the whole one (with
      that the noise of partitions widens an interval by 2 %): the rest is the size of the data,
      which repetition cannot remove. Of n iterations the variance :math:`\tau^2` between them is
      known to n - 1 degrees of freedom, and two may agree by chance, so that its upper bound
      :math:`(n - 1) \hat\tau^2 / \chi^2_{n - 1, 1 - p}` counts, with p the ``threshold``.

    Parameters
    ----------
    threshold : float
        Probability of the ordering, above 1/2.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.05, (2, 40, 10))
    >>> rule = PosteriorRule()
    >>> [int(stopping_iterations(rule, FoldScores(noise + [[[gap]], [[0]]])).max())
    ...  for gap in (0.2, 0.0)]
    [2, 37]
    """

    threshold: float = 0.95
    thresholds = ASSURANCE
    words = "posterior {:g}"

    def holds(self, progress: Progress, span: slice = ALL) -> BoolArray:
        """One learner alone has no order that could be open."""
        return self.held([progress], span)[0]

    def stops(self, row: Sequence[Progress]) -> list[int]:
        return [_first(held) for held in self.held(row)]

    def held(self, row: Sequence[Progress], span: slice = ALL) -> list[BoolArray]:
        completed = reduce(np.intersect1d, [progress.numbers for progress in row])
        shared = [np.isin(progress.numbers, completed) for progress in row]
        common = np.stack([one.fold_scores[kept] for one, kept in zip(row, shared, strict=True)])
        settled = np.concatenate([[False], self.settled(common, row[0].folds)])
        settled[: self.least] = False
        return [settled[np.cumsum(kept)][span] for kept in shared]

    def settled(self, scores: FloatArray, folds: int) -> BoolArray:
        """Whether every pair of learners is settled after each iteration.

        Scores have the shape (n_learners, n_iterations, n_folds).
        """
        from scipy.special import chdtri

        a, b = np.triu_indices(len(scores), 1)
        p, partitions, data = running_posteriors(scores[a] - scores[b], folds)
        df = np.arange(scores.shape[1])
        bound = np.divide(
            df, chdtri(df, self.threshold), out=np.full(df.size, np.inf), where=df > 0
        )
        share = partition_share(bound * partitions, data)
        sure = np.maximum(p, 1 - p) >= self.threshold
        settled = sure | (share <= _PARTITION_PART**2) | (data == 0)
        return settled.all(axis=0)


RULES: dict[str, Callable[..., Rule]] = {
    "spearman": SpearmanRule,
    "ks": KolmogorovSmirnovRule,
    "posterior": PosteriorRule,
    "fixed": FixedNumber,
}
"""Rules by their names, for people who run cross-validation and for those who judge its runs."""


def named_rule(name: str, threshold: float | None = None) -> Rule:
    """Give a rule by its name: spearman, ks, posterior or fixed.

    Parameters
    ----------
    name : str
    threshold : float, optional
        A correlation, a distance, a probability, or a number of iterations. Default: that of the
        rule.

    Raises
    ------
    InputError
        Another name, or a threshold that the rule cannot have.

    Examples
    --------
    >>> named_rule("ks", 0.1).name, named_rule("fixed", 30.0).name
    ('Kolmogorov-Smirnov 0.1', 'fixed 30')
    """
    if name not in RULES:
        raise InputError(f"rule is one of {', '.join(RULES)}, got {shown(name)}")
    if threshold is None:
        return RULES[name]()
    whole = name == "fixed" and threshold % 1 == 0
    return RULES[name](int(threshold) if whole else threshold)


def successive_correlations(probabilities: ArrayLike, newest: int | None = None) -> FloatArray:
    """Spearman's correlation of the running means after every iteration and the one before.

    Parameters
    ----------
    probabilities : array-like, shape (n_iterations, n_items)
        NaN where an item has none: its mean is that of the others. Items that the first iteration
        lacks take no part.
    newest : int, optional
        Only for so many of the last iterations.

    Returns
    -------
    ndarray, shape (n_iterations,) or (newest,)
        NaN for the first iteration. Orders that are equal correlate at 1, even where all items tie.

    Examples
    --------
    >>> successive_correlations([[0.1, 0.2, 0.9], [0.2, 0.1, 0.9], [0.1, 0.3, 0.8]]).round(3)
    array([  nan, 0.866, 0.866])
    """
    from scipy.stats import rankdata

    probability = np.asarray(probabilities, np.float64)
    values = np.compress(np.isfinite(probability[:1]).any(axis=0), probability, axis=1)
    if not values.size:
        raise InputError("no item has a predicted probability in the first iteration")
    first = len(values) - (newest or len(values))
    known, before = np.isfinite(values), max(first - 1, 0)
    sums, counts = (
        np.concatenate([part[: before + 1].sum(0, keepdims=True), part[before + 1 :]]).cumsum(0)
        for part in (np.where(known, values, 0.0), known.astype(np.float64))
    )
    # Equal means differ in their last bits by the order of the sum: they are ties.
    mantissa, power = np.frexp(sums / counts)
    ranks = rankdata(np.ldexp(np.round(mantissa, 12), power), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    squares = (ranks**2).sum(axis=1)
    product, scale = (ranks[1:] * ranks[:-1]).sum(axis=1), np.sqrt(squares[1:] * squares[:-1])
    correlations = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
    correlations[(ranks[1:] == ranks[:-1]).all(axis=1)] = 1.0
    return np.concatenate([[np.nan], correlations]) if first == 0 else correlations


def even_odd_distance(scores: ArrayLike) -> float:
    """Kolmogorov-Smirnov distance between the scores of odd and of even iterations.

    Parameters
    ----------
    scores : array-like, shape (n_iterations,)

    Returns
    -------
    float
        1 where there are fewer than two.

    Examples
    --------
    >>> even_odd_distance([0.1, 0.2, 0.3, 0.4])
    0.5
    """
    values = np.asarray(scores, np.float64)
    odd, even = np.sort(values[::2]), np.sort(values[1::2])
    if not even.size:
        return 1.0
    below_odd, below_even = (np.searchsorted(half, values, side="right") for half in (odd, even))
    # Whole numbers until the end: 3/10 - 2/10 is below .1 in floating point.
    gap = np.abs(below_odd * even.size - below_even * odd.size).max()
    return float(gap / (odd.size * even.size))


def progress_of(
    scores: FoldScores,
    probabilities: Probabilities = None,
    order: ArrayLike | None = None,
) -> list[list[Progress]]:
    """Progress of every learner on every data set, as lists of lists.

    Parameters
    ----------
    scores : FoldScores
    probabilities : ndarray or sequence of ndarray, optional
    order : array-like of int, optional
        Order of the iterations; default as they came.
    """
    means = scores.iteration_means()
    places = np.arange(means.shape[2]) if order is None else np.asarray(order)
    items, progress = _per_task(scores, probabilities), []
    for row, of, scored in zip(means, items, scores.scores, strict=True):
        kept = [places[np.isfinite(one[places])] for one in row]
        progress.append(
            [
                Progress(
                    row[j, at], None if of is None else of[j, at], scored[j, at], at, scores.folds
                )
                for j, at in enumerate(kept)
            ]
        )
    return progress


def _per_task(scores: FoldScores, probabilities: Probabilities) -> list[FloatArray | None]:
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
    return list(parts)


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
    >>> stopping_iterations(FixedNumber(10), scores)
    array([[10, 10]])
    """
    progress = progress_of(scores, probabilities if rule.needs_probabilities else None, order)
    return np.array([rule.stops(row) for row in progress])


def _first(held: BoolArray) -> int:
    """Iterations after which a rule held first, 0 for never."""
    return int(np.argmax(held)) + 1 if held.any() else 0
