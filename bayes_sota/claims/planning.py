"""How many test items a claim of a given gap needs.

At the observed gap: the smallest test set on which the same accuracies, or means, would make the
probability of a false claim small. With assurance: the smallest on which that happens with a
given probability, when the truth is what the observed test set leaves open and fresh items are
drawn. ``tests/claims/test_planning.py`` counts.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.congruence import (
    Congruence,
    CongruencePrior,
    congruence_at,
    congruence_bounds,
)
from bayes_sota.claims.means import false_claim_probability_of_means
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_MOST = 10**9
_LEVELS = 160  # nodes of a posterior


def check_level(level: float) -> None:
    """Raise ``InputError`` unless a claim can be accepted at this probability of being false."""
    if not 0 < level < 0.5:
        raise InputError(f"level must lie in (0, 1/2), got {level:g}")


def congruence_needed(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    *,
    level: float = 0.05,
    alpha: float | tuple[float, float, float, float] = 1.0,
) -> float | None:
    """Least congruence at which the claim is false with probability ``level`` at most.

    Returns
    -------
    float or None
        The lower bound of the congruence where the claim always holds; None where it never does.

    Examples
    --------
    >>> round(congruence_needed(0.90, 0.88, 500), 4)
    0.8538
    """
    from scipy.optimize import brentq

    def above(p11: float) -> float:
        p = false_claim_probability(accuracy_a, accuracy_b, n_test, p11, alpha=alpha)
        return float(p) - level

    low, high = (float(x) for x in congruence_bounds(accuracy_a, accuracy_b))
    if above(low) <= 0:
        return low
    return float(brentq(above, low, high, xtol=1e-9)) if above(high) <= 0 else None


def crossing_of(curve: FloatArray, level: float) -> float | None:
    """Place from which a falling curve is at most ``level``, by interpolation.

    Parameters
    ----------
    curve : ndarray, shape (k, 2)
        Places in ascending order, and probabilities.
    level : float

    Returns
    -------
    float or None
        The first place where the curve is never above; None where its end is.
    """
    x, p = curve.T
    above = np.flatnonzero(p > level)
    if not above.size:
        return float(x[0])
    last = int(above[-1])
    if last == len(p) - 1:
        return None
    share = (p[last] - level) / (p[last] - p[last + 1])
    return float(x[last] + share * (x[last + 1] - x[last]))


def smallest_size(probability_at: Callable[[int], float], level: float) -> int:
    """Smallest number of items from which a probability that falls with it is at most ``level``.

    Raises
    ------
    InputError
        Not even a thousand million items are enough, or a level outside (0, 1/2).
    """
    check_level(level)
    low, high = 1, 2
    while not probability_at(high) <= level:
        low, high = high, 2 * high
        if high > _MOST:
            raise InputError("no test set is large enough: the two are too close")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if probability_at(middle) <= level else (middle, high)
    return high


def claim_test_size(
    accuracy_a: float,
    accuracy_b: float,
    congruence: Congruence = None,
    *,
    level: float = 0.05,
) -> int:
    """Test items that make a claim of these accuracies false with probability ``level`` at most.

    Parameters are those of ``false_claim_probability``. Unknown congruence counts as that of
    independent mistakes here: its average over all tables depends on the size itself.

    Examples
    --------
    >>> claim_test_size(0.90, 0.88, "independent")
    1330
    """
    if accuracy_a == accuracy_b:
        raise InputError("equal accuracies never make a claim, whatever the size")
    shared = "independent" if congruence is None else congruence
    return smallest_size(
        lambda n: float(false_claim_probability(accuracy_a, accuracy_b, n, shared)), level
    )


def powered_test_size(
    accuracy_a: float,
    accuracy_b: float,
    congruence: Congruence = None,
    *,
    level: float = 0.05,
    power: float = 0.8,
) -> int:
    """Test items on which the claim is made with probability ``power``, if these are the skills.

    The claim of ``claim_test_size`` items is made about every second time only.

    Parameters
    ----------
    accuracy_a, accuracy_b : float
        True accuracies, which fresh items then vary about.
    congruence
        As in ``claim_test_size``; a prior counts as its mean congruence.
    level : float
        A claim is made where it is false with at most this probability.
    power : float

    Examples
    --------
    >>> claim_test_size(0.90, 0.88), powered_test_size(0.90, 0.88)
    (1330, 3028)
    """
    if accuracy_a == accuracy_b:
        raise InputError("equal accuracies never make a claim, whatever the size")
    _check_share("power", power)
    a, b = np.asarray(accuracy_a, np.float64), np.asarray(accuracy_b, np.float64)
    if isinstance(congruence, CongruencePrior):
        p11 = sum(float(share) * weight for share, weight in congruence.nodes(a, b))
    else:
        p11 = float(congruence_at(a, b, "independent" if congruence is None else congruence))
    gap, total = np.asarray(accuracy_a - accuracy_b), np.asarray(accuracy_a + accuracy_b - 2 * p11)
    return smallest_size(lambda n: 1 - float(_made(n, gap, total, level)), 1 - power)


def powered_test_size_of_means(
    gap: float,
    sd: tuple[float, float],
    correlation: float,
    *,
    level: float = 0.05,
    power: float = 0.8,
) -> int:
    """Cases on which the claim is made with probability ``power``, if this is the true gap.

    Parameters
    ----------
    gap : float
        Of the means.
    sd : (float, float)
        Of cases.
    correlation : float
        Of the two methods' cases.
    level, power : float

    Examples
    --------
    >>> powered_test_size_of_means(0.01, (0.1, 0.1), 0.7)
    373
    """
    if not gap > 0:
        raise InputError(f"a gap is above 0, got {gap:g}")
    _check_share("power", power)
    relative = np.asarray(gap / _spread_of_gaps(sd, correlation))
    return smallest_size(lambda n: 1 - float(_made_of_means(n, relative, level)), 1 - power)


def assured_test_size(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    congruence: float,
    *,
    level: float = 0.05,
    assurance: float = 0.8,
) -> tuple[int | None, float]:
    r"""Fresh test items on which the claim would be made with probability ``assurance``.

    With s = p1 + p2 and q = p1 / s, which are independent Beta variables given what was observed, a
    fresh test set of n items makes the claim with probability

    .. math:: \Phi\Big(\frac{\sqrt n\, s (2q - 1) - z \sqrt s}{\sqrt{s - s^2 (2q - 1)^2}}\Big)

    nearly, with z the standard normal quantile of ``1 - level``; averaged by quadrature.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, congruence
        What was observed.
    level : float
        A claim is made where it is false with at most this probability.
    assurance : float
        Probability, over what the observed items leave open and over fresh items, of a claim.

    Returns
    -------
    size, highest : int or None, float
        None where no size is enough: with the probability ``highest`` that A is truly better no
        claim is sure to come.

    Examples
    --------
    >>> size, highest = assured_test_size(0.90, 0.88, 2000, 0.85)
    >>> size > claim_test_size(0.90, 0.88, 0.85), round(highest, 2)
    (True, 1.0)
    """
    from scipy.special import betaincinv

    _check_share("assurance", assurance)
    x1, x2 = n_test * (accuracy_a - congruence), n_test * (accuracy_b - congruence)
    highest = 1 - float(false_claim_probability(accuracy_a, accuracy_b, n_test, congruence))
    points, weights = _levels()
    share = 2 * betaincinv(x1 + 1, x2 + 1, points)[:, None] - 1
    total = betaincinv(x1 + x2 + 2, n_test - x1 - x2 + 2, points)[None, :]

    def missed(n: int) -> float:
        return 1 - float(weights @ _made(n, total * share, total, level) @ weights)

    return _assured(missed, assurance, highest), highest


def claim_test_size_of_means(
    mean_a: float,
    mean_b: float,
    sd: tuple[float, float],
    *,
    correlation: float | None = None,
    level: float = 0.05,
) -> int:
    """Cases that make a claim of these means false with probability ``level`` at most.

    Parameters
    ----------
    mean_a, mean_b : float
    sd : (float, float)
        Standard deviations of cases.
    correlation : float, optional
        Of the two methods' cases. Default: averaged, uniform from 0 to 1.
    level : float

    Examples
    --------
    >>> claim_test_size_of_means(0.81, 0.80, (0.1, 0.1), correlation=0.7)
    165
    """
    if mean_a == mean_b:
        raise InputError("equal means never make a claim, whatever the size")
    return smallest_size(
        lambda n: float(
            false_claim_probability_of_means(
                mean_a, mean_b, n, sd=sd, correlation=correlation, bounds=None
            )
        ),
        level,
    )


def assured_test_size_of_means(
    mean_a: float,
    mean_b: float,
    n_test: int,
    sd: tuple[float, float],
    correlation: float,
    *,
    level: float = 0.05,
    assurance: float = 0.8,
) -> tuple[int | None, float]:
    r"""Fresh cases on which the claim would be made with probability ``assurance``.

    Over the posterior of the mean difference and its variance given the ``n_test`` cases (flat in
    the mean and in the logarithm of the standard deviation), by quadrature; the t statistic of
    fresh cases is nearly normal (Johnson & Welch 1940).

    Parameters
    ----------
    mean_a, mean_b, n_test, sd, correlation
        What was observed.
    level, assurance
        As in ``assured_test_size``.

    Returns
    -------
    size, highest : int or None, float
        None where no size is enough, as in ``assured_test_size``.

    Examples
    --------
    >>> size, highest = assured_test_size_of_means(0.81, 0.80, 400, (0.1, 0.1), 0.7)
    >>> size > claim_test_size_of_means(0.81, 0.80, (0.1, 0.1), correlation=0.7)
    True
    """
    from scipy.special import chdtri, ndtri

    _check_share("assurance", assurance)
    spread = _spread_of_gaps(sd, correlation)
    highest = 1 - float(
        false_claim_probability_of_means(
            mean_a, mean_b, n_test, sd=sd, correlation=correlation, bounds=None
        )
    )
    points, weights = _levels()
    sigma = spread * np.sqrt((n_test - 1) / chdtri(n_test - 1, points))[:, None]
    gap = mean_a - mean_b + sigma / np.sqrt(n_test) * ndtri(points)[None, :]

    def missed(n: int) -> float:
        return 1 - float(weights @ _made_of_means(n, gap / sigma, level) @ weights)

    return _assured(missed, assurance, highest), highest


def required_sizes(
    accuracy: float,
    gaps: Sequence[float],
    assumptions: Mapping[str, Congruence],
    *,
    level: float = 0.05,
) -> list[tuple[float, str, int]]:
    """Test items that claims of several gaps need, under several congruences.

    Parameters
    ----------
    accuracy : float
        Of A; B is below it by each gap.
    gaps : sequence of float
    assumptions : mapping of name -> congruence
        As in ``false_claim_probability``; a number is a share that every gap must allow.
    level : float

    Returns
    -------
    list of (gap, name, items)

    Examples
    --------
    >>> required_sizes(0.90, [0.01, 0.02], {"independent": "independent"})
    [(0.01, 'independent', 5091), (0.02, 'independent', 1330)]
    """
    return [
        (float(gap), name, claim_test_size(accuracy, accuracy - gap, shared, level=level))
        for name, shared in assumptions.items()
        for gap in gaps
    ]


def _levels() -> tuple[FloatArray, FloatArray]:
    """Probabilities at which a posterior is evaluated, and their weights."""
    x, w = np.polynomial.legendre.leggauss(_LEVELS)
    return (x + 1) / 2, w / 2


def _assured(missed: Callable[[int], float], assurance: float, highest: float) -> int | None:
    """Smallest size with the assurance, None where none has it."""
    if highest <= assurance or missed(_MOST) > 1 - assurance:
        return None
    return smallest_size(missed, 1 - assurance)


def _made(n: int, gap: FloatArray, total: FloatArray, level: float) -> FloatArray:
    """Probability of a claim on n fresh items, from p1 - p2 and p1 + p2."""
    from scipy.special import ndtr, ndtri

    spread = np.sqrt(total - gap**2)
    return np.asarray(ndtr((np.sqrt(n) * gap - ndtri(1 - level) * np.sqrt(total)) / spread))


def _made_of_means(n: int, relative: FloatArray, level: float) -> FloatArray:
    """Probability of a claim on n fresh cases, from the gap in units of its spread."""
    from scipy.special import ndtr, stdtrit

    freedom = n - 1
    limit = -stdtrit(freedom, level)
    centre = np.sqrt(n) * relative - limit * (1 - 1 / (4 * freedom))
    return np.asarray(ndtr(centre / np.sqrt(1 + limit**2 / 2 / freedom)))


def _spread_of_gaps(sd: tuple[float, float], correlation: float) -> float:
    spread = np.sqrt(max(sd[0] ** 2 + sd[1] ** 2 - 2 * correlation * sd[0] * sd[1], 0.0))
    if not spread > 0:
        raise InputError("cases that all differ by the same amount need no planning")
    return float(spread)


def _check_share(name: str, value: float) -> None:
    if not 0.5 < value < 1:
        raise InputError(f"{name} must lie in (1/2, 1), got {value:g}")
