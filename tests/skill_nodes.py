"""Quadrature over distributions of skills, in equal cells of the normal quantile."""

import numpy as np
from scipy import stats

from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray


def composite(ends: FloatArray, order: int) -> tuple[FloatArray, FloatArray]:
    """Points and weights of the rule of Gauss and Legendre in every cell."""
    x, w = np.polynomial.legendre.leggauss(order)
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (x + 1)).ravel(), (half * w).ravel()


def skill_nodes(
    distribution: SkillDistribution, cells: int, order: int = 10, cuts: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Skills and their probabilities; cells end at the skills ``cuts`` too."""
    ends = np.linspace(-8.2, 8.6, cells + 1)
    if cuts is not None:
        u = stats.norm.isf(distribution.sf(distribution.from_skill(cuts)))
        ends = np.sort(np.append(ends, u[(u > ends[0]) & (u < ends[-1])]))
    u, weights = composite(ends, order)
    skills = distribution.skill(distribution.isf(stats.norm.sf(u)))
    return skills, weights * stats.norm.pdf(u)
