r"""Best of N private variants: the skill behind a published best, as an EPP on a leaderboard.

A provider tests N variants and publishes the one with the largest estimate. The population of
providers has N(m, sigma^2), the variants k of one provider differ by tau, and their estimates b_k
have the standard error s and share some of it, because they play the same rounds:

.. math:: \beta_k = \mu + \tau u_k, \quad \mu \sim N(m, \sigma^2), \quad
          b_k = \beta_k + s \big(\sqrt{\rho}\, z + \sqrt{1 - \rho}\, e_k\big), \quad
          b = \max_k b_k, \qquad u_k, z, e_k \sim N(0, 1)

With :math:`c = \mu + s \sqrt\rho\, z`, which all variants have in common,
:math:`w^2 = \tau^2 + (1 - \rho) s^2` and :math:`x = (b - c) / w` the posterior is

.. math:: p(x, \tau, N \mid b) \propto p(\tau)\, p(N)\, N \varphi(x)\, \Phi(x)^{N - 1}\,
          N\big(b - w x;\; m,\, \sigma^2 + \rho s^2\big)

and the shown variant has :math:`\beta - \mu \sim N(h w x, (1 - h) \tau^2)`, :math:`h = \tau^2/w^2`.
Given c, tau and N the selection changes nothing: a posterior knows of no winner's curse where the
prior is known. N matters because mu is not known (and z, where rho > 0): the more variants, the
lower is the field that has a best one like this. With a flat prior of mu, tau known, the bias is
that of ``selection_bias``, where tau = 0 reads the variants as equal:

.. math:: E(b - \beta) = \frac{(1 - \rho) s^2}{w}\, E \max(Z_1, \dots, Z_N)

The integrals are in ``variant_posterior``. Intervals hold their level where the variants of one
provider are roughly normal or equal. Where one stands far above its siblings it would be shown
whatever the luck, and the correction is too strong: its 95 % interval covers in 61 to 92 % of
simulations, the uncorrected one in 95 %, which among normal variants covers in 60 to 93 %.
``tests/epp/test_private_variants.py`` compares with simulated providers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import OPEN_SHARE, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import TriesPrior, UniformTries
from bayes_sota.core.types import FloatArray
from bayes_sota.data.entry_checks import whole_number
from bayes_sota.epp.variant_posterior import VariantModel, VariantPosterior, largest_means

__all__ = ["PrivateVariants", "population_sd_of", "private_variants", "selection_bias"]

_TRIES_NODES = 24
_LIKELY_TRIES = 4096  # equally likely numbers that stand for a prior
_FEWEST_PLAYERS = 4

Variants = int | tuple[int, int] | TriesPrior


@dataclass(frozen=True, eq=False)
class PrivateVariants:
    """What stands behind a published best of several private variants.

    Attributes
    ----------
    estimate : float
        As published.
    mean, sd : float
        Of the shown variant's skill given the estimate, by quadrature.
    mean_alone : float
        The mean had it been the provider's only variant: ``estimate - mean_alone`` is regression
        to the population, ``mean_alone - mean`` is due to the selection.
    draws : dict of str to ndarray, shape (D,)
        Independent posterior draws, names as in ``bayes_sota.core.schema``: ``winner_skill`` (of
        the shown variant), ``theta_sota`` (of the best of the N), ``multiplicity_bias`` (estimate
        minus ``theta_sota``), ``n_classifiers`` (N), ``location`` and ``spread`` (mu and tau).
    """

    estimate: float
    mean: float
    sd: float
    mean_alone: float
    draws: dict[str, FloatArray]

    @property
    def winner_skill(self) -> FloatArray:
        """Skill of the shown variant, draws of shape (D,)."""
        return self.draws["winner_skill"]

    @property
    def theta_sota(self) -> FloatArray:
        """Skill of the provider's best variant, draws of shape (D,)."""
        return self.draws["theta_sota"]

    @property
    def n_variants(self) -> FloatArray:
        """Number of variants, draws of shape (D,)."""
        return self.draws["n_classifiers"]

    @property
    def bias(self) -> FloatArray:
        """Published estimate minus the shown variant's skill, draws of shape (D,)."""
        return self.estimate - self.winner_skill

    @property
    def p_best(self) -> float:
        """Probability that the shown variant is the best of its provider's."""
        return float(np.mean(self.winner_skill == self.theta_sota))

    def interval(self, prob: float = 0.95, of: str = "winner_skill") -> tuple[float, float]:
        """Equal-tailed interval of one of the draws' variables."""
        OPEN_SHARE.check(prob, "prob")
        if of not in self.draws:
            raise InputError(f"there is no {of!r}; allowed: {', '.join(self.draws)}")
        low, high = np.quantile(self.draws[of], [(1 - prob) / 2, (1 + prob) / 2])
        return float(low), float(high)


def private_variants(
    estimate: float,
    standard_error: float,
    variants: Variants,
    *,
    population_sd: float,
    population_mean: float = 0.0,
    variant_sd: float | None = None,
    error_correlation: float = 0.0,
    df: float | None = None,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = None,
    refinement: float = 1.0,
) -> PrivateVariants:
    """Posterior of the skill behind the best of several private variants.

    Parameters
    ----------
    estimate : float
        Published skill (log odds), the largest of the variants' estimates.
    standard_error : float
        Of one estimate; the same for every variant.
    variants : int, (int, int) or TriesPrior
        Number of variants, a range (uniform on the logarithm) or a prior.
    population_sd : float
        Standard deviation of the providers' typical skills (``population_sd_of`` estimates it from
        the other players of the leaderboard).
    population_mean : float
        Their mean, 0 in the mean-zero gauge.
    variant_sd : float, optional
        Standard deviation of the skills of one provider's variants; 0 for variants that are equal.
        Default: half-normal with scale ``population_sd / 2``, so that variants of one provider
        differ less than providers do with probability 95 %.
    error_correlation : float
        Correlation of the errors of two variants, in [0, 1).
    df : float, optional
        Degrees of freedom of the standard error, at least 1; default normal errors.
    draws : int
        Number of independent draws.
    random_seed : int, Generator or None
    refinement : float
        Every grid is this many times denser. The default moves by less than 1 % of the posterior
        standard deviation under ``refinement=2``.

    Returns
    -------
    PrivateVariants

    Raises
    ------
    InputError
        Numbers that cannot be, such as an infinite estimate.

    Examples
    --------
    >>> found = private_variants(1.5, 0.3, 20, population_sd=0.6, random_seed=0)
    >>> round(found.mean, 2), round(found.mean_alone, 2)
    (1.05, 1.25)
    """
    tries = _checked_variants(variants)
    model = VariantModel(
        _finite("the estimate", estimate),
        _positive("standard_error", standard_error),
        _finite("population_mean", population_mean),
        _positive("population_sd", population_sd),
        _checked_spread(variant_sd),
        _checked_correlation(error_correlation),
        _checked_freedom(df),
        refinement,
    )
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    rng = generator_of(random_seed)
    posterior = VariantPosterior(model, *_tries_nodes(tries, refinement))
    alone = VariantPosterior(model, np.ones(1), np.ones(1)).moments()[0]
    return PrivateVariants(model.estimate, *posterior.moments(), alone, posterior.draw(rng, draws))


def selection_bias(
    standard_error: float,
    variants: Variants,
    *,
    variant_sd: float = 0.0,
    error_correlation: float = 0.0,
) -> float:
    r"""Expected excess of the best of N estimates over its own skill, without a prior of skills.

    .. math:: \frac{(1 - \rho) s^2}{\sqrt{\tau^2 + (1 - \rho) s^2}}\, E \max(Z_1, \dots, Z_N)

    Parameters
    ----------
    standard_error, variants, error_correlation
        As in ``private_variants``.
    variant_sd : float
        tau; the default takes all variants to be equal, which gives the largest bias.

    Returns
    -------
    float

    Examples
    --------
    >>> round(selection_bias(0.3, 20), 3), round(selection_bias(0.3, 20, variant_sd=0.3), 3)
    (0.56, 0.396)
    """
    error = _positive("standard_error", standard_error)
    spread = _checked_spread(variant_sd) or 0.0
    own = (1 - _checked_correlation(error_correlation)) * error**2
    n, weights = _tries_nodes(_checked_variants(variants), 1.0)
    return float(own / np.sqrt(spread**2 + own) * (largest_means(n) @ weights))


def population_sd_of(estimates: ArrayLike, standard_errors: ArrayLike) -> float:
    r"""Standard deviation of the true skills of players whose estimates have errors.

    The posterior median of sigma with a flat prior and the mean integrated out,

    .. math:: p(\sigma \mid b) \propto \Big(\prod_i v_i \sum_i v_i^{-1}\Big)^{-1/2}
              \exp\Big(-\frac12 \sum_i \frac{(b_i - \bar b)^2}{v_i}\Big), \quad
              v_i = \sigma^2 + s_i^2, \quad \bar b = \frac{\sum b_i / v_i}{\sum 1 / v_i}

    which, unlike the moment estimator of DerSimonian & Laird 1986, is never zero.

    Parameters
    ----------
    estimates, standard_errors : array_like, shape (m,)
        Of the other players; at least four, one for each provider.

    Returns
    -------
    float

    Raises
    ------
    InputError
        Fewer than four players, or numbers that are not finite or positive.

    Examples
    --------
    >>> round(population_sd_of([0.9, 0.4, 0.1, -0.3, -0.4, -0.7], [0.2] * 6), 2)
    0.68
    """
    b, s = (np.asarray(x, dtype=np.float64) for x in (estimates, standard_errors))
    if b.ndim != 1 or b.shape != s.shape or b.size < _FEWEST_PLAYERS:
        raise InputError(
            f"the population's sd needs estimates and standard errors of at least "
            f"{_FEWEST_PLAYERS} players, got {b.size} and {s.size}"
        )
    if not (np.isfinite(b).all() and np.isfinite(s).all() and (s > 0).all()):
        raise InputError("estimates must be finite, and standard errors finite and positive")
    least = float(np.median(s))
    y = np.linspace(0, np.arcsinh(1e3 * (np.ptp(b) + least) / least), 1001)
    sigma = least * np.sinh(y)
    v = sigma[:, None] ** 2 + s**2
    mean = np.sum(b / v, axis=1) / np.sum(1 / v, axis=1)
    misfit = np.sum((b - mean[:, None]) ** 2 / v, axis=1)
    log_density = -(np.log(v).sum(axis=1) + np.log(np.sum(1 / v, axis=1)) + misfit) / 2
    density = np.exp(log_density - log_density.max()) * np.cosh(y)
    mass = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    return float(np.interp(mass[-1] / 2, mass, sigma))


def _tries_nodes(tries: int | TriesPrior, refinement: float) -> tuple[FloatArray, FloatArray]:
    """Numbers of variants and their probabilities, linear in log N between the numbers."""
    if not isinstance(tries, TriesPrior):
        return np.array([float(tries)]), np.ones(1)
    likely, _ = tries.nodes(_LIKELY_TRIES)
    nodes = np.unique(np.geomspace(likely[0], likely[-1], round(_TRIES_NODES * refinement)).round())
    position = np.interp(np.log(likely), np.log(nodes), np.arange(nodes.size))
    below = np.minimum(position.astype(np.int64), max(nodes.size - 2, 0))
    hats = np.bincount(below, 1 - (position - below), nodes.size)
    if nodes.size > 1:
        hats += np.bincount(below + 1, position - below, nodes.size)
    kept = hats > 0
    return nodes[kept], hats[kept] / hats.sum()


def _checked_variants(variants: Variants) -> int | TriesPrior:
    if isinstance(variants, TriesPrior):
        return variants
    ends = variants if isinstance(variants, tuple) else (variants, variants)
    low, high = (whole_number(end, "variants", "the number of variants") for end in ends)
    return low if low == high else UniformTries(low, high)


def _finite(name: str, value: float) -> float:
    if not np.isfinite(value):
        raise InputError(f"{name} must be a finite number, got {value}")
    return float(value)


def _positive(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name} must be positive, got {value}")
    return float(value)


def _checked_spread(value: float | None) -> float | None:
    if value is not None and not (np.isfinite(value) and value >= 0):
        raise InputError(f"variant_sd must be at least 0, got {value}")
    return None if value is None else float(value)


def _checked_correlation(value: float) -> float:
    if not 0 <= value < 1:
        raise InputError(f"error_correlation must lie in [0, 1), got {value}")
    return float(value)


def _checked_freedom(value: float | None) -> float | None:
    if value is not None and not (np.isfinite(value) and value >= 1):
        raise InputError(f"df must be at least 1, got {value}")
    return None if value is None else float(value)
