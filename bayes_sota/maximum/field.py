r"""A field of classifiers as quadrature nodes, and the cdf of its best success count.

Two kinds of field, both turned into nodes with weights:

- drawn skills: Gauss-Legendre panels on P(theta), then ``F_k(x)^m`` with
  ``F_k = sum_q w_q P(X <= x | k, theta_q)``;
- listed skills: ``prod_j P(X <= x | k, theta_j) = exp(sum_q w_q log P(X <= x | k, theta_q))``; many
  distinct skills are moved onto Chebyshev nodes with the transpose of interpolation, so that the
  cost depends on their range in standard errors and not on their number.

Memory is bounded by the windows of a few rows, whatever n and m are.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayes_sota.auc.best import quadrature
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
_FEWEST, _PER_ERROR = 24, 6.0  # Chebyshev nodes, and how many more per standard error
_STRIDE = 0.36  # of the sum over S0, in units of the step of F_k(x)^m


@dataclass(frozen=True)
class Items:
    """Test items, and the reference classifier that classifiers depend on.

    Attributes
    ----------
    n_test : int
    correlation, reference_skill : float
    reference_count : int or None
        Number of items that the reference classifier got right, where it is known.
    """

    n_test: int
    correlation: float
    reference_skill: float
    reference_count: int | None = None

    @property
    def dependence(self) -> tuple[int, float, float]:
        """Arguments of ``survival``."""
        return self.n_test, self.correlation, self.reference_skill

    @property
    def own(self) -> float:
        """Share of a standard error that a score does not share."""
        return float(np.sqrt(max(1 - self.correlation**2, 1e-4)))

    @property
    def kinks(self) -> FloatArray:
        """Skills at which the correlation starts to be cut; no smooth rule may cross them."""
        if self.correlation == 0 or not 0 < self.reference_skill < 1:
            return np.empty(0)
        return np.array(feasible_skills(self.correlation, self.reference_skill))

    def stabilized(self, skill: FloatArray) -> FloatArray:
        """Scale on which scores have a standard deviation of one."""
        return 2 * np.sqrt(self.n_test) * np.arcsin(np.sqrt(skill))

    def near(self, skills: FloatArray, sure: float) -> Any:
        """Which skills can reach the score of one that surely takes part, but for exp(-45)."""
        ends = np.append(skills, sure)
        reach = tail_half_width(self.n_test * ends * (1 - ends)) / self.n_test
        return skills + reach[:-1] >= sure - reach[-1]

    def nodes_of_counts(self, m: float) -> tuple[IntArray, FloatArray]:
        """Nodes of S0 and their probabilities, for the best of m.

        F_k(x)^m is a Gumbel-like step in k; its trapezoidal sum converges like exp(-pi^2 / h) with
        h the stride in units of that step: 1e-12 for 0.36, times the change of the cdf over a step.
        """
        if self.correlation == 0 or self.reference_count is not None:
            return np.array([self.reference_count or 0]), np.ones(1)
        gumbel = np.sqrt(1 - self.correlation**2) / np.sqrt(2 * np.log(m + 2.0))
        stride = _STRIDE * gumbel / max(self.correlation, 1e-9)
        return reference_nodes(self.n_test, self.reference_skill, stride)


@dataclass(frozen=True, eq=False)
class Field:
    """Nodes of a field.

    Attributes
    ----------
    items : Items
    skills, weights : ndarray, shape (Q,)
        Nodes in increasing order. Weights are probabilities of drawn skills and (possibly
        negative, interpolated) multiplicities of listed ones.
    n_drawn : int or None
        Number of skills drawn; None where they are listed.
    """

    items: Items
    skills: FloatArray
    weights: FloatArray
    n_drawn: int | None = None

    def tabulate(self) -> tuple[int, FloatArray]:
        """Cdf of the best count: first count, and values up to the last below one."""
        counts, chances = self.items.nodes_of_counts(self.n_drawn or float(self.weights.sum()))
        low, high = self._window(counts[[0, -1]])
        total = np.zeros(high - low + 1)
        rows = int(np.clip(_CELLS // total.size, 8, 64))
        for start in range(0, counts.size, rows):
            part = slice(start, start + rows)
            first, values = self._cdf_given(counts[part])
            last = first - low + len(values)
            total[first - low : last] += values @ chances[part]
            total[last:] += chances[part].sum()
        occupied = int(np.argmax(total > 1e-18)) if np.any(total > 1e-18) else total.size - 1
        return low + occupied, np.minimum(np.maximum.accumulate(total[occupied:]), 1.0)

    def _groups(self) -> list[slice]:
        """Runs of nodes that share a window: drawn ones within ``_GROUP`` standard errors."""
        label = np.arange(self.skills.size)
        if self.n_drawn is not None:
            root = self.items.stabilized(self.skills)
            label = ((root - root[0]) / _GROUP).astype(np.int64)
        edges = [0, *(np.flatnonzero(np.diff(label)) + 1).tolist(), self.skills.size]
        return [slice(i, j) for i, j in pairwise(edges)]

    def _window(self, counts: IntArray) -> tuple[int, int]:
        # over all skills: where a variance vanishes, mean + reach is not monotone in the skill
        law = success_law(self.skills, counts, *self.items.dependence)
        return count_window(*law[2:], self.items.n_test)

    def _cdf_given(self, counts: IntArray) -> tuple[int, FloatArray]:
        """Cdf of the best count given each of these nodes of S0: first count, and (X, K)."""
        low, high = self._window(counts)
        total = np.zeros((high - low + 1, counts.size))
        for group in self._groups():
            weights = np.ones(1) if self.n_drawn is None else self.weights[group]
            known = (self.skills[group], counts, *self.items.dependence)
            first, above = survival(*known, weights=weights)
            whole = np.zeros(total.shape)
            whole[: first - low] = weights.sum()
            whole[first - low : first - low + len(above)] = above
            if self.n_drawn is None:
                # relative to a small cdf this cancels; what is left is a small cdf all the same
                whole = self.weights[group] * np.log1p(-np.minimum(whole, _NEARLY_ONE))
            total += whole
        if self.n_drawn is not None:
            with np.errstate(divide="ignore"):
                total = self.n_drawn * np.log1p(-np.clip(total, 0, 1))
        return low, np.exp(np.minimum(total, 0))


def drawn_field(items: Items, distribution: SkillDistribution, n_drawn: int) -> Field:
    """Nodes for skills drawn from a distribution, without those that never reach the best score."""
    skills, weights = quadrature(
        distribution, lambda skill: items.stabilized(skill) / items.own, items.kinks
    )
    enough = 4 * CERTAIN / n_drawn
    if enough < 0.5:
        kept = items.near(skills, float(distribution.skill(distribution.isf(enough))))
        skills, weights = skills[kept], weights[kept]
    return Field(items, skills, weights, n_drawn)


def listed_field(items: Items, skills: FloatArray, n_drawn: int | None = None) -> Field:
    """Nodes for given skills, or for so many drawn from them with replacement.

    Equal skills share a node, and very many distinct ones are condensed. What serves the product
    serves the sum over drawn skills, which is linear in the weights too. Skills that cannot reach
    the best score are left out.
    """
    values, copies = np.unique(skills, return_counts=True)
    sure = values[-1] if n_drawn is None else surely_drawn(values, copies, n_drawn)
    kept = items.near(values, sure)
    root, weights = items.stabilized(values[kept]), copies[kept].astype(np.float64)
    pieces = np.split(np.arange(root.size), np.searchsorted(root, items.stabilized(items.kinks)))
    moved = [
        condensed(root[i], weights[i], _FEWEST + int(_PER_ERROR * np.ptp(root[i]) / items.own))
        for i in pieces
        if i.size
    ]
    root, weights = (np.concatenate(parts) for parts in zip(*moved, strict=True))
    nodes = np.sin(root / (2 * np.sqrt(items.n_test))) ** 2
    return Field(items, nodes, weights if n_drawn is None else weights / skills.size, n_drawn)
