r"""Simulated AUC estimates of the best of m classifiers, for scores of any distribution.

``exact.auc`` has the law for binormal scores; here positives and negatives have any score
distributions F+ and F-. All classifiers are alike, and their scores of an item share a reference
score of the item through a Gaussian copula, as in Sec. 5.3.1 of Møllersen & Holsbø (arXiv
2303.07272): within each class

.. math:: s_{ij} = F^{-1}(u_{ij}), \quad u_{ij} = \Phi(r z_i + \sqrt{1 - r^2}\, e_{ij})

with z and e standard normal. The estimate counts pairs of a positive and a negative, ties
as a half.

Every item of every classifier is drawn, and no law is approximated. Only the scores of the smaller
class are computed: for a score t of it, an item of the other class lies below t if its u is at most
F(t-) and not above t if its u is at most F(t), so that the other class can be counted in u, or for
r > 0 in normal scores, as it was drawn. ``tests/auc/test_simulate.py`` counts pairs of scores.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.auc.moments import checked_size
from bayes_sota.auc.score_distributions import (
    ScoreDistribution,
    check_scores,
    probabilities_below,
    shifted_to_auc,
    true_auc,
)
from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import FloatArray

__all__ = ["SimulatedAucMaximum", "simulate_auc_maximum"]

_AT_ONCE = 2**18  # items that are drawn together


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedAucMaximum:
    """Simulated best AUC estimates of identical classifiers.

    Attributes
    ----------
    estimates : ndarray, shape (repetitions,)
        The best of the classifiers' estimates, one for each simulated test set.
    auc_sota : float
        True AUC of every classifier.
    n_positive, n_negative, n_classifiers : int
    correlation : float
        r, of each classifier's normal scores with those of the reference.
    random_seed : int
        Given or drawn; it repeats the result.
    """

    estimates: FloatArray = field(repr=False)
    auc_sota: float
    n_positive: int
    n_negative: int
    n_classifiers: int
    correlation: float
    random_seed: int

    def mean(self) -> float:
        """Expected best estimate."""
        return float(self.estimates.mean())

    def mcse(self) -> float:
        """Monte Carlo standard error of ``mean()`` and of ``bias()``."""
        return self.std() / float(np.sqrt(self.estimates.size))

    def std(self) -> float:
        """Standard deviation of the best estimate."""
        return float(self.estimates.std(ddof=1))

    def std_mcse(self) -> float:
        """Monte Carlo standard error of ``std()``, from the fourth moment."""
        squares = (self.estimates - self.mean()) ** 2
        if not squares.any():
            return 0.0
        return float(squares.std() / (2 * self.std() * np.sqrt(squares.size)))

    def bias(self) -> float:
        """Expected best estimate minus the true AUC."""
        return self.mean() - self.auc_sota

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Share of best estimates of at most ``x``."""
        ordered = np.sort(self.estimates)
        return np.asarray(np.searchsorted(ordered, x, side="right") / ordered.size)

    def cdf_mcse(self, x: ArrayLike) -> FloatArray:
        """Monte Carlo standard error of ``cdf(x)``."""
        below = self.cdf(x)
        return np.asarray(np.sqrt(below * (1 - below) / self.estimates.size))

    def interval(self, prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval."""
        low, high = np.quantile(self.estimates, _tails(prob))
        return float(low), float(high)

    def interval_mcse(self, prob: float = 0.95) -> tuple[float, float]:
        """Monte Carlo standard errors of both limits, from the quantiles one error away."""
        at = np.array(_tails(prob))
        error = np.sqrt(at * (1 - at) / self.estimates.size)
        ends = np.quantile(self.estimates, np.clip([at - error, at + error], 0, 1))
        low, high = (ends[1] - ends[0]) / 2
        return float(low), float(high)

    def to_dict(self, prob: float = 0.95) -> dict[str, Any]:
        """Summary and what it was simulated with, without the estimates themselves."""
        return {
            "auc_sota": self.auc_sota,
            "expected_maximum": self.mean(),
            "mcse": self.mcse(),
            "sd": self.std(),
            "sd_mcse": self.std_mcse(),
            "interval": list(self.interval(prob)),
            "interval_mcse": list(self.interval_mcse(prob)),
            "prob": prob,
            "bias": self.bias(),
            "n_positive": self.n_positive,
            "n_negative": self.n_negative,
            "n_classifiers": self.n_classifiers,
            "correlation": self.correlation,
            "repetitions": self.estimates.size,
            "seed": self.random_seed,
        }


def simulate_auc_maximum(
    positive: ScoreDistribution,
    negative: ScoreDistribution,
    *,
    n_positive: int,
    n_negative: int,
    n_classifiers: int = 1,
    auc: float | None = None,
    correlation: float = 0.0,
    repetitions: int = 1000,
    random_seed: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> SimulatedAucMaximum:
    """Best AUC estimates of classifiers whose scores have any distribution, simulated.

    Exact but for the Monte Carlo error. A repetition with 1,000 classifiers and 3,000 items takes
    about 0.1 s; time grows with each of the three, memory with the number of items alone.

    Parameters
    ----------
    positive, negative : ScoreDistribution
        Scores of the items of each class, the same for every classifier: ``scipy.stats``
        distributions, continuous or discrete, or anything with ``ppf`` and ``cdf``.
    n_positive, n_negative : int
        Test items of each class, at least 2.
    n_classifiers : int
        m; with 1 the law of a single estimate.
    auc : float, optional
        True AUC, in [0.5, 1), to which ``positive`` is shifted; by default it stays as it is.
    correlation : float
        r, in [0, 1): correlation of each classifier's normal scores with those of a reference
        score that every item has, within each class.
    repetitions : int
        Number of test sets, at least 2.
    random_seed : int, optional
        The same seed gives the same result; drawn if None.
    on_progress : callable, optional
        Called with the number of repetitions done.

    Returns
    -------
    SimulatedAucMaximum

    Raises
    ------
    InputError
        Impossible numbers, no distributions, an AUC that no shift gives.

    Examples
    --------
    Durations: exponential scores, positives four times as long, so that the AUC is 4 / (4 + 1).

    >>> from scipy import stats
    >>> best = simulate_auc_maximum(
    ...     stats.expon(scale=4), stats.expon(), n_positive=20, n_negative=100, n_classifiers=50,
    ...     random_seed=1,
    ... )
    >>> round(best.auc_sota, 6), best.estimates.shape
    (0.8, (1000,))
    >>> bool(0.92 < best.mean() < 0.925 and best.mcse() < 0.001)
    True
    """
    for distribution, what in ((positive, "positive"), (negative, "negative")):
        check_scores(distribution, what)
    a, b = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    m = _whole("n_classifiers", n_classifiers, 1)
    size = _whole("repetitions", repetitions, 2)
    if not 0 <= correlation < 1:
        raise InputError(f"correlation must lie in [0, 1), got {correlation:g}")
    seed = _seed(random_seed)
    if auc is not None:
        positive = shifted_to_auc(positive, negative, auc)
    test_set = _TestSet(positive, negative, a, b, float(correlation))
    rng = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // (m * (a + b)))
    best = np.empty(size)
    for start in range(0, size, step):
        stop = min(start + step, size)
        best[start:stop] = test_set.best_estimates(rng, stop - start, m)
        if on_progress is not None:
            on_progress(stop)
    return SimulatedAucMaximum(
        estimates=best, auc_sota=true_auc(positive, negative), n_positive=a, n_negative=b,
        n_classifiers=m, correlation=float(correlation), random_seed=seed,
    )  # fmt: skip


@dataclass(frozen=True)
class _TestSet:
    """Items of both classes, to be scored."""

    positive: ScoreDistribution
    negative: ScoreDistribution
    n_positive: int
    n_negative: int
    correlation: float

    def best_estimates(self, rng: np.random.Generator, size: int, m: int) -> FloatArray:
        """The best of m estimates on each of ``size`` test sets."""
        a, b, r = self.n_positive, self.n_negative, self.correlation
        references = [r * rng.standard_normal((size, 1, n)) if r else None for n in (a, b)]
        best = np.zeros(size)
        rows = max(1, _AT_ONCE // (a + b))
        for start in range(0, m, rows):
            shape = size, min(rows, m - start)
            drawn = [
                self._drawn(rng, reference, (*shape, n))
                for reference, n in zip(references, (a, b), strict=True)
            ]
            best = np.maximum(best, self.estimates(drawn[0], drawn[1]).max(axis=1))
        return best

    def _drawn(
        self, rng: np.random.Generator, reference: FloatArray | None, shape: tuple[int, ...]
    ) -> FloatArray:
        """The items' u where classifiers are independent, else normal scores."""
        if reference is None:
            return rng.random(shape)
        drawn = rng.standard_normal(shape)
        drawn *= (1 - self.correlation**2) ** 0.5
        drawn += reference
        return drawn

    def estimates(self, positive: FloatArray, negative: FloatArray) -> FloatArray:
        """AUC estimates, shape (...), of drawn items, shapes (..., n), sorted in place."""
        a, b = self.n_positive, self.n_negative
        if a <= b:
            twice = self._twice_below(self.positive, positive, self.negative, negative)
        else:
            twice = 2 * a * b - self._twice_below(self.negative, negative, self.positive, positive)
        return np.asarray(twice / (2 * a * b))

    def _twice_below(
        self,
        distribution: ScoreDistribution,
        drawn: FloatArray,
        other_distribution: ScoreDistribution,
        others: FloatArray,
    ) -> Any:
        """Twice the number of pairs in which the other item has the lower score, ties as 1."""
        from scipy.special import ndtr, ndtri

        score = distribution.ppf(ndtr(drawn) if self.correlation else drawn)
        levels = np.concatenate(probabilities_below(other_distribution, score), axis=-1)
        if self.correlation:
            levels = ndtri(levels)
        levels.sort(axis=-1)
        others.sort(axis=-1)
        rows = zip(
            others.reshape(-1, others.shape[-1]),
            levels.reshape(-1, levels.shape[-1]),
            strict=True,
        )
        counts = [int(np.searchsorted(x, level, side="right").sum()) for x, level in rows]
        return np.array(counts).reshape(others.shape[:-1])


def _whole(name: str, value: int, least: int) -> int:
    if not (float(value).is_integer() and value >= least):
        raise InputError(f"{name} must be a whole number of at least {least}, got {value}")
    return int(value)


def _seed(random_seed: int | None) -> int:
    if random_seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    return _whole("random_seed", random_seed, 0)


def _tails(prob: float) -> list[float]:
    OPEN_SHARE.check(prob, "prob")
    return [(1 - prob) / 2, (1 + prob) / 2]
