r"""Probability that "A outperforms B" is false, from two reported means of cases (Dice).

.. math:: P(\mu_A \le \mu_B) = T_{n-1}\Big(\sqrt n\,
          \frac{\hat\mu_B - \hat\mu_A}{\sqrt{s_A^2 + s_B^2 - 2 r s_A s_B}}\Big)

with the Student cdf (*Claims Reloaded*, after Christodoulou et al. 2025, arXiv 2505.04720; its
text says quantile). The correlation r between the two methods' cases is hardly ever reported:
known, or averaged over a prior. ``tests/claims/test_means.py`` compares with SciPy's
paired t test and with quadrature.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from bayes_sota.claims.accuracies import checked_pair
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_NODES = 64
_LAST = 0.95  # correlation of a curve; at 1 nothing may be left to chance


def imputed_sd(mean: ArrayLike) -> FloatArray:
    """Standard deviation of cases from their mean, ``2/3 mean (1 - mean)``: a rule of thumb.

    The literature uses a polynomial of second order, whose coefficients are not known.

    Examples
    --------
    >>> imputed_sd([0.8, 0.9]).round(3).tolist()
    [0.107, 0.06]
    """
    values = np.asarray(mean, np.float64)
    return 2 / 3 * values - 2 / 3 * values**2


def spreads_of(mean_a: FloatArray, mean_b: FloatArray, sd: Any) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of A's and of B's cases: a pair that was given, or imputed."""
    if sd is None:
        return imputed_sd(mean_a), imputed_sd(mean_b)
    if not hasattr(sd, "__len__") or len(sd) != 2:
        raise InputError(f"sd is a pair, of A and of B, got {sd!r}")
    return np.asarray(sd[0], np.float64), np.asarray(sd[1], np.float64)


def false_claim_probability_of_means(
    mean_a: ArrayLike,
    mean_b: ArrayLike,
    n_test: ArrayLike,
    *,
    sd: tuple[ArrayLike, ArrayLike] | None = None,
    correlation: ArrayLike | None = None,
    correlation_range: tuple[float, float] = (0.0, 1.0),
    sd_difference: ArrayLike | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Any:
    """Probability that B is at least as good as A, although A has the better mean.

    Parameters
    ----------
    mean_a, mean_b : array_like
        Reported means of the winner and of the other; broadcast.
    n_test : array_like of int
        Number of cases.
    sd : (sd of A, sd of B), optional
        A pair, each a number or an array that broadcasts with the means. Where neither these nor
        ``sd_difference`` are reported they are imputed: ``2/3 mean (1 - mean)``, for metrics in
        [0, 1]; .11 at a mean of .8, .06 at .9, a rule of thumb for Dice scores that vanishes at 0
        and 1. The source imputes by another polynomial of second order, whose coefficients are not
        known.
    correlation : array_like, optional
        Correlation of the two methods' cases. Default: averaged, uniform over
        ``correlation_range``.
    correlation_range : (float, float)
    sd_difference : array_like, optional
        Standard deviation of the differences of cases, where it is known.
    bounds : (float, float), optional
        Range of a case; None for an unbounded metric.

    Returns
    -------
    ndarray or float

    Raises
    ------
    InputError
        A below B, standard deviations that are negative or impossible for a bounded mean,
        correlations outside [-1, 1], fewer than two cases.

    Examples
    --------
    >>> round(float(false_claim_probability_of_means(
    ...     0.81, 0.80, 100, sd=(0.1, 0.1), correlation=0.7)), 3)
    0.1
    """
    low, high = bounds or (-np.inf, np.inf)
    limits = f"a mean lies between {low:g} and {high:g}, the range of a case"
    a, b, n = checked_pair(mean_a, mean_b, n_test, "mean", (low, high), limits)
    if sd_difference is not None:
        known = np.asarray(sd_difference, np.float64)
        if not np.all((known > 0) & np.isfinite(known)):
            raise InputError(
                f"{{name}} must be positive, got {sd_difference!r}", parameter="sd_difference"
            )
        if correlation is not None:
            raise InputError(
                "{name} says all: give it, or sd and correlation", parameter="sd_difference"
            )
        return _plain(_probability(b - a, n, known))
    if sd is None and bounds != (0.0, 1.0):
        raise InputError(
            "give the standard deviations of both methods, or {name}: they are imputed for metrics "
            "in [0, 1] only",
            parameter="sd_difference",
        )
    first, second = spreads_of(a, b, sd)
    _check_spreads(a, first, n, bounds)
    _check_spreads(b, second, n, bounds)
    nodes = correlation_nodes(correlation, correlation_range)
    each = (w * _probability(b - a, n, spread_of_differences(first, second, r)) for r, w in nodes)
    return _plain(sum(each))


def correlation_nodes(
    correlation: ArrayLike | None, ends: tuple[float, float]
) -> list[tuple[FloatArray, float]]:
    """Correlations that are assumed, and their probabilities: the known one, or between ends."""
    if correlation is not None:
        r = np.asarray(correlation, np.float64)
        if not np.all((r >= -1) & (r <= 1)):
            raise InputError(f"correlation must lie in [-1, 1], got {correlation!r}")
        return [(r, 1.0)]
    low, high = ends
    if not -1 <= low < high <= 1:
        raise InputError(f"correlation_range must lie in [-1, 1], increasing, got {(low, high)}")
    x, w = np.polynomial.legendre.leggauss(_NODES)
    return list(zip(low + (high - low) * (x + 1) / 2, (w / 2).tolist(), strict=True))


@dataclass(frozen=True)
class ReportedMeans:
    """Two reported means of the same cases, and what is known of how the cases vary.

    Parameters
    ----------
    mean_a, mean_b, n_test : float, float, int
    sd, correlation, correlation_range, sd_difference, bounds
        As in ``false_claim_probability_of_means``, which checks them; one claim.

    Examples
    --------
    >>> claim = ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1))
    >>> round(claim.p_false(), 3), round(claim.p_false(correlation=0.7), 3)
    (0.141, 0.1)
    """

    mean_a: float
    mean_b: float
    n_test: int
    _: KW_ONLY
    sd: Any = None
    correlation: float | None = None
    correlation_range: tuple[float, float] = (0.0, 1.0)
    sd_difference: float | None = None
    bounds: tuple[float, float] | None = (0.0, 1.0)

    unknown: ClassVar[Literal["correlation"]] = "correlation"

    def p_false(self, **changes: Any) -> Any:
        """Probability that B is at least as good as A, also where something else is known."""
        return false_claim_probability_of_means(**{**vars(self), **changes})

    def by_size(self, n_test: ArrayLike, **changes: Any) -> Any:
        """The same on other numbers of cases, means and spreads kept."""
        # which were checked at the real size
        return self.p_false(n_test=n_test, sd=tuple(self.spreads), bounds=None, **changes)

    @property
    def imputed(self) -> bool:
        """Whether nothing is known of how the cases vary."""
        return self.sd is None and self.sd_difference is None

    @property
    def spreads(self) -> list[float]:
        """Standard deviations of A's and of B's cases."""
        means = np.asarray(self.mean_a), np.asarray(self.mean_b)
        return [float(sd) for sd in spreads_of(*means, self.sd)]

    def curve(self, points: int) -> FloatArray:
        """Correlations and probabilities, (points, 2); none where nothing is unknown."""
        if self.sd_difference is not None:
            return np.empty((0, 2))
        low, high = self.correlation_range
        last = min(high, _LAST) if low < _LAST else high
        grid = np.linspace(low, last, points)
        return np.column_stack([grid, self.p_false(correlation=grid)])

    def needed(self, level: float) -> float | None:
        r"""Least correlation at which the claim is false with probability ``level`` at most.

        With :math:`d = \sqrt n\, (\hat\mu_A - \hat\mu_B) / T_{n-1}^{-1}(1 - level)`, the largest
        standard deviation of the differences, :math:`r = (s_A^2 + s_B^2 - d^2) / (2 s_A s_B)`, or
        the least correlation that is averaged over; None where that is above 1.
        """
        if self.sd_difference is not None:
            return None
        (first, second), low = self.spreads, self.correlation_range[0]
        if self.p_false(correlation=low) <= level:
            return low
        if self.mean_a == self.mean_b or not first * second:
            return None
        most = np.sqrt(self.n_test) * (self.mean_a - self.mean_b) / -stdtrit(self.n_test - 1, level)
        needed = float((first**2 + second**2 - most**2) / (2 * first * second))
        return needed if needed < 1 else None

    def draw(self, draws: int, rng: np.random.Generator) -> dict[str, FloatArray]:
        r"""Posterior draws, each of shape (draws,).

        With s the standard deviation of the differences of cases that a draw's correlation gives,

        .. math:: \hat d \mid d, \sigma \sim N(d, \sigma^2 / n), \quad
                  (n - 1) s^2 / \sigma^2 \sim \chi^2_{n-1}

        and priors that are flat in d and log sigma, so that d is Student t given s.

        Returns
        -------
        dict of ndarray
            ``difference`` (d), ``sd_difference`` (sigma) and ``replicated``, the difference of the
            means of as many fresh cases; ``correlation`` of the two methods' cases, where it is
            needed; ``log_likelihood`` of the reported difference and of log s, unless nothing
            varies.
        """
        from scipy.stats import chi2, norm

        n, drawn = self.n_test, dict[str, FloatArray]()
        reported: Any = self.sd_difference
        if reported is None:
            known, ends = self.correlation, self.correlation_range
            r = rng.uniform(*ends, draws) if known is None else np.full(draws, known)
            drawn["correlation"] = r
            reported = spread_of_differences(*map(np.asarray, (*self.spreads, r)))
        spread = np.broadcast_to(np.asarray(reported, np.float64), (draws,))
        t = rng.standard_t(n - 1, draws)
        # given t the variance of the cases is inverse Gamma: together they are normal-inverse-Gamma
        chi_square = 2 * rng.standard_gamma(n / 2, draws) / (1 + t**2 / (n - 1))
        error, sd = spread * (t / np.sqrt(n)), spread * np.sqrt((n - 1) / chi_square)
        if spread.min() > 0:
            of_spread = chi2.logpdf(chi_square, n - 1) + np.log(2 * chi_square)
            drawn["log_likelihood"] = norm.logpdf(error, 0, sd / np.sqrt(n)) + of_spread
        difference = self.mean_a - self.mean_b + error
        noise = rng.standard_normal(draws) / np.sqrt(n)
        replicated = difference + sd * noise
        return drawn | {"difference": difference, "sd_difference": sd, "replicated": replicated}


def spread_of_differences(first: FloatArray, second: FloatArray, r: FloatArray) -> FloatArray:
    """Standard deviation of the differences of cases."""
    return np.sqrt(np.maximum(first**2 + second**2 - 2 * r * first * second, 0.0))


def _probability(gap: FloatArray, n: FloatArray, spread: FloatArray) -> FloatArray:
    """P(A <= B) from the gap, B minus A, and the standard deviation of the differences."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sqrt(n) * gap / spread
    # no spread at all: equal means stay a toss-up, others are certain
    t = np.where(spread > 0, t, np.where(gap < 0, -np.inf, 0.0))
    return stdtr(n - 1, t)


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def _check_spreads(mean: FloatArray, spread: FloatArray, n: FloatArray, bounds: Any) -> None:
    if not np.all((spread >= 0) & np.isfinite(spread)):
        raise InputError(f"a standard deviation is at least 0, got {float(np.min(spread)):g}")
    if bounds is None:
        return
    low, high = bounds
    most = np.sqrt((mean - low) * (high - mean) * n / (n - 1))
    wrong = spread > most * (1 + 1e-9)
    if np.any(wrong):
        m, largest, sd = (float(x[wrong][0]) for x in np.broadcast_arrays(mean, most, spread))
        raise InputError(
            f"cases between {low:g} and {high:g} with the mean {m:g} have a standard deviation "
            f"of at most {largest:.4g}, got {sd:g}"
        )
