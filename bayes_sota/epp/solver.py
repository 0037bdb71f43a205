r"""Maximum likelihood of the Bradley–Terry model, its information and its deviance.

.. math:: \operatorname{logit} P(i \text{ beats } j) = \beta_i - \beta_j, \qquad
   \sum_j N_{ij} P_{ij} = w_i

(Bradley & Terry 1952; Gosiewska et al. 2022, Def. 2, Property 3.2). The information is the
Laplacian

.. math:: L_{ij} = -N_{ij} P_{ij} P_{ji} \quad (i \ne j), \qquad \sum_j L_{ij} = 0,

which a constant c added to every element makes regular without a change in the space of mean zero.
Newton steps of range d > 1 are shortened by log(1 + d) / d, so that every step is an ascent (Sun &
Tran-Dinh 2019, doi 10.1007/s10107-018-1282-4).

Where all pairs of many players have as many matches, :math:`\sigma` and :math:`\sigma'`, analytic
up to :math:`\pm i \pi`, are polynomials in both skills to 1e-14: with the cardinal functions
:math:`\Phi` of K Chebyshev nodes x,

.. math:: \sigma'(\beta_i - \beta_j) = (\Phi M \Phi^T)_{ij}, \quad M_{kl} = \sigma'(x_k - x_l),

and Woodbury's identity inverts the information in O(m^2 K) instead of O(m^3).
``tests/epp/test_fit.py`` compares with SciPy's optimiser and refits, ``tests/epp/test_solver.py``
the two ways.
"""

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy.special import expit, xlogy

from bayes_sota.core.types import FloatArray
from bayes_sota.epp.counts import MatchCounts

_STEP = 1e-5  # Newton's last step; the error after it is its square
_MOST_STEPS = 200
_FEW_PLAYERS = 300  # for whom solving directly is as quick as the kernel
_PRECISION = 1e-14
_SPARE_NODES = 8


def win_probabilities(skills: FloatArray) -> FloatArray:
    """P(row beats column), (..., m, m)."""
    odds = np.exp(skills)[..., None]
    return odds / (odds + odds.swapaxes(-1, -2))


def solve(
    totals: FloatArray, n_matches: FloatArray, *, start: FloatArray | None = None
) -> FloatArray:
    """Skills with the observed number of expected wins, mean zero, (m,) or (B, m) as ``totals``.

    The maximum must exist: the graph of wins is strongly connected (``unbeaten_players``).

    Examples
    --------
    >>> matches = np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> solve(np.array([[3.0, 1.0], [2.0, 2.0]]), matches).round(4).tolist()
    [[0.5493, -0.5493], [0.0, 0.0]]
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
    """Matches of each pair where many players all have as many; else 0."""
    m = len(n_matches)
    if m <= _FEW_PLAYERS or np.count_nonzero(n_matches == n_matches[0, 1]) != m * (m - 1):
        return 0.0
    return float(n_matches[0, 1])


def _kernel(skills: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    """Expected wins of many players in one match of each pair, and d, U, X, c of the inverse.

    The information plus c in every element has the inverse diag(1 / d) + U X U^T.
    """
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
    r"""Twice the log-likelihood of every pair's own share of wins, less that of the skills.

    The latter is :math:`\sum_{i<j} w_{ij} \log P_{ij} + w_{ji} \log P_{ji}`.
    """
    odds = np.exp(skills)[..., None]
    logs = counts.n_matches * np.log(odds + odds.swapaxes(-1, -2))
    found = np.sum(counts.totals * skills, axis=-1) - logs.sum(axis=(-2, -1)) / 2
    wins = counts.doubled_wins / 2
    saturated = xlogy(wins, wins / np.maximum(counts.n_matches, 1)).sum(axis=(-2, -1))
    return 2 * (saturated - found)
