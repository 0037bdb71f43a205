r"""A field of classifiers as quadrature nodes, and the cdf of its best success count.

Two kinds of field, both turned into nodes with weights:

- random skills: Gauss-Legendre panels on P(theta), then ``F_k(x)^m`` with
  ``F_k = sum_q w_q P(X <= x | k, theta_q)``;
- fixed skills: ``prod_j P(X <= x | k, theta_j) = exp(sum_q w_q log P(X <= x | k, theta_q))``; many
  distinct skills are moved onto Chebyshev nodes with the transpose of interpolation, so that the
  cost depends on their range in standard errors and not on their number.

Memory is bounded by the windows of a few rows, whatever n and m are.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bayes_sota.core.numerics import CERTAIN, condensed, surely_drawn
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.maximum.dependence import (
    count_window,
    feasible_skills,
    reference_nodes,
    success_law,
    survival,
    tail_half_width,
)

_CELLS = 2**17  # size of the window that neighbouring nodes of S0 share
_GROUP = 24.0  # standard errors of skill that share one window
_NEARLY_ONE = 1 - 2.0**-53
_PANEL_NODES, _PANEL_WIDTH = 14, 3.0
_FEWEST, _PER_ERROR = 24, 6.0  # Chebyshev nodes, and how many more per standard error
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
        counts, weights = self._reference()
        low, high = self._window(counts[[0, -1]])
        total = np.zeros(high - low + 1)
        rows = int(np.clip(_CELLS // total.size, 8, 64))
        for start in range(0, counts.size, rows):
            part = slice(start, start + rows)
            first, values = self._cdf_given(counts[part])
            last = first - low + len(values)
            total[first - low : last] += values @ weights[part]
            total[last:] += weights[part].sum()
        occupied = int(np.argmax(total > 1e-18)) if np.any(total > 1e-18) else total.size - 1
        return low + occupied, np.minimum(np.maximum.accumulate(total[occupied:]), 1.0)

    def _reference(self) -> tuple[IntArray, FloatArray]:
        """Nodes of S0 and their probabilities."""
        if self.correlation == 0 or self.reference_count is not None:
            return np.array([self.reference_count or 0]), np.ones(1)
        # F_k(x)^m is a Gumbel-like step in k; its trapezoidal sum converges like
        # exp(-pi^2 / h) with h the stride in units of that step: 1e-12 for 0.36, times the change
        # of the cdf over a step.
        rho = self.correlation
        gumbel = np.sqrt(1 - rho**2) / np.sqrt(2 * np.log(self.n_classifiers + 2.0))
        return reference_nodes(self.n_test, self.reference_skill, _STRIDE * gumbel / max(rho, 1e-9))

    def _groups(self) -> list[slice]:
        """Runs of nodes whose skills span at most ``_GROUP`` standard errors."""
        stabilised = 2 * np.sqrt(self.n_test) * np.arcsin(np.sqrt(self.skills))
        label = ((stabilised - stabilised[0]) / _GROUP).astype(np.int64)
        edges = np.concatenate([[0], np.flatnonzero(np.diff(label)) + 1, [self.skills.size]])
        return [slice(int(i), int(j)) for i, j in pairwise(edges)]

    def _window(self, counts: IntArray) -> tuple[int, int]:
        # over all skills: where a variance vanishes, mean + reach is not monotone in the skill
        law = success_law(self.skills, counts, *self._dependence)
        return count_window(*law[2:], self.n_test)

    @property
    def _dependence(self) -> tuple[int, float, float]:
        return self.n_test, self.correlation, self.reference_skill

    def _cdf_given(self, counts: IntArray) -> tuple[int, FloatArray]:
        """Cdf of the best count given each of these nodes of S0: first count, and (X, K)."""
        low, high = self._window(counts)
        total = np.zeros((high - low + 1, counts.size))
        single = [slice(i, i + 1) for i in range(self.skills.size)]
        for group in self._groups() if self.random else single:
            weights = self.weights[group] if self.random else np.ones(1)
            first, above = survival(self.skills[group], counts, *self._dependence, weights=weights)
            whole = np.full(total.shape, 0.0)
            whole[: first - low] = weights.sum()
            whole[first - low : first - low + len(above)] = above
            if self.random:
                total += whole
            else:  # relative to a small cdf this cancels; what is left is a small cdf all the same
                total += self.weights[group] * np.log1p(-np.minimum(whole, _NEARLY_ONE))
        if not self.random:
            return low, np.exp(np.minimum(total, 0))
        with np.errstate(divide="ignore"):
            return low, np.exp(self.n_classifiers * np.log1p(-np.clip(total, 0, 1)))


def random_field(
    distribution: SkillDistribution,
    n_test: int,
    n_classifiers: int,
    correlation: float,
    reference_skill: float,
) -> Field:
    """Nodes for skills drawn from ``distribution``.

    Panels are equally wide in units of the finer of standard error and density, and cut where the
    correlation starts to be cut. Skills so low that they reach the best score with probability
    below exp(-45) are left out.
    """
    low, high = distribution.axis_support()
    u = np.linspace(low, high, 2001)
    root = 2 * np.arcsin(np.sqrt(np.asarray(distribution.axis_skill(u))))
    scale = np.sqrt(n_test / max(1 - correlation**2, 1e-4))
    load = (root - root[0]) * scale / _PANEL_WIDTH + (u - low) / distribution.axis_resolution()
    edges = np.interp(np.linspace(0, load[-1], max(1, int(np.ceil(load[-1]))) + 1), load, u)
    cuts = distribution.axis_from_skill(_kinks(correlation, reference_skill))
    edges = np.sort(np.append(edges, cuts[(cuts > low) & (cuts < high)]))
    x, w = np.polynomial.legendre.leggauss(_PANEL_NODES)
    centre, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    nodes = (centre[:, None] + half[:, None] * x).ravel()
    weights = (half[:, None] * w).ravel() * distribution.axis_density(nodes)
    weights *= 1 / float(weights.sum())  # the density of a narrow Beta is off by 1 + 1e-7
    kept = slice(_PANEL_NODES * _lowest_relevant(distribution, n_test, n_classifiers, edges), None)
    skills = np.asarray(distribution.axis_skill(nodes))[kept]
    sizes = (n_test, n_classifiers)
    return Field(skills, weights[kept], True, *sizes, correlation, reference_skill)


def _kinks(correlation: float, reference_skill: float) -> FloatArray:
    """Skills at which the correlation starts to be cut; no smooth rule may reach across them."""
    if correlation == 0 or not 0 < reference_skill < 1:
        return np.empty(0)
    return np.array(feasible_skills(correlation, reference_skill))


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
    values, copies = np.unique(skills, return_counts=True)
    # the best that all but surely takes part; skills that cannot reach its score are left out
    sure = values[-1] if n_drawn is None else surely_drawn(values, copies, n_drawn)
    reach = tail_half_width(n_test * values * (1 - values)) / n_test
    keep = values + reach >= sure - reach[np.searchsorted(values, sure)]
    root = 2 * np.sqrt(n_test) * np.arcsin(np.sqrt(values[keep]))
    weights = copies[keep].astype(np.float64)
    kinks = 2 * np.sqrt(n_test) * np.arcsin(np.sqrt(_kinks(correlation, reference_skill)))
    own = np.sqrt(max(1 - correlation**2, 1e-4))
    pieces = np.split(np.arange(root.size), np.searchsorted(root, kinks))
    moved = [
        condensed(root[i], weights[i], _FEWEST + int(_PER_ERROR * np.ptp(root[i]) / own))
        for i in pieces
        if i.size
    ]
    root, weights = (np.concatenate(parts) for parts in zip(*moved, strict=True))
    nodes = np.sin(root / (2 * np.sqrt(n_test))) ** 2
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
