"""Dependent classifiers given a reference classifier, and the law of their success counts.

A reference classifier gets ``S0 ~ Binomial(n, theta0)`` items right. Given ``S0 = k`` the
classifiers are independent, and one of skill ``theta`` has the success count
``Binomial(k, a) + Binomial(n - k, b)`` with Eq. 6 and 7 of Møllersen & Holsbø (arXiv 2303.07272).

What holds here: survival functions have an absolute error below 1e-15
(``tests/maximum/test_dependence.py`` compares with 40-digit arithmetic), and nothing of size
classifiers x items is ever built. The tool is the characteristic function on a window that carries
all the mass: inverted by one FFT, or summed over the counts above a few x for the tables of
``P(X > x | S0 = k, theta)``. Tables do not depend on the hyperparameters of P(theta): with the hat
weights of a skill distribution every :math:`1 - H_k(1, x)` is one matrix product.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.errors import InfeasibleCorrelationError, InputError
from bayes_sota.core.types import FloatArray, IntArray

_TAIL_EXPONENT = 42.0  # mass outside a window is below 2 exp(-42) = 1e-18
CHARACTERISTIC_EXPONENT = 38.0  # frequencies with |phi| below exp(-38) are dropped
NOISE = 1e-13  # survival functions below it are round-off, and set to zero
SHIFT_REACH = 6.0  # standard deviations of S0 on each side
_EXPONENT = 24.0  # frequencies with |phi| below exp(-24) are dropped from a table
_BLOCK = 256  # skills that share a window of counts
_GROWTH = 600.0  # largest exponent that repeated multiplication may reach
_NEARLY_ONE = 1 - 1e-16
_NOTHING = 1e-40  # of a characteristic function
_SKILL_REACH = 7.0  # conditional standard errors on each side


def feasible_correlation(skill: ArrayLike, reference_skill: float) -> FloatArray:
    r"""Largest correlation that a classifier can have with the reference classifier.

    Two right-or-wrong variables with success probabilities :math:`\theta` and :math:`\theta_0`
    have correlation at most :math:`\sqrt{\min(o, 1/o)}` with the odds ratio
    :math:`o = \frac{\theta}{1-\theta} \big/ \frac{\theta_0}{1-\theta_0}`. The lower half is Eq. 8
    of Møllersen & Holsbø (b >= 0), the upper half follows from a <= 1.

    Parameters
    ----------
    skill : array_like
        Probability of being right, in (0, 1).
    reference_skill : float
        Skill ``theta0`` of the reference classifier, in (0, 1).

    Returns
    -------
    ndarray
        Shape of ``skill``, in (0, 1].

    Examples
    --------
    >>> float(feasible_correlation(0.5, 0.9).round(4))
    0.3333
    """
    skill = np.asarray(skill, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore"):
        odds_ratio = (skill + 0.0) / (1 - skill) * ((1 - reference_skill) / reference_skill)
        return np.asarray(np.sqrt(np.minimum(odds_ratio, 1 / odds_ratio)), np.float64)


def feasible_skills(correlation: float, reference_skill: float) -> tuple[float, float]:
    r"""Smallest and largest skill for which a correlation with the reference is feasible.

    .. math:: \frac{\rho^2 o}{1 + \rho^2 o} \le \theta \le \frac{o}{o + \rho^2}, \qquad
              o = \frac{\theta_0}{1-\theta_0}

    The lower limit is Eq. 8 of Møllersen & Holsbø; the upper one follows from a <= 1 (Eq. 6). At
    both, a and b as functions of the skill have a kink, because beyond them the correlation is cut.

    Examples
    --------
    >>> low, high = feasible_skills(0.6, 0.9)
    >>> round(low, 4), round(high, 4)
    (0.7642, 0.9615)
    """
    odds = reference_skill / (1 - reference_skill)
    return correlation**2 * odds / (1 + correlation**2 * odds), odds / (odds + correlation**2)


def correlation_of_similarity(similarity: float, skill: float) -> float:
    r"""Correlation with the reference classifier of classifiers that agree on a share of the items.

    Two classifiers of skill t are both right, or both wrong, with probability (Mania et al. 2019)

    .. math:: s = (1-t)^2 + t^2 + 2 \rho_{jk} t (1-t), \qquad \rho = \sqrt{\rho_{jk}}

    Parameters
    ----------
    similarity : float
        s, the share of items on which both are right or both are wrong.
    skill : float
        t, in (0, 1).

    Returns
    -------
    float
        rho, in [0, 1].

    Raises
    ------
    InputError
        A similarity below that of independent classifiers, or above 1.

    Examples
    --------
    ImageNet models of accuracy .756 with a similarity of .85:

    >>> round(correlation_of_similarity(0.85, 0.756), 2)
    0.77
    """
    if not 0 < skill < 1:
        raise InputError(f"skill must lie in (0, 1), got {skill:g}")
    least = (1 - skill) ** 2 + skill**2
    if not least <= similarity <= 1:
        raise InputError(
            f"similarity must lie in [{least:.4g}, 1] at an accuracy of {skill:g}: independent "
            f"classifiers agree on {least:.4g} of the items; got {similarity:g}"
        )
    return float(np.sqrt((similarity - least) / (1 - least)))


_ROUND_OFF = 1e-12


def conditional_probabilities(
    skill: ArrayLike, correlation: ArrayLike, reference_skill: float
) -> tuple[FloatArray, FloatArray]:
    r"""Probability of being right given that the reference classifier is right, and wrong.

    .. math::
        a &= \theta + \rho \sqrt{\theta(1-\theta)(1-\theta_0)/\theta_0} \quad (6) \\
        b &= \theta - \rho \sqrt{\theta(1-\theta)\theta_0/(1-\theta_0)} \quad (7)

    Equations 6 and 7 of Møllersen & Holsbø. Where the correlation is not feasible it is replaced
    by the largest feasible one (``feasible_correlation``), so that no classifier is dropped.

    Parameters
    ----------
    skill, correlation : array_like
        Broadcast against each other.
    reference_skill : float
        ``theta0``, in (0, 1).

    Returns
    -------
    a, b : ndarray
        In [0, 1]; both are nondecreasing in ``skill``.

    Examples
    --------
    >>> a, b = conditional_probabilities(0.9, 0.6, 0.9)
    >>> float(a.round(3)), float(b.round(3))
    (0.96, 0.36)
    """
    skill = np.asarray(skill, dtype=np.float64)
    if not np.any(correlation):  # independent of the reference classifier, whatever its skill
        same = np.broadcast_to(skill, np.broadcast_shapes(skill.shape, np.shape(correlation)))
        return same, same
    limit = feasible_correlation(skill, reference_skill)
    rho = np.minimum(np.asarray(correlation, np.float64), limit)
    sd = np.sqrt(skill * (1 - skill))
    odds = reference_skill / (1 - reference_skill)
    a = skill + rho * sd / np.sqrt(odds)
    b = skill - rho * sd * np.sqrt(odds)
    # At the largest correlation one of them is 1 or 0, but for a rounding that differs between
    # processors, of which a generator of random numbers would make another sample.
    return np.where(a > 1 - _ROUND_OFF, 1.0, a), np.where(b < _ROUND_OFF, 0.0, b)


def require_feasible(skill: ArrayLike, correlation: float, reference_skill: float) -> None:
    """Raise ``InfeasibleCorrelationError`` where some classifier cannot have this correlation."""
    limits = np.atleast_1d(feasible_correlation(skill, reference_skill))
    worst = int(np.argmin(limits))
    if correlation > limits[worst] + 1e-12:
        low, high = feasible_skills(correlation, reference_skill)
        raise InfeasibleCorrelationError(
            f"correlation {correlation:g} is not feasible for a classifier of skill "
            f"{np.atleast_1d(skill)[worst]:.6g} with reference skill {reference_skill:.6g}: "
            f"feasible are correlations in [0, {limits[worst]:.4f}], or with {correlation:g} "
            f"skills in [{low:.6g}, {high:.6g}]; cap_correlation=True cuts it where it must be cut"
        )


def tail_half_width(variance: ArrayLike) -> FloatArray:
    r"""Distance from the mean beyond which a sum of independent indicators has mass below 1e-18.

    Bernstein's inequality :math:`P(X - \mu \ge t) \le \exp(-t^2 / (2v + 2t/3))`, solved for t.
    """
    third = _TAIL_EXPONENT / 3
    variance = np.asarray(variance, dtype=np.float64)
    return third + np.sqrt(third**2 + 2 * variance * _TAIL_EXPONENT)


def count_window(mean: FloatArray, variance: FloatArray, n_test: int) -> tuple[int, int]:
    """Lowest and highest count that carry mass, of sums with these means and variances."""
    reach = tail_half_width(variance)
    low = max(0, int(np.floor((mean - reach).min())))
    return low, min(n_test, int(np.ceil((mean + reach).max())))


def live_frequencies(size: int, variance: float, exponent: float) -> FloatArray:
    """Lattice frequencies at which a characteristic function may be above ``exp(-exponent)``."""
    frequency = 2 * np.pi * np.arange(size // 2 + 1) / size
    # log |phi| = 1/2 sum log(1 - 2 p (1 - p) wave) <= -variance * wave
    alive = 2 * variance * np.sin(frequency / 2) ** 2 <= exponent
    return frequency[: int(np.flatnonzero(alive)[-1]) + 1]


def log_characteristic_function(
    probability: ArrayLike, frequency: FloatArray
) -> NDArray[np.complex128]:
    r"""Centred log characteristic function of one indicator, to full relative accuracy.

    :math:`\log(1 - p + p e^{it}) - ipt`. The plain formula loses all digits of the imaginary part
    where ``t`` is small, and n = 1,000,000 items multiply what is lost; there a Taylor series with
    the recursion :math:`\kappa_{j+1} = p(1-p)\,d\kappa_j/dp` of the cumulants is used.

    Parameters
    ----------
    probability : array_like
        Any shape.
    frequency : ndarray, shape (F,)
        In [0, pi].

    Returns
    -------
    ndarray, shape ``probability.shape + (F,)``
    """
    p = np.asarray(probability, dtype=np.float64)[..., None]
    t = frequency
    q = np.minimum(p, 1 - p)  # of the rarer outcome: n q is small wherever t is not
    angle = np.arctan2(q * np.sin(t), 1 - 2 * q * np.sin(t / 2) ** 2) - q * t
    imaginary = np.where(p > 0.5, -angle, angle)
    # p = 1/2 at t = pi: the characteristic function is zero, its logarithm as good as
    real = 0.5 * np.log1p(-np.minimum(4 * p * (1 - p) * np.sin(t / 2) ** 2, 1 - 1e-16))
    small = t < 0.25
    if small.any():
        imaginary[..., small] = _imaginary_series(p, t[small])
    return np.asarray(real + 1j * imaginary, np.complex128)


def _imaginary_series(p: FloatArray, t: FloatArray) -> FloatArray:
    # Odd cumulants of an indicator in q = p(1-p), each times (1-2p); from the recursion
    # kappa_{j+1} = q d kappa_j / dp, up to order 11; the next term is below 1e-17 q at t = 0.25.
    q = p * (1 - p)
    cumulants = (
        (3, q),
        (5, q * (1 - 12 * q)),
        (7, q * (1 - 60 * q + 360 * q**2)),
        (9, q * (1 - 252 * q + 5040 * q**2 - 20160 * q**3)),
        (11, q * (1 - 1020 * q + 52920 * q**2 - 604800 * q**3 + 1814400 * q**4)),
    )
    total = np.zeros(np.broadcast_shapes(p.shape, t.shape))
    factorial, sign = 6.0, -1.0
    for order, kappa in cumulants:
        total += sign * kappa * t**order / factorial
        factorial *= (order + 1) * (order + 2)
        sign = -sign
    return (1 - 2 * p) * total


@dataclass(frozen=True, eq=False)
class ReferenceNodes:
    """Numbers of items that the reference classifier gets right, with their probabilities.

    Attributes
    ----------
    counts : ndarray of int64, shape (K,)
        Nodes ``k``; a single node 0 when the classifiers are independent.
    weights : ndarray, shape (K,)
        ``P(S0 = k)`` times the stride, summing to one.
    stride : int
        Distance of the nodes. A trapezoidal rule over a smooth, decaying function converges
        exponentially, so a stride well above 1 loses nothing where S0 has a large variance.
    """

    counts: IntArray
    weights: FloatArray
    stride: int

    def chunks(self, size: int) -> Iterator[tuple[IntArray, FloatArray]]:
        """Consecutive runs of at most ``size`` nodes."""
        for start in range(0, self.counts.size, size):
            yield self.counts[start : start + size], self.weights[start : start + size]


def reference_nodes(
    n_test: int, reference_skill: float, step: float, half_width: float = 7.3
) -> ReferenceNodes:
    """Nodes for the sum over S0 ~ Binomial(n_test, reference_skill).

    Parameters
    ----------
    n_test : int
        Number of test items.
    reference_skill : float
        ``theta0`` in (0, 1).
    step : float
        Wanted distance of the nodes in standard deviations of S0.
    half_width : float
        Standard deviations of S0 to cover on each side (skewness is allowed for on top).
    """
    if not 0 < reference_skill < 1:
        raise InputError(f"reference skill must lie in (0, 1), got {reference_skill:g}")
    variance = n_test * reference_skill * (1 - reference_skill)
    sd = float(np.sqrt(variance))
    reach = half_width * sd + half_width**2 / 6
    low = max(0, int(np.floor(n_test * reference_skill - reach)))
    high = min(n_test, int(np.ceil(n_test * reference_skill + reach)))
    counts = np.arange(low, high + 1, dtype=np.int64)
    stride = int(np.clip(step * sd, 1, counts.size))
    pmf = _binomial_pmf(n_test, reference_skill, counts)
    middle = int(np.argmax(pmf))
    chosen = np.arange(middle % stride, counts.size, stride)
    weights = pmf[chosen]
    return ReferenceNodes(counts[chosen], weights / weights.sum(), stride)


def _binomial_pmf(n_test: int, probability: float, counts: IntArray) -> FloatArray:
    # Ratios of neighbours multiplied up from the mode: relative errors stay near 1e-14 where
    # differences of log gamma functions lose nine digits at n = 1,000,000.
    mode = int(np.clip(np.floor((n_test + 1) * probability), counts[0], counts[-1]))
    odds = probability / (1 - probability)
    up = np.arange(mode, counts[-1], dtype=np.float64)
    down = np.arange(mode, counts[0], -1, dtype=np.float64)
    above = np.cumprod((n_test - up) / (up + 1) * odds)
    below = np.cumprod(down / (n_test - down + 1) / odds)
    pmf = np.concatenate([below[::-1], [1.0], above])
    return np.asarray(pmf / pmf.sum(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class SurvivalTable:
    """Survival functions at given counts.

    Attributes
    ----------
    correlation : float
        rho.
    shifts, weights : ndarray, shape (K,)
        Nodes of the shift that all scores share, standardised, and their probabilities; one node
        where classifiers are independent.
    skills : ndarray, shape (N,)
        Increasing skills.
    survival : ndarray, shape (E, K, N)
        ``P(X > edges[e] | shifts[k], skills[i])``, decreasing in e and increasing in i.
    cell : float
        Distance of two nodes of the shift.
    points : int
        Number of values that the shift can take in a cell; 0 where it is continuous.
    open_ends : (bool, bool)
        Whether the shift could lie beyond the first and the last node.
    """

    correlation: float
    shifts: FloatArray
    weights: FloatArray
    skills: FloatArray
    survival: FloatArray
    cell: float = 0.0
    points: int = 0
    open_ends: tuple[bool, bool] = (False, False)

    @cached_property
    def smoothed(self) -> FloatArray:
        """Nodal values minus a twelfth of their second differences.

        A linear interpolant of a convex function is too high by h^2/12 times its second
        derivative on average; the correction makes expectations fourth order in h.
        """
        s = self.survival.copy()
        s[..., 1:-1] -= np.diff(self.survival, 2, axis=-1) / 12
        return np.clip(s, 0.0, 1.0)

    def draw_shift(self, rng: np.random.Generator, k: IntArray) -> FloatArray:
        """Shifts spread evenly around the nodes ``k``; from the prior where none matters."""
        if self.shifts.size == 1:
            return rng.standard_normal(k.size)
        if self.points:
            place = (rng.integers(self.points, size=k.size) - (self.points - 1) / 2) / self.points
        else:
            place = rng.random(k.size) - 0.5
        return self.shifts[k] + self.cell * place

    def ends(self) -> "SurvivalTable":
        """The table at the first and the last edge only."""
        return replace(self, survival=self.survival[[0, -1]])

    def log_field_cdf(self, weights: FloatArray) -> FloatArray:
        r"""``log H_k(1, x)``: one less the mass of P(theta) times the probability of more than x.

        Parameters
        ----------
        weights : ndarray, shape (D, N)
            Hat weights of D skill distributions on the skills of the table.

        Returns
        -------
        ndarray, shape (E, K, D)
        """
        e, k, n = self.survival.shape
        above = self.smoothed.reshape(e * k, n) @ weights.T
        np.negative(np.minimum(above, _NEARLY_ONE, out=above), out=above)
        return np.log1p(above, out=above).reshape(e, k, -1)


def skill_nodes(
    counts: tuple[int, int],
    n_test: int,
    correlations: FloatArray,
    refinement: float = 1.0,
    luck: float = 0.0,
) -> FloatArray:
    """Skills between which a survival function at these counts goes from 0 to 1.

    Equally spaced on the variance-stabilised scale, where one unit is a standard error; the lowest
    lies ``luck`` units further down than it would without.
    """
    reach, spacing = node_range(correlations, refinement)
    top = np.pi * np.sqrt(n_test)
    centre = [2 * np.sqrt(n_test) * np.arcsin(np.sqrt(c / n_test)) for c in counts]
    low = max(centre[0] - reach - luck, 0.02 * top / n_test)
    high = min(centre[1] + reach, top - 0.05 * spacing)
    root = np.linspace(low, high, int(np.ceil((high - low) / spacing)) + 2)
    return np.sin(root / (2 * np.sqrt(n_test))) ** 2


def node_range(correlations: FloatArray, refinement: float) -> tuple[float, float]:
    """How many standard errors skills reach around a score, and how far apart they are."""
    rho_max, rho_min = float(correlations.max()), float(correlations.min())
    reach = _SKILL_REACH * np.sqrt(1 - rho_min**2) + (SHIFT_REACH + 0.5) * rho_max
    return float(reach), 0.4 * max(float(np.sqrt(1 - rho_max**2)), 0.05) / refinement


def survival_table(
    edges: IntArray,
    n_test: int,
    skills: FloatArray,
    correlation: float,
    reference_skill: float,
    typical_tries: float,
    refinement: float = 1.0,
) -> SurvivalTable:
    """Survival functions at the counts ``edges`` for one correlation.

    Parameters
    ----------
    edges : ndarray of int64, shape (E,)
        Increasing counts between -1 and ``n_test``.
    n_test : int
    skills : ndarray, shape (N,)
    correlation, reference_skill : float
    typical_tries : float
        Sets the distance of the nodes of S0.
    refinement : float
        Nodes of S0 are this many times denser.
    """
    if correlation == 0:
        counts, weights = np.zeros(1, np.int64), np.ones(1)
    else:
        step = shift_step(correlation, typical_tries) / refinement
        nodes = reference_nodes(n_test, reference_skill, step, SHIFT_REACH)
        counts, weights = nodes.counts, nodes.weights
    a, b = conditional_probabilities(skills, correlation, reference_skill)
    blocks = np.array_split(np.arange(skills.size), int(np.ceil(skills.size / _BLOCK)))
    survival = np.concatenate(
        [_survival(edges, n_test, counts, a[i], b[i]) for i in blocks], axis=-1
    )
    survival[survival < NOISE] = 0.0
    sd = np.sqrt(n_test * reference_skill * (1 - reference_skill))
    stride = int(counts[1] - counts[0]) if counts.size > 1 else 1
    ends = (bool(counts[0] > 0), bool(0 < counts[-1] < n_test))
    shifts = (counts - n_test * reference_skill) / sd
    return SurvivalTable(correlation, shifts, weights, skills, survival, stride / sd, stride, ends)


def shift_step(correlation: float, typical_tries: float) -> float:
    """Distance of the nodes of the shift: a share of what the best of many varies by."""
    gumbel = np.sqrt(1 - correlation**2) / np.sqrt(2 * np.log(typical_tries + 2))
    return float(min(1.2 * gumbel / max(correlation, 1e-9), 0.5))


def _survival(
    edges: IntArray, n_test: int, counts: IntArray, a: FloatArray, b: FloatArray
) -> FloatArray:
    ends = counts[[0, -1]].astype(np.float64)[:, None]
    variance = ends * (a * (1 - a)) + (n_test - ends) * (b * (1 - b))
    mean = ends * a[[0, -1]] + (n_test - ends) * b[[0, -1]]
    low, high = count_window(mean, variance[:, [0, -1]], n_test)
    size = high - low + 1
    frequency = live_frequencies(size, float(variance.min()), _EXPONENT)
    k, stride = float(counts[0]), float(counts[1] - counts[0]) if counts.size > 1 else 0.0
    log_a = log_characteristic_function(a, frequency)
    log_b = log_characteristic_function(b, frequency)
    exponent = np.asarray(k * log_a + (n_test - k) * log_b, np.complex128)
    exponent += 1j * frequency * (k * a + (n_test - k) * b - low)[:, None]
    drift = 1j * frequency * (a - b)[:, None]
    slope = np.asarray(stride * (log_a - log_b + drift), np.complex128)
    kernel = _upper_sums(np.clip(edges - low, -1, size - 1), size, frequency)
    # The real part of a complex product, as one real product of half the work.
    parts = np.stack([kernel.real, -kernel.imag], axis=1).reshape(-1, kernel.shape[1])
    survival = np.empty((edges.size, counts.size, a.size))
    for row, phi in enumerate(_powers(exponent, slope, counts.size)):
        survival[:, row] = (phi.view(np.float64) @ parts).T
    return np.clip(survival, 0.0, 1.0)


def _powers(
    exponent: NDArray[np.complex128], slope: NDArray[np.complex128], count: int
) -> Iterator[NDArray[np.complex128]]:
    """``exp(exponent + row * slope)`` for each row.

    Multiplication instead of an exponential, begun anew before it grows too much. What stays too
    small to matter until then is 0: arithmetic of subnormal numbers is very slow.
    """
    growth = np.maximum(slope.real, 0.0)
    steps = int(min(count, _GROWTH / max(float(growth.max()), 1e-9) + 1))
    least = _NOTHING * np.exp(-growth * steps)
    ratio = np.exp(slope) if steps > 1 else slope
    for start in range(0, count, steps):
        current = np.exp(exponent + start * slope)
        for _ in range(start, min(start + steps, count)):
            current[np.abs(current.real) + np.abs(current.imag) < least] = 0.0
            yield current
            current *= ratio


def _upper_sums(edges: IntArray, size: int, frequency: FloatArray) -> NDArray[np.complex128]:
    """Inverse transform summed over the counts above each edge, shape (F, E)."""
    fold = np.full(frequency.size, 2.0)
    fold[0] = 1.0
    if frequency.size == size // 2 + 1 and size % 2 == 0:
        fold[-1] = 1.0
    terms = size - 1 - edges
    t = frequency[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        sums = np.exp(-1j * t * (edges + size) / 2) * np.sin(t * terms / 2) / np.sin(t / 2)
    sums[0] = terms
    return np.asarray(fold[:, None] * sums / size)
