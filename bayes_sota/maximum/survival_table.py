r"""Tables of P(X > x | S0 = k, theta) at a few counts x, for all k and theta that matter.

The tables do not depend on the hyperparameters of P(theta): with the hat weights of a skill
distribution every :math:`1 - H_k(1, x)` is one matrix product. Characteristic functions again
(``dependence``), summed over the counts above x instead of inverted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.dependence import (
    conditional_probabilities,
    count_window,
    live_frequencies,
    log_characteristic_function,
    reference_nodes,
)
from bayes_sota.maximum.walk import NormalScores

NOISE = 1e-13  # survival functions below it are round-off, and set to zero
_EXPONENT = 24.0  # frequencies with |phi| below exp(-24) are dropped
_BLOCK = 256  # skills that share a window of counts
_GROWTH = 600.0  # largest exponent that repeated multiplication may reach
_NOTHING = 1e-40  # of a characteristic function
_SHIFT_REACH = 6.0  # standard deviations of S0 on each side
_SKILL_REACH = 7.0  # conditional standard errors on each side


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

    def draw_shift(self, rng: np.random.Generator, k: NDArray[np.int64]) -> FloatArray:
        """Shifts spread evenly around the nodes ``k``; from the prior where none matters."""
        if self.shifts.size == 1:
            return rng.standard_normal(k.size)
        if self.points:
            place = (rng.integers(self.points, size=k.size) - (self.points - 1) / 2) / self.points
        else:
            place = rng.random(k.size) - 0.5
        return np.asarray(self.shifts[k] + self.cell * place)

    def ends(self) -> "SurvivalTable":
        """The table at the first and the last edge only."""
        return replace(self, survival=self.survival[[0, -1]])

    def field_survival(self, weights: FloatArray) -> FloatArray:
        r"""``1 - H_k(1, x)``, the mass of P(theta) times the probability of more than x.

        Parameters
        ----------
        weights : ndarray, shape (D, N)
            Hat weights of D skill distributions on the skills of the table.

        Returns
        -------
        ndarray, shape (E, K, D)
        """
        e, k, n = self.survival.shape
        product = self.smoothed.reshape(e * k, n) @ weights.T
        return np.clip(product.reshape(e, k, -1), 0.0, 1.0)


def skill_nodes(
    counts: tuple[int, int], n_test: int, correlations: FloatArray, refinement: float = 1.0
) -> FloatArray:
    """Skills between which a survival function at these counts goes from 0 to 1.

    Equally spaced on the variance-stabilised scale, where one unit is a standard error.
    """
    reach, spacing = _node_range(correlations, refinement)
    top = np.pi * np.sqrt(n_test)
    centre = [2 * np.sqrt(n_test) * np.arcsin(np.sqrt(c / n_test)) for c in counts]
    low = max(centre[0] - reach, 0.02 * top / n_test)
    high = min(centre[1] + reach, top - 0.05 * spacing)
    root = np.linspace(low, high, int(np.ceil((high - low) / spacing)) + 2)
    return np.asarray(np.sin(root / (2 * np.sqrt(n_test))) ** 2)


def normal_skill_nodes(
    bounds: tuple[float, float],
    scores: NormalScores,
    correlations: FloatArray,
    refinement: float = 1.0,
) -> FloatArray:
    """The same for scores between ``bounds`` with a normal score; skills in (0, 1)."""
    reach, spacing = _node_range(correlations, refinement)
    low = max(float(scores.stabilized(bounds[0])) - reach, float(scores.stabilized(1e-4)))
    high = min(float(scores.stabilized(bounds[1])) + reach, float(scores.stabilized(1 - 1e-7)))
    count = int(np.ceil((high - low) / spacing)) + 2
    return np.asarray(scores.from_stabilized(np.linspace(low, high, count)))


def _node_range(correlations: FloatArray, refinement: float) -> tuple[float, float]:
    """How many standard errors skills reach around a score, and how far apart they are."""
    rho_max, rho_min = float(correlations.max()), float(correlations.min())
    reach = _SKILL_REACH * np.sqrt(1 - rho_min**2) + (_SHIFT_REACH + 0.5) * rho_max
    return float(reach), 0.4 * max(float(np.sqrt(1 - rho_max**2)), 0.05) / refinement


def survival_table(
    edges: NDArray[np.int64],
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
        step = _step(correlation, typical_tries) / refinement
        nodes = reference_nodes(n_test, reference_skill, step, _SHIFT_REACH)
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
    return SurvivalTable(
        correlation, shifts, weights, skills, survival, stride / sd, stride, ends
    )  # fmt: skip


def normal_survival_table(
    edges: FloatArray,
    scores: NormalScores,
    skills: FloatArray,
    correlation: float,
    typical_tries: float,
    refinement: float = 1.0,
) -> SurvivalTable:
    """Survival functions at the scores ``edges`` where normal scores share one factor.

    Parameters
    ----------
    edges : ndarray, shape (E,)
        Increasing scores.
    scores : NormalScores
    skills : ndarray, shape (N,)
    correlation, typical_tries, refinement
        As in ``survival_table``.
    """
    from scipy.special import ndtr

    shifts: FloatArray = np.zeros(1)
    weights: FloatArray = np.ones(1)
    cell = 0.0
    if correlation > 0:
        cell = _step(correlation, typical_tries) / refinement
        count = 2 * int(np.ceil(_SHIFT_REACH / cell)) + 1
        shifts = np.asarray((np.arange(count) - count // 2) * cell, np.float64)
        weights = np.asarray(np.exp(-0.5 * shifts**2) / np.sum(np.exp(-0.5 * shifts**2)))
    g = scores.normal_score(edges[:, None], skills)
    own = np.sqrt(1 - correlation**2)
    survival = ndtr((correlation * shifts[:, None] - g[:, None]) / own)
    survival[survival < NOISE] = 0.0
    is_open = (shifts.size > 1, shifts.size > 1)
    return SurvivalTable(
        correlation, shifts, weights, skills, np.asarray(survival), cell, 0, is_open
    )  # fmt: skip


def _step(correlation: float, typical_tries: float) -> float:
    """Distance of the nodes of the shift: a share of what the best of many varies by."""
    gumbel = np.sqrt(1 - correlation**2) / np.sqrt(2 * np.log(typical_tries + 2))
    return float(min(1.2 * gumbel / max(correlation, 1e-9), 0.5))


def _survival(
    edges: NDArray[np.int64], n_test: int, counts: NDArray[np.int64], a: FloatArray, b: FloatArray
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


def _upper_sums(
    edges: NDArray[np.int64], size: int, frequency: FloatArray
) -> NDArray[np.complex128]:
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
