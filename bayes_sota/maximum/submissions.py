r"""Noise of a score that is the best of several submissions, chosen because of these very items.

A score minus its board-conditional skill is, in standard errors, a standard normal ``Z`` after one
submission. The best of T submissions whose noises share ``1 - lambda^2`` of their variance has

.. math:: W = \lambda M_T + \sqrt{1 - \lambda^2}\, Z, \quad M_T = \max_{t \le T} E_t

with standard normal ``E_t`` and ``Z``. If they also differ in true skill, with the standard
deviation tau in standard errors, and share ``1 - kappa^2`` of their noise,
``lambda = kappa^2 / sqrt(kappa^2 + tau^2)``.

W is the largest of T normals with correlation ``1 - lambda^2``, so that its density is that of one
submission times

.. math:: \frac{g(w)}{\varphi(w)} = T \int \varphi(u)\,
          \Phi(\lambda w + \sqrt{1 - \lambda^2}\, u)^{T - 1}\, du

``tests/maximum/test_submissions.py`` compares with simulation and with order statistics.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri

from bayes_sota.core.types import FloatArray, IntArray

_PLACES = np.linspace(-16.0, 16.0, 1281)  # standard errors of the tables; beyond, they are flat
_REACH, _NODES = 9.0, 181
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class SubmissionNoise:
    """Law of the noise of the best of T submissions, for several kinds of entries at once.

    ``tables`` (2, L, places) are log density and log survival of each kind, relative to one
    submission. ``kind`` says which each row has, by default its own.
    """

    tables: FloatArray

    def log_ratio(self, w: FloatArray, kind: ArrayLike | None = None) -> FloatArray:
        """Log density at ``w``, (U, G), relative to that of one submission."""
        return self._interpolated(self.tables[0], w, kind)

    def survival(self, w: FloatArray, kind: ArrayLike | None = None) -> FloatArray:
        """P(W > w), (U, G)."""
        return ndtr(-w) * np.exp(self._interpolated(self.tables[1], w, kind))

    def raised(self, survival: FloatArray, kind: ArrayLike | None = None) -> FloatArray:
        """P(score > x), given that of one submission, ``survival``."""
        return np.minimum(self.survival(-ndtri(survival), kind), 1.0)

    def draw_above(self, low: FloatArray, kind: IntArray, rng: Generator) -> FloatArray:
        """Draws of W given that it exceeds ``low``; one per ``low`` and ``kind``."""
        drawn = np.empty(low.shape)
        level = np.log1p(-rng.random(low.shape))
        order = np.argsort(kind, axis=None, kind="stable")
        first = np.flatnonzero(np.diff(kind.ravel()[order], prepend=-1))
        for here in np.split(order, first)[1:]:
            log_survival = log_ndtr(-_PLACES) + self.tables[1][kind.flat[here[0]]]
            start = np.interp(low.flat[here], _PLACES, log_survival)
            drawn.flat[here] = np.interp(-start - level.flat[here], -log_survival, _PLACES)
        return np.maximum(drawn, low)

    def _interpolated(self, table: FloatArray, w: FloatArray, kind: ArrayLike | None) -> FloatArray:
        rows = np.arange(len(w)) if kind is None else np.asarray(kind)
        step, last = _PLACES[1] - _PLACES[0], _PLACES.size - 1
        place = np.clip((w - _PLACES[0]) / step, 0, last)
        left = np.minimum(place.astype(np.int64), last - 1)
        part = place - left
        rows = rows.reshape(-1, *(1,) * (w.ndim - 1))
        return (1 - part) * table[rows, left] + part * table[rows, left + 1]


@lru_cache(64)
def noise_of(numbers: tuple[tuple[float, ...], ...], *lucks: float) -> SubmissionNoise:
    """Noise of each kind of entry at the first luck, then at the second, ...

    ``numbers`` are equally likely numbers of submissions of each kind. A luck is a lambda, from 0
    (the choice brings no luck) to 1 (independent noises, equal skills).
    """
    tables = [log_ratios(np.array(numbers), luck) for luck in lucks]
    return SubmissionNoise(np.concatenate(tables, axis=1))


def log_ratios(numbers: FloatArray, luck: float) -> FloatArray:
    """Log ratios of density and survival to those of a normal, (2, L, places).

    Both survival functions are sums over the same places, so that their errors cancel.
    """
    u = np.linspace(-_REACH, _REACH, _NODES)
    weights = np.exp(-0.5 * u**2)
    below = log_ndtr(luck * _PLACES[:, None] + np.sqrt(1 - luck**2) * u)
    unique, index = np.unique(numbers, return_inverse=True)
    each = [t * (np.exp((t - 1) * below) @ weights) / weights.sum() for t in unique]
    ratio = np.maximum(np.array(each)[index.reshape(numbers.shape)].mean(axis=1), _TINY)
    ratio[np.all(numbers == 1, axis=1)] = 1.0
    normal = np.exp(-0.5 * _PLACES**2)
    survival = _sum_from(normal * ratio) / _sum_from(normal[None])
    return np.log([ratio, survival])


def _sum_from(values: FloatArray) -> FloatArray:
    """Integral from each place on, up to a factor, by the trapezoidal rule."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1] - values / 2


def expected_maximum(numbers: FloatArray) -> FloatArray:
    """Expected largest of T standard normals, for an array of T of any shape."""
    x = np.linspace(-10.0, 10.0, 4001)
    flat, inverse = np.unique(numbers, return_inverse=True)
    cdf = np.exp(flat[:, None] * log_ndtr(x))
    expected = np.trapezoid(np.heaviside(x, 0.5) - cdf, x, axis=1)
    return np.where(flat == 1, 0.0, expected)[inverse].reshape(np.shape(numbers))
