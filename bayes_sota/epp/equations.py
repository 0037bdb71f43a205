r"""The equations of the Bradley–Terry model: their solution, and what each round adds to them.

.. math:: \operatorname{logit} P(i \text{ beats } j) = \beta_i - \beta_j, \qquad
   \sum_j N_{ij} P_{ij} = w_i

(Bradley & Terry 1952; Gosiewska et al. 2022, Def. 2, Property 3.2). The information is the
Laplacian

.. math:: L_{ij} = -N_{ij} P_{ij} P_{ji} \quad (i \ne j), \qquad \sum_j L_{ij} = 0,

made regular by a constant c in every element. Newton steps of range d > 1 are shortened by
log(1 + d) / d, so that every step is an ascent (Sun & Tran-Dinh 2019,
doi 10.1007/s10107-018-1282-4). Where all pairs of many players have as many matches,
:math:`\sigma'(\beta_i - \beta_j)` is interpolated at K Chebyshev nodes to 1e-14, and Woodbury's
identity inverts the information in O(m^2 K) instead of O(m^3).

Round r adds, for same-round matches, its wins beyond the expected ones,

.. math:: u_{ri} = \sum_{j \in r} (y_{ij}^r - P_{ij})

and for all-rounds matches, a U-statistic of the rounds, the projection on round r

.. math:: \psi_{ri} = \sum_{j, s} (y_{ir, js} - P_{ij}) + \sum_{j \in r, s} (y_{is, jr} - P_{ij})

With the influence :math:`a_{rk}` of cluster r on contrast k, the statistic
:math:`t_k = \sum_r a_{rk} / \sqrt{G/(G-1) \sum_r a_{rk}^2}` is about t with G - 1 degrees of
freedom. The largest of many is calibrated by flipping the signs of whole clusters (a wild
bootstrap, Rademacher weights), or by Bonferroni's bound where that is smaller.
``tests/epp/test_equations.py`` adds up matches one by one, compares both ways to the inverse, and
measures how often simultaneous statements are all true; ``test_fit.py`` compares with SciPy's
optimiser.
"""

from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy.special import expit, stdtrit, xlogy

from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import MatchCounts, MatchKind, doubled_scores_below, ranks_of

_STEP = 1e-5  # Newton's last step; the error after it is its square
_MOST_STEPS = 200
_FEW_PLAYERS = 300  # for whom solving directly is as quick as the kernel
_PRECISION = 1e-14
_SPARE_NODES = 8
_SEED = 0  # of the flips
_FLIPS = 2_000
_BLOCK = 200  # of them at a time
_MOST_PAIRS = 2e8  # flips times pairs, above which Bonferroni's bound is taken
_ENOUGH_FLIPS = 6  # clusters, of which there are 64 flips; with fewer the bound is taken
_NEARLY = 0.9  # of all degrees of freedom
ROUND_OFF = 1e-12  # of a variance of a difference, relative


def win_probabilities(skills: FloatArray) -> FloatArray:
    """P(row beats column), (..., m, m)."""
    odds = np.exp(skills)[..., None]
    return odds / (odds + odds.swapaxes(-1, -2))


def solve(
    totals: FloatArray, n_matches: FloatArray, *, start: FloatArray | None = None
) -> FloatArray:
    """Skills with the observed number of expected wins, mean zero, (m,) or (B, m) as ``totals``.

    The maximum must exist: the graph of wins is strongly connected (``unbeaten_players``).
    """
    each = _matches_of_every_pair(n_matches)
    if each and totals.ndim > 1:
        return np.stack([solve(one, n_matches, start=start) for one in totals])
    if start is None:
        start = np.log((totals + 0.5) / (n_matches.sum(axis=1) - totals + 0.5))
    skills = np.broadcast_to(start - start.mean(axis=-1, keepdims=True), totals.shape)
    for _ in range(_MOST_STEPS):
        if each:
            expected, degree, scaled, inner, _ = _kernel(skills)
            gradient = totals / each - expected
            direction = gradient / degree + scaled @ (inner @ (scaled.T @ gradient))
        else:
            expected, information = _moments(skills, n_matches)
            direction = np.linalg.solve(information, (totals - expected)[..., None])[..., 0]
        spread = np.ptp(direction, axis=-1, keepdims=True)
        long = np.maximum(spread, 1.0)
        skills = skills + direction * np.where(spread > 1, np.log1p(long) / long, 1.0)
        skills -= skills.mean(axis=-1, keepdims=True)
        if np.all(spread < _STEP):
            return skills
    raise ArithmeticError(f"the likelihood has no maximum after {_MOST_STEPS} Newton steps")


def _matches_of_every_pair(n_matches: FloatArray) -> float:
    """Matches of each pair where all have as many; else 0."""
    m = len(n_matches)
    if m <= _FEW_PLAYERS or np.count_nonzero(n_matches == n_matches[0, 1]) != m * (m - 1):
        return 0.0
    return float(n_matches[0, 1])


def _kernel(skills: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    """Expected wins in one match of each pair; d, U, X, c of (L + c)^-1 = diag(1 / d) + U X U^T."""
    middle, half = (skills.min() + skills.max()) / 2, max(float(np.ptp(skills)) / 2, 1e-3)
    rate = np.arcsinh(np.pi / half)  # of convergence, by Bernstein's ellipse
    size = int(np.ceil(-np.log(_PRECISION) / rate)) + _SPARE_NODES
    local = np.cos((np.arange(size) + 0.5) * np.pi / size)
    weights = 2 / size * chebvander(local, size - 1).T
    weights[0] /= 2
    cardinal = chebvander((skills - middle) / half, size - 1) @ weights
    nodes = middle + half * local
    wins = expit(nodes[:, None] - skills)
    expected, degree = (cardinal @ x.sum(axis=1) for x in (wins, wins * (1 - wins)))
    scaled, constant = cardinal / degree[:, None], float(degree.mean()) / skills.size
    core = 1 / np.cosh((nodes[:, None] - nodes) / 2) ** 2 / 4 - constant
    inner = np.linalg.solve(np.eye(size) - core @ (scaled.T @ cardinal), core)
    return expected - 0.5, degree, scaled, (inner + inner.T) / 2, constant


def _moments(skills: FloatArray, n_matches: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Expected wins, (..., m), and the information plus a constant, (..., m, m)."""
    m = skills.shape[-1]
    wins = win_probabilities(skills)
    weights = n_matches * wins
    expected = weights.sum(axis=-1)
    weights *= wins.swapaxes(-1, -2)
    degree = weights.sum(axis=-1)
    constant = (1 + degree.mean(axis=-1)) / m  # about the size of an element
    information = np.subtract(constant[..., None, None], weights, out=weights)
    information[..., range(m), range(m)] += degree
    return expected, information


def model_covariance(skills: FloatArray, n_matches: FloatArray) -> FloatArray:
    r"""Covariance if all matches were independent, mean-zero gauge, (m, m).

    .. math:: (L + c 1 1^T)^{-1} - 1 1^T / (m^2 c).
    """
    m, each = skills.size, _matches_of_every_pair(n_matches)
    if each:
        _, degree, scaled, inner, constant = _kernel(skills)
        found = (scaled @ inner / each) @ scaled.T
        found -= 1 / (m * m * constant * each)
        found.flat[:: m + 1] += 1 / degree / each
        return np.asarray(found)
    information = _moments(skills, n_matches)[1]
    constant = float(information.mean())  # rows of the Laplacian add up to zero
    inverse = np.linalg.inv(information)
    return (inverse + inverse.T) / 2 - 1 / (m * m * constant)


def deviance(skills: FloatArray, counts: MatchCounts) -> FloatArray:
    """Twice the log-likelihood of every pair's own share of wins, less that of the skills."""
    odds = np.exp(skills)[..., None]
    logs = counts.n_matches * np.log(odds + odds.swapaxes(-1, -2))
    found = np.sum(counts.totals * skills, axis=-1) - logs.sum(axis=(-2, -1)) / 2
    wins = counts.doubled_wins / 2
    saturated = xlogy(wins, wins / np.maximum(counts.n_matches, 1)).sum(axis=(-2, -1))
    return 2 * (saturated - found)


def bonferroni_critical(ci_prob: float, contrasts: int, df: Any) -> Any:
    """Two-sided critical values of several statistics at once."""
    tail = (1 - ci_prob) / 2 / contrasts
    values, places = np.unique(df, return_inverse=True)
    with np.errstate(invalid="ignore"):
        return np.where(values > 0, -stdtrit(values, tail), np.inf)[places]


def critical_values(
    influence: FloatArray | None, ci_prob: float, df: FloatArray, *, pairs: bool = False
) -> FloatArray:
    """Critical values of absolute statistics that hold all at once, (m,) or of pairs (m, m).

    Contrasts with (nearly) all G - 1 degrees of freedom share that of their largest statistic;
    others have Bonferroni's. ``influence`` (G, m) is None for independent matches.
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
    present = ~np.isnan(scores)
    of_players, of_rounds = present.sum(axis=0), present.sum(axis=1, keepdims=True)
    lost = of_rounds * of_players - doubled_scores_below(scores, np.nonzero(present)[0]) / 2
    wins = np.zeros(scores.shape)
    wins[present] = ranks_of(scores[present]) - 0.5
    # what a player's scores win against its own of the round cancels
    between = probabilities - np.diag(np.diagonal(probabilities))
    expected = present * (between @ of_players) + of_players * (present @ between.T)
    return wins + lost - present * of_players - expected
