r"""Posterior of every team's skill, and of the best one, from two boards of the same teams.

The engine of whole boards (``leaderboard.fit``) on the tables of ``leaderboard.pairs``, with the
same shapes and priors of the field. Draws of psi are moved by what delta has more than its mean at
the node, and skills by the shift of the private board: given delta, ``z_2`` is normal.
``tests/leaderboard/test_pairs_posterior.py`` checks coverage on simulated boards.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayes_sota.core.builders import PairedPriors, paired_priors
from bayes_sota.core.inference import Fit, Parameters
from bayes_sota.core.inference import Nodes as FitNodes
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.priors import BoardPriors, Priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.evidence import Tables
from bayes_sota.leaderboard.fit import (
    Likelihood,
    Strangers,
    infer_enough,
    numpy_operations,
    shape_density,
)
from bayes_sota.leaderboard.pairs import (
    Noise,
    Pairs,
    densities,
    draw_alone,
    draw_scores,
    reach_at,
)
from bayes_sota.leaderboard.pairs_noise import (
    OUTLIERS,
    Nodes,
    log_shift_prior,
    noise_at,
    shift_components,
    unknowns,
)
from bayes_sota.leaderboard.shapes import FAMILIES, FieldScale
from bayes_sota.leaderboard.skills import REPEATS
from bayes_sota.maximum.score_laws import AccuracyLaw, NormalLaw, ScoreLaw

_POINTS, _BLOCK = 200, 50  # per coordinate of a shape; draws at a time
_LEAST_SIZE = 60.0  # effective points below which a result is not to be trusted
_MOST_NODES, _PRIOR_NODES = 800, 1000
_MOST_CREDIBLE = 0.95  # lambda, had luck chosen from submissions that were made beforehand
type Draws = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class PairFit(Fit):
    """Two boards at nodes of their noise, with weighted points of the shapes' parameters.

    Attributes
    ----------
    pairs : Pairs
    priors : PairedPriors
    law : ScoreLaw
        For the place of psi on the grid ``y`` (G,): log odds, or standardised scores.
    noise_nodes : Nodes
    scale : FieldScale
    """

    pairs: Pairs
    priors: PairedPriors
    law: ScoreLaw
    y: FloatArray
    noise_nodes: Nodes
    scale: FieldScale

    @classmethod
    def of(cls, pairs: Pairs, priors: PairedPriors, families: tuple[str, ...]) -> "PairFit":
        """What a fit is before its parameters are sampled."""
        nodes = Nodes.of(pairs, priors)
        law, y = _grid(pairs, nodes.noise)
        board = BoardPriors()
        prior = law.prior_scale or (*board.location, *board.log_spread)
        scale = FieldScale(*prior, float(y[1] - y[0]))
        rho, luck = np.nan_to_num(nodes.noise.rho), nodes.noise.luck
        weighed = FitNodes(priors.correlation, priors.submission_luck, rho, luck)
        return cls(weighed, families, (), "nodes", pairs, priors, law, y, nodes, scale)

    @cached_property
    def u(self) -> FloatArray:
        """Coordinate of psi at the grid, (G,)."""
        return self.pairs.coordinate.of_skill(self.law.skill_at(self.y))

    @cached_property
    def tables(self) -> tuple[Tables, ...]:
        """Probabilities at each node."""
        return tuple(self._table(self.noise_nodes.noise[r]) for r in range(self.rho.size))

    def _table(self, noise: Noise) -> Tables:
        log_p = np.log(densities(self.pairs, noise, self.u))
        top, reach = log_p.max(axis=1), None
        typical = np.ones(self.y.size)
        if self.pairs.cut is not None:
            reach = reach_at(self.pairs, noise, self.u)
            typical = self.shares @ reach
        return Tables(np.exp(log_p - top[:, None]), top, reach, typical)

    @cached_property
    def shares(self) -> FloatArray:
        """Shares of the kinds of teams, (L,)."""
        counts = np.bincount(self.pairs.kind, minlength=len(self.pairs.numbers))
        return counts / counts.sum()

    @cached_property
    def strangers(self) -> Strangers:
        """Few teams that follow no shape, as on one board."""
        typical = None if self.pairs.cut is None else self.tables[-1].typical
        return Strangers.of(self.pairs.n_counted, self.y, self.scale, typical)

    def likelihood_at(self, tables: tuple[Tables, ...]) -> Likelihood:
        """Of all scores at some nodes."""
        step, count = float(self.y[1] - self.y[0]), self.pairs.n_counted
        kind = self.pairs.kind[:count]
        return Likelihood(tables, np.ones(count), kind, step, self.pairs.n_below)

    @cached_property
    def _likelihood(self) -> Likelihood:
        return self.likelihood_at(self.tables)

    def dimension(self, family: str) -> int:
        """Number of coordinates of a shape."""
        return FAMILIES[family].dimension

    def density(self, family: str, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(psi) at the grid, (N, G), and the logarithm of its unit, (N,)."""
        is_cut = self.pairs.cut is not None
        shape, unit = shape_density(self.y, is_cut, self.scale, FAMILIES[family], points)
        return self.strangers.join(shape), unit

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        """Log density of all scores at points of a family and nodes of the noise, (N, R)."""
        return self._likelihood(*self.density(family, points)) + self.noise_nodes.log_prior


def _grid(pairs: Pairs, noise: Noise) -> tuple[ScoreLaw, FloatArray]:
    """Law of the mean of both scores, and a grid of psi on its scale."""
    own = 1 / np.sqrt(1 / noise.public_sd**2 + 1 / noise.private_sd**2)
    typical, score = float(np.median(own)), pairs.coordinate.to_score
    level = score(pairs.level[: pairs.n_counted])
    highest = score((pairs.x + pairs.middle)[: pairs.n_counted])
    law: ScoreLaw
    if pairs.boards.n_test is None:
        law = NormalLaw(float(level.max()), 0, typical).fitted_to(level)
    else:
        law = AccuracyLaw(float(level.max()), max(2, round(0.25 / typical**2)))
    place, error = law.places(np.concatenate([level, np.maximum(level, highest)]) * law.unit)
    wide, step = error * own.max() / typical, float(error[np.argmax(place)]) / 4
    high = float(np.max(place + 5 * np.minimum(wide, 1.2)))
    low = float(np.min(place - 6 * np.minimum(wide, 1.0)))
    return law, np.linspace(low, high, int(np.clip((high - low) / step, 80, _MOST_NODES)))


@one_thread()
def fit_pairs(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None,
    rng: np.random.Generator,
    top: float | None = None,
) -> PairFit:
    """Fit every shape of whole boards to two boards of the same teams.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.normal(0.8, 0.05, 12)
    >>> boards = PairedBoards(*(skill + rng.normal(0, 0.02, (2, 12))))
    >>> draw_pairs(fit_pairs(boards, None, rng), 100, rng).psi.shape
    (100, 12)
    """
    pairs = Pairs.of(boards, top)
    empty = PairFit.of(pairs, paired_priors(priors), BoardPriors().families)
    return infer_enough(empty, rng, _POINTS)


@dataclass(frozen=True, eq=False)
class PairDraws:
    """Draws of psi of every pair, and what each was drawn given.

    Attributes
    ----------
    psi : ndarray, shape (D, k)
        In the coordinate, on the items of the private board.
    log_likelihood, unusual : ndarray, shape (D, k)
        Log density of each pair's scores; probability that its residuals are not usual ones.
    noise : Noise
    z : ndarray, shape (D, d)
        Coordinates of the noise.
    parameters : Parameters
    """

    psi: FloatArray
    log_likelihood: FloatArray
    unusual: FloatArray
    noise: Noise
    z: FloatArray
    parameters: Parameters


def draw_pairs(fit: PairFit, draws: int, rng: np.random.Generator) -> PairDraws:
    """So many posterior draws."""
    sets = -(-draws // REPEATS)
    parameters = Parameters.of(fit, fit.choose(sets, rng), REPEATS)
    return draw_psi(fit, parameters[rng.permutation(sets * REPEATS)[:draws]], rng)


@one_thread()
def draw_psi(fit: PairFit, parameters: Parameters, rng: np.random.Generator) -> PairDraws:
    """Psi of every pair given the parameters of the field and the node of the noise."""
    pairs, nodes, node = fit.pairs, fit.noise_nodes, parameters.node
    psi, log_p, unusual = np.zeros((3, node.size, pairs.x.size))
    noise, z = nodes.draw(pairs, fit.priors, node, rng)
    count = pairs.n_counted
    for start in range(0, node.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        psi[block], unusual[block] = draw_alone(pairs, noise[block], rng)
    for r, f, draws in parameters.cells(fit, _BLOCK):
        points, at = np.unique(parameters.points(fit, draws), axis=0, return_inverse=True)
        at, table = at.ravel(), fit.tables[r]
        density, unit = fit.density(fit.families[f], points)
        cdf = np.cumsum(density[:, None] * table.score, axis=2)
        rows = at[:, None] * count + np.arange(count)
        level = rng.random((draws.size, count))
        y = invert_rows(cdf.reshape(-1, fit.y.size), level, fit.y, rows)
        psi[draws, :count] = pairs.coordinate.of_skill(fit.law.skill_at(y))
        log_p[draws, :count] = fit.likelihood_at((table,)).each(density, unit)[at, 0]
    public, private = noise.public_sd**2, noise.private_sd**2
    moved = (noise.shift - nodes.noise.shift[node]) * private / (public + private)
    psi[:, :count] += moved[:, None] + more_skill(pairs, noise)[:, :count]
    return PairDraws(psi, log_p, unusual, noise, z, parameters)


def estimands_of(
    fit: PairFit, noise: Noise, psi: FloatArray, winner: Any, rng: np.random.Generator
) -> Draws:
    """All that is reported, in units of the scores; ``winner`` is the public one (of each draw).

    ``skill`` and ``expected_private`` (D, k); ``best``, which distinct pair is best, and the others
    (D,): ``theta_sota``, ``winner_skill``, ``winner_new_score``, ``best_new_score``, ``rho``,
    ``public_se``, ``private_se``, ``residual_sd``, ``noise_ratio``, ``outliers``, ``board_shift``,
    ``score_shift`` (at the public winner), and with submissions ``submission_luck`` and
    ``submission_slope``.
    """
    pairs, score = fit.pairs, fit.pairs.coordinate.to_score
    every, sd, error = shift_components(pairs, fit.priors, noise)
    log_weight = log_shift_prior(pairs, fit.priors, noise)
    weight = np.cumsum(np.exp(log_weight - log_weight.max(axis=1, keepdims=True)), axis=1)
    draw = np.arange(len(psi))
    chosen = np.sum(weight < rng.random((len(psi), 1)) * weight[:, -1:], axis=1)
    rho, sd, error = every[draw, chosen], sd[draw, chosen], error[draw, chosen]
    private_se = noise.private_sd / np.sqrt(1 - rho**2)
    public_se = np.sqrt(np.maximum(error**2 - private_se**2, 0))
    if pairs.errors is not None:  # as given, to the last digit
        public_se, private_se = (np.full(rho.size, known) for known in pairs.errors)
    slope = rho * private_se / sd**2  # of z_2 on delta
    left = np.sqrt(np.maximum(1 - slope * rho * private_se, 0))
    z = slope * noise.shift + left * rng.standard_normal(rho.size)
    theta = psi - (rho * private_se * z)[:, None]
    fresh = (rho * private_se * rng.standard_normal(rho.size))[:, None]
    new = theta + fresh + rng.standard_normal(theta.shape) * noise.private_sd[:, None]
    skill, best, first = score(theta), np.argmax(psi, axis=1), (draw, winner)
    lucky = {"submission_luck": noise.luck, "submission_slope": noise.slope}
    return {
        "skill": skill,
        "expected_private": score(psi),
        "best": best,
        "theta_sota": skill[draw, best],
        "winner_skill": skill[first],
        "winner_new_score": score(new[first]),
        "best_new_score": score(new.max(axis=1)),
        "score_shift": score(psi[first]) - score(psi[first] - noise.shift),
        "rho": rho,
        "public_se": public_se,
        "private_se": private_se,
        "residual_sd": noise.difference_sd,
        "noise_ratio": noise.private_sd / noise.public_sd,
        "outliers": noise.outliers,
        "board_shift": noise.shift,
        **(lucky if pairs.has_luck else {}),
    }


def gains_of(fit: PairFit, draws: PairDraws) -> Draws:
    """Public scores beyond those to expect by the private ones, luck of submissions too, (D, k).

    And the probability that such a difference is unusual.
    """
    pairs, noise, score = fit.pairs, draws.noise, fit.pairs.coordinate.to_score
    expected = pairs.y - noise.shift[:, None]
    expected = expected + (noise.luck * noise.public_sd)[:, None] * pairs.maxima[0][pairs.kind]
    return {"public_gain": score(pairs.x) - score(expected), "unusual": draws.unusual}


def draw_prior(
    fit: PairFit, draws: int, rng: np.random.Generator
) -> tuple[Parameters, Noise, FloatArray, FloatArray]:
    """Fields and noise from the prior: parameters, noise, psi (D, k) and both scores (D, k, 2)."""
    parameters = Parameters.from_prior(fit, np.zeros(draws, np.int64), rng)
    noise, scale = prior_noise(fit, draws, rng), fit.scale
    far = 4 * scale.location_sd + 4 * np.exp(scale.log_spread + 2 * scale.log_spread_sd)
    low = fit.y[0] if fit.pairs.cut is not None else min(fit.y[0], scale.location - far)
    y = np.linspace(low, max(fit.y[-1], scale.location + far), _PRIOR_NODES)
    density = np.empty((draws, y.size))
    for _, f, rows in parameters.cells(fit):
        points, family = parameters.points(fit, rows), FAMILIES[fit.families[f]]
        density[rows] = shape_density(y, True, scale, family, points)[0]
    psi, scores = draw_boards(fit, noise, y, density, rng)
    return parameters, noise, psi, scores


def prior_noise(fit: PairFit, draws: int, rng: np.random.Generator) -> Noise:
    """Noise from its prior; of the slope what the scores say."""
    pairs, names = fit.pairs, unknowns(fit.pairs, fit.priors)
    noise = noise_at(pairs, fit.priors, rng.standard_normal((draws, len(names))))
    _, sd, _ = shift_components(pairs, fit.priors, noise)
    sd = sd[np.arange(draws), rng.integers(sd.shape[1], size=draws)]
    return replace(
        noise,
        slope=np.resize(fit.noise_nodes.noise.slope, draws),
        shift=sd * rng.standard_normal(draws),
        outliers=expit(OUTLIERS[0] + OUTLIERS[1] * rng.standard_normal(draws)),
    )


def draw_boards(
    fit: PairFit, noise: Noise, y: FloatArray, density: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Psi (D, k) of fresh teams that count, from densities (D, G) at y, and both scores."""
    pairs, psi = fit.pairs, np.empty((len(density), fit.pairs.x.size))
    u = pairs.coordinate.of_skill(fit.law.skill_at(y))
    for row, mass in enumerate(density):
        reach = np.ones((len(pairs.numbers), y.size))
        if pairs.cut is not None:
            reach = reach_at(pairs, noise[row], u)
        cdf = np.cumsum(mass * reach, axis=1)
        psi[row] = invert_rows(cdf, rng.random(pairs.x.size), y, pairs.kind)
    psi = pairs.coordinate.of_skill(fit.law.skill_at(psi)) + more_skill(pairs, noise)
    return psi, draw_scores(pairs, noise, psi, rng)


def more_skill(pairs: Pairs, noise: Noise) -> FloatArray:
    """What the skill of each pair has more for its number of submissions, (D, k)."""
    return noise.slope[:, None] * (pairs.maxima[0][pairs.kind] - pairs.typical_luck)


def natural_parameters(fit: PairFit, parameters: Parameters) -> Draws:
    """Place and width of the field by name, and the other numbers of its shape."""
    t, law, scale = parameters.coordinates, fit.law, fit.scale
    unit = float(law.location_at(np.ones(1))[0] - law.location_at(np.zeros(1))[0])
    families = np.array([list(FAMILIES).index(name) for name in fit.families])
    return {
        "location": law.location_at(scale.place(t[:, 0])),
        "spread": unit * scale.width(numpy_operations(), t[:, 1]),
        **({"shape": t[:, 2:]} if t.shape[1] > 2 else {}),
        "family": families[parameters.family],
    }


def reasons_of(fit: PairFit, draws: PairDraws) -> Iterator[str]:
    """Why a result is not to be trusted."""
    if fit.points and fit.effective_size < _LEAST_SIZE:
        yield (
            f"effective number of importance points is {fit.effective_size:.0f}, below "
            f"{_LEAST_SIZE:.0f}"
        )
    pairs = fit.pairs
    if pairs.errors is not None:
        allowed = float(np.hypot(*pairs.errors))
        if pairs.base_sd > 1.15 * allowed * (1 + 2 / np.sqrt(pairs.x.size)):
            yield (
                f"differences of the teams have the robust standard deviation {pairs.base_sd:.3g}, "
                f"more than the {allowed:.3g} that the standard errors allow at rho = 0"
            )
    middle = float(np.median(draws.noise.luck))
    if middle > _MOST_CREDIBLE:
        yield (
            f"lambda is learnt as {middle:.2f}, where it ends: public scores rise with the number "
            "of submissions at least as far as the luck of unrelated ones, as where teams adapt to "
            "the public board step by step, which the model lacks"
        )
