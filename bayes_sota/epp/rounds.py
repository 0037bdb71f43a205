r"""Contributions of clusters of rounds to the estimates, and statements about many players.

Matches of one round share its scores, so the likelihood of independent matches is wrong about its
own precision. To the estimating equations of the Bradley–Terry model round r adds

.. math:: u_{ri} = \sum_{j \in r} (y_{ij}^r - P_{ij})

(wins in the round beyond the expected ones) for same-round matches. All-rounds matches are a
U-statistic of the rounds, whose projection on round r is

.. math:: \psi_{ri} = \sum_{j, s} (y_{ir, js} - P_{ij}) + \sum_{j \in r, s} (y_{is, jr} - P_{ij})

(what the round's score of i wins against everybody, and what all scores of i win against the
round).

With the influence :math:`a_{rk}` of cluster r on contrast k, the statistic
:math:`t_k = \sum_r a_{rk} / \sqrt{G/(G-1) \sum_r a_{rk}^2}` has about a t law with G - 1 degrees of
freedom. The largest of many is calibrated by flipping the sign of whole clusters, so that contrasts
keep their dependence, each flip with its own standard error (a wild bootstrap, Rademacher weights);
Bonferroni's bound for t is taken where it is smaller. ``tests/epp/test_rounds.py`` adds up the
matches one by one, and measures how often simultaneous statements are all true.
"""

from typing import Any

import numpy as np
from scipy.special import stdtrit

from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import MatchKind, doubled_scores_below, ranks_of

_SEED = 0  # of the flips
_FLIPS = 2_000
_BLOCK = 200  # of them at a time
_MOST_PAIRS = 2e8  # flips times pairs, above which Bonferroni's bound is taken
_ENOUGH_FLIPS = 6  # clusters, of which there are 64 flips; with fewer the bound is taken
_NEARLY = 0.9  # of all degrees of freedom
ROUND_OFF = 1e-12  # of a variance of a difference, relative


def bonferroni_critical(ci_prob: float, contrasts: int, df: Any) -> Any:
    """Two-sided critical value for several statistics at once, of the shape of ``df``.

    Examples
    --------
    >>> round(float(bonferroni_critical(0.95, 1, 18)), 3)
    2.101
    """
    tail = (1 - ci_prob) / 2 / contrasts
    values, places = np.unique(df, return_inverse=True)
    with np.errstate(invalid="ignore"):
        return np.where(values > 0, -stdtrit(values, tail), np.inf)[places]


def critical_values(
    influence: FloatArray | None, ci_prob: float, df: FloatArray, *, pairs: bool = False
) -> FloatArray:
    """Critical value of each absolute statistic, so that all hold at once, (m,) or of pairs (m, m).

    Contrasts with (nearly) all G - 1 degrees of freedom share one, of their largest statistic;
    those of players with fewer clusters have Bonferroni's, each its own.

    Parameters
    ----------
    influence : ndarray, shape (G, m), or None
        Influence of each cluster on each skill; None where all matches are independent.
    ci_prob : float
    df : ndarray, shape (m,)
        Degrees of freedom of each player; a pair has the smaller one.
    pairs : bool
        Statistics are of the differences of all pairs, and not of the skills.

    Examples
    --------
    >>> same = np.repeat(np.random.default_rng(0).standard_normal((20, 1)), 30, axis=1)
    >>> criticals = critical_values(same, 0.95, np.full(30, 19.0))
    >>> bool(np.all(criticals < bonferroni_critical(0.95, 30, 19)))
    True
    """
    upper = np.triu_indices(df.size, 1)
    own = np.minimum(df[:, None], df)[upper] if pairs else df
    found = bonferroni_critical(ci_prob, own.size, own)
    clusters = 0 if influence is None else len(influence)
    full, nearly = (x >= _NEARLY * (clusters - 1) for x in (df, own))
    flips = _FLIPS * float(full.sum()) ** 2 <= _MOST_PAIRS if pairs else True
    if influence is not None and clusters >= _ENOUGH_FLIPS and nearly.any() and flips:
        share = 1 - (1 - ci_prob) * nearly.sum() / own.size  # of the errors that are allowed
        largest = np.quantile(_largest_when_flipped(influence[:, full], pairs), share)
        part = min(float(largest) ** 2 / clusters, 1 - 1e-9)
        together = np.sqrt(part * (clusters - 1) / (1 - part))
        together = max(together, bonferroni_critical(share, 1, float(own[nearly].min())))
        found = np.where(nearly, np.minimum(together, found), found)
    if not pairs:
        return np.asarray(found)
    matrix = np.full((df.size, df.size), np.inf)
    matrix[upper] = found
    return np.minimum(matrix, matrix.T)


def _largest_when_flipped(influence: FloatArray, pairs: bool) -> FloatArray:
    """Largest |sum| / norm of columns, or of their differences, for flips of clusters."""
    squares: FloatArray = np.sum(influence**2, axis=0)
    least: FloatArray = ROUND_OFF**2 * squares.max(keepdims=True)
    if pairs:
        both = squares[:, None] + squares
        squares, least = both - 2 * influence.T @ influence, ROUND_OFF * both
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(squares > least, 1 / np.sqrt(squares), 0.0)
    rng, largest = np.random.default_rng(_SEED), []
    for _ in range(_FLIPS // _BLOCK):
        sums = (rng.integers(0, 2, size=(_BLOCK, len(influence))) * 2.0 - 1) @ influence
        if pairs:
            largest += [np.max(np.abs(row[:, None] - row) * inverse) for row in sums]
        else:
            largest += [*np.max(np.abs(sums) * inverse, axis=1)]
    return np.array(largest)


def clustered_covariance(scores: FloatArray, inverse: FloatArray, least_share: float) -> FloatArray:
    r"""Sandwich :math:`C U^T U C` of cluster scores U, raised where it is too small, (m, m).

    .. math:: f C + \sum_{\lambda_k > f} (\lambda_k - f) \, z_k z_k^T, \qquad
       z_k = C U^T q_k / \sqrt{\lambda_k}, \quad U C U^T = \sum_k \lambda_k q_k q_k^T

    As seen from C, whose z_k are orthonormal, variances below the share f of C are raised to it and
    others kept: every combination of skills has at least its variance in the sandwich, and at least
    f times that in C. Equal to the sandwich where none is below.

    Parameters
    ----------
    scores : ndarray, shape (G, m)
    inverse : ndarray, shape (m, m)
        C, the inverse of the information.
    least_share : float
        f.

    Examples
    --------
    >>> scores = np.array([[3.0, 0.0], [0.0, 0.1]])
    >>> clustered_covariance(scores, np.eye(2), 0.5).round(9).tolist()
    [[9.0, 0.0], [0.0, 0.5]]
    """
    if len(scores) > scores.shape[1]:
        scores = np.linalg.qr(scores, mode="r")  # the same products, in fewer rows
    influence = scores @ inverse
    shares, vectors = np.linalg.eigh(influence @ scores.T)
    above = shares > least_share
    kept = np.sqrt(1 - least_share / shares[above])
    root = (vectors[:, above] * kept).T @ influence
    covariance = root.T @ root
    covariance += least_share * inverse
    return np.asarray(covariance)


def cluster_scores(
    data: ScoreTable | Matches, kind: MatchKind, win_probabilities: FloatArray
) -> FloatArray:
    """Contribution of each cluster of rounds or matches, (n_clusters, n_players).

    Parameters
    ----------
    data : ScoreTable or Matches
        Rounds of one group, or matches of one cluster, are added up.
    kind : {"same-round", "all-rounds", "listed"}
    win_probabilities : ndarray, shape (m, m)
        P(row beats column) at the estimate, 1/2 on the diagonal.
    """
    summed = np.zeros((data.n_clusters, data.n_players))
    if isinstance(data, Matches):
        surprise = data.outcomes - win_probabilities[data.first, data.second]
        np.add.at(summed, (data.clusters, data.first), surprise)
        np.add.at(summed, (data.clusters, data.second), -surprise)
        return summed
    of_rounds = _of_same_round if kind == "same-round" else _of_all_rounds
    np.add.at(summed, data.clusters, of_rounds(data.oriented, win_probabilities))
    return summed


def _of_same_round(scores: FloatArray, probabilities: FloatArray) -> FloatArray:
    present = ~np.isnan(scores)
    wins = np.nan_to_num(ranks_of(scores) - 1)
    if present.all():
        return wins - (probabilities.sum(axis=1) - 0.5)
    expected = present.astype(np.float64) @ probabilities.T - 0.5
    return np.where(present, wins - expected, 0.0)


def _of_all_rounds(scores: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Wins of a round's scores, and of all scores of a player against the round's."""
    present = ~np.isnan(scores)
    of_players, of_rounds = present.sum(axis=0), present.sum(axis=1, keepdims=True)
    lost = of_rounds * of_players - doubled_scores_below(scores, np.nonzero(present)[0]) / 2
    wins = np.zeros(scores.shape)
    wins[present] = ranks_of(scores[present]) - 0.5
    # what a player's scores win against its own of the round cancels
    between = probabilities - np.diag(np.diagonal(probabilities))
    expected = present * (between @ of_players) + of_players * (present @ between.T)
    return wins + lost - present * of_players - expected
