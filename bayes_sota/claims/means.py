r"""Probability that "A outperforms B" is false, from two reported means of cases (Dice).

.. math:: P(\mu_A \le \mu_B) = T_{n-1}\Big(\sqrt n\,
          \frac{\hat\mu_B - \hat\mu_A}{\sqrt{s_A^2 + s_B^2 - 2 r s_A s_B}}\Big)

with the Student cdf (*Claims Reloaded*, after Christodoulou et al. 2025, arXiv 2505.04720; its
text says quantile) and r the correlation of the two methods' cases. If A is the best of K tries of
equal skill,

.. math:: P(\mu_A \le \mu_B) = E_t\, \Phi\!\Big(\frac{t\, \sigma_A - (\hat\mu_A - \hat\mu_B)}
          {\sqrt{\sigma^2 - \sigma_A^2}}\Big), \quad
          \sigma_A^2 = \frac{(1 - r^+) s_A^2}{n}, \quad
          \sigma^2 = \frac{s_A^2 + s_B^2 - 2 r s_A s_B}{n}

with t the largest of K standard normal variables, averaged over the posterior of the standard
deviations. ``tests/claims/test_means.py`` compares with SciPy's paired t test and quadrature,
``tests/claims/test_best_of.py`` with simulated tries.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, ndtr, ndtri, stdtr, stdtrit

from bayes_sota.claims.claim import Claim, Truth, checked_pair, gauss
from bayes_sota.core.arguments import NOT_NEGATIVE, PAIRWISE, POSITIVE
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_TRY_NODES = 64
_LEAST_SPREAD = 1e-200


def imputed_sd(mean: float) -> float:
    """A rule of thumb: the literature's polynomial of second order has unknown coefficients."""
    return 2 / 3 * mean * (1 - mean)


@dataclass(frozen=True, kw_only=True)
class Means(Claim):
    """The claim that A outperforms B, from two means of the same cases.

    Parameters
    ----------
    a, b : float
        Means of A, the reported winner, and of B.
    n : int
        Number of cases.
    known : float, optional
        Correlation of the two methods' cases. Default: averaged over 0 to 1.
    sd : (float, float), optional
        SDs of A's and of B's cases. Without these and ``sd_difference`` they are imputed as
        ``2/3 mean (1 - mean)``, a rule of thumb for Dice.
    sd_difference : float, optional
        SD of the differences of cases.
    bounds : (float, float), optional
        Range of a case; None for an unbounded metric.

    Raises
    ------
    InputError
        A below B, negative or impossible SDs, a correlation outside [-1, 1], fewer than two cases.

    Examples
    --------
    >>> claim = Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1))
    >>> round(claim.p_false(), 3), round(claim.needed(0.05), 3), claim.size(0.05)
    (0.141, 0.819, 281)
    """

    sd: tuple[float, float] | None = None
    sd_difference: float | None = None
    bounds: tuple[float, float] | None = (0.0, 1.0)

    unknown: ClassVar[str] = "correlation"
    item: ClassVar[str] = "case"
    what: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        checked_pair(self.a, self.b, self.n, "mean", self.bounds)
        if self.known is not None:
            PAIRWISE.check(self.known, "pairwise_correlation")
        if self.sd_difference is not None:
            POSITIVE.check(self.sd_difference, "sd_difference")
            if not (self.sd is None and self.known is None):
                problem = "give {name} alone, or both SDs and the pairwise correlation"
                raise InputError(problem, parameter="sd_difference")
        elif self.sd is not None:
            self._check_spreads(self.sd)
            if not any(self.sd):
                raise InputError("both standard deviations are 0: give the SDs over cases")
        elif self.bounds != (0.0, 1.0):
            problem = "give the standard deviations of both methods, or {name}"
            why = "they are imputed for metrics in [0, 1] only"
            raise InputError(f"{problem}: {why}", parameter="sd_difference")

    def _check_spreads(self, sd: tuple[float, float]) -> None:
        low, high = self.bounds or (-np.inf, np.inf)
        for mean, spread in zip((self.a, self.b), sd, strict=True):
            NOT_NEGATIVE.check(spread, "sd")
            most = np.sqrt((mean - low) * (high - mean) * self.n / (self.n - 1))
            if spread > most * (1 + 1e-9):
                raise InputError(
                    f"cases between {low:g} and {high:g} with the mean {mean:g} have a standard "
                    f"deviation of at most {most:.4g}, got {spread:g}"
                )

    @property
    def spreads(self) -> tuple[float, float]:
        """SDs of A's and of B's cases."""
        return self.sd or (imputed_sd(self.a), imputed_sd(self.b))

    @property
    def imputed(self) -> bool:
        return self.sd is None and self.sd_difference is None

    @property
    def ends(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.sd_difference is None else (0.0, 0.0)

    def _spread(self, unknown: ArrayLike) -> FloatArray:
        """SD of the paired differences."""
        r = np.asarray(unknown, np.float64)
        if self.sd_difference is not None:
            return np.full(r.shape, self.sd_difference)
        first, second = self.spreads
        return np.sqrt(np.maximum(first**2 + second**2 - 2 * r * first * second, 0.0))

    def at(
        self, unknown: ArrayLike, n: float | None = None, gap: ArrayLike | None = None
    ) -> FloatArray:
        """Also of another ``gap``; equal means stay a toss-up."""
        n, gap = n or self.n, np.asarray(self.a - self.b if gap is None else gap)
        t = np.sqrt(n) * gap / np.maximum(self._spread(unknown), _LEAST_SPREAD)
        return np.asarray(stdtr(n - 1, -t))

    def difference_at_most(self, q: float) -> float:
        unknown, weights = self.assumed()
        return float(weights @ self.at(unknown, gap=self.a - self.b - q))

    def truth(self, unknown: FloatArray) -> Truth:
        """Difference in SDs of the differences."""
        spread = self._spread(unknown)
        if not spread.all():
            raise InputError("cases that all differ by the same amount need no planning")
        return ((self.a - self.b) / spread,)

    def left_open(self, unknown: float, levels: FloatArray) -> Truth:
        """``truth`` at levels of the SD, and of the difference given it."""
        scale = np.sqrt((self.n - 1) / chdtri(self.n - 1, levels))[:, None]
        of_one = self.truth(np.array([unknown]))[0][0]
        return (of_one / scale + ndtri(levels)[None, :] / np.sqrt(self.n),)

    def made(self, truth: Truth, n: int, level: float) -> FloatArray:
        """The t statistic of fresh cases is nearly normal (Johnson & Welch 1940)."""
        freedom = n - 1
        limit = -stdtrit(freedom, level)
        centre = np.sqrt(n) * truth[0] - limit * (1 - 1 / (4 * freedom))
        return ndtr(centre / np.sqrt(1 + limit**2 / 2 / freedom))

    def draw(self, size: int, rng: np.random.Generator) -> dict[str, dict[str, FloatArray]]:
        r"""Posterior draws, flat in d and log sigma, and differences of fresh cases:
        :math:`\hat d \mid d, \sigma \sim N(d, \sigma^2 / n)`,
        :math:`(n - 1) s^2 / \sigma^2 \sim \chi^2_{n-1}`.
        """
        r = rng.uniform(*self.ends, size) if self.is_open else np.full(size, self.known or 0.0)
        drawn = {"correlation": r} if self.sd_difference is None else {}
        sd = self._spread(r) * np.sqrt((self.n - 1) / rng.chisquare(self.n - 1, size))
        noise = sd / np.sqrt(self.n)
        difference = self.a - self.b + noise * rng.standard_normal(size)
        again = difference + noise * rng.standard_normal(size)
        return {
            "posterior": drawn | {"difference": difference, "sd_difference": sd},
            "posterior_predictive": {"mean_difference": again[:, None]},
        }

    def best_of(self, tries: tuple[float, float]) -> list[float]:
        """Where only the differences are known, half of their variance is taken to be A's own."""
        unknown, weights = self.assumed()
        total = self._spread(unknown) ** 2
        own = (1 - np.maximum(unknown, 0)) * self.spreads[0] ** 2
        if self.sd_difference is not None:
            own = total / 2
        levels, w = gauss(_TRY_NODES)
        scale = np.sqrt((self.n - 1) / chdtri(self.n - 1, levels) / self.n)[:, None]
        rest = np.sqrt(np.maximum(total - own, 1e-12 * total + 1e-300))[:, None, None]
        found = []
        for k in tries:
            largest = ndtri(levels ** (1 / k))
            excess = scale * np.sqrt(own)[:, None, None] * largest - (self.a - self.b)
            found.append(float(weights @ (w @ ndtr(excess / (scale * rest)) @ w)))
        return found
