r"""Contributions of clusters of rounds to the estimates, and statements about many players.

To the estimating equations of the Bradley–Terry model round r adds, for same-round matches, its
wins beyond the expected ones,

.. math:: u_{ri} = \sum_{j \in r} (y_{ij}^r - P_{ij})

and for all-rounds matches, a U-statistic of the rounds, the projection on round r

.. math:: \psi_{ri} = \sum_{j, s} (y_{ir, js} - P_{ij}) + \sum_{j \in r, s} (y_{is, jr} - P_{ij})

With the influence :math:`a_{rk}` of cluster r on contrast k, the statistic
:math:`t_k = \sum_r a_{rk} / \sqrt{G/(G-1) \sum_r a_{rk}^2}` is about t with G - 1 degrees of
freedom. The largest of many is calibrated by flipping the signs of whole clusters (a wild
bootstrap, Rademacher weights), or by Bonferroni's bound where that is smaller.
``tests/epp/test_rounds.py`` adds up matches one by one, and measures how often simultaneous
statements are all true.
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
    """Two-sided critical value for several statistics at once, of the shape of ``df``."""
    tail = (1 - ci_prob) / 2 / contrasts
    values, places = np.unique(df, return_inverse=True)
    with np.errstate(invalid="ignore"):
        return np.where(values > 0, -stdtrit(values, tail), np.inf)[places]


def critical_values(
    influence: FloatArray | None, ci_prob: float, df: FloatArray, *, pairs: bool = False
) -> FloatArray:
    """Critical values of absolute statistics that hold all at once, (m,) or of pairs (m, m).

    Contrasts with (nearly) all G - 1 degrees of freedom share that of their largest statistic;
    others have Bonferroni's. ``influence`` (G, m) is None for independent matches; a pair has the
    smaller ``df``.

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
    r"""Sandwich :math:`C U^T U C` of cluster scores U (G, m), raised where it is too small, (m, m).

    .. math:: f C + \sum_{\lambda_k > f} (\lambda_k - f) \, z_k z_k^T, \qquad
       z_k = C U^T q_k / \sqrt{\lambda_k}, \quad U C U^T = \sum_k \lambda_k q_k q_k^T

    with f ``least_share`` and C the ``inverse`` of the information. Every combination of skills has
    at least its variance in the sandwich, and at least f times that in C.

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
    """Contribution of each cluster of rounds or matches to the equations, (n_clusters, m)."""
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
