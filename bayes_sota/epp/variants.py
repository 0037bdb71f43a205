r"""Best of N private variants: the skill behind a published best, as an EPP on a leaderboard.

A provider tests N variants and publishes the one with the largest estimate. The population of
providers has N(m, sigma^2), the variants k of one provider differ by tau, and their estimates b_k
have the standard error s and share some of it, because they play the same rounds:

.. math:: \beta_k = \mu + \tau u_k, \quad \mu \sim N(m, \sigma^2), \quad
          b_k = \beta_k + s \big(\sqrt{\rho}\, z + \sqrt{1 - \rho}\, e_k\big), \quad
          b = \max_k b_k, \qquad u_k, z, e_k \sim N(0, 1)

With :math:`c = \mu + s \sqrt\rho\, z`, which all variants have in common,
:math:`w^2 = \tau^2 + (1 - \rho) s^2` and :math:`x = (b - c) / w` the posterior is

.. math:: p(x, \tau, s, N \mid b) \propto p(\tau)\, p(s)\, p(N)\, N \varphi(x)\, \Phi(x)^{N - 1}\,
          N\big(b - w x;\; m,\, \sigma^2 + \rho s^2\big)

and the shown variant has :math:`\beta - \mu \sim N(h w x, (1 - h) \tau^2)`, :math:`h = \tau^2/w^2`.
Given c, tau and N the selection changes nothing: a posterior knows of no winner's curse where the
prior is known. N matters because mu is not known (and z, where rho > 0): the more variants, the
lower is the field that has a best one like this. With a flat prior of mu, tau known, the bias is

.. math:: E(b - \beta) = \frac{(1 - \rho) s^2}{w}\, E \max(Z_1, \dots, Z_N)

The integrals are sums over nodes that are equidistant, which for smooth densities converges
exponentially: in x, where the density is log-concave and lies below normal ones on both sides of
its mode; in y, :math:`\tau = s \sqrt{1 - \rho} \sinh y`, so that w and the shrinkage
:math:`\tau^2 / w^2 = \tanh^2 y` are smooth however small s is; and in log s where the errors are
Student t, with one scale for all variants. A draw is a node plus a triangular offset per
coordinate; the other variants are drawn from the order statistics below b
(``NormalTestSet.walk_down``).

On a fitted leaderboard the other players tell how far skills of providers differ, the fit how
precise the shown player's estimate is. Intervals hold their level where the variants of one
provider are roughly normal or equal. Where one stands far above its siblings it would be shown
whatever the luck, and the correction is too strong: its 95 % interval covers in 61 to 92 % of
simulations, the uncorrected one in 95 %, which among normal variants covers in 60 to 93 %.
``tests/epp/test_variants.py`` compares with simulated providers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import (
    CORRELATION,
    COUNT,
    NOT_NEGATIVE,
    NUMBER,
    OPEN_SHARE,
    POSITIVE,
    Range,
    generator_of,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import TriesPrior, UniformTries
from bayes_sota.core.types import FloatArray
from bayes_sota.data.checks import whole_number
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.maximum.walk import GaussianScores, NormalTestSet

_X_NODES, _SPREAD_NODES = 64, 48
_SCALE_STEP = 0.5  # of the standard deviation of log s
_REACH = 7.0  # standard deviations of the normal bounds on both sides of the mode
_CUT = 20.0  # log density below the maximum that is left out
_DEFAULT_SPREAD = 0.5  # scale of tau relative to sigma
_LOG_ROOT_2PI = 0.9189385332046727
_TRIES_NODES = 24
_LIKELY_TRIES = 4096  # equally likely numbers that stand for a prior
_FEWEST_PLAYERS = 4
_FREEDOM = Range(1, 1e100)
Variants = int | tuple[int, int] | TriesPrior


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
        r"""First node of x and their distance.

        The logarithm of :math:`\varphi(x) \Phi(x)^{n-1} \exp(slope\, x - precision\, x^2/2)` is
        concave: to the left of the mode it falls at least as fast as its curvature there says, to
        the right at least as fast as the normal factors.
        """
        from scipy.special import log_ndtr

        width, variance = self.own(scale) * np.cosh(y), self.common_variance(scale)
        slope = width * (self.estimate - self.centre) / variance
        normal = 1 + width**2 / variance  # curvature of the normal factors
        x = np.zeros(np.broadcast_shapes(n.shape, normal.shape))
        for _ in range(100):  # Newton on a decreasing convex derivative: never past the mode twice
            mills = np.exp(-(x**2) / 2 - _LOG_ROOT_2PI - log_ndtr(x))
            curvature = normal + (n - 1) * mills * np.maximum(x + mills, 0.0)
            move = (slope - normal * x + (n - 1) * mills) / curvature
            x = x + move
            if np.max(np.abs(move)) < 1e-4:
                break
        low, high = x - _REACH / np.sqrt(curvature), x + _REACH / np.sqrt(normal)
        return low, (high - low) / (self.x_nodes - 1)

    @property
    def x_nodes(self) -> int:
        """Nodes of x."""
        return round(_X_NODES * self.refinement)

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
        from scipy.special import log_ndtr

        self.model, self.tries = model, tries
        scale, log_scale = model.scales()
        self.scale = scale[:, None]
        nodes = 1 if model.variant_sd is not None else round(_SPREAD_NODES * model.refinement)
        self.y = model.y(self.scale, np.linspace(0, 1, nodes))  # (V, T)
        width = model.own(self.scale) * np.cosh(self.y)
        variance = model.common_variance(self.scale)
        distance = model.estimate - model.centre
        n = tries[:, None, None]
        self.low, self.step = model.box(n, self.scale, self.y)
        self.x = self.low[..., None] + self.step[..., None] * np.arange(model.x_nodes)
        common = distance - width[..., None] * self.x  # c - m
        n = n[..., None]
        log_mass = np.log(n) - self.x**2 / 2 + (n - 1) * log_ndtr(self.x)
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


def _hat(rng: np.random.Generator, draws: int) -> FloatArray:
    """Offsets between nodes, from the hat functions of linear interpolation."""
    return rng.random(draws) - rng.random(draws)


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

    def interval(self, ci_prob: float = 0.95, of: str = "winner_skill") -> tuple[float, float]:
        """Equal-tailed interval of one of the draws' variables."""
        OPEN_SHARE.check(ci_prob, "ci_prob")
        if of not in self.draws:
            raise InputError(f"there is no {of!r}; allowed: {', '.join(self.draws)}")
        low, high = np.quantile(self.draws[of], [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
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
    NUMBER.check(estimate, "estimate")
    NUMBER.check(population_mean, "population_mean")
    POSITIVE.check(population_sd, "population_sd")
    POSITIVE.check(standard_error, "standard_error")
    CORRELATION.check(error_correlation, "error_correlation")
    if variant_sd is not None:
        NOT_NEGATIVE.check(variant_sd, "variant_sd")
    if df is not None:
        _FREEDOM.check(df, "df")
    COUNT.check(draws, "draws")
    model = VariantModel(
        float(estimate), standard_error, population_mean, population_sd, variant_sd,
        error_correlation, df, refinement,
    )  # fmt: skip
    rng = generator_of(random_seed)
    posterior = VariantPosterior(model, *_tries_nodes(tries, refinement))
    alone = VariantPosterior(model, np.ones(1), np.ones(1)).moments()[0]
    return PrivateVariants(model.estimate, *posterior.moments(), alone, posterior.draw(rng, draws))


def population_sd_of(estimates: FloatArray, standard_errors: FloatArray) -> float:
    r"""Standard deviation of the true skills of players whose estimates have errors.

    The posterior median of sigma with a flat prior and the mean integrated out,

    .. math:: p(\sigma \mid b) \propto \Big(\prod_i v_i \sum_i v_i^{-1}\Big)^{-1/2}
              \exp\Big(-\frac12 \sum_i \frac{(b_i - \bar b)^2}{v_i}\Big), \quad
              v_i = \sigma^2 + s_i^2, \quad \bar b = \frac{\sum b_i / v_i}{\sum 1 / v_i}

    which, unlike the moment estimator of DerSimonian & Laird 1986, is never zero.

    Parameters
    ----------
    estimates, standard_errors : ndarray, shape (m,)
        Of the other players; at least four, one for each provider.

    Examples
    --------
    >>> round(population_sd_of(np.array([0.9, 0.4, 0.1, -0.3, -0.4, -0.7]), np.full(6, 0.2)), 2)
    0.68
    """
    b, s = estimates, standard_errors
    if b.size < _FEWEST_PLAYERS:
        raise InputError(
            f"the population's sd needs estimates and standard errors of at least "
            f"{_FEWEST_PLAYERS} players, got {b.size}"
        )
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


def private_variants_of(
    fit: BradleyTerryFit,
    player: str,
    variants: Variants,
    *,
    variant_sd: float | None = None,
    error_correlation: float = 0.0,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = None,
) -> PrivateVariants:
    """Posterior of the skill of a player who is the best of several private variants.

    Parameters
    ----------
    fit : BradleyTerryFit
        With at least four other players, who are taken as picked from nothing.
    player : str
        Whose provider tested variants and shows the best.
    variants : int, (int, int) or TriesPrior
        How many: a number, a range or a prior.
    variant_sd, error_correlation, draws, random_seed
        As in ``private_variants``.

    Raises
    ------
    InputError
        Fewer than four other players, an estimate without a standard error.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([1.0, 0.5, 0.2, -0.3, -0.4, -1.0], 30, random_seed=0))
    >>> found = private_variants_of(fit, "1", (10, 30), random_seed=0)
    >>> round(float(fit.epp[0]), 2), round(found.mean, 2)
    (0.91, 0.67)
    """
    place = fit.data.player_index(player)
    se, df = float(fit.se[place]), float(fit.df[place])
    if not (np.isfinite(se) and se > 0):
        raise InputError(f"{player!r} has no standard error: it is in too few rounds")
    usable = np.isfinite(fit.se) & (fit.se > 0)
    usable[place] = False
    return private_variants(
        float(fit.epp[place]),
        se,
        variants,
        population_sd=population_sd_of(fit.epp[usable], fit.se[usable]),
        population_mean=float(fit.epp[usable].mean()),
        variant_sd=variant_sd,
        error_correlation=error_correlation,
        df=df if np.isfinite(df) else None,
        draws=draws,
        random_seed=random_seed,
    )
