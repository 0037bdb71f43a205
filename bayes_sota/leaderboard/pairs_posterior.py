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

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.inference import Nodes as FitNodes
from bayes_sota.core.inference import Parameters
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.priors import BoardPriors, Priors, own_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.evidence import Tables
from bayes_sota.leaderboard.fit import FieldFit, Strangers, infer_enough, shape_density
from bayes_sota.leaderboard.pairs import Noise, Pairs, densities, draw_alone, draw_scores, reach_at
from bayes_sota.leaderboard.pairs_noise import (
    OUTLIERS,
    NoiseNodes,
    log_shift_prior,
    noise_at,
    shift_components,
    unknowns,
)
from bayes_sota.leaderboard.posterior import few_points
from bayes_sota.leaderboard.shapes import FAMILIES, FieldScale
from bayes_sota.leaderboard.skills import draw_parameters

_POINTS, _BLOCK = 200, 50  # per coordinate of a shape; draws at a time
_PRIOR_NODES = 1000
_MOST_CREDIBLE = 0.95  # lambda, had luck chosen from submissions that were made beforehand
type Draws = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class PairFit(FieldFit):
    """Two boards at nodes of their noise, with weighted points of the shapes' parameters.

    Attributes
    ----------
    noise_nodes : NoiseNodes
    """

    evidence: Pairs  # type: ignore[assignment]
    priors: PairedPriors  # type: ignore[assignment]
    noise_nodes: NoiseNodes

    @classmethod
    def of_pairs(cls, pairs: Pairs, priors: PairedPriors, families: tuple[str, ...]) -> "PairFit":
        """What a fit is before its parameters are sampled."""
        nodes = NoiseNodes.of(pairs, priors)
        pairs, board = pairs.on_grid(nodes.noise), BoardPriors()
        prior = pairs.law.prior_scale or (*board.location, *board.log_spread)
        scale, last = FieldScale(*prior, pairs.step), nodes.noise[-1]
        typical = pairs.shares @ reach_at(pairs, last, pairs.u) if pairs.is_cut else None
        rho = np.nan_to_num(nodes.noise.rho)
        weighed = FitNodes(priors.correlation, priors.submission_luck, rho, nodes.noise.luck)
        return cls(
            weighed,
            families,
            (),
            "nodes",
            pairs,
            priors,
            np.ones(pairs.n_counted),
            scale,
            Strangers.of(pairs.n_counted, pairs.y, scale, typical),
            FAMILIES,
            nodes,
        )

    @cached_property
    def tables(self) -> tuple[Tables, ...]:
        """Probabilities at each node."""
        return tuple(self._table(self.noise_nodes.noise[r]) for r in range(self.rho.size))

    def _table(self, noise: Noise) -> Tables:
        pairs = self.evidence
        log_p = np.log(densities(pairs, noise, pairs.u))
        top, reach, typical = log_p.max(axis=1), None, np.ones(pairs.y.size)
        if pairs.is_cut:
            reach = reach_at(pairs, noise, pairs.u)
            typical = pairs.shares @ reach
        return Tables(np.exp(log_p - top[:, None]), top, reach, typical)

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        """Log density of all scores at points of a family and nodes of the noise, (N, R)."""
        return super().log_likelihood(family, points) + self.noise_nodes.log_prior


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
    empty = PairFit.of_pairs(pairs, own_priors(PairedPriors, priors), BoardPriors().families)
    return infer_enough(empty, rng, _POINTS)


@dataclass(frozen=True, eq=False)
class PairDraws:
    """Draws of psi of every pair, and what each was drawn given.

    Attributes
    ----------
    psi : ndarray, shape (D, k)
        In the coordinate, on the items of the private board.
    unusual : ndarray, shape (D, k)
        Probability that the residuals of a pair are not usual ones.
    noise : Noise
    z : ndarray, shape (D, d)
        Coordinates of the noise.
    parameters : Parameters
    """

    psi: FloatArray
    unusual: FloatArray
    noise: Noise
    z: FloatArray
    parameters: Parameters


def draw_pairs(fit: PairFit, draws: int, rng: np.random.Generator) -> PairDraws:
    """So many posterior draws."""
    return draw_psi(fit, draw_parameters(fit, draws, rng), rng)


@one_thread()
def draw_psi(fit: PairFit, parameters: Parameters, rng: np.random.Generator) -> PairDraws:
    """Psi of every pair given the parameters of the field and the node of the noise."""
    pairs, nodes, node = fit.evidence, fit.noise_nodes, parameters.node
    psi, unusual = np.zeros((2, node.size, pairs.public.size))
    noise, z = nodes.draw(pairs, fit.priors, node, rng)
    count = pairs.n_counted
    for start in range(0, node.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        psi[block], unusual[block] = draw_alone(pairs, noise[block], rng)
    for r, f, draws in parameters.cells(fit, _BLOCK):
        points, at = np.unique(parameters.points(fit, draws), axis=0, return_inverse=True)
        density = fit.density(fit.families[f], points)
        cdf = np.cumsum(density[:, None] * fit.tables[r].score, axis=2)
        rows = at.reshape(-1, 1) * count + np.arange(count)
        level = rng.random((draws.size, count))
        y = invert_rows(cdf.reshape(-1, pairs.y.size), level, pairs.y, rows)
        psi[draws, :count] = pairs.coordinate.of_skill(pairs.law.skill_at(y))
    public, private = noise.public_sd**2, noise.private_sd**2
    moved = (noise.shift - nodes.noise.shift[node]) * private / (public + private)
    psi[:, :count] += moved[:, None] + more_skill(pairs, noise)[:, :count]
    return PairDraws(psi, unusual, noise, z, parameters)


def estimands_of(
    fit: PairFit, noise: Noise, psi: FloatArray, winner: Any, rng: np.random.Generator
) -> Draws:
    """All that is reported, in units of the scores; ``winner`` is the public one (of each draw).

    ``skill`` and ``expected_private`` (D, k); ``best``, which distinct pair is best, and the others
    (D,): skills and new scores of the best and the winner, the noise, and ``score_shift`` at the
    public winner.
    """
    pairs, score = fit.evidence, fit.evidence.coordinate.to_score
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
    pairs, noise, score = fit.evidence, draws.noise, fit.evidence.coordinate.to_score
    expected = pairs.private - noise.shift[:, None]
    expected = expected + (noise.luck * noise.public_sd)[:, None] * pairs.maxima[0][pairs.kind]
    return {"public_gain": score(pairs.public) - score(expected), "unusual": draws.unusual}


def draw_prior(
    fit: PairFit, draws: int, rng: np.random.Generator
) -> tuple[Parameters, Noise, FloatArray, FloatArray]:
    """Fields and noise from the prior: parameters, noise, psi (D, k) and both scores (D, k, 2)."""
    parameters = Parameters.from_prior(fit, np.zeros(draws, np.int64), rng)
    scale, low, high = fit.scale, *fit.evidence.y[[0, -1]]
    far = 4 * scale.location_sd + 4 * np.exp(scale.log_spread + 2 * scale.log_spread_sd)
    low = low if fit.evidence.is_cut else min(low, scale.location - far)
    y = np.linspace(low, max(high, scale.location + far), _PRIOR_NODES)
    density = np.empty((draws, y.size))
    for _, f, rows in parameters.cells(fit):
        points, family = parameters.points(fit, rows), fit.shapes[fit.families[f]]
        density[rows] = shape_density(y, True, scale, family, points)[0]
    return parameters, *draw_boards(fit, y, density, rng)


def draw_boards(
    fit: PairFit, y: FloatArray, density: FloatArray, rng: np.random.Generator
) -> tuple[Noise, FloatArray, FloatArray]:
    """Noise from its prior, psi (D, k) of fresh teams that count, from densities (D, G) at y.

    And both scores. Of the slope it is what the scores say.
    """
    pairs, size, names = fit.evidence, len(density), unknowns(fit.evidence, fit.priors)
    noise = noise_at(pairs, fit.priors, rng.standard_normal((size, len(names))))
    _, sd, _ = shift_components(pairs, fit.priors, noise)
    sd = sd[np.arange(size), rng.integers(sd.shape[1], size=size)]
    noise = replace(
        noise,
        slope=np.resize(fit.noise_nodes.noise.slope, size),
        shift=sd * rng.standard_normal(size),
        outliers=expit(OUTLIERS[0] + OUTLIERS[1] * rng.standard_normal(size)),
    )
    psi, u = np.empty((size, pairs.public.size)), pairs.coordinate.of_skill(pairs.law.skill_at(y))
    for row, mass in enumerate(density):
        reach = reach_at(pairs, noise[row], u) if pairs.is_cut else np.ones((len(pairs.numbers), 1))
        cdf = np.cumsum(mass * reach, axis=1)
        psi[row] = invert_rows(cdf, rng.random(pairs.public.size), y, pairs.kind)
    psi = pairs.coordinate.of_skill(pairs.law.skill_at(psi)) + more_skill(pairs, noise)
    return noise, psi, draw_scores(pairs, noise, psi, rng)


def more_skill(pairs: Pairs, noise: Noise) -> FloatArray:
    """What the skill of each pair has more for its number of submissions, (D, k)."""
    return noise.slope[:, None] * pairs.maxima[2][pairs.kind]


def reasons_of(fit: PairFit, draws: PairDraws) -> Iterator[str]:
    """Why a result is not to be trusted."""
    yield from few_points(fit)
    pairs = fit.evidence
    if pairs.errors is not None:
        allowed = float(np.hypot(*pairs.errors))
        if pairs.base_sd > 1.15 * allowed * (1 + 2 / np.sqrt(pairs.public.size)):
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
