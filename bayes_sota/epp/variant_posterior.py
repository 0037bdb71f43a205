r"""Posterior of what stands behind the best of N private variants, on nodes (``private_variants``).

.. math:: p(x, \tau, s, N \mid b) \propto p(\tau)\, p(s)\, p(N)\, N \varphi(x)\, \Phi(x)^{N - 1}\,
          N\big(b - w x;\; m,\, \sigma^2 + \rho s^2\big), \quad w^2 = \tau^2 + (1 - \rho) s^2

Nodes are equidistant, which for smooth densities converges exponentially:

- in x, where the density is log-concave and lies below normal ones on both sides of its mode;
- in y, :math:`\tau = s \sqrt{1 - \rho} \sinh y`, so that :math:`w = s \sqrt{1 - \rho} \cosh y` and
  the shrinkage :math:`\tau^2 / w^2 = \tanh^2 y` are smooth however small s is;
- in log s where the errors are Student t, with one scale for all variants.

A draw is a node plus a triangular offset per coordinate. The other variants of the provider are
drawn from the order statistics below b (``NormalTestSet.walk_down``).
``tests/epp/test_private_variants.py`` compares with simulated providers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.normal_fields import NormalTestSet
from bayes_sota.maximum.normal_scores import GaussianScores

__all__ = ["VariantModel", "VariantPosterior", "largest_means"]

_X_NODES, _SPREAD_NODES = 64, 48
_SCALE_STEP = 0.5  # of the standard deviation of log s
_REACH = 7.0  # standard deviations of the normal bounds on both sides of the mode
_CUT = 20.0  # log density below the maximum that is left out
_DEFAULT_SPREAD = 0.5  # scale of tau relative to sigma
_LOG_ROOT_2PI = 0.9189385332046727


@dataclass(frozen=True)
class VariantModel:
    """What is given: an estimate, its population, and how variants differ.

    Attributes
    ----------
    estimate, error : float
        b and s.
    centre, sigma : float
        m and sigma.
    variant_sd : float or None
        tau; None for half-normal with scale ``sigma / 2``.
    correlation : float
        rho.
    df : float or None
        Degrees of freedom of s; None where it is known.
    refinement : float
        Every grid is this many times denser.
    """

    estimate: float
    error: float
    centre: float
    sigma: float
    variant_sd: float | None
    correlation: float
    df: float | None
    refinement: float

    @property
    def cut(self) -> float:
        """Log density of the nuisance parameters that even this estimate cannot make up for."""
        distance = self.estimate - self.centre
        return float(_CUT + distance**2 / (2 * (self.sigma**2 + self.error**2)))

    def scales(self) -> tuple[FloatArray, FloatArray]:
        """Nodes of the standard error and their log densities, (V,)."""
        if self.df is None:
            return np.array([self.error]), np.zeros(1)
        far = self.cut / self.df
        low, high = -0.5 * np.log1p(2 * np.sqrt(far) + 2 * far), np.sqrt(far) + far
        step = _SCALE_STEP / np.sqrt(2 * self.df) / self.refinement
        a = np.linspace(low, high, int(np.ceil((high - low) / step)) + 1)
        return self.error * np.exp(a), -self.df * (a + np.expm1(-2 * a) / 2)

    def own(self, scale: FloatArray) -> FloatArray:
        """Standard error that a variant has for itself."""
        return np.asarray(scale * np.sqrt(1 - self.correlation))

    def common_variance(self, scale: FloatArray) -> FloatArray:
        """Prior variance of c."""
        return np.asarray(self.sigma**2 + self.correlation * scale**2)

    def box(self, n: FloatArray, scale: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First node of x and their distance."""
        width, variance = self.own(scale) * np.cosh(y), self.common_variance(scale)
        slope = width * (self.estimate - self.centre) / variance
        return _box_of_largest(n, width**2 / variance, slope, self.x_nodes)

    @property
    def x_nodes(self) -> int:
        """Nodes of x."""
        return round(_X_NODES * self.refinement)

    @property
    def spread_nodes(self) -> int:
        """Nodes of tau."""
        return 1 if self.variant_sd is not None else round(_SPREAD_NODES * self.refinement)

    def y(self, scale: FloatArray, share: FloatArray) -> FloatArray:
        """tau in units of the own error is sinh y, up to a share of its range."""
        if self.variant_sd is not None:
            return np.arcsinh(self.variant_sd / self.own(scale)) + 0 * share
        top = _DEFAULT_SPREAD * self.sigma * np.sqrt(2 * self.cut)
        return np.asarray(np.arcsinh(top / self.own(scale)) * share)

    def log_prior(self, scale: FloatArray, y: FloatArray) -> FloatArray:
        """Log density of tau with respect to the share, up to a constant, (V, T)."""
        if self.variant_sd is not None:
            return np.zeros(y.shape)
        own = self.own(scale)
        tau = own * np.sinh(y)
        log_density = -0.5 * (tau / (_DEFAULT_SPREAD * self.sigma)) ** 2
        log_density += np.log(own * np.cosh(y) * y[:, -1:])
        log_density[:, 0] -= np.log(2)  # an even function: half of the middle node
        return np.asarray(log_density)


class VariantPosterior:
    """Masses on nodes of N, s, tau and x, shape (K, V, T, X).

    Parameters
    ----------
    model : VariantModel
    tries, weights : ndarray, shape (K,)
        Numbers of variants and their prior probabilities.
    """

    def __init__(self, model: VariantModel, tries: FloatArray, weights: FloatArray) -> None:
        """Evaluate everything."""
        self.model, self.tries = model, tries
        scale, log_scale = model.scales()
        self.scale = scale[:, None]
        self.y = model.y(self.scale, np.linspace(0, 1, model.spread_nodes))  # (V, T)
        width = model.own(self.scale) * np.cosh(self.y)
        variance = model.common_variance(self.scale)
        distance = model.estimate - model.centre
        n = tries[:, None, None]
        self.low, self.step = model.box(n, self.scale, self.y)
        self.x = self.low[..., None] + self.step[..., None] * np.arange(model.x_nodes)
        common = distance - width[..., None] * self.x  # c - m
        log_mass = _log_largest(n[..., None], self.x)
        log_mass -= 0.5 * (common**2 / variance[..., None])
        rest = log_scale[:, None] + model.log_prior(self.scale, self.y) - np.log(variance) / 2
        rest = rest + np.log(weights[:, None, None])
        log_mass += (np.log(self.step) + rest)[..., None]
        mass = np.exp(log_mass - log_mass.max())
        self.mass = mass / mass.sum()

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the shown variant's skill."""
        model = self.model
        own, variance = model.own(self.scale), model.common_variance(self.scale)
        width, h = own * np.cosh(self.y), np.tanh(self.y) ** 2
        share = model.sigma**2 / variance
        common = model.estimate - model.centre - width[..., None] * self.x
        mean = model.centre + share[..., None] * common + (h * width)[..., None] * self.x
        rest = share * model.correlation * self.scale**2 + h * own**2
        overall = float(np.sum(self.mass * mean))
        spread = np.sum(self.mass * ((mean - overall) ** 2 + rest[..., None]))
        return overall, float(np.sqrt(spread))

    def draw(self, rng: np.random.Generator, draws: int) -> dict[str, FloatArray]:
        """Independent draws of everything, the density linear between the nodes."""
        model, size = self.model, self.mass.size
        cumulative = np.cumsum(self.mass)
        chosen = np.searchsorted(cumulative, rng.random(draws) * cumulative[-1])
        k, v, t, i = np.unravel_index(np.minimum(chosen, size - 1), self.mass.shape)
        scales, spreads = self.mass.shape[1:3]
        scale = np.full(draws, self.scale[0, 0])
        if scales > 1:
            index = v + _hat(rng, draws)
            scale = np.exp(np.interp(index, np.arange(scales), np.log(self.scale[:, 0])))
        share = np.zeros(draws)
        if spreads > 1:
            share = np.abs(t + _hat(rng, draws)) / (spreads - 1)
        y, own, n = model.y(scale, share), model.own(scale), self.tries[k]
        low, step = model.box(n, scale, y)
        x = low + step * (i + _hat(rng, draws))
        common = model.estimate - model.centre - own * np.cosh(y) * x
        pull = model.sigma**2 / model.common_variance(scale)
        rest = np.sqrt(pull * model.correlation) * scale * rng.standard_normal(draws)
        location = model.centre + pull * common + rest
        shown = np.sinh(y) * x + rng.standard_normal(draws)
        best = _best_of_all(rng, x, np.sinh(y), shown, n.astype(np.int64) - 1)
        unit = own * np.tanh(y)  # standard deviation of a skill given its estimate
        theta = location + unit * best
        return {
            "winner_skill": location + unit * shown,
            "theta_sota": theta,
            "multiplicity_bias": model.estimate - theta,
            "n_classifiers": n,
            "location": location,
            "spread": own * np.sinh(y),
        }


def _best_of_all(
    rng: np.random.Generator,
    x: FloatArray,
    slope: FloatArray,
    shown: FloatArray,
    others: NDArray[np.int64],
) -> FloatArray:
    """Best of the standardised skills, slope * x_k + N(0, 1), of the shown variant and those below.

    The others' x_k are normal below x; what walks down is their order statistics.
    """
    from scipy.special import ndtr, ndtri

    def inverse(rows: NDArray[np.int64], upper: FloatArray) -> FloatArray:
        top = x[rows]
        above = -ndtri(ndtr(-top) + ndtr(top) * upper)
        below = ndtri(ndtr(top) * (1 - upper))
        return np.asarray(slope[rows] * np.where(top > 0, above, below))

    field = NormalTestSet(GaussianScores(1.0), np.zeros(x.size), np.zeros(x.size))
    return field.walk_down(rng, inverse, np.zeros(x.size), others, shown)


def largest_means(n: FloatArray) -> FloatArray:
    """Expected largest of n standard normal variables.

    Examples
    --------
    >>> largest_means(np.array([1.0, 2.0])).round(4)  # 0 and 1 / sqrt(pi)
    array([0.    , 0.5642])
    """
    nodes = 4 * _X_NODES
    low, step = _box_of_largest(n, np.zeros(1), np.zeros(1), nodes)
    x = low[:, None] + step[:, None] * np.arange(nodes)
    log_mass = _log_largest(n[:, None], x)
    mass = np.exp(log_mass - log_mass.max(axis=1, keepdims=True))
    return np.asarray(np.sum(mass * x, axis=1) / mass.sum(axis=1))


def _box_of_largest(
    n: FloatArray, precision: FloatArray, slope: FloatArray, nodes: int
) -> tuple[FloatArray, FloatArray]:
    r"""First node and distance of nodes that hold the density of a largest and a normal factor.

    The logarithm of :math:`\varphi(x) \Phi(x)^{n-1} \exp(slope\, x - precision\, x^2/2)` is
    concave: to the left of the mode it falls at least as fast as its curvature there says, to the
    right at least as fast as the normal factors.
    """
    from scipy.special import log_ndtr

    x = np.zeros(np.broadcast_shapes(n.shape, precision.shape))
    for _ in range(100):  # Newton on a decreasing convex derivative: never past the mode twice
        mills = np.exp(-(x**2) / 2 - _LOG_ROOT_2PI - log_ndtr(x))
        curvature = 1 + precision + (n - 1) * mills * np.maximum(x + mills, 0.0)
        move = (slope - (1 + precision) * x + (n - 1) * mills) / curvature
        x = x + move
        if np.max(np.abs(move)) < 1e-4:
            break
    low = x - _REACH / np.sqrt(curvature)
    high = x + _REACH / np.sqrt(1 + precision)
    step = (high - low) / (nodes - 1)
    return low, step


def _log_largest(n: FloatArray, x: FloatArray) -> FloatArray:
    """Log density of the largest of n standard normal variables, up to a constant."""
    from scipy.special import log_ndtr

    return np.asarray(np.log(n) - x**2 / 2 + (n - 1) * log_ndtr(x))


def _hat(rng: np.random.Generator, draws: int) -> FloatArray:
    """Offsets between nodes, from the hat functions of linear interpolation."""
    return rng.random(draws) - rng.random(draws)
