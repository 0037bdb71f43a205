r"""Simultaneous statements about many players from what each cluster of rounds contributes.

With the influence :math:`a_{rk}` of cluster r on contrast k, the statistic
:math:`t_k = \sum_r a_{rk} / \sqrt{G/(G-1) \sum_r a_{rk}^2}` has about a t law with G - 1 degrees of
freedom. The largest of many is calibrated by flipping the sign of whole clusters, so that contrasts
keep their dependence, each flip with its own standard error (a wild bootstrap, Rademacher weights);
Bonferroni's bound for t is taken where it is smaller. ``tests/exact/test_round_inference.py``
measures how often simultaneous statements are all true.
"""

import numpy as np
from numpy.typing import NDArray

from bayes_sota.skill_distributions import FloatArray

__all__ = ["bonferroni_critical", "critical_of_pairs", "critical_value", "rank_intervals"]

_FLIPS = 2_000
_BLOCK = 200
_MOST_PAIRS = 2e8  # flips times pairs, above which Bonferroni's bound is taken
_SMALL = 1e-12


def bonferroni_critical(prob: float, contrasts: int, df: float) -> float:
    """Two-sided critical value for so many statistics at once.

    Examples
    --------
    >>> round(bonferroni_critical(0.95, 1, 18), 3)
    2.101
    """
    from scipy.special import ndtri, stdtrit

    tail = (1 - prob) / 2 / contrasts
    if df <= 0:
        return float("inf")
    return float(-ndtri(tail)) if np.isinf(df) else float(-stdtrit(df, tail))


def critical_value(influence: FloatArray, prob: float, df: float, random_seed: int = 0) -> float:
    """Critical value of the largest absolute statistic of several contrasts.

    Parameters
    ----------
    influence : ndarray, shape (G, K)
        Of each cluster on each contrast.
    prob : float
    df : float
        Of Bonferroni's bound.

    Examples
    --------
    >>> same = np.repeat(np.random.default_rng(0).standard_normal((20, 1)), 30, axis=1)
    >>> round(critical_value(same, 0.95, 19), 1) < round(bonferroni_critical(0.95, 30, 19), 1)
    True
    """
    rng = np.random.default_rng(random_seed)
    clusters = len(influence)
    norms = np.sqrt(np.sum(influence**2, axis=0))
    kept = norms > _SMALL * max(float(norms.max()), _SMALL)
    scaled = influence[:, kept] / norms[kept]
    largest = [np.abs(_flips(rng, size, clusters) @ scaled).max(axis=1) for size in _sizes(_FLIPS)]
    found = _studentised(np.concatenate(largest), clusters, prob)
    return min(found, bonferroni_critical(prob, influence.shape[1], df))


def critical_of_pairs(influence: FloatArray, prob: float, df: float, random_seed: int = 0) -> float:
    """The same for the differences of all pairs of players.

    Parameters
    ----------
    influence : ndarray, shape (G, m)
        Of each cluster on each player's skill.
    """
    clusters, m = influence.shape
    bound = bonferroni_critical(prob, m * (m - 1) // 2, df)
    if _FLIPS * float(m) ** 2 > _MOST_PAIRS:
        return bound
    rng = np.random.default_rng(random_seed)
    norms = np.sqrt(_squared_norms_of_pairs(influence))
    with np.errstate(divide="ignore"):
        inverse = np.where(norms > _SMALL * norms.max(), 1 / norms, 0.0)
    largest = np.concatenate([
        np.array([
            np.max(np.abs(row[:, None] - row) * inverse)
            for row in _flips(rng, size, clusters) @ influence
        ])
        for size in _sizes(_FLIPS)
    ])  # fmt: skip
    return min(_studentised(largest, clusters, prob), bound)


def rank_intervals(
    differences: FloatArray, errors: FloatArray, critical: float
) -> NDArray[np.intp]:
    """Best and worst rank of each player that the data allow, (m, 2), 1 is best.

    A rank counts the players who are certainly better, or certainly worse, of all pairs at once
    (Mogstad, Romano, Shaikh & Wilhelm 2024, doi 10.1093/restud/rdad006).

    Parameters
    ----------
    differences, errors : ndarray, shape (m, m)
        Skill of the row minus the column's, and its standard error.
    critical : float

    Examples
    --------
    >>> skills = np.array([3.0, 0.2, 0.0])
    >>> rank_intervals(skills[:, None] - skills, np.ones((3, 3)), 2.0).tolist()
    [[1, 1], [2, 3], [2, 3]]
    """
    m = len(differences)
    above = differences > critical * np.where(np.eye(m, dtype=bool), np.inf, errors)
    return np.column_stack([1 + above.sum(axis=0), m - above.sum(axis=1)])


def _squared_norms_of_pairs(influence: FloatArray) -> FloatArray:
    product = influence.T @ influence
    own = np.diagonal(product)
    return np.asarray(np.maximum(own[:, None] + own - 2 * product, 0.0), np.float64)


def _flips(rng: np.random.Generator, size: int, clusters: int) -> FloatArray:
    return rng.integers(0, 2, size=(size, clusters)) * 2.0 - 1.0


def _sizes(total: int) -> list[int]:
    return [min(_BLOCK, total - done) for done in range(0, total, _BLOCK)]


def _studentised(largest: FloatArray, clusters: int, prob: float) -> float:
    """Quantile of |sum| / norm, with the variance about the mean of the flipped influences."""
    share = min(float(np.quantile(largest, prob)) ** 2 / clusters, 1 - 1e-9)
    return float(np.sqrt(share * (clusters - 1) / (1 - share)))
