r"""Simultaneous statements about many players from what each cluster of rounds contributes.

With the influence :math:`a_{rk}` of cluster r on contrast k, the statistic
:math:`t_k = \sum_r a_{rk} / \sqrt{G/(G-1) \sum_r a_{rk}^2}` has about a t law with G - 1 degrees of
freedom. The largest of many is calibrated by flipping the sign of whole clusters, so that contrasts
keep their dependence, each flip with its own standard error (a wild bootstrap, Rademacher weights);
Bonferroni's bound for t is taken where it is smaller. ``tests/epp/test_round_inference.py``
measures how often simultaneous statements are all true.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.types import FloatArray

__all__ = [
    "ROUND_OFF",
    "bonferroni_critical",
    "bonferroni_criticals",
    "critical_values",
    "critical_values_of_pairs",
    "rank_intervals",
]

_FLIPS = 2_000
_BLOCK = 200
_MOST_PAIRS = 2e8  # flips times pairs, above which Bonferroni's bound is taken
_ENOUGH_FLIPS = 6  # clusters, of which there are 64 flips; with fewer the bound is taken
_FEW_PLAYERS = 40  # whose pairs are kept in memory
_NEARLY = 0.9  # of all degrees of freedom
_SMALL = 1e-12
ROUND_OFF = 1e-12  # of a variance of a difference, relative


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


def critical_values(
    influence: FloatArray, prob: float, df: FloatArray, random_seed: int = 0
) -> FloatArray:
    """Critical value of each absolute statistic, so that all hold at once, (K,).

    Contrasts with (nearly) all G - 1 degrees of freedom share one, of their largest statistic;
    those of players with fewer clusters have Bonferroni's, each its own.

    Parameters
    ----------
    influence : ndarray, shape (G, K)
        Of each cluster on each contrast.
    prob : float
    df : ndarray, shape (K,)

    Examples
    --------
    >>> same = np.repeat(np.random.default_rng(0).standard_normal((20, 1)), 30, axis=1)
    >>> found = critical_values(same, 0.95, np.full(30, 19.0))
    >>> bool(np.all(found < bonferroni_critical(0.95, 30, 19)))
    True
    """
    full = influence[:, _nearly_full(df, len(influence))]
    return _criticals(_largest(full), full.shape[1], prob, df, len(influence), random_seed)


def critical_values_of_pairs(
    influence: FloatArray, prob: float, df: FloatArray, random_seed: int = 0
) -> FloatArray:
    """The same for the differences of all pairs of players, (m, m).

    Parameters
    ----------
    influence : ndarray, shape (G, m)
        Of each cluster on each player's skill.
    df : ndarray, shape (m,)
        Of each player; a pair has the smaller one.
    """
    clusters, m = influence.shape
    inner = influence[:, _nearly_full(df, clusters)]
    of_pairs = np.minimum(df[:, None], df)
    upper = np.triu_indices(m, 1)
    if _FLIPS * float(inner.shape[1]) ** 2 > _MOST_PAIRS:
        found = bonferroni_criticals(prob, upper[0].size, of_pairs[upper])
    else:
        largest = _largest_of_pairs(inner)
        full = inner.shape[1] * (inner.shape[1] - 1) // 2
        found = _criticals(largest, full, prob, of_pairs[upper], clusters, random_seed)
    matrix = np.full((m, m), np.inf)
    matrix[upper] = found
    return np.asarray(np.minimum(matrix, matrix.T))


def rank_intervals(
    differences: FloatArray, errors: FloatArray, critical: float | FloatArray
) -> NDArray[np.intp]:
    """Best and worst rank of each player that the data allow, (m, 2), 1 is best.

    A rank counts the players who are certainly better, or certainly worse, of all pairs at once
    (Mogstad, Romano, Shaikh & Wilhelm 2024, doi 10.1093/restud/rdad006).

    Parameters
    ----------
    differences, errors : ndarray, shape (m, m)
        Skill of the row minus the column's, and its standard error.
    critical : float or ndarray, shape (m, m)

    Examples
    --------
    >>> skills = np.array([3.0, 0.2, 0.0])
    >>> rank_intervals(skills[:, None] - skills, np.ones((3, 3)), 2.0).tolist()
    [[1, 1], [2, 3], [2, 3]]
    """
    m = len(differences)
    same = np.eye(m, dtype=bool)
    above = differences > np.where(same, np.inf, critical) * np.where(same, 1.0, errors) + ROUND_OFF
    return np.column_stack([1 + above.sum(axis=0), m - above.sum(axis=1)])


def _criticals(
    largest: Callable[[FloatArray], FloatArray],
    full: int,
    prob: float,
    df: FloatArray,
    clusters: int,
    random_seed: int,
) -> FloatArray:
    """Critical values of contrasts, ``full`` of them with all degrees of freedom."""
    found = bonferroni_criticals(prob, df.size, df)
    if full and clusters >= _ENOUGH_FLIPS:
        rng = generator_of(random_seed)
        draws = [largest(_flips(rng, size, clusters)) for size in _sizes(_FLIPS)]
        share = 1 - (1 - prob) * full / df.size  # of the errors that are allowed
        together = _studentised(np.concatenate(draws), clusters, share)
        nearly = _nearly_full(df, clusters)
        together = max(together, bonferroni_critical(share, 1, float(df[nearly].min())))
        found = np.where(nearly, np.minimum(together, found), found)
    return np.asarray(found)


def _nearly_full(df: FloatArray, clusters: int) -> NDArray[np.bool_]:
    return np.asarray(df >= _NEARLY * (clusters - 1))


def bonferroni_criticals(prob: float, contrasts: int, df: FloatArray) -> FloatArray:
    """The same for each of several degrees of freedom, the shape of ``df``."""
    values, places = np.unique(df, return_inverse=True)
    return np.array([bonferroni_critical(prob, contrasts, value) for value in values])[places]


def _largest(influence: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Largest |sum| / norm of contrasts, those that do not vary left out, for flips of clusters."""
    norms = np.sqrt(np.sum(influence**2, axis=0))
    kept = norms > _SMALL * norms.max(initial=0.0)
    scaled = influence[:, kept] / norms[kept]
    return lambda flips: np.asarray(np.abs(flips @ scaled).max(axis=1, initial=0.0))


def _largest_of_pairs(influence: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The same for the differences of all pairs of columns."""
    squares = _squared_norms_of_pairs(influence)
    if len(squares) <= _FEW_PLAYERS:
        i, j = np.nonzero(np.triu(squares, 1))
        return _largest(influence[:, i] - influence[:, j])
    with np.errstate(divide="ignore"):
        inverse = np.where(squares > 0, 1 / np.sqrt(squares), 0.0)

    def largest(flips: FloatArray) -> FloatArray:
        moved = flips @ influence
        return np.array([
            np.max(np.abs(row[:, None] - row) * inverse, initial=0.0) for row in moved
        ])  # fmt: skip

    return largest


def _squared_norms_of_pairs(influence: FloatArray) -> FloatArray:
    product = influence.T @ influence
    both = np.diagonal(product)[:, None] + np.diagonal(product)
    found = both - 2 * product
    return np.where(found > ROUND_OFF * both, found, 0.0)


def _flips(rng: np.random.Generator, size: int, clusters: int) -> FloatArray:
    return np.asarray(rng.integers(0, 2, size=(size, clusters)) * 2.0 - 1.0, np.float64)


def _sizes(total: int) -> list[int]:
    return [min(_BLOCK, total - done) for done in range(0, total, _BLOCK)]


def _studentised(largest: FloatArray, clusters: int, prob: float) -> float:
    """Quantile of |sum| / norm, with the variance about the mean of the flipped influences."""
    share = min(float(np.quantile(largest, prob)) ** 2 / clusters, 1 - 1e-9)
    return float(np.sqrt(share * (clusters - 1) / (1 - share)))
