r"""Maximum likelihood of the Bradley–Terry model, its information and its log-likelihoods.

.. math:: \operatorname{logit} P(i \text{ beats } j) = \beta_i - \beta_j, \qquad
   \sum_j N_{ij} P_{ij} = w_i

(Bradley & Terry 1952; Def. 2 and Property 3.2 of Gosiewska et al. 2022). The equations see the win
totals w only. Newton's steps are solved directly for few players, by ``LogisticKernel`` where every
pair of many has as many matches, and else by conjugate gradients, preconditioned by the diagonal of
the information. Long ones are shortened by log(1 + d) / d with d their range, which makes every
step an ascent (Sun & Tran-Dinh 2019, doi 10.1007/s10107-018-1282-4).

The kernel sums over pairs without going through them. The logistic function and its derivative are
analytic up to :math:`\pm i\pi`, so that between two players they are a polynomial in each skill to
1e-13: with the cardinal functions :math:`\Phi` of K Chebyshev nodes x between the lowest and the
highest skill,

.. math:: \sigma'(\beta_i - \beta_j) = (\Phi M \Phi^T)_{ij}, \quad M_{kl} = \sigma'(x_k - x_l),

the information with N matches of every pair is N times a diagonal minus a matrix of rank K, and its
inverse follows from Woodbury's identity: O(m^2 K) where Cholesky's factor takes O(m^3).
``tests/epp/test_solver.py`` compares with SciPy's optimiser, with finite differences and with
Cholesky.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_sota.core.numerics import cardinal_functions
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.counts import MatchCounts

_PRECISION = 1e-14
_SPARE_NODES = 8


@dataclass(frozen=True, eq=False)
class LogisticKernel:
    """All pairs of players with these skills, one match each.

    Attributes
    ----------
    skills : ndarray, shape (m,)
    """

    skills: FloatArray

    @cached_property
    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        """Chebyshev nodes on the scale of the skills, and the cardinal functions, (m, K)."""
        low, high = float(self.skills.min()), float(self.skills.max())
        half = max((high - low) / 2, 1e-3)
        pole = np.pi / half
        rate = np.log(pole + np.hypot(pole, 1.0))  # of convergence, by Bernstein's ellipse
        size = int(np.ceil(-np.log(_PRECISION) / rate)) + _SPARE_NODES
        angle = (np.arange(size) + 0.5) * np.pi / size
        weights = (-1.0) ** np.arange(size) * np.sin(angle)
        local = np.cos(angle)
        middle = (low + high) / 2
        cardinal = cardinal_functions((self.skills - middle) / half, local, weights)
        return middle + half * local, cardinal

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """Sums over all players j, i among them, of sigma and of its derivative, (m,) each."""
        from scipy.special import expit

        nodes, cardinal = self._nodes
        wins = expit(nodes[:, None] - self.skills)
        return cardinal @ wins.sum(axis=1), cardinal @ (wins * (1 - wins)).sum(axis=1)

    @property
    def expected_wins(self) -> FloatArray:
        """Sum over the other players of P(i beats j), (m,)."""
        return np.asarray(self._sums[0] - 0.5)

    @cached_property
    def _woodbury(self) -> FloatArray:
        """X of the inverse of the information plus a constant: D^-1 + (D^-1 Phi) X (D^-1 Phi)^T."""
        nodes, cardinal = self._nodes
        slope = 1 / np.cosh((nodes[:, None] - nodes) / 2) ** 2 / 4
        core = slope - self._constant
        inner = (cardinal / self._sums[1][:, None]).T @ cardinal
        found = np.linalg.solve(np.eye(nodes.size) - core @ inner, core)
        return np.asarray((found + found.T) / 2)

    @property
    def _constant(self) -> float:
        """What is added to every element of the information: no pair's, about its size."""
        return float(self._sums[1].mean()) / self.skills.size

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Solve information times x = gradient in the space of mean zero, (m,)."""
        _, cardinal = self._nodes
        x = gradient / self._sums[1]
        x = x + cardinal @ (self._woodbury @ (cardinal.T @ x)) / self._sums[1]
        return np.asarray(x - x.mean())

    def covariance(self) -> FloatArray:
        """Pseudo-inverse of the information, mean-zero gauge, (m, m)."""
        m = self.skills.size
        scaled = self._nodes[1] / self._sums[1][:, None]
        found = (scaled @ self._woodbury) @ scaled.T
        found.flat[:: m + 1] += 1 / self._sums[1]
        found -= 1 / (m * m * self._constant)
        return np.asarray(found)


_DIRECT = 400  # players up to which systems are solved directly
_STEP = 1e-5  # Newton's last step; the error after it is its square
_MOST_STEPS = 200
_RESIDUAL = 1e-4  # of the conjugate gradients, relative
_ROWS = 32  # at a time, so that they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Skills:
    """A maximum of the likelihood.

    Attributes
    ----------
    epp : ndarray, shape (m,)
        Skills on the logit scale, mean zero.
    """

    epp: FloatArray

    @cached_property
    def odds(self) -> FloatArray:
        """Exponentials of the skills, (m,)."""
        return np.asarray(np.exp(self.epp))

    def win_probabilities(self) -> FloatArray:
        """P(row beats column), 1/2 on the diagonal, (m, m)."""
        return np.asarray(self.odds[:, None] / (self.odds[:, None] + self.odds))


def solve(
    totals: FloatArray,
    n_matches: float | FloatArray,
    *,
    start: FloatArray | None = None,
    equal: tuple[int, int] | None = None,
) -> Skills:
    """Skills that make the expected number of wins the observed one, mean zero.

    Parameters
    ----------
    totals : ndarray, shape (m,)
        Wins of each player, ties as half.
    n_matches : float or ndarray, shape (m, m)
        Matches of each pair (zero on the diagonal of a matrix).
    start : ndarray, shape (m,), optional
    equal : (int, int), optional
        Two players whose skills are held equal, for the likelihood-ratio test.

    Notes
    -----
    The maximum must exist: the graph of wins is strongly connected (``win_graph``).

    Examples
    --------
    >>> solve(np.array([3.0, 1.0]), 4).epp.round(4).tolist()
    [0.5493, -0.5493]
    """
    skills = _start(totals, n_matches) if start is None else start - start.mean()
    skills = _merged(skills, equal)
    for _ in range(_MOST_STEPS):
        direction = _newton_direction(skills, totals, n_matches, equal)
        spread = float(np.ptp(direction))
        skills = skills + direction * (np.log1p(spread) / spread if spread > 1 else 1.0)
        skills -= skills.mean()
        if spread < _STEP:
            return Skills(skills)
    raise ArithmeticError(f"the likelihood has no maximum after {_MOST_STEPS} Newton steps")


def solve_together(totals: FloatArray, n_matches: FloatArray, start: FloatArray) -> FloatArray:
    """The same for many tournaments of few players, whose Newton steps are one batch, (B, m).

    Parameters
    ----------
    totals : ndarray, shape (B, m)
    n_matches : ndarray, shape (m, m)
        Matches of each pair, the same in all.
    start : ndarray, shape (m,)

    Examples
    --------
    >>> matches = np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> solve_together(np.array([[3.0, 1.0], [2.0, 2.0]]), matches, np.zeros(2)).round(4).tolist()
    [[0.5493, -0.5493], [0.0, 0.0]]
    """
    skills = np.tile(start - start.mean(), (len(totals), 1))
    moving = np.arange(len(totals))
    for _ in range(_MOST_STEPS):
        if not moving.size:
            return skills
        direction = _newton_directions(skills[moving], totals[moving], n_matches)
        spread = np.ptp(direction, axis=1)
        long = np.maximum(spread, 1.0)
        length = np.where(spread > 1, np.log1p(long) / long, 1.0)
        skills[moving] += direction * length[:, None]
        skills -= skills.mean(axis=1, keepdims=True)
        moving = moving[spread >= _STEP]
    raise ArithmeticError(f"a likelihood has no maximum after {_MOST_STEPS} Newton steps")


def _newton_directions(skills: FloatArray, totals: FloatArray, n_matches: FloatArray) -> FloatArray:
    """Newton's step of each tournament, (B, m)."""
    m = skills.shape[1]
    odds = np.exp(skills)
    wins = odds[:, :, None] / (odds[:, :, None] + odds[:, None, :])
    expected = n_matches * wins
    weights = expected * wins.swapaxes(1, 2)
    degree = weights.sum(axis=2)
    matrix = degree.mean(axis=1)[:, None, None] / m - weights
    matrix[:, range(m), range(m)] += degree
    gradient = totals - expected.sum(axis=2)
    return np.asarray(np.linalg.solve(matrix, gradient[:, :, None])[:, :, 0])


def model_covariance(skills: Skills, n_matches: float | FloatArray) -> FloatArray:
    r"""Covariance if all matches were independent, mean-zero gauge, (m, m).

    .. math:: (L + c 1 1^T)^{-1} - 1 1^T / (m^2 c), \qquad L_{ij} = -N_{ij} P_{ij} P_{ji},

    rows of the Laplacian L add up to zero.
    """
    if np.ndim(n_matches) == 0 and skills.epp.size > _DIRECT:
        found = LogisticKernel(skills.epp).covariance()
        found /= n_matches
        return found
    from scipy.linalg.lapack import dpotrf, dpotri

    m = skills.epp.size
    laplacian = _sums(skills.odds, n_matches)[1]
    degree = laplacian.sum(axis=1)
    constant = float(degree.mean()) / m
    np.subtract(constant, laplacian, out=laplacian)
    laplacian.flat[:: m + 1] += degree
    factor, failed = dpotrf(laplacian.T, lower=1, overwrite_a=1, clean=0)
    inverse, also_failed = dpotri(factor, lower=1, overwrite_c=1)
    if failed or also_failed:
        raise ArithmeticError("the information is not positive definite")
    upper = inverse.T  # of a symmetric matrix, in the order of C
    np.copyto(upper, upper.T, where=np.tri(m, k=-1, dtype=bool))
    upper -= 1 / (m * m * constant)
    return np.asarray(upper)


def log_likelihood(skills: Skills, counts: MatchCounts) -> float:
    r""":math:`\sum_{i<j} w_{ij} \log P_{ij} + w_{ji} \log P_{ji}`."""
    odds, m = skills.odds, skills.epp.size
    total = float(counts.totals @ skills.epp)
    for begin in range(0, m, _ROWS):
        rows = slice(begin, min(begin + _ROWS, m))
        logs = np.log(odds[rows, None] + odds)
        if isinstance(counts.n_matches, int):
            own = np.log(2 * odds[rows])
            total -= counts.n_matches * (float(logs.sum()) - float(own.sum())) / 2
        else:
            total -= float(np.sum(counts.n_matches[rows] * logs)) / 2
    return total


def saturated_log_likelihood(counts: MatchCounts) -> float:
    """The same with every pair's own share of wins."""
    n = counts.n_matches
    if isinstance(n, int) and n <= counts.n_players**2:  # few values, each many times
        frequency = np.bincount(counts.doubled_wins.ravel(), minlength=2 * n + 1).astype(float)
        frequency[0] -= counts.n_players  # the diagonal
        share = np.arange(2 * n + 1) / (2 * n)
        positive = share > 0
        logs = share[positive] * np.log(share[positive])
        return float(n * (frequency[positive] @ logs))
    share = counts.win_shares
    positive = share > 0
    every = np.broadcast_to(np.asarray(n, np.float64), share.shape)[positive]
    return float(np.sum(every * share[positive] * np.log(share[positive])))


def _newton_direction(
    skills: FloatArray,
    totals: FloatArray,
    n_matches: float | FloatArray,
    equal: tuple[int, int] | None,
) -> FloatArray:
    """Newton's step: by the kernel for many players of as many matches each, else by all pairs."""
    m = skills.size
    if equal is None and np.ndim(n_matches) == 0 and m > _DIRECT:
        kernel = LogisticKernel(skills)
        return kernel.solve(totals / n_matches - kernel.expected_wins)
    expected, weights = _sums(np.exp(skills), n_matches)
    gradient = _merged(totals - expected, equal)
    degree = weights.sum(axis=1)
    if equal is None and m <= _DIRECT:
        matrix = float(degree.mean()) / m - weights
        matrix.flat[:: m + 1] += degree
        return np.asarray(np.linalg.solve(matrix, gradient))
    return _conjugate_gradients(gradient, weights, degree, equal)


def _sums(odds: FloatArray, n_matches: float | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Expected wins, and N P (1 - P) of every pair with zeros on the diagonal."""
    m = odds.size
    expected, weights = np.empty(m), np.empty((m, m))
    for begin in range(0, m, _ROWS):
        rows = slice(begin, min(begin + _ROWS, m))
        own = odds[rows, None]
        wins = 1 / (own + odds)
        lost = wins * odds
        wins *= own
        wins *= n_matches if np.ndim(n_matches) == 0 else n_matches[rows]  # type: ignore[index]
        expected[rows] = wins.sum(axis=1)
        np.multiply(wins, lost, out=weights[rows])
    if np.ndim(n_matches) == 0:
        expected -= n_matches / 2  # against itself
    weights.flat[:: m + 1] = 0
    return expected, weights


def _start(totals: FloatArray, n_matches: float | FloatArray) -> FloatArray:
    alike, others = np.ndim(n_matches) == 0, totals.size - 1
    played = n_matches * np.full(totals.size, others) if alike else np.sum(n_matches, axis=1)
    guess = np.log((totals + 0.5) / (played - totals + 0.5))
    return np.asarray(guess - guess.mean())


def _merged(values: FloatArray, equal: tuple[int, int] | None) -> FloatArray:
    """Project onto equal values of two players."""
    if equal is not None:
        values = values.copy()
        values[list(equal)] = values[list(equal)].mean()
    return values


def _conjugate_gradients(
    gradient: FloatArray, weights: FloatArray, degree: FloatArray, equal: tuple[int, int] | None
) -> FloatArray:
    """Solve L x = g in the space of mean zero, and of two equal values where asked."""
    scale = _merged(degree, equal)
    x = np.zeros_like(gradient)
    residual = gradient - gradient.mean()
    z = residual / scale
    direction, product = z.copy(), float(residual @ z)
    target = _RESIDUAL**2 * product
    for _ in range(10 * gradient.size):
        if product <= target or product <= 0:
            break
        image = _merged(degree * direction - weights @ direction, equal)
        length = product / float(direction @ image)
        x += length * direction
        residual -= length * image
        z = residual / scale
        before, product = product, float(residual @ z)
        direction = z + (product / before) * direction
    return np.asarray(x - x.mean())
