r"""A field of classifiers as quadrature nodes, and the cdf of its best success count.

Two kinds of field, both turned into nodes with weights:

- random skills: Gauss-Legendre panels on P(theta), then ``F_k(x)^m`` with
  ``F_k = sum_q w_q P(X <= x | k, theta_q)``;
- fixed skills: ``prod_j P(X <= x | k, theta_j) = exp(sum_q w_q log P(X <= x | k, theta_q))``; many
  distinct skills are moved onto Chebyshev nodes with the transpose of interpolation, so that the
  cost depends on their range in standard errors and not on their number.

Memory is bounded by the windows of a few rows, whatever n and m are.
"""

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.numerics import CERTAIN, cardinal_functions, surely_drawn
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.dependence import (
    CHARACTERISTIC_EXPONENT,
    ReferenceNodes,
    conditional_probabilities,
    count_window,
    feasible_skills,
    live_frequencies,
    log_characteristic_function,
    reference_nodes,
    tail_half_width,
)

_CELLS = 2**17  # size of the window that neighbouring nodes of S0 share
_GROUP = 24.0  # standard errors of skill that share one window
_NEARLY_ONE = 1 - 2.0**-53
_PANEL_NODES, _PANEL_WIDTH = 14, 3.0
_CHEBYSHEV_NODES, _CHEBYSHEV_WIDTH = 14, 1.5  # per panel, and its width
_STRIDE = 0.36  # of the sum over S0, in units of the step of F_k(x)^m


@dataclass(frozen=True, eq=False)
class Field:
    """Nodes of a field of ``n_classifiers`` and the reference classifier they depend on.

    Attributes
    ----------
    skills, weights : ndarray, shape (Q,)
        Nodes in increasing order. Weights are probabilities for random skills and (possibly
        negative, interpolated) multiplicities for fixed ones.
    random : bool
        Which of the two.
    n_test, n_classifiers : int
    correlation, reference_skill : float
    reference_count : int or None
        Number of items that the reference classifier got right, where it is known.
    """

    skills: FloatArray
    weights: FloatArray
    random: bool
    n_test: int
    n_classifiers: int
    correlation: float
    reference_skill: float
    reference_count: int | None = None

    def tabulate(self) -> tuple[int, FloatArray]:
        """Cdf of the best count: first count, and values up to the last below one."""
        alone = self.n_classifiers == 1 and self.reference_count is None
        if alone and self.correlation:  # the law of one classifier is binomial whatever rho is
            return replace(self, correlation=0.0).tabulate()
        reference = self._reference()
        low, high = self._window(reference.counts[[0, -1]], self._group_ends())
        total = np.zeros(high - low + 1)
        rows = int(np.clip(_CELLS // (high - low + 1), 8, 64))
        for counts, weights in reference.chunks(rows):
            first, values = self._chunk_cdf(counts)
            last = first - low + values.shape[1]
            total[first - low : last] += weights @ values
            total[last:] += weights.sum()
        occupied = int(np.argmax(total > 1e-18)) if np.any(total > 1e-18) else total.size - 1
        return low + occupied, np.minimum(np.maximum.accumulate(total[occupied:]), 1.0)

    def _reference(self) -> ReferenceNodes:
        if self.correlation == 0:
            return ReferenceNodes(np.zeros(1, np.int64), np.ones(1), 1)
        if self.reference_count is not None:
            return ReferenceNodes(np.array([self.reference_count]), np.ones(1), 1)
        # F_k(x)^m is a Gumbel-like step in k; its trapezoidal sum converges like
        # exp(-pi^2 / h) with h the stride in units of that step: 1e-12 for 0.36, times the change
        # of the cdf over a step.
        rho = self.correlation
        gumbel = np.sqrt(1 - rho**2) / np.sqrt(2 * np.log(self.n_classifiers + 2.0))
        step = _STRIDE * gumbel / max(rho, 1e-9)
        return reference_nodes(self.n_test, self.reference_skill, step)

    def _moments(
        self, counts: NDArray[np.int64], skills: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        a, b = conditional_probabilities(skills, self.correlation, self.reference_skill)
        k = counts[:, None].astype(np.float64)
        mean = k * a + (self.n_test - k) * b
        variance = k * a * (1 - a) + (self.n_test - k) * b * (1 - b)
        return mean, variance

    def _window(self, counts: NDArray[np.int64], skills: FloatArray) -> tuple[int, int]:
        return count_window(*self._moments(counts, skills), self.n_test)

    def _chunk_cdf(self, counts: NDArray[np.int64]) -> tuple[int, FloatArray]:
        """Cdf of the best count given each of these nodes of S0, on one common window."""
        if self.random:
            low, high = self._window(counts, self._group_ends())
            survival = np.zeros((counts.size, high - low + 1))
            for group in self._groups():
                self._add_survival(counts, group, low, survival)
            with np.errstate(divide="ignore"):
                log_cdf = self.n_classifiers * np.log1p(-np.clip(survival, 0, 1))
        else:
            low, high = self._window(counts, self.skills[-1:])
            log_cdf = np.zeros((counts.size, high - low + 1))
            for i in range(self.skills.size):
                self._add_log_cdf(counts, i, low, log_cdf)
        return low, np.exp(np.minimum(log_cdf, 0))

    def _groups(self) -> list[slice]:
        """Runs of nodes whose skills span at most ``_GROUP`` standard errors."""
        stabilised = 2 * np.sqrt(self.n_test) * np.arcsin(np.sqrt(self.skills))
        label = ((stabilised - stabilised[0]) / _GROUP).astype(np.int64)
        edges = np.concatenate([[0], np.flatnonzero(np.diff(label)) + 1, [self.skills.size]])
        return [slice(int(i), int(j)) for i, j in pairwise(edges)]

    def _group_ends(self) -> FloatArray:
        # Where a variance vanishes, mean + reach is not monotone in the skill; a window over the
        # ends of every group holds the window of each.
        ends = [i for group in self._groups() for i in (group.start, group.stop - 1)]
        return self.skills[ends]

    def _add_survival(
        self, counts: NDArray[np.int64], group: slice, low: int, survival: FloatArray
    ) -> None:
        first, pmf = self._mixture_pmf(counts, self.skills[group], self.weights[group])
        tail = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
        mass = tail[:, :1]
        survival[:, : first - low] += mass
        survival[:, first - low : first - low + pmf.shape[1] - 1] += tail[:, 1:]

    def _add_log_cdf(
        self, counts: NDArray[np.int64], i: int, low: int, log_cdf: FloatArray
    ) -> None:
        first, pmf = self._mixture_pmf(counts, self.skills[i : i + 1], np.ones(1))
        survival = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1][:, 1:]
        skip = max(0, low - first)
        # relative to a small cdf this cancels, but what is left of it is a small cdf all the same
        part = np.log1p(-np.minimum(survival, _NEARLY_ONE))[:, skip:]
        start = first + skip - low
        stop = min(start + part.shape[1], log_cdf.shape[1])
        if start < log_cdf.shape[1]:
            log_cdf[:, start:stop] += self.weights[i] * part[:, : stop - start]
        below = self.weights[i] * np.log1p(-_NEARLY_ONE)
        log_cdf[:, : max(0, min(start, log_cdf.shape[1]))] += below

    def _mixture_pmf(
        self, counts: NDArray[np.int64], skills: FloatArray, weights: FloatArray
    ) -> tuple[int, FloatArray]:
        """``sum_q w_q P(X = x | k, theta_q)`` on the window that carries its mass."""
        low, high = self._window(counts, skills[[0, -1]])
        size = _fast_length(high - low + 1)
        a, b = conditional_probabilities(skills, self.correlation, self.reference_skill)
        least = float(self._moments(counts[[0, -1]], skills[[0, -1]])[1].min())
        frequency = live_frequencies(size, least, CHARACTERISTIC_EXPONENT)
        log_a = log_characteristic_function(a, frequency)
        log_b = log_characteristic_function(b, frequency)
        k, n = float(counts[0]), self.n_test
        phase = 1j * frequency
        # n a loses ten digits after the point at n = 1,000,000; whole numbers lose none
        whole = k * np.round(a) + (n - k) * np.round(b) - low
        mean = whole + (k * (a - np.round(a)) + (n - k) * (b - np.round(b)))
        current = np.exp(k * log_a + (n - k) * log_b + phase * mean[:, None]) * weights[:, None]
        stride = float(counts[1] - counts[0]) if counts.size > 1 else 0.0
        ratio = np.exp(stride * (log_a - log_b + phase * (a - b)[:, None]))
        spectrum = np.empty((counts.size, frequency.size), np.complex128)
        for row in range(counts.size):  # the exponent is linear in k: multiply, do not recompute
            spectrum[row] = current.sum(axis=0)
            current *= ratio
        pmf = np.fft.irfft(spectrum.conj(), n=size, axis=1)
        return low, pmf[:, : high - low + 1]


def _fast_length(size: int) -> int:
    """Next length of the form 2^i, 3 2^i or 5 2^i, even."""
    power = 1 << (max(size, 8) - 1).bit_length()
    return next(x for x in (power * 5 // 8, power * 3 // 4, power) if x >= size and x % 2 == 0)


def random_field(
    distribution: SkillDistribution,
    n_test: int,
    n_classifiers: int,
    correlation: float,
    reference_skill: float,
) -> Field:
    """Nodes for skills drawn from ``distribution``.

    Skills so low that they reach the best score with probability below exp(-45) are left out.
    """
    kinks = _kinks(correlation, reference_skill)
    edges = _panel_edges(distribution, n_test, correlation, kinks)
    skills, weights = _panel_nodes(distribution, edges)
    kept = slice(_PANEL_NODES * _lowest_relevant(distribution, n_test, n_classifiers, edges), None)
    sizes = (n_test, n_classifiers)
    return Field(skills[kept], weights[kept], True, *sizes, correlation, reference_skill)


def _panel_nodes(
    distribution: SkillDistribution, edges: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes on every panel, with weights that sum to one."""
    x, w = np.polynomial.legendre.leggauss(_PANEL_NODES)
    centre, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    u = (centre[:, None] + half[:, None] * x).ravel()
    weights = (half[:, None] * w).ravel() * distribution.axis_density(u)
    total = float(weights.sum())  # the density of a narrow Beta is off by a factor of 1 + 1e-7
    return np.asarray(distribution.axis_skill(u)), weights * (1 / total)


def _kinks(correlation: float, reference_skill: float) -> FloatArray:
    """Skills at which the correlation starts to be cut; no smooth rule may reach across them."""
    if correlation == 0 or not 0 < reference_skill < 1:
        return np.empty(0)
    return np.array(feasible_skills(correlation, reference_skill))


def _panel_edges(
    distribution: SkillDistribution, n_test: int, correlation: float, kinks: FloatArray
) -> FloatArray:
    """Panel edges, equally spaced in units of the finer of standard error and density."""
    low, high = distribution.axis_support()
    u = np.linspace(low, high, 2001)
    root = 2 * np.arcsin(np.sqrt(np.asarray(distribution.axis_skill(u))))
    scale = np.sqrt(n_test / max(1 - correlation**2, 1e-4))
    per_resolution = (u - low) / distribution.axis_resolution()
    load = (root - root[0]) * scale / _PANEL_WIDTH + per_resolution
    count = max(1, int(np.ceil(load[-1])))
    edges = np.interp(np.linspace(0, load[-1], count + 1), load, u)
    cuts = distribution.axis_from_skill(kinks)
    return np.sort(np.append(edges, cuts[(cuts > low) & (cuts < high)]))


def _lowest_relevant(
    distribution: SkillDistribution, n_test: int, n_classifiers: int, edges: FloatArray
) -> int:
    """Index of the first panel that can matter for the maximum."""
    enough = 4 * CERTAIN / n_classifiers
    if enough >= 0.5:
        return 0
    skill = float(distribution.skill(distribution.isf(enough)))
    reach = float(tail_half_width(n_test * skill * (1 - skill))) / n_test
    relevant = np.asarray(distribution.axis_skill(edges)) >= skill - reach
    first = int(np.argmax(relevant)) if relevant.any() else edges.size - 1
    return min(max(0, first - 1), edges.size - 2)


def fixed_field(
    skills: FloatArray,
    n_test: int,
    correlation: float,
    reference_skill: float,
    n_drawn: int | None = None,
) -> Field:
    """Nodes for given skills; equal skills share one, and very many distinct ones are condensed.

    With ``n_drawn`` they are those that so many draws with replacement can need.
    """
    values, multiplicity = np.unique(skills, return_counts=True)
    present, copies = values, multiplicity
    if n_drawn is not None:  # the best that all but surely take part
        present, copies = np.array([surely_drawn(values, multiplicity, n_drawn)]), np.ones(1, int)
    score = _least_score(present, copies, n_test, correlation)
    reach = tail_half_width(n_test * values * (1 - values)) / n_test
    keep = values >= np.min(values[values + reach >= score])
    nodes, weights = values[keep], multiplicity[keep].astype(np.float64)
    kinks = _kinks(correlation, reference_skill)
    condensed = _condense(nodes, weights, n_test, correlation, kinks)
    if condensed[0].size < nodes.size:
        nodes, weights = condensed
    m = int(skills.size)
    return Field(nodes, weights, False, n_test, m, correlation, reference_skill)


def resampled_field(
    skills: FloatArray, n_test: int, n_classifiers: int, correlation: float, reference_skill: float
) -> Field:
    """Nodes for ``n_classifiers`` skills drawn with replacement from the given ones.

    The nodes of the fixed skills serve, because ``sum_q w_q P(X <= x | k, theta_q)`` is linear in
    the weights too. Skills that cannot reach the best score count as never reaching it.
    """
    fixed = fixed_field(skills, n_test, correlation, reference_skill, n_drawn=n_classifiers)
    share = fixed.weights / skills.size
    return replace(fixed, weights=share, random=True, n_classifiers=n_classifiers)


def _least_score(
    values: FloatArray, multiplicity: NDArray[np.int64], n_test: int, correlation: float
) -> float:
    """Score below which all of the best j classifiers stay with probability exp(-45) or less."""
    better = np.cumsum(multiplicity[::-1])[::-1]
    sd = np.sqrt(values * (1 - values) * max(1 - correlation**2, 0) / n_test)
    depth = np.interp(np.exp(-CERTAIN / better), *_normal_quantiles())
    return float(np.max(values + depth * sd - 4 / n_test))


def _normal_quantiles() -> tuple[list[float], FloatArray]:
    """Normal cdf and its argument, for a rough quantile without SciPy."""
    z = np.linspace(-9.4, 6.0, 309)
    return [0.5 * math.erfc(-value / math.sqrt(2)) for value in z], z


def _condense(
    skills: FloatArray,
    weights: FloatArray,
    n_test: int,
    correlation: float,
    kinks: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Move weights onto Chebyshev nodes: ``sum w f`` is kept for every smooth f."""
    root = 2 * np.arcsin(np.sqrt(skills))
    width = _CHEBYSHEV_WIDTH * np.sqrt(max(1 - correlation**2, 1e-4) / n_test)
    count = max(1, int(np.ceil((root[-1] - root[0]) / width)))
    edges = np.linspace(root[0], root[-1], count + 1)
    cuts = 2 * np.arcsin(np.sqrt(kinks))
    edges = np.sort(np.append(edges, cuts[(cuts > root[0]) & (cuts < root[-1])]))
    count = edges.size - 1
    angle = (np.arange(_CHEBYSHEV_NODES) + 0.5) * np.pi / _CHEBYSHEV_NODES
    x = -np.cos(angle)
    barycentric = (-1.0) ** np.arange(_CHEBYSHEV_NODES) * np.sin(angle)
    panel = np.clip(np.searchsorted(edges, root, side="right") - 1, 0, count - 1)
    half = np.diff(edges)[panel] / 2
    local = (root - edges[panel]) / np.where(half > 0, half, 1) - 1
    cardinal = cardinal_functions(local, x, barycentric)
    moved = np.zeros((count, _CHEBYSHEV_NODES))
    np.add.at(moved, panel, cardinal * weights[:, None])
    points = edges[:-1, None] + np.diff(edges)[:, None] / 2 * (x + 1)
    occupied = np.isin(np.arange(count), panel)
    theta = np.sin(points[occupied].ravel() / 2) ** 2
    return theta, moved[occupied].ravel()
