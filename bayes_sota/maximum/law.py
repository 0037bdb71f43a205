r"""Exact law of the best observed score, `max_j X_j / n` (Sec. 3 and 4 of Møllersen & Holsbø).

.. math:: F(x) = \sum_k P(S_0 = k) \Big( \int P(X \le x \mid k, \theta)\, dP(\theta) \Big)^m

and ``prod_j`` instead of the power for listed skills: a finite sum, with an error below 1e-10 for
m <= 100,000 classifiers and n <= 50,000 items, 1e-8 for a million (``tests/maximum/test_law.py``).

P(theta) becomes Gauss-Legendre panels. Many listed skills are moved onto Chebyshev nodes with the
transpose of interpolation, as ``log prod_j P(X <= x | k, theta_j)`` is linear in their weights.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.auc.best import BestLaw, number_of_classifiers
from bayes_sota.core.arguments import OPEN_SHARE, SHARE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import CERTAIN, condensed, surely_drawn
from bayes_sota.core.skills import SkillDistribution, logit
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.printed_scores import checked_number
from bayes_sota.maximum import dependence

_CELLS = 2**17  # size of the window that neighbouring nodes of S0 share
_GROUP = 24.0  # standard errors of skill that share one window
_NEARLY_ONE = 1 - 2.0**-53
_FEWEST, _PER_ERROR = 24, 6.0  # Chebyshev nodes, and how many more per standard error
_STRIDE = 0.36  # of the sum over S0, in units of the step of F_k(x)^m
_PANEL_NODES, _PANEL_WIDTH = 14, 3.0  # standard errors
_REACH, _SMOOTH = 36.0, 4.0  # log odds: all of the mass, and a panel in which it is a polynomial


@dataclass(frozen=True)
class Items:
    """Test items, and the reference classifier's skill and count, if known."""

    n_test: int
    correlation: float
    reference_skill: float
    reference_count: int | None = None

    @property
    def dependence(self) -> tuple[int, float, float]:
        return self.n_test, self.correlation, self.reference_skill

    @property
    def own(self) -> float:
        return float(np.sqrt(max(1 - self.correlation**2, 1e-4)))

    @property
    def kinks(self) -> FloatArray:
        """Skills beyond which the correlation is cut."""
        if self.correlation == 0 or not 0 < self.reference_skill < 1:
            return np.empty(0)
        return np.array(dependence.feasible_skills(self.correlation, self.reference_skill))

    def stabilized(self, skill: FloatArray) -> FloatArray:
        return 2 * np.sqrt(self.n_test) * np.arcsin(np.sqrt(skill))

    def near(self, skills: FloatArray, sure: float) -> Any:
        """Which skills can reach the score of one that surely takes part, up to exp(-45)."""
        ends = np.append(skills, sure)
        reach = dependence.tail_half_width(self.n_test * ends * (1 - ends)) / self.n_test
        return skills + reach[:-1] >= sure - reach[-1]

    def nodes_of_counts(self, m: float) -> tuple[IntArray, FloatArray]:
        """Nodes of S0 and their probabilities, for the best of m.

        F_k(x)^m is a Gumbel-like step in k; its trapezoidal sum converges like exp(-pi^2 / h) with
        h the stride in units of that step.
        """
        if self.correlation == 0 or self.reference_count is not None:
            return np.array([self.reference_count or 0]), np.ones(1)
        gumbel = np.sqrt(1 - self.correlation**2) / np.sqrt(2 * np.log(m + 2.0))
        stride = _STRIDE * gumbel / max(self.correlation, 1e-9)
        return dependence.reference_nodes(self.n_test, self.reference_skill, stride)


@dataclass(frozen=True, eq=False)
class Field:
    """Nodes of a field: increasing skills (Q,) and weights (Q,).

    Weights are probabilities of ``n_drawn`` drawn skills, or multiplicities of listed ones.
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
        occupied = int(np.argmax(total > 1e-18))
        return low + occupied, np.minimum(np.maximum.accumulate(total[occupied:]), 1.0)

    def _groups(self) -> list[slice]:
        label = np.arange(self.skills.size)
        if self.n_drawn is not None:
            root = self.items.stabilized(self.skills)
            label = ((root - root[0]) / _GROUP).astype(np.int64)
        edges = [0, *(np.flatnonzero(np.diff(label)) + 1).tolist(), self.skills.size]
        return [slice(i, j) for i, j in pairwise(edges)]

    def _window(self, counts: IntArray) -> tuple[int, int]:
        # over all skills, as mean + reach is not monotone where a variance vanishes
        law = dependence.success_law(self.skills, counts, *self.items.dependence)
        return dependence.count_window(*law[2:], self.items.n_test)

    def _cdf_given(self, counts: IntArray) -> tuple[int, FloatArray]:
        low, high = self._window(counts)
        total = np.zeros((high - low + 1, counts.size))
        for group in self._groups():
            weights = np.ones(1) if self.n_drawn is None else self.weights[group]
            known = (self.skills[group], counts, *self.items.dependence)
            first, above = dependence.survival(*known, weights=weights)
            whole = np.zeros(total.shape)
            whole[: first - low] = weights.sum()
            whole[first - low : first - low + len(above)] = above
            if self.n_drawn is None:
                whole = self.weights[group] * np.log1p(-np.minimum(whole, _NEARLY_ONE))
            total += whole
        if self.n_drawn is not None:
            with np.errstate(divide="ignore"):
                total = self.n_drawn * np.log1p(-np.clip(total, 0, 1))
        return low, np.exp(np.minimum(total, 0))


def quadrature(
    distribution: SkillDistribution,
    stabilized: Callable[[FloatArray], FloatArray],
    kinks: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Increasing skills and probabilities of Gauss-Legendre panels, which are cut at the kinks.

    The axis is the log odds of the share of lower skills, where skills of every family are smooth.
    """

    def skill_at(u: FloatArray) -> FloatArray:
        return distribution.skill(distribution.isf(np.exp(-np.logaddexp(0, u))))

    u = np.linspace(-_REACH, _REACH, 2001)
    root = stabilized(skill_at(u))
    load = (root - root[0]) / _PANEL_WIDTH + (u + _REACH) / _SMOOTH
    edges = np.interp(np.linspace(0, load[-1], int(np.ceil(load[-1])) + 1), load, u)
    cuts = -logit(distribution.sf(distribution.from_skill(kinks)))
    edges = np.sort(np.append(edges, cuts[np.abs(cuts) < _REACH]))
    x, w = np.polynomial.legendre.leggauss(_PANEL_NODES)
    half = np.diff(edges)[:, None] / 2
    u = (edges[:-1, None] + half * (x + 1)).ravel()
    weights = (half * w).ravel() * np.exp(-np.logaddexp(0, u) - np.logaddexp(0, -u))
    return skill_at(u), weights / weights.sum()


def drawn_field(items: Items, distribution: SkillDistribution, n_drawn: int) -> Field:
    """Nodes for skills drawn from a distribution."""
    skills, weights = quadrature(
        distribution, lambda skill: items.stabilized(skill) / items.own, items.kinks
    )
    enough = 4 * CERTAIN / n_drawn
    if enough < 0.5:
        kept = items.near(skills, float(distribution.skill(distribution.isf(enough))))
        skills, weights = skills[kept], weights[kept]
    return Field(items, skills, weights, n_drawn)


def listed_field(items: Items, skills: FloatArray, m: int, *, drawn: bool = False) -> Field:
    """Nodes for m classifiers of these skills, in equal numbers or drawn with replacement."""
    values, copies = np.unique(skills, return_counts=True)
    kept = items.near(values, surely_drawn(values, copies, m) if drawn else values[-1])
    root, weights = items.stabilized(values[kept]), copies[kept] / skills.size
    pieces = np.split(np.arange(root.size), np.searchsorted(root, items.stabilized(items.kinks)))
    moved = [
        condensed(root[i], weights[i], _FEWEST + int(_PER_ERROR * np.ptp(root[i]) / items.own))
        for i in pieces
        if i.size
    ]
    root, weights = (np.concatenate(parts) for parts in zip(*moved, strict=True))
    nodes = np.sin(root / (2 * np.sqrt(items.n_test))) ** 2
    return Field(items, nodes, weights, m) if drawn else Field(items, nodes, weights * m)


@dataclass(frozen=True, eq=False)
class MaximumLaw(BestLaw):
    """Law of the sample maximum; a lattice law on success counts 0, ..., n_test.

    ``cdf``, ``sf`` and ``pmf`` take success counts x, as F(x) and f(x) in the paper; ``mean``,
    ``std``, ``interval`` and ``quantile`` return accuracies ``x / n_test``.

    Attributes
    ----------
    n_test, n_classifiers : int
    theta_sota : float
        Skill of the best classifier; for random skills the expected best skill (Definition 1).
    correlation, reference_skill : float
        rho and theta0.
    start, values : int, ndarray
        ``F(start), F(start + 1), ...``; below, the cdf is zero to 1e-18.
    """

    n_test: int
    n_classifiers: int
    theta_sota: float
    correlation: float
    reference_skill: float
    start: int
    values: FloatArray = field(repr=False)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """``P(max_j X_j <= x)`` for success counts ``x``."""
        index = np.floor(np.asarray(x, dtype=np.float64)) - self.start + 1
        index = np.clip(index, 0, self.values.size + 1).astype(np.int64)
        return np.concatenate([[0.0], self.values, [1.0]])[index]

    def at_least(self, score: ArrayLike) -> FloatArray:
        """``P(max_j X_j / n >= score)``.

        Examples
        --------
        Fig. 3 of Møllersen & Holsbø, printed as 0.10:

        >>> best = maximum_law(n_test=3000, n_classifiers=1000, skill=0.9).mean()
        >>> newcomer = maximum_law(n_test=3000, n_classifiers=1, skill=2732 / 3000)
        >>> round(float(newcomer.at_least(best)), 3)
        0.105
        """
        least = np.ceil(np.asarray(score, dtype=np.float64) * self.n_test - 1e-6)
        return self.sf(least - 1)

    def pmf(self, x: ArrayLike) -> FloatArray:
        """``P(max_j X_j = x)``; zero where ``x`` is not an integer."""
        x = np.asarray(x, dtype=np.float64)
        return np.where(x == np.floor(x), self.cdf(x) - self.cdf(x - 1), 0.0)

    @property
    def support(self) -> NDArray[np.int64]:
        """Success counts that carry the mass."""
        return np.arange(self.start, self.start + self.values.size)

    def mean(self) -> float:
        """Expected best score ``E max_j X_j / n`` (Definition 2), an accuracy."""
        return float(self.start + np.sum(1 - self.values)) / self.n_test

    def std(self) -> float:
        """Standard deviation of the best score."""
        centred = self.support - self.mean() * self.n_test
        return float(np.sqrt(np.sum(centred**2 * np.diff(self.values, prepend=0)))) / self.n_test

    def _quantile(self, q: FloatArray) -> FloatArray:
        index = np.searchsorted(self.values, q, side="left")
        return (self.start + np.minimum(index, self.values.size - 1)) / self.n_test


def maximum_law(
    *,
    n_test: int,
    skill: ArrayLike | SkillDistribution,
    n_classifiers: int | None = None,
    correlation: float = 0.0,
    reference_skill: float | None = None,
    cap_correlation: bool = False,
    reference_count: int | None = None,
    resampled: bool = False,
) -> MaximumLaw:
    """Exact law of the best observed score of a field of classifiers.

    Parameters
    ----------
    n_test : int
        Number of test items n.
    skill : float, array_like or SkillDistribution
        One skill for identical classifiers, m skills for fixed non-identical ones, or a
        distribution P(theta) from which skills are drawn.
    n_classifiers : int, optional
        Number of classifiers m; required unless ``skill`` is an array.
    correlation : float
        rho, the correlation of each classifier with the reference classifier; two classifiers then
        correlate by ``rho ** 2``.
    reference_skill : float, optional
        theta0. Default: that of the best classifier; for random skills its expectation.
    cap_correlation : bool
        Use the largest feasible correlation where ``correlation`` is infeasible. Distributions
        on all of (0, 1) need it for any positive correlation.
    reference_count : int, optional
        Number of items that the reference classifier got right (the paper's fixed y0, Sec. 4.2).
        Default: S0 is binomial.
    resampled : bool
        Draw ``n_classifiers`` skills with replacement from the array ``skill``.

    Returns
    -------
    MaximumLaw

    Raises
    ------
    InputError
        A number outside its range.
    InfeasibleCorrelationError
        Eq. 8 (or its upper counterpart) is violated.

    Notes
    -----
    Eq. 2 to 5 and Sec. 4.1 to 4.3 of Møllersen & Holsbø, arXiv 2303.07272.

    Examples
    --------
    Row 3 of Table 1 (the paper simulates 0.9140 and 0.0035):

    >>> law = maximum_law(n_test=3000, n_classifiers=1000, skill=0.9, correlation=0.6)
    >>> round(law.mean(), 4), round(law.std(), 4), law.interval()[1]
    (0.914, 0.0035, 0.9206666666666666)
    """
    n = checked_number(n_test, "n_test")
    if isinstance(skill, SkillDistribution):
        m = number_of_classifiers(n_classifiers, None)
        best = float(np.squeeze(skill.expected_maximum(m)))
        ends = skill.skill(skill.isf(np.array([1.0, 0.0])))
    else:
        skills = _checked_skills(skill)
        listed = None if resampled or np.ndim(skill) == 0 else skills.size
        m = number_of_classifiers(n_classifiers, listed)
        best, ends = float(skills.max()), np.array([skills.min(), skills.max()])
    reference = best if reference_skill is None else float(reference_skill)
    SHARE.check(correlation, "correlation")
    if correlation > 0:
        OPEN_SHARE.check(reference, "reference_skill")
    if correlation > 0 and not cap_correlation:
        dependence.require_feasible(ends, correlation, reference)
    if reference_count is not None:
        Range(0, n, whole=True).check(reference_count, "reference_count")
    # the law of one classifier is binomial whatever rho is
    alone = m == 1 and reference_count is None
    items = Items(n, 0.0 if alone else correlation, reference, reference_count)
    if isinstance(skill, SkillDistribution):
        field_of = drawn_field(items, skill, m)
    else:
        field_of = listed_field(items, skills, m, drawn=resampled)
    return MaximumLaw(n, m, best, correlation, reference, *field_of.tabulate())


def _checked_skills(skill: Any) -> FloatArray:
    skills = np.atleast_1d(np.asarray(skill, dtype=np.float64))
    if skills.ndim != 1 or skills.size == 0:
        raise InputError(f"skills must be a number or a 1-dimensional array, got {skills.shape}")
    for value in skills[~((skills >= 0) & (skills <= 1))][:1].tolist():
        SHARE.check(value, "skill")
    return skills
