r"""Best of N private variants: the skill behind a published best, as an EPP on a leaderboard.

A provider submits N variants to the same rounds and publishes the one with the largest estimate.
What is shown has the noise of ``bayes_sota.maximum.submissions``, as an entry of a board has:

.. math:: \beta \sim N(m, \sigma^2), \quad b = \beta + s W, \quad
          W = \lambda M_N + \sqrt{1 - \lambda^2}\, Z

with the shown skills of the population ``N(m, sigma^2)``, the standard error s and lambda, how far
luck decided which variant is shown, with its prior ``submission_luck``. With a flat prior of beta
the bias is :math:`\lambda s\, e_N`. Nothing is said of the variants that are not shown.

The sums are over equidistant w around the mode of each lambda and each s, ``beta = b - s w``; over
equally likely values of lambda; and over log s where the errors are Student t. A draw is a node
plus a triangular offset of w.

On a fitted leaderboard the other players tell how far shown skills differ, the fit how precise the
shown player's estimate is. Intervals hold their level where lambda is as its prior says. Where one
variant stands far above its siblings it would be shown whatever the luck (lambda near 0), and the
correction is too strong. ``tests/epp/test_variants.py`` compares with simulated providers.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.core.arguments import (
    COUNT,
    DEFAULT_SEED,
    NUMBER,
    OPEN_SHARE,
    POSITIVE,
    Range,
    generator_of,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import CorrelationPrior, TriesPrior, wide_luck
from bayes_sota.core.types import FloatArray
from bayes_sota.data.checks import submissions_of_each
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.maximum.submissions import noise_at

_LUCKS, _PLACES, _REACH = 24, 401, 9.0  # nodes of lambda and w; standard deviations of w
_SCALE_STEP = 0.5  # of the standard deviation of log s
_CUT = 20.0  # log density below the maximum that is left out
_ROUNDS, _STEP = 60, 0.05  # of bisection for the mode; of w, for slopes
_FEWEST_PLAYERS = 4
_FREEDOM = Range(1, 1e100)
Submissions = int | tuple[int, int] | TriesPrior


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Masses on nodes of the standard error, lambda and w.

    Attributes
    ----------
    estimate : float
        b.
    scale : ndarray, shape (V, 1, 1)
        s.
    luck : ndarray, shape (L,)
        Equally likely values of lambda.
    w, mass : ndarray, shape (V, L, W)
        Equidistant w for each s and lambda; posterior probabilities.
    """

    estimate: float
    scale: FloatArray
    luck: FloatArray
    w: FloatArray
    mass: FloatArray

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the shown variant's skill."""
        skill = self.estimate - self.scale * self.w
        mean = float(np.sum(self.mass * skill))
        return mean, float(np.sqrt(np.sum(self.mass * (skill - mean) ** 2)))

    def draw(self, rng: np.random.Generator, draws: int) -> dict[str, FloatArray]:
        """Independent draws, the density linear between the nodes of w."""
        cumulative = np.cumsum(self.mass)
        chosen = np.searchsorted(cumulative, rng.random(draws) * cumulative[-1])
        v, k, i = np.unravel_index(np.minimum(chosen, self.mass.size - 1), self.mass.shape)
        step = self.w[v, k, 1] - self.w[v, k, 0]
        w = self.w[v, k, i] + step * (rng.random(draws) - rng.random(draws))
        skill = self.estimate - self.scale[v, 0, 0] * w
        return {"winner_skill": skill, "submission_luck": self.luck[k]}


def _posterior(
    estimate: float,
    error: float,
    centre: float,
    sigma: float,
    numbers: FloatArray,
    luck: FloatArray,
    df: float | None,
) -> _Nodes:
    """Nodes around the mode of w for each s and lambda, and their probabilities.

    The log density of w is that of one submission, a parabola, plus a log ratio that increases.

    Parameters
    ----------
    estimate, error, centre, sigma : float
        b, s, m and sigma.
    numbers : ndarray, shape (1, k)
        Equally likely numbers of variants.
    luck : ndarray, shape (L,)
    df : float or None
        Degrees of freedom of s; None where it is known.
    """
    noise, distance = noise_at(tuple(numbers[0].tolist()), tuple(luck.tolist())), estimate - centre
    scale, log_scale = (part[:, None, None] for part in _scales(distance, error, sigma, df))

    def log_ratio(w: FloatArray) -> FloatArray:  # (V, L, ...)
        rows = np.moveaxis(w, 1, 0)
        ratio = noise.log_ratio(rows.reshape(len(rows), -1))
        return np.moveaxis(ratio.reshape(rows.shape), 0, 1)

    total = sigma**2 + scale**2
    middle, width = scale * distance / total, np.sqrt(sigma**2 / total)  # of one submission
    low = np.repeat(middle, luck.size, axis=1)
    high = np.maximum(low, _REACH)
    for _ in range(_ROUNDS):
        w = (low + high) / 2
        slope = (log_ratio(w + _STEP) - log_ratio(w - _STEP)) / (2 * _STEP)
        below = w < middle + width**2 * slope
        low, high = np.where(below, w, low), np.where(below, high, w)
    w = low + width * np.linspace(-_REACH, _REACH, _PLACES)
    log_mass = log_ratio(w) - 0.5 * ((w - middle) / width) ** 2
    # what is left of both normal factors is the law of an estimate of one submission
    log_mass += log_scale - 0.5 * (distance**2 / total + np.log(total))
    mass = np.exp(log_mass - log_mass.max())
    return _Nodes(estimate, scale, luck, w, mass / mass.sum())


def _scales(
    distance: float, error: float, sigma: float, df: float | None
) -> tuple[FloatArray, FloatArray]:
    """Nodes of the standard error and their log densities, (V,)."""
    if df is None:
        return np.array([error]), np.zeros(1)
    far = (_CUT + distance**2 / (2 * (sigma**2 + error**2))) / df
    low, high = -0.5 * np.log1p(2 * np.sqrt(far) + 2 * far), np.sqrt(far) + far
    step = _SCALE_STEP / np.sqrt(2 * df)
    a = np.linspace(low, high, int(np.ceil((high - low) / step)) + 1)
    return error * np.exp(a), -df * (a + np.expm1(-2 * a) / 2)


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
        the shown variant) and ``submission_luck``.
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
    def bias(self) -> FloatArray:
        """Published estimate minus the shown variant's skill, draws of shape (D,)."""
        return self.estimate - self.winner_skill

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
    submissions: Submissions,
    *,
    population_sd: float,
    population_mean: float = 0.0,
    submission_luck: CorrelationPrior | None = None,
    df: float | None = None,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
) -> PrivateVariants:
    """Posterior of the skill behind the best of several private variants.

    Parameters
    ----------
    estimate : float
        Published skill (log odds), the largest of the variants' estimates.
    standard_error : float
        Of one estimate; the same for every variant.
    submissions : int, (int, int) or TriesPrior
        Number of variants, a range (uniform on the logarithm) or a prior.
    population_sd : float
        Standard deviation of shown skills (``population_sd_of`` estimates it from the other players
        of the leaderboard).
    population_mean : float
        Their mean, 0 in the mean-zero gauge.
    submission_luck : CorrelationPrior, optional
        lambda of ``bayes_sota.maximum.submissions``; by default that of whole boards. Variants of
        standard deviation tau in skill whose estimates share ``1 - kappa^2`` of their error have
        ``kappa^2 / sqrt(kappa^2 + tau^2 / standard_error^2)``: 1 where they are equally good and
        their errors independent.
    df : float, optional
        Degrees of freedom of the standard error, at least 1; default normal errors.
    draws : int
        Number of independent draws.
    random_seed : int, Generator or None

    Returns
    -------
    PrivateVariants

    Raises
    ------
    InputError
        Numbers that cannot be, such as an infinite estimate.

    Examples
    --------
    >>> private = private_variants(1.5, 0.3, 20, population_sd=0.6, random_seed=0)
    >>> round(private.mean, 2), round(private.mean_alone, 2)
    (0.96, 1.2)
    """
    numbers = submissions_of_each(submissions)
    NUMBER.check(estimate, "estimate")
    NUMBER.check(population_mean, "population_mean")
    POSITIVE.check(population_sd, "population_sd")
    POSITIVE.check(standard_error, "standard_error")
    if df is not None:
        _FREEDOM.check(df, "df")
    COUNT.check(draws, "draws")
    prior = wide_luck() if submission_luck is None else submission_luck
    count = 1 if prior.is_fixed else _LUCKS
    estimates = float(estimate), float(standard_error), float(population_mean), float(population_sd)
    luck = prior.quantile((np.arange(count) + 0.5) / count)
    posterior = _posterior(*estimates, numbers, luck, df)
    alone = _posterior(*estimates, np.ones((1, 1)), np.zeros(1), df).moments()[0]
    drawn = posterior.draw(generator_of(random_seed), draws)
    return PrivateVariants(estimates[0], *posterior.moments(), alone, drawn)


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


def private_variants_of(
    fit: BradleyTerryFit,
    player: str,
    submissions: Submissions,
    *,
    submission_luck: CorrelationPrior | None = None,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
) -> PrivateVariants:
    """Posterior of the skill of a player who is the best of several private variants.

    Parameters
    ----------
    fit : BradleyTerryFit
        With at least four other players, who are taken as picked from nothing.
    player : str
        Whose provider tested variants and shows the best.
    submissions : int, (int, int) or TriesPrior
        How many: a number, a range or a prior.
    submission_luck, draws, random_seed
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
    >>> private = private_variants_of(fit, "1", (10, 30), random_seed=0)
    >>> round(float(fit.epp[0]), 2), round(private.mean, 2)
    (0.91, 0.62)
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
        submissions,
        population_sd=population_sd_of(fit.epp[usable], fit.se[usable]),
        population_mean=float(fit.epp[usable].mean()),
        submission_luck=submission_luck,
        df=df if np.isfinite(df) else None,
        draws=draws,
        random_seed=random_seed,
    )
