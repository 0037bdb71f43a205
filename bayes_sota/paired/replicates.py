r"""Replicated scores of two boards: of teams whose skill is known, and of a field from the prior.

The model is about teams that reach a threshold on either board, and so are its replicates: given
its skill a team reaches the public threshold, or it misses that one and reaches the private one.
Each residual is usual, wide, or a score that says nothing; that is uniform over the range of the
scores of its board. ``tests/paired/test_replicates.py`` compares shares and means with the
likelihood, and with draws that are thrown away where they are not selected.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.paired.hyperparameters import Draws, densities_of
from bayes_sota.paired.likelihood import PairedLikelihood
from bayes_sota.paired.posterior import estimands_of
from bayes_sota.paired.residuals import FLAT, Residuals, chosen_normals
from bayes_sota.paired.teams import Coordinate

_AT_ONCE, _FIELDS_AT_ONCE = 200_000, 200  # scores, draws
_LEAST = 1e-300


def replicate_scores(
    likelihood: PairedLikelihood, psi: FloatArray, noise: Residuals, rng: np.random.Generator
) -> FloatArray:
    """Public and private scores of selected teams of skill psi, in the coordinate.

    Parameters
    ----------
    likelihood : PairedLikelihood
        Its teams give the thresholds and the ranges.
    psi : ndarray, shape (D, k)
        Skills on the public items.
    noise : Residuals
        Noise parameters of each draw.
    rng : Generator

    Returns
    -------
    ndarray, shape (D, k, 2)
    """
    scores = np.empty((*psi.shape, 2))
    size = max(1, _AT_ONCE // psi.shape[1])
    for i in range(0, len(psi), size):
        rows = slice(i, i + size)
        scores[rows] = _replicated(likelihood, psi[rows], noise[rows], rng)
    return scores


def draw_field(
    likelihood: PairedLikelihood,
    density: FloatArray,
    noise: Residuals,
    count: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Skills psi of ``count`` selected teams for each row of ``density`` on the grid, (D, count).

    Between nodes the density is linear. With submissions ``count`` is that of the teams, each
    selected as one with a number near its own.
    """
    skills = np.empty((len(density), count))
    for level, teams in _levels(likelihood, count):
        mass = density
        if likelihood.teams.threshold is not None:
            mass = density * (1 - likelihood.missed(noise, level))
        total = np.cumsum(mass, axis=1)
        u = rng.random((len(mass), teams.size)) * total[:, -1:]
        at = np.stack([np.searchsorted(row, v) for row, v in zip(total, u, strict=True)])
        nodes = likelihood.nodes
        near = nodes[np.minimum(at, nodes.size - 1)]
        between = rng.random(at.shape) - rng.random(at.shape)
        skills[:, teams] = np.clip(near + likelihood.step * between, nodes[0], nodes[-1])
    return skills + likelihood.more_skill(noise)


def _levels(likelihood: PairedLikelihood, count: int) -> Iterator[tuple[int, IntArray]]:
    """Levels of submissions, and the teams whose number is nearest to each."""
    choice = likelihood.teams.choice
    nearest = np.zeros(count, np.int64) if choice is None else choice.nearest_level
    for level in np.unique(nearest):
        yield int(level), np.flatnonzero(nearest == level)


def simulate_boards(
    likelihood: PairedLikelihood,
    coordinate: Coordinate,
    family: IntArray,
    t: FloatArray,
    noise: Residuals,
    rng: np.random.Generator,
) -> tuple[Draws, FloatArray]:
    """Boards of fresh fields with given hyperparameters, as many teams as the model is about.

    Parameters
    ----------
    likelihood : PairedLikelihood
    coordinate : Coordinate
    family : ndarray of int, shape (D,)
        Place in ``FAMILIES``.
    t : ndarray, shape (D, at least the dimension of the families)
    noise : Residuals
    rng : Generator

    Returns
    -------
    draws : dict of str to ndarray
        As of ``estimands_of``; the public winner is that of the simulated board.
    scores : ndarray, shape (D, k, 2)
        In their own units.
    """
    psi = np.empty((len(t), likelihood.teams.x.size))
    for i in range(0, len(t), _FIELDS_AT_ONCE):
        rows = slice(i, i + _FIELDS_AT_ONCE)
        density = densities_of(likelihood, family[rows], t[rows])
        psi[rows] = draw_field(likelihood, density, noise[rows], psi.shape[1], rng)
    scores = replicate_scores(likelihood, psi, noise, rng)
    winner = scores[..., 0].argmax(axis=1)
    draws = estimands_of(likelihood, noise, psi, winner, coordinate, rng)
    return draws, coordinate.printed(scores)


def _replicated(
    likelihood: PairedLikelihood, psi: FloatArray, noise: Residuals, rng: np.random.Generator
) -> FloatArray:
    public, private = (_BoardLaw.of(likelihood, psi, noise, board) for board in (0, 1))
    if likelihood.teams.threshold is None:
        free = np.zeros(psi.shape, np.int64)
        return np.stack([public.draw(free, rng), private.draw(free, rng)], axis=-1)
    reach = [law.chances(np.ones(psi.shape, np.int64)).sum(axis=0) for law in (public, private)]
    either = reach[0] + (1 - reach[0]) * reach[1]
    first = rng.random(psi.shape) * either < reach[0]
    x = public.draw(np.where(first, 1, -1), rng)
    return np.stack([x, private.draw(np.where(first, 0, 1), rng)], axis=-1)


@dataclass(frozen=True, eq=False)
class _BoardLaw:
    """Scores of one board given skills: above the threshold (1), below it (-1), or free (0)."""

    centre: FloatArray  # (kinds, D, k), the last is a score that says nothing
    sd: FloatArray  # (kinds, D, 1)
    weights: FloatArray  # (kinds, D, 1 or k)
    threshold: float
    lowest: float
    width: float

    @classmethod
    def of(
        cls, likelihood: PairedLikelihood, psi: FloatArray, noise: Residuals, board: int
    ) -> "_BoardLaw":
        teams = likelihood.teams
        scores = teams.x if board == 0 or teams.y is None else teams.y
        weights, lucks, sd = _normals(likelihood, noise, board)
        middle = psi + noise.shift[:, None] * board
        return cls(
            middle + np.concatenate([lucks, 0 * lucks[:1]]),
            np.concatenate([sd, sd[:1]])[..., None],
            np.concatenate([weights, np.full_like(weights[:1], FLAT)]),
            float(scores.min()) if teams.threshold is None else teams.threshold[board],
            float(scores.min()),
            likelihood.ranges[board],
        )

    @property
    def flat_below(self) -> float:
        """Share of the scores that say nothing below the threshold."""
        return float(np.clip((self.threshold - self.lowest) / self.width, 0, 1))

    def chances(self, side: IntArray) -> FloatArray:
        """Probability of each kind of residual and of the side, (kinds, D, k)."""
        z = (self.threshold - self.centre[:-1]) / self.sd[:-1]
        normal = np.where(side == 0, 1.0, ndtr(-side * z))
        below = self.flat_below
        flat = np.where(side == 0, 1.0, np.where(side > 0, 1 - below, below))
        return self.weights * np.concatenate([normal, flat[None]])

    def draw(self, side: IntArray, rng: np.random.Generator) -> FloatArray:
        """One score on the given side for each skill, (D, k)."""
        total = np.cumsum(self.chances(side), axis=0)
        kind = np.sum(total < rng.random(side.shape) * total[-1], axis=0)[None]
        centre = np.take_along_axis(self.centre, kind, axis=0)[0]
        sd = np.take_along_axis(np.broadcast_to(self.sd, self.centre.shape), kind, axis=0)[0]
        sign = np.where(side > 0, -1.0, 1.0)
        limit = np.where(side == 0, 1.0, ndtr(sign * (self.threshold - centre) / sd))
        u = rng.random(side.shape)
        normal = centre + sign * sd * ndtri(np.maximum(u * limit, _LEAST))
        low, high = np.zeros(side.shape), np.ones(side.shape)
        low[side > 0] = high[side < 0] = self.flat_below
        flat = self.lowest + self.width * (low + (high - low) * u)
        return np.where(kind[0] == len(self.weights) - 1, flat, normal)


def _normals(
    likelihood: PairedLikelihood, noise: Residuals, board: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights and means, (kinds, D, 1 or k), and sd, (kinds, D), of the residuals of a board."""
    choice = likelihood.teams.choice
    if board == 0 and choice is not None:
        return chosen_normals(choice, noise)
    sd = noise.private_sd if board else noise.public_sd
    weights = np.stack([weight for weight, _ in noise.parts()])[..., None]
    return weights, 0 * weights, np.stack([width * sd for _, width in noise.parts()])
