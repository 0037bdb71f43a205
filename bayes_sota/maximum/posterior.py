r"""Posterior of theta_sota from observed maxima, by importance sampling and direct draws.

The parameters of the field, location and logarithm of the spread, are sampled at several equally
likely values of rho at once (``bayes_sota.core.numerics.sample_importance``), and a value of rho
counts as its evidence says. The likelihood is a narrow ridge in location and spread, along which
the best skill is the same: proposals sit on points that the sampler has found there. Given the
parameters everything else is drawn from its exact law (``likelihood``). Solves Sec. 5.3.2 of
Møllersen & Holsbø without simulation; ``tests/maximum/test_posterior.py`` holds it against
rejection sampling, against quadrature and against denser tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from bayes_sota.core.arguments import COUNT, DEFAULT_SEED, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Fit, Nodes, Parameters, infer
from bayes_sota.core.priors import MaximumPriors, Priors, SkillPrior, UniformSkill, maximum_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.likelihood import BoardLikelihood
from bayes_sota.maximum.maxima import Maxima, Values, several

_RHO_NODES = 10
_POINTS = 1000
_LEAST_EFFECTIVE = 75.0
_IMPOSSIBLE = -1e4  # log likelihood of what a table says is impossible
_LARGEST_SPREAD, _FURTHEST = 4.95, 30.0  # of skills in log odds
_TOLERATED = 1e-3  # probability that may rest on what tables leave out


def log_priors(priors: MaximumPriors, values: Values) -> dict[str, FloatArray]:
    """Log prior densities of location, log spread, rho and luck, where they are not known.

    ``values`` are draws of ``location``, ``spread``, ``rho`` and, where a board has submissions,
    ``submission_luck``.
    """
    densities = {}
    normal = {
        "location": (values["location"], priors.skill.location),
        "log_spread": (np.log(values["spread"]), priors.skill.log_spread),
    }
    for name, (x, (mean, sd)) in normal.items():
        if sd > 0:
            densities[name] = -0.5 * ((x - mean) / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi))
    for name, prior in (("rho", priors.correlation), ("submission_luck", priors.submission_luck)):
        if name in values and not prior.is_fixed:
            densities[name] = prior.log_density(values[name])
    return densities


@dataclass(frozen=True, eq=False)
class SotaPosterior:
    """Draws from the posterior, and how they came about.

    Attributes
    ----------
    draws : dict of str to ndarray
        Names as in ``bayes_sota.core.schema``, and what else ``BoardLikelihood.draw`` gives.
        ``location``, ``spread``, ``rho`` and, where a board has submissions, ``submission_luck``
        have shape (D,), what belongs to a board has shape (D, B).
    fit : MaximumFit
        Weighted parameters behind the draws.
    parameters : Parameters
        Node of rho and coordinates behind each draw.
    reasons : tuple of str
        Why the result cannot be trusted; empty where it can.
    """

    draws: dict[str, FloatArray]
    fit: "MaximumFit"
    parameters: Parameters
    reasons: tuple[str, ...]


def sota_posterior(
    boards: BestScore | Sequence[BestScore],
    priors: Priors | MaximumPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | Generator | None = DEFAULT_SEED,
    reference_skill: float | None = None,
) -> SotaPosterior:
    """Exact posterior of the best skill given observed maxima.

    Parameters
    ----------
    boards : BestScore or sequence of them
        Several boards of one task share location, spread and rho.
    priors : Priors, optional
    draws : int
        Number of draws; behind them are as many weighted points, at least 1,000.
    random_seed : int, Generator or None
    reference_skill : float, optional
        theta0 of every board; default each board's observed maximum, a fixed number.

    Returns
    -------
    SotaPosterior

    Examples
    --------
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> posterior = sota_posterior(board, draws=1000, random_seed=1)
    >>> bool(posterior.draws["theta_sota"].mean() < 0.98)
    True
    """
    COUNT.check(draws, "draws")
    maxima = Maxima(several(boards), maximum_priors(priors), reference_skill)
    rng = generator_of(random_seed)
    fit = fit_maximum(maxima, rng, points=max(_POINTS, draws))
    parameters = Parameters.of(fit, fit.choose(draws, rng))[rng.permutation(draws)]
    location, spread, _ = fit.field(parameters.coordinates)
    values = {"location": location, "spread": spread}
    values["rho"] = fit.nodes.draw_rho(parameters.node, rng)
    if maxima.has_submissions:
        values["submission_luck"] = fit.nodes.draw_luck(parameters.node, rng)
    values = maxima.collect(fit.likelihoods, values, parameters.node, rng)
    beyond = float(np.mean(values["beyond_tables"].any(axis=1)))
    return SotaPosterior(values, fit, parameters, _reasons(fit, beyond))


@dataclass(frozen=True, eq=False)
class MaximumFit(Fit):
    """Observed maxima, with weighted points of location and spread at every value of rho.

    A point has two coordinates in which the ridge of the posterior is straight: the standardised
    log spread, and a level near the best skill, the location moved with the spread. What is known
    does not move.

    Attributes
    ----------
    priors : SkillPrior
    likelihoods : list of BoardLikelihood
    """

    priors: SkillPrior
    likelihoods: list[BoardLikelihood]

    @cached_property
    def tries(self) -> float:
        """Typical number of classifiers of a board."""
        return float(np.exp(np.mean([np.log(x.board.typical_tries) for x in self.likelihoods])))

    def dimension(self, family: str) -> int:
        """Two: location and spread."""
        return 2

    def field(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Location, spread and log of prior density over that of the first coordinate, (N,)."""
        (place, place_sd), (log_spread, sd) = self.priors.location, self.priors.log_spread
        spread = np.exp(log_spread + sd * t[:, 1])
        if place_sd == 0:
            return np.full(len(t), place), spread, np.zeros(len(t))
        # standardised best of so many skills: any value serves, a good one needs fewer points
        best = float(ndtri((self.tries - 0.375) / (self.tries + 0.25)))
        if isinstance(self.priors, UniformSkill):
            best = float(np.sqrt(3) * (self.tries - 1) / (self.tries + 1))
        z = t[:, 0] - best * (spread - np.exp(log_spread)) / place_sd
        return place + place_sd * z, spread, 0.5 * (t[:, 0] ** 2 - z**2)

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        """Log probability of all maxima at points (N, 2), (N, R)."""
        location, spread, log_prior = self.field(points)
        possible = (spread < _LARGEST_SPREAD) & (np.abs(location) < _FURTHEST)
        total = np.full((len(points), self.rho.size), _IMPOSSIBLE)
        total[possible] = log_prior[possible, None]
        field = self.priors.distribution(location[possible], spread[possible])
        for likelihood in self.likelihoods:
            weights = likelihood.hat_weights(field)
            each = [likelihood.log_likelihood(weights, r) for r in range(self.rho.size)]
            total[possible] += np.transpose(each)
        return np.maximum(total, _IMPOSSIBLE)


def fit_maximum(maxima: Maxima, rng: Generator, *, points: int = _POINTS) -> MaximumFit:
    """Weighted points of location and spread; parameters as of ``sota_posterior``."""
    priors = maxima.priors
    nodes = Nodes.of(
        priors.correlation, priors.submission_luck, _RHO_NODES, has_luck=maxima.has_submissions
    )
    likelihoods = maxima.likelihoods(nodes.rho, nodes.luck)
    empty = MaximumFit(nodes, (priors.skill.family,), (), "nodes", priors.skill, likelihoods)
    fit = infer(empty, rng, -(-points // 2))
    if fit.log_evidence.max() < _IMPOSSIBLE / 2:
        raise InputError(
            "the observed maximum is impossible under the priors: widen the typical skill or the "
            "spread"
        )
    return fit


def _reasons(fit: MaximumFit, beyond: float) -> tuple[str, ...]:
    said = {
        f"importance sample of location and spread has an effective size of "
        f"{fit.effective_size:.0f}, below {_LEAST_EFFECTIVE:.0f}": (
            fit.effective_size < _LEAST_EFFECTIVE
        ),
        f"the observed maximum contradicts the priors: {beyond:.2g} of the posterior rests on "
        "shifts or chances of more than six standard deviations, where the tables end": (
            beyond > _TOLERATED
        ),
    }
    return tuple(reason for reason, holds in said.items() if holds)
