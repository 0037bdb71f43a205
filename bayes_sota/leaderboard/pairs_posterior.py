r"""Posterior of every team's skill, and of the best one, from two boards of the same teams.

The engine of whole boards (``leaderboard.fit``) on the tables of ``leaderboard.pairs``, with the
same shapes and priors of the field. Draws of psi are moved by what delta has more than its mean at
the node, and skills by the shift of the private board: given delta, ``z_2`` is normal.
``tests/leaderboard/test_pairs_posterior.py`` checks coverage on simulated boards.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.inference import Nodes as FitNodes
from bayes_sota.core.inference import Parameters, infer
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.priors import BoardPriors, Priors, own_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.evidence import Tables
from bayes_sota.leaderboard.fit import FieldFit, Strangers, infer_enough, shape_density
from bayes_sota.leaderboard.pairs import (
    Noise,
    Pairs,
    draw_alone,
    draw_scores,
    log_densities,
    reach_at,
)
from bayes_sota.leaderboard.pairs_noise import (
    OUTLIERS,
    NoiseNodes,
    find_noise,
    log_shift_prior,
    noise_at,
    shift_components,
    unknowns,
)
from bayes_sota.leaderboard.posterior import few_points
from bayes_sota.leaderboard.shapes import FAMILIES, FieldScale

_POINTS, _CELL = 200, 50  # per coordinate of a shape; draws at a time
_QUICK, _RATIOS = ("normal",), np.linspace(-2.4, 2.4, 13)  # shape and ratios that are tried first
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
    def of_pairs(
        cls,
        boards: PairedBoards,
        priors: Priors | PairedPriors | None,
        families: tuple[str, ...],
        top: float | None = None,
    ) -> "PairFit":
        """What a fit is before its parameters are sampled.

        Nodes have five values of each of up to two unknowns of the noise, three of each of three.
        """
        pairs, known = Pairs.of(boards, top), own_priors(PairedPriors, priors)
        names, (middle, sd) = unknowns(pairs, known), find_noise(pairs, known)
        if "ratio" in names:  # first by a quick fit: it may be known far better than before
            lines = [_RATIOS if name == "ratio" else np.zeros(1) for name in names]
            nodes = NoiseNodes.of(pairs, known, middle, lines)
            quick = infer(cls._at(pairs, known, nodes, _QUICK), np.random.default_rng(0), _POINTS)
            place, weight = names.index("ratio"), quick.node_weights
            middle[place] = weight @ _RATIOS
            variance = weight @ (_RATIOS - middle[place]) ** 2
            sd[place] = max(np.sqrt(variance), (_RATIOS[1] - _RATIOS[0]) / 2)
        line = np.arange(-2.0, 3.0) if len(names) < 3 else np.linspace(-1.2, 1.2, 3)
        nodes = NoiseNodes.of(pairs, known, middle, [line * one for one in sd])
        return cls._at(pairs, known, nodes, families)

    @classmethod
    def _at(
        cls, pairs: Pairs, priors: PairedPriors, nodes: NoiseNodes, families: tuple[str, ...]
    ) -> Self:
        """At nodes of the noise."""
        noise, pairs, board = nodes.noise, pairs.on_grid(nodes.noise), BoardPriors()
        prior = pairs.law.prior_scale or (*board.location, *board.log_spread)
        scale, typical = FieldScale(*prior, pairs.step), None
        if pairs.is_cut:
            typical = reach_at(pairs, noise.at(-1), pairs.u)[pairs.kind].mean(axis=0)
        rho, copies = np.nan_to_num(noise.rho), np.ones(pairs.n_counted)
        weighed = FitNodes(priors.correlation, priors.submission_luck, rho, noise.luck)
        strangers = Strangers.of(pairs.n_counted, pairs.y, scale, typical)
        known = pairs, priors, copies, scale, strangers, FAMILIES
        return cls(weighed, families, (), "nodes", *known, nodes)

    @cached_property
    def tables(self) -> tuple[Tables, ...]:
        """Probabilities at each node."""
        return tuple(self._table(self.noise_nodes.noise.at(r)) for r in range(self.rho.size))

    def _table(self, noise: Noise) -> Tables:
        pairs, reach, typical = self.evidence, None, np.ones(self.evidence.y.size)
        log_p = log_densities(pairs, noise)
        top = log_p.max(axis=1)
        if pairs.is_cut:
            reach = reach_at(pairs, noise, pairs.u)
            typical = reach[pairs.kind].mean(axis=0)
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
    >>> list(fit_pairs(boards, None, rng).shape_weights)
    ['normal', 'ex-gaussian']
    """
    empty = PairFit.of_pairs(boards, priors, BoardPriors().families, top)
    return infer_enough(empty, rng, _POINTS)


@dataclass(frozen=True, eq=False)
class PairDraws:
    """Draws of psi of every pair, and what each was drawn given.

    Attributes
    ----------
    psi, unusual : ndarray, shape (D, k)
        In the coordinate, on the items of the private board; probability that the residuals of a
        pair are not usual ones.
    noise : Noise
    log_prior : ndarray, shape (D,)
        Of the noise.
    parameters : Parameters
    """

    psi: FloatArray
    unusual: FloatArray
    noise: Noise
    log_prior: FloatArray
    parameters: Parameters


@one_thread()
def draw_psi(fit: PairFit, parameters: Parameters, rng: np.random.Generator) -> PairDraws:
    """Psi of every pair given the parameters of the field and the node of the noise."""
    pairs, nodes, node, count = fit.evidence, fit.noise_nodes, parameters.node, fit.copies.size
    noise, z = nodes.draw(pairs, fit.priors, node, rng)
    psi, unusual = draw_alone(pairs, noise, rng)
    for r, f, draws in parameters.cells(fit, _CELL):
        points, at = np.unique(parameters.points(fit, draws), axis=0, return_inverse=True)
        density = fit.density(fit.families[f], points)
        cdf = np.cumsum(density[:, None] * fit.tables[r].score, axis=2)
        rows = at.reshape(-1, 1) * count + np.arange(count)
        level = rng.random((draws.size, count))
        y = invert_rows(cdf.reshape(-1, pairs.y.size), level, pairs.y, rows)
        psi[draws, :count] = pairs.of_grid(y)
    moved = (noise.shift - nodes.noise.shift[node]) * (noise.private_sd / noise.difference_sd) ** 2
    psi[:, :count] += moved[:, None] + _more_skill(pairs, noise)[:, :count]
    _, sd = shift_components(pairs, fit.priors, noise)
    log_prior = np.logaddexp.reduce(log_shift_prior(sd, noise.shift), axis=1)
    return PairDraws(psi, unusual, noise, log_prior - 0.5 * np.sum(z**2, axis=1), parameters)


def estimands_of(
    fit: PairFit, noise: Noise, psi: FloatArray, winner: Any, rng: np.random.Generator
) -> Draws:
    """All that is reported, in units of the scores; ``winner`` is the public one (of each draw).

    ``skill`` and ``expected_private`` (D, k); ``best``, which team is best, and the others
    (D,): skills and new scores of the best and the winner, the noise, and ``score_shift`` at the
    public winner.
    """
    pairs, score, draw = fit.evidence, fit.evidence.to_score, np.arange(len(psi))
    rho, sd = shift_components(pairs, fit.priors, noise)
    log_weight = log_shift_prior(sd, noise.shift)
    weight = np.cumsum(np.exp(log_weight - log_weight.max(axis=1, keepdims=True)), axis=1)
    source = np.sum(weight < rng.random((len(psi), 1)) * weight[:, -1:], axis=1)
    rho, sd = rho[draw, source], sd[draw, source]
    public_se, private_se = (v / np.sqrt(1 - rho**2) for v in (noise.public_sd, noise.private_sd))
    if pairs.errors is not None:  # as given, to the last digit: figures bin draws that differ
        public_se, private_se = (np.full(rho.size, error) for error in pairs.errors)
    shared = rho * private_se
    z = shared / sd**2 * noise.shift  # of z_2 on delta
    z += np.sqrt(np.maximum(1 - (shared / sd) ** 2, 0)) * rng.standard_normal(rho.size)
    theta = psi - (shared * z)[:, None]
    new = theta + (shared * rng.standard_normal(rho.size))[:, None]
    new += rng.standard_normal(theta.shape) * noise.private_sd[:, None]
    skill, best, first = score(theta), np.argmax(psi, axis=1), (draw, winner)
    lucky = {"submission_luck": noise.luck, "submission_slope": pairs.slope(noise)}
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
    pairs = fit.evidence
    public, private = pairs.expected(draws.noise.at((slice(None), None)), pairs.kind)
    x, y = map(pairs.to_score, (pairs.observed[:, 0], pairs.observed[:, 1] + public - private))
    return {"public_gain": x - y, "unusual": draws.unusual}


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
    _, sd = shift_components(pairs, fit.priors, noise)
    sd = sd[np.arange(size), rng.integers(sd.shape[1], size=size)]
    outliers = expit(OUTLIERS[0] + OUTLIERS[1] * rng.standard_normal(size))
    noise = replace(noise, shift=sd * rng.standard_normal(size), outliers=outliers)
    at, u = np.empty((size, pairs.kind.size)), pairs.of_grid(y)
    for row, mass in enumerate(density):
        cdf = np.cumsum(mass * reach_at(pairs, noise.at(row), u), axis=1)
        at[row] = invert_rows(cdf, rng.random(pairs.kind.size), y, pairs.kind)
    psi = pairs.of_grid(at) + _more_skill(pairs, noise)
    return noise, psi, draw_scores(pairs, noise, psi, rng)


def _more_skill(pairs: Pairs, noise: Noise) -> FloatArray:
    """What the skill of each pair has more for its number of submissions, (D, k)."""
    return pairs.expected(noise.at((slice(None), None)), pairs.kind)[1]


def reasons_of(fit: PairFit, draws: PairDraws) -> Iterator[str]:
    """Why a result is not to be trusted."""
    yield from few_points(fit)
    pairs = fit.evidence
    if pairs.errors is not None:
        allowed = float(np.hypot(*pairs.errors))
        if pairs.base_sd > 1.15 * allowed * (1 + 2 / np.sqrt(pairs.kind.size)):
            yield (
                f"differences of the teams have the robust standard deviation {pairs.base_sd:.3g}, "
                f"more than the {allowed:.3g} that the standard errors allow at rho = 0"
            )
    middle = float(np.median(draws.noise.luck))
    if middle > _MOST_CREDIBLE:
        yield (
            f"lambda is learnt as {middle:.2f}, near its end: public scores rise with the number "
            "of submissions as where teams adapt to the public board, which the model lacks"
        )
