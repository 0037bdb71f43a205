r"""Laws of the scores that a classifier gives to the items of two classes, and their AUC.

A law is anything with ``ppf`` and ``cdf``, such as a frozen distribution of ``scipy.stats``; atoms
are allowed and count as ties. ``exact.auc`` is about binormal scores, ``simulate_auc`` about these.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import FloatArray

__all__ = [
    "SCORE_FAMILIES",
    "ScoreDistribution",
    "check_scores",
    "named_scores",
    "probabilities_below",
    "shifted_to_auc",
    "true_auc",
]

SCORE_FAMILIES = ("normal", "logistic", "exponential", "gamma", "uniform", "beta")

_GAMMA_SHAPE = 2.0
_LEAST_BETA = 0.03  # below, odds leave the range of floating-point numbers
_NEARLY_CHANCE = 0.501  # AUC below which calibrated log odds are as good as normal

# Gauss-Lobatto: with the ends of a cell, so that no jump of a monotone function stays unseen.
_NODES = np.array([-1.0, -((3 / 7) ** 0.5), 0.0, (3 / 7) ** 0.5, 1.0])
_WEIGHTS = np.array([9, 49, 64, 49, 9]) / 90


class ScoreDistribution(Protocol):
    """What a score distribution must be able to do; ``scipy.stats`` has many, frozen.

    Both methods take arrays of any shape. Atoms are allowed, and give ties.
    """

    def ppf(self, q: Any, /) -> Any:
        """Quantiles."""

    def cdf(self, x: Any, /) -> Any:
        """Probability of at most ``x``."""


def true_auc(positive: ScoreDistribution, negative: ScoreDistribution) -> float:
    r"""AUC of a classifier with these score distributions, ties as a half.

    .. math:: A = P(U > W) + \tfrac12 P(U = W)
              = \int_0^1 \frac{F_-(t-) + F_-(t)}{2}\Big|_{t = F_+^{-1}(p)}\, dp

    by Gauss-Lobatto quadrature over the normal scores of p. The integrand is monotone; cells are
    halved where it bends or jumps, up to an error near 1e-10.

    Parameters
    ----------
    positive, negative : ScoreDistribution

    Raises
    ------
    InputError
        No distributions.

    Examples
    --------
    >>> from scipy import stats
    >>> round(true_auc(stats.expon(scale=4), stats.expon()), 9)
    0.8
    >>> round(true_auc(stats.bernoulli(0.7), stats.bernoulli(0.2)), 9)  # .7 * .8 + .38 / 2
    0.75
    """
    check_scores(positive, "positive")
    check_scores(negative, "negative")
    edges = np.linspace(-8.0, 8.0, 65)  # 1e-15 lies outside
    start, width = edges[:-1], np.diff(edges)
    cells = partial(_cell_integrals, positive, negative)
    whole, total = cells(start, width), 0.0
    for _ in range(45):
        half = width / 2
        parts = np.stack([cells(start, half), cells(start + half, half)])
        unsettled = np.abs(parts.sum(axis=0) - whole) > 1e-12
        total += float(parts[:, ~unsettled].sum())
        start = np.concatenate([start[unsettled], (start + half)[unsettled]])
        width = np.tile(half[unsettled], 2)
        whole = parts[:, unsettled].ravel()
        if not whole.size:
            break
    return float(np.clip(total + whole.sum(), 0.0, 1.0))


def shifted_to_auc(
    positive: ScoreDistribution, negative: ScoreDistribution, auc: float
) -> ScoreDistribution:
    """The positives' distribution, shifted so that the true AUC is a given number.

    Parameters
    ----------
    positive, negative : ScoreDistribution
    auc : float
        In [0.5, 1).

    Raises
    ------
    InputError
        An AUC outside [0.5, 1), or one that no shift gives (discrete scores).

    Examples
    --------
    >>> from scipy import stats
    >>> positive = shifted_to_auc(stats.norm(), stats.norm(), 0.9)
    >>> round(float(positive.ppf(0.5)), 6), round(float(2**0.5 * stats.norm.ppf(0.9)), 6)
    (1.812388, 1.812388)
    """
    from scipy.optimize import brentq

    value = _checked_target(auc)
    check_scores(positive, "positive")
    check_scores(negative, "negative")
    quartiles = np.array([0.25, 0.5, 0.75])
    rare, other = np.asarray(positive.ppf(quartiles)), np.asarray(negative.ppf(quartiles))
    middle = float(other[1] - rare[1])
    spread = float(rare[2] - rare[0] + other[2] - other[0]) or 1.0

    def excess(shift: float) -> float:
        return true_auc(_Shifted(positive, shift), negative) - value

    low = high = middle
    step = spread
    while excess(low) > 0:
        low, step = low - step, 2 * step
    while excess(high) < 0:
        high, step = high + step, 2 * step
    shift = middle if low == high else float(brentq(excess, low, high, xtol=1e-13 * spread))
    found = excess(shift)
    if abs(found) > 1e-8:
        raise InputError(
            f"no shift of the positives gives the AUC {value:g}, the nearest {value + found:.6g}: "
            "are the scores discrete?"
        )
    return _Shifted(positive, shift)


def named_scores(name: str, auc: float) -> tuple[ScoreDistribution, ScoreDistribution]:
    """Score distributions of positives and negatives with a given true AUC.

    =========== ================================================================
    name        positives and negatives
    =========== ================================================================
    normal      normal, shifted
    logistic    logistic, shifted: heavier tails
    exponential exponential, scaled: the ROC curve is ``x ** ((1 - auc) / auc)``
    gamma       gamma of shape 2, scaled
    uniform     uniform of width 1, shifted: no tails
    beta        calibrated probabilities, Beta(c + 1, c) and Beta(c, c + 1), as odds
    =========== ================================================================

    If half the items are positive and a classifier's probabilities are calibrated and have the law
    Beta(c, c) over all items, then these are the laws of the classes. Other prevalences multiply
    the odds, without a change of any AUC.

    Parameters
    ----------
    name : str
        One of ``SCORE_FAMILIES``.
    auc : float
        In [0.5, 1).

    Returns
    -------
    positive, negative : ScoreDistribution

    Raises
    ------
    InputError
        An unknown name, an AUC outside [0.5, 1).

    Examples
    --------
    >>> round(true_auc(*named_scores("beta", 0.9)), 8)
    0.9
    """
    from scipy import special, stats

    value = _checked_target(auc)
    if name == "normal":
        return stats.norm(2**0.5 * special.ndtri(value)), stats.norm()
    if name == "logistic":
        return shifted_to_auc(stats.logistic(), stats.logistic(), value), stats.logistic()
    if name in ("exponential", "gamma"):
        shape = 1.0 if name == "exponential" else _GAMMA_SHAPE
        # Of two gamma variables of one scale, the first one's share of the sum is Beta.
        share = float(special.betaincinv(shape, shape, value))
        return stats.gamma(shape, scale=share / (1 - share)), stats.gamma(shape)
    if name == "uniform":
        return stats.uniform(1 - (2 * (1 - value)) ** 0.5), stats.uniform()
    if name == "beta":
        return _calibrated(value)
    raise InputError(f"scores must be one of {', '.join(SCORE_FAMILIES)}, got {name!r}")


def probabilities_below(distribution: ScoreDistribution, score: ArrayLike) -> list[FloatArray]:
    """Probabilities of less than ``score`` and of at most ``score``."""
    at = np.asarray(score, dtype=np.float64)
    return [np.asarray(distribution.cdf(x)) for x in (np.nextafter(at, -np.inf), at)]


def check_scores(distribution: Any, what: str) -> None:
    """``InputError`` where an object is not one distribution with ``ppf`` and ``cdf``."""
    asked = np.array([[0.25], [0.75]])
    try:
        with np.errstate(invalid="ignore"):
            found = np.asarray(distribution.ppf(asked), dtype=np.float64)
            beyond = found + 1e-9 * (1 + np.abs(found))
            probability = np.asarray(distribution.cdf(beyond), dtype=np.float64)
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"the {what} scores need a distribution with ppf and cdf, such as scipy.stats.norm(1), "
            f"got {type(distribution).__name__}"
        ) from error
    if not found.shape == probability.shape == asked.shape:
        raise InputError(f"the {what} scores need one distribution, got an array of them")
    if not (np.all(np.isfinite(found)) and np.all(probability >= asked - 1e-6)):
        raise InputError(f"the {what} scores' distribution has impossible parameters")


@dataclass(frozen=True)
class _Shifted:
    """A distribution moved to the right; its atoms get there up to rounding."""

    base: ScoreDistribution
    shift: float

    def ppf(self, q: ArrayLike) -> FloatArray:
        return np.asarray(self.base.ppf(q)) + self.shift

    def cdf(self, x: ArrayLike) -> FloatArray:
        return np.asarray(self.base.cdf(np.asarray(x) - self.shift))


@dataclass(frozen=True)
class _BetaOdds:
    """Odds of Beta(a, b) probabilities, which themselves would round to 1."""

    a: float
    b: float

    def ppf(self, q: ArrayLike) -> FloatArray:
        from scipy.special import betainccinv, betaincinv

        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(betaincinv(self.a, self.b, q) / betainccinv(self.b, self.a, q))

    def cdf(self, x: ArrayLike) -> FloatArray:
        from scipy.special import betainc, betaincc

        odds = np.maximum(np.asarray(x, np.float64), 0.0)
        other = 1 / (1 + odds)
        small = np.minimum(odds, 1.0)
        low, high = betainc(self.a, self.b, small / (1 + small)), betaincc(self.b, self.a, other)
        return np.asarray(np.where(odds < 1, low, high))


def _calibrated(auc: float) -> tuple[ScoreDistribution, ScoreDistribution]:
    from scipy.optimize import brentq

    if auc < _NEARLY_CHANCE:
        return named_scores("normal", auc)

    def pair(log_c: float) -> tuple[_BetaOdds, _BetaOdds]:
        c = float(np.exp(log_c))
        return _BetaOdds(c + 1, c), _BetaOdds(c, c + 1)

    extreme = np.log(_LEAST_BETA)
    if auc > (limit := true_auc(*pair(extreme))):
        raise InputError(f"beta scores reach an AUC of {limit:.4f} at most, got {auc:g}")
    found = brentq(lambda log_c: true_auc(*pair(log_c)) - auc, extreme, np.log(1e6))
    return pair(float(found))


def _cell_integrals(
    positive: ScoreDistribution, negative: ScoreDistribution, start: FloatArray, width: FloatArray
) -> FloatArray:
    from scipy.special import ndtr

    x = start[:, None] + width[:, None] * (1 + _NODES) / 2
    below, at_most = probabilities_below(negative, positive.ppf(ndtr(x)))
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(((below + at_most) / 2 * density) @ _WEIGHTS * width / 2)


def _checked_target(auc: float) -> float:
    try:
        value = float(auc)
    except (TypeError, ValueError) as error:
        raise InputError(f"auc must be a number in [0.5, 1), got {auc!r}") from error
    if not 0.5 <= value < 1:
        raise InputError(f"auc must lie in [0.5, 1), got {value:g}")
    return value
