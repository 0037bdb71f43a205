r"""Maximum likelihood of the Bradley–Terry model, its information and its log-likelihoods.

.. math:: \operatorname{logit} P(i \text{ beats } j) = \beta_i - \beta_j, \qquad
   \sum_j N_{ij} P_{ij} = w_i

(Bradley & Terry 1952; Def. 2 and Property 3.2 of Gosiewska et al. 2022). The equations see the win
totals w only. The information is the Laplacian

.. math:: L_{ij} = -N_{ij} P_{ij} P_{ji} \quad (i \ne j), \qquad \sum_j L_{ij} = 0,

which a constant c added to every element makes regular without a change in the space of mean zero.
Newton's steps are solved directly, those of many tournaments with the same matches as one batch.
Long ones are shortened by log(1 + d) / d with d their range, which makes every step an ascent (Sun
& Tran-Dinh 2019, doi 10.1007/s10107-018-1282-4). ``tests/epp/test_solver.py`` compares with SciPy's
optimiser, with finite differences and with sums over pairs.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.special import xlogy

from bayes_sota.core.types import FloatArray
from bayes_sota.epp.counts import MatchCounts

_STEP = 1e-5  # Newton's last step; the error after it is its square
_MOST_STEPS = 200


def win_probabilities(skills: FloatArray) -> FloatArray:
    """P(row beats column), 1/2 on the diagonal, (..., m, m)."""
    odds = np.exp(skills)[..., None]
    return odds / (odds + odds.swapaxes(-1, -2))


def solve(
    totals: FloatArray, n_matches: FloatArray, *, start: FloatArray | None = None
) -> FloatArray:
    """Skills that make the expected number of wins the observed one, mean zero, shape of totals.

    Parameters
    ----------
    totals : ndarray, shape (m,) or (B, m)
        Wins of each player, ties as half, in one tournament or in each of many.
    n_matches : ndarray, shape (m, m)
        Matches of each pair, zero on the diagonal.
    start : ndarray, shape (m,), optional

    Notes
    -----
    The maximum must exist: the graph of wins is strongly connected (``strong_parts``).

    Examples
    --------
    >>> matches = np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> solve(np.array([[3.0, 1.0], [2.0, 2.0]]), matches).round(4).tolist()
    [[0.5493, -0.5493], [0.0, 0.0]]
    """
    if start is None:
        start = np.log((totals + 0.5) / (n_matches.sum(axis=1) - totals + 0.5))
    skills = np.broadcast_to(start - start.mean(axis=-1, keepdims=True), totals.shape)
    for _ in range(_MOST_STEPS):
        expected, information = _moments(skills, n_matches)
        direction = _solved(information, totals - expected)
        spread = np.ptp(direction, axis=-1, keepdims=True)
        long = np.maximum(spread, 1.0)
        skills = skills + direction * np.where(spread > 1, np.log1p(long) / long, 1.0)
        skills -= skills.mean(axis=-1, keepdims=True)
        if np.all(spread < _STEP):
            return skills
    raise ArithmeticError(f"the likelihood has no maximum after {_MOST_STEPS} Newton steps")


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


def _solved(information: FloatArray, gradient: FloatArray) -> FloatArray:
    """Newton's step: by Cholesky's factor of one tournament, or of many as a batch."""
    if gradient.ndim > 1:
        return np.linalg.solve(information, gradient[..., None])[..., 0]
    factor = cho_factor(information.T, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, gradient, check_finite=False)


def model_covariance(skills: FloatArray, n_matches: FloatArray) -> FloatArray:
    r"""Covariance if all matches were independent, mean-zero gauge, (m, m).

    .. math:: (L + c 1 1^T)^{-1} - 1 1^T / (m^2 c).
    """
    m, information = skills.size, _moments(skills, n_matches)[1]
    constant = float(information.mean())  # rows of the Laplacian add up to zero
    factor = cho_factor(information.T, lower=True, overwrite_a=True, check_finite=False)[0]
    upper = dpotri(factor, lower=1, overwrite_c=1)[0].T  # of the inverse, in the order of C
    np.copyto(upper, upper.T, where=np.tri(m, k=-1, dtype=bool))
    upper -= 1 / (m * m * constant)
    return np.asarray(upper)


def log_likelihood(skills: FloatArray, counts: MatchCounts) -> FloatArray:
    r""":math:`\sum_{i<j} w_{ij} \log P_{ij} + w_{ji} \log P_{ji}` of each tournament."""
    odds = np.exp(skills)[..., None]
    logs = counts.n_matches * np.log(odds + odds.swapaxes(-1, -2))
    return np.sum(counts.totals * skills, axis=-1) - logs.sum(axis=(-2, -1)) / 2


def deviance(skills: FloatArray, counts: MatchCounts) -> FloatArray:
    """Twice what the log-likelihood misses of that of every pair's own share of wins."""
    wins = counts.doubled_wins / 2
    saturated = xlogy(wins, wins / np.maximum(counts.n_matches, 1)).sum(axis=(-2, -1))
    return 2 * (saturated - log_likelihood(skills, counts))
