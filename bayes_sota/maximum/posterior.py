"""Posterior of theta_sota from observed maxima, by importance sampling and direct draws.

Location and log spread are sampled at several equally likely values of rho at once
(``core.inference``); the rest is drawn from its exact law (``likelihood``). This solves Sec. 5.3.2
of Møllersen & Holsbø without simulation;
``tests/maximum/test_posterior.py`` compares with rejection sampling and quadrature.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from bayes_sota.core.arguments import COUNT, DEFAULT_SEED, check_kind, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import NO_LUCK, Fit, Nodes, Parameters, doubts_of_prior, infer
from bayes_sota.core.priors import MaximumPriors, Priors, SkillPrior, UniformSkill, maximum_priors
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.fresh_test_sets import best_of_fields, fresh_test_set
from bayes_sota.maximum.likelihood import BoardLikelihood, tries_nodes

Values = Mapping[str, FloatArray]
_NEAR_RHOS = 33  # nodes for draws of rho by simulation
_RHO_NODES = 10
_POINTS = 1000
_IMPOSSIBLE = -1e4  # log likelihood
_LARGEST_SPREAD, _FURTHEST = 4.95, 30.0  # of skills in log odds


def several(boards: BestScore | Sequence[BestScore]) -> tuple[BestScore, ...]:
    """Check one board or more."""
    each = tuple(boards) if isinstance(boards, Iterable) else (boards,)
    if not each:
        raise InputError("at least one leaderboard is needed")
    for board in each:
        check_kind(board, BestScore, 'bs.BestScore("0.900", n_test=N, n_classifiers=M)')
    return each


def board_names(boards: Sequence[BestScore]) -> list[str]:
    """Names of boards; repeated names get a number."""
    names = [board.name for board in boards]
    before = (names[:i].count(name) for i, name in enumerate(names))
    return [f"{name} {k + 1}" if k else name for name, k in zip(names, before, strict=True)]


@dataclass(frozen=True)
class Maxima:
    """Observed maxima of boards, and what is assumed of the field behind them.

    ``values`` are draws, (D,) each, of what all boards share: ``location``, ``spread``, ``rho``
    and, for a score chosen among submissions, ``submission_luck``.
    """

    boards: Sequence[BestScore]
    priors: MaximumPriors
    reference_skill: float | None = None

    @property
    def has_submissions(self) -> bool:
        return any(board.has_submissions for board in self.boards)

    def field(self, values: Values) -> SkillDistribution:
        return self.priors.skill.distribution(values["location"], values["spread"])

    def draw_prior(self, rng: Generator, draws: int) -> dict[str, FloatArray]:
        """Draws from the prior of what all boards share, (D,), and of fresh boards, (D, B)."""
        location, spread = self.priors.skill.draw(rng, draws)
        values = {"location": location, "spread": spread}
        values["rho"] = self.priors.correlation.quantile(rng.random(draws))
        if self.has_submissions:
            values["submission_luck"] = self.priors.submission_luck.quantile(rng.random(draws))
        return self.with_expected(values | self.draw_boards(values, rng))

    def draw_boards(
        self, values: Values, rng: Generator, *, winner: bool = True
    ) -> dict[str, FloatArray]:
        """Fresh fields of classifiers on fresh test sets, simulated forward, (D, B)."""
        field, rho, luck = self.field(values), values["rho"], values.get("submission_luck")
        columns = []
        for board in self.boards:
            numbers, weights = tries_nodes(board)
            tries = rng.choice(numbers, rho.size, p=weights)
            theta = field.skill(field.isf(-np.expm1(np.log(rng.random(rho.size)) / tries)))
            test_set = fresh_test_set(board, rng, rho, self.reference_skill, luck)
            given = (field, tries.astype(np.int64), theta)
            best, holder = best_of_fields(test_set, rng, *given, winner=winner)
            one = {"theta_sota": theta, "n_classifiers": tries, "shift": test_set.shift}
            one |= {"observed_maximum": best, "winner_skill": holder}
            columns.append(one | {"multiplicity_bias": best - theta})
        return _by_board(columns)

    def with_expected(self, values: Values) -> dict[str, FloatArray]:
        field, sizes = self.field(values), values["n_classifiers"].T
        expected = np.stack([field.expected_maximum(m) for m in sizes], axis=1)
        return {**values, "expected_sota": expected}

    def draw_fields(self, values: Values, rng: Generator) -> dict[str, FloatArray]:
        """Draws as in ``collect``, at the nearest of nodes of rho; without submissions."""
        nodes = np.unique(np.quantile(values["rho"], np.linspace(0, 1, _NEAR_RHOS)))
        nearest = np.abs(values["rho"][:, None] - nodes).argmin(axis=1)
        return self.collect(self.likelihoods(nodes), values, nearest, rng)

    def likelihoods(self, rho: FloatArray, luck: FloatArray | None = None) -> list[BoardLikelihood]:
        return [BoardLikelihood(board, rho, self.reference_skill, luck) for board in self.boards]

    def collect(
        self, likelihoods: Sequence[BoardLikelihood], values: Values, node: IntArray, rng: Generator
    ) -> dict[str, FloatArray]:
        """Draws of what boards share, (D,), and, given its nodes, of each board's own, (D, B)."""
        field, rho = self.field(values), values["rho"]
        drawn = _by_board([one.draw(rng, field, node, rho) for one in likelihoods])
        observed = np.array([board.maximum for board in self.boards])
        drawn["multiplicity_bias"] = observed - drawn["theta_sota"]
        return self.with_expected({**values, **drawn})


def _by_board(columns: Sequence[Values]) -> dict[str, FloatArray]:
    return {name: np.stack([one[name] for one in columns], axis=1) for name in columns[0]}


def log_priors(priors: MaximumPriors, values: Values) -> dict[str, FloatArray]:
    """Log prior densities of what is unknown."""
    densities, given = {}, {**values, "log_spread": np.log(values["spread"])}
    for name in ("location", "log_spread"):
        mean, sd = getattr(priors.skill, name)
        if sd > 0:
            z = (given[name] - mean) / sd
            densities[name] = -0.5 * z**2 - np.log(sd * np.sqrt(2 * np.pi))
    for name, prior in (("rho", priors.correlation), ("submission_luck", priors.submission_luck)):
        if name in values and not prior.is_fixed:
            densities[name] = prior.log_density(values[name])
    return densities


@dataclass(frozen=True, eq=False)
class SotaPosterior:
    """Draws as in ``Maxima.collect``, what is behind them, and reasons not to trust them."""

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
    """Exact posterior of the best skill given observed maxima of boards that share their field."""
    COUNT.check(draws, "draws")
    maxima = Maxima(several(boards), maximum_priors(priors), reference_skill)
    rng = generator_of(random_seed)
    known = maxima.priors
    luck = known.submission_luck if maxima.has_submissions else NO_LUCK
    nodes = Nodes.of(known.correlation, luck, _RHO_NODES)
    likelihoods = maxima.likelihoods(nodes.rho, nodes.luck)
    empty = MaximumFit(nodes, (known.skill.family,), (), "nodes", known.skill, likelihoods)
    fit = infer(empty, rng, -(-max(_POINTS, draws) // 2))
    if fit.log_evidence.max() < _IMPOSSIBLE / 2:
        raise InputError(
            "the observed maximum is impossible under the priors: widen the typical skill or the "
            "spread"
        )
    parameters = fit.choose(draws, rng)[rng.permutation(draws)]
    location, spread, _ = fit.field(parameters.coordinates)
    values = {"location": location, "spread": spread}
    values["rho"] = fit.nodes.draw_rho(parameters.node, rng)
    if maxima.has_submissions:
        values["submission_luck"] = fit.nodes.draw_luck(parameters.node, rng)
    values = maxima.collect(fit.likelihoods, values, parameters.node, rng)
    return SotaPosterior(values, fit, parameters, (*fit.doubts, *doubts_of_prior(fit)))


@dataclass(frozen=True, eq=False)
class MaximumFit(Fit):
    """Observed maxima, with weighted points of a level near the best skill and of the log spread.

    In these coordinates the narrow ridge of the likelihood is straight.
    """

    priors: SkillPrior
    likelihoods: list[BoardLikelihood]

    @cached_property
    def tries(self) -> float:
        return float(np.exp(np.mean([np.log(x.board.typical_tries) for x in self.likelihoods])))

    def dimension(self, family: str) -> int:
        return 2

    def field(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Location, spread and log of prior density over that of the first coordinate, (N,)."""
        (place, place_sd), (log_spread, sd) = self.priors.location, self.priors.log_spread
        spread = np.exp(log_spread + sd * t[:, 1])
        if place_sd == 0:
            return np.full(len(t), place), spread, np.zeros(len(t))
        # standardised best of so many skills
        best = float(ndtri((self.tries - 0.375) / (self.tries + 0.25)))
        if isinstance(self.priors, UniformSkill):
            best = float(np.sqrt(3) * (self.tries - 1) / (self.tries + 1))
        z = t[:, 0] - best * (spread - np.exp(log_spread)) / place_sd
        return place + place_sd * z, spread, 0.5 * (t[:, 0] ** 2 - z**2)

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        location, spread, log_prior = self.field(points)
        possible = (spread < _LARGEST_SPREAD) & (np.abs(location) < _FURTHEST)
        total = np.full((len(points), self.rho.size), _IMPOSSIBLE)
        total[possible] = log_prior[possible, None]
        field = self.priors.distribution(location[possible], spread[possible])
        for likelihood in self.likelihoods:
            total[possible] += likelihood.at_nodes(field).T
        return np.maximum(total, _IMPOSSIBLE)
